"""What a client reads: both ways of asking, what is offered, and what becomes of messages that are none."""

from __future__ import annotations

import pytest

from tests.mcp.caller import META, NEWEST, Box, asked, call, code, envelope, greeting, request, result
from told import __version__
from told.errors import NotFoundError
from told.mcp.server import Server
from told.mcp.tools import TOOLS, Answer, Client

GREETED = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
NAMES = [
    "search", "timeline", "get", "remember", "correct", "forget", "checkpoint", "sessions", "files",
    "wonder", "reason", "feedback",
]  # fmt: skip


@pytest.mark.parametrize("version", GREETED)
def test_a_known_revision_is_spoken_as_the_client_does(version: str) -> None:
    said = result(greeting(version))
    assert said["protocolVersion"] == version
    assert said["serverInfo"]["name"] == "told"
    assert said["serverInfo"]["version"] == __version__
    assert set(said["capabilities"]) == {"tools", "resources", "prompts"}
    assert "checkpoint" in said["instructions"]


@pytest.mark.parametrize("version", ["2099-01-01", NEWEST, "", 7, None])
def test_to_a_greeting_in_another_revision_the_newest_of_those_is_offered(version: object) -> None:
    assert result(greeting(version))["protocolVersion"] == GREETED[-1]


def test_every_tool_is_listed_with_what_it_takes_and_whether_it_changes_anything() -> None:
    tools = {tool["name"]: tool for tool in result(request("tools/list"))["tools"]}
    assert list(tools) == NAMES
    writers = {"remember", "correct", "forget", "checkpoint", "feedback"}
    for name, tool in tools.items():
        assert tool["inputSchema"]["type"] == "object"
        assert set(tool["inputSchema"].get("required", ())) <= set(tool["inputSchema"]["properties"])
        expected = {"destructiveHint": name == "forget"} if name in writers else {"readOnlyHint": True}
        assert tool["annotations"] == expected
    assert all("project" in {**tool.schema["properties"], **tool.more} for tool in TOOLS)


def test_the_stateless_revision_is_found_out_and_used_without_a_greeting() -> None:
    found = result(request("server/discover", {"_meta": envelope()}))
    assert found["supportedVersions"] == [NEWEST]
    assert "search" in found["instructions"]
    listed = result(request("tools/list", {"_meta": envelope()}))
    assert [tool["name"] for tool in listed["tools"]] == NAMES
    for answer, scope in ((found, "public"), (listed, "public")):
        assert answer["resultType"] == "complete"
        assert answer["cacheScope"] == scope
        assert answer["ttlMs"] > 0
        assert answer["_meta"][META + "serverInfo"]["name"] == "told"
    box = Box()
    given = result(request("tools/call", {"_meta": envelope(), "name": "files"}), box)
    assert given["resultType"] == "complete"
    assert "ttlMs" not in given
    assert box.asked == [("files", {}, Client("an agent"))]


def test_what_is_read_is_not_to_be_kept_by_anybody() -> None:
    read = result(request("resources/read", {"_meta": envelope(), "uri": "told://brief"}))
    assert (read["ttlMs"], read["cacheScope"]) == (0, "private")


def test_another_stateless_revision_is_refused_with_those_that_are_spoken() -> None:
    answer = asked(request("tools/list", {"_meta": envelope("2031-01-01")}))
    assert answer["error"]["code"] == -32022
    assert answer["error"]["data"] == {"supported": [*GREETED, NEWEST], "requested": "2031-01-01"}


def test_an_envelope_that_is_not_whole_is_refused() -> None:
    assert code(request("tools/list", {"_meta": envelope(clientCapabilities=...)})) == -32602
    assert code(request("tools/list", {"_meta": envelope(["2026-07-28"])})) == -32602
    assert code(request("server/discover", {})) == -32602
    assert code(request("server/discover")) == -32602
    assert code(request("ping", {"_meta": envelope()})) == -32601


def test_a_client_of_the_old_ways_may_send_meta_of_its_own() -> None:
    assert len(result(request("tools/list", {"_meta": {"progressToken": 4}}))["tools"]) == len(NAMES)


def test_a_tool_answers_with_text_alone() -> None:
    assert result(call("search", query="deploy")) == {
        "content": [{"type": "text", "text": "search: {'query': 'deploy'}"}],
        "isError": False,
    }


def test_an_unknown_tool_is_an_error_that_names_the_others() -> None:
    answer = asked(call("serach", query="x"))
    assert answer["error"]["code"] == -32602
    assert "search, timeline" in answer["error"]["message"]
    assert code(request("tools/call", {"name": 3})) == -32602
    assert code(request("tools/call")) == -32602


def test_a_mistake_in_the_arguments_is_told_to_the_model_and_nothing_is_done() -> None:
    box = Box()
    said = result(call("search"), box)
    assert said["isError"]
    assert said["content"][0]["text"] == "`query` is missing: give words to search for."
    assert box.asked == []


