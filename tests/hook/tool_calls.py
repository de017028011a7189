"""Tool calls as each agent tells its hook about them, and what an answer does to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.hook.desk import AGENTS, Desk, typed

if TYPE_CHECKING:
    from collections.abc import Mapping

TOOL_AGENTS = (*AGENTS, "qoder")  # those whose full profile has a hook before tool calls
EVENT_NAMES = {
    "gemini-cli": "BeforeTool", "copilot-cli": "preToolUse", "cursor": "preToolUse",
    "opencode": "tool.execute.before",
}  # fmt: skip
SHELLS = {
    "gemini-cli": "run_shell_command", "qwen-code": "run_shell_command", "copilot-cli": "bash",
    "cursor": "Shell", "opencode": "bash",
}  # fmt: skip
# An edit, with the name and the arguments that the agent gives its own tool.
EDITS: Mapping[str, tuple[str, dict[str, str]]] = {
    "claude-code": ("Edit", {"file_path": "/x/a.py", "old_string": "a", "new_string": "b"}),
    "codex": ("apply_patch", {"command": "*** Begin Patch\n*** Update File: a.py\n told checkpoint\n+b\n"}),
    "gemini-cli": ("replace", {"file_path": "/x/a.py", "old_string": "a", "new_string": "b"}),
    "qwen-code": ("write_file", {"file_path": "/x/a.py", "content": "told checkpoint"}),
    "copilot-cli": ("create", {"path": "/x/a.py", "file_text": "told checkpoint"}),
    "cursor": ("Write", {"file_path": "/x/a.py", "contents": "x"}),
    "opencode": ("edit", {"filePath": "/x/a.py", "oldString": "a", "newString": "b"}),
    "qoder": ("Write", {"file_path": "/x/a.py", "content": "x"}),
}
# A look at something, which only some agents tell their hooks about.
LOOKS = {
    "copilot-cli": ("view", {"path": "/x/a.py"}), "cursor": ("Read", {"file_path": "/x/a.py"}),
    "opencode": ("read", {"filePath": "/x/a.py"}),
}  # fmt: skip
# The tool `checkpoint` of told's MCP server, as the agents spell it.
OWN_TOOLS = (
    "mcp__told__checkpoint", "mcp__plugin_told_told__checkpoint", "mcp_told_checkpoint", "told_checkpoint",
    "told-checkpoint", "told__checkpoint", "MCP:checkpoint", "mcp__told", "functions.mcp__told__checkpoint",
)  # fmt: skip


def tool_call(
    desk: Desk, tool: str, given: Mapping[str, Any], agent: str = "claude-code", session: str = "s-1"
) -> dict[str, Any]:
    """Return what an agent says before it calls a tool."""
    as_if = agent if agent in AGENTS else "claude-code"
    payload = typed(desk, "", as_if, session) | {"hook_event_name": EVENT_NAMES.get(agent, "PreToolUse")}
    del payload["prompt"]
    names = ("toolName", "toolArgs") if agent == "copilot-cli" else ("tool_name", "tool_input")
    return payload | dict(zip(names, (tool, dict(given)), strict=True))


def run(
    desk: Desk, command: str = "make test", agent: str = "claude-code", session: str = "s-1"
) -> dict[str, Any]:
    """Let an agent run a command; return the hook's answer."""
    payload = tool_call(desk, SHELLS.get(agent, "Bash"), {"command": command}, agent, session)
    return dict(desk.ask(agent, "tool", payload))


def reason(answer: Mapping[str, Any]) -> str:
    """Return why a call is denied, from the field that the agent shows its model; empty if it is not."""
    inner = answer.get("hookSpecificOutput", answer)
    if inner.get("permissionDecision") == "deny":  # Claude Code and most others; Copilot CLI and opencode
        return str(inner["permissionDecisionReason"])
    if answer.get("permission") == "deny":  # Cursor
        return str(answer["agent_message"])
    return str(answer["reason"]) if answer.get("decision") == "deny" else ""  # Gemini CLI
