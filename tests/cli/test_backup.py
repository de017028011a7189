"""`told backup` and `told restore`: everything in one file, and nothing changed by a bad one."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import shutil
import stat
import threading
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.killing import run
from tests.cli.machine import ago
from tests.soak import points
from told.journal.append import append
from told.journal.files import Draft, journal_folder
from told.journal.read import verify
from told.sync.backup_file import DIGEST_BYTES, BackupReader

if TYPE_CHECKING:
    from tests.cli.machine import Machine

RULE, PRIVATE = "Never log card numbers", "The canary box runs on host heron42"


@pytest.fixture
def shop(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with a project, a session, memories, a checkpoint and a setting."""
    place = machine.repo("work/shop", "git@github.com:acme/shop.git")
    monkeypatch.chdir(place)
    machine.claude(("fix the footer of the invoice", "Done."), cwd=place, at=ago(days=3))
    machine.told("index")
    machine.told("remember", RULE, "--lock")
    machine.told("remember", PRIVATE, "--scope", "private")
    machine.told("checkpoint", "write", "--goal", "ship the footer")
    machine.told("config", "set", "retention.days", "77")
    return machine


def make(machine: Machine, name: str = "told.zip") -> Path:
    path = machine.home / name
    answer = machine.told("backup", str(path))
    assert answer.code == 0, answer.err
    return path


def answers(machine: Machine) -> dict[str, str]:
    commands = (
        ("memories", "--all-projects", "--json"), ("list", "--json"), ("checkpoints", "--json"),
        ("search", "footer of the invoice", "--json"), ("config", "get", "retention.days"),
        ("brief", "--prompt", "which host does the canary box run on?"),
    )  # fmt: skip
    return {" ".join(words): machine.told(*words).out for words in commands}


