"""What every command uses: its context, its open memories, and how output is formatted."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import apsw

from told.app import App, CallSite, MemorySession
from told.cli.arguments import Arguments
from told.cli.terminal.blocks import Block
from told.errors import NotFoundError, UsageError
from told.fence import PlainFence, defuse_tags, defuse_values
from told.settings import Settings
from told.store.memories.names import (
    ACTIVE,
    ARCHIVED,
    CANDIDATE,
    TEAM,
    UNCONFIRMED,
    USER,
    describe_scope,
    format_scope,
    project_key,
)
from told.store.sessions.facts import TO_CAPTURE, WorkQueue

if TYPE_CHECKING:
    from told.store.memories.records import Memory

MOST_MATCHES = 8  # shown if an id or words match several
SHORTEST_ID = 3  # letters
UNDO_HINT = "`told undo` reverts it."


class Context(App):
    """The app of one command, with its output."""

    def __init__(
        self, settings: Settings, environ: Mapping[str, str], connection: apsw.Connection, key: bytes,
        site: CallSite | None = None, *, as_json: bool = False, colour: str = "auto",
    ) -> None:  # fmt: skip
        super().__init__(settings, environ, connection, key, site)
        self.as_json = as_json
        self.exit_code = 0
        self.left = 0  # files still to be imported
        self._colour = colour
        self._lines: list[Block] = []
        # A person at a terminal; pipes and agents get compact text with fences.
        self.is_at_terminal = (
            site is None
            and not as_json
            and (sys.stdout.isatty() or colour == "always")
            and self.caller.is_user
        )
        if self.is_at_terminal:
            self.fence = PlainFence()

    @property
    def rows(self) -> int:
        """Return how many lines and blocks were printed."""
        return len(self._lines)

    def print(self, text: str = "") -> None:
        """Add a line to the output, which is written at once."""
        self._lines.append(text if self.is_at_terminal else defuse_tags(text))

    def show(self, *blocks: Block) -> None:
        """Add tables and styled text to the output at a terminal."""
        self._lines += blocks

    def print_json(self, value: Any, *, found: object = True) -> None:
        """Add a line of compact JSON to the output; exit with 1 if nothing was found."""
        self._lines.append(to_json(defuse_values(value)))
        if not found:
            self.exit_code = NotFoundError.exit_code

    def report(self, text: str, value: Any) -> None:
        """Print a text, or a value as JSON if that is wanted."""
        if self.as_json:
            self._lines.append(to_json(defuse_values(value)))
        else:
            self.print(text)

    def count_unlearned(self) -> int:
        """Return how many sessions told has still to learn from."""
        return WorkQueue(self.connection).count(TO_CAPTURE) if self.settings.learn else 0

    def learning_json(self) -> dict[str, int]:
        """Return the number of sessions to learn from for JSON, if there are any."""
        return {"unlearned_sessions": sessions} if (sessions := self.count_unlearned()) else {}

    def describe_learning(self) -> str:
        """Return what of the history is still to be learned; empty if nothing is."""
        sessions = self.count_unlearned()
        waiting = [count(self.left, "file")] * bool(self.left) + [count(sessions, "session")] * bool(sessions)
        if not waiting:
            return ""
        then = "Ask again in a minute." if self.settings.background else "`told index` finishes it."
        return f"Your history is still being learned ({' and '.join(waiting)} to go). {then}"

    def fenced(self, text: str, trust: str) -> str:
        """Return a text, fenced unless the user said it."""
        return self.fence.plain(text) if trust == USER else self.fence.inline(text, trust)

    def memory_text(self, memory: Memory, room: int = 0) -> str:
        """Return a memory's text and the line that completes it, cut and fenced as needed."""
        text = cut(memory.text, room) if room else memory.text
        return self.fenced(f"{text} (context: {memory.context})" if memory.context else text, memory.trust)

    def take(self) -> str:
        """Return what was printed, and start over."""
        if self.is_at_terminal:
            lines, self._lines = self._lines, []
            return self._render(lines) if lines else ""
        return f"{text}\n" if (text := "\n".join(self.take_lines())) else ""

    def _render(self, lines: list[Block]) -> str:
        from told.cli.terminal.screen import Screen, terminal_width, wants_colour  # noqa: PLC0415 - loads rich

        colour = wants_colour(self._colour, self.environ)
        return Screen(terminal_width(self.environ), colour=colour).render(lines)

    def take_lines(self) -> list[str]:
        """Return what was printed as lines and fenced blocks, and start over."""
        lines, self._lines = self._lines, []
        return [line for line in lines if isinstance(line, str)]

    def refuse_agent(self, what: str) -> NoReturn:
        """Raise that only the user can do something."""
        sign = f", and {self.caller.sign}" if self.caller.sign else ""
        raise UsageError(f"Only you can {what}{sign}. Use your own terminal.")

    def parse_time(self, given: str) -> int:
        """Return the start of a time that the user gives, in milliseconds."""
        from told.search.dates import find_start  # noqa: PLC0415 - few commands are given a time

        start = find_start(given, self.now)
        if start is None:
            raise UsageError(f"Unknown time {given!r}. Try 2026-11-03, yesterday or 'last week'.")
        return max(1, start)


