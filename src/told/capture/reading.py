"""Read a message: what it teaches explicitly, and how likely the rest does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from told.capture.explicit import Explicit, find_explicit
from told.capture.explicit_grammar import GUARDS
from told.capture.features import Described, describe
from told.capture.language import MODELLED, detect_language
from told.capture.model import Weights, load_weights, score_described
from told.capture.sentences import Sentence, count_words, split_sentences
from told.capture.standalone import is_small_talk
from told.capture.standing import find_standing

_MAX_SENTENCES = 400  # of a message
_MAX_SPAN = 40  # words of a span
_MAX_SPANS = 6  # of a message
_MIN_WORDS = 3  # of a sentence that may teach by itself
_PASSING = 0.25  # highest probability of a report or of an order for one time
_STANDING = 0.5  # least probability of a plain statement about how things are
_FURTHER = 0.85  # what the probability of a message's second and later spans counts


@dataclass(frozen=True, slots=True)
class Span:
    """A sentence that may teach, with its neighbours on the same line."""

    first: int
    last: int
    centre: int
    probability: float


@dataclass(frozen=True, slots=True)
class Reading:
    """What was found in a message."""

    language: str
    explicit: tuple[Explicit, ...]
    sentences: tuple[Sentence, ...]
    taken: frozenset[int]  # sentences that explicit statements cover
    described: Described
    scores: tuple[float, ...]  # how likely each sentence teaches
    standing: frozenset[int]  # sentences that state how things are
    spans: tuple[Span, ...]  # the likeliest first


def read_message(message: str, before: str = "", weights: Weights | None = None) -> Reading:
    """Read a message.

    Args:
        message: The text the user typed in one prompt.
        before: The end of the agent's text before it.
        weights: What the model learned; default: what comes with told.
    """
    language = detect_language(message)
    explicit = tuple(find_explicit(message, before))
    sentences = tuple(split_sentences(message)[:_MAX_SENTENCES])
    taken = frozenset(
        place
        for place, sentence in enumerate(sentences)
        if any(sentence.start < one.end and one.start < sentence.end for one in explicit)
    )
    described = describe(sentences, message, before)
    modelled = language in MODELLED
    weights = weights or load_weights()
    scores = score_described(described, weights) if modelled else [0.0] * len(sentences)
    for place, sentence in enumerate(sentences):
        if GUARDS["reports"].search(sentence.text) or GUARDS["one_off"].search(sentence.text):
            scores[place] = min(scores[place], _PASSING)
    standing = find_standing(message, sentences) if modelled else frozenset()
    for place in standing:
        scores[place] = max(scores[place], _STANDING)
    spans = tuple(_find_spans(sentences, scores, set(taken))) if modelled else ()
    return Reading(language, explicit, sentences, taken, described, tuple(scores), standing, spans)


def _find_spans(sentences: Sequence[Sentence], scores: Sequence[float], taken: set[int]) -> Iterator[Span]:
    """Yield spans around the likeliest sentences; they do not overlap."""
    sizes = [count_words(sentence.text) for sentence in sentences]
    found = len(taken)
    for centre in sorted(range(len(sentences)), key=lambda place: (-scores[place], place)):
        if centre in taken or sizes[centre] < _MIN_WORDS:
            continue
        first, last = _widen(sentences, sizes, centre, taken)
        probability = (scores[centre] + _any_of(scores[first : last + 1])) / 2
        yield Span(first, last, centre, round(probability * (_FURTHER if found else 1.0), 4))
        taken.update(range(first, last + 1))
        found += 1
        if found >= _MAX_SPANS:
            return


def _widen(
    sentences: Sequence[Sentence], sizes: Sequence[int], centre: int, taken: set[int]
) -> tuple[int, int]:
    """Add neighbours on the same line, after and before in turn, while they fit."""
    first = last = centre
    words = sizes[centre]
    grows = True
    while grows:
        grows = False
        for place in (last + 1, first - 1):
            if (
                0 <= place < len(sentences)
                and place not in taken
                and sentences[place].line == sentences[centre].line
                and words + sizes[place] <= _MAX_SPAN
                and not is_small_talk(sentences[place].text)
            ):
                first, last = min(first, place), max(last, place)
                words += sizes[place]
                grows = True
    return first, last


def _any_of(scores: Sequence[float]) -> float:
    """Return how likely at least one of several sentences teaches."""
    none = 1.0
    for score in scores:
        none *= 1.0 - score
    return 1.0 - none
