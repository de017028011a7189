"""A machine on which a secret was stored before told knew it, in every kind of place."""

from __future__ import annotations

import gc
import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.machine import ago
from told.store.opening import open_database

if TYPE_CHECKING:
    from tests.cli.machine import Machine

# Never a real one; a rule knows it by its first letters.
BODY = "q7Zk2Vw9Xn4Tb6Rm1Hs8Jd3Lf5Gp0Yc2Ke9A"
SECRET = f"ghp_{BODY}"
NAMED = "AKIAQ3EGRIUZ7XHNW4ZB"  # stays what it is in the name of a folder
PLACEHOLDER = "[secret:github-token:"
SAID = f"Never print {SECRET} in a log of the gateway."
NATIVE = "11111111-2222-4333-8444-555555555555"
OFF = "[redaction]\nenabled = false\n"


def left(machine: Machine, word: str = BODY) -> list[str]:
    """Return every file of told, also of projects, that has a word: packed or not, whatever its case."""
    gc.collect()
    found = []
    for folder in (machine.told_home, *machine.home.rglob(".told")):
        for path in sorted(one for one in folder.rglob("*") if one.is_file()):
            content = path.read_bytes()
            if path.suffix == ".gz":
                content += gzip.decompress(content)
            if word.lower().encode() in content.lower():
                found.append(path.name)
    return found


def contents(machine: Machine) -> dict[str, bytes]:
    gc.collect()
    return {
        str(path): path.read_bytes()
        for path in machine.told_home.rglob("*")
        if path.is_file() and path.name != "calls" and not path.name.endswith(("-wal", "-shm", "lock"))
    }


def store(machine: Machine) -> Any:
    gc.collect()
    return open_database(str(machine.told_home / "sessions.db"), create=False)


def fill(machine: Machine) -> None:
    """Store the secret in every kind of place, with redaction turned off."""
    machine.config(OFF)
    shop = str(machine.home / "work/shop")
    machine.claude(
        (f"hello, the token of the gateway is {SECRET} and it has to go", f"I noted {SECRET}."),
        (SAID, "The cache lives in Redis."),
        session=NATIVE, at=ago(days=3), cwd=shop, title=f"Rotate {SECRET}", branch=f"rotate-{SECRET}",
        files={f"{shop}/keys/{SECRET}.txt": "Edit", f"{shop}/src/app.py": "Edit"},
        compacted=f"We talked about {SECRET}. Nothing else is open.",
    )  # fmt: skip
    machine.claude(("What about Kafka?", "It has three brokers."), at=ago(days=4), cwd=shop)
    machine.copilot(
        (f"use {SECRET} for the alerts", "Alerts fire."), at=ago(days=2), cwd=shop, summary=f"About {SECRET}",
        refs={f"acme/{SECRET}#17": "pr"}, note={"title": "Alerts", "overview": f"With {SECRET}."},
    )  # fmt: skip
    assert machine.told("index").code == 0
    assert machine.told("remember", f"The staging token is {SECRET}").code == 0
    assert machine.told("lock", f"Never rotate {SECRET} on a Friday").code == 0
    assert machine.told("init").code == 0
    assert machine.told("remember", f"The shop's own token is {SECRET}").code == 0
    assert machine.told("remember", "The office is in Hamburg").code == 0
    connection = store(machine)
    connection.execute(
        "UPDATE source SET state = ? WHERE path LIKE '%' || ? || '%'",
        (json.dumps({"last": f"so {SECRET}", "n": 3}), NATIVE),
    )
    connection.execute("INSERT INTO problem SELECT id, 7, ?, 0 FROM source", (f"cannot read {SECRET}",))
    connection.close()
    home = machine.told_home
    (home / "hook.log").write_text(f'{{"saw":"{SECRET}"}}\n')
    (home / "hook.trouble").write_text(f"1 OSError: {SECRET}\n")
    (home / "sessions.db.damaged").write_bytes(SECRET.encode())
    (home / "checkpoints").mkdir()
    (home / "checkpoints" / "note.md").write_text(f"# Goal\n\nRotate {SECRET}, then rest.\n")
    notes = machine.home / "work/shop/.told/checkpoints"
    notes.mkdir()
    (notes / "note.md").write_text(f"Rotate {SECRET}.\n")
    next(home.rglob("000001.jsonl")).with_name("000001.torn").write_text(SECRET)
    (home / "config.toml").unlink()


@pytest.fixture
def desk(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine on which a secret was stored before told knew it."""
    monkeypatch.chdir(machine.repo("work/shop", "git@github.com:acme/shop.git"))
    fill(machine)
    return machine


def finished(desk: Machine) -> None:
    """Do it again after a death: nothing is left, and all is sound."""
    answer = desk.told("redact-scan", "--apply")
    assert answer.code in (0, 1), answer.err
    assert left(desk) == []
    assert desk.told("redact-scan").code == 1
    assert not (desk.told_home / "redacting.lock").exists()
    assert desk.told("health", "--deep", "--json").json["deep"]["sound"] is True
    assert "The office is in Hamburg" in desk.told("memories").out
