"""Capture takes linear time, and says the same everywhere; tests/fuzz tries any text."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.soak import points, sampled
from told.capture.statements import capture

REPEATED = (
    "a", " ", "\n", "`", "```\n", "<a>", "<a b>", "</a>", "(", "never ", "never. ", "we should, but ",
    "1. a\n", ">", ", so ", "- always use x\n", "必", "。", "...", "it's ", "a/", "/", "_", "a_", "A", "'",
    "ok ", "so ",
)  # fmt: skip


@pytest.mark.parametrize("piece", sampled(REPEATED, {"`", "<a>", "never. "}))
def test_long_repetitive_text_is_linear(piece: str) -> None:
    capture(
        piece * (points(everyday=300_000, soak=1_000_000) // len(piece))
    )  # quadratic time would take most of an hour


def test_capture_is_the_same_in_every_process() -> None:
    script = "from told.capture.statements import capture; print(capture('以后回答简短一点，不用解释太多'))"
    answers = {
        subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "PYTHONHASHSEED": seed}, check=True,
            capture_output=True, text=True,
        ).stdout
        for seed in ("0", "4711")
    }  # fmt: skip
    assert len(answers) == 1
