"""The invented pairs of a stored statement and what a user says later, with the relation between them."""

from __future__ import annotations

from training.supersede_data import pairs

__all__ = ["pairs"]
