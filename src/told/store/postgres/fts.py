"""Translate expressions of `told.store.fts` for PostgreSQL; index texts by the words of SQLite."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import apsw

from told.pattern import lazy_pattern
from told.store.database import make_tokenizer
from told.store.fts import unquote_phrase

MAX_POSITION = 16_383  # later words of a text are found, but not as part of a phrase
_MAX_WORD = 500  # characters; PostgreSQL takes 2,046 bytes
_MAX_PHRASE = 200  # words; of a longer phrase the first ones are matched
_MAX_DEPTH = 100  # of groups in groups
_MAX_VECTOR = 900_000  # bytes; PostgreSQL takes 1 MiB
_MAX_PLACES = 255  # of one word
_GAP = 10  # between two columns, so that no phrase matches across them
_PART = lazy_pattern(
    r'\s*(?:("(?:[^"]|"")*"\*?)|\{([^{}"]*)\}\s*:|([()])|(AND|OR|NOT)(?![^\s()"{]))', re.DOTALL
)
_LOOSEST = ("OR", "AND", "NOT")  # operators, the one that binds the tightest last

_local = threading.local()


class Phrase(NamedTuple):
    """Words that follow each other."""

    words: tuple[str, ...]  # as they are indexed
    prefix: bool = False  # the last word may continue
    columns: frozenset[str] | None = None  # None: all


class Group(NamedTuple):
    """Expressions and the operator between them."""

    operator: str
    parts: tuple[Expression, ...]


Expression = Phrase | Group


def split_words(text: str) -> list[str]:
    """Return the words of a text as SQLite's index has them."""
    tokenize: Callable[[str], list[str]] | None = getattr(_local, "tokenize", None)
    if tokenize is None:  # a connection of SQLite belongs to one thread
        tokenize = _local.tokenize = make_tokenizer(apsw.Connection(":memory:"))
    return [word[:_MAX_WORD] for word in tokenize(text.replace("\0", " "))]


def parse_expression(text: str) -> Expression:
    """Parse an expression; other text is one phrase."""
    try:
        parser = _Parser(_split_parts(text))
        return parser.read_all()
    except ValueError:
        return Phrase(_phrase_words(text))


def list_phrases(expression: Expression) -> Iterator[Phrase]:
    """Yield the phrases of an expression from left to right."""
    if isinstance(expression, Phrase):
        yield expression
        return
    for part in expression.parts:
        yield from list_phrases(part)


def format_tsquery(expression: Expression, labels: Mapping[str, str]) -> str:
    """Return an expression as the text of a `tsquery`; empty if it matches nothing.

    Args:
        expression: What is matched.
        labels: The weight labels of each column ("A", "BC"); empty for a column whose words are in no other.
    """
    if isinstance(expression, Phrase):
        return _format_phrase(expression, labels)
    parts = [format_tsquery(part, labels) for part in expression.parts]
    used = [part for part in parts if part]
    if expression.operator == "NOT":
        unwanted = "".join(f" & !{part}" for part in parts[1:] if part)
        return f"({parts[0]}{unwanted})" if parts[0] and unwanted else parts[0]
    if expression.operator == "AND" and len(used) < len(parts):
        return ""
    sign = " & " if expression.operator == "AND" else " | "
    return f"({sign.join(used)})" if len(used) > 1 else "".join(used)


def to_tsquery(text: str, labels: Mapping[str, str]) -> str:
    """Translate an expression of `told.store.fts` into the text of a `tsquery`; see `format_tsquery`."""
    return format_tsquery(parse_expression(text), labels)


def format_tsvector(columns: Sequence[tuple[str, str]], marks: Sequence[str] = ()) -> str:
    """Return the text of a `tsvector`.

    Args:
        columns: The weight label and text of each column.
        marks: Words that no column contains, such as the token of a project; columns lose them.
    """
    places: dict[str, list[str]] = {mark: [] for mark in marks}
    kept = frozenset(marks)
    position, size = 1, sum(map(len, marks))
    for label, text in columns:
        for word in split_words(text):
            known = places.get(word)
            if known is None:
                size += len(word.encode()) + 2
            size += 3
            if size > _MAX_VECTOR:
                break
            if word not in kept:
                if known is None:
                    known = places[word] = []
                if len(known) < _MAX_PLACES:
                    known.append(f"{min(position, MAX_POSITION)}{label}")
            position += 1
        position += _GAP
    return " ".join(
        f"{_quote(word)}:{','.join(dict.fromkeys(own))}" if own else _quote(word)
        for word, own in places.items()
    )


def _format_phrase(phrase: Phrase, labels: Mapping[str, str]) -> str:
    marks = ""
    if phrase.columns is not None:
        own = [labels.get(column) for column in sorted(phrase.columns)]
        if all(one is None for one in own):
            return ""
        if "" not in own:
            marks = "".join(sorted(set("".join(one or "" for one in own))))
    words = [f"{_quote(word)}{':' + marks if marks else ''}" for word in phrase.words]
    if words and phrase.prefix:
        words[-1] = f"{_quote(phrase.words[-1])}:*{marks}"
    return f"({' <-> '.join(words)})" if len(words) > 1 else "".join(words)


def _quote(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


def _phrase_words(text: str) -> tuple[str, ...]:
    return tuple(split_words(text)[:_MAX_PHRASE])


def _split_parts(text: str) -> list[tuple[str, str]]:
    """Return the (kind, text) of each part of an expression."""
    parts: list[tuple[str, str]] = []
    at, text = 0, text.rstrip()
    while at < len(text):
        found = _PART.match(text, at)
        if found is None:
            raise ValueError(text[at])
        phrase, columns, bracket, operator = found.groups()
        if phrase is not None:
            parts.append(("phrase", phrase))
        elif columns is not None:
            parts.append(("columns", columns))
        else:
            parts.append((bracket or operator, ""))
        at = found.end()
    return parts


class _Parser:
    """Reads the parts of one expression; ValueError if it is none."""

    def __init__(self, parts: Sequence[tuple[str, str]]) -> None:
        self._parts = [*parts, ("end", "")]
        self._at = 0
        self._depth = 0

    def read_all(self) -> Expression:
        """Read the parts to their end."""
        expression = self._read_group(0, None)
        self._take("end")
        return expression

    def _read_group(self, level: int, columns: frozenset[str] | None) -> Expression:
        if level == len(_LOOSEST):
            return self._read_one(columns)
        operator = _LOOSEST[level]
        found = [self._read_group(level + 1, columns)]
        while self._parts[self._at][0] == operator:
            self._at += 1
            found.append(self._read_group(level + 1, columns))
        return Group(operator, tuple(found)) if len(found) > 1 else found[0]

    def _read_one(self, columns: frozenset[str] | None) -> Expression:
        kind, text = self._parts[self._at]
        if kind == "phrase":
            self._at += 1
            return Phrase(_phrase_words(unquote_phrase(text)), text.endswith("*"), columns)
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ValueError("too deep")
        if kind == "columns":
            self._at += 1
            own = frozenset(text.split())
            expression = self._read_one(own if columns is None else own & columns)
        else:
            self._take("(")
            expression = self._read_group(0, columns)
            self._take(")")
        self._depth -= 1
        return expression

    def _take(self, kind: str) -> None:
        if self._parts[self._at][0] != kind:
            raise ValueError(kind)
        self._at += 1
