"""Finds what a text denies: after a negation, or before a word that says it has ended."""

from __future__ import annotations

from told.memory import _supersede_cues as cues
from told.search.tokens import BREAKS
from told.search.unspaced import is_unspaced

_NEGATED_UNSPACED = (
    "不要",
    "不再",
    "不用",
    "不能",
    "禁止",
    "别",
    "不",
    "ない",
    "しない",
    "ません",
    "なし",
    "やめ",
    "ず",
)
_NO_MORE = frozenset(("plus",))  # of French: "plus de yarn"
_COPULAS = cues.words("""
is are was were be been got get gets has have had ist sind wurde wird est sont a es está fue é foi
""")
_SIDES = frozenset(("the", "on", "bottom", "top", "upper", "lower", "far"))
_TRAILERS = cues.words("""
by since here now for again out down from
""")
_POSITIVE_AFTER_DENIAL = cues.words("""
forget only just longer
""")


def denials(tokens: list[str]) -> list[bool]:
    """Mark the tokens that stand under a denial."""
    flags = [False] * len(tokens)
    start = 0
    for end in range(len(tokens) + 1):
        if end < len(tokens) and tokens[end] not in BREAKS:
            continue
        _deny_clause(tokens, flags, start, end)
        start = end + 1
    return flags


def _deny_clause(tokens: list[str], flags: list[bool], start: int, end: int) -> None:
    clause = tokens[start:end]
    if any(is_unspaced(token[0]) for token in clause):
        joined = "".join(clause)
        if any(mark in joined for mark in _NEGATED_UNSPACED):
            flags[start:end] = [True] * (end - start)
        return
    active = False
    for at, token in enumerate(clause):
        following = clause[at + 1] if at + 1 < len(clause) else ""
        before = clause[at - 1] if at else ""
        if before in cues.DENY and token == "forget":  # noqa: S105 - a word
            continue
        if token == "left" and before in _SIDES:  # noqa: S105 - a word
            continue
        if token in cues.ENDED and (not following or before in _COPULAS or following in _TRAILERS):
            flags[start : start + at] = [True] * at
            active = token in {"replaced", "left", "dropped"} and following not in ("", "by", "for")
        elif token in cues.DENY and following not in _POSITIVE_AFTER_DENIAL:
            if not following or (token in {"no", "não"} and before in {"ya", "já"} and at == len(clause) - 1):
                flags[start : start + at] = [True] * at
            active = True
        elif (
            (token in {"instead", "rather"} and following in {"of", "than"})
            or token in {"vez", "lugar", "lieu"}
            or (token in _NO_MORE and following in {"de", "du", "des"})
        ):
            active = True
        elif token in cues.BLAME:
            flags[start : start + at] = [True] * at
        elif token in cues.HALT and before not in cues.DENY:
            active = False
        elif active:
            flags[start + at] = True
