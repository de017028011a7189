"""Find what a user teaches in so many words: remember that, from now on, never."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from told.capture.cues import MAX_SENTENCES, MIN_WORDS, read_cues, read_sentence
from told.capture.grammar import (
    BACK,
    CUES,
    LIST,
    QUOTED,
    REST,
    SIGNS,
    Cue,
    blank_quotations,
    completes,
    cut_lead,
    find_endorsed,
    find_kind,
    find_matches,
    is_global,
    is_small_talk,
    is_work,
    leans_back,
    says_something,
)
from told.capture.sentences import Sentence, count_words, split_sentences

# ruff: noqa: RUF001 - punctuation of many languages

_MAX_WORDS = 70  # of a statement with its neighbours


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
    """Return what a message teaches explicitly, in its order.

    Args:
        message: The text the user typed in one prompt.
        before: The end of the agent's text before it; what is copied from there is not the user's word.
    """
    readings = read_cues(message, before)
    if not readings:
        return []
    sentences = split_sentences(message, clauses=False)[:MAX_SENTENCES]
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
        if count_words(content) >= MIN_WORDS and not is_small_talk(content.strip(SIGNS)):
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
    return [(_find_first(sentences, place, cue), _find_last(sentences, place, cue))]


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


def _find_first(sentences: Sequence[Sentence], place: int, cue: Cue) -> int:
    """Return the sentence before if a sentence leans on it."""
    if place and _leans(sentences[place].text, cue) and _is_near(sentences, place):
        return place - 1
    return place


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
        other = read_sentence(CUES, sentences[last + 1], blank, blank.lower())
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
    endorsed = any(find_endorsed(one.text) for one in split_sentences(text, clauses=False))
    return text if endorsed else QUOTED.sub(lambda one: one[0] if one[0][0] == "`" else " ", text)
