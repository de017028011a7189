"""Explain how a message was read: sentences, cues, guards, what is kept."""

from __future__ import annotations

from dataclasses import dataclass

from told.capture.cues import read_cues
from told.capture.sentences import split_sentences
from told.capture.statements import Statement, capture

EXPLICIT, STOPPED, NO_CUE, PASTED = "explicit", "stopped", "no cue", "pasted"


@dataclass(frozen=True, slots=True)
class SentenceReading:
    """How one sentence was read."""

    text: str
    decision: str  # explicit, stopped, no cue or pasted
    cue: str = ""  # such as request, henceforth, order
    guard: str = ""  # what stopped the cue


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a message was read."""

    sentences: tuple[SentenceReading, ...]  # in the order of the message, with pasted lines
    kept: tuple[Statement, ...]


def explain(message: str, before: str = "") -> Explanation:
    """Explain how `capture` reads a message.

    Args:
        message: The text the user typed in one prompt.
        before: The end of the agent's text before it.
    """
    cues = {one.sentence.start: one for one in read_cues(message, before)}
    sentences = split_sentences(message, clauses=False)
    found = [
        (start, SentenceReading(text, PASTED))
        for start, end, text in _list_lines(message)
        if not any(one.start < end and start < one.end for one in sentences)
    ]
    for one in sentences:
        reading = cues.get(one.start)
        decision = NO_CUE if reading is None else STOPPED if reading.guard else EXPLICIT
        cue, guard = (reading.cue.name, reading.guard) if reading else ("", "")
        found.append((one.start, SentenceReading(one.text, decision, cue, guard)))
    ordered = sorted(found, key=lambda one: one[0])
    return Explanation(tuple(one for _, one in ordered), tuple(capture(message, before)))


def _list_lines(message: str) -> list[tuple[int, int, str]]:
    """Return the start, end and text of the lines that are not blank."""
    found, start = [], 0
    for line in message.splitlines(keepends=True):
        if line.strip():
            found.append((start, start + len(line), line.strip()))
        start += len(line)
    return found
