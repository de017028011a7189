"""Servers: keys, redirects, silence, refusals, and what the user is told about them."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from tests.cli.machine import ago
from tests.reader.test_review import IDS, IDS_TEXT, answers, item, say, texts
from told.reader import models

if TYPE_CHECKING:
    from tests.cli.machine import Answer, Machine
    from tests.reader.model_server import ModelServer

KEY = "sk-test-0123456789"


def learn(desk: Machine) -> Answer:
    return desk.told("learn", "--yes")


def test_anthropic_gets_the_key_from_the_variable(desk: Machine, model: ModelServer) -> None:
    base = model.url.removesuffix("/v1")
    desk.config(f'[reader]\nmode = "anthropic"\nurl = "{base}"\nmodel = "haiku"\nkey_env = "MY_KEY"\n')
    model.answer = lambda _asked: answers(item())
    say(desk, IDS)
    missing = learn(desk)
    assert (missing.code, model.requests) == (4, [])
    assert "MY_KEY" in missing.err
    desk.environ["MY_KEY"] = KEY
    assert learn(desk).code == 0
    assert model.paths == ["/v1/messages"]
    assert model.headers[0]["x-api-key"] == KEY
    assert model.headers[0]["anthropic-version"]
    assert texts(desk) == [IDS_TEXT]
    assert desk.told("stats", "--json").json["reader"]["tokens_in"] == 700
    assert all(KEY not in path.read_text(errors="replace") for path in desk.told_home.rglob("*.*l"))


def test_an_endpoint_gets_a_bearer_key(desk: Machine, endpoint: ModelServer) -> None:
    desk.told("config", "set", "reader.key_env", "MY_KEY")
    desk.environ["MY_KEY"] = KEY
    say(desk, IDS)
    assert learn(desk).code == 0
    assert endpoint.headers[0]["authorization"] == f"Bearer {KEY}"
    assert endpoint.paths == ["/v1/chat/completions"]


def test_a_redirect_is_not_followed(desk: Machine, endpoint: ModelServer) -> None:
    endpoint.status, endpoint.location = 302, "http://127.0.0.1:9/elsewhere"
    say(desk, IDS)
    done = learn(desk)
    assert done.code == 3
    assert "redirects (302). Set reader.url to the final address." in done.out
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    ("status", "said"),
    [(401, "set reader.key_env"), (404, "reader.model"), (418, "refuses the request (418)")],
)
def test_a_refusal_says_what_to_do(desk: Machine, endpoint: ModelServer, status: int, said: str) -> None:
    endpoint.status = status
    say(desk, IDS)
    done = learn(desk)
    assert done.code == 3
    assert said in done.out


def test_a_server_that_is_down_leaves_offline_learning(desk: Machine) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    desk.config(f'[reader]\nmode = "endpoint"\nurl = "http://127.0.0.1:{port}/v1"\nmodel = "toy"\n')
    rule = "Never push straight to main, always open a pull request."
    subjects = ("customer", "order", "invoice", "product", "warehouse")  # a repetition confirms a candidate
    for day, subject in enumerate(subjects, 1):
        say(desk, rule, IDS.replace("customer", subject), at=ago(days=day))
    assert desk.told("index").code == 0
    assert texts(desk) == [rule]
    done = learn(desk)
    assert done.code == 3
    assert "1 call failed: 127.0.0.1 does not answer: Connection refused." in done.out
    assert "Connection refused" in desk.told("status").out
    assert desk.told("stats", "--json").json["reader"]["tokens_in"] == 0


def test_a_silent_server_times_out(desk: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_HTTP_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        desk.config(f'[reader]\nmode = "endpoint"\nurl = "http://127.0.0.1:{port}"\nmodel = "toy"\n')
        say(desk, IDS)
        done = learn(desk)
    assert done.code == 3
    assert "1 call failed: 127.0.0.1 does not answer: timed out." in done.out


def test_a_broken_server_is_retried(desk: Machine, endpoint: ModelServer) -> None:
    endpoint.status = 503
    say(desk, IDS)
    assert "it answers with 503" in learn(desk).out
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ('mode = "endpoint"', "reader.url"),
        ('mode = "endpoint"\nurl = "http://127.0.0.1:1/v1"', "reader.model"),
        ('mode = "anthropic"', "reader.model"),
        ('mode = "gguf"', "reader.file"),
        ('mode = "agent"\nagent = "nobody"', "reader.agent must be one of"),
    ],
)
def test_a_missing_setting_is_named(desk: Machine, config: str, said: str) -> None:
    desk.config(f"[reader]\n{config}\n")
    done = learn(desk)
    assert done.code == 2
    assert said in done.err


def test_a_key_goes_to_other_machines_over_https_only(desk: Machine) -> None:
    desk.config(
        '[reader]\nmode = "endpoint"\nurl = "http://models.example/v1"\nmodel = "m"\nkey_env = "MY_KEY"\n'
    )
    desk.environ["MY_KEY"] = KEY
    done = learn(desk)
    assert (done.code, done.err) == (
        2, "told: A key goes to another machine over https:// only: change reader.url.\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("reader.key_env", KEY),
        ("reader.url", f"https://user:{KEY}@host/v1"),
        ("reader.url", "ftp://host"),
        ("reader.mode", "magic"),
        ("reader.file", "model.gguf"),
    ],
)
def test_an_invalid_setting_is_refused_without_repeating_a_key(desk: Machine, name: str, value: str) -> None:
    done = desk.told("config", "set", name, value)
    assert done.code == 2
    assert KEY not in done.err


def test_a_missing_file_or_library_is_named(desk: Machine) -> None:
    desk.config('[reader]\nmode = "gguf"\nfile = "/nowhere/model.gguf"\n')
    done = learn(desk)
    assert (done.code, done.err) == (4, "told: There is no file /nowhere/model.gguf. Check reader.file.\n")
    path = desk.write("model.gguf", b"GGUF")
    desk.config(f'[reader]\nmode = "gguf"\nfile = "{path}"\n')
    say(desk, IDS)
    done = learn(desk)
    assert done.code in (3, 4)  # without xllamacpp, or with it and no real model
