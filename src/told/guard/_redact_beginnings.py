"""The rules for tokens that tell what they are by how they begin, ready for a search."""

from __future__ import annotations

from told.guard._redact_patterns import pattern
from told.guard._redact_search import Known
from told.guard._redact_tables import current, formats

_rules, _ORDERS, _beginning = current(f"{__name__}:table", formats)
BEGINNING = pattern(_beginning)
_known: dict[int, Known] = {}


def beginning_as(beginning: bytes) -> list[Known]:
    """Return the rules for words that begin so."""
    found = []
    for order in _ORDERS[beginning]:
        if order not in _known:
            _known[order] = Known(order, _rules[order], 0)
        found.append(_known[order])
    return found


def is_beginning(word: bytes) -> bool:
    """Tell whether a word begins as a secret does, or a part of it."""
    return bool(BEGINNING.search(b"\n" + word))
