"""Embeddings: the built-in table, models and endpoints."""
