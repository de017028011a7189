"""Writes a session as Claude Code 2.1 does: one JSONL file, a line for each block and each tool result."""

from __future__ import annotations

import os
import re
from typing import Any

from demo.story import Call, Talk, iso, uuid
from demo.writing import absolute, write_lines

_TOOLS = {"read": "Read", "edit": "Edit", "create": "Write", "run": "Bash"}
_VERSION = "2.1.325"


def write(home: str, talk: Talk, now: int) -> str:
    """Write the session's file and return its path."""
    cwd = os.path.join(home, talk.project.folder)
    folder = os.path.join(home, ".claude", "projects", re.sub(r"[^A-Za-z0-9]", "-", cwd))
    path = os.path.join(folder, f"{talk.id}.jsonl")
    writer = _Writer(talk, cwd)
    for turn, at in zip(talk.turns, talk.times(now), strict=True):
        writer.add("user", at, {"role": "user", "content": turn.asked}, permissionMode="default")
        for call in turn.calls:
            writer.call(call, at + 20_000)
        writer.answer({"type": "text", "text": turn.answered}, at + 90_000, "end_turn")
    if talk.note:
        summary = (
            "This session is being continued from a previous conversation that ran out of context.\n\n"
            f"Summary:\n{talk.note}"
        )
        writer.add(
            "user", talk.times(now)[-1] + 100_000, {"role": "user", "content": summary},
            isVisibleInTranscriptOnly=True, isCompactSummary=True,
        )  # fmt: skip
    writer.lines.append({"type": "ai-title", "aiTitle": talk.title, "sessionId": talk.id})
    write_lines(path, writer.lines, talk.times(now)[-1] + 100_000)
    return path


class _Writer:
    """Builds the lines; each names the one before it as its parent."""

    def __init__(self, talk: Talk, cwd: str) -> None:
        self.lines: list[dict[str, Any]] = []
        self._talk = talk
        self._cwd = cwd
        self._parent: str | None = None

    def add(self, kind: str, at: int, message: dict[str, Any], **more: Any) -> None:
        own = uuid(self._talk.id, str(len(self.lines)))
        self.lines.append({
            "parentUuid": self._parent, "isSidechain": False, "type": kind, "message": message, "uuid": own,
            "timestamp": iso(at), **more, "userType": "external", "cwd": self._cwd,
            "sessionId": self._talk.id, "version": _VERSION, "gitBranch": self._talk.branch,
        })  # fmt: skip
        self._parent = own

    def answer(self, block: dict[str, Any], at: int, stop: str) -> None:
        message = {
            "id": f"msg_{uuid(self._talk.id, 'm', str(len(self.lines)))}", "type": "message",
            "role": "assistant", "model": "claude-opus-5-5", "content": [block], "stop_reason": stop,
        }  # fmt: skip
        self.add("assistant", at, message)

    def call(self, call: Call, at: int) -> None:
        identity = f"toolu_{uuid(self._talk.id, 'c', str(len(self.lines)))}"
        path = absolute(self._cwd, call)
        given = {"command": call.target} if call.tool == "run" else {"file_path": path}
        block = {"type": "tool_use", "id": identity, "name": _TOOLS[call.tool], "input": given}
        self.answer(block, at, "tool_use")
        result: dict[str, Any] = {"stdout": call.output} if call.tool == "run" else {"filePath": path}
        output = {"tool_use_id": identity, "type": "tool_result", "content": call.output or "done"}
        self.add("user", at, {"role": "user", "content": [output]}, toolUseResult=result)
