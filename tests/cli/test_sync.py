"""`told sync` as a user runs it: two homes, a shared folder, a code."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from told.cli.main import main
from told.hook.dispatch import answer_hook

if TYPE_CHECKING:
    from tests.cli.machine import Machine

CODE = re.compile(r"told-[a-z2-7-]{30,}")


class Desk:
    """One of the user's machines."""

    def __init__(self, root: Path, repository: Path) -> None:
        self.root = root
        (root / "home").mkdir(parents=True)
        self.repository = repository
        self.environ = {
            "HOME": str(root / "home"), "TOLD_HOME": str(root / "told"), "TOLD_BACKGROUND": "off",
            "PATH": "/usr/bin:/bin",
        }  # fmt: skip

    def told(self, *words: str, **more: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(list(words), self.environ | more)
        return code, out.getvalue(), err.getvalue()

    def json(self, *words: str) -> Any:
        code, out, err = self.told(*words, "--json")
        assert code == 0, err
        return json.loads(out)

    def texts(self) -> list[str]:
        code, out, _ = self.told("memories", "--json", "--all-projects")
        return sorted(row["text"] for row in json.loads(out)["memories"]) if code == 0 and out else []

    def start(self) -> str:
        given = {"hook_event_name": "SessionStart", "session_id": "s-1", "cwd": str(self.repository)}
        return answer_hook("claude-code", "start", given | {"source": "startup"}, self.environ)

    def bytes(self) -> bytes:
        return b"\n".join(path.read_bytes() for path in self.root.rglob("*") if path.is_file())


@pytest.fixture
def desks(machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Desk, Desk]:
    repository = Path(machine.repo("work/shop", "git@github.com:acme/shop.git"))
    monkeypatch.chdir(repository)
    (tmp_path / "drive").mkdir()
    return Desk(tmp_path / "laptop", repository), Desk(tmp_path / "desktop", repository)


def join(desks: tuple[Desk, Desk], drive: Path) -> None:
    laptop, desktop = desks
    _, out, _ = laptop.told("sync", "folder", str(drive))
    found = CODE.search(out)
    assert found
    code, out, err = desktop.told("sync", "join", found.group(), "folder", str(drive))
    assert (code, err) == (0, "")
    assert "This machine has joined." in out


def test_what_the_laptop_was_told_the_desktop_knows(desks: tuple[Desk, Desk], tmp_path: Path) -> None:
    laptop, desktop = desks
    laptop.told("lock", "Always run make check before a commit.")
    join(desks, tmp_path / "drive")
    assert "make check" in desktop.start()
    assert b"make check" not in b"".join(
        path.read_bytes() for path in (tmp_path / "drive").rglob("*") if path.is_file()
    )


def test_forget_prints_who_has_confirmed(desks: tuple[Desk, Desk], tmp_path: Path) -> None:
    laptop, desktop = desks
    laptop.told("remember", "The canary rotates on Mondays.")
    join(desks, tmp_path / "drive")
    laptop.told("sync")
    name = laptop.json("memories", "--all-projects")["memories"][0]["id"]
    _, out, _ = laptop.told("forget", name, "--force")
    assert f"folder {tmp_path / 'drive'}: erased." in out
    assert "Waiting for 1 machine" in out
    desktop.told("sync")
    laptop.told("sync")
    _, out, _ = laptop.told("forget", "--receipt", name)
    assert "Confirmed by" in out
    assert "Waiting" not in out
    assert laptop.told("forget", "--receipt")[0] == 2
    assert b"canary" not in laptop.bytes() + desktop.bytes()
    assert (laptop.texts(), desktop.texts()) == ([], [])


def test_nothing_private_leaves(desks: tuple[Desk, Desk], tmp_path: Path) -> None:
    laptop, desktop = desks
    laptop.told("remember", "--scope", "private", "My canary salary is secret to others.")
    laptop.told("remember", "Use pnpm here.")
    join(desks, tmp_path / "drive")
    assert desktop.texts() == ["Use pnpm here."]
    assert b"canary" not in desktop.bytes()


def test_a_second_machine_is_told_to_join(desks: tuple[Desk, Desk], tmp_path: Path) -> None:
    laptop, desktop = desks
    laptop.told("sync", "folder", str(tmp_path / "drive"))
    code, out, err = desktop.told("sync", "folder", str(tmp_path / "drive"))
    assert (code, out) == (2, "")
    assert "told sync join CODE" in err


def test_a_failed_first_try_and_a_team_leave_the_first_place_first(
    desks: tuple[Desk, Desk], tmp_path: Path
) -> None:
    laptop, desktop = desks
    drive, team = str(tmp_path / "drive"), tmp_path / "team"
    team.mkdir()
    assert laptop.told("sync", "git", "nowhere")[0] == 4
    git(tmp_path, "init", "--quiet", "--bare", str(tmp_path / "hub.git"))
    git(laptop.repository, "remote", "add", "hub", str(tmp_path / "hub.git"))
    assert laptop.told("sync", "git", "hub")[0] == laptop.told("sync", "remove", "git", "hub")[0] == 0
    assert laptop.told("team", "enable", str(team))[0] == 0  # makes keys, too
    assert CODE.search(laptop.told("sync", "folder", drive)[1])
    assert not CODE.search(laptop.told("sync", "folder", drive)[1])
    assert desktop.told("team", "enable", str(team))[0] == 0
    code, _, err = desktop.told("sync", "folder", drive)
    assert code == 2
    assert "told sync join CODE" in err
    code, _, err = desktop.told("sync", "join", laptop.json("sync", "code")["code"], "folder", drive)
    assert code == 2
    assert f"`told sync remove folder {team}`" in err


def test_wrong_use_is_one_sentence(desks: tuple[Desk, Desk], tmp_path: Path) -> None:
    laptop, _ = desks
    for words, says in (
        (("sync",), "No places to sync with."),
        (("sync", "join", "told-aaaaa-bbbbb"), "mistyped"),
        (("sync", "folder", str(tmp_path / "nowhere")), "is no folder"),
        (("sync", "folder"), "Say where"),
        (("sync", "status", "now"), "Use `told sync`"),
        (("sync", "ssh", "--", "-oProxyCommand=x"), "looks like an option"),
        (("sync", "remove", "zzz"), "Unknown place 'zzz'"),
        (("sync", "git", "origin2x"), "remote"),
        (("sync-serve",), "is run by"),
    ):
        code, out, err = laptop.told(*words)
        assert (code, out) in ((2, ""), (4, out)), (words, out, err)
        assert says in out + err
        assert "Traceback" not in err
    assert laptop.told("sync", "status")[0] == 1  # no place was kept


def test_an_agent_can_sync_but_not_change_with_whom(desks: tuple[Desk, Desk], tmp_path: Path) -> None:
    laptop, _ = desks
    for words in (("folder", str(tmp_path / "drive")), ("code",), ("remove", "x"), ("join", "told-a")):
        code, out, _ = laptop.told("sync", *words, CLAUDECODE="1")
        assert code == 2
        assert "told-" not in out
    laptop.told("sync", "folder", str(tmp_path / "drive"))
    assert laptop.told("sync", CLAUDECODE="1")[0] == 0


def test_a_drive_that_is_away_is_named_and_nothing_is_lost(desks: tuple[Desk, Desk], tmp_path: Path) -> None:
    laptop, desktop = desks
    join(desks, tmp_path / "drive")
    laptop.told("remember", "Use pnpm here.")
    (tmp_path / "drive").rename(tmp_path / "away")
    code, out, _ = laptop.told("sync")
    assert code == laptop.told("sync", "--json")[0] == 3
    assert "not synced" in out
    assert not (tmp_path / "drive").exists()
    (tmp_path / "away").rename(tmp_path / "drive")
    assert laptop.told("sync")[0] == 0
    desktop.told("sync")
    assert desktop.texts() == ["Use pnpm here."]


def test_index_syncs_where_there_is_no_background(desks: tuple[Desk, Desk], tmp_path: Path) -> None:
    laptop, desktop = desks
    join(desks, tmp_path / "drive")
    laptop.told("remember", "Use pnpm here.")
    laptop.told("index")
    desktop.told("index")
    assert desktop.texts() == ["Use pnpm here."]


def test_checkpoints_can_be_turned_on_and_off(desks: tuple[Desk, Desk], tmp_path: Path) -> None:
    laptop, _ = desks
    laptop.told("sync", "folder", str(tmp_path / "drive"))
    chosen = []
    for words in ((), ("--checkpoints",), (), ("--no-checkpoints",)):
        laptop.told("sync", *words)
        chosen.append(laptop.json("sync", "status")["spaces"][0]["checkpoints"])
    assert chosen == [False, True, True, False]


EMAIL = "ada.canary@mail.example"


def git(folder: Path, *words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True).stdout


def test_the_address_in_gits_settings_is_nowhere(
    desks: tuple[Desk, Desk], machine: Machine, tmp_path: Path
) -> None:
    laptop, _ = desks
    for home in (Path(laptop.environ["HOME"]), machine.home):
        (home / ".gitconfig").write_text(f"[user]\n\tname = Ada Canary\n\temail = {EMAIL}\n")
    shared, hub = tmp_path / "team", tmp_path / "hub.git"
    shared.mkdir()
    git(tmp_path, "init", "--quiet", "--bare", str(hub))
    git(laptop.repository, "config", "user.email", EMAIL)
    laptop.told("remember", "Use pnpm here.")
    laptop.told("checkpoint", "--goal", "Move the shop to Postgres")
    for place in (("folder", str(tmp_path / "drive")), ("git", str(hub))):
        assert laptop.told("sync", *place, "--checkpoints", "--sessions")[0] == 0
    assert laptop.told("team", "create", "acme", "--folder", str(shared), "--as", "Ada", "--yes")[0] == 0
    assert laptop.told("team", "enable")[0] == 0
    name = laptop.json("memories")["memories"][0]["id"]
    assert laptop.told("share", name)[0] == 0
    assert laptop.told("sync")[0] == 0
    found = laptop.bytes().replace((Path(laptop.environ["HOME"]) / ".gitconfig").read_bytes(), b"")
    for form in ("told", "markdown", "mcp-memory", "pam", "agents-md"):
        path = (laptop.repository if form == "agents-md" else tmp_path) / f"export-{form}"
        assert laptop.told("export", str(path), "--format", form, "--yes")[0] == 0
    objects = git(hub, "cat-file", "--batch-all-objects", "--batch")
    refs = git(hub, "log", "--all", "--format=%an %ae %cn %ce %B")
    files = [
        path for path in tmp_path.rglob("*") if path.is_file() and path.name not in (".gitconfig", "config")
    ]
    files = [path for path in files if Path(laptop.environ["HOME"]) not in path.parents]
    found += b"".join(path.read_bytes() for path in files) + objects + refs
    assert b"pnpm" in found
    assert b"told@localhost" in refs
    for canary in (EMAIL, "ada.canary", "Ada Canary"):
        assert canary.encode() not in found


def test_sessions_are_found_on_the_other_machine_and_forgotten_on_both(
    desks: tuple[Desk, Desk], tmp_path: Path
) -> None:
    laptop, desktop = desks
    folder = Path(laptop.environ["HOME"]) / ".claude" / "projects" / "shop"
    folder.mkdir(parents=True)
    line = {
        "type": "user", "uuid": "u1", "parentUuid": None, "isSidechain": False, "userType": "external",
        "cwd": str(laptop.repository), "sessionId": "zebra-session", "version": "2.1.76",
        "timestamp": "2026-01-10T10:00:00.000Z",
        "message": {"role": "user", "content": "Why does the zebra export lose a column?"},
    }  # fmt: skip
    (folder / "zebra-session.jsonl").write_text(json.dumps(line) + "\n")
    assert laptop.told("index")[0] == 0
    join(desks, tmp_path / "drive")
    assert desktop.told("search", "zebra")[0] == 1
    for one in (laptop, desktop, laptop):
        assert one.told("sync", "--sessions")[0] == 0
    (row,) = desktop.json("list")["sessions"]
    assert "zebra export" in desktop.told("show", row["id"])[1]
    assert "zebra" in desktop.told("search", "zebra")[1]
    assert desktop.json("sync", "status")["spaces"][0]["sessions"] is True
    _, out, _ = desktop.told("forget", "--session", row["id"], "--force")
    assert f"folder {tmp_path / 'drive'}: erased." in out
    assert "Waiting for 1 machine" in out
    laptop.told("sync")
    desktop.told("sync")
    assert "Confirmed by" in desktop.told("forget", "--receipt", row["id"])[1]
    for one in (laptop, desktop):
        one.told("index")
        assert one.told("list", "--all-projects")[0] == 1
        assert b"zebra export" not in b"".join(
            path.read_bytes() for path in (one.root / "told").rglob("*") if path.is_file()
        )
