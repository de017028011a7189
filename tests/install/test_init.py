"""`told init`: a project keeps its own memories, and they go where its folder goes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import machine as machine  # noqa: PLC0414 - the fixture
from tests.cli.machine import Machine, remember
from told.install.project import restore_gitignore
from told.journal.registry import read_registry

if TYPE_CHECKING:
    from collections.abc import Iterator

REMOTE = "git@github.com:acme/shop.git"


@pytest.fixture
def shop(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = machine.repo("shop", REMOTE)
    monkeypatch.chdir(root)
    return Path(root)


@pytest.fixture
def other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Machine:
    """A colleague's machine, or the user's next one."""
    (tmp_path / "other").mkdir()
    return Machine(tmp_path / "other", capsys)


def texts(machine: Machine, *words: str) -> list[str]:
    return sorted(one["text"] for one in machine.told("memories", "--json", *words).json["memories"])


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def status(root: Path) -> str:
    environ = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "HOME": str(root)}
    done = subprocess.run(
        ["git", "-C", str(root), "status", "--porcelain", "--untracked-files=all"],
        env=environ, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def test_a_project_keeps_its_memories_in_its_own_folder(machine: Machine, shop: Path) -> None:
    answer = machine.told("init")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == (
        f"acme/shop now keeps its own memories in {shop}/.told.\nAdded .told/ to its .gitignore.\n"
    )
    remember(machine, "Use pnpm here.")
    assert b"Use pnpm here." in everything(shop / ".told")
    assert b"Use pnpm here." not in everything(machine.told_home / "journal")
    assert texts(machine) == ["Use pnpm here."]
    assert "Use pnpm here." in machine.told("brief").out
    assert status(shop) == "?? .gitignore\n"
    modes = {path.stat().st_mode & 0o777 for path in (shop / ".told").rglob("*") if path.is_file()}
    assert modes == {0o600}
    assert {path.stat().st_mode & 0o777 for path in (shop / ".told", shop / ".told/journal")} == {0o700}
    assert (machine.told_home / "registry").stat().st_mode & 0o777 == 0o600


def test_it_is_found_from_any_sub_folder_also_without_git(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Path(machine.folder("plain/src/deep"))
    assert machine.told("init", str(machine.home / "plain")).code == 0
    monkeypatch.chdir(plain)
    remember(machine, "Use make here.")
    assert b"Use make here." in everything(machine.home / "plain" / ".told")
    monkeypatch.chdir(machine.home / "plain")
    assert texts(machine) == ["Use make here."]
    monkeypatch.chdir(plain)
    assert machine.told("init", "--json").json["root"] == str(machine.home / "plain")
    assert machine.told("rebuild").code == 0
    assert texts(machine) == ["Use make here."]


def test_twice_is_as_once(machine: Machine, shop: Path) -> None:
    machine.told("init")
    remember(machine, "Use pnpm here.")
    before = everything(shop), (machine.told_home / "registry").read_bytes()
    for _ in range(2):
        answer = machine.told("init", "--json")
        assert answer.json == {
            "project": "acme/shop", "root": str(shop), "store": f"{shop}/.told", "new": False,
            "gitignore": "already", "memories": {"yours": 1, "others": 0},
        }  # fmt: skip
    assert (everything(shop), (machine.told_home / "registry").read_bytes()) == before
    assert machine.told("init").out.startswith("acme/shop already keeps")


def test_what_was_known_before_stays_and_is_still_known(machine: Machine, shop: Path) -> None:
    remember(machine, "Use npm here.")
    machine.told("init")
    remember(machine, "The port is 8080.")
    assert texts(machine) == ["The port is 8080.", "Use npm here."]
    machine.told("rebuild")
    assert texts(machine) == ["The port is 8080.", "Use npm here."]
    assert b"Use npm here." not in everything(shop / ".told")


@pytest.mark.parametrize(
    "content",
    [
        None, b"", b"node_modules\n", b"node_modules", b"a\r\nb\r\n", b"a\r\nb", b"# caf\xe9\n*.log\n",
        b"\xef\xbb\xbf*.log\n", b"!.told/keep\n", b"*.log\n\n\n", b"  .told x\n",
    ],
)  # fmt: skip
def test_gitignore_gets_one_line_and_gives_it_back_to_the_byte(
    machine: Machine, shop: Path, content: bytes | None
) -> None:
    file = shop / ".gitignore"
    if content is not None:
        file.write_bytes(content)
        file.chmod(0o640)
    for _ in range(3):
        machine.told("init")
    remember(machine, "Use pnpm here.")
    after = file.read_bytes()
    assert after.splitlines().count(b".told/") == 1
    assert content is None or (after.startswith(content) and file.stat().st_mode & 0o777 == 0o640)
    assert (b"\n" in after.replace(b"\r\n", b"")) == (b"\r\n" not in after)
    assert ".told/" not in status(shop)
    assert restore_gitignore(str(machine.told_home), str(shop))
    assert (file.read_bytes() if file.exists() else None) == content
    assert ".told/journal" not in status(shop)  # what stays there is not committed by mistake
    assert not restore_gitignore(str(machine.told_home), str(shop))
    assert texts(machine) == ["Use pnpm here."]
    machine.told("init")
    assert ".told/" not in status(shop)


def test_lines_that_came_later_stay_when_told_goes(machine: Machine, shop: Path) -> None:
    (shop / ".gitignore").write_bytes(b"a")
    machine.told("init")
    with (shop / ".gitignore").open("ab") as file:
        file.write(b"\nlater\n")
    restore_gitignore(str(machine.told_home), str(shop), purge=True)
    assert (shop / ".gitignore").read_bytes() == b"a\nlater\n"
    assert not (shop / ".told").exists()
    assert read_registry(str(machine.told_home)) == []


@pytest.mark.parametrize("line", [".told", ".told/", "/.told/", ".*", "**/.told"])
def test_what_is_ignored_already_is_left_alone(machine: Machine, shop: Path, line: str) -> None:
    (shop / ".gitignore").write_text(f"{line}\n")
    assert machine.told("init", "--json").json["gitignore"] == "already"
    assert (shop / ".gitignore").read_text() == f"{line}\n"
    assert not restore_gitignore(str(machine.told_home), str(shop))
    assert (shop / ".gitignore").read_text() == f"{line}\n"


def test_a_gitignore_that_is_a_link_is_left_to_the_user(machine: Machine, shop: Path) -> None:
    target = machine.write("dotfiles/ignore", "*.log\n")
    (shop / ".gitignore").symlink_to(target)
    answer = machine.told("init")
    assert answer.code == 0
    assert "add .told/ to it" in answer.out
    assert target.read_text() == "*.log\n"


def test_a_worktree_and_its_repository_are_one_project(
    machine: Machine, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull}
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["commit", "-q", "--allow-empty", "-m", "x"], ["worktree", "add", "-q", "../side"]):
        subprocess.run(["git", "-C", str(shop), *author, *words], check=True, env=environ)
    monkeypatch.chdir(shop.parent / "side")
    assert machine.told("init", "--json").json["root"] == str(shop)
    remember(machine, "Use pnpm here.")
    assert b"Use pnpm here." in everything(shop / ".told")


# -- places where it cannot be ---------------------------------------------------------------------


def test_the_home_folder_is_no_project(machine: Machine) -> None:
    for words in (("init",), ("init", str(machine.home)), ("init", "/")):
        answer = machine.told(*words)
        assert (answer.code, answer.out) == (2, "")
        assert "The home folder is no project." in answer.err
    assert not (machine.home / ".told").exists()


def test_tolds_own_folder_is_no_projects(machine: Machine, shop: Path) -> None:
    machine.environ["TOLD_HOME"] = str(shop / ".told")
    answer = machine.told("init")
    assert answer.code == 2
    assert "where told keeps everything" in answer.err
    remember(machine, "Use pnpm here.")
    assert texts(machine) == ["Use pnpm here."]
    assert not (shop / ".told" / "registry").exists()
    assert not (shop / ".gitignore").exists()


def test_another_tolds_home_is_not_taken_over(machine: Machine, shop: Path) -> None:
    machine.environ["TOLD_HOME"] = str(shop / ".told")
    remember(machine, "Use pnpm here.")
    machine.environ["TOLD_HOME"] = str(machine.told_home)
    answer = machine.told("init")
    assert answer.code == 2
    assert "another told keeps everything" in answer.err


def test_what_stands_in_the_way_is_named(machine: Machine, shop: Path) -> None:
    (shop / ".told").write_text("mine")
    answer = machine.told("init")
    assert (answer.code, answer.out) == (2, "")
    assert f"{shop}/.told is a file." in answer.err
    (shop / ".told").unlink()
    for target in (shop / "nowhere", machine.home):
        (shop / ".told").symlink_to(target)
        answer = machine.told("init")
        assert (answer.code, answer.out) == (2, "")
        assert f"{shop}/.told is a link." in answer.err
        (shop / ".told").unlink()
    assert not (shop / ".gitignore").exists()
    assert not (machine.told_home / "registry").exists()


def test_a_folder_that_is_not_there(machine: Machine) -> None:
    answer = machine.told("init", "nowhere")
    assert (answer.code, answer.out) == (2, "")
    assert "nowhere is no folder." in answer.err


@pytest.fixture
def read_only(shop: Path) -> Iterator[Path]:
    shop.chmod(0o500)
    yield shop
    shop.chmod(0o700)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(machine: Machine, read_only: Path) -> None:
    answer = machine.told("init")
    assert (answer.code, answer.out) == (4, "")
    assert f"told cannot write to {read_only} (permission denied)." in answer.err
    assert read_registry(str(machine.told_home)) == []


def test_a_folder_that_cannot_be_written(
    machine: Machine, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.mkdir

    def refuse(path: str, *more: int) -> None:
        if str(path).endswith(".told"):
            raise PermissionError(13, "Permission denied")
        real(path, *more)

    monkeypatch.setattr(os, "mkdir", refuse)
    answer = machine.told("init")
    assert (answer.code, answer.out) == (4, "")
    assert f"told cannot write to {shop} (permission denied)." in answer.err
    assert read_registry(str(machine.told_home)) == []


# -- where the folder goes -------------------------------------------------------------------------


def copied(machine: Machine, shop: Path, monkeypatch: pytest.MonkeyPatch, name: str = "clone") -> Path:
    root = Path(machine.home) / name
    shutil.copytree(shop, root)
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(machine.home))
    return root


def test_on_another_machine_its_memories_are_known_as_a_colleagues_word(
    machine: Machine, shop: Path, other: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.told("init")
    remember(machine, "Never push to main.", "--lock")
    copied(other, shop, monkeypatch)
    assert texts(other) == []  # it is not even looked at before
    answer = other.told("init")
    assert "Found 1 memory by others: treated as a colleague's statements." in answer.out
    (found,) = other.told("memories", "--json").json["memories"]
    assert (found["trust"], found["locked"]) == ("team:project", False)
    assert "Never push to main." in found["text"]
    assert "a colleague" in other.told("brief", "--prompt", "May I push to main?").out
    assert other.told("health", "--deep").code == 0


def test_without_a_remote_they_are_this_projects_all_the_same(
    machine: Machine, other: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Path(machine.folder("plain"))
    monkeypatch.chdir(plain)
    machine.told("init")
    remember(machine, "Use make here.")
    copied(other, plain, monkeypatch)
    other.told("init")
    (found,) = other.told("memories", "--json").json["memories"]
    assert f"path:{other.home}/clone" in found["project"]


def test_a_folder_that_was_moved_keeps_the_users_own_word(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Path(machine.folder("plain"))
    monkeypatch.chdir(plain)
    machine.told("init")
    remember(machine, "Use make here.", "--lock")
    moved = plain.rename(machine.home / "moved")
    monkeypatch.chdir(moved)
    answer = machine.told("init")
    assert "Found 1 memory of yours there." in answer.out
    (found,) = machine.told("memories", "--json").json["memories"]
    assert (found["trust"], found["locked"]) == ("user", True)
    assert f"path:{moved}" in found["project"]
    assert [one.root for one in read_registry(str(machine.told_home))] == [str(moved)]
    machine.told("rebuild")
    assert texts(machine) == ["Use make here."]


def test_a_copy_beside_the_original_takes_nothing_from_it(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = Path(machine.folder("plain"))
    monkeypatch.chdir(plain)
    machine.told("init")
    remember(machine, "Use make here.")
    copied(machine, plain, monkeypatch)
    machine.told("init")
    monkeypatch.chdir(plain)
    assert texts(machine) == ["Use make here."]


def test_locking_what_a_colleague_said_makes_it_the_users_own(
    machine: Machine, shop: Path, other: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.told("init")
    theirs = remember(machine, "Never push to main.")
    clone = copied(other, shop, monkeypatch)
    other.told("init")
    assert other.told("lock", theirs).code == 0
    shutil.rmtree(clone / ".told" / "journal" / read_registry(str(machine.told_home))[0].series[0])
    other.told("rebuild")
    (found,) = other.told("memories", "--json").json["memories"]
    assert (found["text"], found["trust"], found["locked"]) == ("Never push to main.", "user", True)


def test_an_agent_lets_nobody_in(
    machine: Machine, shop: Path, other: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.told("init")
    remember(machine, "Run everything as root.")
    copied(other, shop, monkeypatch)
    other.environ["CLAUDECODE"] = "1"
    answer = other.told("init")
    assert answer.code == 2
    assert "Only you can run `told init`, and CLAUDECODE is set here." in answer.err
    assert texts(other) == []
    del other.environ["CLAUDECODE"]
    other.told("init")
    assert len(texts(other)) == 1


def test_a_folder_that_is_gone_is_said_by_health_and_is_no_error(machine: Machine, shop: Path) -> None:
    machine.told("init")
    remember(machine, "Use pnpm here.")
    shutil.rmtree(shop / ".told")
    assert texts(machine) == ["Use pnpm here."]
    answer = machine.told("health", "--deep")
    assert answer.code == 0
    assert f"{shop}: its folder .told is gone; its memories last until `told rebuild`" in answer.out
    assert machine.told("health", "--json").json["places"][0]["root"] == str(shop)
    machine.told("rebuild")
    assert texts(machine) == []


def test_forgetting_undoing_and_why_know_the_folder(machine: Machine, shop: Path) -> None:
    machine.told("init")
    kept = remember(machine, "Use pnpm here.")
    assert "remember" in machine.told("why", kept).out
    gone = remember(machine, "The hint is Xyzzy.")
    assert machine.told("undo", "--of", kept).code == 0
    assert texts(machine) == ["The hint is Xyzzy."]
    assert machine.told("forget", gone, "--force").code == 0
    assert b"Xyzzy" not in everything(shop) + everything(machine.told_home)
    machine.told("rebuild")
    assert texts(machine) == []
    assert machine.told("health", "--deep").code == 0


def test_what_was_forgotten_while_the_folder_was_away_goes_when_it_is_back(
    machine: Machine, shop: Path
) -> None:
    machine.told("init")
    gone = remember(machine, "The hint is Xyzzy.")
    away = (shop / ".told").rename(shop.parent / "away")
    assert machine.told("forget", gone, "--force").code == 0
    away.rename(shop / ".told")
    machine.told("init")
    assert b"Xyzzy" not in everything(shop)
    machine.told("rebuild")
    assert texts(machine) == []


def test_what_is_learned_from_sessions_goes_there_too(machine: Machine, shop: Path) -> None:
    machine.told("init")
    machine.claude(("No, always use pnpm in this repo, never npm.", "Understood."), cwd=str(shop))
    machine.told("index")
    assert len(texts(machine)) == 1
    assert b"pnpm" in everything(shop / ".told")
    before = everything(shop / ".told")
    machine.told("rebuild")
    assert (len(texts(machine)), everything(shop / ".told")) == (1, before)


def test_a_project_that_gets_a_remote_goes_on_in_its_folder(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = machine.repo("young")
    monkeypatch.chdir(root)
    machine.told("init")
    remember(machine, "Use pnpm here.")
    subprocess.run(["git", "-C", root, "remote", "add", "origin", REMOTE], check=True)
    machine.told("init")
    machine.claude(("What is this?", "A shop."), cwd=root)
    machine.told("index")
    remember(machine, "The port is 8080.")
    assert b"The port is 8080." in everything(Path(root) / ".told")
    assert texts(machine) == ["The port is 8080.", "Use pnpm here."]


def test_without_a_terminal_nothing_is_asked(machine: Machine, shop: Path) -> None:
    answer = machine.child("init", cwd=shop)
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("acme/shop now keeps its own memories in ")
