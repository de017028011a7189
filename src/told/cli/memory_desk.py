"""What every command about memories needs: the open memories, who asks, and the current folder's scope."""

from __future__ import annotations

import os

from told.cli.learning import learn_some
from told.cli.output import cut, iso, when
from told.errors import BusyError, NotFoundError, UsageError
from told.guard.names import is_plain, plain_id
from told.ingest.identity import git_root, identify
from told.journal.apply import open_memories, rebuild
from told.journal.check import memory_damage
from told.memory.finding import meant, scope_name, scope_named
from told.memory.pen import Pen
from told.memory.scopes import checked_name, existing, holding_in
from told.record import replaced
from told.store.memories import UNREADABLE
from told.store.memory_records import ARCHIVED, GLOBAL, PROJECT, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.memory.authority import Caller
    from told.store.memory_records import Memory

_CANDIDATES = 8


class Desk:
    """One run of a command about memories; closes them at its end."""

    def __init__(self, context: Context) -> None:
        """Open the memories as the journal has them now."""
        self.context = context
        self.home = context.settings.home
        self.caller = self._caller(context)
        self.memories = open_memories(self.home)
        learn_some(context, self.memories)
        self.pen = Pen(self.home, self.memories, context.now, self.caller)
        self.project = scope_of_folder(context)

    @staticmethod
    def _caller(context: Context) -> Caller:
        """Return who asks, with a session's id as it may be stored."""
        found = context.caller
        if is_plain(found.session):
            return found
        return replaced(
            found, session=plain_id(found.session, context.redactor().redact, lambda: context.key)
        )

    def __enter__(self) -> Desk:  # noqa: PYI034 - Self would cost an import of typing
        """Begin."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Let the file go, however it ended; one that turned out to be damaged is made anew.

        Raises:
            BusyError: it was damaged.
        """
        self.memories.close()
        if kind is not None and issubclass(kind, UNREADABLE) and memory_damage(self.home):
            rebuild(self.home).close()
            raise BusyError("The memories were damaged and are made anew from the journal. Try again.")

    @property
    def scopes(self) -> tuple[str, ...]:
        """What holds in the current folder: its project's, the global ones, and what it subscribed to."""
        return holding_in(self.memories, self.project)

    def named_scope(self, name: str, project: str) -> str:
        """Return the scope that a user names.

        Raises:
            NotFoundError: there is no such shared scope.
            UsageError: it cannot be a name.
        """
        if name not in ("", "project", GLOBAL):
            existing(self.memories, checked_name(name))
        return scope_named(name, project)

    def one(self, given: str, *, ended: bool = False) -> Memory:
        """Return the one memory that an id or words stand for.

        Raises:
            NotFoundError: there is none.
            UsageError: there are several; they are listed.
        """
        found = [
            one for one in meant(self.memories, given.strip(), self.scopes, self.context.now) if one.text
        ]
        if not found:
            raise NotFoundError(f"No memory fits {cut(given, 60)!r}. `told memories` lists them.")
        if len(found) > 1:
            rows = "\n".join(self.row(one) for one in found[:_CANDIDATES])
            raise UsageError(f"{cut(given, 60)!r} fits {memory_count(len(found))}. Give an id:\n{rows}")
        if found[0].status != "active" and not ended:
            name, status = found[0].id, found[0].status
            back = f"`told retention restore {name}` brings it back." if status == ARCHIVED else ""
            raise UsageError(f"{name} is {status}. {back or f'`told why {name}` says more.'}")
        return found[0]

    def text(self, memory: Memory, room: int = 0) -> str:
        """Return what a memory says; fenced unless the user said it."""
        text = cut(memory.text, room) if room else memory.text
        return text if memory.trust == USER else self.context.fence.inline(text, memory.trust)

    def row(self, memory: Memory) -> str:
        """Return a memory in one line."""
        marks = [memory.kind, self.scope(memory)]
        marks += ["locked"] if memory.locked else []
        marks += [memory.status] if memory.status != "active" else []
        head = f"{when(memory.created, self.context.now)} {memory.id} {' '.join(marks)}"
        return f"{head}: {self.text(memory, 300)}"

    def scope(self, memory: Memory) -> str:
        """Return what a memory's scope is called; another project's is called by its key."""
        return "project" if memory.scope == self.project != GLOBAL else self.scope_name(memory.scope)

    def scope_name(self, scope: str) -> str:
        """Return what a scope is called, a project's by its key."""
        return self.context.name(
            scope.removeprefix(PROJECT) if scope.startswith(PROJECT) else scope_name(scope)
        )


def scope_of_folder(context: Context) -> str:
    """Return the scope of the current folder's project; in the home folder, what holds everywhere."""
    folder = context.cwd
    known = None if _is_home(context) else context.project()
    if known is not None:
        return PROJECT + known.key
    if not folder or _is_home(context):
        return GLOBAL
    return PROJECT + context.hide(identify(folder, ask_git=bool(git_root(folder))).key)


def _is_home(context: Context) -> bool:
    return bool(context.cwd) and context.cwd == os.path.realpath(context.environ.get("HOME", ""))


def memory_json(desk: Desk, memory: Memory) -> dict[str, Any]:
    """Return a memory as JSON shows it."""
    project = memory.scope.removeprefix(PROJECT) if memory.scope.startswith(PROJECT) else ""
    shown: dict[str, Any] = {
        "id": memory.id, "text": desk.text(memory), "kind": memory.kind, "scope": scope_name(memory.scope),
        "project": desk.context.name(project) or None, "status": memory.status, "locked": memory.locked,
        "trust": memory.trust, "confidence": memory.confidence, "importance": memory.importance,
        "created": iso(memory.created), "updated": iso(memory.updated),
        "superseded_by": memory.superseded_by or None, "times_shown": memory.shown,
        "repeated": memory.repeated, "entities": list(memory.entities),
        "triggers": [f"{one.kind}:{one.value}" for one in memory.triggers],
    }  # fmt: skip
    return shown


def moment_of(context: Context, given: str) -> int:
    """Return when the time begins that a user names.

    Raises:
        UsageError: it is not understood.
    """
    from told.search.dates import beginning

    begins = beginning(given, context.now)
    if begins is None:
        raise UsageError(f"{given!r} is no time. Try 2026-11-03, yesterday or 'last week'.")
    return max(1, begins)


def memory_count(number: int) -> str:
    """Return how many memories, in words."""
    return "1 memory" if number == 1 else f"{number:,} memories"


def joined(arguments: Arguments) -> str:
    """Return the operands as one text."""
    return " ".join(arguments.operands).strip()
