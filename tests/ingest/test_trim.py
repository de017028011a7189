"""Trim a database over its size limit; only search results change."""

from __future__ import annotations

import hashlib
import random
import signal
import time
from copy import deepcopy
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from tests.ingest.box import TURNS, Box, Transcript, differences
from tests.ingest.template import Kept
from tests.soak import points
from told.ingest.archive import archive_path
from told.retention import disk
from told.retention import disk as trimming
from told.store.sessions.write import SessionWriter

if TYPE_CHECKING:
    from collections.abc import Callable

SESSIONS = 60
KILLS = points(everyday=2, soak=80)
FREE = "[retention]\ncap_mb = 0\n"
TIGHT = "[retention]\ncap_mb = 2\n"
CAP = 2 * disk.MB


def prose(chance: random.Random, count: int) -> str:
    """Return words that hardly pack: as real text, they fill the index."""
    return " ".join(f"{chance.choice('bcdfgklmnprst')}{chance.randrange(16**5):x}" for _ in range(count))


def day_of(number: int) -> str:
    """Return the day of a session of the history."""
    return f"2026-{3 + number // 28:02}-{1 + number % 28:02}"


def history(box: Box, sessions: int = SESSIONS) -> list[Transcript]:
    """Write sessions, 60 of which take more than a megabyte of the store; the first is the oldest."""
    chance = random.Random(3)
    made: list[Transcript] = []
    for number in range(sessions):
        talk = box.claude(f"session-{number:02}", cwd=box.folder("work/shop"))
        talk.at = datetime.fromisoformat(day_of(number)).replace(hour=9, tzinfo=UTC)
        if number == 4:  # a fork: it begins with a copy of turns of the one before
            talk.lines = [line | {"sessionId": talk.session} for line in made[3].lines[:3]]
        for turn in range(4):
            talk.prompt(f"Question {turn} of session{number}: {prose(chance, 60)}")
            talk.tool("Edit", file_path=f"/gone/shop/file{number}.py").answer(prose(chance, 500))
        talk.write()
        made.append(talk)
    return made


def config(box: Box, content: str) -> None:
    box.told_home.mkdir(exist_ok=True)
    (box.told_home / "config.toml").write_text(content)


def size(box: Box) -> int:
    return sum(path.stat().st_size for path in box.told_home.rglob("*") if path.is_file())


def trimmed(box: Box) -> set[str]:
    rows = box.rows("SELECT native FROM trimmed t JOIN session s ON s.id = t.session_id")
    return {row[0] for row in rows}


def shown(box: Box) -> dict[str, Any]:
    """Return everything a user sees without searching, as it is printed."""
    seen = {name: box.told(name, "--all-projects", "-n", "1000").out for name in ("list", "files")}
    for number in (0, 1, 2, 3, 4, 20, SESSIONS - 1):
        name = f"session-{number:02}"
        for how in ((), ("--turns",), ("--full", "--json")):
            seen[f"{name} {how}"] = box.told("show", name, *how).out
        seen[f"{name}.2"] = box.told("show", f"{name}.2").out
    return seen


def found(box: Box, words: tuple[str, ...]) -> dict[str, Any]:
    """Return everything that searches find."""
    where = ("--in", "sessions", "--json", "--all-projects", "-n", "1000")
    return {f"search {query}": box.told("search", query, *where).json for query in words}


@pytest.fixture(scope="module")
def read_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Kept, list[Transcript]]:
    """A machine with a history that was read without a cap."""
    box = Box(tmp_path_factory.mktemp("trimming") / "box")
    with pytest.MonkeyPatch.context() as monkeypatch:
        box.live_in(monkeypatch)
        made = history(box)
        config(box, FREE)
        box.index()
    assert size(box) > 1.5 * CAP
    return Kept(box), made


@pytest.fixture
def box(read_once: tuple[Kept, list[Transcript]], use_box: Callable[[Box], Box]) -> Box:
    return use_box(read_once[0].again())


@pytest.fixture
def full(read_once: tuple[Kept, list[Transcript]]) -> list[Transcript]:
    """The history on it, for a test to go on with."""
    return deepcopy(read_once[1])


