"""Archive sessions for the day their agent deletes them."""

from __future__ import annotations

import gzip
import json
import shutil
import stat
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.ingest.box import TURNS, Transcript, differences

if TYPE_CHECKING:
    from tests.ingest.box import Box

SECRET = "ghp_" + "b7Kx92LmQz81RtYw" + "0aSdFgHjKlPoIuYtReWq"


def archived(box: Box) -> list[Path]:
    return sorted((box.told_home / "archive").rglob("*.jsonl.gz"))


def content(box: Box) -> str:
    return "".join(gzip.decompress(path.read_bytes()).decode() for path in archived(box))


@pytest.fixture
def talk(box: Box) -> Transcript:
    """An old session with everything a session can have, and its fork."""
    made = box.claude("first", cwd=box.folder("work/shop")).title("Gateway work")
    made.turn("Which port does the gateway use?", "It listens on 8443.")
    made.prompt("Fix it, see https://github.com/acme/demo/pull/7").tool("Edit", file_path="/gone/gate.py")
    made.tool("Bash", command="curl localhost").answer("Done.").compacted("We fixed the gateway.")
    made.turn("Thanks", "Welcome.").write()
    fork = Transcript(made.path.with_name("second.jsonl"), "second", made.cwd, made.at)
    fork.lines = [line | {"sessionId": "second"} for line in made.lines[:3]]
    fork.turn("Another way?", "With a socket.").write()
    return made


def test_only_quiet_sessions_are_archived(box: Box, talk: Transcript) -> None:
    new = box.claude("new", folder="-new")
    new.at = datetime.now(UTC) - timedelta(hours=2)
    new.turn("Is this new?", "Yes.").write()
    box.index()
    assert len(archived(box)) == 2
    assert "Is this new" not in content(box)
    assert "8443" in content(box)


