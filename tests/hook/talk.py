"""A conversation with Claude Code that grows while its hooks are called, in the agent's own format."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

from tests.hook.desk import Desk, said_to_model

if TYPE_CHECKING:
    from pathlib import Path

AGENT = "claude-code"


class Talk:
    """One session: what is said in it stands in its transcript at once."""

    def __init__(self, desk: Desk, session: str = "s-1", cwd: str = "") -> None:
        self.desk = desk
        self.session = session
        self.cwd = cwd or desk.project
        self._lines: list[dict[str, Any]] = []
        self._at = datetime.now(UTC) - timedelta(hours=1)
        folder = "".join(sign if sign.isalnum() else "-" for sign in self.cwd)
        self._path = f".claude/projects/{folder}/{session}.jsonl"

    @property
    def path(self) -> Path:
        """The transcript."""
        return self.desk.home / self._path

    def later(self) -> Talk:
        """Let what follows be said after all that was done so far."""
        self._at = datetime.now(UTC) + timedelta(minutes=1)
        return self

    def turn(self, asked: str, answered: str = "", *calls: tuple[str, dict[str, Any]]) -> Talk:
        """Let the user ask, and the agent call tools and answer; without an answer it is still at work."""
        self._say("user", asked)
        for tool, given in calls:
            self.call(tool, given)
        return self.answer(answered) if answered else self

    def call(self, tool: str, given: dict[str, Any], *, failed: bool = False) -> Talk:
        """Let the agent call a tool."""
        name = f"toolu_{self.session}_{len(self._lines)}"
        self._say("assistant", [{"type": "tool_use", "id": name, "name": tool, "input": given}])
        result = {"type": "tool_result", "tool_use_id": name, "content": "TOOL OUTPUT"}
        return self._say("user", [result | ({"is_error": True} if failed else {})])

    def answer(self, text: str) -> Talk:
        """Let the agent say something."""
        return self._say("assistant", [{"type": "text", "text": text}])

    def hook(self, event: str, name: str, **more: Any) -> str:
        """Call the hook at a moment of this session; return what reaches the model."""
        given = self.desk.payload(
            AGENT, name, session_id=self.session, transcript_path=str(self.path), cwd=self.cwd, **more
        )
        return said_to_model(self.desk.ask(AGENT, event, given))

    def start(self, source: str = "startup") -> str:
        """Begin it, or go on with it."""
        return self.hook("start", "SessionStart-startup", source=source)

    def compact(self, trigger: str = "manual") -> str:
        """Compact it."""
        return self.hook("compact", "PreCompact", trigger=trigger)

    def stop(self) -> str:
        """The agent has answered."""
        return self.hook("stop", "Stop")

    def end(self) -> str:
        """End it."""
        return self.hook("end", "SessionEnd-other")

    def _say(self, kind: str, content: Any) -> Talk:
        number = len(self._lines)
        self._at += timedelta(seconds=20)
        message: dict[str, Any] = {"role": kind, "content": content}
        if kind == "assistant":
            message |= {"id": f"msg_{self.session}_{number}", "model": "claude-opus-4-8", "type": "message"}
        self._lines.append({
            "isSidechain": False, "userType": "external", "cwd": self.cwd, "sessionId": self.session,
            "version": "2.1.325", "gitBranch": "main", "type": kind, "message": message,
            "uuid": str(uuid5(NAMESPACE_URL, f"{self.session} {number}")),
            "timestamp": self._at.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        })  # fmt: skip
        self.desk.write(self._path, "".join(json.dumps(line) + "\n" for line in self._lines))
        return self


def edit(path: str) -> tuple[str, dict[str, Any]]:
    """Return a call that changes a file."""
    return "Edit", {"file_path": path, "old_string": "a", "new_string": "b"}


def run(command: str) -> tuple[str, dict[str, Any]]:
    """Return a call that runs a command."""
    return "Bash", {"command": command}


def todos(**states: str) -> tuple[str, dict[str, Any]]:
    """Return a call that writes the agent's list: words with _ for spaces, and their state."""
    items = [{"content": name.replace("_", " "), "status": state} for name, state in states.items()]
    return "TodoWrite", {"todos": items}
