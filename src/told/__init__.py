"""told: tell your coding agent once, and every later session knows it."""

__version__ = "0.1.0"
