"""Load the cues and guards of explicit teaching from `explicit.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from told.capture.pasted_lines import ENDORSES
from told.capture.sentences import count_words, has_cjk
from told.pattern import lazy_pattern
from told.tables import load_table

# ruff: noqa: RUF001 - punctuation of many languages

REST, LIST, BACK = "rest", "list", "back"  # what a cue makes told read
REQUESTS = frozenset(("request", "point", "list", "todo"))  # cues by which the user asks to remember
WORD = lazy_pattern(r"[^\W_]+(?:'[^\W_]+)?")
SIGNS = " .!。！：:,?？;–—-"
QUOTED = lazy_pattern(
    r"“[^”\n]{3,600}”|«[^»\n]{3,600}»|„[^“”\n]{3,600}[“”]|(?<!\w)\"[^\"\n]{3,600}\"|(?<!\w)'[^'\n]{12,300}'(?!\w)"
    r"|「[^」\n]{3,600}」|`[^`\n]{1,200}`"
)
_DATA = load_table(__file__, "explicit")
_PARTS: dict[str, str] = _DATA["parts"]
_OPENINGS = rf"(?:(?:{_PARTS['openings']})\b[\s,.!:;–—-]*)*"
_FILLER = lazy_pattern(
    rf"(?:(?:{_PARTS['openings']})\s?[,.!:;…–—-]+\s+|(?:and|also|und|et|y|e|и)\s+)+(?=\S+ \S)", re.IGNORECASE
)
_BEGINS = {
    "clause": rf"(?:^|[,;:!.…–—]\s*|\s-+\s|\b(?:{_PARTS['and']})\s){_OPENINGS}",
    "sentence": rf"^(?:[^,.:;!?]{{1,30}}[,:!–—-]\s)?{_PARTS['when']}{_OPENINGS}",
    "anywhere": r"(?:(?<=\W)|^)",
}
_ENDS_CLAUSE = lazy_pattern(r"\bdass\W*$", re.IGNORECASE)  # the verb is at the end of what follows
_BEGINS_CJK = rf"(?:^|[，。,：:；\s！!、]|{_PARTS['cjk_openings']})"


@dataclass(frozen=True, slots=True)
class Cue:
    """Words by which a user teaches."""

    name: str
    words: tuple[tuple[frozenset[str], ...], ...]  # groups of any of them
    signs: tuple[str, ...]
    pattern: re.Pattern[str]  # the group `start` is where the cue begins
    cjk: re.Pattern[str]
    needs: re.Pattern[str] | None
    guards: tuple[str, ...]
    read: str
    kind: str
    mark: str

    @property
    def is_request(self) -> bool:
        """Tell whether the user asks for something to be remembered."""
        return self.name in REQUESTS

    def may_be_in(self, words: frozenset[str], text: str) -> bool:
        """Tell whether a text has the words that the cue needs."""
        for groups in self.words:
            if not any(map(words.isdisjoint, groups)):
                return True
        return not text.isascii() and any(sign in text for sign in self.signs)


def _compile(pattern: str | list[str]) -> re.Pattern[str]:
    """Compile a pattern; phrases of a list start with a word."""
    if isinstance(pattern, list):
        pattern = "|".join(rf"\b{one}" if one[0].isascii() and one[0].isalpha() else one for one in pattern)
    return lazy_pattern(pattern, re.IGNORECASE)


def _make_cue(name: str, table: dict[str, Any]) -> Cue:
    spaced = "|".join(table["patterns"])
    for part in ("name", "verb", "states", "frames", "that", "opening"):
        spaced = spaced.replace(f"{{{part}}}", _PARTS[part])
    cjk = "|".join(table.get("cjk", ())) or "(?!)"
    begins_cjk = _BEGINS_CJK if table.get("read") in (REST, LIST) or table.get("at") == "anywhere" else ""
    return Cue(
        name,
        tuple(tuple(frozenset(group.split()) for group in one.split("+")) for one in table["words"]),
        tuple(table.get("signs", "").split()),
        _compile(f"{_BEGINS[table.get('at', 'clause')]}(?P<start>{spaced})"),
        _compile(f"{begins_cjk}(?P<start>{cjk})"),
        _compile(_DATA["needs"][table["needs"]]) if "needs" in table else None,
        tuple(table.get("guards", ())),
        table.get("read", ""),
        table.get("kind", ""),
        table.get("mark", ""),
    )


CUES = tuple(_make_cue(name, table) for name, table in _DATA["cues"].items())
GUARDS = {name: _compile(pattern) for name, pattern in _DATA["guards"].items()}
_TASKS, _ASKING = (frozenset(_DATA[name]["starts"].split()) for name in ("tasks", "questions"))
_ENDS, POLITE, _TAG = (_compile(_DATA["questions"][name]) for name in ("ends", "polite", "tag"))
_LEANS, _OBJECT, _COMPLETES, _NOT_COMPLETING = map(_compile, _DATA["neighbours"].values())
_DECISION, _RULE = (_compile(_DATA["kinds"][name]) for name in ("decision", "rule"))
_GLOBAL = _compile(_DATA["scopes"]["global"])


def find_matches(cue: Cue, blank: str) -> Iterator[re.Match[str]]:
    """Yield the places of a cue in a sentence whose quotations are blanked."""
    yield from cue.pattern.finditer(blank)
    if has_cjk(blank):
        yield from cue.cjk.finditer(blank)


def is_task(text: str) -> bool:
    """Tell whether a text begins like a request for work."""
    words = WORD.findall(text.lower())
    return bool(words) and (words[0] in _TASKS or bool(GUARDS["cjk_task"].match(text)))


def asks(blank: str) -> bool:
    """Tell whether a sentence is a question; one that only ends in `ok?` is not."""
    if _TAG.search(blank):
        return False
    words = WORD.findall(blank.replace("°", "x").lower())
    if words[:2] == ["do", "not"]:
        return bool(_ENDS.search(blank))
    return bool(_ENDS.search(blank)) or bool(words and words[0] in _ASKING)


def blank_quotations(text: str) -> str:
    """Replace quotations and code by signs; the length stays the same."""
    return QUOTED.sub(lambda quoted: "°" * len(quoted.group()), text.replace("’", "'"))


def find_endorsed(sentence: str) -> str:
    """Return the quotation that a sentence asks to remember, or "": `Make this a rule: "…"`."""
    request, colon, rest = sentence.partition(":")
    quoted = QUOTED.fullmatch(rest.strip(" .!")) if colon else None
    is_endorsed = quoted and quoted[0][0] != "`" and ENDORSES.search(request + colon)
    return quoted[0][1:-1] if quoted and is_endorsed else ""


def find_kind(text: str) -> str:
    """Return the kind that a statement's words show: rule, decision or ""."""
    if _DECISION.search(text):
        return "decision"
    return "rule" if _RULE.search(text) else ""


