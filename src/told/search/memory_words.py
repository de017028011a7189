"""What is stored beside a memory's own words: what else is indexed of it, and what it is about."""

from __future__ import annotations

from told.guard.text import without_placeholders
from told.search.about import about_line
from told.search.index_text import extra_words
from told.search.meant import meant
from told.store.memory_records import Worked


def memory_words(text: str, at: int) -> Worked:
    """Return what to index beside the text of a memory, and what recall wants to know of it.

    Args:
        text: What it says.
        at: When it was said, in ms since 1970; 0 when unknown.
    """
    text = without_placeholders(text)
    return Worked(extra_words(text, at), about_line(text), meant(text))
