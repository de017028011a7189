"""Match tool calls against locked rules: read rules, parse commands, compare."""

from __future__ import annotations

from functools import partial

from told import tables

load_table, load_words = partial(tables.load_table, __file__), partial(tables.load_words, __file__)
