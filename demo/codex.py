"""Writes a session as Codex 0.166 does: one rollout file below the day it began on."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import Any

from demo.story import Call, Talk, iso, uuid
from demo.writing import absolute, write_lines

_CHANGE = {"edit": "update", "create": "add"}


def write(home: str, talk: Talk, now: int) -> str:
    """Write the session's rollout and return its path."""
    cwd = os.path.join(home, talk.project.folder)
    times = talk.times(now)
    began = datetime.fromtimestamp(times[0] / 1000, UTC)
    folder = os.path.join(home, ".codex", "sessions", began.strftime("%Y"), began.strftime("%m"))
    name = f"rollout-{began.strftime('%Y-%m-%dT%H-%M-%S')}-{talk.id}.jsonl"
    path = os.path.join(folder, began.strftime("%d"), name)
    git = {"branch": talk.branch, "repository_url": talk.project.remote} if talk.project.remote else {}
    meta = {
        "session_id": talk.id, "id": talk.id, "timestamp": iso(times[0]), "cwd": cwd,
        "originator": "codex-tui", "cli_version": "0.166.0", "source": "cli", "thread_source": "user",
        "git": git,
    }  # fmt: skip
    lines = [_line("session_meta", meta, times[0])]
    for number, (turn, at) in enumerate(zip(talk.turns, times, strict=True)):
        said = {"type": "text", "text": turn.asked}
        lines.append(_item(talk, f"{number}u", {"type": "UserMessage", "content": [said]}, at))
        for place, call in enumerate(turn.calls):
            lines.append(_item(talk, f"{number}c{place}", _call(cwd, call), at + 20_000))
        answer = {"type": "AgentMessage", "content": [{"type": "Text", "text": turn.answered}]}
        lines.append(_item(talk, f"{number}a", answer, at + 90_000))
    write_lines(path, [{**line, "ordinal": place} for place, line in enumerate(lines)], times[-1] + 90_000)
    return path


def _call(cwd: str, call: Call) -> dict[str, Any]:
    if call.tool in _CHANGE:
        changes = {absolute(cwd, call): {"type": _CHANGE[call.tool]}}
        return {"type": "FileChange", "changes": changes, "status": "completed"}
    command = f"cat {call.target}" if call.tool == "read" else call.target
    parsed = [{"type": "read", "cmd": command, "path": call.target} if call.tool == "read" else
              {"type": "unknown", "cmd": command}]  # fmt: skip
    return {
        "type": "CommandExecution", "command": ["/bin/bash", "-lc", command], "cwd": f"file://{cwd}",
        "parsed_cmd": parsed, "status": "completed", "aggregated_output": call.output, "exit_code": 0,
    }  # fmt: skip


def _item(talk: Talk, key: str, item: dict[str, Any], at: int) -> dict[str, Any]:
    payload = {
        "type": "item_completed", "thread_id": talk.id, "item": {**item, "id": uuid(talk.id, key)},
        "completed_at_ms": at,
    }  # fmt: skip
    return _line("event_msg", payload, at)


def _line(kind: str, payload: dict[str, Any], at: int) -> dict[str, Any]:
    return {"timestamp": iso(at), "type": kind, "payload": payload}
