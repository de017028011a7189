"""What a question asks for: takes whatever people type and never makes a faulty index query of it."""

from __future__ import annotations

from told.record import record
from told.search.stop_words import ADDRESS_WORDS, CONTRACTIONS, ELISIONS, STOP_WORDS
from told.search.unspaced import is_unspaced, pairs, segments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_TERMS = 24  # of a long paste, the most telling ones are kept
_MOST_TEXT = 6000
_LONGEST_WORD = 64
_LONGEST_PHRASE = 4
_LONGEST_QUOTING = 300  # in a longer text, quotes belong to pasted code

_OPERATORS = frozenset(("AND", "OR", "NOT", "NEAR"))
_SPLIT = {ord(char): " " for char in '()[]{}<>"“”„«»`,;|=+*!?&^~$%\0'} | {0x2018: "'", 0x2019: "'"}
_ASCII_PUNCTUATION = {code: " " for code in range(128) if not chr(code).isalnum()}
_EDGES = ".:'/\\-_@#"
_OPENING, _CLOSING = '"“„«', '"”“»'


@record
class Query:
    """A question, ready to be planned: phrases are quoted as the index wants them."""

    text: str
    terms: tuple[str, ...]  # any of these; in the order of the question
    must: tuple[str, ...] = ()  # all of these: what stood in double quotes
    words: tuple[str, ...] = ()  # plain words in lower case, for excerpts; none if only a time is asked for
    window: tuple[int, int] | None = None  # the time it names, in ms
    window_words: tuple[str, ...] = ()  # words that only said that time


def analyse(text: str, now: int) -> Query:
    """Read a question.

    Args:
        text: Whatever was typed or pasted.
        now: The moment of asking, in ms since 1970.
    """
    from told.search.dates import days_of, moment  # a prompt's terms need no time

    when = moment(text, now)
    kept = _kept(text)
    must = [phrase for quoted in _quoted(kept) for phrase in _exact(quoted)]
    typed = list(dict.fromkeys(kept.translate(_SPLIT).split()))
    chunks = [chunk for chunk in typed if chunk not in _OPERATORS]
    drop = frozenset(when.drop)
    terms = _terms(chunks, drop, strict=True)
    if not terms and not must and not when.window:
        terms = _terms(typed, frozenset(), strict=False)
    exact = tuple(dict.fromkeys(must))
    words = _plain([*(phrase.strip('*"') for phrase in exact), *terms])
    days = [when.add] if when.add else []
    if when.window and not terms and not must:
        days = days_of(when.window, now)
    phrases = dict.fromkeys(_quote(term) for term in (*_most_telling(terms), *days))
    return Query(text, tuple(phrases), exact, words, when.window, when.drop)


def terms_of(text: str, most: int = MOST_TERMS) -> tuple[str, ...]:
    """Return the most telling terms, quoted, of a text that is no question but a prompt."""
    typed = list(dict.fromkeys(_kept(text).translate(_SPLIT).split()))
    chunks = [chunk for chunk in typed if chunk not in _OPERATORS]
    return tuple(dict.fromkeys(map(_quote, _most_telling(_terms(chunks, frozenset(), strict=True), most))))


def _kept(text: str) -> str:
    """Return the beginning and the end of what is too long to be a question."""
    return text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT * 2 // 3]} {text[-_MOST_TEXT // 3 :]}"


def _terms(chunks: Iterable[str], drop: frozenset[str], *, strict: bool) -> dict[str, float]:
    """Return the terms of a text in order, each with how telling it looks."""
    terms: dict[str, float] = {}
    for chunk in chunks:
        runs = _runs(chunk.strip(_EDGES), reduce=strict)
        if len(runs) > 1:
            if "/" in chunk:
                runs = [run for run in runs if run.lower() not in ADDRESS_WORDS]
            terms.setdefault(" ".join(runs[-_LONGEST_PHRASE:]).lower(), 14.0)
        for run in runs:
            if len(runs) > 1 and len(run) < 3:
                continue
            for term, telling in _of_run(run):
                if not strict or not _is_empty(term, drop):
                    terms.setdefault(term, telling)
    return terms


def _runs(chunk: str, *, reduce: bool = True) -> list[str]:
    """Split a chunk between spaces into runs of letters and digits, as the index does."""
    if chunk.isalnum():
        return [chunk]
    if reduce and "'" in chunk:
        chunk = _without_contraction(chunk)
    if chunk.isascii():
        return chunk.translate(_ASCII_PUNCTUATION).split()
    runs, letters = [], []
    for char in chunk:
        if char.isalnum():
            letters.append(char)
        elif not ("\u0300" <= char <= "\u036f" or is_unspaced(char)) and letters:
            # Accents and vowel signs of their own are not between words.
            runs.append("".join(letters))
            letters = []
    if letters:
        runs.append("".join(letters))
    return runs


