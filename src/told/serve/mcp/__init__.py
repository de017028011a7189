"""The Model Context Protocol: how agents ask told in the middle of their work."""
