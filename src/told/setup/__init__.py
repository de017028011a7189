"""Writes into other programs' files, and takes back what it wrote."""
