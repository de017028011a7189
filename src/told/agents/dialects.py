"""Parse agents' hook calls and build answers in their own form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from told.agents import bundled_names, find_agent
from told.agents.base import Answer, Call, Dialect, StopQuestion
from told.agents.values import get_text
from told.agents.wiring import COMPACT, COMPACTED, END, HELPER, PROMPT, SLASH_END, START, STOP, TOOL
from told.fence import remove_between
from told.jsontext import load_json
from told.text import strip_message

EVENTS = (START, PROMPT, COMPACT, COMPACTED, STOP, END, HELPER, TOOL)
# Event names that most agents share, in lower case and letters only.
_SHARED_EVENTS = {
    "sessionstart": START, "userpromptsubmit": PROMPT, "precompact": COMPACT, "postcompact": COMPACTED,
    "stop": STOP, "subagentstop": STOP, "sessionend": END, "subagentstart": HELPER, "pretooluse": TOOL,
}  # fmt: skip
# Prompts that the agent wrote itself begin with one of these.
_NOT_TYPED = (
    "<task-notification>", "<command-name>", "<local-command", "<system-reminder>", "<system_reminder>",
    "<environment_context>", "<user-prompt-submit-hook>",
)  # fmt: skip


def parse_call(agent: str, event: str, payload: Mapping[str, Any]) -> Call | None:
    """Parse a hook call; return None for an event that told ignores."""
    known = event if event in EVENTS else _event_named(agent, event)
    if not known:
        return None
    roots = payload.get("workspace_roots") or payload.get("workspaceRoots")
    first = roots[0] if isinstance(roots, list) and roots else ""
    command, file = _tool_input(payload)
    return Call(
        agent,
        known,
        name=get_text(payload, "hook_event_name", "hookEventName", "hookName") or event,
        session=_session(payload),
        cwd=get_text(payload, "cwd", "directory", "workspace_path")
        or (first if isinstance(first, str) else ""),
        prompt=strip_injected(
            get_text(payload, "prompt", "user_prompt", "userPrompt")
            or get_text(payload.get("tool_info"), "user_prompt")
        ),
        transcript=get_text(payload, "transcript_path", "transcriptPath"),
        source=get_text(payload, "source", "trigger", "reason"),
        tool=get_text(payload, "tool_name", "toolName"),
        command=command,
        file=file,
        helper=get_text(payload, "agent_id", "agentId") if known in (TOOL, PROMPT, STOP) else "",
    )


def strip_injected(prompt: str) -> str:
    """Return what the user typed, without text that hooks or the agent added."""
    prompt = remove_between(remove_between(prompt), "<hook_context>", "</hook_context>")
    prompt = prompt.partition(SLASH_END)[0]
    return "" if prompt.lstrip().startswith(_NOT_TYPED) else strip_message(prompt)


def answer_context(call: Call, text: str) -> Answer:
    """Build the answer that adds a text to the model's context."""
    return _dialect(call.agent).context(call, text) if text else {}


def answer_verdict(call: Call, decision: str, reason: str) -> Answer:
    """Build the answer that denies or questions a tool call."""
    return _dialect(call.agent).verdict(call, decision, reason)


def find_stop_question(call: Call) -> StopQuestion | None:
    """Return how the agent is asked something when it stops; None if it cannot be."""
    return _dialect(call.agent).stop_question


def has_lost_briefs(call: Call) -> bool:
    """Tell whether earlier briefs are gone from the session's context."""
    forgets = _dialect(call.agent).forgets_context_on_resume
    return call.source == "compact" or (call.source == "resume" and forgets)


def replaces_start_brief(call: Call) -> bool:
    """Tell whether the answer to a start replaces what an earlier start of the session said."""
    return _dialect(call.agent).replaces_start_brief


def hides_compaction(call: Call) -> bool:
    """Tell whether the agent may compact a session without a hook."""
    return _dialect(call.agent).hides_compaction


def takes_context_after_compaction(call: Call) -> bool:
    """Tell whether the agent reads the answer to a hook after a compaction."""
    return _dialect(call.agent).takes_context_after_compaction


def is_duplicate(call: Call, payload: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
    """Tell whether another hook of told answers the same event.

    Only agents are asked whose version the payload or the environment names: loading all of them would
    double what a prompt costs without a service.
    """
    return any(
        _dialect(name).is_duplicate(call, payload, environ)
        for name in bundled_names()
        if f"{name}_version" in payload or f"{name.upper()}_VERSION" in environ
    )


def _dialect(agent: str) -> Dialect:
    found = find_agent(agent)
    return found.dialect if found else Dialect()


def _event_named(agent: str, event: str) -> str:
    name = "".join(filter(str.isalnum, event)).lower()
    return _dialect(agent).events.get(name) or _SHARED_EVENTS.get(name, "")


def _session(payload: Mapping[str, Any]) -> str:
    return (
        get_text(payload, "session_id", "sessionId", "sessionID", "conversation_id", "trajectory_id")
        or get_text(payload.get("sessionContext"), "rootSessionId")
        or get_text(payload, "taskId")
    )


def _tool_input(payload: Mapping[str, Any]) -> tuple[str, str]:
    """Return the command and the file of a tool call."""
    for name in ("tool_input", "toolArgs", "tool_args"):
        given = payload.get(name)
        if isinstance(given, str) and given.startswith("{"):
            try:
                given = load_json(given.strip())
            except ValueError:
                continue
        if isinstance(given, dict):
            files = ("file_path", "filePath", "path", "notebook_path", "absolute_path")
            return get_text(given, "command", "cmd", "script"), get_text(given, *files)
    return get_text(payload, "command"), get_text(payload, "file_path")
