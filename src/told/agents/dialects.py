"""What agents say when they call told's hook, and in what form each wants its answer."""

from __future__ import annotations

from told.agents.events import COMPACT, COMPACTED, END, HELPER, PROMPT, SLASH_END, START, STOP, TOOL
from told.guard.fence import without
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

EVENTS = (START, PROMPT, COMPACT, COMPACTED, STOP, END, HELPER, TOOL)
# How agents call these moments; case and punctuation do not matter.
_NAMES = {
    "sessionstart": START, "taskstart": START, "taskresume": START, "systemtransform": START,
    "userpromptsubmit": PROMPT, "userpromptsubmitted": PROMPT, "beforeagent": PROMPT,
    "beforesubmitprompt": PROMPT, "preuserprompt": PROMPT, "chatmessage": PROMPT,
    "precompact": COMPACT, "sessioncompacting": COMPACT, "postcompact": COMPACTED,
    "stop": STOP, "agentstop": STOP, "afteragent": STOP, "taskcomplete": STOP, "sessionidle": STOP,
    "subagentstop": STOP, "postcascaderesponse": STOP,
    "sessionend": END, "sessionshutdown": END, "dispose": END,
    "subagentstart": HELPER, "pretooluse": TOOL, "beforetool": TOOL, "beforeshellexecution": TOOL,
}  # fmt: skip
# Agents whose answers differ from Claude Code's, on which most others modelled theirs; a test holds this
# against the agents' own files.
_FLAT = frozenset(("copilot-cli", "opencode"))
_CURSOR, _CLINE, _CLAUDE = "cursor", "cline", "claude-code"
_SILENT = frozenset(("windsurf", "aider", "generic"))
# A prompt that begins so was written by the agent itself.
_NOT_TYPED = (
    "<task-notification>", "<command-name>", "<local-command", "<system-reminder>", "<system_reminder>",
    "<environment_context>", "<user-prompt-submit-hook>",
)  # fmt: skip


@record
class Call:
    """One call of the hook, understood."""

    agent: str
    event: str
    name: str = ""  # of the event, in the agent's own words
    session: str = ""  # the agent's own id of it
    cwd: str = ""
    prompt: str = ""  # what the user typed, without what was put into it
    transcript: str = ""  # the file with the conversation
    source: str = ""  # why a session starts: startup, resume, clear, compact …
    tool: str = ""
    command: str = ""  # that the tool is to run
    file: str = ""  # that the tool is to touch
    helper: str = ""  # the id of the helper that calls the tool; empty where it is the session itself


def understood(agent: str, event: str, payload: Mapping[str, Any]) -> Call | None:
    """Return what a call is about; None if told has no part in it."""
    moment = event if event in EVENTS else _NAMES.get("".join(filter(str.isalnum, event)).lower(), "")
    if not moment:
        return None
    inner = payload.get("tool_info")
    inner = inner if isinstance(inner, dict) else {}
    roots = payload.get("workspace_roots") or payload.get("workspaceRoots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    return Call(
        agent, moment, _text(payload, "hook_event_name", "hookEventName", "hookName") or event,
        _session(payload),
        _text(payload, "cwd", "directory", "workspace_path") or (first if isinstance(first, str) else ""),
        typed(_text(payload, "prompt", "user_prompt", "userPrompt") or _text(inner, "user_prompt")),
        _text(payload, "transcript_path", "transcriptPath"),
        _text(payload, "source", "trigger", "reason"),
        _text(payload, "tool_name", "toolName"), *_tool_input(payload),
        _text(payload, "agent_id", "agentId") if moment == TOOL else "",
    )  # fmt: skip


def typed(prompt: str) -> str:
    """Return what the user typed: without what hooks put into it; nothing of what an agent wrote itself."""
    prompt = without(without(prompt), "<hook_context>", "</hook_context>")
    prompt = prompt.partition(SLASH_END)[0].strip()
    return "" if prompt.startswith(_NOT_TYPED) else prompt


def context(call: Call, text: str) -> dict[str, Any]:
    """Return the answer that puts a text before the model, in the agent's own form; empty if it has none."""
    if call.agent in _SILENT or not text:
        return {}
    if call.agent in _FLAT:
        return {"additionalContext": text}
    if call.agent == _CURSOR:
        return {"additional_context": text} | ({"continue": True} if call.event == PROMPT else {})
    if call.agent == _CLINE:
        return {"cancel": False, "contextModification": text}
    return {"hookSpecificOutput": {"hookEventName": call.name, "additionalContext": text}}


def verdict(call: Call, decision: str, reason: str) -> dict[str, Any]:
    """Return the answer to a tool call that is denied, or that the user is asked about."""
    if call.agent in _FLAT:
        return {"permissionDecision": decision, "permissionDecisionReason": reason}
    if call.agent == _CURSOR:
        return {"permission": decision, "user_message": reason, "agent_message": reason}
    if call.agent == "gemini-cli":  # it can only deny
        return {"decision": "deny", "reason": reason} if decision == "deny" else {"systemMessage": reason}
    return {
        "hookSpecificOutput": {
            "hookEventName": call.name, "permissionDecision": decision, "permissionDecisionReason": reason,
        }
    }  # fmt: skip


def has_lost_briefs(call: Call) -> bool:
    """Tell whether the session no longer has what it was shown.

    That is so after a compaction, and where a resumed session is sent without what hooks had put into it.
    """
    return call.source == "compact" or (call.source == "resume" and call.agent == "gemini-cli")


def listens_after_compaction(call: Call) -> bool:
    """Tell whether an agent takes an answer after a compaction; most begin their session anew instead."""
    return call.agent in _FLAT


def is_second_hand(agent: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
    """Tell whether another agent runs this hook from a file that it shares: Cursor reads Claude Code's."""
    return agent == _CLAUDE and ("cursor_version" in payload or "CURSOR_VERSION" in environ)


def _session(payload: Mapping[str, Any]) -> str:
    found = _text(payload, "session_id", "sessionId", "sessionID", "conversation_id", "trajectory_id")
    if found:
        return found
    around = payload.get("sessionContext")
    root = _text(around, "rootSessionId") if isinstance(around, dict) else ""
    return root or _text(payload, "taskId")


def _tool_input(payload: Mapping[str, Any]) -> tuple[str, str]:
    """Return the command that a tool call runs, and the file that it touches."""
    for name in ("tool_input", "toolArgs", "tool_args"):
        given = payload.get(name)
        if isinstance(given, str) and given.startswith("{"):
            from told.store.memory_json import decoded

            try:
                given = decoded(given.strip())
            except ValueError:
                continue
        if isinstance(given, dict):
            files = ("file_path", "filePath", "path", "notebook_path", "absolute_path")
            return _text(given, "command", "cmd", "script"), _text(given, *files)
    return _text(payload, "command"), _text(payload, "file_path")


def _text(payload: Mapping[str, Any], *names: str) -> str:
    for name in names:
        value = payload.get(name)
        if isinstance(value, str) and value:
            return value
    return ""
