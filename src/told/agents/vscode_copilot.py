"""VS Code's Copilot Chat: one JSON document or one mutation log for each session."""

from __future__ import annotations

import os

from told.agents._vscode_log import rebuild
from told.agents._vscode_places import size_of, workspace_folder
from told.agents._vscode_session import session_events
from told.agents.base import Agent, Layout, user_data
from told.agents.text import mapping, text
from told.guard.jsonl import json_document
from told.model import Begin, Cursor, Event, Mark, Problem, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.agents.wiring import Change, Place


def read(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:  # noqa: ARG001
    """Yield a session whole: both formats describe its present state."""
    size = size_of(source.path)
    problems: list[Problem] = []
    stem, extension = os.path.splitext(os.path.basename(source.path))
    if extension == ".jsonl":
        state, problems = rebuild(source.path)
        if not state:
            yield from problems
            return  # nothing to go by; what was known before stays
    elif os.path.exists(source.path + "l"):
        state = {}  # the editor has gone over to the log; this is what was before
    else:
        document = json_document(source.path)
        if isinstance(document, Problem):
            yield document
            return
        state = mapping(document)
    session = text(state.get("sessionId")) or stem
    yield Begin(session)
    yield from problems
    yield from session_events(state, session, _project(source.path))
    yield Mark(Cursor(size))


def _project(path: str) -> str:
    folder = os.path.dirname(path)
    return workspace_folder(os.path.dirname(folder)) if os.path.basename(folder) == "chatSessions" else ""


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into VS Code's files."""
    from told.agents._vscode_wiring import changes

    return changes(place)


AGENT = Agent(
    name="vscode-copilot",
    title="VS Code Copilot Chat",
    label="vscode",
    read=read,
    roots=(
        *user_data("Code"),
        *user_data("Code - Insiders"),
        *user_data("VSCodium"),
        "~/.vscode-server/data",
        "~/.vscode-server-insiders/data",
        "~/.vscode-remote/data",
        "~/.var/app/com.visualstudio.code/config/Code",
        "~/.var/app/com.visualstudio.code.insiders/config/Code - Insiders",
        "~/.var/app/com.vscodium.codium/config/VSCodium",
        "~/snap/code/current/.config/Code",
        "~/snap/code-insiders/current/.config/Code - Insiders",
        "~/snap/codium/current/.config/VSCodium",
        "$VSCODE_PORTABLE/user-data",
    ),
    layouts=tuple(
        Layout(f"User/{folder}/*.{extension}", extension)
        for folder in ("workspaceStorage/*/chatSessions", "globalStorage/emptyWindowChatSessions")
        for extension in ("json", "jsonl")
    ),
    seen_run=False,
    wire=wire,
    present=tuple(
        f"{root}/User/globalStorage/github.copilot-chat"
        for name in ("Code", "Code - Insiders", "VSCodium")
        for root in user_data(name)
    ),
    limits="told has no hooks in it: it asks told because its instructions say so.",
)
