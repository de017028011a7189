"""Cursor: the editor's state databases, and the transcripts of its agents."""

from __future__ import annotations

from told.agents._cursor_store import read_global, read_workspace
from told.agents._cursor_transcripts import read_transcript
from told.agents.base import Agent, Layout, Table, user_data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.agents.wiring import Change, Place
    from told.model import Cursor, Event, Problem, Source


def read(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the conversations of one database or transcript."""
    if source.layout == "global":
        yield from read_global(source, cursor)
    elif source.layout == "workspace":
        yield from read_workspace(source, cursor)
    else:
        yield from read_transcript(source, cursor)


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Cursor's files."""
    from told.agents._cursor_wiring import changes

    return changes(place)


AGENT = Agent(
    name="cursor",
    title="Cursor",
    label="cursor",
    read=read,
    roots=(*user_data("Cursor"), "~/.cursor"),
    layouts=(
        Layout("User/globalStorage/state.vscdb", "global"),
        Layout("User/workspaceStorage/*/state.vscdb", "workspace"),
        *(
            Layout(f"projects/*/agent-transcripts/**/*.{extension}", "transcript")
            for extension in ("jsonl", "txt", "json")
        ),
    ),
    tables=(
        Table("global", "cursorDiskKV", ("key", "value")),
        Table("workspace", "ItemTable", ("key", "value")),
    ),
    seen_run=False,
    wire=wire,
    programs=("cursor", "cursor-agent"),
    present=("~/.cursor",),
    hooks=True,
    limits="It runs the hooks of Claude Code as well, and told answers once. Its own were never seen run.",
)
