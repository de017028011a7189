"""Find what a user teaches in so many words: remember that, from now on, never."""

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
    QUOTED,
    REST,
    SIGNS,
    WORD,
    Cue,
    asks,
    blank_quotations,
    completes,
    cut_lead,
    find_endorsed,
    find_kind,
    find_matches,
    is_global,
    is_small_talk,
    is_task,
    is_work,
    leans_back,
    says_something,
)
from told.capture.sentences import Sentence, count_words, split_sentences

# ruff: noqa: RUF001 - punctuation of many languages

_MAX_WORDS = 70  # of a statement with its neighbours
_QUESTION, _ONE_OFF, _AGENT = "question", "one_off", "agent"  # guards of every cue
_MAX_SENTENCES = 400  # of a message
_MIN_WORDS = 3  # of a statement
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
    for sentence in split_sentences(message)[:_MAX_SENTENCES]:
        own = text[sentence.start : sentence.end]
        reading = _read_sentence(cues, sentence, blank[sentence.start : sentence.end], own)
        if reading and not reading.guard and count_words(own) > _MIN_WORDS and _squeeze(own) in said:
            reading = replace(reading, guard=_AGENT)
        found += [reading] if reading else []
    return found


def _squeeze(text: str) -> str:
    return " ".join(WORD.findall(text.lower()))


def _find_possible(cues: Sequence[Cue], text: str) -> list[Cue]:
    words = frozenset(WORD.findall(text))
    return [cue for cue in cues if cue.may_be_in(words, text)]


def _read_sentence(cues: Sequence[Cue], sentence: Sentence, blank: str, own: str) -> Reading | None:
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
        return _QUESTION
    is_announced = cue.read == REST and not rest.strip(SIGNS)
    if is_announced:
        return ""
    content = {REST: rest, BACK: lead}.get(cue.read, blank)  # what the cue is about
    if cue.name == "henceforth":
        content = f"{lead} {rest}"
    if GUARDS[_ONE_OFF].search(content):
        return _ONE_OFF
    if cue.read == REST and count_words(rest.replace("°", "x")) < _MIN_REST:
        return "few_words"
    if cue.needs and not cue.needs.search(rest):
        return "one_off"
    return next((name for name in cue.guards if _stops(name, cue, content)), "")


def _stops(guard: str, cue: Cue, content: str) -> bool:
    if guard == "few_words":
        least = _MIN_REST if cue.name == "henceforth" else _MIN_WORDS
        return count_words(content.replace("°", "x")) < least
    if guard == "task_follows":
        return is_task(content.strip(SIGNS)) or bool(GUARDS["progress"].search(content.strip()))
    return bool(GUARDS[guard].search(content))


@dataclass(frozen=True, slots=True)
class Explicit:
    """One thing that a user taught in so many words."""

    text: str
    quote: str
    cue: Cue
    start: int  # of the quote in the message
    end: int
    leans: bool = False  # it cannot be understood without what was said before the message

    @property
    def kind(self) -> str:
        """Return the kind: rule, decision or fact."""
        return self.cue.kind or find_kind(self.text) or "fact"

    @property
    def scope(self) -> str:
        """Return `global` only if the words say so."""
        return "global" if is_global(self.text) else "project"


def find_explicit(message: str, before: str = "") -> list[Explicit]:
    """Return what a message teaches explicitly, in its order, but nothing that it copies from `before`."""
    readings = read_cues(message, before)
    if not readings:
        return []
    sentences = split_sentences(message)[:_MAX_SENTENCES]
    cues = {one.sentence.start: one for one in readings}
    found: list[Explicit] = []
    taken: set[int] = set()
    for place, sentence in enumerate(sentences):
        reading = cues.get(sentence.start)
        if reading is None or reading.guard:
            continue
        for first, last in _choose_sentences(sentences, place, reading.cue):
            if taken.isdisjoint(range(first, last + 1)):
                taken.update(range(first, last + 1))
                found.append(_make_explicit(message, sentences[first : last + 1], reading.cue))
    return sorted(found, key=lambda one: one.start)