def content(folder: Path) -> dict[str, bytes]:
    """The files of told's folder, without those that every command writes."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "calls" and ".db" not in path.name
    }


def asides(machine: Machine) -> list[Path]:
    return sorted(machine.told_home.parent.glob("told.*"))


def texts(machine: Machine) -> set[str]:
    rows = machine.told("memories", "--all-projects", "--json").json.get("memories", [])
    return {row["text"] for row in rows}


def test_a_restored_told_gives_the_same_answers(shop: Machine) -> None:
    before = answers(shop)
    path = make(shop)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    machine_id = (shop.told_home / "machine").read_text()
    shutil.rmtree(shop.told_home)
    shutil.rmtree(shop.home / ".claude")  # the agent's own files are gone, too
    answer = shop.told("restore", str(path), "--yes")
    assert answer.code == 0, answer.err
    assert answers(shop) == before
    assert asides(shop) == []
    assert (shop.told_home / "machine").read_text() != machine_id
    assert (shop.told_home / "journal" / machine_id.strip()).is_dir()
    old = content(shop.told_home / "journal" / machine_id.strip())
    shop.told("remember", "Use uv for packages")
    assert content(shop.told_home / "journal" / machine_id.strip()) == old
    assert verify(journal_folder(str(shop.told_home))) == []
    assert "Use uv for packages" in texts(shop)
    assert {stat.S_IMODE(one.stat().st_mode) for one in shop.told_home.rglob("*") if one.is_file()} <= {0o600}


def test_an_existing_folder_is_moved_aside_and_not_merged(shop: Machine) -> None:
    path = make(shop)
    shop.told("remember", "Use uv for packages")
    preview = shop.told("restore", str(path))
    assert preview.code == 0
    assert "Nothing was changed. Add --yes to restore it." in preview.out
    assert "Use uv for packages" in texts(shop)
    before = content(shop.told_home)
    done = shop.told("restore", str(path), "--yes", "--json").json
    assert done["restored"] is True
    assert texts(shop) == {RULE, PRIVATE}
    assert [str(one) for one in asides(shop)] == [done["moved_to"]]
    assert content(asides(shop)[0]) == before


def test_what_was_forgotten_since_stays_forgotten(shop: Machine) -> None:
    path = make(shop)
    made = next(
        row["id"] for row in shop.told("memories", "--json").json["memories"] if row["text"] == PRIVATE
    )
    assert shop.told("forget", made, "--force").code == 0
    answer = shop.told("restore", str(path), "--yes")
    assert answer.code == 0, answer.err
    assert "Left out 1 memory that you forgot since the backup." in answer.out
    assert texts(shop) == {RULE}
    found = b"".join(one.read_bytes() for one in shop.told_home.rglob("*") if one.is_file())
    assert b"heron42" not in found
    assert shop.told("rebuild").code == 0
    assert texts(shop) == {RULE}


def test_the_memories_of_a_project_without_a_folder_are_kept(shop: Machine) -> None:
    shop.told("init")
    shop.told("remember", "Write docs for the warehouse API")
    here = make(shop)
    project = Path.cwd() / ".told"
    before = content(project)
    shop.told("restore", str(here), "--yes")
    assert content(project) == before  # it has its memories itself
    assert "Write docs for the warehouse API" in texts(shop)
    shop.told("remember", "Use uv for packages")
    assert "Use uv for packages" in texts(shop)
    shutil.rmtree(project)
    answer = shop.told("restore", str(here), "--yes")
    assert "1 project without a folder here" in answer.out
    assert texts(shop) == {RULE, PRIVATE, "Write docs for the warehouse API"}
    shop.told("remember", "Use pip for packages")
    assert "Use pip for packages" in texts(shop)
    assert not project.exists()


def test_keys_of_sync_and_what_is_installed_stay_on_their_machine(shop: Machine) -> None:
    (shop.told_home / "sync").mkdir(exist_ok=True)
    (shop.told_home / "sync/machine.key").write_bytes(b"heron-key")
    (shop.told_home / "sync/peers").write_bytes(b"known")
    (shop.told_home / "installed.json").write_text("{}")
    path = make(shop)
    assert b"heron-key" not in path.read_bytes()
    names = zipfile.ZipFile(path).namelist()
    assert "sync/peers" in names
    assert not {"sync/machine.key", "installed.json", "sessions.db", "memory.db"} & set(names)
    shop.told("restore", str(path), "--yes")
    assert not (shop.told_home / "sync/machine.key").exists()
    assert (shop.told_home / "installed.json").read_text() == "{}"


def test_an_agent_neither_backs_up_nor_restores(shop: Machine) -> None:
    path = make(shop)
    before = content(shop.told_home)
    for words in (("backup", str(shop.home / "other.zip")), ("backup",), ("restore", str(path), "--yes")):
        assert shop.told(*words, CLAUDECODE="1").code != 0
    assert not (shop.home / "other.zip").exists()
    assert content(shop.told_home) == before


def test_bad_places_are_refused(shop: Machine) -> None:
    path = make(shop)
    for words, why in (
        (("backup", str(path)), "exists already"),
        (("backup", str(shop.told_home)), "inside told's own folder"),
        (("backup", str(shop.home / "no/such/place.zip")), "There is no folder"),
        (("restore", str(shop.home / "nothing.zip")), "told cannot read"),
        (("restore", str(shop.home)), "told cannot read"),
        (("restore",), "Missing argument"),
    ):
        answer = shop.told(*words)
        assert answer.code == 2, words
        assert why in answer.err


def seal(data: bytes) -> bytes:
    """Give a zip the digest that a backup ends with."""
    body = data[:-DIGEST_BYTES]
    return body + hashlib.sha256(body).hexdigest().encode()


def crafted(entries: list[tuple[zipfile.ZipInfo | str, bytes]], **changed: Any) -> bytes:
    """A backup with a right digest and a manifest for its entries."""
    out = io.BytesIO()
    names = [one if isinstance(one, str) else one.filename for one, _ in entries]
    files = {
        name: [len(data), hashlib.sha256(data).hexdigest()]
        for name, (_, data) in zip(names, entries, strict=True)
    }
    manifest = {
        "format": "told-backup", "version": 1, "told": "0.1.0", "created": 1, "operations": 0, "damaged": 0,
        "projects": [], "files": files,
    } | changed  # fmt: skip
    with zipfile.ZipFile(out, "w") as archive:
        archive.comment = b"0" * DIGEST_BYTES
        for one, data in entries:
            archive.writestr(one, data)
        archive.writestr("manifest.json", json.dumps(manifest))
    return seal(out.getvalue())


def link(name: str) -> zipfile.ZipInfo:
    found = zipfile.ZipInfo(name)
    found.external_attr = (stat.S_IFLNK | 0o777) << 16
    return found


KEY = ("key", b"k" * 32)
HOSTILE: dict[str, bytes] = {
    "above": crafted([KEY, ("../evil", b"x")]),
    "above, deep": crafted([KEY, ("checkpoints/../../evil", b"x")]),
    "absolute": crafted([KEY, ("/tmp/evil", b"x")]),
    "backslash": crafted([KEY, ("checkpoints\\..\\evil", b"x")]),
    "drive": crafted([KEY, ("checkpoints/C:evil", b"x")]),
    "link": crafted([KEY, (link("checkpoints/evil"), b"/etc/passwd")]),
    "unknown": crafted([KEY, ("installed.json", b"{}")]),
    "program": crafted([KEY, ("bin/told", b"#!/bin/sh")]),
    "sync key": crafted([KEY, ("sync/machine.key", b"x")]),
    "twice": crafted([("Key", b"k"), ("key", b"k")]),
    "not in manifest": crafted([KEY], files={}),
    "wrong digest": crafted([KEY], files={"key": [32, "0" * 64]}),
    "wrong size": crafted([KEY], files={"key": [31, hashlib.sha256(KEY[1]).hexdigest()]}),
    "huge": crafted([KEY], files={"key": [1 << 40, hashlib.sha256(KEY[1]).hexdigest()]}),
    "negative": crafted([KEY], files={"key": [-1, "0" * 64]}),
    "operations": crafted([KEY], operations=7),
    "newer": crafted([KEY], version=2),
    "foreign": crafted([KEY], format="other"),
    "odd projects": crafted([KEY], projects=[{"number": "../1", "root": "/", "scope": "x"}]),
    "odd files": crafted([KEY], files=[1]),
    "odd manifest": seal(b"PK\x05\x06" + bytes(18) + b"0" * DIGEST_BYTES),
    "no zip": seal(b"hello" * 100),
    "empty": b"",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_changes_nothing(machine: Machine, name: str) -> None:
    machine.told("remember", RULE, "--scope", "global")
    path = machine.write("bad.zip", HOSTILE[name])
    before, around = content(machine.told_home), set(machine.home.parent.iterdir())
    for options in ((), ("--yes",)):
        answer = machine.told("restore", str(path), *options)
        assert answer.code == 2
        assert "Traceback" not in answer.err
    assert content(machine.told_home) == before
    assert set(machine.home.parent.iterdir()) == around


def test_every_flipped_or_missing_byte_is_found(shop: Machine) -> None:
    good = make(shop).read_bytes()
    path = shop.home / "bad.zip"
    step = max(1, len(good) // points(everyday=60, soak=4000))
    for at in range(0, len(good), step):
        for data in (good[:at] + bytes([good[at] ^ 1 << at % 8]) + good[at + 1 :], good[:at]):
            path.write_bytes(data)
            with pytest.raises(Exception, match="Nothing was changed") as raised, BackupReader(str(path)):
                pass
            assert type(raised.value).__name__ == "UsageError"
    before = content(shop.told_home)
    assert shop.told("restore", str(path), "--yes").code == 2
    assert content(shop.told_home) == before


def test_a_backup_made_while_others_write_is_whole(shop: Machine) -> None:
    home, stop = str(shop.told_home), threading.Event()
    done: list[int] = []

    def write() -> None:
        while not stop.is_set():
            number = len(done)
            drafts = [
                Draft("remember", "user", {"text": f"note {number} {part}", "scope": "global"})
                for part in ("a", "b")
            ]
            append(home, drafts, now=1_800_000_000_000 + number)
            done.append(number)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(3):
            known = len(done)
            with BackupReader(str(make(shop, f"{number}.zip"))) as reader:
                names = [name for name in reader.manifest.files if name.startswith("journal/")]
                found = b"".join(block for name in names for block in reader.read(name))
            assert reader.manifest.damaged == 0
            for one in range(known):
                assert f'"note {one} a"'.encode() in found
                assert f'"note {one} b"'.encode() in found
            assert found.count(b' a"') == found.count(b' b"')
    finally:
        stop.set()
        writer.join()


def test_a_full_disk_leaves_no_file(shop: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(shop)
    before = content(shop.told_home)

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    answer = shop.told("backup", str(shop.home / "full.zip"))
    assert answer.code == 3
    assert "The disk is full" in answer.err
    assert list(shop.home.glob("full*")) == []
    answer = shop.told("restore", str(path), "--yes")
    assert answer.code == 3
    monkeypatch.undo()
    assert content(shop.told_home) == before
    assert asides(shop) == []


def test_a_backup_killed_anywhere_leaves_a_whole_file_or_none(shop: Machine) -> None:
    path = shop.home / "told.zip"
    before = texts(shop)
    kills = [("fsync", 1), ("link", 1), ("remove", 1)]
    kills += [("", at) for at in range(1, points(everyday=2, soak=25))]
    for name, at in kills:
        code = run(shop, "backup", str(path), DIE_ON=name, DIE_AT=str(at), DIE_HOW="before")
        assert code < 0 or at > 3
        assert path.exists() == (name == "remove" or (not name and path.exists()))
        if path.exists():
            with BackupReader(str(path)) as reader:
                reader.check()
            path.unlink()
    assert texts(shop) == before
    make(shop)


def test_a_restore_killed_anywhere_keeps_the_old_or_the_new(shop: Machine) -> None:
    path = make(shop)
    shop.told("remember", "Use uv for packages")
    old, new = {RULE, PRIVATE, "Use uv for packages"}, {RULE, PRIVATE}
    kills = [("rename", 1, "before"), ("rename", 1, "after"), ("rename", 2, "after")]
    kills += [("", at, "before") for at in range(4, 64, 60 // points(everyday=2, soak=60))]
    for name, at, how in kills:
        code = run(shop, "restore", str(path), "--yes", DIE_ON=name, DIE_AT=str(at), DIE_HOW=how)
        assert code < 0 or not name
        is_between = (name, at, how) == ("rename", 1, "after")
        assert shop.told_home.exists() != is_between or not name
        if not shop.told_home.exists():  # both are there, under other names
            assert content(asides(shop)[0])
        else:
            assert texts(shop) in (old, new)
        assert shop.told("restore", str(path), "--yes").code == 0
        assert texts(shop) == new
        assert not list(shop.told_home.parent.glob("told.restoring*"))
        shop.told("remember", "Use uv for packages")
        for one in asides(shop):
            shutil.rmtree(one)
