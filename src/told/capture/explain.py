"""Explain how a message was read: gate, sentences, scores, what was kept."""

from __future__ import annotations

from dataclasses import dataclass

from told.capture.gate import may_teach, probably_teaches
from told.capture.language import MODELLED
from told.capture.model import load_weights
from told.capture.reading import Reading, read_message
from told.capture.sentences import Sentence
from told.capture.statements import Statement, make_statements

# ruff: noqa: RUF001 - punctuation of many languages

MEMORY, CANDIDATE, BELOW = "memory", "candidate", "below threshold"
EXPLICIT, QUESTION, PASTED, UNKNOWN = "explicit", "question", "pasted", "language not modelled"


@dataclass(frozen=True, slots=True)
class SentenceReading:
    """How one sentence was read."""

    text: str
    cue: str  # of the explicit grammar
    score: float  # how likely it teaches, from 0 to 1
    decision: str  # explicit, memory, candidate, below threshold, question, pasted, language not modelled


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a message was read."""

    language: str
    may_teach: bool  # it is long enough
    probably_teaches: bool  # it is worth a reader's time
    memory_threshold: float
    candidate_threshold: float
    sentences: tuple[SentenceReading, ...]  # in the order of the message, with pasted lines
    kept: tuple[Statement, ...]


def explain(message: str, before: str = "") -> Explanation:
    """Explain how `capture` reads a message.

    Args:
        message: The text the user typed in one prompt.
        before: The end of the agent's text before it.
    """
    weights = load_weights()
    reading = read_message(message, before)
    typed = [
        (sentence.start, _explain_sentence(reading, place, sentence))
        for place, sentence in enumerate(reading.sentences)
    ]
    ordered = sorted([*typed, *_find_pasted(message, reading)], key=lambda one: one[0])
    return Explanation(
        reading.language, may_teach(message), probably_teaches(message), weights.memory, weights.candidate,
        tuple(one for _, one in ordered),
        tuple(make_statements(message, before, reading)) if may_teach(message) else (),
    )  # fmt: skip


def _explain_sentence(reading: Reading, place: int, sentence: Sentence) -> SentenceReading:
    weights = load_weights()
    cue = next(
        (one.cue for one in reading.explicit if sentence.start < one.end and one.start < sentence.end), ""
    )
    span = next((one for one in reading.spans if one.centre == place), None)
    probability = span.probability if span else 0.0
    if cue:
        decision = EXPLICIT
    elif probability >= weights.memory:
        decision = MEMORY
    elif probability >= weights.candidate:
        decision = CANDIDATE
    elif reading.language not in MODELLED:
        decision = UNKNOWN
    else:
        decision = QUESTION if sentence.text.rstrip().endswith(("?", "？")) else BELOW
    return SentenceReading(sentence.text, cue, round(reading.scores[place], 3), decision)


def _find_pasted(message: str, reading: Reading) -> list[tuple[int, SentenceReading]]:
    """Return the lines of a message of which no sentence was read."""
    found = []
    start = 0
    for line in message.splitlines(keepends=True):
        end = start + len(line)
        read = any(sentence.start < end and start < sentence.end for sentence in reading.sentences)
        if line.strip() and not read:
            found.append((start, SentenceReading(line.strip(), "", 0.0, PASTED)))
        start = end
    return found
