"""Find what a user teaches in so many words: remember that, from now on, never."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from told.capture.entities import find_entities
from told.capture.explicit_cues import Cue, blank_quotations, find_cue, is_work
from told.capture.explicit_grammar import GUARDS, KINDS, QUOTED
from told.capture.pasted_lines import ENDORSES
from told.capture.sentences import Sentence, count_words, split_sentences
from told.capture.standalone import (
    completes,
    find_last_sentence,
    is_small_talk,
    make_standalone,
    shorten,
)
from told.pattern import lazy_pattern

# ruff: noqa: RUF001 - punctuation of many languages

_MAX_SENTENCES = 400  # of a message
_MAX_WORDS = 70  # of a statement
_MAX_VALUE = 8  # words of a sentence that says what something was changed to
_DASS = lazy_pattern(r"\bdass\W*$", re.IGNORECASE)
# Words that begin a German clause in lower case.
_ARTICLES = frozenset(
    ("der", "die", "das", "den", "dem", "ein", "eine", "wir", "es", "er", "sie", "man", "alle")
)


@dataclass(frozen=True, slots=True)
class Explicit:
    """One thing that a user taught in so many words."""

    kind: str  # rule, decision or fact
    quote: str
    text: str
    scope: str
    marks: tuple[str, ...]
    context: str
    cue: str
    start: int  # of the quote in the message
    end: int


@dataclass(frozen=True, slots=True)
class _Choice:
    """The sentences of a statement, with its cue cut off."""

    first: int
    last: int
    sentences: Sequence[Sentence]


def find_explicit(message: str, before: str = "") -> list[Explicit]:
    """Return what a message teaches explicitly, in its order.

    Args:
        message: The text the user typed in one prompt.
        before: The end of the agent's text before it, to which a correction may refer.
    """
    sentences = split_sentences(message, clauses=False)[:_MAX_SENTENCES]
    blank = blank_quotations(message)
    blanks = [blank[sentence.start : sentence.end] for sentence in sentences]
    found: list[Explicit] = []
    taken: set[int] = set()
    for place, sentence in enumerate(sentences):
        if quoted := _find_endorsed(sentence):
            statement = _state(message, _Choice(0, 0, [quoted]), quoted.start, before, "request")
            taken.add(place)
            found += [statement] if statement else []
    for place, cue in enumerate(map(find_cue, blanks)):
        if not cue or place in taken or cue.chosen not in before.lower():
            continue
        for choice in _choose_sentences(sentences, place, cue):
            own = range(choice.first, choice.last + 1)
            if taken.isdisjoint(own):
                start = sentences[choice.first].start + (0 if cue.points else cue.quote)
                statement = _state(message, choice, start, before, cue.name)
                taken.update(own)
                found += [statement] if statement else []
    return sorted(found, key=lambda one: one.start)


def _find_endorsed(sentence: Sentence) -> Sentence | None:
    """Return the quotation that a sentence asks to remember: `Make this a rule: "…"`."""
    request, colon, rest = sentence.text.partition(":")
    quoted = QUOTED.fullmatch(rest.strip(" .!"))
    if not quoted or quoted[0][0] == "`" or not ENDORSES.search(request + colon):
        return None
    text = quoted[0][1:-1]
    start = sentence.start + sentence.text.index(text, len(request))
    return replace(sentence, start=start, end=start + len(text), text=text)


def blank_cited(text: str) -> str:
    """Blank the quotations in a text, except for one that it asks to remember; code is no quotation."""
    endorsed = any(map(_find_endorsed, split_sentences(text, clauses=False)))
    return text if endorsed else QUOTED.sub(lambda one: one[0] if one[0][0] == "`" else " ", text)


def _choose_sentences(sentences: Sequence[Sentence], place: int, cue: Cue) -> list[_Choice]:
    """Return the sentences to keep, with the cue cut off."""
    if cue.points == "ahead":
        return _find_listed(sentences, place)
    if cue.points == "back":
        if (
            place
            and not GUARDS["question_ends"].search(sentences[place - 1].text)
            and not is_small_talk(sentences[place - 1].text)
        ):
            return [_Choice(place - 1, place if cue.end else place - 1, sentences)]
        return _find_listed(sentences, place) if not cue.end else []
    own = sentences[place]
    text = own.text[cue.start : cue.end].strip(" ,;:-–—，、：")
    start = own.text.find(text, cue.start) if text else cue.start
    cut = list(sentences)
    cut[place] = replace(own, start=own.start + start, end=own.start + start + len(text), text=text)
    return [_Choice(place, _find_last(sentences, place, cue), cut)]


def _find_listed(sentences: Sequence[Sentence], place: int) -> list[_Choice]:
    """Return the list or the paragraph that a cue such as `Remember:` announces."""
    found: list[_Choice] = []
    for at in range(place + 1, len(sentences)):
        starts_line = sentences[at].line != sentences[at - 1].line
        if not sentences[at].item:
            break
        if starts_line:
            found.append(_Choice(at, at, sentences))
        elif found:
            found[-1] = replace(found[-1], last=at)
    if found:
        return found
    if place + 1 < len(sentences) and not is_work(sentences[place + 1].text):
        last = place + 1
        words = count_words(sentences[last].text)
        while last + 1 < len(sentences) and sentences[last + 1].line == sentences[last].line:
            words += count_words(sentences[last + 1].text)
            if words > _MAX_WORDS or is_work(sentences[last + 1].text):
                break
            last += 1
        return [_Choice(place + 1, last, sentences)]
    return []


def _find_last(sentences: Sequence[Sentence], place: int, cue: Cue) -> int:
    """Return the last sentence that belongs to a statement."""
    last = place
    words = count_words(sentences[place].text)
    while last + 1 < len(sentences) and sentences[last + 1].line == sentences[place].line:
        following = sentences[last + 1].text
        words += count_words(following)
        is_value = cue.name == "change" and count_words(following) <= _MAX_VALUE
        told_whole = (cue.name == "request" or is_value) and last == place and not is_work(following)
        if (
            words > _MAX_WORDS
            or is_work(following)
            or not (told_whole or completes(following) or (cue.name == "change" and _is_change(following)))
        ):
            break
        other = find_cue(blank_quotations(following))
        if other and not (other.name == cue.name == "change"):
            break
        last += 1
    return last


def _is_change(text: str) -> bool:
    cue = find_cue(blank_quotations(text))
    return cue is not None and cue.name == "change"


def _state(message: str, choice: _Choice, start: int, before: str, cue: str) -> Explicit | None:
    """Word a statement and find its kind, marks and scope."""
    sentences, first = choice.sentences, choice.first
    end = sentences[choice.last].end
    text, context = make_standalone(message, sentences, first, choice.last, before)
    if cue == "choice":
        context = context or shorten(find_last_sentence(before))
    if count_words(text) < 2:
        return None
    if _DASS.search(message, start, sentences[first].start):  # the verb is at the end of the clause
        text = (
            f"Es gilt, dass {text[0].lower() if text.split()[0].lower() in _ARTICLES else text[0]}{text[1:]}"
        )
    kind, marks = _classify(text, cue)
    return Explicit(kind, message[start:end], text, find_scope(text, cue), marks, context, cue, start, end)


def _classify(text: str, cue: str) -> tuple[str, tuple[str, ...]]:
    marks = []
    if cue in ("contrast", "correction", "again"):
        marks.append("correction")
    if cue == "taste":
        marks.append("preference")
    if KINDS["warning"].search(text):
        marks.append("warning")
    if cue in ("order", "stop", "taste", "henceforth", "prohibit", "convention", "habit", "language"):
        return "rule", tuple(marks)
    if cue in ("change", "choice") or KINDS["decision"].search(text):
        return "decision", tuple(marks)
    return "rule" if KINDS["order"].search(text) else "fact", tuple(marks)


def find_scope(text: str, cue: str) -> str:
    """Return `global` for what is about the person or the agent's manners."""
    if KINDS["person"].search(text):
        return "global"
    manners = cue in (
        "order",
        "stop",
        "taste",
        "henceforth",
        "request",
        "prohibit",
        "language",
    ) and KINDS["manners"].search(text)
    return (
        "global" if manners and not KINDS["project"].search(text) and not find_entities(text) else "project"
    )
