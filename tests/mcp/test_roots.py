"""The folders a client works in: asked for, waited for a moment, and read whatever they look like."""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.mcp.caller import Box, asked, call, envelope, greeting, lines, request, result
from told.mcp.loop import serve
from told.mcp.server import Server, folder_of_uri, read_roots

if TYPE_CHECKING:
    from collections.abc import Iterator

STARTED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
CHANGED = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}


def answered(question: Any, *uris: str) -> dict[str, Any]:
    roots = [{"uri": uri} for uri in uris]
    return {"jsonrpc": "2.0", "id": question["id"], "result": {"roots": roots}}


@pytest.mark.parametrize(
    ("uri", "folder"),
    [
        ("file:///home/ada/shop", "/home/ada/shop"),
        ("file:///home/ada/my%20shop%C3%A9", "/home/ada/my shopé"),
        ("FILE://localhost/srv/shop", "/srv/shop"),
        ("file:///c%3A/Users/ada", "c:/Users/ada"),
        ("file:///C:/Users/ada", "C:/Users/ada"),
        ("file:///srv/100%/x%zz", "/srv/100%/x%zz"),
        ("file:///srv/shop?x=1#top", "/srv/shop"),
        ("/srv/shop", "/srv/shop"),
        ("srv/shop", ""),
        ("https://example.com/shop", ""),
        ("file:///", ""),
        ("file:///srv/%00", ""),
        ("", ""),
    ],
)
def test_an_address_is_read_as_a_folder(uri: str, folder: str) -> None:
    if os.name != "nt" or not uri.startswith("/"):
        assert folder_of_uri(uri) == folder


def test_what_is_no_folder_is_left_out() -> None:
    some = [{"uri": "file:///a"}, {"uri": 7}, {}, None, "x", {"uri": "https://b"}, {"uri": "file:///a"}]
    assert read_roots({"roots": some}) == ("/a",)
    odd: tuple[Any, ...] = (None, [], {}, {"roots": None}, {"roots": {"uri": "file:///a"}}, "file:///a")
    for nothing in odd:
        assert read_roots(nothing) == ()


def test_a_client_that_has_folders_is_asked_and_asked_again_when_they_change() -> None:
    box = Box()
    server = Server(box)
    server.answer(greeting(roots={"listChanged": True}))
    assert server.question() is None
    server.answer(STARTED)
    first = server.question()
    assert first is not None
    assert first["method"] == "roots/list"
    assert server.question() is None
    server.answer(answered(first, "file:///srv/shop"))
    server.answer(call("files"))
    server.answer(CHANGED)
    second = server.question()
    assert second is not None
    server.answer(answered(first, "file:///late"))
    server.answer(answered(second, "file:///srv/till", "file:///srv/shop"))
    server.answer(call("files"))
    assert [client.roots for _, _, client in box.asked] == [("/srv/shop",), ("/srv/till", "/srv/shop")]
    assert {client.name for _, _, client in box.asked} == {"an agent"}


def test_a_client_without_folders_is_never_asked() -> None:
    server = Server(Box())
    for greeted in (greeting(), greeting(roots=None), greeting(roots=True)):
        server.answer(greeted)
        server.answer(STARTED)
        server.answer(CHANGED)
        assert server.question() is None


def stateless(method: str, abilities: dict[str, Any], **params: Any) -> dict[str, Any]:
    return request(method, {**params, "_meta": envelope(clientCapabilities=abilities)})


def test_without_a_greeting_a_client_is_asked_in_the_place_of_an_answer() -> None:
    box = Box(knows_place=False)
    for method, params in (("tools/call", {"name": "files"}), ("resources/read", {"uri": "told://brief"})):
        question = result(stateless(method, {"roots": {}}, **params), box)
        assert (question["resultType"], box.asked) == ("input_required", [])
        assert not {"content", "contents", "ttlMs", "cacheScope"} & question.keys()
        ((name, asked),) = question["inputRequests"].items()
        assert asked == {"method": "roots/list"}
        said = {name: {"roots": [{"uri": "file:///srv/shop"}]}}
        answer = result(stateless(method, {"roots": {}}, **params, inputResponses=said), box)
        assert answer["resultType"] == "complete"
        assert box.asked.pop()[2].roots == ("/srv/shop",)


