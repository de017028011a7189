"""Requests made from the OpenAPI description: no answer is 5xx, and all are as described."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient

from tests.server.site import HOST, Site
from tests.soak import points, sampled
from told.server.app import make_api

EXAMPLES = points(everyday=2, soak=200)  # of each operation and each way to make them
SHOP = "acme/shop"
CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance,
]  # fmt: skip
_OWN = ("user-agent", "authorization")  # headers that the test's client sends
HOSTILE: tuple[Any, ...] = (
    "\0", "a\0b", "\ud800", "\udfff\ud800", "\x1b[2J", "%00", "..", "' OR 1=1 --", "\\", "{}", "%s",
    "%(team)s", "\u202e", "e\u0301" * 300, "x" * 20_000, "(" * 400, "[secret:x]", "<told>", "NaN", "1e999",
    "", -1, 0, 2**31, 2**63, -(2**63) - 1, 10**400, 1e308, float("nan"), float("inf"), None, True, [], {},
)  # fmt: skip
RAW = (
    b"", b"\0", b"null", b"[]", b"1e999", b'"x"', b"\xff\xfe", b"{", b"[" * 100_000, b'{"a":' * 20_000,
    b'{"text": "\\ud800"}', b"1" * 5_000, b"\xef\xbb\xbf{}", b"<a/>", b"a=b&c[]=%ff",
)  # fmt: skip
TYPES = (
    "application/json", "application/json; charset=utf-16", "application/octet-stream", "text/plain", "",
    "application/x-www-form-urlencoded", "multipart/form-data", "a/b/c", 'application/json; charset="',
    "application/msgpack",
)  # fmt: skip


def fill(client: TestClient) -> dict[str, list[str]]:
    """Store one thing of each kind; return their ids by the names of path parameters."""
    made = client.post("/api/v1/memories", json={"text": "Always use pnpm", "project": SHOP, "kind": "rule"})
    memory = made.json()["memory"]["id"]
    by_agent = {"text": "The cache may live in Redis", "project": SHOP, "by": "agent"}
    waiting = client.post("/api/v1/memories", json=by_agent).json()["memory"]["id"]
    turns = [{"n": 0, "at": 1, "asked": "Where is the zeppelin?", "answered": "In the hangar."}]
    session = client.post("/api/v1/sessions", json={"agent": "codex", "native": "n1", "turns": turns}).json()
    note = client.post("/api/v1/checkpoints", json={"session": session["id"], "goal": "Refunds"}).json()
    client.post("/api/v1/sync", json={"space": "tabcdefghijkl"})
    return {
        "memory": [memory, waiting], "item": [waiting], "session": [session["id"]],
        "checkpoint": [note["id"]], "name": ["rea"], "space": ["tabcdefghijkl", "o"], "series": ["abcdefgh"],
        "job": ["1"], "obs_id": ["1"], "lesson_id": ["1"], "session_id": ["s1"],
    }  # fmt: skip


def replaced(value: Any, hostile: Any, at: list[int]) -> Any:
    """Return a value with one of its parts replaced, counted down in `at`."""
    at[0] -= 1
    if at[0] < 0 and at[0] + 1 == 0:
        return hostile
    if isinstance(value, dict):
        return {name: replaced(one, hostile, at) for name, one in value.items()}
    if isinstance(value, list):
        return [replaced(one, hostile, at) for one in value]
    return value


class Visitor:
    """Sends requests of an API's description to it, and notes what is wrong with the answers."""

    def __init__(self, site: Site) -> None:
        self.site = site.with_settings(rate=1e9, burst=10**9)
        self.client = self.site.of("ada")
        self.known = fill(self.client)
        self.sent: Counter[int] = Counter()
        self.wrong: dict[str, str] = {}

    def operations(self) -> list[Any]:
        """Return all operations, those that delete last; some of them every day."""
        description = make_api(compat=self.site.server.settings.compat).openapi()
        schema: Any = schemathesis.openapi.from_dict(description)
        every = [one.ok() for one in schema.get_all_operations()]
        every.sort(key=lambda one: one.method == "delete")
        return every[:: points(everyday=8, soak=1)]

    def visit(self, operation: Any) -> None:
        """Send generated requests: as described, not as described, and as described with one hostile part."""
        modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
        cases = [operation.as_strategy(generation_mode=mode) for mode in modes]
        hostile = st.tuples(st.sampled_from(HOSTILE), st.integers(0, 12))
        self._run(st.tuples(cases[0], st.booleans(), st.none()))
        if operation.body or operation.query or operation.path_parameters:
            self._run(st.tuples(cases[1], st.booleans(), st.none()))
            self._run(st.tuples(cases[0], st.just(True), hostile))
        if operation.body:
            for number in range(points(everyday=1, soak=len(RAW) * len(TYPES))):
                path = operation.path.format_map({name: ids[0] for name, ids in self.known.items()})
                data = RAW[number % len(RAW)]
                headers = {"content-type": TYPES[number // len(RAW) % len(TYPES)]}
                self._note(
                    operation,
                    None,
                    self.client.request(operation.method, path, content=data, headers=headers),
                )

    def _run(self, strategy: Any) -> None:
        @settings(
            max_examples=EXAMPLES, database=None, deadline=None, phases=[Phase.generate], derandomize=True,
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(strategy)
        def run(drawn: Any) -> None:
            self._send(*drawn)

        run()

    def _send(self, case: Any, is_known: bool, hostile: tuple[Any, int] | None) -> None:
        for name in case.path_parameters or {}:
            if is_known and name in self.known:
                case.path_parameters[name] = self.known[name][0]
        sent = case.as_transport_kwargs(base_url=HOST)
        if hostile is not None and "json" in sent:
            sent["json"] = replaced(sent["json"], hostile[0], [hostile[1]])
        elif hostile is not None and isinstance(hostile[0], str):
            text = hostile[0].encode("utf-8", "surrogatepass")[:5000]  # the client takes no longer address
            sent["params"] = dict.fromkeys(sent.get("params") or {}, text)
        body = sent.get("data")
        if "json" in sent:
            body = json.dumps(sent["json"]).encode()
            sent["headers"]["content-type"] = sent["headers"].get("content-type") or "application/json"
        headers = {str(name): value for name, value in sent["headers"].items() if name.lower() not in _OWN}
        answer = self.client.request(
            sent["method"], sent["url"], params=sent.get("params") or None, headers=headers, content=body
        )  # fmt: skip
        self._note(case.operation, case, answer)

    def _note(self, operation: Any, case: Any, answer: Any) -> None:
        self.sent[answer.status_code] += 1
        what = f"{operation.method.upper()} {operation.path} {answer.status_code}"
        sent = f"{answer.request.url} {answer.request.content[:300]!r}"
        if answer.status_code >= 500:
            self.wrong.setdefault(what, f"{sent} {answer.text[:300]}")
        elif case is not None:
            try:
                case.validate_response(answer, checks=CHECKS)
            except FailureGroup as error:
                self.wrong.setdefault(what, f"{sent} {error}")


@pytest.mark.parametrize("compat", sampled([False, True], [True]))
def test_no_request_of_the_description_breaks_the_server(site: Site, compat: bool) -> None:
    visitor = Visitor(site.with_settings(compat=compat))
    operations = visitor.operations()
    with visitor.client:  # one event loop for all requests
        for operation in operations:
            visitor.visit(operation)
    print(len(operations), "operations", dict(visitor.sent))
    assert visitor.wrong == {}


def test_the_page_of_routes_loads_nothing_from_elsewhere(site: Site) -> None:
    page = site.client().get("/docs")
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    described = make_api().openapi()
    for path, methods in described["paths"].items():
        for method in methods:
            assert f"<code>{method.upper()} {path}</code>" in page.text
    assert "<code>expires_days</code>" in page.text
    assert not any(word in page.text for word in ("<script", "http://", "https://", "src="))
