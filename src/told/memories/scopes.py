"""Shared scopes, and finding memories by scope, id or words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from told.errors import NotFoundError, UsageError
from told.journal.files import SET, STRANGER
from told.search.query import parse_query
from told.search.tokens import STOP_WORDS
from told.store.fts import match_all
from told.store.memories.protocol import Memories
from told.store.memories.records import (
    ACTIVE,
    AGENT,
    ARCHIVED,
    CANDIDATE,
    GLOBAL,
    KIND_NAMES,
    PRIVATE,
    SHARED,
    TOOL,
    UNCONFIRMED,
    Memory,
    is_private,
    private_scope,
)
from told.words import split_words

if TYPE_CHECKING:
    from told.memories.journal_writer import JournalWriter

SCOPE, SUBSCRIPTION = "scope", "subscription"  # journal topics
REPOSITORY = "repository"
_SEPARATOR = "\n"  # between scope and project in the name of a note
_RESERVED_NAMES = frozenset(("project", "global", "unknown", PRIVATE))
_MAX_NAME = 40


class Scope(NamedTuple):
    """A shared scope."""

    name: str
    memories: int  # active ones
    projects: tuple[str, ...]  # project scopes that subscribed


def active_scopes(memories: Memories, project: str) -> tuple[str, ...]:
    """Return the scopes that apply in a project: its own, global, private and subscribed ones."""
    shared = sorted(SHARED + name for name, own in _subscriptions(memories) if own == project)
    return tuple(dict.fromkeys((project, GLOBAL, private_scope(project), PRIVATE, *shared)))


def list_shared_scopes(memories: Memories) -> list[Scope]:
    """Return all shared scopes, by name."""
    counts: dict[str, int] = {}
    for status, _, scope, many, _ in memories.counts():
        if status == ACTIVE and scope.startswith(SHARED):
            name = scope.removeprefix(SHARED)
            counts[name] = counts.get(name, 0) + many
    pairs = _subscriptions(memories)
    names = sorted({*memories.noted(SCOPE), *counts})
    return [
        Scope(name, counts.get(name, 0), tuple(sorted(own for other, own in pairs if other == name)))
        for name in names
    ]


def validate_scope_name(name: str) -> str:
    """Return a valid name of a shared scope.

    Raises:
        UsageError: it is invalid.
    """
    bare = name.replace("-", "").replace("_", "")
    if not bare.isalnum() or len(name) > _MAX_NAME:
        raise UsageError(
            f"{name[:60]!r} is no name for a scope. Use up to {_MAX_NAME} letters, digits, - and _."
        )
    if name in _RESERVED_NAMES:
        raise UsageError(f"{name!r} has a meaning of its own. Choose another name.")
    return name


def require_scope(memories: Memories, name: str) -> str:
    """Return the name of an existing shared scope.

    Raises:
        NotFoundError: there is none.
    """
    if name not in {one.name for one in list_shared_scopes(memories)}:
        raise NotFoundError(f"There is no shared scope {name!r}. `told scopes create {name}` makes it.")
    return name


def create_scope(writer: JournalWriter, name: str) -> bool:
    """Create a shared scope; return False if it exists."""
    if validate_scope_name(name) in writer.memories.noted(SCOPE):
        return False
    writer.add(SET, "", **{SET: {SCOPE: {name: "1"}}})
    writer.write()
    return True


def subscribe(writer: JournalWriter, name: str, project: str, *, on: bool = True) -> bool:
    """Subscribe a project to a shared scope, or not; return whether that changed."""
    changed = _add_subscription(writer, require_scope(writer.memories, name), project, on=on)
    writer.write()
    return changed


def share(writer: JournalWriter, memory: Memory, name: str, project: str) -> None:
    """Move a memory to a shared scope and subscribe its project."""
    require_scope(writer.memories, name)
    if memory.scope == project:  # first, so an interruption loses nothing
        _add_subscription(writer, name, project, on=True)
    writer.add("share", memory.id, scope=SHARED + name)
    writer.write()


def rename_project(writer: JournalWriter, old: str, new: str) -> None:
    """Move the subscriptions of a project to its new scope."""
    for name, project in _subscriptions(writer.memories):
        if project == old:
            notes = {f"{name}{_SEPARATOR}{old}": "", f"{name}{_SEPARATOR}{new}": "1"}
            writer.add(SET, "", **{SET: {SUBSCRIPTION: notes}})


def _add_subscription(writer: JournalWriter, name: str, project: str, *, on: bool) -> bool:
    if ((name, project) in _subscriptions(writer.memories)) == on:
        return False
    writer.add(SET, "", **{SET: {SUBSCRIPTION: {f"{name}{_SEPARATOR}{project}": "1" if on else ""}}})
    return True


def _subscriptions(memories: Memories) -> list[tuple[str, str]]:
    """Return (scope name, project scope) of every subscription."""
    pairs = (note.partition(_SEPARATOR) for note in memories.noted(SUBSCRIPTION))
    return sorted((name, project) for name, _, project in pairs)


_MIN_ID = 3  # characters of an id prefix
_MAX_MATCHES = 2000
_MAX_SIMILAR, _MAX_LISTED = 3, 2000  # suggestions, and memories whose words are compared
_MIN_SIMILAR_ID, _MIN_SIMILAR_WORD = 0.7, 0.75


class MemoryFilter(NamedTuple):
    """Which memories to list. An empty field means all."""

    scopes: tuple[str, ...] = ()
    kind: str = ""  # or a mark
    status: str = ACTIVE
    source: str = ""  # as `is_from` takes it
    locked: bool = False
    words: str = ""
    since: int = 0
    observations: bool = True  # include what agents did


def find_memories(
    memories: Memories, given: str, scopes: Sequence[str], now: int, *, candidates: bool = False
) -> list[Memory]:
    """Find memories by an id, an id prefix, or words.

    Words match active memories of the scopes that contain all of them, and candidates if asked for.
    """
    if len(given) >= _MIN_ID and given.startswith("m") and given.isascii() and given.isalnum():
        found = list(memories.get(memories.ids_with_prefix(given, 20)).values())
        if found:
            return [one for one in found if one.id == given] or found
    statuses = (ACTIVE, CANDIDATE) if candidates else (ACTIVE,)
    wanted = [MemoryFilter(tuple(scopes), words=given, status=status) for status in statuses]
    found = [memory for one in wanted for memory in list_memories(memories, one, now, 20)]
    bare = _normalise(given)
    return [one for one in found if _normalise(one.text) == bare] or found


def find_similar(memories: Memories, given: str, scopes: Sequence[str]) -> list[Memory]:
    """Return up to three memories with an id or words like the given ones, for a typing error."""
    from difflib import get_close_matches  # noqa: PLC0415 - for a wrong name only

    if given[:1] == "m" and given.isascii() and given.isalnum():
        near = get_close_matches(given, memories.ids(), _MAX_SIMILAR, _MIN_SIMILAR_ID)
        if near:
            return [one for one in memories.get(near).values() if one.text]
    listed = memories.load(memories.listed(scopes=scopes, limit=_MAX_LISTED)).values()
    words = {one.id: set(split_words(one.text.lower())) for one in listed}
    vocabulary = set().union(*words.values())
    typed = [
        get_close_matches(word, vocabulary, _MAX_SIMILAR, _MIN_SIMILAR_WORD)
        for word in split_words(given.lower())
        if word not in STOP_WORDS
    ]
    scores = {one.id: sum(not words[one.id].isdisjoint(near) for near in typed) for one in listed}
    best = [one for one in listed if scores[one.id] > len(typed) / 2]
    return sorted(best, key=lambda one: -scores[one.id])[:_MAX_SIMILAR]


def list_memories(memories: Memories, criteria: MemoryFilter, now: int, limit: int) -> list[Memory]:
    """Return matching memories, newest first; with words, best match first."""
    return list_and_count(memories, criteria, now, limit)[0]


def list_and_count(
    memories: Memories, criteria: MemoryFilter, now: int, limit: int
) -> tuple[list[Memory], int]:
    """Return matching memories, and how many there are without the limit."""
    most = limit if limit > 0 else None
    kinds = (criteria.kind,) if criteria.kind else ()
    if criteria.words:
        rows = _match_words(memories, criteria, now)
    else:
        rows = memories.listed(
            status=criteria.status, scopes=criteria.scopes, kinds=kinds, observations=criteria.observations
        )
    if criteria.words or criteria.locked or criteria.since or criteria.source:
        found = memories.load(rows)
        fitting = [found[row] for row in rows if row in found and _matches(found[row], criteria)]
        return fitting[:most], len(fitting)
    found = memories.load(rows[:most])
    return [found[row] for row in rows[:most] if row in found], len(rows)


def _match_words(memories: Memories, criteria: MemoryFilter, now: int) -> list[int]:
    query = parse_query(criteria.words, now)
    terms = dict.fromkeys((*query.must, *query.terms))
    if not terms:
        return []
    hits = memories.match(
        match_all(terms), (1.0, 0.5, 0.3), _MAX_MATCHES, scopes=criteria.scopes,
        ended=criteria.status != ACTIVE, archived=criteria.status == ARCHIVED,
        status=criteria.status if criteria.status in UNCONFIRMED else "",
    )  # fmt: skip
    return [row for row, _ in hits]


def _matches(memory: Memory, criteria: MemoryFilter) -> bool:
    return (
        memory.status == criteria.status
        and criteria.kind in ("", memory.kind, *memory.marks)
        and memory.created >= criteria.since
        and (memory.locked or not criteria.locked)
        and (not criteria.source or is_from(memory, criteria.source))
    )


def is_from(memory: Memory, source: str) -> bool:
    """Tell whether a memory comes from a source.

    Args:
        memory: The memory.
        source: An agent's name, `terminal`, `file`, a session's own id or a file's path; `agent` and `tool`
            for what agents or files and tools said themselves, `repository` for what came with one.
    """
    if source == REPOSITORY:
        return memory.trust == TOOL or memory.machine.startswith(STRANGER)
    if source in (AGENT, TOOL):
        return memory.trust == source
    return any(source in (one.agent, one.session, one.session.partition("#")[0]) for one in memory.evidence)


def validate_kind(kind: str) -> str:
    """Return a valid kind.

    Raises:
        UsageError: there is none of that name.
    """
    if kind and kind not in KIND_NAMES:
        raise UsageError(f"There is no kind {kind!r}. The kinds are: {', '.join(KIND_NAMES)}.")
    return kind


def parse_scope(name: str, project: str) -> str:
    """Return the scope for `project`, `global`, `private`, `private:project` or the name of a shared one."""
    if name in ("", "project"):
        return project
    if is_private(name):
        return PRIVATE if name == PRIVATE else private_scope(project)
    return GLOBAL if name == GLOBAL else f"{SHARED}{name}"


def _normalise(text: str) -> str:
    return " ".join(text.lower().split()).strip(" .!\"'`")
