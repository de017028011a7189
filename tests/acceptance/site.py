"""A machine with two projects, reached through told's public doors only."""

from __future__ import annotations

import json
import os
import re
import time
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.cli.asking import Asking
from tests.cli.machine import NOW, Answer
from tests.hook.desk import Desk, said_to_model
from told.retention import retention

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

_ID = re.compile(r"\bm[a-z2-7]{7}\b")
_FENCE = re.compile(r"</?agent [a-z2-7]{5}>")
SHOP, PAY = "work/shop", "work/pay"  # two projects of one user


class Site(Desk):
    """A home with one kind of store; every helper uses a command, a hook, a tool or an agent's file."""

    def __init__(
        self, root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, store: str
    ) -> None:
        super().__init__(root, capsys)
        self.store = store  # a later store sets here what `told` needs to use it
        self.now: datetime = NOW
        self._patch = monkeypatch
        self._sessions = 0
        monkeypatch.setattr(time, "time_ns", lambda: int(self.now.timestamp() * 1000) * 10**6)
        monkeypatch.setattr(retention, "read_uptime", lambda: int(self.now.timestamp() * 1000))
        for name in (SHOP, PAY):
            self.repo(name, f"git@github.com:acme/{os.path.basename(name)}.git")
        self.go(SHOP)

    def go(self, project: str) -> None:
        """Work in a project."""
        self.where = str(self.home / project)
        self._patch.chdir(self.where)

    def later(self, **span: float) -> None:
        """Let time pass."""
        self.now += timedelta(**span)

    def do(self, *words: str, **variables: str) -> Answer:
        """Run a command that succeeds; time passes with each."""
        self.later(seconds=1)
        answer = self.told(*words, **variables)
        assert (answer.code, answer.err) == (0, ""), answer
        return answer

    def remember(self, *words: str, **variables: str) -> str:
        """Remember a statement; return its id."""
        return str(self.do("remember", "--json", *words, **variables).json["id"])

    def say(self, text: str, session: str = "") -> str:
        """Type a prompt; return what the model is given with it."""
        self.later(seconds=1)
        self._sessions += 1
        payload = {
            "hook_event_name": "UserPromptSubmit", "prompt": text, "cwd": self.where, "transcript_path": "",
            "session_id": session or f"live-{self._sessions}",
        }  # fmt: skip
        return said_to_model(self.ask("claude-code", "prompt", payload))

    def recall(self, question: str) -> str:
        """Return what a new session's model is given with a question, and at its start."""
        self._sessions += 1
        start = {
            "hook_event_name": "SessionStart", "source": "startup", "cwd": self.where, "transcript_path": "",
            "session_id": f"live-{self._sessions}",
        }  # fmt: skip
        begun = said_to_model(self.ask("claude-code", "start", start))
        return f"{begun}\n{self.say(question, start['session_id'])}"

    def session(self, *prompts: str, native: str = "", agent: str = "claude-code") -> str:
        """Let an agent leave the file of a session, and import it."""
        self.later(minutes=5)
        turns = [(prompt, "Done.") for prompt in prompts]
        if agent == "copilot-cli":
            made = self.copilot_events(*turns, at=self.now, cwd=self.where)
        else:
            made = self.claude(*turns, at=self.now, cwd=self.where, session=native)
        self.later(minutes=5)
        self.do("index")
        return made

    def tool(self, name: str, **arguments: Any) -> str:
        """Let an agent call a tool; return the answer."""
        self.later(seconds=1)
        return Asking(self, "codex-mcp-client", self.where).call(name, **arguments).text

    def texts_of(self, *statuses: str) -> list[str]:
        """Return the statements of some statuses, in all projects."""
        rows = [row for status in statuses or ("active",) for row in self.memories("--status", status)]
        return [_FENCE.sub("", row["text"]) for row in rows]

    def seen(self, word: str, query: str = "", **variables: str) -> list[str]:
        """Return the read paths of the current project on which an agent meets a word."""
        query = query or word
        paths = {
            "brief": self.recall(f"What do we know about {query}?"),
            "memories": self.told("memories", "--all", "--json", **variables).out,
            "search": self.told("search", "--json", query, **variables).out.partition('"results"')[2],
            "wonder": self.told("wonder", query, **variables).out.partition("\n")[2],
            "tool": "\n".join(
                filter(_ID.search, self.tool("search", query=query, in_="memories").splitlines())
            ),
            "resource": Asking(self, "codex-mcp-client", self.where).read("told://memories").text,
        }
        return [name for name, text in paths.items() if word.lower() in text.lower()]

    def run_background(self) -> None:
        """Run every pass that works by itself: import, learning, archive, retention, vectors, checks."""
        for command in (("index",), ("learn",), ("retention", "run"), ("sweep",), ("re-embed",)):
            self.told(*command)

    def rebuild(self, *, drop: bool = True) -> None:
        """Rebuild every derived file, by default after deleting all of them."""
        if drop:
            for path in self.told_home.glob("*.db*"):
                path.unlink()
        self.do("rebuild")

    def log(self) -> list[dict[str, Any]]:
        """Return the operations of the journal."""
        folder = self.told_home / "journal"
        return [
            json.loads(line)
            for path in sorted(folder.rglob("*.jsonl"))
            for line in path.read_text().splitlines()
        ]
