"""Which session runs in a folder: commands in an agent's shell find out whose they are."""

from __future__ import annotations

import os
import stat
import time

import pytest

from tests.hook.desk import Desk, begun
from told.install.place import delete_home
from told.memories.session_notes import CURRENT, find_running_session

_SECRET = "ghp_" + "R4nd0mT0kenR4nd0mT0kenR4nd0mT0ken99"


def _start(desk: Desk, session: str, cwd: str = "", agent: str = "claude-code") -> None:
    desk.ask(agent, "start", begun(desk, agent, session) | {"cwd": cwd or desk.project})


def _running(desk: Desk, folder: str = "", agent: str = "claude-code") -> str:
    return find_running_session(str(desk.told_home), agent, folder or desk.project, str(desk.home))


def test_finds_session_in_its_folder(desk: Desk) -> None:
    _start(desk, "s-1")

    assert _running(desk) == "s-1"


def test_finds_no_session_before_a_start(desk: Desk) -> None:
    assert _running(desk) == ""
    assert find_running_session(str(desk.told_home), "", "") == ""


def test_finds_the_latest_session(desk: Desk) -> None:
    _start(desk, "s-1")
    _start(desk, "s-2")
    assert _running(desk) == "s-2"

    _start(desk, "s-1")  # it goes on

    assert _running(desk) == "s-1"


def test_finds_sessions_by_agent(desk: Desk) -> None:
    _start(desk, "of-claude")
    _start(desk, "of-codex", agent="codex")

    assert _running(desk) == "of-claude"
    assert _running(desk, agent="codex") == "of-codex"
    assert _running(desk, agent="gemini-cli") == ""
    assert _running(desk, agent="") == "of-codex"


def test_finds_the_nearest_folder_above_or_below(desk: Desk) -> None:
    _start(desk, "whole")
    _start(desk, "part", desk.folder("code/acme-api/services"))

    assert _running(desk, desk.folder("code/acme-api/services/api")) == "part"
    assert _running(desk, desk.folder("code/acme-api/web")) == "whole"
    assert _running(desk, desk.folder("code")) == "whole"
    assert _running(desk) == "whole"


def test_sibling_folders_share_no_session(desk: Desk) -> None:
    _start(desk, "s-1")

    assert _running(desk, desk.folder("code/acme-api-2")) == ""
    assert _running(desk, str(desk.home)) == ""  # everything is below it


def test_prompt_does_not_note_a_session(desk: Desk) -> None:
    desk.prompt("Install the dependencies and run the build", session="s-1")

    assert not (desk.told_home / CURRENT).exists()


def test_subagent_is_not_noted_as_a_session(desk: Desk) -> None:
    _start(desk, "s-1")
    desk.ask("claude-code", "helper", begun(desk, session="s-helper"))

    assert _running(desk) == "s-1"


def test_session_table_is_private_and_bounded(desk: Desk) -> None:
    for number in range(130):
        _start(desk, f"s-{number}", desk.project)
    path = desk.told_home / CURRENT

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(path.read_text().splitlines()) <= 100
    assert _running(desk) == "s-129"


def test_folder_with_a_secret_is_not_noted(desk: Desk) -> None:
    _start(desk, "s-1", desk.folder(f"code/{_SECRET}"))
    _start(desk, _SECRET)

    assert _SECRET.encode() not in desk.every_byte()
    assert _running(desk) not in ("", "s-1", _SECRET)


def test_old_session_is_not_running(desk: Desk) -> None:
    _start(desk, "s-1")
    path = desk.told_home / CURRENT
    at = path.read_text().split("\t")[0]
    month = 31 * 86_400_000
    path.write_text(path.read_text().replace(at, str(time.time_ns() // 1_000_000 - month)))

    assert _running(desk) == ""


@pytest.mark.parametrize("torn", ["", "x", "1\t2\n", "a\tb\tc\td\n", "9" * 40 + "\ta\tb\t/\n", "\0" * 50])
def test_damaged_session_table_is_ignored(desk: Desk, torn: str) -> None:
    desk.told_home.mkdir()
    (desk.told_home / CURRENT).write_text(torn)

    assert _running(desk) == ""
    _start(desk, "s-1")
    assert _running(desk) == "s-1"


def test_session_starts_if_the_table_cannot_be_written(desk: Desk) -> None:
    os.makedirs(desk.told_home / CURRENT)

    _start(desk, "s-1")

    assert _running(desk) == ""


def test_purge_deletes_the_session_table(desk: Desk) -> None:
    _start(desk, "s-1")

    assert delete_home(str(desk.told_home)) == []  # nothing of it is taken for somebody else's
    assert not desk.told_home.exists()
