"""Forgotten text is removed from checkpoint files, names and rows."""

from __future__ import annotations

import gc
import gzip
import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from told.app.stores import open_store
from told.checkpoints.save import save_checkpoint
from told.errors import NotFoundError, UsageError
from told.ingest.checkpoint_files import (
    create_checkpoint,
    list_checkpoints,
    new_path,
    project_folder,
    read_checkpoint,
)
from told.ingest.checkpoint_rows import forget_checkpoint
from told.model import TOOL, USER, Handover

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ingest.box import Box
    from told.checkpoints.save import SavedCheckpoint

SAID = "Our launch is called Blue Zebrafish 778199235"
WORDS = ("zebrafish", "778199235")
ONE = Handover(
    goal=f"Prepare the launch. {SAID}. The cache lives in Redis.", done=("Wrote the page",),
    pending=(f"Tell everybody: {SAID}", "Test it"), title=SAID, agent="claude-code", session="first",
    project="path:/gone/shop", folder="/gone/shop", notes="Nothing else.", at=1_794_828_243_007,
)  # fmt: skip


def kept(box: Box, one: Handover) -> SavedCheckpoint:
    connection = open_store(str(box.store))
    try:
        return save_checkpoint(connection, str(box.told_home), one, str, name="shop", root="/gone/shop")
    finally:
        connection.close()


def left(folder: Path, *words: str) -> list[str]:
    """Return what holds one of the words, in its text or in its name."""
    gc.collect()
    found = []
    for path in sorted(folder.rglob("*")):
        content = path.read_bytes() if path.is_file() else b""
        content += gzip.decompress(content) if path.suffix == ".gz" else b""
        if any(word.encode() in content.lower() + path.name.lower().encode() for word in words):
            found.append(path.name)
    return found


def remembered(box: Box, text: str) -> str:
    return str(box.told("remember", text, "--json").json["id"])


def test_forget_memory_cuts_files_names_and_database(box: Box) -> None:
    memory = remembered(box, SAID)
    first = kept(box, ONE)
    other = kept(box, replace(ONE, session="second", goal="Something else", title="", pending=()))
    assert left(box.told_home, *WORDS)
    assert os.path.basename(first.path).startswith("2026-11-16-1124-our-launch")
    assert box.told("forget", memory, "--force").code == 0
    assert left(box.told_home, *WORDS) == []
    assert read_checkpoint(other.path) == other.handover
    (changed,) = [path for path in list_checkpoints(str(box.told_home)) if path != other.path]
    new = read_checkpoint(changed)
    assert new.id == first.handover.id
    assert (new.done, new.pending[1:], new.notes) == (("Wrote the page",), ("Test it",), "Nothing else.")
    assert "The cache lives in Redis." in new.goal
    assert "[forgotten]" in new.goal
    shown = box.told("show", new.id, "--full")
    assert "Redis" in shown.out
    assert box.told("rebuild").code == 0
    assert left(box.told_home, *WORDS) == []
    assert box.told("show", new.id, "--full").out == shown.out


def test_forget_memory_cuts_unread_files(box: Box) -> None:
    memory = remembered(box, SAID)
    box.told("list")
    one = replace(ONE, id="cabcdefghi")
    path = new_path(project_folder(str(box.told_home), one.project, "shop", ""), one)
    create_checkpoint(path, one)
    with open(f"{path}.123.new", "w") as file:
        file.write(SAID)
    assert box.told("forget", memory, "--force").code == 0
    assert left(box.told_home, *WORDS) == []
    assert len(list(list_checkpoints(str(box.told_home)))) == 1


def test_forget_session_removes_its_checkpoints(box: Box) -> None:
    box.claude("first").turn("Prepare the launch", f"{SAID}.").write()
    box.index()
    first = kept(box, ONE)
    other = kept(box, replace(ONE, session="second", title="Other", goal="The cache", pending=()))
    assert box.told("forget", "--session", "first", "--force").code == 0
    assert left(box.told_home, *WORDS) == []
    assert list(list_checkpoints(str(box.told_home))) == [other.path]
    with pytest.raises(NotFoundError, match="was forgotten"):
        kept(box, ONE)
    create_checkpoint(first.path, first.handover)  # somebody has put it back
    assert box.told("rebuild").code == 0
    assert first.handover.id not in box.told("checkpoints", "--all-projects").out


@pytest.mark.parametrize("session", ["first", "another"])
def test_forgotten_text_is_cut_from_later_checkpoints(box: Box, session: str) -> None:
    box.claude("first").turn(f"{SAID}.", "Noted.").write()
    box.index()
    memory = remembered(box, SAID)
    assert box.told("forget", memory, "--force").code == 0
    done = kept(box, replace(ONE, session=session, by=TOOL))
    assert left(box.told_home, *WORDS) == []
    assert "The cache lives in Redis." in read_checkpoint(done.path).goal


def test_user_may_repeat_forgotten_text(box: Box) -> None:
    memory = remembered(box, SAID)
    assert box.told("forget", memory, "--force").code == 0
    done = kept(box, replace(ONE, session="another", by=USER))
    assert read_checkpoint(done.path).goal == ONE.goal


def test_forget_checkpoint_by_id(box: Box) -> None:
    first, other = kept(box, ONE), kept(box, replace(ONE, goal="Next", title="", pending=(), at=ONE.at + 1))
    connection = open_store(str(box.store))
    home = str(box.told_home)
    try:
        assert forget_checkpoint(connection, home, first.handover.id) == first.path
        with pytest.raises(NotFoundError):
            forget_checkpoint(connection, home, first.handover.id)
    finally:
        connection.close()
    assert left(box.told_home, *WORDS) == []
    assert list(list_checkpoints(home)) == [other.path]


def test_agent_s_own_checkpoint_cannot_be_forgotten(box: Box) -> None:
    box.claude("first").turn("Question", "Answer").compacted("What was done.").write()
    box.index()
    ((public,),) = box.rows("SELECT public FROM checkpoint")
    connection = open_store(str(box.store))
    try:
        with pytest.raises(UsageError, match="--session s"):
            forget_checkpoint(connection, str(box.told_home), public)
    finally:
        connection.close()


def test_redact_scan_cleans_file_name_and_rows(box: Box) -> None:
    secret = "zq9" + "walrusthirtytwo77"
    done = kept(box, replace(ONE, title=f"Use {secret} here", goal=f"The word is {secret}."))
    assert left(box.told_home, secret)
    config = box.told_home / "config.toml"
    rule = f"name = 'own-word'\npattern = '{secret[:5]}[a-z0-9]+'\nexample = '{secret[:5]}xyz'"
    config.write_text(f"[[redaction.rules]]\n{rule}\n")
    done_with = box.told("redact-scan", "--apply", "--yes")
    assert (done_with.code, done_with.err) == (0, "")
    config.unlink()
    assert left(box.told_home, secret) == []
    shown = box.told("show", done.handover.id, "--full")
    assert "The word is [secret:" in shown.out
