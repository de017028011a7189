"""Split a rule into words, and find the parts of it that forbid something."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from told.hook.guard import load_table, load_words
from told.pattern import lazy_pattern
from told.words import stem

COMMAND, OPTION, PATH, WORD, COMMA, STOP = "command", "option", "path", "word", "comma", "stop"
_TOKEN = lazy_pattern(r"`([^`]+)`|((?<!\s)[.!?;:]+(?=\s|$)|;|\n|\s-\s)|(,)|([^\s,()`;]+)")
_CJK = "\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
# Curly and full-width signs become plain ones; dashes become a break.
_PLAIN = {0x2019: "'", 0x2013: " ; ", 0x2014: " ; ", 0xFF0C: ", ", 0x3002: ". ", 0x3001: ", ", 0x7C: " | "}
_SCRIPT_CHANGE = lazy_pattern(rf"(?<=[{_CJK}])(?=[!-~])|(?<=[!-~])(?=[{_CJK}])")
_ENDINGS = (
    "py|pyi|js|jsx|ts|tsx|mjs|go|rs|rb|php|java|kt|swift|c|cc|cpp|h|hpp|cs|sql|md|mdx|txt|json|jsonl|ya?ml|toml|ini"
    "|cfg|env|lock|sh|css|scss|html|vue|svelte|xml|db|ipynb|gradle|tf|tfvars|tfstate|proto|csv|pem|key|crt|sqlite3?"
)
_PATH = lazy_pattern(
    r"(?:~|\.{1,2})?/?(?:[\w.*@+-]+/)+[\w.*+-]*|(?:~|\.{1,2})/[\w.*/+-]*|/[\w.*/-]+|\.[a-z]\w+|~"
    rf"|\.?[\w*-][\w.*-]*\.(?:{_ENDINGS})|makefile|dockerfile|justfile"
)
_FOLDER_WORDS = frozenset(("folder", "folders", "directory", "directories", "dir", "tree"))
_LIST = frozenset(("or", "and", "nor", "oder", "und", "ou", "o", "y", "e"))
_AT_START = frozenset(("stop", "avoid", "refrain"))  # negations only at the start of a clause
_BEFORE_START = ("please", "to", "and", "must", "should")
_PASSIVE = frozenset(("be", "get"))
_ENDS = ".!?:"
_MOST_LISTED = 3  # words between the commas of a list


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a rule."""

    text: str  # in lower case
    kind: str = WORD
    raw: str = ""  # as written

    @property
    def stem(self) -> str:
        """The form that is compared."""
        if self.kind == OPTION and re.fullmatch(r"-[a-z]+", self.text):
            return "-" + "".join(sorted(self.text[1:]))
        return stem(self.text) if self.kind == WORD else self.text


@dataclass(frozen=True, slots=True)
class Zone:
    """The words of a clause that are forbidden."""

    tokens: tuple[Token, ...]
    around: tuple[Token, ...] = ()  # a leading "on main," that limits it
    is_conditional: bool = False  # limited in a way that cannot be checked


def find_zones(text: str) -> tuple[list[Zone], frozenset[str]]:
    """Return what a rule forbids, and the words that it does not."""
    zones: list[Zone] = []
    others: set[str] = set()
    places = load_words("words", "branches") | load_words("words", "environments")
    for sentence in _split_sentences(_join_lists(tokenise(text))):
        lead: tuple[Token, ...] = ()
        for clause in sentence:
            is_heading = bool(clause) and clause[-1].text == ":"
            if is_heading:
                clause.pop()
            found, used = _find_in_clause(clause, lead)
            zones += found
            others |= {token.text for at, token in enumerate(clause) if at not in used}
            if clause and clause[0].text in load_words("words", "leads"):
                lead = tuple(clause)
            elif is_heading:  # "Don't touch main: no commits, no merges"
                lead = tuple(one for one in clause if one.text in places)
    return zones, frozenset(others)


