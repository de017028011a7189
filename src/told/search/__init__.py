"""Query analysis and ranking: pure functions over candidates."""

from __future__ import annotations
