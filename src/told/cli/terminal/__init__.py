"""Output for people: tables, colours and relative dates. Only `screen` loads rich."""