def tokenise(text: str) -> list[Token]:
    """Return the words of a rule; commands in backticks, options and paths are kept whole."""
    text = text.translate(_PLAIN)
    found: list[Token] = []
    for match in _TOKEN.finditer(_SCRIPT_CHANGE.sub(" ", text)):
        ticked, stop, comma, word = match.groups()
        if ticked:
            found += _read_ticked(ticked.strip())
        elif stop or comma:
            found.append(Token(stop or comma, STOP if stop else COMMA))
        else:
            found += _read_word(word)
            if word[-1] in _ENDS and word.strip(_ENDS):
                found.append(Token(word[-1], STOP))
    for at, token in enumerate(found):
        before = found[at - 1] if at else Token("")
        following = found[at + 1] if at + 1 < len(found) else Token("", STOP)
        if token.text in load_words("words", "folders") and (
            following.kind != WORD or following.text in _LIST
        ):
            found[at] = Token(token.text, PATH, token.raw)
        no_names = load_words("words", "fillers") | load_words("words", "not_folders")
        if token.text in _FOLDER_WORDS and before.kind == WORD and before.text not in no_names:
            found[at - 1] = Token(before.text, PATH, before.raw)
    return found


def _read_ticked(text: str) -> list[Token]:
    if text.startswith("-"):
        return [Token(word.lower(), OPTION, word) for word in text.split()]
    is_path = _PATH.fullmatch(text.lower()) and " " not in text
    return [Token(text.lower(), PATH if is_path else COMMAND, text)]


def _read_word(word: str) -> list[Token]:
    bare = word.strip("\"'“”„_").rstrip(".!?:;…") or word
    if bare.startswith("*") and bare.endswith("*"):  # emphasis
        bare = bare.strip("*") or bare
    text = bare.lower()
    if text.startswith("-") and len(text) > 1:
        return [Token(text, OPTION, bare)]
    if text.startswith("origin/"):
        return [Token(text.removeprefix("origin/"), WORD, bare)]
    parts = text.split("/")
    if len(parts) > 1 and all(part in _spoken() for part in parts):
        return [one for part in parts for one in (Token(part), Token("or"))][:-1]
    if _PATH.fullmatch(text) and text not in ("and/or", "i/o", "ci/cd"):
        return [Token(text, PATH, bare)]
    first, dash, rest = text.partition("-")
    if dash and first in load_words("words", "hyphenated"):
        return [Token(first), *(Token(part) for part in rest.split("-") if part)]
    return [Token(text.replace("'", ""), WORD, bare)]


@cache
def _spoken() -> frozenset[str]:
    """Return the words that a slash may join: `npm/yarn`, `apply/destroy`."""
    table = load_table("words")
    names = " ".join(table["programs"].values())
    return frozenset(
        [*names.split(), *" ".join(table["branches"]).split(), *table["path_verbs"]["change"].split()]
    )


def _join_lists(tokens: list[Token]) -> list[Token]:
    """Replace the commas of a list: "never commit, push or merge"."""
    kept = list(tokens)
    ends = load_words("words", "negations") | load_words("words", "contrast")
    for at in reversed(range(len(kept))):
        if kept[at].text != ",":
            continue
        after = kept[at + 1 : at + 2 + _MOST_LISTED]
        texts = [token.text for token in after]
        place = next((i for i, token in enumerate(after) if token.text in _LIST), -1)
        is_list = (
            place >= 0
            and ends.isdisjoint(texts[: place + 2])
            and STOP not in [one.kind for one in after[:place]]
        )
        if texts[:1] == ["ever"] or is_list:
            kept[at] = Token("or")
    return kept


def _split_sentences(tokens: list[Token]) -> list[list[list[Token]]]:
    sentences: list[list[list[Token]]] = [[[]]]
    for token in tokens:
        if token.kind == STOP and token.text != ":":
            sentences.append([[]])
        elif token.kind in (STOP, COMMA):
            sentences[-1][-1] += [token] if token.text == ":" else []
            sentences[-1].append([])
        else:
            sentences[-1][-1].append(token)
    return sentences


