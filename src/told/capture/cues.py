"""Read the cues of a message's sentences, and what stops them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from told.capture.grammar import (
    BACK,
    CUES,
    GUARDS,
    LIST,
    POLITE,
    REST,
    SIGNS,
    WORD,
    Cue,
    asks,
    blank_quotations,
    find_endorsed,
    find_matches,
    is_task,
)
from told.capture.sentences import Sentence, count_words, split_sentences

# ruff: noqa: RUF001 - punctuation of many languages

QUESTION, ONE_OFF, AGENT = "question", "one_off", "agent"  # guards of every cue
MAX_SENTENCES = 400  # of a message
MIN_WORDS = 3  # of a statement
_MIN_REST = 2  # words that follow `remember that`


@dataclass(frozen=True, slots=True)
class Reading:
    """A cue in a sentence, and the guard that stopped it, if any."""

    sentence: Sentence
    cue: Cue
    guard: str = ""


def read_cues(message: str, before: str = "") -> list[Reading]:
    """Return the sentences with a cue, and what stopped it."""
    text = message.replace("’", "'").lower()
    cues = _find_possible(CUES, text)
    if not cues:
        return []
    said = _squeeze(before)
    blank = blank_quotations(message)
    found = []
    for sentence in split_sentences(message)[:MAX_SENTENCES]:
        own = text[sentence.start : sentence.end]
        reading = read_sentence(cues, sentence, blank[sentence.start : sentence.end], own)
        if reading and not reading.guard and count_words(own) > MIN_WORDS and _squeeze(own) in said:
            reading = replace(reading, guard=AGENT)
        found += [reading] if reading else []
    return found


def _squeeze(text: str) -> str:
    return " ".join(WORD.findall(text.lower()))


def _find_possible(cues: Sequence[Cue], text: str) -> list[Cue]:
    words = frozenset(WORD.findall(text))
    return [cue for cue in cues if cue.may_be_in(words, text)]


def read_sentence(cues: Sequence[Cue], sentence: Sentence, blank: str, own: str) -> Reading | None:
    """Return the first cue of a sentence that no guard stops; else the first one."""
    stopped = None
    if find_endorsed(sentence.text):
        return Reading(sentence, next(cue for cue in CUES if cue.read == REST))
    for cue in _find_possible(cues, own):
        for match in find_matches(cue, blank):
            guard = _find_guard(cue, blank, match)
            if guard is None:
                continue
            if not guard:
                return Reading(sentence, cue)
            stopped = stopped or Reading(sentence, cue, guard)
    return stopped


def _find_guard(cue: Cue, blank: str, match: re.Match[str]) -> str | None:
    """Return the guard that stops a cue, "" if none does, None if it is no cue here."""
    start = match.start("start")
    lead, rest = blank[:start], blank[match.end() :]
    if cue.read in (REST, BACK) and GUARDS["not_me"].search(lead):
        return None
    if cue.read == LIST:
        return None if rest.strip() else ""
    if cue.read == BACK and rest.strip(SIGNS):
        return None
    is_labelled = match.group().rstrip().endswith((":", "："))  # of what precedes a colon nobody asks
    if asks(rest if is_labelled and rest.strip() else blank) and not POLITE.match(blank[start:]):
        return QUESTION
    is_announced = cue.read == REST and not rest.strip(SIGNS)
    if is_announced:
        return ""
    content = {REST: rest, BACK: lead}.get(cue.read, blank)  # what the cue is about
    if cue.name == "henceforth":
        content = f"{lead} {rest}"
    if GUARDS[ONE_OFF].search(content):
        return ONE_OFF
    if cue.read == REST and count_words(rest.replace("°", "x")) < _MIN_REST:
        return "few_words"
    if cue.needs and not cue.needs.search(rest):
        return "one_off"
    return next((name for name in cue.guards if _stops(name, cue, content)), "")


def _stops(guard: str, cue: Cue, content: str) -> bool:
    if guard == "few_words":
        least = _MIN_REST if cue.name == "henceforth" else MIN_WORDS
        return count_words(content.replace("°", "x")) < least
    if guard == "task_follows":
        return is_task(content.strip(SIGNS)) or bool(GUARDS["progress"].search(content.strip()))
    return bool(GUARDS[guard].search(content))
