"""opencode: its SQLite database, and the tree of JSON files it kept before 1.2."""

from __future__ import annotations

import os

from told.agents._opencode_messages import Message, events, facts
from told.agents.base import Agent, Layout, Table
from told.agents.text import mapping, millis, text
from told.guard.jsonl import json_document, parse
from told.model import Begin, Cursor, Event, Mark, Problem, Source
from told.store.foreign import Foreign, ForeignError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from told.agents.wiring import Change, Place

_SESSION = (
    "id", "directory", "title", "parent_id", "model", "time_created", "time_updated", "time_archived",
)  # fmt: skip


def read(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield what a session's files, or the changed sessions of the database, say."""
    if source.layout == "tree":
        yield from _read_tree(source)
        return
    try:
        with Foreign(source.path) as database:
            yield from _read_changed(database, cursor)
    except ForeignError as error:
        yield Problem(0, str(error))


def _read_changed(database: Foreign, cursor: Cursor) -> Iterator[Event | Problem]:
    changed = _changed(database, cursor.offset)
    order = sorted(changed, key=lambda session: (changed[session], session))
    for session, following in zip(order, [*order, ""][1:], strict=True):
        for row in database.rows("session", _SESSION, "id = ?", (session,)):
            messages, problems = _messages_in(database, session)
            yield Begin(session)
            known = facts(session, _described(row), messages)
            yield known
            yield from problems
            yield from events(known, messages)
        # Two sessions of the same millisecond share a cursor, so only the last of them may set it.
        if changed.get(following) != changed[session]:
            yield Mark(Cursor(changed[session]))


def _changed(database: Foreign, since: int) -> dict[str, int]:
    """Return when each session that has news was last written to.

    A message is marked as changed once it is complete, which may be after its session was.
    """
    newest: dict[str, int] = {}
    of_sessions = database.rows("session", ("id", "time_updated"), "time_updated > ?", (since,))
    of_messages = database.rows("message", ("session_id", "time_updated"), "time_updated > ?", (since,))
    for rows, name in ((of_sessions, "id"), (of_messages, "session_id")):
        for row in rows:
            session, updated = text(row[name]), row["time_updated"]
            if session and isinstance(updated, int):
                newest[session] = max(newest.get(session, 0), updated)
    return newest


def _messages_in(database: Foreign, session: str) -> tuple[list[Message], list[Problem]]:
    parts: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    problems: list[Problem] = []
    for row in database.rows("part", ("id", "message_id", "data"), "session_id = ?", (session,), "id"):
        part = _parsed(row["data"])
        if part is None:
            problems.append(Problem(0, f"part {text(row['id'])}: not JSON"))
        else:
            parts.setdefault(text(row["message_id"]), []).append((text(row["id"]), part))
    messages = []
    columns = ("id", "time_created", "data")
    for row in database.rows("message", columns, "session_id = ?", (session,), "time_created, id"):
        message = _parsed(row["data"])
        if message is None:
            problems.append(Problem(0, f"message {text(row['id'])}: not JSON"))
        else:
            messages.append(Message(message, parts.get(text(row["id"]), []), millis(row["time_created"])))
    return messages, problems


def _parsed(data: Any) -> dict[str, Any] | None:
    value = parse(data) if isinstance(data, (str, bytes)) else None
    return value if isinstance(value, dict) else None


def _described(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row of the session table in the shape that a session's JSON file has."""
    return {
        "directory": row["directory"],
        "title": row["title"],
        "parentID": row["parent_id"],
        "model": _parsed(row["model"]),
        "time": {"created": row["time_created"], "archived": row["time_archived"]},
    }


def _read_tree(source: Source) -> Iterator[Event | Problem]:
    document = json_document(source.path)
    if not isinstance(document, dict):
        yield document if isinstance(document, Problem) else Problem(0, "not a JSON object")
        return
    session = os.path.basename(source.path).removesuffix(".json")
    storage = os.path.dirname(os.path.dirname(os.path.dirname(source.path)))
    messages = []
    yield Begin(session)
    for name, message in _documents(os.path.join(storage, "message", session)):
        if isinstance(message, Problem):
            yield Problem(0, f"message {name}: {message.reason}")
            continue
        parts = []
        for part_name, part in _documents(os.path.join(storage, "part", name)):
            if isinstance(part, Problem):
                yield Problem(0, f"part {part_name}: {part.reason}")
            else:
                parts.append((part_name, part))
        messages.append(Message(message, parts, millis(mapping(message.get("time")).get("created"))))
    messages.sort(key=lambda message: message.at)
    known = facts(session, document, messages)
    yield known
    yield from events(known, messages)
    try:
        yield Mark(Cursor(os.stat(source.path).st_size))
    except OSError:
        return


def _documents(folder: str) -> Iterator[tuple[str, dict[str, Any] | Problem]]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except (OSError, ValueError):
        return
    for name in names:
        document = json_document(os.path.join(folder, name))
        if not isinstance(document, (dict, Problem)):
            document = Problem(0, "not a JSON object")
        yield name.removesuffix(".json"), document


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into opencode's files."""
    from told.agents._opencode_wiring import changes

    return changes(place)


AGENT = Agent(
    name="opencode",
    title="opencode",
    label="opencode",
    read=read,
    roots=("$XDG_DATA_HOME|~/.local/share:opencode",),
    layouts=(
        Layout("opencode.db", "database"),
        # opencode rewrites a session's own file whenever a turn of it ends, so it stands for the
        # many small files of its messages, and a session is read once and not once for each of them.
        Layout("storage/session/*/*.json", "tree"),
    ),
    tables=(
        Table("database", "session", ("id", "directory", "time_created", "time_updated")),
        Table("database", "message", ("id", "session_id", "time_created", "time_updated", "data")),
        Table("database", "part", ("id", "message_id", "session_id", "data")),
    ),
    advice="Start opencode in a project once; told reads its sessions from then on.",
    wire=wire,
    programs=("opencode",),
    present=(
        "$OPENCODE_CONFIG_DIR",
        "$XDG_CONFIG_HOME|~/.config:opencode",
        "$XDG_DATA_HOME|~/.local/share:opencode",
    ),
    hooks=True,
)
