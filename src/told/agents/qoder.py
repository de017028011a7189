"""Qoder: transcripts in the format of Claude Code, as its documentation and other readers describe them."""

from __future__ import annotations

from told.agents._claude_reader import read
from told.agents.base import Agent, Layout

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
)