def cut_lead(text: str, *, henceforth: bool = False) -> str:
    """Return a statement without what only asks for it: `ok,`, `remember that`, if wanted `from now on`."""
    rest = text
    filler = _FILLER.match(text)
    if filler:
        rest = text[filler.end() :]
    for cue in CUES:
        if cue.name in ("request", "todo", "note") or (henceforth and cue.name == "henceforth"):
            match = cue.pattern.match(blank_quotations(rest)) or cue.cjk.match(rest)
            if match and _stands_alone(match[0], rest[match.end() :]):
                rest = rest[match.end() :].lstrip(SIGNS)
                break
    is_word = rest.split()[0].isalpha()
    return rest[0].upper() + rest[1:] if text[0].isupper() and is_word else rest


def _stands_alone(lead: str, rest: str) -> bool:
    return count_words(rest) > 1 and not _ENDS_CLAUSE.search(lead) and not _ENDS.search(rest)


def leans_back(text: str) -> bool:
    """Tell whether a sentence needs the one before it."""
    return bool(_LEANS.search(text) or _OBJECT.search(text))


def completes(text: str) -> bool:
    """Tell whether a sentence gives the reason or detail of the one before it."""
    return bool(_COMPLETES.search(text)) and not _NOT_COMPLETING.search(text)


def is_small_talk(text: str) -> bool:
    """Tell whether a sentence only greets, thanks or approves."""
    return bool(GUARDS["small_talk"].search(text))


def is_work(text: str) -> bool:
    """Tell whether a sentence asks for work, asks a question or reports progress."""
    return (
        not count_words(text)
        or is_task(text)
        or asks(text)
        or bool(GUARDS["progress"].search(text) or GUARDS["one_off"].search(text))
        or is_small_talk(text)
    )


def says_something(text: str) -> bool:
    """Tell whether a sentence states something that another one may lean on."""
    return not _ENDS.search(text) and not is_small_talk(text)


def is_global(text: str) -> bool:
    """Tell whether a statement says that it is for all projects."""
    return bool(_GLOBAL.search(text))
