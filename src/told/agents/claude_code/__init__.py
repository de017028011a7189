"""Claude Code: one JSONL transcript for each session, and one for each of its subagents."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from told.agents import wiring
from told.agents.base import (
    Agent,
    Call,
    Dialect,
    Layout,
    ProcessSign,
    ShellSign,
    StopQuestion,
    nest_context,
)
from told.agents.claude_code.notes import find_notes_folder
from told.agents.claude_code.reader import read
from told.agents.headless import Headless, HeadlessReply, HeadlessTask
from told.agents.values import as_count
from told.agents.wiring import Block, Change, Place


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Claude Code's files."""
    if place.is_project:
        folder = place.in_project(".claude")
        settings = "settings.local.json"  # a team shares settings.json; hooks name programs of this machine
        instructions = place.in_project("CLAUDE.md")
        servers = wiring.project_mcp(place)
    else:
        folder = place.folder("CLAUDE_CONFIG_DIR", ".claude")
        settings = "settings.json"
        instructions = place.join(folder, "CLAUDE.md")
        home = folder if place.variables.get("CLAUDE_CONFIG_DIR") else place.home
        # Without alwaysLoad, the first request lacks the server's tools.
        servers = wiring.mcp_entry(place, place.join(home, ".claude.json"), type="stdio", alwaysLoad=True)

    def group(event: str) -> dict[str, Any]:
        # Older versions of Claude Code know no `args`; on Windows it runs hooks in Git Bash.
        line = place.launch.line(AGENT.name, event)
        hook = {"type": "command", "command": line, "timeout": wiring.hook_timeout(event)}
        return wiring.hook_group(event, hook, "Bash|Edit|MultiEdit|Write|NotebookEdit")

    return (
        *wiring.hook_entries(place, place.join(folder, settings), group),
        *servers,
        Block(instructions, place.instructions),
        *wiring.markdown_commands(place, place.join(folder, "commands"), tools=True),
    )


def _ask(task: HeadlessTask) -> Sequence[str]:
    """Return the arguments for one question: no tools, hooks, servers, skills or transcript."""
    model = ("--model", task.model) if task.model else ()
    return (
        "-p", "--output-format", "json", "--no-session-persistence", "--strict-mcp-config",
        "--disable-slash-commands", "--settings", json.dumps({"disableAllHooks": True}), "--tools", "",
        *model, "--system-prompt", task.system,
    )  # fmt: skip


def _read_answer(output: str) -> HeadlessReply:
    """Return the result of a run with JSON output."""
    found = json.loads(output)
    if not isinstance(found, dict) or found.get("is_error") or not isinstance(found.get("result"), str):
        raise ValueError("no result")
    usage = found.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    read = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return HeadlessReply(
        found["result"], sum(as_count(usage.get(name)) for name in read), as_count(usage.get("output_tokens"))
    )


def _is_attended(_call: Call, _payload: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
    """Tell whether a user sits at the terminal; `claude -p` and the SDK have other values."""
    return (
        environ.get("CLAUDE_CODE_SESSION_ATTENDED") == "1" and environ.get("CLAUDE_CODE_ENTRYPOINT") == "cli"
    )


AGENT = Agent(
    name="claude-code",
    title="Claude Code",
    label="claude",
    read=read,
    roots=("~/.claude",),
    root_variable="CLAUDE_CONFIG_DIR",
    layouts=(Layout("projects/*/*.jsonl", "session"), Layout("projects/*/*/subagents/*.jsonl", "subagent")),
    advice="Run claude once in a project; with --no-session-persistence it keeps no conversations.",
    wire=wire,
    programs=("claude",),
    install_signs=("$CLAUDE_CONFIG_DIR", "~/.claude"),
    has_hooks=True,
    since={wiring.HOOKS: "1.0.62"},  # the first with a hook at a session start
    headless=Headless(
        _ask,
        _read_answer,
        small_model="haiku",
        takes_system=True,
        variables={"CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1", "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"},
    ),
    headless_sign=rb'"entrypoint":\s*"sdk-',
    headless_variable=("CLAUDE_CODE_ENTRYPOINT", "sdk-"),
    # It shows added context as "Stop hook says", and a blocked stop as "Stop hook reported a problem".
    dialect=Dialect(stop_question=StopQuestion(_is_attended, nest_context)),
    process=ProcessSign("claude", "@anthropic-ai/claude-code"),
    shell_signs=(
        ShellSign("CLAUDECODE", "CLAUDE_CODE_SESSION_ID"),  # every command and hook
        ShellSign("CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SESSION_ID"),  # MCP servers, which lack CLAUDECODE
    ),
    instruction_files=(
        "CLAUDE.md",
        "CLAUDE.local.md",
        ".claude/CLAUDE.md",
        ".claude/rules/*.md",
        "**/CLAUDE.md",
    ),
    notes_folder=find_notes_folder,
)