def _find_in_clause(clause: list[Token], lead: tuple[Token, ...]) -> tuple[list[Zone], set[int]]:
    """Return the forbidden parts of a clause, and which of its words they use."""
    zones: list[Zone] = []
    used: set[int] = set()
    negations, conditions = load_words("words", "negations"), load_words("words", "conditions")
    texts = [token.text for token in clause]
    starts = _find_starts(texts)
    if any(sign in text for text in texts for sign in load_words("words", "cjk_negations")):
        return [Zone(tuple(clause), lead)], set(range(len(clause)))
    for number, (start, is_after) in enumerate(starts):
        limit = starts[number + 1][0] if number + 1 < len(starts) else len(clause)
        first = start + 1
        end = _find_end(texts, first, limit)
        tail = texts[end:limit] if end < limit else []
        is_conditional = bool(tail) and tail[0] in conditions
        if is_after or (first == end and start and texts[start] in negations):
            inner = range(0 if not number else starts[number - 1][0] + 1, start)
            is_conditional = is_conditional or not conditions.isdisjoint(texts[start:])
        else:
            inner = range(first, end)
        places = list(inner)
        if not is_after and first < end and texts[first] in _PASSIVE:  # "tags must not be pushed"
            places = [*range(first + 1, end), *range(start)]
        allowed = load_words("words", "allowances")
        skipped = next((texts[at] for at in inner if texts[at] not in ("to", "really", "ever")), "")
        if skipped in allowed and not is_after:
            continue
        zones.append(Zone(tuple(clause[at] for at in places), lead, is_conditional))
        used |= set(places)
    return [zone for zone in zones if zone.tokens], used


def _find_starts(texts: list[str]) -> list[tuple[int, bool]]:
    """Return where denials are, and whether each denies what is before it."""
    negations, forbidden = load_words("words", "negations"), load_words("words", "forbidden")
    not_forbidden, instead = load_words("words", "not_forbidden"), load_words("words", "use_instead")
    found: list[tuple[int, bool]] = []
    prefers = "prefer" in texts or "preferred" in texts
    for at, text in enumerate(texts):
        following = texts[at + 1] if at + 1 < len(texts) else ""
        if text in _AT_START and at and texts[at - 1] not in (*_BEFORE_START, *negations):
            continue  # "restart or stop services"
        if text in forbidden:
            found.append((at, following != "to"))  # "it is forbidden to …"
        elif text in negations:
            second = texts[at + 2] if at + 2 < len(texts) else ""
            is_after = following in not_forbidden or (following == "longer" and second in not_forbidden)
            is_after = is_after and second != "to"  # "it is not allowed to …"
            if found and found[-1][0] == at - 1 and not found[-1][1]:
                found.pop()  # "do not ever", "no uses nunca"
                if text in _AT_START:  # "never stop using" asks for it
                    continue
            found.append((at, is_after and at > 0))
        elif not instead.isdisjoint((text, f"{text}_{following}")) or (text == "over" and prefers):
            found.append((at, False))
    return [
        one for one in found if not (one[1] and any(not other[1] for other in found if other[0] < one[0]))
    ]


def _find_end(texts: list[str], first: int, limit: int) -> int:
    """Return where what a negation covers ends."""
    contrast, conditions = load_words("words", "contrast"), load_words("words", "conditions")
    light = load_words("words", "using") | load_words("words", "fillers")
    has_content = False
    for at in range(first, limit):
        is_contrast = texts[at] in contrast and (has_content or texts[at] not in light)
        if texts[at] in conditions or (is_contrast and texts[at - 1] not in load_words("words", "programs")):
            return at
        has_content = has_content or texts[at] not in light
    return limit
