"""Build the expressions of full-text queries; nothing else writes FTS5's syntax."""

from __future__ import annotations

from collections.abc import Iterable


def quote_phrase(words: str, *, prefix: bool = False) -> str:
    """Quote any text as a phrase; with `prefix` its last word may continue."""
    # SQLite reads up to a NUL, and takes no lone surrogates.
    text = words.replace("\0", " ").encode("utf-8", "replace").decode().replace('"', '""')
    return f'"{text}"*' if prefix else f'"{text}"'


def unquote_phrase(phrase: str) -> str:
    """Return the words of a quoted phrase."""
    return phrase.removesuffix("*")[1:-1].replace('""', '"')


def match_any(expressions: Iterable[str]) -> str:
    """Match what at least one of the expressions matches."""
    return _join(" OR ", expressions)


def match_all(expressions: Iterable[str]) -> str:
    """Match what all expressions match."""
    return _join(" AND ", expressions)


def match_except(expression: str, unwanted: str) -> str:
    """Match what the first expression matches and the second does not."""
    return f"({expression} NOT {unwanted})"


def match_in(columns: str, expression: str) -> str:
    """Match an expression only in some columns, whose names are separated by spaces."""
    return f"{{{columns}}} : {expression}"


def _join(operator: str, expressions: Iterable[str]) -> str:
    parts = list(expressions)
    return f"({operator.join(parts)})" if len(parts) > 1 else "".join(parts)
