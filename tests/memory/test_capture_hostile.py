"""Whatever is typed or pasted: no error, quotes that are really there, and no long wait."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from told.memory._capture_statements import statements
from told.memory.capture import capture

PIECES = (
    "never", "always", "from now on", "we use", "should", "must not", ". ", "! ", "? ", "\n", "\n- ", "\n> ",
    "```", "<agent abcde>", "</agent abcde>", "`src/a.py`", "it ", "that file ", ", ", "because ",
    "以后", "必ず", "。", "É", "'", "…", "...", ";", " - ", ": ", "RULES:\n- ",
    "\x00", "\ud800", "\U0001f600", "\r\n", "1. ", "@", "i.e. ",
)  # fmt: skip
texts = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=40).map("".join))


@settings(max_examples=300, deadline=None)
@given(texts, texts)
def test_any_text_is_read_and_every_quote_stands_in_it(message: str, before: str) -> None:
    for one in [*capture(message, before), *statements(message, before)]:
        assert one.quote
        assert one.quote in message
        assert one.text.strip()
        assert "\n" not in one.text
        assert one.kind in {"rule", "correction", "preference", "decision", "fact", "warning"}
        assert one.scope in {"project", "global"}
        assert 0.0 <= one.certainty <= 1.0


@pytest.mark.parametrize(
    "piece",
    [
        "a", " ", "\n", "`", "```\n", "<a>", "<a b>", "</a>", "(", "never ", "never. ",
        "we should, but ", "1. a\n", ">", ", so ", "- always use x\n", "必", "。", "...",
        "it's ", "a/", "/", "_", "a_", "A", "'", "ok ", "so ",
    ],
)  # fmt: skip
def test_time_grows_with_the_size_and_not_with_its_square(piece: str) -> None:
    small, large = (piece * (size // len(piece)) for size in (100_000, 1_000_000))
    first, second = seconds(small), seconds(large)
    assert second < 30 * first + 0.5


def seconds(message: str) -> float:
    began = time.process_time()
    capture(message)
    return time.process_time() - began


def test_the_gate_loads_nothing_slow() -> None:
    slow = ["re", "json", "typing", "dataclasses", "datetime", "collections", "enum", "functools"]
    program = (
        "import sys; from told.memory.capture import capture; assert capture('ok go on') == []; "
        f"print([name for name in {slow!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}; {program}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
