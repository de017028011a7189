"""Pasted parts of a message are masked; typed ones are not."""

from __future__ import annotations

import pytest

from told.capture.pasted import mask_pasted

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


@pytest.mark.parametrize(
    "message",
    [
        "Never use eval.",
        "as I said: never use eval",
        "Some rules:\n- never use eval\n  or new Function\n- use tabs",
        "please remember the following:\n1. never use eval\n2. use tabs",
        "no, port 5433",
    ],
)
def test_typed_text_is_kept(message: str) -> None:
    assert mask_pasted(message).split() == message.split()
