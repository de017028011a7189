"""Qoder: transcripts in the format of Claude Code, as its documentation and other readers describe them."""

from __future__ import annotations

from told.agents._claude_reader import read
from told.agents.base import Agent, Layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.agents.wiring import Change, Place


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Qoder's files."""
    from told.agents._qoder_wiring import changes

    return changes(place)


AGENT = Agent(
    name="qoder",
    title="Qoder",
    label="qoder",
    read=read,
    roots=("~/.qoder",),
    env="QODER_CONFIG_DIR",
    layouts=(
        Layout("projects/*/*.jsonl", "session"),
        Layout("projects/*/*/subagents/*.jsonl", "subagent"),
        Layout("projects/*/transcript/*.jsonl", "session"),
    ),
    seen_run=False,
    advice="Run qodercli once in a project; the editor's own chats are kept encrypted and cannot be read.",
    wire=wire,
    programs=("qodercli", "qoder"),
    present=("$QODER_CONFIG_DIR", "~/.qoder"),
    hooks=True,
    limits="Its hooks follow its documentation; they were never seen run.",
)
