"""The memories in the answer of `told search`: a few short rows above the sessions."""

from __future__ import annotations

import os

import apsw

from told.cli.output import cut, iso, when
from told.errors import ToldError
from told.record import record
from told.search.memories import Bar, search_memories
from told.store.memory_search import open_for_search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.cli.arguments import Arguments
    from told.cli.context import Context, Scope
    from told.search.analyse import Query
    from told.search.memories import Answer
    from told.store.memory_search import MemoryRow, MemorySearch

_FEW = 3  # beside sessions
_LEAST = 0.6  # share of the question's words, beside sessions
_NEAR = 0.5
_LOOKED_AT = 12
_TEXT, _WHOLE = 110, 300  # bytes of a text, beside sessions and without
_PROJECT, _GLOBAL, _SHARED = "project:", "global", "shared:"
_UNAVAILABLE = (apsw.Error, ToldError, OSError, ValueError)


@record
class Asked:
    """What is looked for, and where."""

    query: Query
    scope: Scope
    arguments: Arguments
    widened: bool  # whether other projects are asked where this one has nothing
    alone: bool = False  # only memories are asked for
    beside: bool = False  # sessions are found as well


@record
class Known:
    """The memories that answer a question."""

    answers: tuple[Answer, ...]
    widened: bool  # none is of this project
    here: str  # the scope of the current project
    room: int  # bytes of a text

    def rows(self, context: Context) -> list[dict[str, Any]]:
        """Return them for JSON."""
        return [_as_json(context, one) for one in self.answers]

    def print(self, context: Context, question: str) -> None:
        """Print them, others' words fenced."""
        number = len(self.answers)
        beyond = " (none in this project)" if self.widened else ""
        what = "1 memory" if number == 1 else f"{number:,} memories"
        context.print(f"{what} for {cut(question, 60)!r}{beyond}")
        for one in self.answers:
            context.print(_line(context, one, self.here, self.room))


def beside_sessions(context: Context, asked: Asked) -> Known | None:
    """Return the few memories that answer a question; None where they cannot be read at once."""
    try:
        store = _opened(context.settings.home)
        try:
            return _found(context, asked, store)
        finally:
            store.close()
    except _UNAVAILABLE:
        return None


def memories_only(context: Context, asked: Asked) -> Known | None:
    """Return the memories that answer a question, waiting for them or making them anew if need be."""
    from told.cli.memory_desk import Desk

    with Desk(context) as desk:
        home = desk.home  # it has made or mended them, and listened to what was said just now
    store = open_for_search(os.path.join(home, "memory.db"))
    try:
        return _found(context, asked, store)
    finally:
        store.close()


def _opened(home: str) -> MemorySearch:
    """Open the memories; what the journal has beyond them is applied first, if that is little."""
    path = os.path.join(home, "memory.db")
    store = open_for_search(path)
    try:
        if not _is_behind(store, home):
            return store
    except apsw.SQLError:  # made by another version of told
        pass
    store.close()
    from told.journal.apply import open_memories

    open_memories(home, hurry=True).close()
    return open_for_search(path)


def _is_behind(store: MemorySearch, home: str) -> bool:
    """Tell whether the journal has more than the file: after an interruption, or from elsewhere."""
    sizes = store.sizes()
    folder = os.path.join(home, "journal")
    for machine in os.listdir(folder) if os.path.isdir(folder) else ():
        place = os.path.join(folder, machine)
        for name in os.listdir(place) if os.path.isdir(place) else ():
            size = os.path.getsize(os.path.join(place, name))
            if name.endswith(".jsonl") and size != sizes.get((machine, name)):
                return True
    return False


def _found(context: Context, asked: Asked, store: MemorySearch) -> Known | None:
    limit = asked.arguments.number("limit", 5 if asked.alone else _FEW)
    here = _here(context, asked)
    bar = Bar() if asked.alone else Bar(_NEAR, _LEAST, _LOOKED_AT)
    scopes = _holding(store, here) if here else ()
    for wanted in [scopes, ()] if here and asked.widened else [scopes]:
        found = search_memories(store, asked.query, context.now, wanted, bar)
        fitting = [one for one in found if _fits(one.memory, asked)]
        if fitting:
            room = _TEXT if asked.beside else _WHOLE
            return Known(tuple(fitting[:limit]), wanted != scopes, here, room)
    return None


def _holding(store: MemorySearch, here: str) -> tuple[str, ...]:
    """Return the scopes that hold in a project."""
    if not store.noted("subscription"):
        return tuple(dict.fromkeys((here, _GLOBAL)))
    from told.memory.scopes import holding_in

    return holding_in(store, here)  # type: ignore[arg-type] # it asks for notes only


def _here(context: Context, asked: Asked) -> str:
    """Return the scope of the project that is asked about; empty for all of them."""
    if asked.scope.project is not None:
        return _PROJECT + asked.scope.project.key
    if asked.arguments.flag("all-projects") or not context.cwd:
        return ""
    from told.ingest.identity import git_root

    if not git_root(context.cwd):
        return ""
    from told.cli.memory_desk import scope_of_folder  # no session was held here so far

    return scope_of_folder(context)


def _fits(memory: MemoryRow, asked: Asked) -> bool:
    wanted = asked.scope.filter
    if (wanted.agent and not memory.said_in(wanted.agent)) or memory.updated < wanted.since:
        return False
    # What an agent said in a session is found there, with what was said around it.
    return not (asked.beside and memory.trust == "agent" and memory.from_session)


def _line(context: Context, one: Answer, here: str, room: int) -> str:
    memory = one.memory
    marks = [memory.kind, _scope_name(context, memory.scope, here)]
    marks += ["locked"] if memory.locked else []
    marks += [] if one.holds else [memory.status]
    marks += [f"by {memory.superseded_by}"] if memory.superseded_by else []
    text = _fenced(context, memory, cut(memory.text, room))
    return f"{when(memory.created, context.now)} {memory.id} {' '.join(marks)}: {text}"


def _as_json(context: Context, one: Answer) -> dict[str, Any]:
    memory = one.memory
    project = memory.scope.removeprefix(_PROJECT) if memory.scope.startswith(_PROJECT) else ""
    return {
        "id": memory.id, "text": _fenced(context, memory, memory.text), "trust": memory.trust,
        "kind": memory.kind, "scope": "project" if project else memory.scope.removeprefix(_SHARED),
        "project": context.name(project) or None, "status": memory.status, "locked": bool(memory.locked),
        "created": iso(memory.created), "superseded_by": memory.superseded_by or None, "score": one.score,
    }  # fmt: skip


def _fenced(context: Context, memory: MemoryRow, text: str) -> str:
    return text if memory.trust == "user" else context.fence.inline(text, memory.trust)


def _scope_name(context: Context, scope: str, here: str) -> str:
    if scope == here:
        return "project"
    return context.name(scope.removeprefix(_PROJECT).removeprefix(_SHARED))
