"""A checkpoint's Markdown: whatever was said comes back as it was, and people may edit it as they like."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from told.ingest.checkpoint_moment import read, written
from told.ingest.checkpoint_text import normal, parsed, text_of
from told.model import AGENT, CLOSED, OPEN, TOOL, USER, Handover
from told.record import replaced

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
    max_examples=200, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


@_quietly
@given(_checkpoints)
def test_whatever_is_written_is_read_back(given: Handover) -> None:
    once = normal(given)
    assert normal(once) == once
    text = text_of(given)
    assert parsed(text) == once
    assert text_of(parsed(text)) == text


@_quietly
@given(_checkpoints)
def test_an_editor_may_change_line_ends_and_add_a_mark(given: Handover) -> None:
    text = text_of(given)
    assert parsed("\ufeff" + text.replace("\n", "\r\n")) == normal(given)


@_quietly
@given(st.one_of(_texts, st.text(max_size=300)))
def test_any_text_at_all_is_some_checkpoint(text: str) -> None:
    found = parsed(text, "/notes/any.md", 7)
    assert found.id
    assert parsed(text_of(found)) == found


def test_64_awkward_checkpoints_come_back_without_loss() -> None:
    assert len(AWKWARD) >= 64
    for number, text in enumerate(AWKWARD):
        others = [AWKWARD[(number + step) % len(AWKWARD)] for step in range(1, 8)]
        given = Handover(
            goal=text, notes=f"{text}\n{others[0]}", title=text, at=1_794_828_243_007 + number,
            more=((text or "x", others[1]), ("Goal", text)),
        )  # fmt: skip
        lists: dict[str, Any] = {name: (text, other) for name, other in zip(FIELDS, others, strict=True)}
        given = replaced(given, **lists)
        assert parsed(text_of(given)) == normal(given), text


@pytest.mark.parametrize("text", [one for one in AWKWARD if one.isprintable() and one.strip() == one])
def test_a_text_in_one_line_is_kept_to_the_letter(text: str) -> None:
    given = Handover(goal=text, done=(text,), pending=(text,), notes=text, title=text, more=((text, text),))
    found = parsed(text_of(given))
    assert found == given
    assert (found.goal, found.title, found.done, found.pending) == (text, text, (text,), (text,))


def test_what_is_normal_is_decided_once() -> None:
    found = normal(
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


def test_people_like_to_read_it() -> None:
    text = text_of(
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


def test_a_ticked_item_is_done() -> None:
    text = text_of(BEFORE).replace("- [ ] two", "- [x] two")
    assert parsed(text) == replaced(BEFORE, done=("one", "two"), pending=("three",))


def test_bullets_numbers_and_paragraphs_are_items() -> None:
    text = (
        "# T\n\n## Decisions\n* star\n+ plus\n1. first\n   goes on\n12) twelfth\n\n"
        "A paragraph\nof two lines\n\n"
        "• dot\n\tindented\n**bold** is no bullet\n\n## Pending\n1. [ ] a\n- [X] b\n"
    )
    found = parsed(text)
    assert found.decisions == (
        "star", "plus", "first\ngoes on", "twelfth", "A paragraph\nof two lines",
        "dot\nindented\n**bold** is no bullet",
    )  # fmt: skip
    assert (found.pending, found.done) == (("a",), ("b",))


def test_sections_may_come_in_any_order_or_not_at_all() -> None:
    found = parsed("---\nstatus: closed\n---\n## notes:\nlate\n## GOAL ##\nearly\n## Notes\nmore\n")
    assert (found.goal, found.notes, found.status) == ("early", "late\n\nmore", CLOSED)


def test_other_headings_stay_with_their_text() -> None:
    found = parsed("# T\n## Ziel\nein Ziel\n### Unterpunkt\n## Risks\n- a\n- b\n")
    assert found.more == (("Ziel", "ein Ziel\n### Unterpunkt"), ("Risks", "- a\n- b"))


def test_pasted_code_stays_in_one_piece() -> None:
    code = "```sh\n## install\nmake\n\n## run\n./app\n```"
    found = parsed(
        f"# T\n## Notes\nLike this:\n\n{code}\n\n## Risks\n~~~\n## no heading\n~~~\n## Done\n- a\n"
    )
    assert found.notes == f"Like this:\n\n{code}"
    assert found.more == (("Risks", "~~~\n## no heading\n~~~"),)
    assert found.done == ("a",)
    assert code in text_of(found)


@pytest.mark.parametrize("mark", ["```", "~~~", "````py"])
def test_code_that_nobody_closed_swallows_nothing(mark: str) -> None:
    found = parsed(f"# T\n## Goal\n{mark}\nx = 1\n## Risks\nnone\n## Pending\n- a\n")
    assert (found.goal, found.more, found.pending) == (f"{mark}\nx = 1", (("Risks", "none"),), ("a",))
    assert parsed(text_of(found)) == found


def test_a_file_whose_head_was_deleted_is_known_by_its_name() -> None:
    text = text_of(BEFORE).partition("---\n\n")[2]
    found = parsed(text, "/x/2026-11-16-1124-ship-cabcdefghi.md", 1_794_000_000_000)
    assert found == replaced(BEFORE, agent="", session="", at=1_794_000_000_000)


def test_a_file_that_never_had_an_id_gets_one_of_its_name() -> None:
    one, same, other = (
        parsed("# T\nWhat to do", path, 1) for path in ("/a/note.md", "/b/note.md", "/a/other.md")
    )
    assert one.id == same.id != other.id
    assert (one.goal, one.title) == ("What to do", "T")


@pytest.mark.parametrize("end", ["", "\n# Ship\n", "\nsome text\n", "\n\n## Goal\nx\n"])
def test_a_head_that_nothing_ends_is_read_as_far_as_it_goes(end: str) -> None:
    found = parsed(f"---\nid: cabcdefghi\nstatus: closed{end}")
    assert (found.id, found.status) == ("cabcdefghi", CLOSED)


def test_unknown_keys_and_odd_values_do_no_harm() -> None:
    found = parsed(
        '---\nid: ../../x\nmood: good\nstatus: "Closed"\nat: soon\nby: root\nAgent : codex\n---\n', "", 9
    )
    assert (found.id, found.status, found.at, found.by, found.agent) == ("", CLOSED, 9, AGENT, "codex")


def test_a_large_text_is_read_in_no_time_that_grows_with_its_square() -> None:
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
        text = piece * (300_000 // len(piece))
        found = parsed(text, "/x/large.md")
        assert parsed(text_of(found)) == found


# -- when it was written ----------------------------------------------------------------------------


@_quietly
@given(st.integers(1, 253_402_300_799_999))
def test_a_moment_is_read_back_to_the_millisecond(at: int) -> None:
    assert read(written(at)) == at


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
def test_a_moment_may_be_written_as_people_do(text: str, like: str) -> None:
    assert written(read(text)) == like


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
def test_what_is_no_moment_is_unknown(text: str) -> None:
    assert read(text) == 0


def test_every_pair_of_awkward_texts_stays_apart() -> None:
    for one, other in itertools.pairwise(AWKWARD):
        given = Handover(goal=one, done=(one, other), pending=(other, one), notes=other)
        assert parsed(text_of(given)) == normal(given)
