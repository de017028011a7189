"""Follow every change of agents' files without reading twice."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tests.ingest.box import TURNS, Transcript, differences

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.ingest.box import Box


@pytest.fixture
def talk(box: Box) -> Transcript:
    """A session of two turns that told has read."""
    transcript = box.claude().turn("Which port does the gateway use?", "It listens on 8443.")
    transcript.turn("And the metrics?", "They are on 9100.").write()
    box.index()
    return transcript


def rewritten(talk: Transcript, *turns: tuple[str, str]) -> Transcript:
    """Return other words for the same session file."""
    other = Transcript(talk.path, talk.session, talk.cwd, talk.at + timedelta(days=1))
    for turn in turns:
        other.turn(*turn)
    return other


def same_as_read_at_once(box: Box) -> None:
    """Fail unless the answers are those of a told that reads all of it for the first time."""
    known = box.answers(("gateway", "metrics", "port"))
    turns = box.rows(TURNS)
    box.check()
    box.drop_store()
    for path in box.told_home.rglob("*.jsonl*"):
        path.unlink()
    box.index()
    assert box.rows(TURNS) == turns
    assert differences(known, box.answers(("gateway", "metrics", "port"))) == []


def test_appended_turn_is_read(box: Box, talk: Transcript) -> None:
    talk.turn("Is there TLS?", "Yes, version 1.3 only.").append()
    assert box.found("TLS version") == [talk.session]
    assert box.turns(talk.session)[2:] == [("Is there TLS?", "Yes, version 1.3 only.")]
    same_as_read_at_once(box)


def test_nothing_is_read_twice(box: Box, talk: Transcript) -> None:
    assert box.index() == 0
    before = box.rows("SELECT * FROM turn ORDER BY id")
    talk.turn("Is there TLS?", "Yes.").append()
    assert box.index() == 1
    assert box.rows("SELECT * FROM turn ORDER BY id")[:1] == before[:1]


def test_answer_in_pieces_is_one_turn(box: Box) -> None:
    talk = box.claude().prompt("Set up the gateway")
    talk.append()
    for number in range(12):
        assert box.told("list", "--json").code == 0
        talk.tool("Edit", file_path=f"/gone/shop/part{number}.py").answer(f"Part {number} is done.")
        talk.append()
    assert box.turns(talk.session) == [
        ("Set up the gateway", "\n\n".join(f"Part {number} is done." for number in range(12)))
    ]
    talk.turn("Thanks", "You are welcome.").append()
    assert len(box.turns(talk.session)) == 2
    same_as_read_at_once(box)


def test_long_texts_are_cut_at_the_same_place(box: Box) -> None:
    talk = box.claude().prompt("Do a great many things")
    for number in range(30):
        talk.tool("Bash", command=f"echo {number} " + "x" * 470).answer(f"Answer {number} " + "y" * 3000)
        talk.append()
        box.told("list")
    talk.turn("Done?", "Yes.").append()
    same_as_read_at_once(box)


def test_session_with_only_a_title_continues(box: Box) -> None:
    talk = box.claude().title("Gateway work")
    talk.append()
    box.index()
    talk.answer("Welcome back.").turn("Which port?", "It is 8443.").append()
    box.index()
    assert box.turns(talk.session) == [("", "Welcome back."), ("Which port?", "It is 8443.")]
    same_as_read_at_once(box)


def test_summary_is_the_first_informative_prompt(box: Box) -> None:
    talk = box.claude()
    for prompt in ("hi", "go on", "Make the gateway restart itself", "Now document how that works"):
        talk.turn(prompt, "Fine.").append()
        box.index()
    summary = box.told("list", "--json").json["sessions"][0]["summary"]
    assert summary == "Make the gateway restart itself"
    same_as_read_at_once(box)


def test_later_title_is_found_and_user_title_stays(box: Box, talk: Transcript) -> None:
    talk.title("Ports of everything").append()
    assert box.found("Ports of everything") == [talk.session]
    talk.title("Zebra crossing", by_user=True).append()
    box.told("list")
    talk.title("Ports of nothing").append()
    assert box.found("zebra") == [talk.session]
    assert box.told("list", "--json").json["sessions"][0]["summary"] == "Zebra crossing"
    same_as_read_at_once(box)


@pytest.mark.parametrize("turns", [1, 2, 9], ids=["shorter", "about as long", "longer"])
def test_rewritten_file_replaces_its_session(box: Box, talk: Transcript, turns: int) -> None:
    other = rewritten(talk, *((f"Paint wall number {n}", f"Wall {n} is blue.") for n in range(turns)))
    other.write()
    assert box.found("gateway listens") == []
    assert box.turns(talk.session) == [(f"Paint wall number {n}", f"Wall {n} is blue.") for n in range(turns)]
    same_as_read_at_once(box)


def test_rewritten_file_of_same_size_replaces_its_session(box: Box, talk: Transcript) -> None:
    content = talk.path.read_bytes()
    talk.path.write_bytes(content.replace(b"gateway use", b"postman use").replace(b"9100", b"9177"))
    assert talk.path.stat().st_size == len(content)
    assert box.turns(talk.session)[0][0] == "Which port does the postman use?"
    assert box.found("gateway") == []
    same_as_read_at_once(box)


def test_rewritten_file_drops_old_content(box: Box) -> None:
    talk = box.claude().title("Ports").turn("Fix acme/demo, see https://github.com/acme/demo/pull/7", "Did.")
    talk.tool("Edit", file_path="/gone/shop/gateway.py").compacted("We opened the port.").write()
    box.index()
    shown = box.told("show", talk.session, "--json", "--full").json
    assert shown["refs"]
    assert shown["files"]
    assert shown["checkpoints"]
    rewritten(talk, ("Something else entirely", "Of course.")).write()
    shown = box.told("show", talk.session, "--json", "--full").json
    assert not shown["refs"]
    assert not shown["files"]
    assert not shown["checkpoints"]
    assert box.found("opened port") == []
    assert shown["started"] == "2026-03-03T09:00:35Z"
    same_as_read_at_once(box)


def test_truncated_and_grown_file(box: Box, talk: Transcript) -> None:
    lines = talk.text().splitlines(keepends=True)
    talk.path.write_text("".join(lines[:2]))
    assert len(box.turns(talk.session)) == 1
    talk.path.write_text("".join(lines))
    assert len(box.turns(talk.session)) == 2
    talk.path.write_text("")
    box.index()
    talk.path.write_text("".join(lines))
    assert len(box.turns(talk.session)) == 2
    same_as_read_at_once(box)


def test_half_written_line_waits(box: Box, talk: Transcript) -> None:
    line = talk.prompt("Is the gateway slow?").text().encode()[talk.path.stat().st_size :]
    for start, end in ((0, 1), (1, len(line) // 2), (len(line) // 2, len(line) - 2)):
        with talk.path.open("ab") as file:
            file.write(line[start:end])
        assert len(box.turns(talk.session)) == 2
    with talk.path.open("ab") as file:
        file.write(line[-2:])
    assert box.turns(talk.session)[2] == ("Is the gateway slow?", "")
    assert box.told("health", "--json").json["problems"] == []
    same_as_read_at_once(box)


@pytest.mark.parametrize("place", ["-gone-shop/renamed.jsonl", "-elsewhere/{session}.jsonl"])
def test_moved_file_is_the_same_session(box: Box, talk: Transcript, place: str) -> None:
    target = talk.path.parent.parent / place.format(session=talk.session)
    target.parent.mkdir(exist_ok=True)
    talk.path.rename(target)
    box.index()
    talk.path = target
    talk.turn("Is there TLS?", "Yes.").append()
    assert len(box.turns(talk.session)) == 3
    assert box.told("list", "--json").json["total"] == 1
    same_as_read_at_once(box)


@pytest.mark.parametrize("copy_name", ["a-copy.jsonl", "z-copy.jsonl"])
def test_growing_copy_wins(box: Box, talk: Transcript, copy_name: str) -> None:
    original, copy = talk.path, talk.path.with_name(copy_name)
    copy.write_bytes(original.read_bytes())
    box.index()
    assert len(box.turns(talk.session)) == 2
    for path, expected in ((copy, 3), (original, 4), (copy, 5)):
        path.write_bytes(talk.turn(f"Question {expected}", f"Answer {expected}.").text().encode())
        assert len(box.turns(talk.session)) == expected
        assert box.told("list", "--json").json["total"] == 1
    same_as_read_at_once(box)


def test_copy_continues_after_the_original_is_deleted(box: Box, talk: Transcript) -> None:
    copy = talk.path.with_name("copy.jsonl")
    copy.write_bytes(talk.path.read_bytes())
    box.index()
    talk.path.unlink()
    box.index()
    talk.path = copy
    talk.turn("Is there TLS?", "Yes.").append()
    assert len(box.turns(talk.session)) == 3
    same_as_read_at_once(box)


def test_older_copy_never_replaces_a_longer_session(box: Box, talk: Transcript) -> None:
    lines = talk.text().splitlines(keepends=True)
    talk.path.unlink()
    box.index()
    talk.path.with_name("backup.jsonl").write_text("".join(lines[:2]))
    box.index()
    assert len(box.turns(talk.session)) == 2


def test_deleted_session_stays_searchable(box: Box, talk: Transcript) -> None:
    before = box.answers(("gateway",))
    talk.path.unlink()
    box.index()
    assert differences(before, box.answers(("gateway",))) == []
    assert box.told("health", "--json").json["problems"] == []


def test_recreated_file_is_read_again(box: Box, talk: Transcript) -> None:
    talk.path.unlink()
    box.index()
    talk.write()
    box.index()
    assert len(box.turns(talk.session)) == 2
    talk.path.unlink()
    box.index()
    rewritten(talk, ("A new beginning", "Good luck.")).write()
    assert box.turns(talk.session) == [("A new beginning", "Good luck.")]
    same_as_read_at_once(box)


def test_only_links_inside_the_agent_s_folder_are_followed(box: Box, talk: Transcript) -> None:
    kept = talk.path.parent.parent / "kept.jsonl"
    talk.path.rename(kept)
    talk.path.symlink_to(kept)
    box.index()
    talk.turn("Is there TLS?", "Yes.")
    kept.write_text(talk.text())
    assert len(box.turns(talk.session)) == 3
    outside = box.home / "outside.jsonl"
    outside.write_text(talk.turn("Read my secrets", "No.").text())
    talk.path.unlink()
    talk.path.symlink_to(outside)
    assert len(box.turns(talk.session)) == 3
    box.index()
    outside.write_text(talk.turn("Read more secrets", "No.").text())
    box.index()
    assert box.found("secrets") == []


def test_pipe_instead_of_a_file_does_not_block(box: Box, talk: Transcript) -> None:
    talk.path.unlink()
    os.mkfifo(talk.path)
    box.index()
    assert len(box.turns(talk.session)) == 2


def test_disabled_agent_is_not_read(box: Box) -> None:
    box.told_home.mkdir(mode=0o700)
    config = box.told_home / "config.toml"
    config.write_text("[agents.claude-code]\nenabled = false\n")
    talk = box.claude().turn("Which port?", "It is 8443.")
    talk.write()
    box.index()
    assert box.rows("SELECT count(*) FROM turn") == [(0,)]
    config.write_text("")
    assert box.turns(talk.session) == [("Which port?", "It is 8443.")]
    config.write_text("[agents.claude-code]\nenabled = false\n")
    talk.turn("And now?", "Still.").append()
    assert len(box.turns(talk.session)) == 1


def test_hostile_session_id_is_accepted(box: Box) -> None:
    for number, session in enumerate(("\ud800", "#1", "#99999999999999999999", "a/../b", "\x00", "'; --")):
        talk = box.claude(folder=f"-hostile-{number}")
        talk.path = talk.path.with_name(f"{number}.jsonl")
        talk.session = session
        talk.prompt(f"Hello from number {number}", uuid=session).answer("Yes.", message=session).write()
    good = box.claude("good").turn("Which port?", "It is 8443.")
    good.write()
    box.index()
    assert box.found("port") == ["good"]
    good.turn("And?", "No.").append()
    assert len(box.turns("good")) == 2
    assert box.rows("SELECT count(*) FROM session WHERE turns > 0") == [(7,)]


def test_extreme_times_are_accepted(box: Box) -> None:
    talk = box.claude()
    talk.at = datetime(1, 1, 2, tzinfo=UTC)
    talk.turn("Said long ago", "Yes.")
    talk.at = datetime(9999, 12, 30, tzinfo=UTC)
    talk.turn("Said in the future", "Yes.").write()
    box.index()
    assert len(box.turns(talk.session)) == 2
    assert box.told("timeline", "--json").json["count"] == 2


def test_two_homes_do_not_mix(make_box: Callable[[str], Box]) -> None:
    for name in ("one", "two"):
        box = make_box(name)
        box.claude(name).turn(f"This is {name}", "Yes.").write()
        box.index()
        assert [row["native_id"] for row in box.told("list", "--json").json["sessions"]] == [name]
