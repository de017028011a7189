"""Finds the memory that somebody means, and lists those that fit."""

from __future__ import annotations

from told.errors import UsageError
from told.record import record
from told.search.analyse import analyse
from told.store.memory_records import ACTIVE, ARCHIVED, GLOBAL, KINDS, PROJECT, SHARED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.store.memories import Memories
    from told.store.memory_records import Memory

_SHORTEST = 3
_MOST = 2000


@record
class Wanted:
    """Which memories are meant. An empty field means all."""

    scopes: tuple[str, ...] = ()
    kind: str = ""
    status: str = ACTIVE
    agent: str = ""  # whose session, or "terminal"
    locked: bool = False
    words: str = ""
    since: int = 0
    deeds: bool = True  # also notes on what agents did


def meant(memories: Memories, given: str, scopes: Sequence[str], now: int) -> list[Memory]:
    """Return what an id, its beginning, or words can mean; one memory if it is plain which.

    Words mean an active memory of the scopes that has all of them.
    """
    if len(given) >= _SHORTEST and given.startswith("m") and given.isascii() and given.isalnum():
        found = list(memories.get(memories.like(given, 20)).values())
        if found:
            return [one for one in found if one.id == given] or found
    found = listed(memories, Wanted(tuple(scopes), words=given), now, 20)
    bare = _bare(given)
    return [one for one in found if _bare(one.text) == bare] or found


def listed(memories: Memories, wanted: Wanted, now: int, limit: int) -> list[Memory]:
    """Return memories that fit, the newest first; with words, those that have all of them, the best first."""
    filtered = bool(wanted.locked or wanted.since or wanted.agent)
    kinds = (wanted.kind,) if wanted.kind else ()
    if wanted.words:
        rows = _with_words(memories, wanted, now)
    else:
        rows = memories.listed(
            status=wanted.status, scopes=wanted.scopes, kinds=kinds, limit=-1 if filtered else limit,
            deeds=wanted.deeds,
        )  # fmt: skip
    found = memories.load(rows)
    fitting = [found[row] for row in rows if row in found and _fits(found[row], wanted)]
    return fitting[: limit if limit > 0 else None]


def _with_words(memories: Memories, wanted: Wanted, now: int) -> list[int]:
    query = analyse(wanted.words, now)
    terms = dict.fromkeys((*query.must, *query.terms))
    if not terms:
        return []
    hits = memories.match(
        " AND ".join(terms), (1.0, 0.5, 0.3), _MOST, scopes=wanted.scopes,
        ended=wanted.status != ACTIVE, archived=wanted.status == ARCHIVED,
    )  # fmt: skip
    return [row for row, _ in hits]


def _fits(memory: Memory, wanted: Wanted) -> bool:
    return (
        memory.status == wanted.status
        and memory.kind == (wanted.kind or memory.kind)
        and memory.created >= wanted.since
        and (memory.locked or not wanted.locked)
        and (not wanted.agent or any(one.agent == wanted.agent for one in memory.evidence))
    )


def checked_kind(kind: str) -> str:
    """Return a kind that is one.

    Raises:
        UsageError: there is none of that name.
    """
    if kind and kind not in KINDS:
        raise UsageError(f"There is no kind {kind!r}. The kinds are: {', '.join(KINDS)}.")
    return kind


def scope_named(name: str, project: str) -> str:
    """Return the scope that a user means: `project`, `global`, or a shared one by its name."""
    if name in ("", "project"):
        return project
    return GLOBAL if name == GLOBAL else f"{SHARED}{name}"


def scope_name(scope: str) -> str:
    """Return what a scope is called: `project`, `global`, or its name."""
    return "project" if scope.startswith(PROJECT) else scope.removeprefix(SHARED)


def _bare(text: str) -> str:
    return " ".join(text.lower().split()).strip(" .!\"'`")
