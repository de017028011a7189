"""Arguments that are not UTF-8 get an answer or one sentence."""

from __future__ import annotations

import os

import pytest

from tests.cli.machine import Machine
from tests.soak import thinned
from told.cli.arguments import all_commands

# As Python decodes bytes that are not UTF-8, and what can only come from a program.
INVALID = (os.fsdecode(b"\xff\xfe"), os.fsdecode(b"deploy caf\xe9 now"), "\ud800 deploy")
_TEXT_COMMANDS = [
    one.name for one in all_commands() if one.operand and not one.name.startswith(("install", "mcp"))
]


@pytest.mark.parametrize("name", thinned(_TEXT_COMMANDS, 4))
def test_a_command_takes_any_bytes(shop: Machine, name: str) -> None:
    for text in INVALID:
        done = shop.told(name, text)
        assert "bug" not in done.err, done
        assert done.code in (0, 1, 2, 3, 4), done
        assert len(done.err.splitlines()) <= 12


@pytest.mark.parametrize("option", ["--prompt", "--project", "--agent", "--since", "--session"])
def test_an_option_takes_any_bytes(shop: Machine, option: str) -> None:
    for text in INVALID:
        for name in ("brief", "list", "memories"):
            assert "bug" not in shop.told(name, option, text).err


def test_words_around_invalid_bytes_are_found(shop: Machine) -> None:
    assert shop.told("remember", os.fsdecode(b"Deploy with caf\xe9 on port 8080")).code == 0
    assert "port 8080" in shop.told("search", os.fsdecode(b"\xff port 8080")).out
