"""The full look at a message: which of its sentences to keep, and what each of them says."""

from __future__ import annotations

from told.memory._capture_features import describe
from told.memory._capture_kinds import kind_of, scope_of
from told.memory._capture_model import odds
from told.memory._capture_names import entities, triggers
from told.memory._capture_sentences import count_words, sentences
from told.memory._capture_standing import standing
from told.memory._capture_weights import THRESHOLD
from told.memory.capture import Statement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from told.memory._capture_sentences import Sentence

_EVIDENCE = 30  # words of evidence around a sentence
_LINE = 60  # words of a list item that is kept whole
_MOST = 8  # statements of a message, lists aside
_MOST_ITEMS = 40
_SURE = 0.6  # the least certainty of what is unmistakable
_LISTED = 0.45  # the least certainty of a line in a list of guidelines
_GUIDELINES = 3  # lines that make a list


def statements(message: str, before: str) -> list[Statement]:
    """Return the statements of a message that passed the gate, in its order."""
    found = sentences(message)
    features = describe(found, message)
    chances = [max(odds(one), _SURE if "sure" in one else 0.0) for one in features]
    listed = _guidelines(found, features)
    kept: list[tuple[int, int, int, float]] = []  # start, end, sentence, certainty
    taken: set[int] = set()
    ranked = sorted(range(len(found)), key=lambda place: (-chances[place], place))
    plain_ones = 0
    for place in ranked:
        chance = max(chances[place], _LISTED if place in listed else 0.0)
        if place in taken or (chance < THRESHOLD and place not in listed):
            continue
        if place in listed:
            span = _line_of(found, place)
        else:
            if plain_ones == _MOST:
                continue
            plain_ones += 1
            span = _evidence(found, place)
        taken.update(span)
        kept.append((found[span[0]].start, found[span[-1]].end, place, chance))
    kept.sort()
    return [
        _statement(found, place, features[place], before, quote=message[start:end], chance=chance)
        for start, end, place, chance in kept[: _MOST + _MOST_ITEMS]
    ]


def _statement(
    found: Sequence[Sentence],
    place: int,
    features: dict[str, float],
    before: str,
    *,
    quote: str,
    chance: float,
) -> Statement:
    own = found[place].text
    earlier = found[place - 1].text if place else ""
    kind = kind_of(features, own)
    text = standing(own, earlier, before)
    return Statement(
        kind,
        quote,
        text,
        scope_of(features, own),
        triggers(text),
        entities(text),
        round(chance, 3),
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


def _evidence(found: Sequence[Sentence], place: int) -> list[int]:
    """Return the sentences around one that give it its context, while they are few words of one paragraph."""
    span = [place]
    words = count_words(found[place].text)
    for neighbour in _neighbours(place, len(found)):
        other = found[neighbour]
        near = neighbour in {span[0] - 1, span[-1] + 1}
        words += count_words(other.text)
        if near and words <= _EVIDENCE and other.line == found[place].line:
            span.insert(0 if neighbour < place else len(span), neighbour)
        else:
            words -= count_words(other.text)
    return span


def _neighbours(place: int, count: int) -> Iterator[int]:
    yield from range(place + 1, min(count, place + 4))
    yield from range(place - 1, max(-1, place - 4), -1)
