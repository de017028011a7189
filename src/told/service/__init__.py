"""The local service: one process per home that answers hooks."""
