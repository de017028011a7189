"""What a prompt waits for when told's background service answers it: one request on loopback."""

from __future__ import annotations

import http.client
import json
import os
import random
import statistics
import time
from typing import NamedTuple
from urllib.parse import urlsplit

from benchmarks import CannotMeasureError, measure, tools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from benchmarks.wired import Machine

_SECONDS = 5
_WELL = (http.client.OK, http.client.NO_CONTENT)


class Answer(NamedTuple):
    """One answered request."""

    wall: float
    code: int
    said: bool


def measured(machine: Machine, count: int, teaches: str) -> dict[str, Any] | str:
    """Measure the prompts of a machine through its service; a sentence where there is none.

    Args:
        machine: Told is installed there; the service is added and taken away again.
        count: How often each prompt is sent.
        teaches: The name of the prompt that says something new each time.
    """
    added = measure.once(_told(machine, "install", "--agent", "claude-code", "--service", "--yes"))
    if added.code:
        return f"not there: {added.errors.strip()[-200:]}"
    try:
        started = measure.once(_told(machine, "service", "start"))
        if started.code:
            return f"does not start: {started.errors.strip()[-200:]}"
        return _figures(machine, count, teaches)
    finally:
        measure.once(_told(machine, "service", "stop"))


def _figures(machine: Machine, count: int, teaches: str) -> dict[str, Any]:
    hook = _http_hook(os.path.join(machine.home, ".claude", "settings.json"))
    names = [*machine.bank.prompts, teaches]
    answers: dict[str, list[Answer]] = {name: [] for name in names}
    machine.taught.clear()
    shuffler = random.Random(1)
    for counted in [False, *[True] * count]:
        shuffler.shuffle(names)
        for name in names:
            machine.prepare(name)
            with open(machine.payload_path(name), "rb") as file:
                found = _asked(hook, file.read())
            answers[name] += [found] if counted else []
    alone = [one for name in machine.bank.prompts for one in answers[name]]
    return {
        "prompt, teaches nothing": _row(alone),
        **{f"· {name}": _row(answers[name]) for name in machine.bank.prompts},
        teaches: _row(answers[teaches]) | {"kept": round(machine.kept(machine.told), 2)},
    }


def _asked(hook: Mapping[str, Any], body: bytes) -> Answer:
    """Send a prompt as the agent does, over a new connection: prompts are minutes apart."""
    url = urlsplit(hook["url"])
    headers = {"Content-Type": "application/json", **hook.get("headers", {})}
    began = time.perf_counter()
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=_SECONDS)
    try:
        connection.request("POST", url.path, body, headers)
        response = connection.getresponse()
        said = response.read()
    except OSError as error:
        raise CannotMeasureError(f"The service does not answer: {error}") from error
    finally:
        connection.close()
    return Answer(time.perf_counter() - began, response.status, b"additionalContext" in said)


def _row(answers: Sequence[Answer]) -> dict[str, Any]:
    walls = sorted(one.wall * 1000 for one in answers)
    return {
        "wall_ms": round(statistics.median(walls), 2),
        "p95_ms": round(walls[min(len(walls) - 1, int(len(walls) * 0.95))], 2),
        "answered": round(sum(one.said for one in answers) / len(answers), 2),
        "failed": sum(one.code not in _WELL for one in answers),
    }


def _http_hook(path: str) -> Mapping[str, Any]:
    with open(path, encoding="utf-8") as file:
        groups = json.load(file)["hooks"].get("UserPromptSubmit", [])
    found = [hook for group in groups for hook in group["hooks"] if hook.get("type") == "http"]
    if not found:
        raise CannotMeasureError("`told install --service` wired no request to the service.")
    return dict(found[0])


def _told(machine: Machine, *words: str) -> measure.Command:
    like = tools.told(machine.home, *words, folder=machine.project)
    environ = {name: value for name, value in like.environ.items() if name != "TOLD_LEARN"}
    return like._replace(environ=environ)
