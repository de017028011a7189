"""An invented machine with a past: a session of an agent, and memories to ask for, correct and forget."""

from __future__ import annotations

import json
from dataclasses import dataclass

from lab import CannotRunError
from lab.clients.talk import WORD
from lab.machine import Machine

_SESSION = "5d0c3f7a-5b0e-4c55-9f0e-2f6c1b9a7e11"
_KEPT = f"The invoice export writes {WORD} between its columns."
_OUTDATED = "The shop closes at eight."
_UNWANTED = "The old printer stands in the cellar."


@dataclass(frozen=True)
class Past:
    """The ids to ask for."""

    kept: str
    outdated: str
    unwanted: str
    session: str


def lived_through(machine: Machine) -> Past:
    """Give a machine its past.

    Raises:
        CannotRunError: told did not keep it.
    """
    machine.write(f".claude/projects/-code-acme-api/{_SESSION}.jsonl", _transcript(machine.project))
    machine.told("index")
    kept, outdated, unwanted = (_remembered(machine, text) for text in (_KEPT, _OUTDATED, _UNWANTED))
    listed = machine.told_json("list", "--all-projects").get("sessions") or [{}]
    session = str(listed[0].get("id", ""))
    if not (kept and outdated and unwanted and session):
        raise CannotRunError("told kept nothing on the invented machine; look at `told health` there.")
    return Past(kept, outdated, unwanted, session)


def _remembered(machine: Machine, text: str) -> str:
    machine.told("remember", text, "--kind", "fact")
    known = machine.told_json("memories").get("memories") or []
    return next((str(one["id"]) for one in known if one.get("text") == text), "")


def _transcript(project: str) -> str:
    """Return a session in the form of Claude Code: one question, one file edited, one answer."""
    edit = {
        "type": "tool_use", "id": "toolu_1", "name": "Edit",
        "input": {"file_path": f"{project}/README.md", "old_string": "API", "new_string": "service"},
    }  # fmt: skip
    said = [
        ("user", "Please call it a service in the README."),
        ("assistant", [{"type": "text", "text": "I change the README."}, edit]),
        ("user", [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}]),
        ("assistant", [{"type": "text", "text": "The README says service now."}]),
    ]
    lines = []
    for number, (who, content) in enumerate(said):
        message = {"role": who, "content": content}
        lines.append(
            {
                "type": who, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None,
                "sessionId": _SESSION, "cwd": project, "gitBranch": "main", "version": "2.1.325",
                "timestamp": f"2026-01-05T09:00:{number:02d}.000Z", "isSidechain": False,
                "userType": "external", "message": message,
            }
        )  # fmt: skip
    return "".join(json.dumps(line) + "\n" for line in lines)
