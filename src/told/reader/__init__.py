"""A model of the user's choice that reads sessions; off by default."""
