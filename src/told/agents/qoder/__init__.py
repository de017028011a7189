"""Qoder: transcripts in the format of Claude Code, by its documentation."""

from __future__ import annotations

from told.agents import wiring
from told.agents.base import Agent, Layout
from told.agents.claude_code.reader import read
from told.agents.wiring import Block, Change, Place


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Qoder's files."""
    folder = place.in_project(".qoder") if place.is_project else place.folder("QODER_CONFIG_DIR", ".qoder")
    settings = place.join(folder, "settings.local.json" if place.is_project else "settings.json")
    hooks = wiring.hook_entries(place, settings, lambda event: wiring.shell_group(place, AGENT.name, event))
    if place.is_project:
        return (*hooks, *wiring.project_mcp(place), *wiring.agents_file(place))
    instructions = Block(place.join(folder, "AGENTS.md"), place.instructions)
    return (*hooks, *wiring.mcp_entry(place, settings), instructions)


AGENT = Agent(
    name="qoder",
    title="Qoder",
    label="qoder",
    aliases=("qcoder", "qodercli"),
    read=read,
    roots=("~/.qoder",),
    root_variable="QODER_CONFIG_DIR",
    layouts=(
        Layout("projects/*/*.jsonl", "session"),
        Layout("projects/*/*/subagents/*.jsonl", "subagent"),
        Layout("projects/*/transcript/*.jsonl", "session"),
    ),
    verified=False,
    advice="Run qodercli once in a project; the editor's own chats are kept encrypted and cannot be read.",
    wire=wire,
    programs=("qodercli", "qoder"),
    install_signs=("$QODER_CONFIG_DIR", "~/.qoder"),
    has_hooks=True,
    limits="Its hooks follow its documentation; they were never seen run.",
    instruction_files=(".qoder/rules/*.md",),
)
