"""Append-only log of everything that changed a memory."""
