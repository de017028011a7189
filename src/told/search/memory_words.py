"""What is indexed beside a memory's own words: parts of its identifiers, its date, and its topics."""

from __future__ import annotations

from told.search.index_text import extra_words
from told.search.topics import topic_word, topics


def memory_words(text: str, at: int) -> str:
    """Return what to index beside the text of a memory.

    Args:
        text: What it says.
        at: When it was said, in ms since 1970; 0 when unknown.
    """
    named = [topic_word(name) for name in sorted(topics(text))]
    return " ".join([extra_words(text, at), *named]).strip()
