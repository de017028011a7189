"""`told export` and `told import`."""
