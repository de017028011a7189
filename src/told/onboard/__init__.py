"""Learn a project from its own files."""
