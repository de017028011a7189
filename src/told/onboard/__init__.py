"""Learn a project from its own files and git history."""
