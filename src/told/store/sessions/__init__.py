"""The SQLite store of sessions and turns."""
