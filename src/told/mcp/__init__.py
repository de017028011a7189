"""The Model Context Protocol server on standard input and output."""
