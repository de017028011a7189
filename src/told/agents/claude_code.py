"""Claude Code: one JSONL transcript for each session, and one for each of its helpers."""

from __future__ import annotations

from told.agents._claude_reader import read
from told.agents.base import Agent, Layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.agents.wiring import Change, Place


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Claude Code's files."""
    from told.agents._claude_wiring import changes

    return changes(place)


AGENT = Agent(
    name="claude-code",
    title="Claude Code",
    label="claude",
    read=read,
    roots=("~/.claude",),
    env="CLAUDE_CONFIG_DIR",
    layouts=(
        Layout("projects/*/*.jsonl", "session"),
        Layout("projects/*/*/subagents/*.jsonl", "subagent"),
    ),
    advice="Run claude once in a project; with --no-session-persistence it keeps no conversations.",
    wire=wire,
    programs=("claude",),
    present=("$CLAUDE_CONFIG_DIR", "~/.claude"),
    hooks=True,
)
