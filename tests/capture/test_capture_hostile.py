"""Capture handles any text: no error, exact quotes, linear time."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from told.capture.statements import capture

PIECES = (
    "never", "always", "from now on", "we use", "should", "must not", ". ", "! ", "? ", "\n", "\n- ", "\n> ",
    "```", "<agent abcde>", "</agent abcde>", "`src/a.py`", "it ", "that file ", ", ", "because ",
    "以后", "必ず", "。", "É", "'", "…", "...", ";", " - ", ": ", "RULES:\n- ",
    "\x00", "\ud800", "\U0001f600", "\r\n", "1. ", "@", "i.e. ",
)  # fmt: skip
texts = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
REPEATED = (
    "a", " ", "\n", "`", "```\n", "<a>", "<a b>", "</a>", "(", "never ", "never. ", "we should, but ",
    "1. a\n", ">", ", so ", "- always use x\n", "必", "。", "...", "it's ", "a/", "/", "_", "a_", "A", "'",
    "ok ", "so ",
)  # fmt: skip


def check(message: str, before: str) -> None:
    for one in capture(message, before):
        assert one.quote
        assert one.quote in message
        assert one.text.strip()
        assert "\n" not in one.text
        assert one.kind in {"rule", "decision", "fact"}
        assert one.scope in {"project", "global"}
        assert 0.0 <= one.certainty <= 1.0


@settings(max_examples=40, deadline=None)
@given(texts, texts)
def test_any_text_gives_exact_quotes(message: str, before: str) -> None:
    check(message, before)


@pytest.mark.soak
@settings(max_examples=1000, deadline=None)
@given(texts, texts)
def test_many_texts_give_exact_quotes(message: str, before: str) -> None:
    check(message, before)


@pytest.mark.parametrize(
    "piece",
    [
        one if one in {"`", "<a>", "never. "} else pytest.param(one, marks=pytest.mark.soak)
        for one in REPEATED
    ],
)
def test_long_repetitive_text_is_linear(piece: str) -> None:
    capture(piece * (1_000_000 // len(piece)))  # quadratic time would take hours


def test_capture_is_the_same_in_every_process() -> None:
    script = "from told.capture.statements import capture; print(capture('以后回答简短一点，不用解释太多'))"
    answers = {
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, check=True,
            capture_output=True, text=True,
        ).stdout
        for seed in ("0", "1", "4711")
    }  # fmt: skip
    assert len(answers) == 1