def test_archive_is_private_without_secrets_or_tool_output(box: Box, talk: Transcript) -> None:
    talk.turn(f"The token is {SECRET}", "Keep it.")
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "OUTPUT OF A TOOL"}
    talk._line("user", {"role": "user", "content": [result]}, toolUseResult={"stdout": "OUTPUT OF A TOOL"})
    talk.turn("Good", "Yes.").write()
    box.index()
    text = content(box)
    assert "The token is [secret:" in text
    assert SECRET not in text
    assert "OUTPUT OF A TOOL" not in text
    for path in [box.told_home / "archive", *(box.told_home / "archive").rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_changed_session_is_archived_again(box: Box, talk: Transcript) -> None:
    box.index()
    talk.turn("One more question", "One more answer.").append()
    box.index()
    assert "One more answer." in content(box)
    talk.title("Zebra crossing", by_user=True).append()
    box.index()
    assert "Zebra crossing" in content(box)
    before = {path: path.stat().st_mtime_ns for path in archived(box)}
    box.index()
    assert before == {path: path.stat().st_mtime_ns for path in archived(box)}


def test_deleted_session_survives_a_rebuild(box: Box, talk: Transcript) -> None:
    box.index()
    before = box.answers(("gateway", "socket", "port", "zebra"))
    keys = box.rows(TURNS)
    shutil.rmtree(box.home / ".claude")
    box.index()
    assert differences(before, box.answers(("gateway", "socket", "port", "zebra"))) == []
    box.drop_store()
    assert box.told("rebuild").code == 0
    assert differences(before, box.answers(("gateway", "socket", "port", "zebra"))) == []
    assert keys == box.rows(TURNS)
    assert box.told("rebuild").code == 0
    assert differences(before, box.answers(("gateway", "socket", "port", "zebra"))) == []


def test_deleted_session_is_restored_into_a_new_database(box: Box, talk: Transcript) -> None:
    box.index()
    before = box.answers(("gateway",))
    shutil.rmtree(box.home / ".claude")
    box.drop_store()
    box.index()
    assert differences(before, box.answers(("gateway",))) == []
    assert box.told("health", "--json").json["problems"] == []


@pytest.mark.parametrize("gone", ["first", "second"])
def test_rebuild_with_one_of_two_sources_gone(box: Box, talk: Transcript, gone: str) -> None:
    box.index()
    before = box.answers(("gateway", "socket"))
    talk.path.with_name(f"{gone}.jsonl").unlink()
    box.drop_store()
    box.told("rebuild")
    assert differences(before, box.answers(("gateway", "socket"))) == []


def test_returning_source_replaces_the_archive(box: Box, talk: Transcript) -> None:
    box.index()
    text = talk.path.read_text()
    talk.path.unlink()
    box.drop_store()
    box.told("rebuild")
    before = box.answers(("gateway",))
    talk.path.write_text(text)
    box.index()
    assert differences(before, box.answers(("gateway",))) == []
    talk.turn("Are you back?", "I am.").append()
    assert box.turns("first")[-1] == ("Are you back?", "I am.")
    box.drop_store()
    box.told("rebuild")
    assert box.turns("first")[-1] == ("Are you back?", "I am.")


def test_shorter_copy_does_not_replace_the_archive(box: Box, talk: Transcript) -> None:
    box.index()
    before = box.turns("first")
    talk.path.write_text("")
    talk.path.unlink()
    backup = talk.path.with_name("backup.jsonl")
    backup.write_text("".join(json.dumps(line) + "\n" for line in talk.lines[:3]))
    box.index()
    assert box.turns("first") == before
    box.drop_store()
    box.told("rebuild")
    assert box.turns("first") == before


def test_unarchived_deleted_session_survives_a_rebuild(box: Box) -> None:
    talk = box.claude("new")
    talk.at = datetime.now(UTC) - timedelta(minutes=5)
    talk.turn("Is this new?", "Brand new.").write()
    box.index()
    assert archived(box) == []
    talk.path.unlink()
    assert box.told("rebuild").code == 0
    assert box.turns("new") == [("Is this new?", "Brand new.")]


def test_session_without_time_is_archived(box: Box) -> None:
    talk = box.claude("timeless").turn("What time is it?", "Nobody knows.")
    for line in talk.lines:
        del line["timestamp"]
    talk.write()
    box.index()
    talk.path.unlink()
    box.drop_store()
    box.told("rebuild")
    assert box.turns("timeless") == [("What time is it?", "Nobody knows.")]


def damages(content: bytes) -> list[bytes]:
    middle = len(content) // 2
    wrong = [
        ["session", {"native": "first", "next_n": 10**400, "started": "x", "title": 7, "archived": []}],
        ["turn", "x", None, [], {}, 5, None], ["turn", 0, 0, 2**80, "A question", "An answer", ""], ["turn"],
        ["touch", 1, 2, 3], ["ref", [], {}, 0], ["checkpoint", -1, 2, 3, 4, 5, 6, 7, 8, 9], [[]], [{}], {}, 7,
    ]  # fmt: skip
    lines = "\n".join(map(json.dumps, wrong)).encode()
    return [
        b"", b"\0" * 100, content[:5], content[:middle], content[:-4],
        content[:middle] + bytes(255 - byte for byte in content[middle : middle + 8]) + content[middle + 8 :],
        gzip.compress(b""), gzip.compress(b"\xff\xfe{}\n[]\n"), gzip.compress(lines),
        gzip.compress(b"[" * 200_000),
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(10))
def test_damaged_archive_file_affects_no_other(box: Box, talk: Transcript, number: int) -> None:
    box.index()
    expected = box.turns("second")
    path = next(one for one in archived(box) if b'"first"' in gzip.decompress(one.read_bytes()))
    path.write_bytes(damages(path.read_bytes())[number])
    shutil.rmtree(box.home / ".claude")
    box.drop_store()
    answer = box.told("rebuild")
    assert (answer.code, answer.err) == (0, "")
    assert box.turns("second")[-1:] == expected[-1:]
    assert box.told("list", "--json").code == 0


def test_truncated_archive_file_is_read_to_its_end(box: Box) -> None:
    talk = box.claude("long")
    for number in range(400):
        talk.turn(f"Question {number} of many", f"Answer {number} " + format(hash(str(number)), "x") * 40)
    talk.write()
    box.index()
    path = archived(box)[0]
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    talk.path.unlink()
    box.drop_store()
    box.told("rebuild")
    turns = box.turns("long")
    assert 100 < len(turns) < 400
    assert turns[0][0] == "Question 0 of many"


def test_project_of_deleted_folder_survives_a_rebuild(box: Box) -> None:
    repository = Path(box.folder("work/demo"))
    box.git(str(repository), "init", "-q")
    box.git(str(repository), "remote", "add", "origin", "git@github.com:acme/demo.git")
    (repository / "packages" / "web").mkdir(parents=True)
    box.claude("inside", cwd=str(repository / "packages" / "web")).turn("Which package?", "web.").write()
    box.claude("kept", cwd=str(repository)).turn("Which repository?", "demo.").write()
    box.index()
    before = box.answers(("package", "repository"))
    assert before["repos"]["projects"][0]["key"] == "github.com/acme/demo"
    shutil.rmtree(repository)
    (box.home / ".claude/projects/-gone-shop/inside.jsonl").unlink()
    box.drop_store()
    box.told("rebuild")
    assert differences(before, box.answers(("package", "repository"))) == []


def test_unfinished_archive_file_is_neither_left_nor_read(box: Box, talk: Transcript) -> None:
    box.index()
    path = archived(box)[0]
    (path.parent / f"{path.name}.12345").write_bytes(path.read_bytes()[:50])
    shutil.rmtree(box.home / ".claude")
    box.drop_store()
    assert box.told("rebuild").code == 0
    assert len(box.turns("first")) == 3


def test_archiving_ignores_the_agent_s_clock(box: Box, talk: Transcript) -> None:
    """A session whose last words lie in the future is kept by a rebuild, not lost."""
    talk.at = datetime.fromtimestamp(time.time(), UTC) + timedelta(days=400)
    talk.turn("From the future", "Yes.").write()
    box.index()
    shutil.rmtree(box.home / ".claude")
    box.told("rebuild")
    assert box.turns("first")[-1] == ("From the future", "Yes.")
