"""Writes a session as Copilot CLI 1.0 does: a folder with events, what is known of it, and checkpoints."""

from __future__ import annotations

import os
from typing import Any

from demo.story import Talk, iso, uuid
from demo.writing import absolute, write_lines, write_text

_TOOLS = {"read": "view", "edit": "edit", "create": "create", "run": "bash"}


def write(home: str, talk: Talk, now: int) -> str:
    """Write the session's folder and return the path of its events."""
    cwd = os.path.join(home, talk.project.folder)
    folder = os.path.join(home, ".copilot", "session-state", talk.id)
    times = talk.times(now)
    ended = times[-1] + 90_000
    write_text(os.path.join(folder, "workspace.yaml"), _workspace(talk, cwd, times[0], ended), ended)
    if talk.note:
        done, _, pending = talk.note.rpartition("Next: ")
        note = f"<overview>\n{done}\n</overview>\n<next_steps>\n{pending}\n</next_steps>\n"
        write_text(os.path.join(folder, "checkpoints", "001-checkpoint.md"), note, ended)
        index = f"| # | Title | File |\n|---|---|---|\n| 1 | {talk.title} | 001-checkpoint.md |\n"
        write_text(os.path.join(folder, "checkpoints", "index.md"), index, ended)
    path = os.path.join(folder, "events.jsonl")
    write_lines(path, _events(talk, cwd, times), ended)
    return path


def _workspace(talk: Talk, cwd: str, began: int, ended: int) -> str:
    repository = f"repository: {talk.project.repository}\n" if talk.project.remote else ""
    return (
        f"id: {talk.id}\ncwd: {cwd}\ngit_root: {cwd}\n{repository}branch: {talk.branch}\n"
        f"name: {talk.title}\nuser_named: false\ncreated_at: {iso(began)}\nupdated_at: {iso(ended)}\n"
    )


def _events(talk: Talk, cwd: str, times: list[int]) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []

    def event(kind: str, at: int, **data: Any) -> None:
        own = uuid(talk.id, str(len(lines)))
        parent = lines[-1]["id"] if lines else None
        lines.append({"type": kind, "data": data, "id": own, "timestamp": iso(at), "parentId": parent})

    context = {"cwd": cwd, "gitRoot": cwd, "branch": talk.branch}
    if talk.project.remote:
        context["repository"] = talk.project.repository
    event("session.start", times[0], sessionId=talk.id, version=1, copilotVersion="1.0.102", context=context)
    for turn, at in zip(talk.turns, times, strict=True):
        event("user.message", at, content=turn.asked, messageId=uuid(talk.id, "u", str(at - times[0])))
        for call in turn.calls:
            identity = f"call_{uuid(talk.id, 'c', str(len(lines)))}"
            name = _TOOLS[call.tool]
            given = {"command": call.target} if call.tool == "run" else {"path": absolute(cwd, call)}
            request = {"toolCallId": identity, "name": name, "arguments": given, "type": "function"}
            event("assistant.message", at + 20_000, content="", toolRequests=[request])
            event("tool.execution_start", at + 20_000, toolCallId=identity, toolName=name, arguments=given)
            result = {"content": call.output}
            event("tool.execution_complete", at + 20_000, toolCallId=identity, success=True, result=result)
        event("assistant.message", at + 90_000, content=turn.answered, toolRequests=[])
    return lines
