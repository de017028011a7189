"""Find memories that no longer fit the project."""
