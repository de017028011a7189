"""What the scripted model answers: chosen by the last thing the user said, the same every time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lab import asking, reading
from lab.wires.base import CUSTOM, JSON, TITLE, Answer, Asked, compact
from lab.wires.base import SUMMARY as SUMMARISED

LIST_FILES = "List the files"  # a prompt with these words makes the model run `ls`
RUN_COMMAND = "Run this command:"  # and what follows is run by the model
FULL_CONTEXT = "Read the whole archive"  # and these make it say meanwhile that its context is nearly full
FULL_TOKENS = 970_000
LEFT_OPEN = "The archive is read.\n\nNext steps:\n- Move the old notes into the new folder."

_LISTED = "The user asked for the files of the project and they were listed."
SUMMARY = (
    f"<analysis>The work so far.</analysis>\n<summary>\n{_LISTED}\n</summary>\n"
    f"<state_snapshot>{_LISTED}</state_snapshot>"
)
_SUMMARISING = re.compile(
    r"detailed summary|CHECKPOINT COMPACTION|state_snapshot|summari[sz]e (?:the|this|our) conversation"
    r"|summary of (?:the|this|our) conversation|anchored summary|compress(?:ing)? the .*history",
    re.IGNORECASE,
)
_SHELLS = (
    "Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command", "run_commands",
    "execute_command", "local_shell",
)  # fmt: skip
_JAVASCRIPT = ("functions::exec", "exec")  # Codex may offer one tool that takes a program


def answer_to(asked: Asked) -> Answer:
    """Return the model's answer."""
    prompt = asked.prompt
    wanted = _SUMMARISING.search(asked.last) or (not asked.tools and _SUMMARISING.search(asked.system))
    if wanted and _LISTED not in asked.last:  # an agent may say again how it asked
        return Answer(SUMMARY, kind=SUMMARISED)
    if asked.schema is not None:
        return Answer(compact(_instance(asked.schema)), kind=JSON)
    if not asked.tools:
        return Answer("Files of the project", kind=TITLE)
    full = FULL_CONTEXT in prompt
    command = prompt.partition(RUN_COMMAND)[2].strip() or "ls"
    wants_shell = full or LIST_FILES in prompt or RUN_COMMAND in prompt
    call = _shell(command, asked.tools) if wants_shell else None
    if call is not None and asked.rounds == 0:
        return Answer(
            "Let me look at the files first.", calls=(call,), tokens=FULL_TOKENS if full else Answer.tokens
        )
    asked_for = asking.next_call(asked) if asking.ASK in prompt else None
    if reading.TAUGHT in prompt:
        asked_for = reading.next_call(asked)
    if asked_for is not None:
        return Answer("I ask.", calls=(asked_for,))
    compacted = any(_LISTED in text for _, text in asked.said)
    return Answer(LEFT_OPEN if full or compacted else "All right, that is done.")


def _shell(command: str, tools: Mapping[str, Any]) -> tuple[str, Any] | None:
    """Return the call that runs a command, with whichever tool the agent offers for it."""
    for name in _JAVASCRIPT:
        if tools.get(name) == CUSTOM:
            return name, f"text(await tools.exec_command({compact({'cmd': command})}));"
    for name in _SHELLS:
        if name in tools:
            return name, _arguments(command, tools[name])
    return None


def _arguments(command: str, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    properties: Mapping[str, Any] = (schema or {}).get("properties") or {}
    arguments: dict[str, Any] = {
        name: _instance(properties[name]) for name in (schema or {}).get("required") or ()
    }
    for name in ("command", "cmd", "commands"):
        if name in properties:
            listed = properties[name].get("type") == "array"
            words: Any = ["bash", "-lc", command] if name == "command" else [command]
            arguments[name] = words if listed else command
    return arguments


def _instance(schema: Any) -> Any:
    """Return a value of a form."""
    if not isinstance(schema, dict):
        return "files"
    if schema.get("enum"):
        return schema["enum"][0]
    kind = str(schema.get("type", "object" if "properties" in schema else "string")).lower()
    if kind == "object":
        return {name: _instance(inner) for name, inner in (schema.get("properties") or {}).items()}
    return {"array": [], "number": 1, "integer": 1, "boolean": False}.get(kind, "files")