def test_trim_removes_oldest_texts_and_only_search_changes(box: Box, full: list[Transcript]) -> None:
    before = shown(box)
    config(box, TIGHT)
    box.index()
    assert size(box) <= CAP
    gone = trimmed(box)
    assert gone == {f"session-{number:02}" for number in range(len(gone))}
    assert 5 < len(gone) <= SESSIONS - 10
    assert differences(before, shown(box)) == []
    assert len(box.rows("SELECT 1 FROM turn WHERE asked = '' AND n >= 0")) == sum(
        row[0] for row in box.rows("SELECT turns FROM session JOIN trimmed ON session_id = id")
    )


def test_search_reports_trimmed_sessions(box: Box, full: list[Transcript]) -> None:
    config(box, TIGHT)
    box.index()
    many = len(trimmed(box))
    assert box.found("session59") == ["session-59"]
    answer = box.told("search", "session59", "--all-projects")
    line = f"({many} older sessions not searched for lack of space: `told config set retention.cap_mb 4`"
    assert answer.out.splitlines()[-1] == f"{line}, then `told rebuild`)"
    assert box.told("search", "session59", "--all-projects", "--json").json["not_searched"] == many
    none = box.told("search", "session0", "--all-projects")
    assert none.code == 1
    assert line in none.err
    first_kept, last_gone = (day_of(number) for number in (many, many - 1))
    late = box.told("search", "session59", "--all-projects", "--since", first_kept)
    assert "not searched" not in late.out
    late = box.told("search", "session59", "--all-projects", "--since", last_gone)
    assert "(1 older session not searched" in late.out
    assert f"({many} older sessions not searched" in box.told("timeline", "-n", "999", "--all-projects").out


def test_rebuild_with_more_room_restores_all_texts(box: Box, full: list[Transcript]) -> None:
    words = ("session0", "session59", "question")
    before, rows = shown(box) | found(box, words), box.rows(TURNS)
    config(box, TIGHT)
    box.index()
    assert trimmed(box)
    full[0].path.unlink()  # the archive alone has it now
    config(box, FREE)
    assert box.told("rebuild").code == 0
    assert differences(before, shown(box) | found(box, words)) == []
    assert box.rows(TURNS) == rows
    assert trimmed(box) == set()


def test_trimmed_session_is_not_read_again(box: Box, full: list[Transcript]) -> None:
    config(box, TIGHT)
    assert box.told("sweep").code == 0
    before = trimmed(box)
    rows = box.rows(TURNS)
    for _ in range(2):
        assert box.index() == 0
        assert box.told("sweep").code == 0
    assert trimmed(box) == before
    assert box.rows(TURNS) == rows
    # The agent's files are read once more, and say the same: still nothing comes back.
    for talk in full:
        talk.write()
    assert box.index() == SESSIONS
    assert trimmed(box) == before
    assert box.rows(TURNS) == rows


def test_continued_session_gets_its_texts_back(
    box: Box, full: list[Transcript], make_box: Callable[[str], Box]
) -> None:
    config(box, TIGHT)
    box.index()
    config(box, FREE)
    full[2].turn("Where were we with the zebra?", "At the crossing.").append()
    full[3].answer("And one sentence more.").append()
    box.index()
    assert not trimmed(box) & {"session-02", "session-03"}
    assert "session-02" in box.found("session2")
    assert box.found("zebra crossing") == ["session-02"]
    never = make_box("never")
    for talk, again in zip(full[:6], history(never, 6), strict=True):
        again.path.write_bytes(talk.path.read_bytes())
    config(never, FREE)
    never.index()
    wanted = [row for row in never.rows(TURNS) if row[0] in ("session-02", "session-03")]
    assert [row for row in box.rows(TURNS) if row[0] in ("session-02", "session-03")] == wanted
    assert len(wanted) == 9


def test_texts_missing_in_archive_are_read_from_agent_file(box: Box, full: list[Transcript]) -> None:
    before = shown(box)
    config(box, TIGHT)
    box.index()
    for number in (0, 4):
        path = archive_path(str(box.told_home), "claude-code", f"session-{number:02}")
        box.told_home.joinpath(path).unlink()
    assert differences(before, shown(box)) == []
    full[0].path.unlink()
    answer = box.told("show", "session-00")
    assert answer.out.startswith("(Its text is gone")
    assert box.told("show", "session-00", "--json").json["lost"] is True
    full[4].turn("Once more, about the zebra?", "Yes.").append()
    config(box, FREE)
    box.index()
    assert len(box.turns("session-04")) == 5
    assert "session-04" in box.found("session4 zebra")