def test_without_a_greeting_nobody_is_asked_for_what_is_known_or_cannot_be_said() -> None:
    able: dict[str, Any] = {"roots": {}}
    call_, brief = ("tools/call", {"name": "files"}), ("resources/read", {"uri": "told://brief"})
    named = {"name": "files", "arguments": {"project": "shop"}}
    for box, abilities, (method, params) in (
        (Box(), able, call_),
        (Box(), able, brief),
        (Box(knows_place=False), {}, call_),
        (Box(knows_place=False), {"roots": True}, brief),
        (Box(knows_place=False), able, ("tools/call", named)),
        (Box(knows_place=False), able, (call_[0], {**call_[1], "inputResponses": {"roots": {"roots": 7}}})),
        (Box(knows_place=False), able, (call_[0], {**call_[1], "inputResponses": {}})),
    ):
        assert result(stateless(method, abilities, **params), box)["resultType"] == "complete"
        assert box.asked[0][2].roots == ()


def test_a_mistake_is_told_before_a_client_is_asked() -> None:
    box = Box(knows_place=False)
    assert result(stateless("tools/call", {"roots": {}}, name="search"), box)["isError"]
    assert "error" in asked(stateless("resources/read", {"roots": {}}, uri="told://nothing"), box)


class Wire:
    """A server that runs beside the test, and the client's ends of its pipes."""

    def __init__(self, box: Box) -> None:
        source, self._to = os.pipe()
        self._from, sink = os.pipe()
        self._out = os.fdopen(self._from, "rb")
        self._thread = threading.Thread(target=self._run, args=(box, source, sink))
        self._thread.start()

    def _run(self, box: Box, source: int, sink: int) -> None:
        serve(Server(box), source, sink)
        os.close(source)
        os.close(sink)

    def send(self, *messages: Any) -> None:
        """Send messages in one piece."""
        os.write(self._to, lines(*messages))

    def next(self) -> dict[str, Any]:
        """Return the next message of the server."""
        found: dict[str, Any] = json.loads(self._out.readline())
        return found

    def close(self) -> list[dict[str, Any]]:
        """Send nothing more, and return what the server still says."""
        os.close(self._to)
        rest = [json.loads(line) for line in self._out]
        self._thread.join()
        self._out.close()
        return rest


@pytest.fixture
def box() -> Box:
    return Box()


@pytest.fixture
def wire(box: Box) -> Iterator[Wire]:
    made = Wire(box)
    made.send(greeting(roots={}), STARTED)
    made.next()
    yield made
    if made._thread.is_alive():
        made.close()


def test_a_call_waits_for_the_folders_and_other_messages_do_not(wire: Wire, box: Box) -> None:
    question = wire.next()
    asks, ping = call("files"), request("ping")
    wire.send(asks, ping)
    assert wire.next()["id"] == ping["id"]
    assert box.asked == []
    wire.send(answered(question, "file:///srv/shop"))
    assert wire.next()["id"] == asks["id"]
    assert [client.roots for _, _, client in box.asked] == [("/srv/shop",)]


def test_a_client_that_does_not_say_its_folders_is_answered_without(wire: Wire, box: Box) -> None:
    wire.next()
    first, second, ping = call("files"), call("files"), request("ping")
    wire.send(first)
    assert wire.next()["id"] == first["id"]
    wire.send(second, ping)  # only the first call waits
    assert [wire.next()["id"], wire.next()["id"]] == [second["id"], ping["id"]]
    assert [client.roots for _, _, client in box.asked] == [(), ()]


def test_what_was_asked_before_the_end_is_answered_all_the_same(wire: Wire, box: Box) -> None:
    wire.next()
    asks = [call("files") for _ in range(20)]
    wire.send(*asks)
    assert sorted(answer["id"] for answer in wire.close()) == sorted(one["id"] for one in asks)
    assert len(box.asked) == 20
