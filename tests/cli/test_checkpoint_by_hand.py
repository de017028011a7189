"""Whatever somebody does to the files of checkpoints by hand, the next command knows."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.machine import NOW
from tests.cli.test_checkpoint_command import project

if TYPE_CHECKING:
    from tests.cli.machine import Machine

__all__ = ["project"]


def test_a_query_from_anywhere_sees_what_was_edited_by_hand(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, other = (machine.repo(f"code/{name}", f"git@github.com:acme/{name}.git") for name in ("a", "b"))
    monkeypatch.chdir(other)
    machine.told("checkpoint", "Something else")
    monkeypatch.chdir(shop)
    made = machine.told("checkpoint", "OAuth", "--json").json
    path = Path(made["path"])
    home = str(machine.home)
    for number, (folder, words) in enumerate((
        (home, ("checkpoints",)),
        (home, ("search", "OAuth")),
        (other, ("checkpoints", "--all-projects")),
        (other, ("checkpoints", "--project", "acme/a")),
        (other, ("search", "OAuth", "--project", "acme/a")),
        (other, ("show", made["id"])),
        (other, ("timeline", "--around", made["id"])),
        (other, ("checkpoints", "export", made["id"])),
    )):  # fmt: skip
        monkeypatch.chdir(folder)
        path.write_text(re.sub(r"OAuth\d*", f"OAuth{number}", path.read_text()))
        assert f"OAuth{number}" in machine.told(*words).out.replace("*", ""), words
    monkeypatch.chdir(other)
    path.unlink()
    assert "OAuth" not in machine.told("checkpoints", "--all-projects").out


@pytest.mark.usefixtures("project")
def test_an_empty_file_is_listed_as_that_and_never_offered(machine: Machine) -> None:
    made = machine.told("checkpoint", "OAuth", "--json").json
    Path(made["path"]).with_name("new.md").write_text("")
    assert " open (empty)\n" in machine.told("checkpoints").out
    assert made["id"] in machine.told("brief").out


@pytest.mark.usefixtures("project")
def test_a_file_with_nothing_but_a_list_says_what_is_next(machine: Machine) -> None:
    made = machine.told("checkpoint", "OAuth", "--json").json
    path = Path(made["path"]).with_name("list.md")
    path.write_text("## Pending\n\n- [ ] Buy milk\n")
    later = NOW.timestamp() + 60  # the time of the file counts
    os.utime(path, (later, later))
    assert ">Next: Buy milk</agent" in machine.told("brief").out


def test_a_rebuild_counts_what_it_brought_back(machine: Machine) -> None:
    path = Path(machine.told("checkpoint", "OAuth", "--json").json["path"])
    path.with_name("broken.md").write_bytes(b"\xff\xfe\x00\x01")
    path.with_name("mine.md").write_text("A note of my own")
    assert machine.told("rebuild").out == "Imported 0 changed files. 0 sessions and 2 checkpoints in total.\n"


def test_a_rebuild_that_may_not_write_says_so_and_loses_nothing(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.told("checkpoint", "OAuth")
    remove = os.remove

    def refused(path: str) -> None:
        if str(path).endswith(".db"):
            raise PermissionError(13, "Permission denied", path)
        remove(path)

    monkeypatch.setattr("told.store.database.os.remove", refused)
    answer = machine.told("rebuild")
    assert (answer.code, answer.out) == (4, "")
    assert answer.err.startswith("told: told cannot remove ")
    assert answer.err.endswith("sessions.db (permission denied). Check its permissions.\n")
    assert "OAuth" in machine.told("checkpoints").out


def test_what_a_project_wrote_before_it_kept_its_own_is_still_seen(
    machine: Machine, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    path = Path(machine.told("checkpoint", "OAuth", "--json").json["path"])
    assert machine.told("init").code == 0
    assert machine.told("checkpoint", "Something new").code == 0
    path.write_text(path.read_text().replace("OAuth", "Passkeys"))
    assert "Passkeys" in machine.told("search", "Passkeys").out.replace("*", "")


def test_the_first_search_after_the_databases_are_lost_finds_them(
    machine: Machine, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    machine.claude(("Move the login to OAuth", "It uses OAuth now."), cwd=project)
    elsewhere = machine.repo("code/other", "git@github.com:acme/other.git")
    assert machine.told("checkpoint", "Zebras").code == 0
    for path in machine.told_home.glob("*.db*"):
        path.unlink()
    monkeypatch.chdir(elsewhere)
    machine.claude(("Paint the fence", "It is painted."), cwd=elsewhere)
    assert "Zebras" in machine.told("search", "zebras").out.replace("*", "")
