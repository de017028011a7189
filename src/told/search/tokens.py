"""Tokenise and stem; map words to their canonical form."""

from __future__ import annotations

from functools import cache

from told.tables import load_table
from told.words import character_pairs, is_unspaced, split_scripts, stem

PUNCTUATION = frozenset(",;:!?()[]{}|.。、-")
_MAX_TOKENS = 160
_QUOTES = {ord(char): None for char in "'`\"“”„«»*"}
# Full-width and curly signs become plain ones; dashes become a break.
_PLAIN = {0x2018: "'", 0x2019: "'", 0xB4: "'", 0x2013: " ; ", 0x2014: " ; ", ord("="): " ", ord("~"): " "} | {
    code: chr(code - 0xFEE0) for code in (0xFF01, 0xFF08, 0xFF09, 0xFF0C, 0xFF1A, 0xFF1B, 0xFF1F)
}
_SPACED_SIGNS = {ord(char): f" {char} " for char in ";!?()[]{}|。、"} | {ord("\n"): " ; "}
_ELISIONS = ("l'", "d'", "n'", "j'", "s'", "c'", "qu'", "m'", "t'")


def _load_slots(table: dict[str, str]) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Return the slots of each word, and the first name of each slot value."""
    slots: dict[str, tuple[str, ...]] = {}
    values: dict[str, str] = {}
    for slot, groups in table.items():
        for group in groups.split():
            names = group.split("=")
            for word in names:
                slots[word] = (*slots.get(word, ()), slot)
                values.setdefault(word, names[0])
    return slots, values


# Literal strings, as in '…', are read several times faster.
_SYNONYMS = load_table(__file__, "data/synonyms")
_STOP_WORDS = load_table(__file__, "data/stop_words")

SAME: dict[str, str] = {}  # synonym: canonical word
for _words in map(str.split, _SYNONYMS["same"].splitlines()):
    for _word in _words:
        SAME.setdefault(_word, _words[0])
# `pnpm` is a value of the slot `package-manager`; values of one slot are alternatives.
SLOTS, VALUES = _load_slots(_SYNONYMS["slots"])

STOP_WORDS_BY_LANGUAGE = {name: frozenset(words.split()) for name, words in _STOP_WORDS["stop_words"].items()}
STOP_WORDS = frozenset().union(*STOP_WORDS_BY_LANGUAGE.values())
VAGUE_WORDS = frozenset(_STOP_WORDS["vague_words"]["words"].split())


@cache
def _list_unspaced() -> list[str]:
    """Return the known words of scripts without spaces, long ones first."""
    known = (word for word in (*SAME, *VALUES) if is_unspaced(word[0]))
    return sorted(known, key=lambda word: (-len(word), word))


def canonical(word: str) -> str:
    """Return the canonical synonym: `db` is `database`, `postgresql` is `postgres`."""
    return SAME.get(word) or VALUES.get(word) or word


def are_alternatives(one: str, other: str) -> bool:
    """Tell whether two words are different values of one slot."""
    if VALUES.get(one, one) == VALUES.get(other, other):
        return False
    return not set(SLOTS.get(one, ())).isdisjoint(SLOTS.get(other, ()))


def canonical_stem(token: str) -> str:
    """Return the key that a word shares with its forms and synonyms."""
    known = SAME.get(token) or VALUES.get(token)
    if known:
        return known
    short = stem(token)
    return canonical(short) if short in SAME else short


def is_identifier(token: str) -> bool:
    """Tell whether a token is a path, host, handle or identifier."""
    return (
        token[0] in "@./~"
        or any(char in token for char in "/_.@\\")
        or (token.count("-") > 0 and len(token) > 5)
    )


def tokenize(text: str) -> list[str]:
    """Return the words and punctuation of a text, the first 160."""
    tokens: list[str] = []
    for chunk in _space_out(text.translate(_PLAIN)).translate(_SPACED_SIGNS).split():
        for elision in _ELISIONS if "'" in chunk else ():
            if chunk.startswith(elision) and len(chunk) > len(elision):
                chunk = chunk[len(elision) :]  # noqa: PLW2901 - the rest is the word
                break
        word = chunk.translate(_QUOTES)
        if not word:
            continue
        if word in PUNCTUATION or word == "--":
            tokens.append("," if word == "--" else word)
            continue
        ended = word.endswith(".") and len(word) > 1
        word = word.strip(".…") if not word.startswith(".") else word.rstrip(".…")
        if not word.isascii() and any(is_unspaced(char) for char in word):
            tokens += _split_unspaced(word)
        elif word:
            tokens.append(word)
        if ended:
            tokens.append(".")
        if len(tokens) >= _MAX_TOKENS:
            break
    return _join_compounds(tokens[:_MAX_TOKENS])


def _space_out(text: str) -> str:
    """Put spaces around commas and colons, but not inside 10,000 or 02:45."""
    for sign in ",:":
        parts = text.split(sign)
        text = parts[0]
        for part in parts[1:]:
            inside = text[-1:].isdigit() and part[:1].isdigit()
            text += f"{sign}{part}" if inside else f" {sign} {part}"
    return text


def _join_compounds(tokens: list[str]) -> list[str]:
    """Join two words that the synonyms list as one, such as `pull request`."""
    found: list[str] = []
    for token in tokens:
        pair = f"{found[-1]}-{token}" if found else ""
        if pair in SAME or pair in VALUES:
            found[-1] = pair
        else:
            found.append(token)
    return found


def _split_unspaced(word: str) -> list[str]:
    found = []
    for kind, part in split_scripts(word):
        if not kind:
            found.append(part)
            continue
        rest = part
        for known in _list_unspaced():
            if known in rest:
                found.append(known)
                rest = rest.replace(known, " ")
        # Hiragana is grammar; only the other characters carry the subject.
        for piece in "".join(" " if 0x3040 <= ord(char) < 0x30A0 else char for char in rest).split():
            found += character_pairs(piece)
    return found
