"""The MCP Inspector's command line: one process, and one server, for each thing that is asked."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.clients.packages import INSPECTOR
from lab.clients.talk import INITIALIZE, STATELESS, WORD, Call, Client, Heard, Outcome, Server
from lab.npm import Shelf

_WORDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "words.mjs")
_LONG = 100_000  # characters of one word; a command line takes 128 KiB
_ERAS = {INITIALIZE: "legacy", STATELESS: "modern"}
_SECONDS = 120


class _SaysNoError(Exception):
    """The Inspector did not get an answer; the message is what it says."""


def clients(shelf: Shelf, scratch: str) -> list[Client]:
    """Return it once for each era."""
    return [
        Client("Inspector", INSPECTOR.version, era, functools.partial(_talk, shelf, scratch, era))
        for era in _ERAS
    ]


@dataclass(frozen=True)
class _Inspector:
    """The program with the file that names the server."""

    program: str
    config: str
    era: str
    environ: Mapping[str, str]

    def asked(self, method: str, *words: str) -> dict[str, Any]:
        """Return the result, a tool's error as well."""
        line = [
            "--cli", "--config", self.config, "--server", "told", "--protocol-era", _ERAS[self.era],
            "--format", "json", "--quiet", "--method", method, *words,
        ]  # fmt: skip
        done = (
            self._long(line) if any(len(word) > _LONG for word in words) else self._run([self.program, *line])
        )
        said = _object(done.stdout).get("result")
        if isinstance(said, dict):
            return said
        error = _object(done.stderr.strip().rpartition("\n")[2]).get("error") or {}
        raise _SaysNoError(str(error.get("message") or done.stderr.strip()[-300:] or "it said nothing"))

    def _long(self, line: Sequence[str]) -> subprocess.CompletedProcess[str]:
        node = shutil.which("node", path=self.environ["PATH"]) or "node"
        program = os.path.realpath(self.program)
        return self._run([node, _WORDS], json.dumps({"program": program, "words": list(line)}))

    def _run(self, words: Sequence[str], stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            list(words), input=stdin, env=dict(self.environ), capture_output=True, text=True,
            encoding="utf-8", timeout=_SECONDS, check=False,
        )  # fmt: skip


def _talk(shelf: Shelf, scratch: str, era: str, server: Server, calls: Sequence[Call]) -> Heard:
    home = os.path.join(scratch, "inspector-home")
    os.makedirs(home, exist_ok=True)
    config = os.path.join(home, "servers.json")
    entry = {
        "command": server.command, "args": list(server.args), "env": dict(server.env), "cwd": server.cwd,
        "roots": [{"uri": pathlib.Path(one).as_uri(), "name": "project"} for one in server.roots],
    }  # fmt: skip
    with open(config, "w", encoding="utf-8") as file:
        json.dump({"mcpServers": {"told": entry}}, file)
    environ = {"PATH": shelf.path_for(INSPECTOR), "HOME": home}
    inspector = _Inspector(shelf.installed(INSPECTOR, environ["PATH"]), config, era, environ)
    try:
        return _all(inspector, calls)
    except _SaysNoError as error:
        return Heard(failure=str(error))


def _all(inspector: _Inspector, calls: Sequence[Call]) -> Heard:
    said = inspector.asked("initialize")
    tools = inspector.asked("tools/list", "--strict")["tools"]
    resources = [str(one["uri"]) for one in inspector.asked("resources/list")["resources"]]
    prompts = inspector.asked("prompts/list")["prompts"]
    texts = {uri: _text(inspector.asked("resources/read", "--uri", uri)["contents"]) for uri in resources}
    for one in prompts:
        given = [f"{wanted['name']}={WORD}" for wanted in one.get("arguments") or ()]
        got = inspector.asked(
            "prompts/get", "--prompt-name", one["name"], *(["--prompt-args", *given] if given else [])
        )
        texts[one["name"]] = _text([message["content"] for message in got["messages"]])
    return Heard(
        revision=str(said.get("protocolVersion", "")),
        instructions=str(said.get("instructions", "")),
        tools={one["name"]: one["inputSchema"] for one in tools},
        resources=resources,
        prompts=[one["name"] for one in prompts],
        texts=texts,
        outcomes=[_outcome(inspector, call) for call in calls],
    )


def _outcome(inspector: _Inspector, call: Call) -> Outcome:
    given = () if call.arguments is None else ("--tool-args-json", json.dumps(call.arguments))
    try:
        result = inspector.asked("tools/call", "--tool-name", call.tool, *given)
    except _SaysNoError as error:
        return Outcome(failure=str(error))
    return Outcome(_text(result.get("content") or ()), bool(result.get("isError")))


def _text(blocks: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(str(block.get("text", "")) for block in blocks)


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
