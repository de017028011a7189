"""What a text means, with the name of the model."""

from __future__ import annotations

from told.search.meaning import model_id, vector
from told.store.memory_records import Meant


def meant(text: str) -> Meant:
    """Return what a text means; empty if there is no table, or if it knows no word of the text."""
    found = vector(text)
    return Meant(model_id() or "", found) if found else Meant()
