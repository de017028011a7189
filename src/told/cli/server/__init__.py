"""`told server`."""
