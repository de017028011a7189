"""What was forgotten is in no checkpoint either: not in its text, nor in its name, nor in the store."""

from __future__ import annotations

import gc
import gzip
import os
from typing import TYPE_CHECKING

import pytest

from told.cli.session import open_store
from told.errors import NotFoundError, UsageError
from told.ingest.checkpoint_files import every, folder_of, new_path, write
from told.ingest.checkpoint_forgetting import forget_checkpoint
from told.ingest.checkpoint_reading import read_file
from told.memory.checkpoint import keep
from told.model import TOOL, USER, Handover
from told.record import replaced

if TYPE_CHECKING:
    from pathlib import Path

    from tests.ingest.box import Box
    from told.memory.checkpoint import Kept

SAID = "Our launch is called Blue Zebrafish 778199235"
WORDS = ("zebrafish", "778199235")
ONE = Handover(
    goal=f"Prepare the launch. {SAID}. The cache lives in Redis.", done=("Wrote the page",),
    pending=(f"Tell everybody: {SAID}", "Test it"), title=SAID, agent="claude-code", session="first",
    project="path:/gone/shop", folder="/gone/shop", notes="Nothing else.", at=1_794_828_243_007,
)  # fmt: skip


def kept(box: Box, one: Handover) -> Kept:
    connection = open_store(str(box.store))
    try:
        return keep(connection, str(box.told_home), one, str, name="shop", root="/gone/shop")
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


def test_a_forgotten_memory_goes_from_files_their_names_and_the_store(box: Box) -> None:
    memory = remembered(box, SAID)
    first = kept(box, ONE)
    other = kept(box, replaced(ONE, session="second", goal="Something else", title="", pending=()))
    assert left(box.told_home, *WORDS)
    assert os.path.basename(first.path).startswith("2026-11-16-1124-our-launch")
    assert box.told("forget", memory, "--force").code == 0
    assert left(box.told_home, *WORDS) == []
    assert read_file(other.path) == other.handover
    (changed,) = [path for path in every(str(box.told_home)) if path != other.path]
    new = read_file(changed)
    assert new.id == first.handover.id
    assert (new.done, new.pending[1:], new.notes) == (("Wrote the page",), ("Test it",), "Nothing else.")
    assert "The cache lives in Redis." in new.goal
    assert "[forgotten]" in new.goal
    shown = box.told("show", new.id, "--full")
    assert "Redis" in shown.out
    assert box.told("rebuild").code == 0
    assert left(box.told_home, *WORDS) == []
    assert box.told("show", new.id, "--full").out == shown.out


def test_a_file_that_nobody_has_read_yet_is_no_way_out(box: Box) -> None:
    memory = remembered(box, SAID)
    box.told("list")
    one = replaced(ONE, id="cabcdefghi")
    path = new_path(folder_of(str(box.told_home), one.project, "shop", ""), one)
    write(path, one)
    with open(f"{path}.123.new", "w") as file:
        file.write(SAID)
    assert box.told("forget", memory, "--force").code == 0
    assert left(box.told_home, *WORDS) == []
    assert len(list(every(str(box.told_home)))) == 1


def test_a_forgotten_session_takes_its_checkpoints_with_it(box: Box) -> None:
    box.claude("first").turn("Prepare the launch", f"{SAID}.").write()
    box.index()
    first = kept(box, ONE)
    other = kept(box, replaced(ONE, session="second", title="Other", goal="The cache", pending=()))
    assert box.told("forget", "--session", "first", "--force").code == 0
    assert left(box.told_home, *WORDS) == []
    assert list(every(str(box.told_home))) == [other.path]
    with pytest.raises(NotFoundError, match="was forgotten"):
        kept(box, ONE)
    write(first.path, first.handover)  # somebody has put it back
    assert box.told("rebuild").code == 0
    assert first.handover.id not in box.told("checkpoints", "--all-projects").out


@pytest.mark.parametrize("session", ["first", "another"])
def test_it_does_not_come_back_by_a_later_checkpoint(box: Box, session: str) -> None:
    box.claude("first").turn(f"{SAID}.", "Noted.").write()
    box.index()
    memory = remembered(box, SAID)
    assert box.told("forget", memory, "--force").code == 0
    done = kept(box, replaced(ONE, session=session, by=TOOL))
    assert left(box.told_home, *WORDS) == []
    assert "The cache lives in Redis." in read_file(done.path).goal


def test_the_user_may_say_it_again(box: Box) -> None:
    memory = remembered(box, SAID)
    assert box.told("forget", memory, "--force").code == 0
    done = kept(box, replaced(ONE, session="another", by=USER))
    assert read_file(done.path).goal == ONE.goal


def test_a_checkpoint_is_forgotten_by_its_id(box: Box) -> None:
    first, other = kept(box, ONE), kept(box, replaced(ONE, goal="Next", title="", pending=(), at=ONE.at + 1))
    connection = open_store(str(box.store))
    home = str(box.told_home)
    try:
        assert forget_checkpoint(connection, home, first.handover.id) == first.path
        with pytest.raises(NotFoundError):
            forget_checkpoint(connection, home, first.handover.id)
    finally:
        connection.close()
    assert left(box.told_home, *WORDS) == []
    assert list(every(home)) == [other.path]


def test_what_an_agent_keeps_itself_is_not_told_s_to_forget(box: Box) -> None:
    box.claude("first").turn("Question", "Answer").compacted("What was done.").write()
    box.index()
    ((public,),) = box.rows("SELECT public FROM checkpoint")
    connection = open_store(str(box.store))
    try:
        with pytest.raises(UsageError, match="--session s"):
            forget_checkpoint(connection, str(box.told_home), public)
    finally:
        connection.close()


def test_redact_scan_takes_a_secret_out_of_file_name_and_rows(box: Box) -> None:
    secret = "zq9" + "walrusthirtytwo77"
    done = kept(box, replaced(ONE, title=f"Use {secret} here", goal=f"The word is {secret}."))
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
