"""Explicit teaching is kept whole, in eight languages; what only sounds like it is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from told.capture.explicit import find_explicit
from told.capture.statements import capture

_DATA = Path(__file__).with_name("data")
_STEM = 5  # letters of a word that have to be kept


def load(name: str) -> list[dict[str, Any]]:
    lines = (_DATA / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def is_kept_whole(row: dict[str, Any]) -> bool:
    texts = [one.text.lower() for one in find_explicit(row["message"])]
    return all(
        any(all(word.lower()[:_STEM] in text for word in words) for text in texts) for words in row["keep"]
    )


@pytest.mark.parametrize(("name", "share"), [("explicit.jsonl", 0.02), ("explicit_later.jsonl", 0.05)])
def test_explicit_teaching_is_kept_whole(name: str, share: float) -> None:
    rows = load(name)
    lost = [row["message"] for row in rows if not is_kept_whole(row)]
    assert len(lost) <= share * len(rows), lost


@pytest.mark.parametrize("name", ["explicit_traps.jsonl", "explicit_later_traps.jsonl"])
def test_traps_teach_nothing(name: str) -> None:
    rows = load(name)
    taken = [row["message"] for row in rows if find_explicit(row["message"])]
    assert len(taken) <= 0.02 * len(rows), taken


@pytest.mark.parametrize("row", load("explicit.jsonl")[::10], ids=lambda row: row["message"][:30])
def test_quotes_are_parts_of_the_message(row: dict[str, Any]) -> None:
    for one in find_explicit(row["message"]):
        assert row["message"][one.start : one.end] == one.quote
        assert one.text[-1] in ".!?。！？"


@pytest.mark.parametrize(
    ("message", "kind", "marks", "scope"),
    [
        ("Remember that the replica lags by ten minutes.", "fact", (), "project"),
        ("Never commit generated files.", "rule", (), "project"),
        ("We switched from Mocha to Vitest.", "decision", (), "project"),
        ("I hate mocks in integration tests.", "rule", ("preference",), "project"),
        ("The default branch is `develop`, not `main`.", "fact", ("correction",), "project"),
        ("Careful: the seed script deletes all tables.", "fact", ("warning",), "project"),
        ("From now on answer me in German.", "rule", (), "global"),
        ("Stop apologising and give me the diff.", "rule", (), "global"),
    ],
)
def test_kind_marks_and_scope(message: str, kind: str, marks: tuple[str, ...], scope: str) -> None:
    (found,) = find_explicit(message)
    assert (found.kind, found.marks, found.scope) == (kind, marks, scope)


def test_capture_returns_explicit_teaching_as_sure() -> None:
    (found,) = capture("Add an export button. Remember that amounts are stored in cents.")
    assert (found.text, found.sure, found.explicit, found.certainty) == (
        "Amounts are stored in cents.",
        True,
        True,
        1.0,
    )


def test_announced_list_gives_one_statement_per_item() -> None:
    found = find_explicit("Please remember:\n- prices are gross\n- ids are ULIDs\n\nNow fix the login.")
    assert [one.text for one in found] == ["Prices are gross.", "Ids are ULIDs."]
