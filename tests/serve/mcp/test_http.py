"""MCP over HTTP: behind the service's one guard, spoken by the official SDK, and never in a prompt's way."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.hook.desk import ASKED, TAUGHT
from tests.serve.house import House, is_running, until
from tests.serve.mcp.caller import call, envelope, greeting, request
from tests.serve.mcp.test_sdk import GREETED, LONG, NEWEST, RULE, answer, use
from told.serve.mcp.tools import TOOLS

if TYPE_CHECKING:
    from tests.serve.house import Reply

MCP = "/mcp"
WHO = {"name": "an agent", "version": "7"}
BOTH = "application/json, text/event-stream"
LIBRARY = "pydantic_core"  # what the SDK brings along, and nothing else does
# Tools that say when they begin and end, and in between wait for the user to let them go on.
HELD = """
import os, time, told.cli.tools as it
def call(self, name, arguments, client, own=it.Tools.call):
    with open({log!r}, "a") as file: file.write("begin ")
    while not os.path.exists({go!r}): time.sleep(0.01)
    with open({log!r}, "a") as file: file.write("end ")
    return own(self, name, arguments, client)
it.Tools.call = call
"""


def ask(house: House, message: Any, accept: str = BOTH, **headers: str) -> Reply:
    return house.post(message, MCP, "POST", (), accept=accept, **headers)


def said(reply: Reply) -> tuple[bool, str]:
    result = json.loads(reply.body)["result"]
    return result["isError"], result["content"][0]["text"]


def has_loaded(house: House) -> bool:
    return LIBRARY in Path(f"/proc/{house.pid}/maps").read_text()


@pytest.mark.parametrize(("mode", "version"), [("auto", NEWEST), ("legacy", GREETED[-1])])
def test_the_client_of_the_sdk_calls_every_tool(served: House, mode: str, version: str) -> None:
    async def story() -> None:
        headers = {"Authorization": f"Bearer {served.token}"}
        async with create_mcp_http_client(headers=headers) as web:
            stream = streamable_http_client(f"http://127.0.0.1:{served.port}{MCP}", http_client=web)
            async with Client(stream, mode=mode) as client:
                assert client.protocol_version == version
                assert "give `project`" in (client.instructions or "")
                tools = (await client.list_tools()).tools
                assert [tool.name for tool in tools] == [tool.name for tool in TOOLS]
                await _use_all(client, served.project)
                assert len((await client.list_prompts()).prompts) == 2
                assert (await client.get_prompt("recall", {"topic": "deploy"})).messages
                assert (await client.list_resource_templates()).resource_templates
                resources = (await client.list_resources()).resources
                assert (await client.read_resource(str(resources[1].uri))).contents

    anyio.run(story)


async def _use_all(client: Client, project: str) -> None:
    failed, text = await answer(client, "remember", text=RULE)
    assert failed
    assert "Give `project`" in text
    failed, text = await answer(client, "remember", text=RULE, quote=RULE, project=project)
    assert not failed, text
    named = re.search(r"\bm[a-z0-9]{7,}\b", text)
    assert named is not None, text
    for name, arguments in use(named[0]).items():
        failed, text = await answer(client, name, **arguments, project=project)
        assert not failed, (name, text)
        assert text, name
    for tool in TOOLS:
        failed, text = await answer(client, tool.name, **{next(iter(tool.schema["properties"])): LONG})
        assert failed, tool.name
        assert len(text) < 1000, tool.name


def test_an_agent_has_no_word_of_the_users(served: House) -> None:
    given = {"text": RULE, "quote": RULE, "kind": "rule", "project": served.project}
    failed, text = said(ask(served, call("remember", **given)))
    assert not failed, text
    [memory] = served.memories("--all-projects", "--all")
    assert (memory["trust"], memory["locked"]) == ("agent", False)


def test_it_is_behind_the_same_guard(served: House) -> None:
    message = call("remember", text=RULE, scope="global")
    refusals = {
        401: {"authorization": "Bearer wrong"}, 421: {"host": "evil.example"},
        403: {"origin": f"http://127.0.0.1:{served.port}"}, 415: {"content_type": "text/plain"},
    }  # fmt: skip
    for code, headers in refusals.items():
        assert ask(served, message, **headers)[:2] == (code, b"")
    assert served.post(message, path=MCP, drop=("Authorization",)).code == 401
    assert served.raw(served.head(MCP, "4000001")).startswith(b"HTTP/1.1 413 ")
    for path in ("/mcp/", "/mcp?a=1", "/MCP", "/mcp/x", "//mcp"):
        assert served.post(message, path=path).code == 404, path
    assert served.operations() == ""
    assert not has_loaded(served)


def test_there_is_no_stream_to_listen_to_and_no_session_to_end(served: House) -> None:
    for method in ("GET", "DELETE", "PUT", "OPTIONS"):
        assert served.post(b"", path=MCP, method=method, accept="text/event-stream").code == 405, method


def test_nothing_of_it_is_loaded_for_prompts(served: House) -> None:
    served.say(TAUGHT)
    assert "pnpm" in served.say(ASKED, "second")
    assert not has_loaded(served)
    assert ask(served, greeting(GREETED[-1])).code == 200
    assert has_loaded(served)


def test_one_answer_is_json_and_a_notification_has_none(served: House) -> None:
    reply = ask(served, request("tools/list"))
    assert reply.headers["content-type"] == "application/json"
    assert "mcp-session-id" not in reply.headers
    assert ask(served, {"jsonrpc": "2.0", "method": "notifications/initialized"})[:2] == (202, b"")
    listing = request("tools/list") | {"params": {"_meta": envelope(clientInfo=WHO)}}
    newest = ask(served, listing, mcp_protocol_version=NEWEST, mcp_method="tools/list")
    assert newest.code == 200, newest
    assert json.loads(newest.body)["result"]["resultType"] == "complete"


def test_nonsense_is_refused_and_does_no_harm(served: House) -> None:
    wrong: tuple[Any, ...] = (
        b"", b"{", b"null", b"7", [], b"\xff\xfe\x00", b"[" * 100_000, {"id": 1}, {"jsonrpc": "2.0", "id": 1},
        request("no/such/method"), request("tools/call", {"name": 7}), call("no_such_tool"),
        request("resources/read", {"uri": "told://nothing"}), request("subscriptions/listen"),
    )  # fmt: skip
    for body in wrong:
        for more in ({}, {"mcp_protocol_version": NEWEST}, {"mcp_protocol_version": "1999-01-01"}):
            reply = ask(served, body, **more)
            assert 200 <= reply.code < 500, (body, reply)
            assert b'"error"' in reply.body, (body, reply)
    assert ask(served, request("tools/list"), accept="text/html").code == 406
    assert not said(ask(served, call("search", query="deploy")))[0]


def test_prompts_are_answered_while_a_tool_works(house: House, tmp_path: Path) -> None:
    log, go = tmp_path / "log", tmp_path / "go"
    house.begin(first=_held(log, go))
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(ask, house, call("sessions")) for _ in range(2)]
        until(log.exists)
        house.say(TAUGHT)
        assert "pnpm" in house.say(ASKED, "second")
        assert ask(house, request("tools/list")).code == 200
        assert not any(one.done() for one in calls)
        go.touch()
        assert [said(one.result())[0] for one in calls] == [False, False]
    assert log.read_text() == "begin end begin end "  # one after the other


def _held(log: Path, go: Path) -> str:
    return f"exec({HELD.format(log=str(log), go=str(go))!r});"


def test_a_tool_that_takes_too_long_is_not_waited_for(house: House, tmp_path: Path) -> None:
    log, go = tmp_path / "log", tmp_path / "go"
    house.begin(first=_held(log, go) + "import told.serve.mcp.http as it;it._LONGEST=0.3;")
    failed, text = said(ask(house, call("sessions")))
    assert failed
    assert "It goes on" in text
    assert said(ask(house, call("sessions"))) == (True, "told is busy with other calls. Ask again.")
    reading = json.loads(ask(house, request("resources/read", {"uri": "told://brief"})).body)
    assert "told is busy" in reading["error"]["message"]
    go.touch()
    until(lambda: not said(ask(house, call("sessions")))[0])
    assert log.read_text() == "begin end begin end "  # what was given up before it began never does


def test_one_that_is_stuck_in_a_tool_leaves(house: House, tmp_path: Path) -> None:
    first = "import told.serve.service as it;it._STUCK_CALL=0.3;it._EVERY=0.1;"
    pid = house.begin(first=_held(tmp_path / "log", tmp_path / "go") + first)
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask, house, call("sessions"))
        until(lambda: not is_running(pid))
        assert isinstance(asking.exception(), OSError)


def test_more_at_once_than_it_can_take_leave_room_for_prompts(house: House, tmp_path: Path) -> None:
    log, go = tmp_path / "log", tmp_path / "go"
    house.begin(first=_held(log, go))
    with ThreadPoolExecutor(24) as pool:
        calls = [pool.submit(ask, house, call("sessions")) for _ in range(24)]
        until(lambda: sum(one.done() for one in calls) == 8)
        assert {one.result().code for one in calls if one.done()} == {503}
        house.say(TAUGHT)
        go.touch()
        assert sorted(one.result().code for one in calls) == [200] * 16 + [503] * 8
    assert "pnpm" in house.operations()


def test_without_the_sdk_it_says_what_to_install(house: House) -> None:
    house.begin(first="import sys;sys.modules['mcp']=None;")
    for _ in range(2):
        reply = ask(house, greeting(NEWEST) | {"id": "a-1"})
        assert reply.code == 501
        error = json.loads(reply.body)
        assert (error["jsonrpc"], error["id"]) == ("2.0", "a-1")
        assert "pip install 'told[http]'" in error["error"]["message"]
    assert json.loads(ask(house, b"{").body)["id"] is None
    house.say(TAUGHT)
    assert "pnpm" in house.say(ASKED, "second")


def test_an_sdk_that_does_not_run_is_said(house: House) -> None:
    house.begin(first="import told.serve.mcp.http as it;it.Http._serve=lambda self, ready: 1 / 0;")
    reply = ask(house, request("tools/list"))
    assert reply.code == 500
    assert "`told health` may say why" in json.loads(reply.body)["error"]["message"]
    assert "RuntimeError" in house.told("health").out
    house.say(TAUGHT)
    assert "pnpm" in house.say(ASKED, "second")


def test_what_goes_wrong_inside_does_not_end_it(house: House) -> None:
    house.begin(first="import told.serve.mcp.http as it;it._scope=lambda head: 1 / 0;")
    reply = ask(house, request("tools/list"))
    assert reply.code == 500
    assert "ZeroDivisionError" in json.loads(reply.body)["error"]["message"]
    house.say(TAUGHT)
    assert "pnpm" in house.say(ASKED, "second")


def test_the_user_is_told_the_address_and_where_the_token_is_but_not_the_token(served: House) -> None:
    status = served.child("service", "status")
    assert f"http://127.0.0.1:{served.port}/mcp" in status.out
    assert "service.token" in status.out
    found = served.told("service", "status", "--json")
    assert found.json["mcp"] == f"http://127.0.0.1:{served.port}/mcp"
    token_file = Path(found.json["token_file"])
    assert token_file.read_text().strip() == served.token
    assert token_file.stat().st_mode & 0o777 == 0o600
    assert served.token not in status.out + found.out


def test_calls_leave_nothing_behind_in_the_process(served: House) -> None:
    given = call("search", query="deploy")
    for _ in range(5):
        ask(served, given)
    files, threads = (len(list(Path(f"/proc/{served.pid}/{name}").iterdir())) for name in ("fd", "task"))
    for _ in range(30):
        ask(served, given)
    until(lambda: len(list(Path(f"/proc/{served.pid}/fd").iterdir())) < files + 4)
    until(lambda: len(list(Path(f"/proc/{served.pid}/task").iterdir())) < threads + 4)
