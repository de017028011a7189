"""Measures told: what a call costs, how fast history is read in, how well it is found again."""

from __future__ import annotations


class CannotMeasureError(Exception):
    """What a benchmark needs is not there; the text says what to do."""
