"""Start told: the thin client of every command, and the service that answers it."""
