"""Turn a question into index terms; any input yields a valid query."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from told.search.dates import find_time, list_day_words
from told.search.tokens import PUNCTUATION, STOP_WORDS, VAGUE_WORDS, canonical_stem, tokenize
from told.store.fts import quote_phrase, unquote_phrase
from told.words import character_pairs, is_unspaced, split_identifier, split_scripts

MAX_TERMS = 24  # of a long paste, the most specific terms are kept
_MAX_TEXT = 6000
_MAX_WORD = 64
_MAX_PHRASE = 4
_MAX_QUOTING = 300  # in a longer text, quotes belong to pasted code

_OPERATORS = frozenset(("AND", "OR", "NOT", "NEAR"))
_SPLIT = {ord(char): " " for char in '()[]{}<>"“”„«»`,;|=+*!?&^~$%\0'} | {0x2018: "'", 0x2019: "'"}
_EDGES = ".:'/\\-_@#"
_OPENING, _CLOSING = '"“„«', '"”“»'
_CONTRACTIONS = frozenset(("d", "ll", "m", "re", "s", "t", "ve"))  # don't, we're, they'll
_ELISIONS = frozenset(("c", "d", "j", "l", "m", "n", "qu", "s", "t"))  # l'index, d'abord, qu'elle
_ADDRESS_WORDS = frozenset(("com", "home", "http", "https", "org", "users", "usr", "www"))


class Query(NamedTuple):
    """A parsed question; terms and phrases are quoted for FTS5."""

    text: str
    terms: tuple[str, ...]  # any of these, in the order of the question
    must: tuple[str, ...] = ()  # all of these: quoted phrases
    words: tuple[str, ...] = ()  # plain lower-case words, for excerpts; empty if only a time is asked for
    window: tuple[int, int] | None = None  # the named time in ms
    time: str = ""  # the words that name it


def parse_query(text: str, now: int) -> Query:
    """Parse a question."""
    when = find_time(text, now)
    text_used = _shorten(text)
    must = [phrase for quoted in _find_quoted(text_used) for phrase in _exact_phrases(quoted)]
    typed = list(dict.fromkeys(text_used.translate(_SPLIT).split()))
    terms = _score_terms(_without_operators(typed), frozenset(when.drop), strict=True)
    if not terms and not must and not when.window:
        terms = _score_terms(typed, frozenset(), strict=False)
    exact = tuple(dict.fromkeys(must))
    words = _plain_words([*map(unquote_phrase, exact), *terms])
    days = [when.add] if when.add else []
    if when.window and not terms and not must:
        days = list_day_words(when.window, now)
    phrases = dict.fromkeys(_quote(term) for term in (*_select_terms(terms), *days))
    return Query(text, tuple(phrases), exact, words, when.window, when.phrase)


def find_terms(text: str, most: int = MAX_TERMS) -> tuple[str, ...]:
    """Return the most specific terms of a prompt, quoted."""
    typed = list(dict.fromkeys(_shorten(text).translate(_SPLIT).split()))
    terms = _score_terms(_without_operators(typed), frozenset(), strict=True)
    return tuple(dict.fromkeys(map(_quote, _select_terms(terms, most))))


def find_keywords(text: str) -> list[str]:
    """Return the canonical stems of the words that say what a text is about."""
    found = []
    for token in tokenize(text.lower()):
        bare = token.strip("`'\"()[]*_.")
        if token in PUNCTUATION or not bare or bare in STOP_WORDS or bare in VAGUE_WORDS:
            continue
        found.append(canonical_stem(bare))
    return found


def split_camel_case(run: str) -> list[str]:
    """Split getUserToken into get, User, Token; a plain word has no parts."""
    if run.islower() or run.isupper() or run[1:].islower() or not run.isascii():
        return []
    parts = split_identifier(run)
    return parts if len(parts) > 1 else []


def _shorten(text: str) -> str:
    """Keep the start and the end of a long text."""
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT * 2 // 3]} {text[-_MAX_TEXT // 3 :]}"


def _without_operators(chunks: Iterable[str]) -> list[str]:
    return [chunk for chunk in chunks if chunk not in _OPERATORS]


def _score_terms(chunks: Iterable[str], drop: frozenset[str], *, strict: bool) -> dict[str, float]:
    """Return the terms of a text in order, each with its specificity."""
    terms: dict[str, float] = {}
    for chunk in chunks:
        runs = _split_runs(chunk.strip(_EDGES), reduce=strict)
        if len(runs) > 1:
            if "/" in chunk:
                runs = [run for run in runs if run.lower() not in _ADDRESS_WORDS]
            terms.setdefault(" ".join(runs[-_MAX_PHRASE:]).lower(), 14.0)
        for run in runs:
            if len(runs) > 1 and len(run) < 3:
                continue
            for term, specificity in _split_run(run):
                if not strict or not _is_empty(term, drop):
                    terms.setdefault(term, specificity)
    return terms


def _split_runs(chunk: str, *, reduce: bool = True) -> list[str]:
    """Split a chunk into runs of letters and digits, as the index does."""
    if chunk.isalnum():
        return [chunk]
    if reduce and "'" in chunk:
        chunk = _strip_contraction(chunk)
    # Combining accents and vowel signs do not separate words.
    return "".join(
        char if char.isalnum() else "" if "\u0300" <= char <= "\u036f" or is_unspaced(char) else " "
        for char in chunk
    ).split()


def _strip_contraction(chunk: str) -> str:
    """Reduce user's to user, don't to nothing and l'index to index."""
    head, _, tail = chunk.partition("'")
    if tail.lower() == "t" and head.lower().endswith("n"):
        return ""
    if tail.lower() in _CONTRACTIONS:
        return head
    return tail if head.lower() in _ELISIONS else chunk


