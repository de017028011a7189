"""told: tell your coding agent once, and every later session knows it."""

from __future__ import annotations

__version__ = "0.1.0"
