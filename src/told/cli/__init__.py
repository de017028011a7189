"""Parses, calls, prints, exits; decides nothing."""

from __future__ import annotations
