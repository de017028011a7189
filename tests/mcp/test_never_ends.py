"""Whatever is sent, the server goes on, and every request with an id gets its one answer."""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.mcp.caller import META, NEWEST, Box, call, lines, request
from tests.soak import points
from told.mcp import loop as streams
from told.mcp.loop import serve
from told.mcp.server import Server
from told.mcp.tools import TOOLS

if TYPE_CHECKING:
    from typing import Any

METHODS = [
    "initialize", "notifications/initialized", "notifications/roots/list_changed", "ping", "tools/list",
    "tools/call", "resources/list", "resources/templates/list", "resources/read", "prompts/list",
    "prompts/get", "server/discover", "logging/setLevel", "roots/list", "x",
]  # fmt: skip
NAMES = sorted({name for tool in TOOLS for name in tool.schema["properties"]})
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
IDS = st.integers() | st.text(max_size=8)
PARAMS: st.SearchStrategy[Any] = VALUES | st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from([tool.name for tool in TOOLS]) | VALUES,
        "arguments": st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4) | VALUES,
        "uri": st.sampled_from(["told://brief", "told://show/x"]) | VALUES,
        "protocolVersion": VALUES,
        "capabilities": st.just({"roots": {}}) | VALUES,
        "_meta": VALUES
        | st.fixed_dictionaries(
            {META + "protocolVersion": st.just(NEWEST) | VALUES, META + "clientCapabilities": VALUES}
        ),
    },
)
REQUESTS = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0"), "id": IDS, "method": st.sampled_from(METHODS)}, optional={"params": PARAMS}
)
MESSAGES = (
    REQUESTS
    | VALUES
    | st.fixed_dictionaries({"method": st.sampled_from(METHODS)}, optional={"id": VALUES, "params": PARAMS})
    | st.fixed_dictionaries({"id": VALUES | st.just("roots-1")}, optional={"result": VALUES, "error": VALUES})
)


def said(sent: bytes, box: Box | None = None) -> list[Any]:
    """Return all that a server says to some bytes."""
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as sink:
        source.write(sent)
        source.seek(0)
        serve(Server(box or Box()), source.fileno(), sink.fileno())
        sink.seek(0)
        answers = [json.loads(line) for line in sink.read().decode("utf-8").splitlines()]
    return [one for answer in answers for one in (answer if isinstance(answer, list) else [answer])]


def ids(answers: list[Any]) -> list[str]:
    """Return the ids that answers have, without the server's own questions."""
    return sorted(
        json.dumps(one["id"]) for one in answers if "method" not in one and isinstance(one["id"], (str, int))
    )


@settings(max_examples=points(everyday=40, soak=3000), deadline=None)
@given(st.lists(MESSAGES | st.lists(REQUESTS, max_size=3), max_size=6), REQUESTS)
def test_every_request_gets_one_answer_among_whatever_else(messages: list[Any], last: dict[str, Any]) -> None:
    numbered: list[Any] = []
    for place, message in enumerate([*messages, last]):
        several = message if isinstance(message, list) else [message]
        for one, part in enumerate(several):
            if isinstance(part, dict) and "jsonrpc" in part:
                part["id"] = f"{part['id']} {place} {one}"
                numbered.append(part["id"])
    answers = said(lines(*messages, last))
    found = ids(answers)
    assert [found.count(json.dumps(id_)) for id_ in numbered] == [1] * len(numbered)
    for answer in answers:
        assert answer["jsonrpc"] == "2.0"
        assert len({"method", "result", "error"} & set(answer)) == 1


@settings(max_examples=points(everyday=50, soak=2000), deadline=None)
@given(
    st.lists(st.binary(max_size=60) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "replace")))
)
def test_bytes_that_are_no_messages_are_answered_and_left_behind(noise: list[bytes]) -> None:
    ping = request("ping")
    answers = said(lines(*noise, ping))
    assert answers[-1] == {"jsonrpc": "2.0", "id": ping["id"], "result": {}}
    assert all(
        answer["id"] is None and answer["error"]["code"] in (-32700, -32600) for answer in answers[:-1]
    )


@settings(max_examples=points(everyday=25, soak=1000), deadline=None)
@given(st.integers(min_value=1, max_value=400), st.lists(st.integers(0, 60_000), max_size=3))
def test_lines_are_the_same_however_they_arrive(chunk: int, sizes: list[int]) -> None:
    messages = [request("ping", {"x": "é" * size}) for size in sizes]
    sent = lines(b"", b" \r", *messages, b"oops", request("ping"))[:-1]  # the last one lacks its end
    usual = streams._CHUNK
    streams._CHUNK = chunk * 997
    try:
        assert len(said(sent)) == len(messages) + 2
    finally:
        streams._CHUNK = usual


def test_nesting_without_end_is_no_json() -> None:
    for deep in (b"[" * 100_000, b'{"a":' * 100_000, b"[" * 2_000_000 + b"]" * 2_000_000):
        assert [answer["id"] for answer in said(lines(deep, request("ping", id=1)))][-1] == 1


def test_a_message_that_is_too_long_is_read_to_its_end_and_its_sender_hears_of_it() -> None:
    text = "x" * (streams.LONGEST + 5)
    first = {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"arguments": {"text": text}}}
    last = {"method": "tools/call", "params": {"arguments": {"text": [text]}}, "jsonrpc": "2.0", "id": 7}
    nowhere = {"method": "tools/call", "params": {"text": text, "id": "not its own"}}
    box = Box()
    answers = said(lines(first, last, nowhere, b"y" * (9 << 20), call("files")), box)
    assert [answer["id"] for answer in answers[:-1]] == ["a", 7, None, None]
    assert {answer["error"]["code"] for answer in answers[:-1]} == {-32600}
    assert "4 MB" in answers[0]["error"]["message"]
    assert [name for name, _, _ in box.asked] == ["files"]


def test_the_rest_of_a_long_line_is_not_kept() -> None:
    reading, writing = os.pipe()
    lines_ = streams.Lines(reading, writing)
    for _ in range(3 * (streams.LONGEST >> 16)):
        os.write(writing, b"x" * 65_536)
        lines_._read()
        assert len(lines_._rest) <= streams.LONGEST + 65_536
    assert len(lines_._rest) <= 65_536 + 1024
    os.close(writing)
    os.close(reading)
