"""Sessions that people push to a team server."""
