"""Neovim: whole JSON documents that several chat plugins write, each in a place of its own."""

from __future__ import annotations

import os

from told.agents._neovim_plugins import avante, codecompanion, copilotchat
from told.agents._vscode_places import size_of
from told.agents.base import Agent, Layout
from told.agents.text import mapping, millis, text
from told.guard.files import NotReadableError, read_document
from told.guard.jsonl import json_document
from told.model import Begin, Checkpoint, Cursor, Event, Mark, Problem, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def read(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:  # noqa: ARG001
    """Yield a chat whole, or a summary of one."""
    size = size_of(source.path)
    folder, name = os.path.split(source.path)
    stem = os.path.splitext(name)[0]
    if source.layout == "summary":
        yield from _summary(source.path, folder, stem)
    elif name != "metadata.json":
        document = json_document(source.path)
        if isinstance(document, Problem):
            yield document
            return
        # The plugins number their chats, so that an id alone would not say whose it is.
        if source.layout == "avante":
            project = os.path.basename(os.path.dirname(folder))
            session = f"avante-{project}-{stem}"
            root = mapping(json_document(os.path.join(folder, "metadata.json"))).get("project_root")
            events = avante(document, session, text(root))
        elif source.layout == "codecompanion":
            session = f"codecompanion-{stem}"
            events = codecompanion(document, session, stem)
        else:
            session = f"copilotchat-{stem}"
            events = copilotchat(document, session, stem)
        yield Begin(session)
        yield from events
    yield Mark(Cursor(size))


def _summary(path: str, folder: str, stem: str) -> Iterator[Event | Problem]:
    """Yield the summary that CodeCompanion made of a chat, if its index says of which."""
    index = mapping(json_document(os.path.join(os.path.dirname(folder), "summaries_index.json")))
    entry = mapping(index.get(stem))
    chat = text(entry.get("chat_id"))
    try:
        overview = read_document(path).decode("utf-8", "replace").strip()
    except NotReadableError as error:
        yield Problem(0, str(error))
        return
    if chat and overview:
        session = f"codecompanion-{chat}"
        yield Begin(session)
        yield Checkpoint(
            session, 1, text(entry.get("chat_title")), overview, millis(entry.get("generated_at"))
        )


AGENT = Agent(
    name="neovim",
    title="Neovim chat plugins",
    label="nvim",
    read=read,
    roots=(
        "$XDG_DATA_HOME|~/.local/share:nvim",
        "$XDG_STATE_HOME|~/.local/state:nvim",
        "$LOCALAPPDATA/nvim-data",
        "~/AppData/Local/nvim-data",
    ),
    layouts=(
        Layout("copilotchat_history/*.json", "copilotchat"),
        Layout("codecompanion-history/chats/*.json", "codecompanion"),
        Layout("codecompanion-history/summaries/*.md", "summary"),
        Layout("avante/projects/*/history/*.json", "avante"),
    ),
    seen_run=False,
    advice="CopilotChat.nvim keeps a chat only when :CopilotChatSave is used.",
)
