"""What no prompt may leave behind: secrets, private parts, and anything at all where learning is off."""

from __future__ import annotations

import json
import os
import stat

import pytest

from tests.hook.desk import ASKED, TAUGHT, Desk, begun, said_to_model, typed
from tests.soak import sampled

# Made up, in the forms of the real ones.
_SECRETS = (
    "ghp_" + "1a2B3c4D5e6F7g8H9i0JkLmNoPqRsTuVwXyZ",
    "sk-ant-api03-" + "Zq8Lw2Xk9Vb4Nm7Tr1Yp5Hc3Jd6Fg0Sa" * 2,
    "AKIA" + "Q3EGRIUZ7XHNW4ZB",
    "hunter2-Tr0ub4dor&3",
)
_PROMPT = (
    f"No, never commit the token {_SECRETS[0]} again, always use the vault. The API key is"
    f" {_SECRETS[1]}, AWS is {_SECRETS[2]}, and the password={_SECRETS[3]}."
)
_EVENTS = ("start", "prompt", "compact", "compacted", "stop", "end", "helper", "tool")


@pytest.mark.parametrize("debug", sampled(["", "1"], ["1"]))
def test_secret_in_a_prompt_is_not_stored(desk: Desk, debug: str) -> None:
    for agent in ("claude-code", "copilot-cli"):
        for event in _EVENTS:
            payload = typed(desk, _PROMPT, agent) | {"tool_input": {"command": f"curl -u me:{_SECRETS[3]} x"}}
            desk.ask(agent, event, payload)
    for event in ("prompt", "tool", "stop"):
        payload = typed(desk, _PROMPT, session="two") | {"tool_input": {"command": f"echo {_SECRETS[0]}"}}
        assert desk.call("claude-code", event, payload, TOLD_DEBUG=debug).code == 0
    assert any("vault" in text for text in desk.texts())
    found = desk.every_byte()
    for secret in _SECRETS:
        assert secret.encode() not in found
    assert (b"hook.log" in found) is bool(debug)


def test_secret_in_a_command_is_not_stored(desk: Desk) -> None:
    for name in ("remember", "lock"):
        desk.prompt(f"/mem:{name} The deploy token is {_SECRETS[0]}.", TOLD_DEBUG="1")
    said = desk.prompt(f"/mem:correct deploy -> The deploy token is now {_SECRETS[2]}.", TOLD_DEBUG="1")
    assert not any(secret in said for secret in _SECRETS)
    assert desk.texts()
    found = desk.every_byte()
    assert not any(secret.encode() in found for secret in _SECRETS)


def test_private_part_is_not_stored(desk: Desk) -> None:
    text = "Always use tabs here. <private>We always use the client name Zephyrine Corp.</private>"
    desk.prompt(text, TOLD_DEBUG="1")
    said = desk.call("claude-code", "prompt", typed(desk, text, session="two"), TOLD_DEBUG="1")
    assert (said.code, said.err) == (0, "")
    assert any("tabs" in one for one in desk.texts())
    assert b"Zephyrine" not in desk.every_byte()


def test_unclosed_private_part_reaches_to_the_end(desk: Desk) -> None:
    desk.prompt(
        "Always use tabs here. <private> We always use the client name Zephyrine Corp.", TOLD_DEBUG="1"
    )
    assert b"Zephyrine" not in desk.every_byte()


@pytest.mark.parametrize("config", ["learn = false\n", "background = false\nlearn = false\n"])
def test_prompt_is_only_answered_with_learning_off(desk: Desk, config: str) -> None:
    assert desk.told("remember", "--scope", "global", "We use pnpm here, never npm.").code == 0
    desk.config(config)
    assert "pnpm" in desk.prompt(ASKED)
    desk.prompt("Always use tabs for indentation.")
    desk.ask("claude-code", "stop", begun(desk))
    assert len(desk.texts()) == 1


def test_variable_turns_learning_off(desk: Desk) -> None:
    desk.prompt(TAUGHT, TOLD_LEARN="off")
    assert desk.call("claude-code", "prompt", typed(desk, TAUGHT), TOLD_LEARN="off").is_silent
    assert desk.texts() == []
    desk.prompt(TAUGHT)
    assert len(desk.texts()) == 1


def test_commands_work_with_learning_off(desk: Desk) -> None:
    desk.prompt("/mem:remember Always use tabs for indentation.", TOLD_LEARN="off")
    assert desk.texts() == ["Always use tabs for indentation."]


@pytest.mark.parametrize(
    "config", ["learn = \n", "= false [[[", "learn = 'false'\n", "unknown = false\n", "\x00\xff"]
)
def test_broken_config_gets_no_output(desk: Desk, config: str) -> None:
    desk.prompt(TAUGHT, session="elsewhere")
    desk.config(config)
    for event in ("start", "prompt", "stop", "tool"):
        payload = typed(desk, TAUGHT, session=event) | {"tool_input": {"command": "npm i"}}
        said = desk.hurried("claude-code", event, payload)
        assert (said.code, said.err) == (0, "")
        assert not said.out or said_to_model(said.json)


def test_files_of_hooks_are_private(desk: Desk) -> None:
    desk.environ["TOLD_DEBUG"] = "1"
    desk.prompt(TAUGHT, session="elsewhere")
    desk.prompt(ASKED)
    for event in _EVENTS:
        assert desk.call("claude-code", event, begun(desk)).code == 0
    for folder, folders, names in os.walk(desk.told_home):
        for name in (*folders, *names):
            mode = stat.S_IMODE(os.lstat(os.path.join(folder, name)).st_mode)
            assert mode & 0o077 == 0, (name, oct(mode))


@pytest.mark.soak
@pytest.mark.parametrize("longest", [20_000, 32_000])
def test_secret_at_the_length_limit_is_not_stored(desk: Desk, longest: int) -> None:
    """A long text is cut somewhere; what is left of a secret there must not be taken for harmless."""
    filler = "Always ask the vault first, never the wiki. " + "It is slow but sound. " * 2000
    around = len(json.dumps(typed(desk, "")))
    for number in range(14):
        cut = longest - around - 20 + 30 * number if longest == 20_000 else longest - 20 - 2 * number
        text = f"{filler[:cut]} {_SECRETS[0]} and {_SECRETS[0]} and {_SECRETS[0]} is it."
        payload = typed(desk, text, session=f"s{number}")
        assert desk.call("claude-code", "prompt", payload, TOLD_DEBUG="1").code == 0
    found = desk.every_byte()
    assert b"hook.log" in found
    assert _SECRETS[0][:20].encode() not in found
