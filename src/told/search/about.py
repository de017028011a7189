"""What recall wants to know of every memory it looks at, worked out once, when the memory is stored."""

from __future__ import annotations

from told.record import record

_BETWEEN = "\t"


@record
class About:
    """What a memory is about."""

    topics: dict[str, float]  # each with how plainly it is named
    heads: tuple[str, ...]  # its first telling words
    telling: int  # how many telling words it has


def about_line(text: str) -> str:
    """Return what a text is about, as it is stored."""
    from told.search.subject import HEADS, telling
    from told.search.topics import topics

    words = telling(text)
    named = " ".join(f"{name}:{plainly!r}" for name, plainly in sorted(topics(text).items()))
    return _BETWEEN.join((named, str(len(words)), *words[:HEADS]))


def about_of(line: str) -> About:
    """Return what a stored line says."""
    if not line:
        return About({}, (), 0)
    named, count, *heads = line.split(_BETWEEN)
    pairs = [one.rpartition(":") for one in named.split()]
    return About({name: float(plainly) for name, _, plainly in pairs}, tuple(heads), int(count))