def _split_run(run: str) -> list[tuple[str, float]]:
    """Return a run and its identifier parts or character pairs as scored terms."""
    if not run.isascii():
        found: list[tuple[str, float]] = []
        for unspaced, part in split_scripts(run):
            if unspaced:
                found += [(pair, 6.0) for pair in character_pairs(part)]
            else:
                found.append((part[:_MAX_WORD].lower(), float(min(len(part), 12))))
        return found
    if len(run) > _MAX_WORD:  # base64 and the like
        return []
    parts = split_camel_case(run)
    specificity = 14.0 if parts else float(min(len(run), 12))
    if run.isdecimal() and len(run) > 5:
        specificity = 3.0  # addresses, times and process numbers rarely recur
    elif run.endswith(("Error", "Exception", "error", "exception")):
        specificity = 16.0
    return [(run.lower(), specificity), *((part.lower(), float(min(len(part), 12)) - 2) for part in parts)]


def _is_empty(term: str, drop: frozenset[str]) -> bool:
    """Tell whether a single word is not worth searching."""
    if term in STOP_WORDS or term in drop:
        return True
    return len(term) == 1 and not term.isdecimal() and not is_unspaced(term)


def _select_terms(terms: dict[str, float], most: int = MAX_TERMS) -> list[str]:
    """Keep the most specific terms in their order."""
    if len(terms) <= most:
        return list(terms)
    selected = set(sorted(terms, key=terms.__getitem__, reverse=True)[:most])
    return [term for term in terms if term in selected]


def _quote(term: str) -> str:
    """Quote a term; a single unspaced character matches as a prefix."""
    return quote_phrase(term, prefix=len(term) == 1 and is_unspaced(term))


def _find_quoted(text: str) -> list[str]:
    """Return double-quoted phrases, unless the text looks like pasted code."""
    if len(text) > _MAX_QUOTING or "\n" in text:
        return []
    found, at = [], 0
    while at < len(text):
        if text[at] in _OPENING and (at == 0 or text[at - 1].isspace()):
            ends = [end for end in (text.find(sign, at + 1) for sign in _CLOSING) if end > 0]
            end = min(ends, default=0)
            if end and (end + 1 == len(text) or text[end + 1].isspace() or text[end + 1] in ".,;:?!"):
                found.append(text[at + 1 : end])
                at = end
        at += 1
    return found


def _exact_phrases(quoted: str) -> list[str]:
    """Return the index phrases that match a quoted text exactly."""
    phrases: list[str] = []
    spaced: list[str] = []
    for run in _split_runs(quoted.replace("'", " ")):
        for unspaced, part in split_scripts(run[: 4 * _MAX_WORD]):
            if not unspaced:
                spaced.append(part.lower())
                continue
            if spaced:
                phrases.append(quote_phrase(" ".join(spaced)))
                spaced = []
            phrases.append(quote_phrase(" ".join(character_pairs(part)), prefix=len(part) == 1))
    return [*phrases, quote_phrase(" ".join(spaced))] if spaced else phrases


def _plain_words(terms: Iterable[str]) -> tuple[str, ...]:
    """Return the single words of terms that an excerpt should highlight."""
    words = dict.fromkeys(word for term in terms for word in term.split())
    useful = [word for word in words if not _is_empty(word, frozenset())]
    return tuple(useful or words)
