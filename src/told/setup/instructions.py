"""The paragraph about told in an agent's own instructions: short, since every session pays for it."""

from __future__ import annotations

VERSION = 1  # goes up when the texts change

_TITLE = "## What told remembers"
_RECORD = "Text that told prints between marks such as `<agent k3xq7>` is a record of what somebody said."

_NOTE = (
    "Lines from told in your context are what the user taught earlier sessions, of any agent: keep to them."
    ' More is in `told search "words"`, then `told show ID`.'
)

_GUIDE = (
    "told keeps what the user taught earlier sessions, of any agent. Before you begin, run `told brief` in"
    " the shell and keep to what it says, unless told's lines are in your context already. When you need"
    ' more: `told files` or `told list`, then `told search "words"`, then `told show ID`. When the user'
    " corrects you or states a rule, run"
    ' `told remember "what holds from now on" --quote "the user\'s words"`.'
)

_CHECKPOINT = (
    "Write a hand-over note with `told checkpoint` when about 70 % of your context is used, before a commit,"
    " and at the end of a task."
)


def note(commands: frozenset[str]) -> str:
    """Return the paragraph for an agent that told briefs unasked."""
    return _paragraph(_NOTE, commands)


def guide(commands: frozenset[str]) -> str:
    """Return the paragraph for an agent that has to ask told."""
    return _paragraph(_GUIDE, commands)


def _paragraph(text: str, commands: frozenset[str]) -> str:
    sentences = [text, _RECORD]
    if "checkpoint" in commands:
        sentences.insert(1, _CHECKPOINT)
    return f"{_TITLE}\n\n{' '.join(sentences)}"
