"""Copilot in JetBrains IDEs: event lines in parts, and the object stores of older plugins."""

from __future__ import annotations

import os

from told.agents._jetbrains_events import document_events, read_events
from told.agents._jetbrains_nitrite import conversations
from told.agents._vscode_places import size_of
from told.agents.base import Agent, Layout
from told.guard.files import NotReadableError, read_document
from told.guard.jsonl import json_document
from told.model import Begin, Cursor, Event, Mark, Problem, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.agents.wiring import Change, Place


def read(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the conversations of one file."""
    if source.path.endswith(".db"):
        yield from _read_store(source)
    elif source.path.endswith(".json"):
        yield from _read_document(source)
    else:
        folder = os.path.basename(os.path.dirname(source.path))
        stem = os.path.splitext(os.path.basename(source.path))[0]
        if source.layout != "partition":
            yield from read_events(source, cursor, stem)
            return
        number = stem.removeprefix("partition-")
        yield from read_events(source, cursor, folder, "" if number in ("0", "1") else f"-part-{number}")


def _read_store(source: Source) -> Iterator[Event | Problem]:
    size = size_of(source.path)
    try:
        content = read_document(source.path)
    except NotReadableError as error:
        yield Problem(0, f"Nitrite database, not readable: {error}")
        return
    found = list(conversations(content, os.path.basename(os.path.dirname(source.path))))
    if content and not found:
        yield Problem(0, "Nitrite database, not readable")
        return
    yield from found
    yield Mark(Cursor(size))


def _read_document(source: Source) -> Iterator[Event | Problem]:
    size = size_of(source.path)
    document = json_document(source.path)
    if isinstance(document, Problem):
        yield document
        return
    session, events = document_events(document, source.path)
    yield Begin(session)
    yield from events
    yield Mark(Cursor(size))


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Copilot's files."""
    from told.agents._vscode_wiring import jetbrains_changes

    return jetbrains_changes(place)


AGENT = Agent(
    name="jetbrains-copilot",
    title="Copilot in JetBrains IDEs",
    label="jetbrains",
    read=read,
    roots=(
        "~/.copilot/jb",
        "$XDG_CONFIG_HOME|~/.config:github-copilot",
        "~/Library/Application Support/github-copilot",
        "$LOCALAPPDATA/github-copilot",
        "~/AppData/Local/github-copilot",
    ),
    layouts=(
        Layout("*/partition-*.jsonl", "partition"),
        *(
            Layout(f"{ide}{folder}/**/*.{extension}", extension)
            for ide in ("", "*/")
            for folder in ("chat-sessions", "chat-agent-sessions", "chat-edit-sessions")
            for extension in ("db", "json", "jsonl")
        ),
    ),
    seen_run=False,
    wire=wire,
    present=("$XDG_CONFIG_HOME|~/.config:github-copilot/intellij", "$LOCALAPPDATA/github-copilot/intellij"),
    limits="told has no hooks in it: it asks told because its instructions say so.",
)
