"""Parses, calls, prints, exits; decides nothing."""
