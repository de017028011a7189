"""A killed run, repeated, gives the same result as an uninterrupted one."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.ingest.box import TURNS, Box, Transcript, differences
from tests.ingest.template import Kept
from tests.soak import points

if TYPE_CHECKING:
    from collections.abc import Callable

SESSIONS = points(everyday=120, soak=300)
KILLS = points(everyday=3, soak=1000)
QUERIES = (
    "gateway port", "zebra", "topic 17", "refactor", "database migration", "token", "pull request", "cache",
    "question 3", "never", "session 119", "compaction summary",
)  # fmt: skip
TABLES = {
    "sessions": "SELECT public, agent, native, cwd, part, branch, repository, title, title_by, summary,"
    " started, ended, parent, kind, archived, model, turns, next_n FROM session ORDER BY native",
    "turns": TURNS,
    "touches": "SELECT s.native, path, how, at FROM touch t"
    " JOIN session s ON s.id = t.session_id ORDER BY 1, 2",
    "refs": "SELECT DISTINCT s.native, t.kind, value, at FROM ref t"
    " JOIN session s ON s.id = t.session_id ORDER BY 1, 2, 3",
    "checkpoints": "SELECT s.native, number, c.title, overview, at FROM checkpoint c"
    " JOIN session s ON s.id = c.session_id ORDER BY 1, 2",
    "places": "SELECT path, key FROM place JOIN project ON project.id = project_id ORDER BY 1",
    "sources": "SELECT path, size, changed, offset, line, state, print, gone FROM source ORDER BY path",
    "problems": "SELECT path, p.line, reason FROM problem p JOIN source s ON s.id = source_id ORDER BY 1, 2",
}


def history(box: Box) -> None:
    """Write many sessions with all that sessions have: helpers, forks, copies, notes, bad lines."""
    chance = random.Random(7)
    shop = box.folder("work/shop")
    made: list[Transcript] = []
    for number in range(SESSIONS):
        talk = box.claude(
            f"session-{number:03}", cwd=shop if number % 3 else "/gone/api", folder=f"-p{number % 9}"
        )
        if number % 10 == 9:
            talk.lines = [line | {"sessionId": talk.session} for line in made[-1].lines[:4]]
        if number % 4 == 0:
            talk.title(f"Work on topic {number}")
        for turn in range(chance.randint(1, 6)):
            talk.prompt(f"Question {turn} about topic {number}: {_words(chance, 12)}")
            talk.tool("Edit", file_path=f"{shop}/src/file{chance.randint(0, 40)}.py")
            talk.answer(f"{_words(chance, 25)}, see https://github.com/acme/demo/pull/{number}")
        if number % 15 == 0:
            talk.compacted(f"A compaction summary of session {number}: {_words(chance, 20)}")
        talk.write()
        if number % 20 == 0:
            talk.path.with_name(f"copy-{number}.jsonl").write_text(talk.turn("One more", "Fine.").text())
        if number % 25 == 0:
            with talk.path.open("a") as file:
                file.write('{"type":"user", broken\n')
        made.append(talk)


def _words(chance: random.Random, count: int) -> str:
    words = (
        "gateway", "port", "zebra", "refactor", "database", "migration", "token", "cache", "never", "pull",
        "request", "orders", "lag", "threshold", "deploy", "rollback", "index", "query", "slow", "session",
    )  # fmt: skip
    return " ".join(chance.choice(words) for _ in range(count))


def everything(box: Box) -> dict[str, Any]:
    found: dict[str, Any] = {name: box.rows(sql) for name, sql in TABLES.items()}
    for query in QUERIES:
        found[f"search {query}"] = box.told(
            "search", query, "--in", "sessions", "--json", "--all-projects", "-n", "10"
        ).json
    found["archive"] = sorted(
        (str(path.relative_to(box.told_home)), path.read_bytes())
        for path in (box.told_home / "archive").rglob("*")
        if path.is_file() and path.suffix in (".gz", ".jsonl")
    )
    found["archive"] = [(name, content.hex()) for name, content in found["archive"]]
    return found


@pytest.fixture(scope="module")
def read_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Kept, dict[str, Any], float]:
    """A machine, what told knows of it after an undisturbed run, and how long that took."""
    box = Box(tmp_path_factory.mktemp("kill") / "box")
    with pytest.MonkeyPatch.context() as monkeypatch:
        box.live_in(monkeypatch)
        history(box)
        began = time.monotonic()
        done = box.start("index").communicate(timeout=300)
        took = time.monotonic() - began
        assert not done[1]
        assert box.rows("SELECT count(*) FROM session WHERE turns > 0") == [(SESSIONS,)]
        box.check()
        return Kept(box), everything(box), took


@pytest.fixture
def whole(
    read_once: tuple[Kept, dict[str, Any], float], use_box: Callable[[Box], Box]
) -> tuple[Box, dict[str, Any], float]:
    kept, expected, took = read_once
    return use_box(kept.again()), expected, took


def begin_anew(box: Box) -> None:
    box.drop_store()
    for path in sorted((box.told_home / "archive").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


def kill_after(process: subprocess.Popen[str], seconds: float) -> bool:
    """Kill a process after some time; return whether it was still at work."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def test_index_after_kill_equals_uninterrupted_run(whole: tuple[Box, dict[str, Any], float]) -> None:
    box, expected, took = whole
    chance = random.Random(11)
    killed = rounds = 0
    while killed < KILLS and rounds < 3 * KILLS:
        rounds += 1
        begin_anew(box)
        # Several deaths in a row, each a little later than the one before, and then one whole run.
        # A question reads only a part of the history, so that the next one dies further on.
        deaths = chance.randint(points(everyday=4, soak=6), points(everyday=6, soak=12))
        for number in range(deaths):
            command = chance.choice(("index", "index", "list"))
            delay = 0.02 + took * (number + chance.random()) / deaths * 0.9
            killed += kill_after(box.start(command), delay if command == "index" else delay / 4)
        assert box.told("index").code == 0
        box.check()
        found = {name: box.rows(sql) for name, sql in TABLES.items()}
        assert differences({name: expected[name] for name in TABLES}, found) == []
    assert differences(expected, everything(box)) == []


@pytest.mark.soak
def test_rebuild_after_kill(whole: tuple[Box, dict[str, Any], float]) -> None:
    box, expected, took = whole
    lost = sorted((box.home / ".claude").rglob("session-0*.jsonl"))
    for path in lost:
        path.unlink()
    box.index()
    for number in range(6):
        kill_after(box.start("rebuild"), 0.05 + took * 1.2 * number / 6)
        assert box.told("list", "--json").code == 0
    box.index()
    box.check()
    shown = ("sessions", "turns", "touches", "refs", "checkpoints", "places")
    found = {name: box.rows(TABLES[name]) for name in shown}
    assert differences({name: expected[name] for name in shown}, found) == []


def test_index_after_kill_with_growing_sessions(make_box: Callable[[str], Box]) -> None:
    box = make_box("growing")
    talks = [
        box.claude(f"grows-{number}", folder=f"-g{number}") for number in range(points(everyday=20, soak=40))
    ]
    for step in range(6):
        for number, talk in enumerate(talks):
            talk.prompt(f"Step {step} of number {number}") if step % 2 else talk.answer(f"Answer {step}.")
            talk.append()
        kill_after(box.start("index"), 0.08 + 0.03 * step)
    box.index()
    box.check()
    found = {name: box.rows(sql) for name, sql in TABLES.items()}
    begin_anew(box)
    box.index()
    assert differences({name: box.rows(sql) for name, sql in TABLES.items()}, found) == []
