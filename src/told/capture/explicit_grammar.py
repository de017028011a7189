"""Load the grammar of explicit teaching from `explicit.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from told.capture.standalone import OPENINGS
from told.pattern import lazy_pattern

# ruff: noqa: RUF001 - punctuation of many languages

_DATA: dict[str, Any] = tomllib.loads(Path(__file__).with_name("explicit.toml").read_text(encoding="utf-8"))
_AND = r"\b(?:and|but|so|und|aber|et|mais|y|pero|e|mas|и|а|но)\s"
_NEVER = r"(?!)"
# Cues that may begin any clause of a sentence, and the words after which they do; others begin a sentence.
_AFTER = {
    "request": _AND, "todo": _AND, "point": _AND, "henceforth": _AND, "order": _NEVER, "stop": _AND,
    "prohibit": _NEVER, "language": _NEVER, "again": _NEVER,
}  # fmt: skip
_CYRILLIC = lazy_pattern(r"[\u0400-\u04ff]")
_LATIN = lazy_pattern(r"(?<![<a-z])[a-z]{3,}")
_CJK = lazy_pattern(r"[\u3040-\u30ff\u3400-\u9fff]")
_CJK_ONLY = lazy_pattern(r"[\u3040-\u30ff\u3400-\u9fff\W\d]*")
_CJK_STARTS = {"request", "announce", "todo", "heading", "henceforth"}


def _compile(pattern: str) -> re.Pattern[str]:
    return lazy_pattern(pattern, re.IGNORECASE)


def find_matches(name: str, text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of a cue; the group `start` is where it begins."""
    if any(map(str.isalpha, text)) and not _CJK_ONLY.fullmatch(text):
        yield from _compile_spaced(name, cyrillic=False).finditer(text)
    if _CYRILLIC.search(text):
        yield from _compile_spaced(name, cyrillic=True).finditer(text)
    if _CJK.search(text):
        yield from _compile_cjk(name).finditer(text)


@cache
def _compile_spaced(name: str, *, cyrillic: bool) -> re.Pattern[str]:
    """Join the patterns of a cue in one script; each stands at the start of a clause."""
    table, boundary = _DATA[name], _DATA["boundary"]
    own, anywhere = (
        "|".join(one for one in table.get(part, ()) if _is_cyrillic(one) == cyrillic)
        for part in ("patterns", "anywhere")
    )
    spaced = own or _NEVER
    for part in ("clause", "polish"):
        spaced = spaced.replace(f"{{{part}}}", table.get(part, ""))
    spaced = _number_groups(spaced)
    openings = rf"(?:(?:{OPENINGS})\b[\s,.!:;–—-]*)*"
    clause = rf"^(?:{boundary['signed']}[,:!–—-]\s)?{openings}"
    if name in _AFTER:
        clause = rf"(?:^|[,;:!.…–—]\s*|\s-+\s|{_AFTER[name]}){openings}"
    if anywhere:
        clause, spaced = "", rf"(?:(?<=\W)|^)(?:{anywhere})\b|{clause}(?:{spaced})"
    return _compile(rf"{clause}(?P<start>{table.get('frames', '')}(?:{spaced}))")


def _is_cyrillic(pattern: str) -> bool:
    """Tell whether a pattern is in Russian only; some have alternatives in several languages."""
    return bool(_CYRILLIC.search(pattern)) and not _LATIN.search(pattern)


@cache
def _compile_cjk(name: str) -> re.Pattern[str]:
    openings = _DATA["boundary"]["cjk_openings"]
    clause = rf"(?:^|[，。,：:；\s！!、]|{openings})" if name in _CJK_STARTS else ""
    return _compile(rf"{clause}(?P<start>{_number_groups('|'.join(_DATA[name]['cjk']))})")


def _number_groups(pattern: str) -> str:
    """Number the group names of a pattern: `name` becomes `name1`, `name2`."""
    count = 0

    def number(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return f"(?P<{match[1]}{count}>"

    return re.sub(r"\(\?P<([a-z]+)>", number, pattern)


def _join_phrases(phrases: list[str]) -> str:
    """Join phrases; those of spaced languages start with a word."""
    return "|".join(rf"\b{one}" if one[0].isascii() and one[0].isalpha() else one for one in phrases)


_SETS = ("question_starts", "task_starts")
CUES = tuple(name for name, table in _DATA.items() if "patterns" in table)
GUARDS = {
    name: _compile(_join_phrases(value) if isinstance(value, list) else value)
    for name, value in _DATA["guards"].items()
    if name not in _SETS
}
KINDS = {name: _compile(value) for name, value in _DATA["kinds"].items()}
QUESTION_STARTS, TASK_STARTS = (frozenset(_DATA["guards"][name].split()) for name in _SETS)
NOT_ORDERS = frozenset(_DATA["order"]["not_verbs"].split())
NOT_HABITS = frozenset(_DATA["habit"]["not_verbs"].split())
BASE_FORMS = frozenset(_DATA["order"]["base_forms"].split())
QUOTED = lazy_pattern(
    r"“[^”\n]{3,600}”|«[^»\n]{3,600}»|„[^“”\n]{3,600}[“”]|(?<!\w)\"[^\"\n]{3,600}\"|(?<!\w)'[^'\n]{12,300}'(?!\w)"
    r"|「[^」\n]{3,600}」|`[^`\n]{1,200}`"
)
