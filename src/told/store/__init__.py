"""The only SQL: one protocol, SQLite behind it, and read-only access to agents' databases."""

from __future__ import annotations
