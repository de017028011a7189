"""What a run of the real agents says about them, and that it does not take one version for another."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from lab import CannotRunError, lateness, table
from lab.agents import real_agents
from lab.footprint import changed, left_behind, tree
from lab.npm import Program, Shelf
from lab.result import COLUMNS, START, UNINSTALL, WRITTEN, Finding, Row
from told.agents import all_agents
from told.service.state import LATE, count_problem

if TYPE_CHECKING:
    from pathlib import Path

_PAGE = f"# Agents\n\nBefore.\n\n{table.BEGIN}\n\nold\n\n{table.END}\n\nAfter.\n"


def test_every_real_agent_is_one_that_told_knows_and_is_pinned() -> None:
    agents = real_agents()
    assert set(agents) <= set(all_agents())
    assert next(iter(agents)) == "claude-code"
    assert all(one.program.version[0].isdigit() for one in agents.values())


def test_what_an_agent_refuses_is_said_in_a_column_of_the_table() -> None:
    for agent in real_agents().values():
        assert set(agent.refuses) <= set(COLUMNS)


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for npm that installs version 1.0 of whatever is asked for."""
    programs = tmp_path / "path"
    programs.mkdir()
    script = programs / "npm"
    script.write_text(
        '#!/bin/sh\nmkdir -p "$3/node_modules/.bin"\n'
        'printf "#!/bin/sh\\necho 1.0.0 of it\\n" > "$3/node_modules/.bin/thing"\n'
        'chmod +x "$3/node_modules/.bin/thing"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    return tmp_path / "shelf"


def test_the_version_that_was_asked_for_is_installed_once(npm: Path) -> None:
    path = Shelf(str(npm)).installed(Program("thing", "1.0.0", "thing"))
    assert os.path.exists(path)


def test_another_version_than_the_one_asked_for_is_refused(npm: Path) -> None:
    with pytest.raises(CannotRunError, match="newer Node"):
        Shelf(str(npm)).installed(Program("thing", "1.0", "thing"))


def test_a_table_replaces_the_old_one_and_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "agents.md"
    page.write_text(_PAGE)
    table.write("| new |", str(page))
    table.write("| newer |", str(page))
    assert page.read_text() == _PAGE.replace("old", "| newer |")


def test_the_part_that_a_run_wrote_is_kept() -> None:
    assert table.kept(_PAGE) == f"{table.BEGIN}\n\nold\n\n{table.END}"
    assert table.kept("nothing") == f"{table.BEGIN}\n{table.END}"


def test_some_agents_get_their_rows_anew_and_the_rest_stays(tmp_path: Path) -> None:
    page = tmp_path / "agents.md"
    found = dict.fromkeys(COLUMNS, Finding(True))
    rows = [Row("codex", "Codex", "1.2", "It was asked.", found), Row("cline", "Cline", "3", "", found)]
    table.write_rows(rows, str(_written(page, "| old | columns |")))
    assert page.read_text() == _PAGE.replace("old", "| old | columns |")
    _written(page, table.markdown(rows, {}))
    table.write_rows([Row("cline", "Cline", "4", "", found)], str(page))
    assert page.read_text() == _PAGE.replace("old", table.markdown(rows, {}).replace("| 3 |", "| 4 |"))


def _written(page: Path, text: str) -> Path:
    page.write_text(_PAGE.replace("old", text))
    return page


def test_what_is_missing_because_a_hook_gave_up_says_so_and_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "hook.log").write_text('{"hook":["codex","stop"]}\n{"hook":["codex","end"]}\n')
    count_problem(str(tmp_path), "codex", "stop", LATE, "no answer within the limit")
    row = Row("codex", "Codex", "1.2")
    row.findings = dict.fromkeys(COLUMNS, Finding(False, "gone")) | {START: Finding(True)}
    lateness.note(row, str(tmp_path))
    assert row.findings[WRITTEN].text == "**no**: gone (1 of 2 hooks gave up, on a busy machine)"
    assert (row.findings[START].text, row.findings[UNINSTALL].text) == ("yes", "**no**: gone")
    assert not row.works


def test_the_table_says_yes_no_and_what_an_agent_does_not_allow() -> None:
    names = list(COLUMNS)
    found = dict.fromkeys(names, Finding(True))
    found[names[1]] = Finding(False, "it is lost")
    found[names[2]] = Finding(None, "no hook")
    row = Row("codex", "Codex", "1.2", "It was asked.", found)
    told = table.markdown([row], {"cline": Finding(True)})
    assert "| Codex | 1.2 | yes | **no**: it is lost | no hook | yes | yes |" in told
    assert "Told in Codex, briefed in: cline.\nIt was asked." in told
    assert not row.works
    assert "it is lost" in table.plain([row], {})


def test_nothing_of_the_machine_gets_into_the_docs() -> None:
    found = dict.fromkeys(COLUMNS, Finding(False, "no | in /tmp/lab-x/home/.codex/hooks.json\nat all"))
    told = table.markdown([Row("codex", "Codex", "1.2", "", found)], {})
    assert "**no**: no / in hooks.json at all |" in told
    assert "/tmp" not in told


def test_a_tree_shows_every_change(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("same")
    before = tree(str(tmp_path))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "new").write_text("x")
    assert changed(before, tree(str(tmp_path))) == ["folder", "folder/new"]


def test_an_uninstall_that_gives_everything_back_leaves_nothing_behind() -> None:
    before = {"settings": b"{}", "agent": b"1"}
    installed = {"settings": b"{told}", "agent": b"1", "hooks": None, "hooks/told": b"told"}
    used = installed | {"agent": b"2", "sessions": b"what told said"}
    after = {"settings": b"{}", "agent": b"2", "sessions": b"what told said"}
    assert left_behind(before, installed, used, after) == []


def test_what_an_uninstall_leaves_is_named() -> None:
    before = {"settings": b"{}"}
    installed = {"settings": b"{told}", "hooks/told": b"x"}
    assert left_behind(before, installed, installed, installed) == [
        "hooks/told is still there", "settings is not as it was", "settings still names told",
    ]  # fmt: skip


def test_a_file_that_the_agent_wrote_meanwhile_only_has_to_be_free_of_told() -> None:
    before = {"settings": b"{}"}
    installed = {"settings": b"{told}"}
    used = {"settings": b"{told, more}"}
    assert left_behind(before, installed, used, {"settings": b"{more}"}) == []
    assert left_behind(before, installed, used, {"settings": b"{told, more}"}) == [
        "settings still names told"
    ]
