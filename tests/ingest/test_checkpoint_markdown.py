"""Checkpoints survive formatting, editing and parsing."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.soak import points
from told.ingest.checkpoint_markdown import (
    format_checkpoint,
    format_time,
    normalize,
    parse_checkpoint,
    parse_time,
)
from told.model import AGENT, CLOSED, OPEN, TOOL, USER, Handover

if TYPE_CHECKING:
    from typing import Any

AWKWARD = (
    "a/b/../../pwn", ".hidden...", "👩‍💻 ships 🚀", "x" * 300, "'single' and \"double\" `quotes`",
    "key: value: more", "---", "---\nid: cxxxxxxxxx\nstatus: closed\n---", "id: x", "# Title",
    "## Done", "## Goal ##", "### Deeper", "\\## Done", "\\\\## Done", "##", "- item", "* item",
    "1. item", "[ ] box", "[x] ticked", "\\[x] escaped", "```py\n## Done\n- [x] no\n```",
    "~~~\nunclosed", "tabs\tinside\t", "one\n  two \n three", "a\n\nb\n\n\nc", "a\r\nb\rc",
    "line\u2028separator\u2029here", "שלום עולם", "مرحبا", "nul\0inside", "\ufeffmark",
    "trailing space \n  leading", "-", "- - -", "===", "| a | b |", "<!-- hidden -->", "<b>", "\\",
    "a\\", "[x](y)", "- [ ] nested\n  - [x] deeper", "0123) no list", "“quotes” – dash…", "   ", "\n",
    "C:\\Users\\x\\CON", "%s {0}", "café", "日本語の題名", "Goal", "Open questions", "- \n- ", "a\n---\nb",
    "title: x\n---", "> quoted", "\x1b[31mred", "&amp;", "a\t\n\tb", "[ ]", "[X]", "##\tTab", "#", "1.",
    "•", "+ plus",
)  # fmt: skip
FIELDS = ("done", "pending", "decisions", "files", "plans", "references", "questions")

_texts = st.lists(
    st.one_of(
        st.sampled_from((*AWKWARD, "\n", " ", "\\", "\n```\n", "\n~~~~\n", "\n## x\n")), st.text(max_size=8)
    ),
    max_size=6,
).map("".join)
_items = st.lists(_texts, max_size=4).map(tuple)
_checkpoints = st.builds(
    Handover, goal=_texts, done=_items, pending=_items, decisions=_items, files=_items, plans=_items,
    references=_items, questions=_items, notes=_texts, title=_texts,
    more=st.lists(st.tuples(_texts, _texts), max_size=3).map(tuple), status=st.sampled_from((OPEN, CLOSED)),
    id=st.sampled_from(("", "cabcdefghi", "c234567abc")), agent=_texts, session=_texts, project=_texts,
    folder=_texts, branch=_texts, at=st.integers(0, 253_402_300_799_999),
    by=st.sampled_from((USER, AGENT, TOOL)),
)  # fmt: skip
_quietly = settings(
    max_examples=points(everyday=40, soak=400),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)


@_quietly
@given(_checkpoints)
def test_any_checkpoint_is_parsed_back(given: Handover) -> None:
    once = normalize(given)
    assert normalize(once) == once
    text = format_checkpoint(given)
    assert parse_checkpoint(text) == once
    assert format_checkpoint(parse_checkpoint(text)) == text


@_quietly
@given(_checkpoints)
def test_parse_accepts_crlf_and_byte_order_mark(given: Handover) -> None:
    text = format_checkpoint(given)
    assert parse_checkpoint("\ufeff" + text.replace("\n", "\r\n")) == normalize(given)


def test_64_awkward_checkpoints_are_parsed_back() -> None:
    assert len(AWKWARD) >= 64
    for number, text in enumerate(AWKWARD):
        others = [AWKWARD[(number + step) % len(AWKWARD)] for step in range(1, 8)]
        given = Handover(
            goal=text, notes=f"{text}\n{others[0]}", title=text, at=1_794_828_243_007 + number,
            more=((text or "x", others[1]), ("Goal", text)),
        )  # fmt: skip
        lists: dict[str, Any] = {name: (text, other) for name, other in zip(FIELDS, others, strict=True)}
        given = replace(given, **lists)
        assert parse_checkpoint(format_checkpoint(given)) == normalize(given), text


@pytest.mark.parametrize("text", [one for one in AWKWARD if one.isprintable() and one.strip() == one])
def test_one_line_text_is_unchanged(text: str) -> None:
    given = Handover(goal=text, done=(text,), pending=(text,), notes=text, title=text, more=((text, text),))
    found = parse_checkpoint(format_checkpoint(given))
    assert found == given
    assert (found.goal, found.title, found.done, found.pending) == (text, text, (text,), (text,))


def test_normalize_is_idempotent() -> None:
    found = normalize(
        Handover(
            goal="  a\r\nb\rc\u2028d\n\n", done=(" x ", "", "\n"), title=" one\ntwo  three ", notes="nul\0",
            more=(("", "text"),), id="nonsense", at=-5, by="nobody", status="Done",
        )
    )  # fmt: skip
    assert found.goal == "a\nb\nc\nd"
    assert found.done == ("x",)
    assert found.title == "one two  three"
    assert found.notes == "nul"
    assert found.more == (("More", "text"),)
    assert (found.id, found.at, found.by, found.status) == ("", 0, AGENT, CLOSED)


def test_format_is_readable() -> None:
    text = format_checkpoint(
        Handover(
            goal="Move the gateway to port 8443.", done=("Changed the config",),
            pending=("Tell the team", "Deploy"),
            files=("src/gateway.py (edit)",), title="Gateway port", id="cabcdefghi", agent="claude-code",
            session="12ab", project="github.com/acme/demo", folder="/home/me/demo", branch="main",
            at=1_794_828_243_007,
        )
    )  # fmt: skip
    assert text == (
        "---\nid: cabcdefghi\nstatus: open\nagent: claude-code\nsession: 12ab\n"
        "project: github.com/acme/demo\n"
        "folder: /home/me/demo\nbranch: main\nat: 2026-11-16T11:24:03.007Z\nby: agent\n---\n\n"
        "# Gateway port\n\n"
        "## Goal\n\nMove the gateway to port 8443.\n\n## Done\n\n- Changed the config\n\n"
        "## Pending\n\n- [ ] Tell the team\n- [ ] Deploy\n\n## Files\n\n- src/gateway.py (edit)\n"
    )


# -- edited by hand ---------------------------------------------------------------------------------

BEFORE = Handover(
    goal="Ship it", done=("one",), pending=("two", "three"), title="Ship", id="cabcdefghi", agent="codex",
    session="s-1", at=1_794_828_243_007,
)  # fmt: skip


def test_ticked_item_is_done() -> None:
    text = format_checkpoint(BEFORE).replace("- [ ] two", "- [x] two")
    assert parse_checkpoint(text) == replace(BEFORE, done=("one", "two"), pending=("three",))


def test_bullets_numbers_and_paragraphs_are_items() -> None:
    text = (
        "# T\n\n## Decisions\n* star\n+ plus\n1. first\n   goes on\n12) twelfth\n\n"
        "A paragraph\nof two lines\n\n"
        "• dot\n\tindented\n**bold** is no bullet\n\n## Pending\n1. [ ] a\n- [X] b\n"
    )
    found = parse_checkpoint(text)
    assert found.decisions == (
        "star", "plus", "first\ngoes on", "twelfth", "A paragraph\nof two lines",
        "dot\nindented\n**bold** is no bullet",
    )  # fmt: skip
    assert (found.pending, found.done) == (("a",), ("b",))


def test_sections_may_be_reordered_or_missing() -> None:
    found = parse_checkpoint("---\nstatus: closed\n---\n## notes:\nlate\n## GOAL ##\nearly\n## Notes\nmore\n")
    assert (found.goal, found.notes, found.status) == ("early", "late\n\nmore", CLOSED)


def test_unknown_headings_keep_their_text() -> None:
    found = parse_checkpoint("# T\n## Ziel\nein Ziel\n### Unterpunkt\n## Risks\n- a\n- b\n")
    assert found.more == (("Ziel", "ein Ziel\n### Unterpunkt"), ("Risks", "- a\n- b"))


def test_code_block_stays_in_one_piece() -> None:
    code = "```sh\n## install\nmake\n\n## run\n./app\n```"
    found = parse_checkpoint(
        f"# T\n## Notes\nLike this:\n\n{code}\n\n## Risks\n~~~\n## no heading\n~~~\n## Done\n- a\n"
    )
    assert found.notes == f"Like this:\n\n{code}"
    assert found.more == (("Risks", "~~~\n## no heading\n~~~"),)
    assert found.done == ("a",)
    assert code in format_checkpoint(found)


@pytest.mark.parametrize("mark", ["```", "~~~", "````py"])
def test_unclosed_code_block_swallows_nothing(mark: str) -> None:
    found = parse_checkpoint(f"# T\n## Goal\n{mark}\nx = 1\n## Risks\nnone\n## Pending\n- a\n")
    assert (found.goal, found.more, found.pending) == (f"{mark}\nx = 1", (("Risks", "none"),), ("a",))
    assert parse_checkpoint(format_checkpoint(found)) == found


def test_missing_front_matter_takes_id_from_file_name() -> None:
    text = format_checkpoint(BEFORE).partition("---\n\n")[2]
    found = parse_checkpoint(text, "/x/2026-11-16-1124-ship-cabcdefghi.md", 1_794_000_000_000)
    assert found == replace(BEFORE, agent="", session="", at=1_794_000_000_000)


def test_missing_id_is_made_from_file_name() -> None:
    one, same, other = (
        parse_checkpoint("# T\nWhat to do", path, 1) for path in ("/a/note.md", "/b/note.md", "/a/other.md")
    )
    assert one.id == same.id != other.id
    assert (one.goal, one.title) == ("What to do", "T")


@pytest.mark.parametrize("end", ["", "\n# Ship\n", "\nsome text\n", "\n\n## Goal\nx\n"])
def test_unclosed_front_matter_is_parsed(end: str) -> None:
    found = parse_checkpoint(f"---\nid: cabcdefghi\nstatus: closed{end}")
    assert (found.id, found.status) == ("cabcdefghi", CLOSED)


def test_unknown_keys_and_odd_values_are_ignored() -> None:
    found = parse_checkpoint(
        '---\nid: ../../x\nmood: good\nstatus: "Closed"\nat: soon\nby: root\nAgent : codex\n---\n', "", 9
    )
    assert (found.id, found.status, found.at, found.by, found.agent) == ("", CLOSED, 9, AGENT, "codex")


def test_large_text_is_not_parsed_in_quadratic_time() -> None:
    for piece in (
        "```a\n",
        "````\n```\n",
        "```a\n## Done\n",
        "- [ ] \\\\\\## ```\n",
        "---\n",
        "## \n",
        "  \n",
        "\\" * 50 + "\n",
    ):
        text = piece * (points(everyday=50_000, soak=300_000) // len(piece))
        found = parse_checkpoint(text, "/x/large.md")
        assert parse_checkpoint(format_checkpoint(found)) == found


# -- when it was written ----------------------------------------------------------------------------


@_quietly
@given(st.integers(1, 253_402_300_799_999))
def test_time_round_trips_to_the_millisecond(at: int) -> None:
    assert parse_time(format_time(at)) == at


@pytest.mark.parametrize(
    ("text", "like"),
    [
        ("2026-11-16T11:24:03.007Z", "2026-11-16T11:24:03.007Z"),
        ("2026-11-16 13:24 +02:00", "2026-11-16T11:24:00.000Z"),
        ("2026-11-16T06:24:03-0500", "2026-11-16T11:24:03.000Z"),
        ("2026-11-16", "2026-11-16T00:00:00.000Z"),
        ("'2024-02-29 1:05'", "2024-02-29T01:05:00.000Z"),
    ],
)
def test_parse_time_accepts_human_forms(text: str, like: str) -> None:
    assert format_time(parse_time(text)) == like


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2026-13-01",
        "2026-02-29",
        "2026-11-16T25:00",
        "2026-11-16Tnoon",
        "1969-01-01",
        "２０２６-11-16",
    ],
)
def test_parse_time_returns_0_for_other_text(text: str) -> None:
    assert parse_time(text) == 0


def test_every_pair_of_awkward_texts_is_parsed_back() -> None:
    for one, other in itertools.pairwise(AWKWARD):
        given = Handover(goal=one, done=(one, other), pending=(other, one), notes=other)
        assert parse_checkpoint(format_checkpoint(given)) == normalize(given)
