"""Trains what the package ships, from data that the repository does not hold."""
