"""Trimming: learning first, vectors, leftovers and problems."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest

from tests.ingest.test_trim import CAP, FREE, SESSIONS, TIGHT, config, history, size, trimmed
from tests.soak import sampled
from told.cli import main as detached
from told.retention import disk

if TYPE_CHECKING:
    from tests.ingest.box import Box


@pytest.mark.soak
def test_session_is_learned_before_trimming(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    history(box)
    config(box, TIGHT)
    box.environ["TOLD_BACKGROUND"] = "on"
    monkeypatch.setattr(detached, "start_sweep", lambda *_: None)
    box.told("index")  # without the background that would learn
    box.environ["TOLD_BACKGROUND"] = "off"
    connection = apsw.Connection(str(box.store))
    waiting = len(connection.execute("SELECT DISTINCT session_id FROM fresh WHERE stage < 2").fetchall())
    assert waiting == SESSIONS
    disk.reduce_disk_use(connection, str(box.told_home), 2, learned=True)
    connection.close()
    assert trimmed(box) == set()
    del box.environ["TOLD_LEARN"]
    box.index()
    assert trimmed(box)
    assert box.rows("SELECT 1 FROM fresh JOIN trimmed USING (session_id)") == []


@pytest.mark.soak
def test_trim_removes_vectors(box: Box) -> None:
    """What is left of a trimmed session, its title, is still found by what it means."""
    made = history(box)
    made[0].title("Which port does the gateway use?").write()
    config(box, FREE)
    box.index()
    per_turn = "SELECT count(*) FROM turn_meaning JOIN turn t ON t.id = turn_id WHERE n >= 0"
    assert box.rows(per_turn) == [(4 * SESSIONS,)]
    config(box, TIGHT)
    box.index()
    gone = len(trimmed(box))
    assert gone > 5
    assert box.rows(per_turn) == [(4 * (SESSIONS - gone),)]
    of_trimmed = "SELECT native FROM {} JOIN trimmed USING (session_id) JOIN session s ON s.id = session_id"
    sketched, waiting = of_trimmed.format("sketch"), f"{of_trimmed.format('fresh')} WHERE stage = 2"
    assert (box.rows(sketched), box.rows(waiting)) == ([], [("session-00",)])
    assert box.index() == 0
    assert (box.rows(sketched), box.rows(waiting)) == ([("session-00",)], [])
    assert box.rows("SELECT * FROM fresh WHERE stage = 2") == []
    assert len(trimmed(box)) == gone


@pytest.mark.parametrize("model", sampled(["off", "http://127.0.0.1:9/embeddings#model=none"], ["off"]))
def test_session_without_vectors_is_trimmed(box: Box, model: str) -> None:
    history(box)
    del box.environ["TOLD_LEARN"]
    config(box, f"model = {model!r}\n{TIGHT}")
    box.index()
    assert box.rows("SELECT * FROM turn_meaning") == []
    assert size(box) <= CAP
    gone = trimmed(box)
    assert gone == {f"session-{number:02}" for number in range(len(gone))}
    assert 5 < len(gone) <= SESSIONS - 10


def test_leftovers_are_removed_before_texts(box: Box) -> None:
    history(box, 20)
    config(box, "[retention]\ncap_mb = 4\n")
    box.index()
    for name in ("sessions.db.damaged", "sessions.db.damaged-wal", "hook.log", "hook.log.old"):
        (box.told_home / name).write_bytes(b"x" * 1_000_000)
    config_before = (box.told_home / "config.toml").read_bytes()
    box.index()
    assert size(box) <= 4 * disk.MB
    assert not list(box.told_home.glob("*.damaged*"))
    assert trimmed(box) == set()
    assert (box.told_home / "config.toml").read_bytes() == config_before


def test_file_of_bad_lines_does_not_fill_the_database(box: Box) -> None:
    talk = box.claude("one").turn("Which port?", "8443.")
    talk.write()
    with talk.path.open("a") as file:
        file.write("{broken\n" * 5000)
    box.index()
    assert box.rows("SELECT count(*) FROM problem") == [(1000,)]
    assert box.turns("one") == [("Which port?", "8443.")]
