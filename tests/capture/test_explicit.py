"""Explicit teaching is kept whole and verbatim, in eight languages; what only sounds like it is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from told.capture.statements import Statement, capture

_DATA = Path(__file__).with_name("data")
_STEM = 5  # letters of a word that have to be kept


def load(name: str) -> list[dict[str, Any]]:
    lines = (_DATA / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def only(message: str, before: str = "") -> Statement:
    found = capture(message, before)
    assert len(found) == 1, found
    return found[0]


def is_kept_whole(row: dict[str, Any]) -> bool:
    texts = [one.text.lower() for one in capture(row["message"]) if one.sure]
    return all(
        any(all(word.lower()[:_STEM] in text for word in words) for text in texts) for words in row["keep"]
    )


@pytest.mark.parametrize("name", ["explicit.jsonl", "explicit_later.jsonl"])
def test_explicit_teaching_is_kept_whole(name: str) -> None:
    rows = load(name)
    lost = [row["message"] for row in rows if not is_kept_whole(row)]
    assert len(lost) <= 0.02 * len(rows), lost


@pytest.mark.parametrize("name", ["explicit_traps.jsonl", "explicit_later_traps.jsonl"])
def test_traps_teach_nothing(name: str) -> None:
    rows = load(name)
    taken = [row["message"] for row in rows if capture(row["message"])]
    assert len(taken) <= 0.02 * len(rows), taken


@pytest.mark.parametrize("row", load("explicit.jsonl")[::5], ids=lambda row: row["message"][:30])
def test_text_is_the_users_own_sentences(row: dict[str, Any]) -> None:
    for one in capture(row["message"]):
        assert one.quote in row["message"]
        said = " ".join(one.quote.split())
        assert said.lower().endswith(one.text.lower()), (
            "only an opening such as `ok,` or `remember that` may go"
        )


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("Remember, customer ids are UUIDs.", "Customer ids are UUIDs."),
        ("From now on write tests first.", "From now on write tests first."),
        ("Merk dir, dass die Preise netto sind.", "Merk dir, dass die Preise netto sind."),
        ("No, btw, we use pnpm here, never npm.", "We use pnpm here, never npm."),
        (
            "I prefer my own helper, `my-tool`, over theirs.",
            "I prefer my own helper, `my-tool`, over theirs.",
        ),
        ("The demo tenant is reset nightly. Remember that.", "The demo tenant is reset nightly."),
        (
            "Remember that we freeze the schema. Auditors need it stable.",
            "We freeze the schema. Auditors need it stable.",
        ),
        (
            "The client in `gen/` is generated. It's made by a tool, never edit it by hand.",
            "The client in `gen/` is generated. It's made by a tool, never edit it by hand.",
        ),
    ],
)
def test_text_is_a_whole_sentence_or_two(message: str, text: str) -> None:
    assert only(message).text == text


def test_a_sentence_that_leans_back_has_the_one_before() -> None:
    found = only("The images are pinned by digest. Never latest, not even a tag.")
    assert found.text == "The images are pinned by digest. Never latest, not even a tag."


def test_a_sentence_that_leans_on_nothing_in_the_message_is_a_candidate() -> None:
    found = only("Never use it.", before="I added a cache in front of the billing service.")
    assert (found.text, found.sure) == ("Never use it.", False)


def test_what_the_agent_said_is_not_the_users_word() -> None:
    before = "I would add a rule: never mock the database in integration tests. Shall I?"
    assert capture("Never mock the database in integration tests.", before) == []
    assert only("Never mock the database in integration tests.").sure


@pytest.mark.parametrize(
    ("message", "kind", "marks"),
    [
        ("Remember that the replica lags by ten minutes.", "fact", ()),
        ("Never commit generated files.", "rule", ()),
        ("Do not use abbreviations in column names.", "rule", ()),
        ("We switched from Mocha to Vitest.", "decision", ()),
        ("We use Biome, not ESLint.", "decision", ("correction",)),
        ("I hate mocks in integration tests.", "rule", ("preference",)),
        ("The default branch is `develop`, not `main`.", "fact", ("correction",)),
        ("Careful: the seed script deletes all tables.", "fact", ("warning",)),
        ("From now on answer me in German.", "rule", ()),
    ],
)
def test_kind_and_marks(message: str, kind: str, marks: tuple[str, ...]) -> None:
    found = only(message)
    assert (found.kind, found.marks) == (kind, marks)


@pytest.mark.parametrize(
    "message",
    [
        "In all my projects, never commit without asking me.",
        "Never force-push, no matter which repo.",
        "Ab sofort in allen Projekten bitte Commits auf Englisch.",
        "Dans tous mes projets, ne commite jamais sans demander.",
        "A partir de ahora usa pnpm en todos mis proyectos.",
        "以后所有项目都用pnpm，不要用npm。",
    ],
)
def test_only_its_words_make_a_statement_global(message: str) -> None:
    assert only(message).scope == "global"


@pytest.mark.parametrize("message", ["From now on answer me in German.", "Never apologise to me."])
def test_a_statement_is_for_the_project_otherwise(message: str) -> None:
    assert only(message).scope == "project"


def test_announced_list_gives_one_statement_per_item() -> None:
    found = capture("Please remember:\n- prices are gross\n- ids are ULIDs\n\nNow fix the login.")
    assert [one.text for one in found] == ["prices are gross", "ids are ULIDs"]


@pytest.mark.parametrize(
    "message",
    [
        "make sure to memorize the setup and ensure this never repeats again",
        "But we should keep in mind that the user might use `git stash`",
        "you can always use the config in my home folder for rewriting it",
        "we only write the file if something changed, right?",
        "I only keep the small sizes as of now, so look at what can go.",
        "remember when we had the double submit?",
    ],
)
def test_what_only_sounds_like_teaching_is_not_kept(message: str) -> None:
    assert capture(message) == []
