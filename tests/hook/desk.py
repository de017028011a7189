"""A machine whose agents call told's hook as it is installed, without a service."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests import forked
from tests.cli.machine import Machine
from told.hook.dispatch import answer_hook
from told.install.place import launch

if TYPE_CHECKING:
    from told.agents.wiring import Launch

PAYLOADS = Path(__file__).parent.parent / "data" / "hooks"
PROJECT = "/home/dev/code/acme-api"  # where the recorded payloads come from
TAUGHT = "No, we use pnpm here, never npm."
ASKED = "Install the missing dependencies with npm and run the build"
PATIENCE = 120  # seconds; a test that waits this long has failed
_NO_LIMIT = {"TOLD_HOOK_SECONDS": "100"}


class Said(NamedTuple):
    """What a hook gave back."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The answer, read as JSON."""
        return json.loads(self.out)

    @property
    def is_silent(self) -> bool:
        """Whether the agent notices nothing at all."""
        return self == (0, "", "")


@functools.cache
def installed(agent: str, event: str) -> tuple[str, ...]:
    """Return the program and arguments that `told install` writes into an agent's files."""
    return _launch().words(agent, event)


@functools.cache
def _launch() -> Launch:
    return launch()


def recorded(agent: str, name: str) -> str:
    """Return a payload that a real agent sent."""
    return (PAYLOADS / agent / f"{name}.json").read_text()


class Desk(Machine):
    """A machine with one project, and agents that call hooks in it."""

    @property
    def project(self) -> str:
        """The folder that agents work in."""
        return self.folder("code/acme-api")

    def payload(self, agent: str, name: str, **more: Any) -> dict[str, Any]:
        """Return what a real agent sent, as if it ran on this machine; `more` replaces parts of it."""
        text = recorded(agent, name).replace(PROJECT, self.project).replace("/home/dev", str(self.home))
        given: dict[str, Any] = json.loads(text)
        return given | more

    def call(self, agent: str, event: str, payload: Any, **environ: str) -> Said:
        """Call the hook as the agent does, without a time limit."""
        return self.start(installed(agent, event), payload, **_NO_LIMIT | environ)

    def hurried(self, agent: str, event: str, payload: Any, **environ: str) -> Said:
        """Call the hook exactly as the agent does, with its time limit."""
        return self.start(installed(agent, event), payload, **environ)

    def start(self, words: tuple[str, ...], payload: Any, **environ: str) -> Said:
        """Run a hook with a payload, or plain bytes, on its standard input."""
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        if forked.can_run(words):
            ended = forked.run(words, self.environ | environ, self.home, raw)
            return Said(ended.code, ended.out.decode(), ended.err.decode())
        done = subprocess.run(
            words, input=raw, env=self.environ | environ, cwd=self.home, capture_output=True,
            timeout=PATIENCE, check=False,
        )  # fmt: skip
        return Said(done.returncode, done.stdout.decode(), done.stderr.decode())

    def ask(self, agent: str, event: str, payload: dict[str, Any], **environ: str) -> Any:
        """Call the hook in this process; return its answer, {} if there is none."""
        text = answer_hook(agent, event, payload, self.environ | environ)
        return json.loads(text) if text else {}

    def prompt(self, text: str, agent: str = "claude-code", session: str = "s-1", **environ: str) -> str:
        """Type a prompt, in this process; return what the model is given with it."""
        return said_to_model(self.ask(agent, "prompt", typed(self, text, agent, session), **environ))

    def memories(self, *words: str) -> list[dict[str, Any]]:
        """Return what told remembers."""
        found = self.told("memories", "--json", "--all-projects", "-n", "500", *words)
        assert found.code in (0, 1), found  # 1: there is nothing
        assert found.err == ""
        return list(found.json["memories"])

    def texts(self) -> list[str]:
        """Return the statements that told remembers."""
        return [one["text"] for one in self.memories()]

    def every_byte(self) -> bytes:
        """Return all that told has written, with the names of the files."""
        parts = []
        for folder, _, names in os.walk(self.told_home):
            for name in names:
                path = Path(folder) / name
                parts += [str(path).encode(), path.read_bytes()]
        return b"\n".join(parts)


_PROMPTS = {
    "claude-code": "UserPromptSubmit", "codex": "UserPromptSubmit", "qwen-code": "UserPromptSubmit",
    "gemini-cli": "BeforeAgent", "copilot-cli": "userPromptSubmitted", "cursor": "beforeSubmitPrompt",
    "opencode": "chat.message",
}  # fmt: skip
_STARTS = {
    "claude-code": "SessionStart-startup", "codex": "SessionStart-startup",
    "qwen-code": "SessionStart-startup", "gemini-cli": "SessionStart-startup",
    "copilot-cli": "sessionStart-new", "cursor": "sessionStart", "opencode": "session.created",
}  # fmt: skip
AGENTS = tuple(_PROMPTS)


def typed(desk: Desk, text: str, agent: str = "claude-code", session: str = "s-1") -> dict[str, Any]:
    """Return the payload of a prompt."""
    return _of(desk, agent, session, _PROMPTS[agent]) | {"prompt": text}


def begun(desk: Desk, agent: str = "claude-code", session: str = "s-1", source: str = "") -> dict[str, Any]:
    """Return the payload of a session's start."""
    given = _of(desk, agent, session, _STARTS[agent])
    return given | ({"source": source} if source else {})


def _of(desk: Desk, agent: str, session: str, name: str) -> dict[str, Any]:
    if agent == "opencode":  # what told's plugin makes of what opencode says
        return {"hook_event_name": name, "session_id": session, "cwd": desk.project}
    if agent == "cursor":
        return {
            "conversation_id": session, "generation_id": "g-1", "model": "m", "hook_event_name": name,
            "cursor_version": "3.1.0", "workspace_roots": [desk.project], "user_email": None,
            "transcript_path": None,
        }  # fmt: skip
    own = "sessionId" if agent == "copilot-cli" else "session_id"
    return desk.payload(agent, name) | {own: session}


def said_to_model(given: Any) -> str:
    """Return the text in an answer of any form that reaches the model."""
    assert isinstance(given, dict)
    inner = given.get("hookSpecificOutput", given)
    names = ("additionalContext", "additional_context", "contextModification")
    return next((str(inner[name]) for name in names if name in inner), "")
