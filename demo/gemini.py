"""Writes a session as Gemini CLI 0.61 does: a log of messages in a folder for each project."""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime
from typing import Any

from demo.story import Talk, iso, uuid
from demo.writing import absolute, write_lines, write_text

_TOOLS = {"read": "read_file", "edit": "replace", "create": "write_file", "run": "run_shell_command"}


def write(home: str, talk: Talk, now: int) -> str:
    """Write the session's log and return its path."""
    cwd = os.path.join(home, talk.project.folder)
    times = talk.times(now)
    folder = os.path.join(home, ".gemini", "tmp", os.path.basename(cwd))
    write_text(os.path.join(folder, ".project_root"), cwd, times[0])
    began = datetime.fromtimestamp(times[0] / 1000, UTC).strftime("%Y-%m-%dT%H-%M")
    path = os.path.join(folder, "chats", f"session-{began}-{talk.id[:8]}.jsonl")
    lines: list[dict[str, Any]] = [{
        "sessionId": talk.id, "projectHash": hashlib.sha256(cwd.encode()).hexdigest(),
        "startTime": iso(times[0]), "lastUpdated": iso(times[-1]), "kind": "main", "summary": talk.title,
    }]  # fmt: skip
    for number, (turn, at) in enumerate(zip(talk.turns, times, strict=True)):
        own, said = uuid(talk.id, f"{number}u"), [{"text": turn.asked}]
        lines.append({"id": own, "timestamp": iso(at), "type": "user", "content": said})
        for place, call in enumerate(turn.calls):
            given = {"command": call.target} if call.tool == "run" else {"file_path": absolute(cwd, call)}
            done = {
                "id": uuid(talk.id, f"{number}c{place}"), "name": _TOOLS[call.tool], "args": given,
                "status": "success", "timestamp": iso(at + 20_000), "resultDisplay": call.output,
            }  # fmt: skip
            lines.append(_answer(talk, f"{number}t{place}", "", at + 20_000) | {"toolCalls": [done]})
        lines.append(_answer(talk, f"{number}a", turn.answered, at + 90_000))
    write_lines(path, lines, times[-1] + 90_000)
    return path


def _answer(talk: Talk, key: str, content: str, at: int) -> dict[str, Any]:
    return {
        "id": uuid(talk.id, key), "timestamp": iso(at), "type": "gemini", "content": content,
        "thoughts": [], "model": "gemini-2.5-pro",
    }  # fmt: skip
