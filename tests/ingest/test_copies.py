"""The same words in several files count once."""

from __future__ import annotations

import itertools
import os
import shutil
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from tests.ingest.box import FIXTURES, TURNS, Transcript, differences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.ingest.box import Box

OLD = FIXTURES / "claude-code" / "old-1.0.61"
COPILOT = FIXTURES / "copilot-cli" / "run"
GEMINI = FIXTURES / "gemini-cli" / "0.61.0"


def read_in_order(box: Box, home: Path, order: Iterable[Path], *, at_once: bool) -> dict[str, Any]:
    """Let the files of a home appear one after the other, or be read in that order; return all answers."""
    files = list(order)
    for number, path in enumerate(files):
        target = box.home / path.relative_to(home)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        # The latest is read first.
        os.utime(target, (1_700_000_000 - number, 1_700_000_000 - number))
        if not at_once:
            box.index()
    box.index()
    box.check()
    return box.answers()


@pytest.mark.parametrize("at_once", [True, False])
def test_copies_with_new_ids_count_once(make_box: Callable[[str], Box], at_once: bool) -> None:
    files = sorted(OLD.rglob("*.jsonl"))
    assert len(files) == 7
    orders = [files, files[::-1], files[3:] + files[:3], files[1::2] + files[::2]]
    first: dict[str, Any] = {}
    for number, order in enumerate(orders):
        box = make_box(f"order-{number}")
        box.told("agents")
        if first:  # marks of fences are made with a machine's own key
            shutil.copyfile(box.home.parent.parent / "order-0" / "told" / "key", box.told_home / "key")
        answers = read_in_order(box, OLD, order, at_once=at_once)
        first = first or answers
        assert differences(first, answers) == []
    asked = [turn["asked"] for turn in first["timeline"]["turns"]]
    assert len(asked) == len(set(asked)) == 6


def fork(original: Transcript, name: str, lines: int) -> Transcript:
    """Return a session that begins with a copy of another one, as a fork does."""
    copy = Transcript(original.path.with_name(f"{name}.jsonl"), name, original.cwd, original.at)
    copy.lines = [line | {"sessionId": name} for line in original.lines[:lines]]
    return copy


def test_fork_keeps_only_its_own_turns(make_box: Callable[[str], Box]) -> None:
    texts: dict[str, Any] = {}
    for number, order in enumerate(itertools.permutations(("m-first", "a-fork", "z-fork"))):
        box = make_box(f"order-{number}")
        first = box.claude("m-first").turn("Paint the door", "It is red.").turn("And the wall", "It is blue.")
        first.turn("And the roof", "It is grey.")
        transcripts = {
            "m-first": first,
            "a-fork": fork(first, "a-fork", 4).turn("Make it green", "It is green."),
            "z-fork": fork(first, "z-fork", 6).turn("Make it black", "It is black."),
        }
        for name in order:
            transcripts[name].write()
            box.index()
        seen = {name: box.turns(name) for name in transcripts}
        assert sorted(len(turns) for turns in seen.values()) == [1, 1, 3] or sum(map(len, seen.values())) == 5
        texts = texts or seen
        assert seen == texts
        box.check()
        for name in order:  # they go on, and nothing comes back
            transcripts[name].turn(f"More for {name}", f"Done for {name}.").append()
            assert box.turns(name)[-1] == (f"More for {name}", f"Done for {name}.")
        assert sum(len(box.turns(name)) for name in transcripts) == 8
        known = box.rows(TURNS)
        box.drop_store()
        box.index()
        assert known == box.rows(TURNS)


def test_fork_inside_an_answer_loses_nothing(box: Box) -> None:
    first = box.claude("first").turn("Paint the door", "It is red.").prompt("And the wall")
    first.write()
    box.index()
    second = fork(first, "second", 3).answer("The wall is pink.", message="msg_other")
    second.write()
    box.index()
    first.answer("The wall is blue.").append()
    box.index()
    assert {answer for name in ("first", "second") for _, answer in box.turns(name)} == {
        "It is red.", "The wall is blue.", "The wall is pink.",
    }  # fmt: skip


def copilot_store(path: Path) -> apsw.Connection:
    return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)


