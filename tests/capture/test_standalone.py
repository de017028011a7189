"""A kept text can be read without the conversation it comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from told.capture.standalone import make_standalone

from told.capture.explicit import find_explicit
from told.capture.sentences import split_sentences

_SNAPSHOT = Path(__file__).with_name("data") / "standalone.jsonl"
_ROWS = [json.loads(line) for line in _SNAPSHOT.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row["message"][:40])
def test_text_and_context_of_a_statement(row: dict[str, Any]) -> None:
    if "sentences" in row:
        sentences = split_sentences(row["message"], clauses=False)
        first, last = row["sentences"]
        kept = [make_standalone(row["message"], sentences, first, last, row["before"])]
    else:
        kept = [(one.text, one.context) for one in find_explicit(row["message"], row["before"])]
    assert [list(one) for one in kept] == row["kept"]


def test_context_is_one_short_line() -> None:
    before = "I changed the export so that it writes one file per customer and month. " * 3
    message = "It must stay one file."
    text, context = make_standalone(message, split_sentences(message), 0, 0, before)
    assert text == "It must stay one file."
    assert 0 < len(context) <= 120
    assert "\n" not in context