def test_trim_compares_the_archive_first(
    box: Box, full: list[Transcript], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note that a session is archived is not believed: its file is compared, and written anew."""
    before = shown(box)
    damaged_file, lost_file = (
        box.told_home / archive_path(str(box.told_home), "claude-code", name)
        for name in ("session-00", "session-01")
    )
    damaged_file.write_bytes(damaged_file.read_bytes()[:400])
    lost_file.unlink()
    for talk in full:
        talk.path.unlink()
    config(box, TIGHT)
    box.index()
    assert {"session-00", "session-01"} <= trimmed(box)
    assert differences(before, shown(box)) == []


def test_interrupted_trim_leaves_no_partial_session(
    box: Box, full: list[Transcript], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = shown(box)
    config(box, TIGHT)
    monkeypatch.setattr(trimming, "_BATCH", 20_000)
    real, calls = SessionWriter.empty_turns, []

    def cut_off(self: SessionWriter, session_id: int) -> None:
        calls.append(session_id)
        real(self, session_id)
        if len(calls) == 5:
            raise KeyboardInterrupt  # as if it was killed: the transaction is not finished

    monkeypatch.setattr(SessionWriter, "empty_turns", cut_off)
    assert box.told("index").code == 130
    assert 0 < len(trimmed(box)) < 5
    assert differences(before, shown(box)) == []
    monkeypatch.setattr(SessionWriter, "empty_turns", real)
    box.index()
    assert size(box) <= CAP
    assert differences(before, shown(box)) == []


def test_trim_after_kill_loses_nothing(box: Box, full: list[Transcript]) -> None:
    before = shown(box)
    config(box, TIGHT)
    chance = random.Random(5)
    for number in range(KILLS):
        child = box.start("index")
        time.sleep(0.1 + 0.8 * (number + chance.random()) / KILLS)
        child.send_signal(signal.SIGKILL)
        child.communicate(timeout=300)
        box.check()
    child = box.start("index")
    assert child.communicate(timeout=300)[1] == ""
    assert size(box) <= CAP
    assert differences(before, shown(box)) == []


@pytest.mark.parametrize("year", [2016, 2036])
def test_clock_jump_does_not_change_trimming(
    box: Box, full: list[Transcript], monkeypatch: pytest.MonkeyPatch, year: int
) -> None:
    config(box, TIGHT)
    jumped = (year - 1970) * 31_556_952 * 10**9
    monkeypatch.setattr(time, "time_ns", lambda: jumped)
    monkeypatch.setattr(time, "time", lambda: jumped / 1e9)
    assert box.told("index").code == 0
    monkeypatch.undo()
    gone = trimmed(box)
    assert gone == {f"session-{number:02}" for number in range(len(gone))}
    assert 5 < len(gone) <= SESSIONS - 10


def test_only_copies_are_never_trimmed(box: Box, full: list[Transcript]) -> None:
    before = shown(box)
    for talk in full:
        talk.path.unlink()
    box.index()
    for name in ("one", "two"):
        journal = box.told_home / "journal" / name
        journal.mkdir(parents=True)
        (journal / "00000001.jsonl").write_bytes(b"#" * disk.MB)
    files = [path for part in ("journal", "archive") for path in (box.told_home / part).rglob("*.*")]
    prints = {path: hashlib.sha256(path.read_bytes()).digest() for path in files}
    assert len(prints) > SESSIONS
    config(box, TIGHT)
    box.index()
    box.told("sweep")
    assert {path: hashlib.sha256(path.read_bytes()).digest() for path in files} == prints
    assert differences(before, shown(box)) == []
    found = box.told("health", "--json").json["disk"]
    assert found["over"] == found["bytes"] - CAP > 0
    assert "MB over its cap of 2 MB." in box.told("health").out


def test_archive_copies_are_dropped_after_texts(box: Box, full: list[Transcript]) -> None:
    before = shown(box)
    for talk in full[:30]:
        talk.path.unlink()
    box.index()
    filler = box.told_home / "journal" / "one"
    filler.mkdir(parents=True)
    (filler / "00000001.jsonl").write_bytes(b"#" * 1_500_000)
    config(box, TIGHT)
    box.index()
    kept = {path.name for path in (box.told_home / "archive").rglob("*.gz")}
    names = [archive_path("", "claude-code", talk.session).rpartition("/")[2] for talk in full]
    assert {*names[:30]} <= kept
    assert {*names[30:50]} - kept
    assert differences(before, shown(box)) == []
