"""Explain how a message was read: sentences, cues, guards, what is kept."""

from __future__ import annotations

from dataclasses import dataclass

from told.capture.explicit import read_cues
from told.capture.sentences import split_sentences
from told.capture.statements import Statement, capture
from told.pattern import lazy_pattern

_LINE = lazy_pattern(r"[^\n]*\S[^\n]*")
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
    """Explain how `capture` reads a message after the end of the agent's text before it."""
    cues = {one.sentence.start: one for one in read_cues(message, before)}
    sentences = split_sentences(message)
    found = [
        (line.start(), SentenceReading(line[0].strip(), PASTED))
        for line in _LINE.finditer(message)
        if not any(one.start < line.end() and line.start() < one.end for one in sentences)
    ]
    for one in sentences:
        reading = cues.get(one.start)
        decision = NO_CUE if reading is None else STOPPED if reading.guard else EXPLICIT
        cue, guard = (reading.cue.name, reading.guard) if reading else ("", "")
        found.append((one.start, SentenceReading(one.text, decision, cue, guard)))
    ordered = sorted(found, key=lambda one: one[0])
    return Explanation(tuple(one for _, one in ordered), tuple(capture(message, before)))