class MemoryView(MemorySession):
    """Open memories with lookup by id or words, rows and JSON."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.context = context

    def find_one(self, given: str, *, any_status: bool = False, also: Sequence[str] = ()) -> Memory:
        """Return the one memory with an id or words, active or of another allowed status."""
        from told.memories.scopes import find_memories  # noqa: PLC0415

        matches = find_memories(
            self.memories, given.strip(), self.scopes, self.context.now, candidates=CANDIDATE in also
        )
        found = self.only_one(given, [one for one in matches if one.text])
        if found.status not in (ACTIVE, *also) and not any_status:
            hint = f"`told why {found.id}` shows why."
            if found.status in UNCONFIRMED:
                verb = "restores it" if found.is_rejected else "makes it a memory"
                hint = f"`told confirm {found.id}` {verb}."
            if found.status == ARCHIVED:
                hint = f"`told retention restore {found.id}` restores it."
            status = "a candidate" if found.status == CANDIDATE else found.status
            raise UsageError(f"{found.id} is {status}. {hint}")
        return found

    def find_by_prefix(self, given: str) -> list[Memory]:
        """Return the memory with an id, or those whose ids begin with it."""
        ids = self.memories.ids_with_prefix(given, 9) if len(given) >= SHORTEST_ID else []
        found = list(self.memories.get(ids).values())
        return [one for one in found if one.id == given] or found

    def only_one(self, given: str, found: list[Memory], lister: str = "told memories") -> Memory:
        """Return the only match, or raise an error with the choices."""
        from told.memories.scopes import find_similar  # noqa: PLC0415

        if not found:
            near = "\n".join(map(self.row, find_similar(self.memories, given.strip(), self.scopes)))
            hint = f"Did you mean:\n{near}" if near else f"`{lister}` lists them."
            raise NotFoundError(f"No memory matches {cut(given, 60)!r}. {hint}")
        if len(found) > 1:
            rows = "\n".join(self.row(one) for one in found[:MOST_MATCHES])
            raise UsageError(f"{cut(given, 60)!r} matches {memory_count(len(found))}. Give an id:\n{rows}")
        return found[0]

    def print_undo(self) -> None:
        """Say how the user reverts the change."""
        if self.caller.is_user:
            self.context.print(UNDO_HINT)

    def text(self, memory: Memory, room: int = 0) -> str:
        """Return a memory's text with its context, cut and fenced as needed."""
        return self.context.memory_text(memory, room)

    def row(self, memory: Memory) -> str:
        """Return a memory in one line."""
        marks = [memory.kind_name, self.scope(memory)]
        marks += ["locked"] if memory.locked else []
        is_named = memory.trust.startswith(TEAM) and self.context.is_at_terminal  # elsewhere by its fence
        marks += [f"by {memory.trust}"] if is_named else []
        marks += [memory.status] if memory.status != ACTIVE else []
        head = f"{when(memory.created, self.context.now)} {memory.id} {' '.join(marks)}"
        return f"{head}: {self.text(memory, 300)}"

    def scope(self, memory: Memory) -> str:
        """Return the name of a memory's scope; another project's is its key."""
        return self.context.name(describe_scope(memory.scope, self.project))

    def scope_name(self, scope: str) -> str:
        """Return the name of a scope, a project's by its key."""
        return self.context.name(describe_scope(scope, ""))

    def json(self, memory: Memory) -> dict[str, Any]:
        """Return a memory for JSON."""
        project = project_key(memory.scope)
        return {
            "id": memory.id, "text": self.context.fenced(memory.text, memory.trust), "kind": memory.kind,
            "marks": list(memory.marks),
            "context": self.context.fenced(memory.context, memory.trust) if memory.context else None,
            "scope": format_scope(memory.scope), "project": self.context.name(project) or None,
            "status": memory.status, "locked": memory.locked, "trust": memory.trust,
            "confidence": memory.confidence, "importance": memory.importance,
            "created": iso(memory.created), "updated": iso(memory.updated),
            "superseded_by": memory.superseded_by or None, "times_shown": memory.shown,
            "repeated": memory.repeated, "entities": list(memory.entities),
            "triggers": [f"{one.kind}:{one.value}" for one in memory.triggers],
        }  # fmt: skip

    def json_rows(self, memories: Iterable[Memory]) -> list[dict[str, Any]]:
        """Return memories for JSON."""
        return [self.json(one) for one in memories]

    def require_user(self, what: str) -> None:
        """Refuse an agent."""
        if not self.caller.is_user:
            self.context.refuse_agent(what)


