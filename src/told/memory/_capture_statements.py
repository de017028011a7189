"""The full look at a message: which of its sentences to keep, and what each of them says."""

from __future__ import annotations

from told.memory._capture_features import describe
from told.memory._capture_model import odds, together
from told.memory._capture_sentences import count_words, sentences
from told.memory._capture_weights import FIRST, FURTHER
from told.memory.capture import Statement
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from told.memory._capture_sentences import Sentence

_EVIDENCE = 42  # words of a quote: the sentence and what stands around it
_LINE = 60  # words of a list item that is kept whole
_TEXT = 40  # words of the text of a statement, unless its first sentence is longer
_ALSO_SAYS_IT = 0.3  # the least chance of a sentence that becomes part of the text of the one before
_MOST = 8  # statements of a message, lists aside
_MOST_ITEMS = 40
_MOST_SENTENCES = 800  # of a message; nobody types more
_LOOKED_AT = 12  # sentences of a message that may be the heart of a statement
_SURE = 0.6  # the least certainty of what is unmistakable
_LISTED = 0.45  # the least certainty of a line in a list of guidelines
_GUIDELINES = 3  # lines that make a list


@record
class _Quote:
    """Consecutive sentences of a paragraph that may be kept together."""

    first: int
    last: int
    heart: int  # the sentence that says it
    chance: float


def statements(message: str, before: str) -> list[Statement]:
    """Return the statements of a message that passed the gate, in its order."""
    found = sentences(message)[:_MOST_SENTENCES]
    features = describe(found, message)
    chances = [max(odds(one), _SURE if "sure" in one else 0.0) for one in features]
    listed = _guidelines(found, features)
    kept: list[_Quote] = []
    taken: set[int] = set()
    for place in sorted(listed)[:_MOST_ITEMS]:
        span = _line_of(found, place)
        kept.append(_Quote(place, span[-1], place, max(chances[place], _LISTED)))
        taken.update(span)
    plain_ones = 0
    for quote in _quotes(found, chances, taken):
        inside = range(quote.first, quote.last + 1)
        least = FURTHER if plain_ones else FIRST
        if plain_ones < _MOST and quote.chance >= least and taken.isdisjoint(inside):
            plain_ones += 1
            taken.update(inside)
            kept.append(quote)
    kept.sort(key=lambda quote: quote.first)
    return [
        _statement(
            found,
            quote,
            features[quote.heart],
            before,
            text=_text(found, chances, quote),
            said=message[found[quote.first].start : found[quote.last].end],
        )
        for quote in kept
    ]


def _quotes(found: Sequence[Sentence], chances: Sequence[float], taken: set[int]) -> list[_Quote]:
    """Return the spans around the likeliest sentences, the best first; of equal ones the shortest."""
    sizes = [count_words(sentence.text) for sentence in found]
    free = [place for place in range(len(found)) if place not in taken]
    likely = sorted(free, key=lambda place: (-chances[place], place))[:_LOOKED_AT]
    spans = {span for place in likely for span in _spans(found, sizes, place)}
    ranked = []
    for first, last in spans:
        if taken.isdisjoint(range(first, last + 1)):
            chance = round(together(chances[first : last + 1]), 4)
            heart = max(range(first, last + 1), key=lambda place: (chances[place], -place))
            ranked.append((-chance, sum(sizes[first : last + 1]), first, last, heart))
    ranked.sort()
    return [_Quote(first, last, heart, -chance) for chance, _, first, last, heart in ranked]


def _spans(found: Sequence[Sentence], sizes: Sequence[int], heart: int) -> Iterator[tuple[int, int]]:
    """Yield the spans of few words of one paragraph that hold a sentence."""
    first, before = heart, sizes[heart]
    while True:
        last, words = heart, before
        while True:
            yield first, last
            last += 1
            if last == len(found) or found[last].line != found[heart].line:
                break
            words += sizes[last]
            if words > _EVIDENCE:
                break
        first -= 1
        if first < 0 or found[first].line != found[heart].line or before + sizes[first] > _EVIDENCE:
            return
        before += sizes[first]


def _text(found: Sequence[Sentence], chances: Sequence[float], quote: _Quote) -> str:
    """Return the sentence that says it, with those after it that say nearly as much."""
    last = quote.heart
    words = count_words(found[last].text)
    while last < quote.last and chances[last + 1] >= max(_ALSO_SAYS_IT, chances[quote.heart] / 2):
        words += count_words(found[last + 1].text)
        if words > _TEXT:
            break
        last += 1
    return " ".join(sentence.text for sentence in found[quote.heart : last + 1])


def _statement(
    found: Sequence[Sentence],
    quote: _Quote,
    features: dict[str, float],
    before: str,
    *,
    text: str,
    said: str,
) -> Statement:
    from told.memory._capture_kinds import kind_of, scope_of
    from told.memory._capture_names import entities, triggers
    from told.memory._capture_standing import standing

    own = found[quote.heart].text
    earlier = found[quote.heart - 1].text if quote.heart else ""
    whole = standing(text, earlier, before)
    return Statement(
        kind_of(features, own),
        said,
        whole,
        scope_of(features, own),
        triggers(whole),
        entities(whole),
        round(quote.chance, 3),
    )


def _guidelines(found: Sequence[Sentence], features: Sequence[dict[str, float]]) -> set[int]:
    """Return the first sentences of the lines of a list of rules under a heading that says so."""
    groups: dict[str, list[int]] = {}
    for place, (sentence, own) in enumerate(zip(found, features, strict=True)):
        if sentence.item and "headed:rules" in own and (not place or found[place - 1].line != sentence.line):
            groups.setdefault(sentence.heading, []).append(place)
    return {
        place
        for places in groups.values()
        if len(places) >= _GUIDELINES
        for place in places
        if not features[place].keys() & {"question", "happened"}
    }


def _line_of(found: Sequence[Sentence], place: int) -> list[int]:
    """Return the sentences of a list item, as many as make a statement."""
    span = [place]
    words = count_words(found[place].text)
    while (following := span[-1] + 1) < len(found) and found[following].line == found[place].line:
        words += count_words(found[following].text)
        if words > _LINE:
            break
        span.append(following)
    return span