def _without_contraction(chunk: str) -> str:
    """Reduce user's to user, don't to nothing and l'index to index."""
    head, _, tail = chunk.partition("'")
    if tail.lower() == "t" and head.lower().endswith("n"):
        return ""
    if tail.lower() in CONTRACTIONS:
        return head
    return tail if head.lower() in ELISIONS else chunk


def _of_run(run: str) -> list[tuple[str, float]]:
    """Return a run of letters as terms: itself, and its parts if it is getUserToken or unspaced text."""
    if not run.isascii():
        found: list[tuple[str, float]] = []
        for unspaced, part in segments(run):
            if unspaced:
                found += [(pair, 6.0) for pair in pairs(part)]
            else:
                found.append((part[:_LONGEST_WORD].lower(), float(min(len(part), 12))))
        return found
    if len(run) > _LONGEST_WORD:  # base64 and the like: nobody has it word for word
        return []
    parts = camel_parts(run)
    telling = 14.0 if parts else float(min(len(run), 12))
    if run.isdecimal() and len(run) > 5:
        telling = 3.0  # addresses, times and process numbers come only once
    elif run.endswith(("Error", "Exception", "error", "exception")):
        telling = 16.0
    return [(run.lower(), telling), *((part.lower(), float(min(len(part), 12)) - 2) for part in parts)]


def camel_parts(run: str) -> list[str]:
    """Split getUserToken into get, User, Token; return nothing for a word of one part."""
    if run.islower() or run.isupper() or run[1:].islower() or not run.isascii():
        return []
    parts, start = [], 0
    for at in range(1, len(run)):
        rises = run[at].isupper() and not run[at - 1].isupper()
        ends_acronym = run[at].isupper() and run[at + 1 : at + 2].islower()
        if rises or (ends_acronym and run[at - 1].isupper()):
            parts.append(run[start:at])
            start = at
    return [*parts, run[start:]] if parts else []


def _is_empty(term: str, drop: frozenset[str]) -> bool:
    """Tell whether a single word says nothing."""
    if term in STOP_WORDS or term in drop:
        return True
    return len(term) == 1 and not term.isdecimal() and not is_unspaced(term)


def _most_telling(terms: dict[str, float], most: int = MOST_TERMS) -> list[str]:
    """Keep the most telling terms, in their order."""
    if len(terms) <= most:
        return list(terms)
    kept = set(sorted(terms, key=terms.__getitem__, reverse=True)[:most])
    return [term for term in terms if term in kept]


def _quote(term: str) -> str:
    """Quote a term; a single unspaced character also finds the pairs that begin with it."""
    return f'"{term}"*' if len(term) == 1 and is_unspaced(term) else f'"{term}"'


def _quoted(text: str) -> list[str]:
    """Return what stands in double quotes, where these are quotes of the question and not of pasted code."""
    if len(text) > _LONGEST_QUOTING or "\n" in text:
        return []
    found, at = [], 0
    while at < len(text):
        if text[at] in _OPENING and (at == 0 or text[at - 1].isspace()):
            ends = [end for end in (text.find(mark, at + 1) for mark in _CLOSING) if end > 0]
            end = min(ends, default=0)
            if end and (end + 1 == len(text) or text[end + 1].isspace() or text[end + 1] in ".,;:?!"):
                found.append(text[at + 1 : end])
                at = end
        at += 1
    return found


def _exact(quoted: str) -> list[str]:
    """Return the phrases that together say a quoted text word for word."""
    phrases: list[str] = []
    spaced: list[str] = []
    for run in _runs(quoted.replace("'", " ")):
        for unspaced, part in segments(run[: 4 * _LONGEST_WORD]):
            if not unspaced:
                spaced.append(part.lower())
                continue
            if spaced:
                phrases.append(f'"{" ".join(spaced)}"')
                spaced = []
            phrases.append(f'"{" ".join(pairs(part))}"' if len(part) > 1 else f'"{part}"*')
    return [*phrases, f'"{" ".join(spaced)}"'] if spaced else phrases


def _plain(terms: Iterable[str]) -> tuple[str, ...]:
    """Return the single words of terms, once each, that are worth marking in an excerpt."""
    words = dict.fromkeys(word for term in terms for word in term.split())
    telling = [word for word in words if not _is_empty(word, frozenset())]
    return tuple(telling or words)
