"""Who may ask the service: nobody but the user's own agents, and nothing but what their hooks ask."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.hook.desk import typed
from tests.serve.house import PATIENCE, PROMPT, House

if TYPE_CHECKING:
    from typing import Any

RULE = "Always run the deploy with make ship, never by hand."
FOREIGN = b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"


def test_without_the_token_nothing_is_told_and_nothing_is_learned(served: House) -> None:
    token = served.token
    wrong = (
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        f"bearer {token}",
        f"Bearer {token}x",
        token,
        f"Basic {token}",
    )
    for given in wrong:
        reply = served.post(typed(served, RULE), authorization=given)
        assert (reply.code, reply.body) == (401, b""), given
    assert served.post(typed(served, RULE), drop=("Authorization",)).code == 401
    assert served.operations() == ""


def test_a_page_that_points_its_name_at_this_machine_is_refused(served: House) -> None:
    at = f":{served.port}"
    hosts = (
        "evil.example", f"evil.example{at}", f"127.0.0.1.evil.example{at}", f"localhost.evil{at}", "",
        "localhost", "127.0.0.1", "127.0.0.1:1", f"[::1]{at}", f"0.0.0.0{at}", f"localhost{at}@evil",
        f"127.0.0.1{at}0",
    )  # fmt: skip
    for host in hosts:
        reply = served.post(typed(served, RULE), host=host)
        assert (reply.code, reply.body) == (421, b""), host
    assert served.operations() == ""


def test_this_machine_has_two_names(served: House) -> None:
    for number, host in enumerate(("127.0.0.1", "localhost", "LocalHost")):
        reply = served.post(typed(served, f"Always use tool{number} here."), host=f"{host}:{served.port}")
        assert reply.code in (200, 204)
        assert f"tool{number}" in served.operations()


def test_a_browser_is_refused_even_with_the_token(served: House) -> None:
    for origin in ("http://evil.example", "null", f"http://127.0.0.1:{served.port}", ""):
        assert served.post(typed(served, RULE), origin=origin).code == 403, origin
    assert served.operations() == ""


def test_a_browser_that_asks_first_is_not_encouraged(served: House) -> None:
    reply = served.post(
        b"", method="OPTIONS", origin="http://evil.example", access_control_request_method="POST"
    )
    assert reply.code == 403
    assert not any(name.startswith("access-control") for name in reply.headers)


def test_only_post_is_answered(served: House) -> None:
    for method in ("GET", "PUT", "DELETE", "HEAD", "OPTIONS", "post"):
        assert served.post(typed(served, RULE), method=method).code == 405, method
    assert served.operations() == ""


def test_there_is_nothing_else_to_ask_for(served: House) -> None:
    paths = (
        "/", "/hook", "/told.hook", "/told.hook/claude-code", f"{PROMPT}/", f"{PROMPT}?a=1", "/ping/", "*",
        "/told.hook/claude-code/start", "/told.hook/claude-code/stop", "/told.hook/claude-code/tool",
        "//told.hook/a/prompt", "/told.hook//prompt", "/told.hook/../prompt", "/told.hook/%2e%2e/prompt",
        "/../../etc/passwd", "/memories", f"http://127.0.0.1{PROMPT}",
    )  # fmt: skip
    for path in paths:
        assert served.post(typed(served, RULE), path=path).code == 404, path
        assert served.post(typed(served, RULE), path=path, authorization="Bearer x").code == 401, path
    assert served.operations() == ""


def test_a_form_of_a_web_page_is_refused(served: House) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "json", ""):
        assert served.post(typed(served, RULE), content_type=kind).code == 415, kind
    assert served.operations() == ""
    assert served.post(typed(served, RULE), content_type="Application/JSON; charset=utf-8").code == 204
    assert "make ship" in served.operations()


def test_a_body_is_as_long_as_it_says_and_not_too_long(served: House) -> None:
    lengths = {"4000001": 413, "999999999": 413, "9999999999": 411, "-1": 411, "1e3": 411, "٣": 411, "": 411}
    for length, code in lengths.items():
        said = served.raw(served.head(PROMPT, length))
        assert said.startswith(f"HTTP/1.1 {code} ".encode()), length


def test_a_long_prompt_still_fits(served: House) -> None:
    log = "a long line of a build\n" * 100_000
    assert served.post(typed(served, f"{log}\n{RULE}")).code in (200, 204)


def test_what_could_be_read_in_two_ways_is_not_read_at_all(served: House) -> None:
    first, host = f"POST {PROMPT} HTTP/1.1", f"Host: localhost:{served.port}"
    heads = (
        f"POST {PROMPT}", f"POST  {PROMPT} HTTP/1.1", f"POST {PROMPT} HTTP/2", "", "\0\0\0\0",
        f"{first}\r\n{host}\r\nHost: evil.example",
        f"{first}\r\n{host}\r\nAuthorization: Bearer {served.token}\r\nAuthorization: x",
        f"{first}\r\n{host}\r\n folded: yes", f"{first}\r\nHost : localhost:{served.port}",
        f"{first}\r\nno colon", f"{first}\r\n{host}\r\nX: {'a' * 20_000}",
    )  # fmt: skip
    for head in heads:
        assert served.raw(f"{head}\r\n\r\n".encode()).startswith(b"HTTP/1.1 400 "), head[:80]


def test_a_body_in_pieces_is_refused(served: House) -> None:
    head = served.head(PROMPT, "2\r\nTransfer-Encoding: chunked")
    assert served.raw(head + b"2\r\n{}\r\n0\r\n\r\n").startswith(b"HTTP/1.1 411 ")


def test_a_second_request_behind_the_first_is_not_read(served: House) -> None:
    one = served.head("/ping", "2") + b"{}"
    assert served.raw(one).startswith(b"HTTP/1.1 200 ")
    assert served.raw(one + one).startswith(b"HTTP/1.1 400 ")


def test_a_refusal_says_nothing_about_who_refuses(served: House) -> None:
    for reply in (served.post({}, authorization="Bearer x"), served.post({}, host="evil.example")):
        assert reply.body == b""
        assert set(reply.headers) == {"content-length", "connection"}
    assert b"told" not in served.raw(FOREIGN)


def test_what_comes_half_and_slowly_keeps_nobody_waiting(served: House) -> None:
    slow = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(40)]
    for one in slow:
        one.sendall(b"POST /told.hook/claude-code/prompt HTTP/1.1\r\nHost: ")
    assert served.post(typed(served, RULE)).code == 204
    for one in slow:
        one.settimeout(PATIENCE)
        assert one.recv(100).startswith(b"HTTP/1.1 400 ")  # they are told so, and let go
        one.close()


def test_drops_of_a_body_do_not_hold_a_place_for_ever(served: House) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as slow:
        slow.sendall(served.head("/ping", "900"))
        stopped = threading.Event()
        dropping = threading.Thread(target=_drip, args=(slow, stopped))
        dropping.start()
        try:
            assert slow.recv(100).startswith(b"HTTP/1.1 400 ")
        finally:
            stopped.set()
            dropping.join()


def _drip(connection: socket.socket, stopped: threading.Event) -> None:
    while not stopped.is_set():
        try:
            connection.send(b" ")
        except OSError:
            return
        time.sleep(0.05)


def test_thirty_two_at_once_are_all_heard(served: House) -> None:
    names = [f"tool{number}" for number in range(32)]
    with ThreadPoolExecutor(32) as pool:
        codes = list(
            pool.map(lambda name: served.post(typed(served, f"Always use {name} here.")).code, names)
        )
    assert set(codes) <= {200, 204}
    kept = served.operations()
    assert [name for name in names if f"Always use {name} here." not in kept] == []


def _use(house: House, name: str) -> dict[str, Any]:
    return typed(house, f"Always use {name} here.")


def test_more_than_it_can_take_are_sent_away_and_do_no_harm(served: House) -> None:
    many = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(150)]
    for one in many:
        one.close()
    assert served.say(RULE) == ""
    assert "make ship" in served.operations()


def test_it_listens_on_this_machine_alone(served: House) -> None:
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    rows += [line.split() for line in Path("/proc/net/tcp6").read_text().splitlines()[1:]]
    listening = [row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{served.port:04X}")]
    assert listening == [f"0100007F:{served.port:04X}"]


def test_nobody_else_may_read_its_files(served: House) -> None:
    modes = {name: stat.S_IMODE((served.told_home / name).stat().st_mode) for name in served.own_files()}
    assert set(modes) >= {"service.token", "service.json", "service.lock"}
    assert set(modes.values()) == {0o600}
    assert len(served.token) >= 40


def test_the_token_is_not_in_the_list_of_processes(served: House) -> None:
    words = Path(f"/proc/{served.pid}/cmdline").read_bytes()
    assert served.token.encode() not in words + Path(f"/proc/{served.pid}/environ").read_bytes()


@pytest.mark.skipif(os.getuid() != 0, reason="needs to be two users")
def test_another_user_with_the_token_is_refused(served: House) -> None:
    program = (
        "import encodings.idna,http.client,os,sys\nos.setgid(65534)\nos.setuid(65534)\n"
        "c=http.client.HTTPConnection('127.0.0.1',int(sys.argv[1]),timeout=20)\n"
        "c.request('POST','/told.hook/claude-code/prompt',sys.argv[3],{'Content-Type':'application/json',"
        "'Authorization':'Bearer '+sys.argv[2]})\nprint(c.getresponse().status)\n"
    )
    words = [str(served.port), served.token, json.dumps(typed(served, RULE))]
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=True, cwd="/"
    )
    assert done.stdout.strip() == "403"
    assert "make ship" not in served.operations()
