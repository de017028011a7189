"""The SQLite store of memories."""
