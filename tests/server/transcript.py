"""Read the recording of agent-memory's REST, replay it, and do the work that it queues."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from starlette.testclient import TestClient

from tests.server.site import Site
from told.server.handlers import HANDLERS
from told.server.jobs import Worker
from told.store.postgres.jobs import list_dead

_FOLDER = Path(__file__).parents[1] / "data" / "agent_memory"
_MEANT = tomllib.loads((_FOLDER / "differences.toml").read_text(encoding="utf-8"))
_CALL = re.compile(r"(GET|POST|PATCH|DELETE|OPTIONS) (\S+) (.*)")
_ANSWER = re.compile(r"  -> (\d{3}) ([^ ;]+)(?:; charset=utf-8)? (.*)", re.DOTALL)
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_MAX_RECORDED = 690  # characters of an answer; longer ones are cut
_IN_QUERY = ("/api/admin/",)  # POST with parameters in the URL


class Call(NamedTuple):
    """A call and its answer."""

    number: int
    method: str
    path: str
    given: Any
    status: int
    content_type: str
    answer: str


class Replayed(NamedTuple):
    """A call's answer here, and what was recorded."""

    call: Call
    status: int
    content_type: str
    answer: str

    @property
    def is_same(self) -> bool:
        """Tell whether status, type, fields, their order and values are the same, apart from times."""
        recorded, answer = _TIME.sub("TIME", self.call.answer), _TIME.sub("TIME", self.answer)
        if len(self.call.answer) >= _MAX_RECORDED:
            answer = answer[: len(recorded)]
        recorded_type = self.call.status, self.call.content_type
        return (self.status, self.content_type) == recorded_type and answer == recorded


def read_calls() -> Iterator[Call]:
    """Yield the calls of the recording in order."""
    lines = (_FOLDER / "transcript.txt").read_text(encoding="utf-8").splitlines()
    starts = [at for at, line in enumerate(lines) if _CALL.fullmatch(line)]
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(lines)], strict=True), 1):
        called = _CALL.fullmatch(lines[start])
        answered = _ANSWER.fullmatch("\n".join(lines[start + 1 : end]))
        assert called
        assert answered, lines[start + 1]
        whole = _MEANT["bodies"].get(str(number))
        given = json.loads(whole or called[3])
        yield Call(number, called[1], called[2], given, int(answered[1]), answered[2], answered[3])


def replay(client: TestClient, after: Callable[[Call], None] = lambda _: None) -> list[Replayed]:
    """Send every call; `after` is told each one that was answered."""
    found = []
    for call in read_calls():
        in_query = call.method == "GET" or call.path.startswith(_IN_QUERY)
        parameters = call.given if in_query and call.given else None
        body = call.given if not in_query and call.given != "" else None
        answer = client.request(call.method, call.path, params=parameters, json=body)
        content_type = answer.headers.get("content-type", "").partition(";")[0]
        found.append(Replayed(call, answer.status_code, content_type, answer.text))
        after(call)
    return found


def meant_differences() -> dict[int, dict[str, Any]]:
    """Return the meant differences by the numbers of their calls."""
    return {number: one for one in _MEANT["difference"] for number in one["calls"]}


def work(site: Site) -> None:
    """Process the waiting items, as the workers of a server do."""
    worker = Worker(site.server, "worker", HANDLERS)
    while worker.work():
        pass
    with site.server.database.owning() as connection:
        assert list_dead(connection, site.server.team.team, 1) == []