def _choose_sentences(sentences: Sequence[Sentence], place: int, cue: Cue) -> list[tuple[int, int]]:
    """Return the first and last sentence of what a cue makes told keep."""
    own = sentences[place].text
    if cue.read == LIST:
        return _find_items(sentences, place)
    if cue.read == BACK:
        match = next(find_matches(cue, blank_quotations(own)), None)
        if match is None:  # a quotation goes on in the next sentence
            return [(place, place)]
        content, tail = own[: match.start("start")], match.groupdict().get("tail")
        if count_words(content) >= _MIN_WORDS and not is_small_talk(content.strip(SIGNS)):
            return [(place, place)]
        if (
            not own.rstrip().endswith((":", "：", ","))
            and place
            and says_something(sentences[place - 1].text)
        ):
            return [(place - 1, place if tail else place - 1)]
        return [] if tail else _find_items(sentences, place)
    if cue.read == REST and not any(
        one.end() < len(own.rstrip(SIGNS)) for one in find_matches(cue, blank_quotations(own))
    ):
        return _find_items(sentences, place) if not find_endorsed(own) else [(place, place)]
    leans = place and _leans(own, cue) and _is_near(sentences, place)
    return [(place - 1 if leans else place, _find_last(sentences, place, cue))]


def _find_items(sentences: Sequence[Sentence], place: int) -> list[tuple[int, int]]:
    """Return the list or the paragraph that a cue such as `Remember:` announces."""
    found: list[tuple[int, int]] = []
    for at in range(place + 1, len(sentences)):
        if not sentences[at].item:
            break
        if sentences[at].line != sentences[at - 1].line:
            found.append((at, at))
        elif found:
            found[-1] = (found[-1][0], at)
    if found or place + 1 == len(sentences) or is_work(sentences[place + 1].text):
        return found
    last = place + 1
    while (
        last + 1 < len(sentences)
        and sentences[last + 1].line == sentences[last].line
        and not is_work(sentences[last + 1].text)
        and _fits(sentences[place + 1 : last + 2])
    ):
        last += 1
    return [(place + 1, last)]


def _is_near(sentences: Sequence[Sentence], place: int) -> bool:
    earlier = sentences[place - 1]
    return (
        sentences[place].line - earlier.line <= 1
        and says_something(earlier.text)
        and _fits(sentences[place - 1 : place + 1])
    )


def _find_last(sentences: Sequence[Sentence], place: int, cue: Cue) -> int:
    """Return the last sentence that completes a statement: a reason or a detail."""
    last = place
    while last + 1 < len(sentences) and sentences[last + 1].line == sentences[place].line:
        following = sentences[last + 1].text
        goes_on = cue.name in ("request", "reversal") and last == place
        if (
            (is_work(following) and cue.name != "reversal")
            or not (goes_on or completes(following))
            or not _fits(sentences[place : last + 2])
        ):
            break
        blank = blank_quotations(following)
        other = _read_sentence(CUES, sentences[last + 1], blank, blank.lower())
        if other and not other.guard:
            break
        last += 1
    return last


def _fits(sentences: Sequence[Sentence]) -> bool:
    return sum(count_words(one.text) for one in sentences) <= _MAX_WORDS


def _leans(text: str, cue: Cue) -> bool:
    if cue.read == REST:
        match = next(find_matches(cue, blank_quotations(text)), None)
        text = text[match.end() :].strip(SIGNS) if match else text
    return leans_back(text)


def _make_explicit(message: str, own: Sequence[Sentence], cue: Cue) -> Explicit:
    start, end = own[0].start, own[-1].end
    if quotation := find_endorsed(own[0].text):
        start = message.index(quotation, start)
        return Explicit(quotation, quotation, cue, start, start + len(quotation))
    text = cut_lead(" ".join(" ".join(one.text.split()) for one in own))
    return Explicit(text, message[start:end], cue, start, end, _leans(own[0].text, cue))


def blank_cited(text: str) -> str:
    """Blank the quotations in a text, except for one that it asks to remember; code is no quotation."""
    endorsed = any(find_endorsed(one.text) for one in split_sentences(text))
    return text if endorsed else QUOTED.sub(lambda one: one[0] if one[0][0] == "`" else " ", text)
