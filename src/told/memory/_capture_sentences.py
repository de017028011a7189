"""Splits what a person wrote into sentences, and long ones into clauses; each is a span of the message."""

# ruff: noqa: RUF001 - words and signs of many languages are the subject
from __future__ import annotations

from told.memory._capture_plain import is_unspaced
from told.memory._capture_prose import prose
from told.record import record
from told.snapshot import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_BULLET = pattern(r"\s*(?:[-*•+–]|\(?\d{1,3}[.)]|[a-zA-Z][.)]|#{1,6})[ \t]+")
_END = pattern(r"""[.!?…]+["')\]”’*]*(?=\s|$)|[。！？；]+["」』）”]*|[.]{3,}""")
_ABBREVIATIONS_WORDS = "e.g i.e eg ie etc vs cf approx resp incl z.b d.h bzw usw p.ex ex no nr fig mr dr st"
_ABBREVIATIONS = frozenset(_ABBREVIATIONS_WORDS.split())
_CLAUSE = pattern(
    r";\s+|\s[-–—]{1,2}\s|:\s+|,\s+(?:but|so|and|then|which|because|aber|sondern|mais|donc|et|pero|y|mas|e)\s"
    r"|\s(?:but|because)\s|[，；：]"
)
_LONG = 30  # words; a longer sentence is looked at clause by clause
_SHORT = 5  # words that a clause needs to stand for itself
_WORD = pattern(r"[^\W_]+")


@record
class Sentence:
    """A sentence, or a clause of a long one, with its place in the message."""

    start: int
    end: int
    text: str
    line: int
    item: bool  # stands in a list
    heading: str  # what the list is called
    whole: bool  # the sentence is its whole line


def sentences(message: str) -> list[Sentence]:
    """Return the sentences that a person wrote in a message."""
    found: list[Sentence] = []
    heading = ""
    for number, (start, end) in enumerate(_lines(message)):
        bullet = _BULLET.match(message, start, end)
        first = bullet.end() if bullet else start
        text = message[first:end].strip()
        if text.endswith((":", "：")) and len(text) < 90 and not bullet:
            heading = text
        if not bullet and not text.endswith((":", "：")):
            heading = ""
        pieces = list(_pieces(message, first, end))
        for left, right in pieces:
            found.append(
                Sentence(
                    left, right, message[left:right], number, bullet is not None, heading, len(pieces) == 1
                )
            )
    return found


def count_words(text: str) -> int:
    """Return the number of words; each Chinese or Japanese sign counts as one."""
    if is_unspaced(text):
        text = "".join([f" {sign} " if "\u3040" <= sign <= "\u9fff" else sign for sign in text])
    return len(_WORD.findall(text))


def _lines(message: str) -> Iterator[tuple[int, int]]:
    """Yield the lines, a paragraph that was wrapped by hand as one."""
    pending: tuple[int, int] | None = None
    for start, end in prose(message):
        if pending and _goes_on(message, pending, start, end):
            pending = (pending[0], end)
            continue
        if pending:
            yield pending
        pending = (start, end)
    if pending:
        yield pending


def _goes_on(message: str, before: tuple[int, int], start: int, end: int) -> bool:
    if message[before[1] : start] != "\n" or not 60 <= before[1] - before[0] <= 2000:
        return False
    last = message[before[1] - 1]
    following = message[start:end].lstrip()
    return (
        (last.isalnum() or last == ",") and following[:1].islower() and not _BULLET.match(message, start, end)
    )


def _pieces(message: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    place = start
    for stop in _END.finditer(message, start, end):
        if stop.group() == "." and _is_abbreviated(message[max(place, stop.start() - 8) : stop.start()]):
            continue
        yield from _clauses(message, place, stop.end())
        place = stop.end()
    yield from _clauses(message, place, end)


def _is_abbreviated(text: str) -> bool:
    """Say whether a full stop after a text belongs to its last word: `e.g`, `J`."""
    word = text[-1:] and text.replace("(", " ").split(" ")[-1]
    return word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isupper())


def _clauses(message: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and message[start].isspace():
        start += 1
    while start < end and message[end - 1].isspace():
        end -= 1
    if start >= end or not count_words(message[start:end]):
        return
    if count_words(message[start:end]) <= _LONG:
        yield start, end
        return
    place = start
    for cut in _CLAUSE.finditer(message, start, end):
        if (
            count_words(message[place : cut.start()]) >= _SHORT
            and count_words(message[cut.start() : end]) >= _SHORT
        ):
            yield place, cut.start() + 1 if message[cut.start()] == ";" else cut.start()
            place = cut.end()
            if cut.group()[0] == "," or cut.group().strip() in {"but", "because"}:
                place = cut.start() + (1 if cut.group()[0] == "," else 0)
                while message[place].isspace():
                    place += 1
    yield place, end
