"""What a checkpoint is given as JSON: our names, those of other tools, and what is no checkpoint."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from told.cli.checkpoint_fields import from_json, from_object
from told.errors import UsageError

if TYPE_CHECKING:
    from typing import Any

WHOLE = {
    "goal": "Move the login to OAuth",
    "title": "OAuth",
    "done": ["Routes"],
    "pending": ["Tests"],
    "decisions": ["No passwords any more"],
    "files": ["src/login.py"],
    "plans": ["docs/plan.md"],
    "references": ["acme/api#17"],
    "questions": ["Which scopes?"],
    "notes": "The staging server is slow.",
    "status": "closed",
    "session": "abc-1",
    "agent": "codex",
}


def test_all_fields_are_taken_under_their_own_names() -> None:
    given = from_json(json.dumps(WHOLE))
    for name, value in WHOLE.items():
        assert getattr(given, name) == (tuple(value) if isinstance(value, list) else value)
    assert given.unknown == ()


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("slug", "title"), ("work_completed", "done"), ("work_pending", "pending"), ("plan_files", "plans"),
        ("next_steps", "pending"), ("open_questions", "questions"), ("Work-Completed", "done"),
    ],
)  # fmt: skip
def test_names_that_other_tools_use_mean_the_same(name: str, field: str) -> None:
    value = "Tests for it"
    wanted = value if field == "title" else (value,)
    assert getattr(from_object({"goal": "x", name: value}), field) == wanted


@pytest.mark.parametrize("name", ["session", "session_id", "conversation_id"])
def test_a_session_goes_by_three_names(name: str) -> None:
    assert from_object({name: "abc"}).session == "abc"


def test_a_tool_is_an_agent() -> None:
    assert from_object({"tool": "codex"}).agent == "codex"


def test_fields_may_stand_below_checkpoint() -> None:
    given = from_object({"session_id": "s-1", "goal": "out", "checkpoint": {"goal": "in", "done": ["a"]}})
    assert (given.session, given.goal, given.done) == ("s-1", "in", ("a",))


def test_plans_and_references_may_be_objects() -> None:
    given = from_object({
        "plan_files": [{"path": "docs/plan.md", "header": "Phase 2"}, {"path": "todo.md"}],
        "references": [{"url": "https://example.org/1", "title": "The talk"}, "acme/api#17"],
    })  # fmt: skip
    assert given.plans == ("docs/plan.md (Phase 2)", "todo.md")
    assert given.references == ("https://example.org/1 (The talk)", "acme/api#17")


def test_a_summary_of_several_texts_becomes_one_note() -> None:
    assert from_object({"work_summary": ["First this.", "Then that."]}).notes == "First this.\nThen that."


def test_the_same_text_twice_stands_there_once() -> None:
    assert from_object({"decisions": ["Use SQLite"] * 20}).decisions == ("Use SQLite",)


def test_a_list_that_was_written_as_markdown_is_taken_apart_and_a_sentence_is_not() -> None:
    assert from_object({"done": "- one\n- two\n"}).done == ("one", "two")
    assert from_object({"done": "one\ntwo"}).done == ("one\ntwo",)


def test_empty_texts_and_null_were_not_given() -> None:
    assert from_object({"goal": "x", "done": ["", "  "], "pending": None, "agent": None}) == from_object(
        {"goal": "x"}
    )


def test_what_is_no_field_is_named_and_not_lost_in_silence() -> None:
    assert from_object({"goal": "x", "pendings": ["y"]}).unknown == ("pendings",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not valid JSON"), ("{", "not valid JSON"), ("[" * 100_000, "not valid JSON"),
        ("[]", "is a JSON object"), ('"goal"', "is a JSON object"), ("null", "is a JSON object"),
        ('{"goal": 1}', "`goal` must be text, not a number"),
        ('{"goal": ["a"]}', "`goal` must be text, not a list"),
        ('{"goal": "x", "done": 3}', "`done` must be a list of texts, not a number"),
        ('{"goal": "x", "done": [true]}', "but contains true or false"),
        ('{"goal": "x", "work_pending": {"a": 1}}', "`work_pending` must be a list of texts, not an object"),
        ('{"goal": "x", "plan_files": [{"line": 3}]}', "an object without text"),
        ('{"checkpoint": "x"}', "`checkpoint` must be an object"),
        ('{"status": "opn"}', "open or closed, not 'opn'"),
        ('{"done": ["a"], "work_completed": ["b"]}', "the same field"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_sentence(text: str, says: str) -> None:
    with pytest.raises(UsageError) as wrong:
        from_json(text)
    assert says in str(wrong.value)
    assert "\n" not in str(wrong.value)


@pytest.mark.parametrize("value", [{}, {"status": "open"}, {"session": "abc"}])
def test_what_says_nothing_is_known_as_such(value: dict[str, Any]) -> None:
    assert not from_object(value).has_content
