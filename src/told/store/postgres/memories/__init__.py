"""The memories of a team in PostgreSQL."""
