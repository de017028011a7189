"""Which session runs in a folder: commands in an agent's shell find out whose they are."""

from __future__ import annotations

import os
import stat
import time

import pytest

from tests.hook.desk import Desk, begun
from told.hook.current import FILE, running
from told.setup.purge import purge

_SECRET = "ghp_" + "R4nd0mT0kenR4nd0mT0kenR4nd0mT0ken99"


def _start(desk: Desk, session: str, cwd: str = "", agent: str = "claude-code") -> None:
    desk.ask(agent, "start", begun(desk, agent, session) | {"cwd": cwd or desk.project})


def _running(desk: Desk, folder: str = "", agent: str = "claude-code") -> str:
    return running(str(desk.told_home), agent, folder or desk.project)


def test_a_session_that_began_in_a_folder_is_found_there(desk: Desk) -> None:
    _start(desk, "s-1")

    assert _running(desk) == "s-1"


def test_nobody_began_one(desk: Desk) -> None:
    assert _running(desk) == ""
    assert running(str(desk.told_home), "", "") == ""


def test_the_one_that_began_last_is_meant(desk: Desk) -> None:
    _start(desk, "s-1")
    _start(desk, "s-2")
    assert _running(desk) == "s-2"

    _start(desk, "s-1")  # it goes on

    assert _running(desk) == "s-1"


def test_each_agent_has_its_own(desk: Desk) -> None:
    _start(desk, "of-claude")
    _start(desk, "of-codex", agent="codex")

    assert _running(desk) == "of-claude"
    assert _running(desk, agent="codex") == "of-codex"
    assert _running(desk, agent="gemini-cli") == ""
    assert _running(desk, agent="") == "of-codex"


def test_in_a_folder_below_and_above_the_nearest_is_meant(desk: Desk) -> None:
    _start(desk, "whole")
    _start(desk, "part", desk.folder("code/acme-api/services"))

    assert _running(desk, desk.folder("code/acme-api/services/api")) == "part"
    assert _running(desk, desk.folder("code/acme-api/web")) == "whole"
    assert _running(desk, desk.folder("code")) == "whole"
    assert _running(desk) == "whole"


def test_folders_side_by_side_have_nothing_in_common(desk: Desk) -> None:
    _start(desk, "s-1")

    assert _running(desk, desk.folder("code/acme-api-2")) == ""
    assert _running(desk, str(desk.home)) == ""  # everything is below it


def test_a_prompt_notes_nothing(desk: Desk) -> None:
    desk.prompt("Install the dependencies and run the build", session="s-1")

    assert not (desk.told_home / FILE).exists()


def test_a_helper_is_no_session_of_the_folder(desk: Desk) -> None:
    _start(desk, "s-1")
    desk.ask("claude-code", "helper", begun(desk, session="s-helper"))

    assert _running(desk) == "s-1"


def test_the_file_is_private_and_stays_small(desk: Desk) -> None:
    for number in range(130):
        _start(desk, f"s-{number}", desk.project)
    path = desk.told_home / FILE

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(path.read_text().splitlines()) <= 100
    assert _running(desk) == "s-129"


def test_what_tells_a_secret_is_not_noted(desk: Desk) -> None:
    _start(desk, "s-1", desk.folder(f"code/{_SECRET}"))
    _start(desk, _SECRET)

    assert _SECRET.encode() not in desk.every_byte()
    assert _running(desk) not in ("", "s-1", _SECRET)


def test_a_session_of_long_ago_does_not_run(desk: Desk) -> None:
    _start(desk, "s-1")
    path = desk.told_home / FILE
    at = path.read_text().split("\t")[0]
    month = 31 * 86_400_000
    path.write_text(path.read_text().replace(at, str(time.time_ns() // 1_000_000 - month)))

    assert _running(desk) == ""


@pytest.mark.parametrize("torn", ["", "x", "1\t2\n", "a\tb\tc\td\n", "9" * 40 + "\ta\tb\t/\n", "\0" * 50])
def test_a_file_that_is_none_does_no_harm(desk: Desk, torn: str) -> None:
    desk.told_home.mkdir()
    (desk.told_home / FILE).write_text(torn)

    assert _running(desk) == ""
    _start(desk, "s-1")
    assert _running(desk) == "s-1"


def test_where_nothing_can_be_written_a_session_starts_all_the_same(desk: Desk) -> None:
    os.makedirs(desk.told_home / FILE)

    _start(desk, "s-1")

    assert _running(desk) == ""


def test_a_purge_takes_it_away(desk: Desk) -> None:
    _start(desk, "s-1")

    assert purge(str(desk.told_home)) == []  # nothing of it is taken for somebody else's
    assert not desk.told_home.exists()
