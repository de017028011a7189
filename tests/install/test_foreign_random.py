"""Documents that nobody thought of: the same value plus told's entry, and back to the byte."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.install.foreign_files import changes, plain, said, with_change
from tests.soak import points
from told.agents.wiring import Block, Entry
from told.errors import UsageError
from told.install import foreign
from told.install.ledger import Ledger

if TYPE_CHECKING:
    from typing import Any

RUNS = settings(
    max_examples=points(everyday=15, soak=2000), deadline=None, suppress_health_check=list(HealthCheck)
)
NAMES = st.sampled_from(["hooks", "Stop", "mcpServers", "plugin", "a", "b.c", "", 'q"\\/', "é🎉"])
GAP = st.lists(
    st.sampled_from([" ", "\n", "\r\n", "\t", '// c " {[,\n', "/* , } */", "/**/", "  "]), max_size=3
).map("".join)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=6),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=10,
)


@pytest.fixture(autouse=True)
def quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@st.composite
def jsonc(draw: st.DrawFn) -> str:
    def written(value: object) -> str:
        if not isinstance(value, (dict, list)):
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
        marks = "{}" if isinstance(value, dict) else "[]"
        parts = [
            f"{json.dumps(key)}{draw(GAP)}:{draw(GAP)}{written(inner)}" for key, inner in value.items()
        ] if isinstance(value, dict) else [written(inner) for inner in value]  # fmt: skip
        body = ",".join(f"{draw(GAP)}{part}{draw(GAP)}" for part in parts)
        comma = "," if parts and bool(draw(st.booleans())) else ""
        return f"{marks[0]}{body}{comma}{draw(GAP)}{marks[1]}"

    mark = draw(st.sampled_from(["", "\ufeff"]))
    return mark + draw(GAP) + written(draw(st.dictionaries(NAMES, VALUES, max_size=4))) + draw(GAP)


TOML_PARTS = st.sampled_from(
    [
        "a = 1", "b.c = 'x'  # y", '"q\\"\\u00e9" = """\n[hooks]\n"""', "l = [1, [2,], # c\n 3]", "",
        "# told", "hooks = { Stop = [] }", "plugin = [ ]", "plugin = ['x',\n\t'y', ]", "[hooks]",
        "[ features ]",
        "[[hooks.Stop]]", "[[hooks.Stop.hooks]]", "[mcp_servers.x]", "mcp_servers = {}", "[mcp_servers]",
        "x = '''a''''", "d = 1979-05-27 07:32:00", "f = 1e5", "[a-b.\"c d\".'e']", "hooks.on = true",
        "features.on = {a=1}", "t = true", "[hooks.state]", '[hooks.state."/x:y"]', "  ", '\ty = "\\\\"',
    ]
)  # fmt: skip
TOML = st.builds(
    lambda parts, newline, end, mark: (
        mark + newline.join(parts).replace("\r\n", "\n").replace("\n", newline) + end
    ),
    st.lists(TOML_PARTS, max_size=9),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\n", "\n\n"]),
    st.sampled_from(["", "\ufeff"]),
)


def there_and_back(name: str, text: str) -> None:
    raw = text.encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(raw)
        ledger = Ledger(folder + "/told")
        value = plain(said(name, raw))
        wanted: list[Entry] = []
        for change in changes(str(path)):
            with contextlib.suppress(UsageError):
                if foreign.change_state(change) == "missing" and foreign.apply_change(
                    change, ledger, "agent user"
                ):
                    assert isinstance(change, Entry)
                    value = with_change(value, change)
                    wanted.append(change)
            assert plain(said(name, path.read_bytes())) == value
        assert not any(foreign.apply_change(change, ledger, "agent user") for change in wanted)
        with_told = path.read_bytes()
        foreign.undo_changes(ledger)
        assert path.read_bytes() == raw
        # Without the ledger only the meaning is known: what was empty may be away.
        path.write_bytes(with_told)
        value = plain(said(name, raw))
        for change in wanted:
            if change.keys in (("features", "hooks"), ("telling",)):  # it may be the user's own
                value = with_change(value, change)
                continue
            assert foreign.remove_change(change).state == "removed"
            said(name, path.read_bytes())
        assert filled(plain(said(name, path.read_bytes()))) == filled(value)


def filled(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: kept for key, inner in value.items() if (kept := filled(inner)) not in ({}, [])}


@RUNS
@given(jsonc())
def test_any_json_with_comments_comes_back(text: str) -> None:
    there_and_back("settings.json", text)


@RUNS
@given(TOML)
def test_any_toml_comes_back(text: str) -> None:
    try:
        tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        assume(False)
    there_and_back("config.toml", text)


@RUNS
@given(
    st.text(st.sampled_from("ab#<!- \n\r\té🎉"), max_size=40),
    st.text(st.sampled_from("ab# \n>"), max_size=20),
)
def test_any_markdown_comes_back(text: str, paragraph: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "AGENTS.md"
        path.write_bytes(text.encode())
        ledger = Ledger(folder + "/told")
        block = Block(str(path), paragraph)
        assert foreign.apply_change(block, ledger, "agent user")
        assert foreign.change_state(block) == "there"
        assert not foreign.apply_change(block, ledger, "agent user")
        foreign.undo_changes(ledger)
        assert path.read_bytes() == text.encode()


@RUNS
@given(st.text(st.sampled_from('{}[],:"\\/*ab1 \n'), max_size=25))
def test_what_is_no_json_is_refused_and_not_touched(text: str) -> None:
    try:
        said("x.json", text.encode())
    except ValueError:
        pass
    else:
        assume(False)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "settings.json"
        path.write_bytes(text.encode())
        with pytest.raises(UsageError, match=r"settings\.json is not valid at line "):
            foreign.apply_change(changes(str(path))[0], Ledger(folder + "/told"), "agent user")
        assert path.read_bytes() == text.encode()
