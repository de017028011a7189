"""Hash with BLAKE2 as `hashlib` does, without loading OpenSSL: every command starts with this."""

from __future__ import annotations

try:
    from _blake2 import blake2b, blake2s
except ImportError:  # not CPython
    from hashlib import blake2b, blake2s

__all__ = ["blake2b", "blake2s"]
