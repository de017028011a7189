"""Pasted parts of a message are masked; typed ones are not."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.soak import points
from told.capture.pasted import mask_pasted
from told.capture.statements import Statement, capture
from told.memories.proof import Message, prove

_DATA = Path(__file__).with_name("data")
_TYPED = "why does this fail?"


@pytest.mark.parametrize(
    "pasted",
    [
        "```\nnever use eval\n```",
        "> never use eval",
        "2026-03-01 12:00:01 WARN never use eval",
        'Traceback (most recent call last):\n  File "a.py", line 3, in f\nValueError: never use eval',
        "src/a.ts:3:1 - error: Never use eval",
        "<log>\nnever use eval\n</log>",
        "$ echo never use eval",
        "user@host:~/app$ echo never use eval",
        "--- a/x.js\n+++ b/x.js\n@@ -1 +1 @@\n-  // never use eval\n+  // use eval",
        "The linter says: never use eval",
        "I get this:\nNever use eval here, it is dangerous",
        "On Mon, 3 Feb 2026 Anna wrote:\nnever use eval",
        "    never use eval\n    always use parse",
    ],
)
def test_pasted_text_is_masked(pasted: str) -> None:
    message = f"{_TYPED}\n\n{pasted}"
    masked = mask_pasted(message)
    assert len(masked) == len(message)
    assert "never use eval" not in masked.lower()
    assert _TYPED in masked


def test_indented_block_at_the_beginning_is_masked() -> None:
    message = "    From now on never use eval.\n    Remember: always use parse.\nexplain the above"
    assert mask_pasted(message).split() == ["explain", "the", "above"]


@pytest.mark.parametrize(
    "message",
    [
        "Never use eval.",
        "as I said: never use eval",
        "Some rules:\n- never use eval\n  or new Function\n- use tabs",
        "please remember the following:\n1. never use eval\n2. use tabs",
        "no, port 5433",
        "go ahead and implement the whole thing",
        "git rebase is fine\ncargo build is slow",
        "the importer opens a connection for each row of a file, so please\nopen one and close it at the end",
        "# Task\nAdd an export.\n\n# Rules\nAlways use the csv module.",
        "以後はコミットを小さく分けてください",
        "ตอบเป็นภาษาไทยเท่านั้น",
    ],
)
def test_typed_text_is_kept(message: str) -> None:
    assert mask_pasted(message).split() == message.split()


def _load(name: str) -> list[dict[str, Any]]:
    """Return every second line of a data file, all of them in a soak run."""
    lines = (_DATA / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines[:: points(everyday=2, soak=1)]]


def _find_pasted(row: dict[str, Any], statements: Iterable[Statement]) -> list[str]:
    """Return the statements of which a word is pasted."""
    message = row["before"] + row["pasted"] + row["after"]
    start, end = len(row["before"]), len(message) - len(row["after"])
    return [
        one.text
        for one in statements
        for found in re.finditer(re.escape(one.quote), message)
        if found.start() < end and start < found.end()
    ]


def test_little_of_384_pasted_texts_teaches() -> None:
    rows = _load("pasted.jsonl")
    read = [(row, capture(row["before"] + row["pasted"] + row["after"])) for row in rows]
    taught = [
        found for row, every in read if (found := _find_pasted(row, (one for one in every if one.sure)))
    ]
    kept = [found for row, every in read if (found := _find_pasted(row, every))]

    assert len(taught) <= 0.03 * len(rows), taught  # 13 of 384
    assert len(kept) <= 0.19 * len(rows), kept  # with candidates: 70 of 384


def test_few_pasted_orders_prove_anything() -> None:
    proven = []
    rows = _load("pasted.jsonl")
    for row in rows:
        message = Message(row["before"] + row["pasted"] + row["after"])
        orders = re.findall(r"(?i)(?:from now on always|never|remember: always) [\w -]{8,40}", row["pasted"])
        proven += [order for order in orders if not prove(order, order, [message]).why_not]

    assert len(proven) <= 0.03 * len(rows), proven


def test_typed_teaching_that_looks_pasted_is_typed() -> None:
    rows = _load("typed.jsonl")
    lost = []
    for row in rows:
        typed = mask_pasted(row["message"]).lower()
        if not all(word.lower() in typed for words in row["keep"] for word in words):
            lost.append(row["message"])

    assert len(lost) <= 0.11 * len(rows), lost
