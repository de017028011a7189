"""Weigh evidence for and against a question."""