def test_what_told_says_of_a_failed_call_is_a_tools_error() -> None:
    def nothing() -> Answer:
        raise NotFoundError("There is no memory x7.")

    said = result(call("get", id="x7"), Box(nothing))
    assert (said["isError"], said["content"][0]["text"]) == (True, "There is no memory x7.")


def test_a_fault_in_a_tool_is_one_sentence_and_noted_and_the_next_call_is_answered() -> None:
    def fault() -> Answer:
        raise KeyError("/home/ada/secret")

    noted: list[Exception] = []
    server = Server(Box(fault), noted.append)
    said = server.answer(call("get", id="x7"))["result"]
    assert said["isError"]
    assert "KeyError" in said["content"][0]["text"]
    assert "secret" not in said["content"][0]["text"]
    assert [type(error) for error in noted] == [KeyError]
    assert server.answer(request("ping"))["result"] == {}


def test_resources_are_listed_and_read() -> None:
    uris = [one["uri"] for one in result(request("resources/list"))["resources"]]
    assert uris == ["told://brief", "told://memories"]
    (template,) = result(request("resources/templates/list"))["resourceTemplates"]
    for uri in (*uris, template["uriTemplate"].replace("{id}", "c123")):
        (read,) = result(request("resources/read", {"uri": uri}))["contents"]
        assert (read["uri"], read["text"]) == (uri, f"# {uri}")


def test_a_resource_that_is_not_there_is_an_error_of_its_revision() -> None:
    for uri in ("told://nothing", "file:///etc/passwd", "told://show/", "told://show/" + "x" * 999, ""):
        assert code(request("resources/read", {"uri": uri})) == -32002
        assert code(request("resources/read", {"uri": uri, "_meta": envelope()})) == -32602
    gone = Box(lambda: Answer("There is no x7.", is_error=True))
    answer = asked(request("resources/read", {"uri": "told://show/x7"}), gone)
    assert (answer["error"]["code"], answer["error"]["message"]) == (-32002, "There is no x7.")
    assert code(request("resources/read", {"uri": 7})) == -32602


def test_prompts_are_listed_and_filled_in() -> None:
    names = [prompt["name"] for prompt in result(request("prompts/list"))["prompts"]]
    assert names == ["checkpoint", "recall"]
    (message,) = result(request("prompts/get", {"name": "checkpoint"}))["messages"]
    assert message["role"] == "user"
    asks = request("prompts/get", {"name": "recall", "arguments": {"topic": "the {deploy}"}})
    assert "the {deploy}" in result(asks)["messages"][0]["content"]["text"]
    assert code(request("prompts/get", {"name": "recall"})) == -32602
    assert code(request("prompts/get", {"name": "other"})) == -32602
    assert code(request("prompts/get", {"name": ["recall"]})) == -32602


def test_what_is_not_offered_is_no_method() -> None:
    for method in (
        "logging/setLevel",
        "completion/complete",
        "resources/subscribe",
        "tools/cal",
        "",
        "\ud800",
    ):
        assert code(request(method, {})) == -32601
    assert code(request("subscriptions/listen", {"_meta": envelope(), "notifications": {}})) == -32601


def test_ids_come_back_as_they_were() -> None:
    for given in (0, -1, 2**70, 1.5, "", "7", "\ud800", "a" * 1000):
        assert asked(request("ping", id=given)) == {"jsonrpc": "2.0", "id": given, "result": {}}


def test_what_is_no_request_is_answered_as_such() -> None:
    for message in (7, "ping", None, True, {}, {"id": None, "method": "ping"}, {"method": 7}):
        assert asked(message)["id"] is None
        assert code(message) == -32600
    for given in (None, True, [1], {"a": 1}, float("inf")):
        answer = asked(request("ping", id=given))
        assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    for wrong in ({"jsonrpc": "1.0"}, {"jsonrpc": None}, {"method": 3}):
        answer = asked({**request("ping", id="mine"), **wrong})
        assert (answer["id"], answer["error"]["code"]) == ("mine", -32600)
    for params in ([1], "x", 7, True):
        assert code(request("tools/list", params)) == -32602
    assert result(request("tools/list", None))["tools"]


def test_an_unknown_page_is_refused() -> None:
    assert code(request("tools/list", {"cursor": "2"})) == -32602


def test_notifications_and_answers_to_nothing_are_not_answered() -> None:
    for message in (
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [None]},
        {"jsonrpc": "2.0", "method": "notifications/unheard-of"},
        {"jsonrpc": "2.0", "method": "ping"},
        {"jsonrpc": "2.0", "id": 9, "result": {}},
        {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "?"}},
    ):
        assert asked(message) is None, message


def test_messages_that_come_together_are_answered_together() -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answers = asked([request("ping", id="a"), note, 7, request("nothing", id="b"), []])
    assert [answer["id"] for answer in answers] == ["a", None, "b", None]
    assert [answer.get("error", {}).get("code") for answer in answers] == [None, -32600, -32601, -32600]
    assert asked([note, note]) is None
    for wrong in ([], [request("ping")] * 101):
        assert code(wrong) == -32600
