"""What the run of the real MCP clients asks of each, and what it says about them."""

from __future__ import annotations

import contextlib
import gc
import io
import os
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from lab import CannotRunError
from lab.clients import calls, checks, packages
from lab.clients.past import Past, lived_through
from lab.clients.talk import INITIALIZE, STATELESS, WORD, Call, Client, Heard, Outcome, Server, heard
from lab.machine import Machine, Said
from lab.npm import Program, Shelf
from tests.soak import sampled
from told.cli.main import main
from told.mcp.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

_TOOLS = {tool.name: tool.schema for tool in TOOLS}
_PAST = Past("mkept", "mold", "munwanted", "ssession")
_SERVER = Server("told", ("mcp",), {}, "/code/acme-api")
_GROUPS = ("called properly", "with nothing", "with wrong types", "with 1 MB")


def _client(outcome: Callable[[Call, Server], Outcome], era: str = INITIALIZE, **more: Any) -> Client:
    def talk(server: Server, made: Sequence[Call]) -> Heard:
        usual: dict[str, Any] = {
            "revision": STATELESS if era == STATELESS else "2025-11-25", "instructions": "Search first.",
            "tools": _TOOLS, "resources": ["told://brief"], "prompts": ["recall"],
            "texts": {"told://brief": "pnpm", "recall": "Search."},
        }  # fmt: skip
        return Heard(**(usual | more), outcomes=[outcome(call, server) for call in made])

    return Client("a client", "1.0", era, talk)


def _as_it_should(call: Call, server: Server) -> Outcome:
    given = call.arguments or {}
    schema = _TOOLS[call.tool]
    wrong = (
        isinstance(one, dict)
        or (schema["properties"].get(name, {}).get("type") == "array" and not isinstance(one, list))
        for name, one in given.items()
    )
    if any(name not in given for name in schema.get("required", ())) or any(wrong):
        return Outcome("`query` must be a text.", is_error=True)
    there = "acme-api" in (given.get("project") or "/".join(server.roots))
    return Outcome(f"1 session, {'acme-api' if there else 'all projects'}\n{WORD}")


def test_every_tool_is_called_in_every_way() -> None:
    for made in (
        calls.proper(_PAST), calls.with_nothing(_TOOLS), calls.with_wrong_types(_TOOLS),
        calls.with_a_megabyte(_TOOLS, _PAST),
    ):  # fmt: skip
        assert [call.tool for call in made] == list(calls.NAMES)


def test_a_megabyte_is_one_and_stands_where_text_is_wanted() -> None:
    for call in calls.with_a_megabyte(_TOOLS, _PAST):
        given, schema = dict(call.arguments or {}), _TOOLS[call.tool]
        if call.tool == "remember":
            (given,), schema = given["items"], schema["properties"]["items"]["items"]
        long = [name for name, one in given.items() if one in (calls.MEGABYTE, [calls.MEGABYTE])]
        (kind,) = (schema["properties"][name] for name in long)
        assert "string" in (kind["type"], kind.get("items", {}).get("type"))
    assert len(calls.MEGABYTE) == 1024 * 1024


def test_a_server_that_does_all_of_it_passes() -> None:
    found = checks.found_by(_client(_as_it_should), _SERVER, _PAST, _TOOLS)
    assert all(one.works for one in found.values()), found
    assert set(_GROUPS) < set(found)


@pytest.mark.parametrize(
    ("outcome", "failed"),
    [
        (Outcome(failure="connection closed"), {*_GROUPS, "goes on"}),
        (Outcome("", is_error=True), {*_GROUPS, "goes on"}),
        (Outcome("Traceback (most recent call last)", is_error=True), {*_GROUPS, "goes on"}),
        (Outcome("It is wrong.", is_error=True), {"called properly", "with nothing", "goes on"}),
        (Outcome(WORD), {"with nothing", "with wrong types"}),
        (Outcome(WORD * 10_000), set(_GROUPS)),
    ],
)
def test_a_server_that_does_not_fails(outcome: Outcome, failed: set[str]) -> None:
    found = checks.found_by(_client(lambda call, server: outcome), _SERVER, _PAST, _TOOLS)
    assert {name for name, one in found.items() if not one.works} == failed


@pytest.mark.parametrize(
    ("more", "failed"),
    [
        ({"tools": {}}, {"tools"}),
        ({"resources": []}, {"resources"}),
        ({"texts": {"told://brief": "pnpm"}}, {"prompts"}),
        ({"instructions": ""}, {"connects"}),
        ({"revision": STATELESS}, {"connects"}),
    ],
)
def test_what_is_not_listed_is_named(more: dict[str, Any], failed: set[str]) -> None:
    found = checks.found_by(_client(_as_it_should, **more), _SERVER, _PAST, _TOOLS)
    assert {name for name, one in found.items() if not one.works} == failed


def test_a_client_that_cannot_connect_says_why() -> None:
    client = Client("a client", "1.0", INITIALIZE, lambda server, made: Heard(failure="no such command"))
    found = checks.found_by(client, _SERVER, _PAST, _TOOLS)
    assert found["connects"].text == "**no**: no such command"


def test_in_a_wrong_folder_the_project_has_to_be_found_and_not_everything() -> None:
    found = checks.elsewhere(_client(_as_it_should), _SERVER, "/elsewhere", "/code/acme-api")
    assert [one.works for one in found.values()] == [True, True]
    lost = _client(lambda call, server: Outcome("1 session, all projects\nacme-api"))
    found = checks.elsewhere(lost, _SERVER, "/elsewhere", "/code/acme-api")
    assert [one.works for one in found.values()] == [False, False]


def test_what_a_client_of_another_language_wrote_down_is_read() -> None:
    said = {"revision": "2025-11-25", "outcomes": [{"text": "x", "is_error": True}, {"failure": "gone"}]}
    assert heard(said).outcomes == [Outcome("x", is_error=True), Outcome(failure="gone")]


class Quick(Machine):
    """The same machine, with told in this process: starting Python is slow."""

    def told(self, *words: str, more: Mapping[str, str] | None = None) -> Said:
        out, err = io.StringIO(), io.StringIO()
        with (
            mock.patch.object(os, "nice", create=True),  # it would last beyond this test
            contextlib.chdir(self.project),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = main(words, self.environ({"TOLD_BACKGROUND": "off", **(more or {})}))
        gc.enable()  # a command does without
        return Said(code, out.getvalue(), err.getvalue())


@pytest.mark.parametrize("kind", sampled((Quick, Machine), (Quick,)))
def test_the_invented_machine_has_a_past_to_ask_for(tmp_path: Path, kind: type[Machine]) -> None:
    machine = kind(str(tmp_path / "machine"))
    past = lived_through(machine)
    assert WORD in machine.told("show", past.kept).out
    assert "README" in machine.told("show", past.session, "--full").out


def test_a_library_of_another_version_is_refused(tmp_path: Path) -> None:
    program = Program("@a/b", "1.0", "node")
    folder = tmp_path / "a-b-1.0" / "node_modules" / "@a" / "b"
    folder.mkdir(parents=True)
    manifest = folder / "package.json"
    manifest.write_text('{"version": "1.0"}')
    assert packages.library(Shelf(str(tmp_path)), program) == os.path.join(str(tmp_path), "a-b-1.0")
    manifest.write_text('{"version": "2.0"}')
    with pytest.raises(CannotRunError, match=r"holds 2\.0 and not 1\.0"):
        packages.library(Shelf(str(tmp_path)), program)
