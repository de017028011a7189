"""Cline: the sessions of its CLI, and the tasks of its editor extension."""

from __future__ import annotations

import os

from told.agents import _cline_messages as messages
from told.agents import _cline_tasks as tasks
from told.agents.base import Agent, Layout, user_data
from told.agents.text import items, mapping, millis, text
from told.guard.jsonl import json_document
from told.model import Begin, Cursor, Event, Facts, Mark, Problem, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from told.agents.wiring import Change, Place

_EDITORS = ("Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf")
_SERVERS = ("~/.vscode-server/data", "~/.vscode-server-insiders/data", "~/.cursor-server/data")
_TASK = "tasks/*/api_conversation_history.json"


def read(source: Source, _cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the whole session of a file."""
    document = json_document(source.path)
    if isinstance(document, Problem):
        yield document
        return
    if source.layout == "task":
        yield from tasks.read(source.path, items(document))
    elif source.layout == "compaction":
        yield from _read_compaction(mapping(document))
    else:
        yield from _read_session(source.path, mapping(document))
    try:
        yield Mark(Cursor(os.stat(source.path).st_size))
    except OSError:
        return


def _read_session(path: str, document: dict[str, Any]) -> Iterator[Event | Problem]:
    folder, name = os.path.split(path)
    session = text(document.get("sessionId")) or name.removesuffix(".messages.json")
    origin = mapping(document.get("origin"))
    is_helper = document.get("agent") == "subagent" or origin.get("mode") == "subagent"
    main = os.path.basename(folder)
    manifest = json_document(os.path.join(folder, f"{main}.json"))
    known = Facts(
        session,
        parent=(text(origin.get("parentThreadId")) or main) if is_helper else "",
        kind="subagent" if is_helper else "",
    )
    yield Begin(session)
    if isinstance(manifest, dict):
        known = _described(known, manifest)
    elif isinstance(manifest, Problem):
        yield Problem(0, f"manifest: {manifest.reason}")
    yield known
    yield from messages.events(known, items(document.get("messages")))


def _described(known: Facts, manifest: dict[str, Any]) -> Facts:
    """Add what a session's manifest says; a helper shares its caller's folder but not its title."""
    metadata = mapping(manifest.get("metadata"))
    git = mapping(metadata.get("git"))
    return Facts(
        known.session,
        cwd=text(manifest.get("cwd")) or text(manifest.get("workspace_root")),
        branch=text(git.get("branch")),
        repository=text(git.get("url")),
        title="" if known.kind else text(metadata.get("title")),
        started=0 if known.kind else millis(manifest.get("started_at")),
        parent=known.parent,
        kind=known.kind,
        model=text(manifest.get("model")),
    )


def _read_compaction(document: dict[str, Any]) -> Iterator[Event | Problem]:
    session = text(document.get("conversation_id"))
    if not session:
        yield Problem(0, "no conversation id")
        return
    yield Begin(session)
    yield from messages.summaries(
        session, items(document.get("messages")), millis(document.get("updated_at"))
    )


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Cline's files."""
    from told.agents._cline_wiring import changes

    return changes(place)


AGENT = Agent(
    name="cline",
    title="Cline",
    label="cline",
    read=read,
    # CLINE_DIR moves the CLI's folder alone, so it is not the variable that stands for all of them.
    roots=("$CLINE_DIR|~/.cline", *(root for editor in _EDITORS for root in user_data(editor)), *_SERVERS),
    layouts=(
        Layout("data/sessions/*/*.messages.json", "session"),
        Layout("data/sessions/*/*.compaction.json", "compaction"),
        Layout(f"data/{_TASK}", "task"),
        Layout(f"User/globalStorage/saoudrizwan.claude-dev/{_TASK}", "task"),
    ),
    advice="Start a task in Cline once; told reads it from then on.",
    wire=wire,
    programs=("cline",),
    present=("$CLINE_DIR", "~/.cline"),
    limits="Its hooks cannot brief it at a start or a prompt: it asks told because its rules say so.",
)