def may_ask(arguments: Arguments) -> bool:
    """Tell whether this is an interactive terminal, without --yes or --json."""
    quiet = arguments.flag("yes") or arguments.flag("json")
    return sys.stdin.isatty() and sys.stdout.isatty() and not quiet


def confirm_yes(context: Context, question: str) -> bool:
    """Print the output so far, and ask; an empty line means yes."""
    sys.stdout.write(f"{context.take()}{question} [Y/n] ")
    sys.stdout.flush()
    answer = sys.stdin.readline()
    return answer.strip().lower() in ("", "y", "yes") and answer != ""


def memory_count(number: int) -> str:
    """Return a number of memories in words."""
    return count(number, "memory")


def to_json(value: Any) -> str:
    """Return compact JSON, with floats rounded to three digits."""
    import json  # noqa: PLC0415 - most output is text

    return json.dumps(_rounded(value), ensure_ascii=False, separators=(",", ":"))


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 3)
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, (list, tuple)) else value


def when(at: int, now: int) -> str:
    """Return a short local date and time; 0 ms is unknown."""
    if at <= 0:
        return "undated    "
    then = _local_time(at)
    form = "%m-%d %H:%M" if then.tm_year == _local_time(now).tm_year else "%Y-%m-%d %H:%M"
    return time.strftime(form, then)


def day_of(at: int, now: int) -> str:
    """Return a short local date."""
    return when(at, now).rpartition(" ")[0]


def iso(at: int) -> str | None:
    """Return a time as ISO text in UTC."""
    if at <= 0:
        return None
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at // 1000))
    except (OverflowError, OSError, ValueError):
        return None


def _local_time(at: int) -> time.struct_time:
    try:
        return time.localtime(at // 1000)
    except (OverflowError, OSError, ValueError):
        return time.localtime(0)


def count(number: int, word: str) -> str:
    """Return a number with its noun, in the plural if needed."""
    plural = f"{word.removesuffix('y')}ies" if word == "memory" else f"{word}s"
    return f"{number:,} {word if number == 1 else plural}"


def count_shown(shown: int, total: int, word: str, where: str = "") -> str:
    """Return how many rows are shown, of how many, where, and how to see more."""
    place = f", {where}" if where else ""
    if shown >= total:
        return f"{count(shown, word)}{place}"
    return f"{shown:,} of {count(total, word)}{place} (use --limit to see more)"


def cut(text: str, room: int) -> str:
    """Cut a text to `room` bytes, with an ellipsis."""
    raw = text.encode()
    if len(raw) <= room:
        return text
    if room < 4:
        return ""
    start = raw[: room - 3].decode("utf-8", "ignore")
    space = start.rfind(" ")
    if space > len(start) * 2 // 3:
        start = start[:space]
    return start.rstrip() + "…"


def cut_line(text: str, room: int) -> str:
    """Cut a text to `room` bytes on one line."""
    return cut(" ".join(text.split()), room)


def relative_path(path: str, root: str) -> str:
    """Return a path below its project's root, or as it is elsewhere."""
    return path.removeprefix(root.rstrip("/") + "/") if root else path


def short_path(path: str, root: str, room: int) -> str:
    """Return a path below its project's root, shortened from the left."""
    path = relative_path(path, root)
    if len(path.encode()) <= room:
        return path
    tail = path.encode()[-(room - 3) :].decode("utf-8", "ignore")
    slash = tail.find("/")
    return "…" + (tail[slash:] if 0 <= slash < len(tail) - 8 else tail)


def short_home(context: Context, path: str) -> str:
    """Return a path with the home folder as `~`."""
    home = (context.environ.get("HOME") or context.environ.get("USERPROFILE") or "").rstrip("/\\")
    below = path.removeprefix(home)
    return f"~{below}" if home and below != path and below[:1] in ("/", "\\") else path
