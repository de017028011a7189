"""Cut the best part out of a text and find the question's words in it."""

from __future__ import annotations

from collections.abc import Iterable

from told.words import is_unspaced

Range = tuple[int, int]
Place = tuple[int, int, int]  # start, end, which of the words

_MAX_TEXT = 200_000
_MAX_PLACES = 60  # of one word
_ENDINGS = ("ies", "ied", "ion", "ing", "es", "ed", "ly", "s", "e", "y")
_MIN_STEM = 4
_ACCENTED = str.maketrans(
    "àáâãäåāçćčèéêëēěìíîïīñńňòóôõöøōùúûüūýÿšžğşłđ", "aaaaaaaccceeeeeeiiiiinnnooooooouuuuuyyszgsld"
)
_MARGIN = 40  # longer words may be cut


def make_excerpt(text: str, words: Iterable[str], width: int) -> tuple[str, list[Range]]:
    """Return the best part of a text and the ranges of the words in it.

    The words are in lower case; their endings may differ.
    """
    text = text[:_MAX_TEXT]
    wanted = list(dict.fromkeys(words))
    start, end = _find_best_part(_find_places(text, wanted), len(text), width)
    start, end = _trim_to_words(text, start, end)
    part = _join_lines(text[start:end])
    if text[:start].strip():
        part = f"…{part}"
    if text[end:].strip():
        part = f"{part}…"
    return part, _merge_ranges(_find_places(part, wanted))


def highlight(part: str, ranges: Iterable[Range], before: str, after: str) -> str:
    """Put `before` and `after` around each range."""
    pieces, at = [], 0
    for start, end in ranges:
        pieces += [part[at:start], before, part[start:end], after]
        at = end
    return "".join([*pieces, part[at:]])


def _find_places(text: str, words: list[str]) -> list[Place]:
    """Return the places of the words in a text."""
    folded = _fold(text)
    places: list[Place] = []
    for index, word in enumerate(words):
        plain = _fold(word)
        unspaced = is_unspaced(plain[:1] or " ")
        endings = (one for one in _ENDINGS if plain.endswith(one) and len(plain) >= len(one) + _MIN_STEM)
        ending = next(endings, "")
        stem = plain if unspaced else plain[: -len(ending)] if ending else plain
        at, found = folded.find(stem), 0
        while stem and at >= 0 and found < _MAX_PLACES:
            end = at + len(stem)
            if unspaced:
                places.append((at, end, index))
                found += 1
            elif _starts_word(text, at):
                end = _find_word_end(text, end)
                if len(plain) > 3 or end == at + len(plain):
                    places.append((at, end, index))
                    found += 1
            at = folded.find(stem, end)
    return sorted(places)


def _fold(text: str) -> str:
    """Lower-case and remove accents without changing the length."""
    lower = text.lower()
    if len(lower) != len(text):  # some capitals grow when lower-cased
        lower = "".join(char if len(char.lower()) > 1 else char.lower() for char in text)
    return lower if lower.isascii() else lower.translate(_ACCENTED)


def _starts_word(text: str, at: int) -> bool:
    """Tell whether a word or an identifier part starts here."""
    if at == 0 or not text[at - 1].isalnum() or is_unspaced(text[at - 1]):
        return True
    return text[at].isupper() and (text[at - 1].islower() or text[at + 1 : at + 2].islower())


def _find_word_end(text: str, at: int) -> int:
    """Return the end of the word or identifier part at a place."""
    while at < len(text) and text[at].isalnum() and not is_unspaced(text[at]):
        if text[at].isupper() and text[at - 1].islower():
            break
        at += 1
    return at


def _find_best_part(places: list[Place], length: int, width: int) -> Range:
    """Return the first range of `width` characters with the most words."""
    if length <= width:
        return 0, length
    best, best_score = (0, 0), 0.0
    counts: dict[int, int] = {}
    last = 0
    for first, (start, _, index) in enumerate(places):
        while last < len(places) and places[last][1] <= start + width:
            counts[places[last][2]] = counts.get(places[last][2], 0) + 1
            last += 1
        # Repetitions count a little: they separate a passage about a thing from a mention.
        score = sum(1.0 + 0.1 * min(count, 4) for count in counts.values() if count)
        if score > best_score:
            best, best_score = (start, places[max(last - 1, first)][1]), score
        if last <= first:  # a word longer than the width
            last = first + 1
        else:
            counts[index] -= 1
    start, end = best
    room = max(width - (end - start), 0)
    start = max(0, start - (room // 3 if end else 0))
    start = max(0, min(start, length - width))
    return start, min(length, start + width)


def _trim_to_words(text: str, start: int, end: int) -> Range:
    """Move both ends inwards to word boundaries."""
    if start and text[start - 1].isalnum():
        at = start
        while at < min(start + _MARGIN, end) and text[at].isalnum() and not is_unspaced(text[at]):
            at += 1
        start = at if at < min(start + _MARGIN, end) else start
    if end < len(text) and text[end].isalnum():
        at = end
        while at > max(end - _MARGIN, start) and text[at - 1].isalnum() and not is_unspaced(text[at - 1]):
            at -= 1
        end = at if at > max(end - _MARGIN, start) else end
    return start, end


def _join_lines(text: str) -> str:
    """Return a text on one line without control characters."""
    line = " ".join(text.split())
    return line if line.isprintable() else "".join(char for char in line if char.isprintable())


def _merge_ranges(places: list[Place]) -> list[Range]:
    """Join ranges that touch or overlap."""
    ranges: list[Range] = []
    for start, end, _ in places:
        if ranges and start <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
        else:
            ranges.append((start, end))
    return ranges