def test_copilot_events_and_store_agree_in_any_order(make_box: Callable[[str], Box]) -> None:
    events = next(COPILOT.rglob("events.jsonl"))
    session = events.parent.name
    seen: dict[str, Any] = {}
    for order in ("events first", "store first"):
        box = make_box(order.replace(" ", "-"))
        shutil.copytree(COPILOT, box.home, dirs_exist_ok=True, copy_function=shutil.copyfile)
        store = box.home / ".copilot" / "session-store.db"
        for suffix in ("-wal", "-shm"):
            store.with_name(store.name + suffix).unlink(missing_ok=True)
        database = copilot_store(store)
        for value in ("acme/demo#17", "acme/demo#18"):
            database.execute(
                "INSERT INTO session_refs(session_id, ref_type, ref_value, turn_index, created_at)"
                " VALUES(?, 'pr', ?, 0, '2026-11-15T19:00:00Z')",
                (session, value),
            )
        database.execute("UPDATE sessions SET summary = 'A title of the store', branch = 'of-the-store'")
        database.close()
        here = box.home / events.relative_to(COPILOT)
        early, late = (store, here) if order == "store first" else (here, store)
        os.utime(early, (1_800_000_000, 1_800_000_000))
        os.utime(late, (1_700_000_000, 1_700_000_000))
        box.index()
        shown = box.told("show", session, "--json", "--full").json
        facts = {
            "turns": box.turns(session), "refs": sorted(ref["at"] for ref in shown["refs"]),
            "files": [(one["how"], one["at"]) for one in shown["files"]],
            "checkpoints": [one["number"] for one in shown["checkpoints"]],
            "row": {name: value for name, value in shown.items() if not isinstance(value, list)},
            "title": box.rows("SELECT title, branch, repository, cwd FROM session WHERE native = ?", session),
            "notes": box.rows("SELECT n, answered FROM turn WHERE n < 0 ORDER BY n, answered"),
        }  # fmt: skip
        assert len(shown["refs"]) >= 2
        seen = seen or facts
        assert facts == seen, order
        # Rewriting the events keeps what the store said.
        here.write_bytes(here.read_bytes())
        os.truncate(here, 0)
        box.index()
        shutil.copyfile(events, here)
        box.index()
        assert len(box.told("show", session, "--json", "--full").json["refs"]) == len(shown["refs"])


def test_later_changes_of_copilot_store_are_read(box: Box) -> None:
    shutil.copytree(COPILOT, box.home, dirs_exist_ok=True, copy_function=shutil.copyfile)
    session = next(COPILOT.rglob("events.jsonl")).parent.name
    box.index()
    before = len(box.turns(session))
    database = copilot_store(box.home / ".copilot" / "session-store.db")
    database.execute(
        "INSERT INTO session_refs(session_id, ref_type, ref_value, turn_index, created_at)"
        " VALUES(?, 'pr', 'acme/demo#99', 0, '2026-11-15T19:00:00Z')",
        (session,),
    )
    database.close()
    shown = box.told("show", session, "--json", "--full").json
    assert any("acme/demo#99" in ref["value"] for ref in shown["refs"])
    assert len(box.turns(session)) == before


def test_empty_stub_of_resumed_session_removes_nothing(make_box: Callable[[str], Box]) -> None:
    files = sorted(path for path in GEMINI.rglob("*") if path.is_file())
    stubs = [path for path in files if "19-43" in path.name or "19-44" in path.name]
    assert len(stubs) == 2
    others = [path for path in files if path not in stubs]
    for number, order in enumerate(([*stubs, *others], [*others, *stubs])):
        box = make_box(f"order-{number}")
        read_in_order(box, GEMINI, order, at_once=False)
        assert len(box.turns("d79ff396-fb49-4cda-bdc3-33c4b7b5a9f7")) == 7
        assert box.rows("SELECT count(*) FROM session WHERE turns > 0") == [(2,)]


def test_subagent_session_is_in_its_parent_s_project(
    make_box: Callable[[str], Box],
) -> None:
    for number, reverse in enumerate((False, True)):
        box = make_box(f"order-{number}")
        cwd = box.folder("work/shop")
        talk = box.claude("parent", cwd=cwd).turn("Look around", "I sent a helper.")
        helper = Transcript(talk.path.parent / "parent" / "subagents" / "agent-x1.jsonl", "parent", "")
        helper.prompt("List the files", agentId="x1", isSidechain=True)
        helper.answer("There are three.", agentId="x1", isSidechain=True)
        order = [talk, helper]
        for transcript in order[::-1] if reverse else order:
            transcript.write()
            box.index()
        projects = {row[0] for row in box.rows("SELECT project_id FROM session WHERE turns > 0")}
        assert len(projects) == 1
        assert None not in projects


def test_turn_ids_survive_a_move_to_an_earlier_session(box: Box) -> None:
    first = box.claude("first").turn("Paint the door", "It is red.")
    later = fork(first, "later", 2).turn("Make it green", "It is green.")
    later.write()
    box.index()
    first.write()
    box.index()
    answer = box.told("show", "later", "--json", "--full").json
    assert [turn["id"].partition(".")[2] for turn in answer["turns_shown"]] == ["1"]
