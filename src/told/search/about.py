"""Write and read what a memory is about: its topics and first keywords."""

from __future__ import annotations

from typing import NamedTuple

from told.search.query import MAX_HEADS, find_keywords
from told.search.topics import find_topics


class About(NamedTuple):
    """The topics and first keywords of a memory."""

    topics: dict[str, float]  # with their strength
    heads: tuple[str, ...]  # the first keywords
    keyword_count: int


def format_about(text: str) -> str:
    """Return the topics and first keywords of a text as a line to store."""
    words = find_keywords(text)
    topics = " ".join(f"{name}:{strength!r}" for name, strength in sorted(find_topics(text).items()))
    return "\t".join((topics, str(len(words)), *words[:MAX_HEADS]))


def parse_about(line: str) -> About:
    """Parse a line of `format_about`."""
    if not line:
        return About({}, (), 0)
    topics, count, *heads = line.split("\t")
    pairs = [one.rpartition(":") for one in topics.split()]
    return About({name: float(strength) for name, _, strength in pairs}, tuple(heads), int(count))
