"""Cuts a text into lower-case words and gives each the name that its other forms have, too."""

from __future__ import annotations

from told.search.kinship import SAME, VALUES, canonical
from told.search.unspaced import is_unspaced, pairs, segments
from told.search.word_forms import stem
from told.snapshot import kept

_MOST_TOKENS = 160
_DROP = {ord(char): None for char in "'`\"“”„«»*"}
# Full-width and curly signs are read as the plain ones; an en dash is a pause.
_PLAIN = {0x2018: "'", 0x2019: "'", 0xB4: "'", 0x2013: " ; ", 0x2014: " ; ", ord("="): " ", ord("~"): " "} | {
    code: chr(code - 0xFEE0) for code in (0xFF01, 0xFF08, 0xFF09, 0xFF0C, 0xFF1A, 0xFF1B, 0xFF1F)
}
_STOPS = {ord(char): f" {char} " for char in ";!?()[]{}|。、"} | {ord("\n"): " ; "}
BREAKS = frozenset(",;:!?()[]{}|.。、-")
_ELISIONS = ("l'", "d'", "n'", "j'", "s'", "c'", "qu'", "m'", "t'")
_UNSPACED_WORDS = kept(
    "told.search.tokens:unspaced",
    lambda: sorted(
        (word for word in (*SAME, *VALUES) if is_unspaced(word[0])), key=lambda word: (-len(word), word)
    ),
)


def key_of(token: str) -> str:
    """Return the name that a word shares with its other forms and its synonyms."""
    known = SAME.get(token) or VALUES.get(token)
    if known:
        return known
    short = stem(token)
    return canonical(short) if short in SAME else short


def tokens_of(text: str) -> list[str]:
    """Return the words and stops of a text, the first 160."""
    tokens: list[str] = []
    for chunk in _spaced(text.translate(_PLAIN)).translate(_STOPS).split():
        for elision in _ELISIONS if "'" in chunk else ():
            if chunk.startswith(elision) and len(chunk) > len(elision):
                chunk = chunk[len(elision) :]  # noqa: PLW2901 - the rest is the word
                break
        word = chunk.translate(_DROP)
        if not word:
            continue
        if word in BREAKS or word == "--":
            tokens.append("," if word == "--" else word)
            continue
        ended = word.endswith(".") and len(word) > 1
        word = word.strip(".…") if not word.startswith(".") else word.rstrip(".…")
        if not word.isascii() and any(is_unspaced(char) for char in word):
            tokens += _unspaced(word)
        elif word:
            tokens.append(word)
        if ended:
            tokens.append(".")
        if len(tokens) >= _MOST_TOKENS:
            break
    return _joined(tokens[:_MOST_TOKENS])


def _spaced(text: str) -> str:
    """Set commas and colons apart, but not those inside 10,000 or 02:45."""
    for mark in ",:":
        parts = text.split(mark)
        text = parts[0]
        for part in parts[1:]:
            inside = text[-1:].isdigit() and part[:1].isdigit()
            text += f"{mark}{part}" if inside else f" {mark} {part}"
    return text


def _joined(tokens: list[str]) -> list[str]:
    """Make one token of two words that the tables know as one, such as `pull request`."""
    found: list[str] = []
    for token in tokens:
        pair = f"{found[-1]}-{token}" if found else ""
        if pair in SAME or pair in VALUES:
            found[-1] = pair
        else:
            found.append(token)
    return found


def _unspaced(word: str) -> list[str]:
    found = []
    for kind, part in segments(word):
        if not kind:
            found.append(part)
            continue
        rest = part
        for known in _UNSPACED_WORDS:
            if known in rest:
                found.append(known)
                rest = rest.replace(known, " ")
        # Hiragana is grammar: what remains is what a statement is about.
        for piece in "".join(" " if 0x3040 <= ord(char) < 0x30A0 else char for char in rest).split():
            found += pairs(piece)
    return found


def is_name(token: str) -> bool:
    """Tell whether a word is a path, a host, a person or an identifier."""
    return (
        token[0] in "@./~"
        or any(char in token for char in "/_.@\\")
        or (token.count("-") > 0 and len(token) > 5)
    )
