"""The part of a text that answers the question best, in one line, with the question's words marked."""

from __future__ import annotations

from told.search.unspaced import is_unspaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Range = tuple[int, int]
    Place = tuple[int, int, int]  # start, end, which of the words

_MOST_TEXT = 200_000
_MOST_PLACES = 60  # of one word; more do not change which part is best
_ENDINGS = ("ies", "ied", "ion", "ing", "es", "ed", "ly", "s", "e", "y")
_ACCENTED = str.maketrans(
    "àáâãäåāçćčèéêëēěìíîïīñńňòóôõöøōùúûüūýÿšžğşłđ", "aaaaaaaccceeeeeeiiiiinnnooooooouuuuuyyszgsld"
)
_MARGIN = 40  # a word is not cut unless it is longer than this


def excerpt(text: str, words: Iterable[str], width: int) -> tuple[str, list[Range]]:
    """Return the best part of a text of about `width` characters, and where the words stand in it.

    Args:
        text: The whole text.
        words: The question's words in lower case; endings may differ, and identifiers count by their parts.
        width: How long the part may be.
    """
    text = text[:_MOST_TEXT]
    wanted = list(dict.fromkeys(words))
    start, end = _best_part(_places(text, wanted), len(text), width)
    start, end = _at_words(text, start, end)
    part = _one_line(text[start:end])
    if text[:start].strip():
        part = f"…{part}"
    if text[end:].strip():
        part = f"{part}…"
    return part, _merged(_places(part, wanted))


def mark(part: str, ranges: Iterable[Range], before: str, after: str) -> str:
    """Put `before` and `after` around each marked range."""
    pieces, at = [], 0
    for start, end in ranges:
        pieces += [part[at:start], before, part[start:end], after]
        at = end
    return "".join([*pieces, part[at:]])


def _places(text: str, words: list[str]) -> list[Place]:
    """Find where the words stand in a text."""
    folded = _folded(text)
    places: list[Place] = []
    for index, word in enumerate(words):
        plain = _folded(word)
        unspaced = is_unspaced(plain[:1] or " ")
        stem = plain if unspaced else _stem(plain)
        at, found = folded.find(stem), 0
        while stem and at >= 0 and found < _MOST_PLACES:
            end = at + len(stem)
            if unspaced:
                places.append((at, end, index))
                found += 1
            elif _begins_word(text, at):
                end = _word_end(text, end)
                if len(plain) > 3 or end == at + len(plain):
                    places.append((at, end, index))
                    found += 1
            at = folded.find(stem, end)
    return sorted(places)


def _folded(text: str) -> str:
    """Return a text in lower case without accents, character by character."""
    lower = text.lower()
    if len(lower) != len(text):  # some capital letters have no small one of the same length
        lower = "".join(char if len(char.lower()) > 1 else char.lower() for char in text)
    return lower if lower.isascii() else lower.translate(_ACCENTED)


def _stem(word: str) -> str:
    """Cut an ending, so that other forms of a word begin the same."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) >= len(ending) + 4:
            return word[: -len(ending)]
    return word


def _begins_word(text: str, at: int) -> bool:
    """Tell whether a word, or a part of an identifier such as getUserToken, begins here."""
    if at == 0 or not text[at - 1].isalnum() or is_unspaced(text[at - 1]):
        return True
    return text[at].isupper() and (text[at - 1].islower() or text[at + 1 : at + 2].islower())


def _word_end(text: str, at: int) -> int:
    """Return where the word, or the part of an identifier, that reaches beyond a place ends."""
    while at < len(text) and text[at].isalnum() and not is_unspaced(text[at]):
        if text[at].isupper() and text[at - 1].islower():
            break
        at += 1
    return at


def _best_part(places: list[Place], length: int, width: int) -> Range:
    """Return the stretch of `width` characters with the most different words; of equals the first."""
    if length <= width:
        return 0, length
    best, best_score = (0, 0), 0.0
    counts: dict[int, int] = {}
    last = 0
    for first, (start, _, index) in enumerate(places):
        while last < len(places) and places[last][1] <= start + width:
            counts[places[last][2]] = counts.get(places[last][2], 0) + 1
            last += 1
        # Repetitions count a little: they tell a passage about a thing from a mention of it.
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


def _at_words(text: str, start: int, end: int) -> Range:
    """Move both ends inwards to where words end."""
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


def _one_line(text: str) -> str:
    """Return a text in one line, without characters that would steer a terminal."""
    line = " ".join(text.split())
    return line if line.isprintable() else "".join(char for char in line if char.isprintable())


def _merged(places: list[Place]) -> list[Range]:
    """Join ranges that touch or overlap."""
    ranges: list[Range] = []
    for start, end, _ in places:
        if ranges and start <= ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(end, ranges[-1][1]))
        else:
            ranges.append((start, end))
    return ranges
