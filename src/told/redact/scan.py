"""Find secrets in plain text by their prefix or by the text around them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import AnyStr, NamedTuple

from told.pattern import lazy_pattern
from told.redact.numbers import find_cards, find_seed_phrases
from told.redact.rules import load_contexts, load_formats
from told.redact.stated import STATED_CHECKS
from told.redact.unknown_tokens import find_emails, find_unknown_tokens
from told.redact.values import VALUE_CHECKS

# A pattern is bounded; the secret continues as far as its own characters do.
_REST_OF_SECRET = lazy_pattern(r"[\w+/=~-]*+")
_IN_WORDS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~")
_WORD_MAP = bytes(97 if byte in _IN_WORDS else 32 for byte in range(256))
_LONG_WORD = b"a" * 18
# How much of a value is checked: its first characters show what it is, those of a key after its headers.
_CHECKED = 80
_CHECKED_OF_KEY = 2000
_LONG_VALUES = ("key-body", "seed")
_BEFORE = 96
_MAX_REFUSALS = 20
_ASCII = bytes(range(128))
# Ranks behind the formats, whose names say more.
_CONTEXT_RANK, _UNKNOWN_RANK = 1_000, 2_000
# Where a word starts, a space stands before its first letter; "?" is any letter that is not ASCII. Behind
# these signs, names of programs go on.
_IN_NAMES = b"._/,;)]}=<>*+@&%\\~^!"
_WORD_STARTS = bytes(
    byte if byte in b"abcdefghijklmnopqrstuvwxyz0123456789?" else 46 if byte in _IN_NAMES else 32
    for byte in range(256)
)
_AHEAD = 80  # characters behind a literal that a pattern which starts before it may see


_CHECKS = VALUE_CHECKS | STATED_CHECKS


class Finding(NamedTuple):
    """A place in a text where a rule found a secret."""

    start: int
    end: int
    rank: int  # lower is better
    name: str


@dataclass(frozen=True, slots=True)
class _CompiledRule:
    rank: int
    name: str
    accept: str
    pattern: re.Pattern[str]
    look: re.Pattern[bytes] | None
    back: int = 0

    @property
    def is_format(self) -> bool:
        return self.rank < _CONTEXT_RANK


@dataclass(frozen=True, slots=True)
class _ContextIndex:
    """The context rules by the literals that call for them."""

    by_literal: dict[bytes, list[_CompiledRule]]
    by_foreign_literal: dict[str, list[_CompiledRule]]
    foreign_marks: frozenset[str]  # the parts of those literals that are not ASCII
    by_word: dict[bytes, list[_CompiledRule]]
    words: re.Pattern[bytes]  # any of those words, behind a space


class Scan:
    """Search one text that has been normalised."""

    def __init__(self, text: str) -> None:
        """Prepare the text in the forms that the rules need."""
        self.text = text
        self.flat = text.encode("ascii", "replace")  # one byte for each character
        self.lower = self.flat.lower()
        self.words = _find_long_words(self.flat)
        self.foreign = b"" if text.isascii() else text.encode().translate(None, _ASCII)
        self._ends: dict[int, int] = {}  # of the secrets found so far, by start
        self._checked: dict[tuple[str, ...], bool] = {}

    def find_secrets(self, *, emails: bool) -> list[Finding]:
        """Return what all rules find; findings may overlap."""
        found: list[Finding] = []
        if self.words:
            found += self._find_in_words()
        if emails and b"@" in self.flat:
            found += (Finding(*span, _UNKNOWN_RANK, "email") for span in find_emails(self.text, self.flat))
        found += self._find_by_context()
        found += self._find_by_word()
        found += (Finding(*span, _UNKNOWN_RANK, "card") for span in find_cards(self.text, self.flat))
        found += (Finding(*span, _UNKNOWN_RANK, "seed-phrase") for span in find_seed_phrases(self.flat))
        if self.foreign:
            found += self._find_by_foreign_context()
        return found

    def _find_in_words(self) -> Iterator[Finding]:
        words = [self.flat[start:end] for start, end in self.words]
        # No token consists of small letters alone. Longer prefixes come first: they say more.
        lines = b"\n".join([b"", *(word for word in words if not (word.isalpha() and word.islower()))])
        for prefix in sorted(set(_prefixes().findall(lines)), key=lambda one: (-len(one), one)):
            places = list(_find_all(self.flat, prefix))
            for rule in _formats_with(prefix):
                yield from self._match(rule, places)
        unknown = [word for word in self.words if word[0] not in self._ends] if self._ends else self.words
        for start, end in find_unknown_tokens(self.text, self.flat, unknown):
            yield Finding(start, end, _UNKNOWN_RANK, "token")

    def _find_by_context(self) -> Iterator[Finding]:
        for literal, rules in _contexts().by_literal.items():
            if literal in self.lower:
                places = list(_find_all(self.lower, literal))
                for rule in rules:
                    yield from self._match_if_likely(rule, places)

    def _find_by_word(self) -> Iterator[Finding]:
        index = _contexts()
        places: dict[bytes, list[int]] = {}
        for match in index.words.finditer(b" " + self.lower.translate(_WORD_STARTS)):
            places.setdefault(match[1], []).append(match.start())
        for start, found in places.items():
            for word, rules in index.by_word.items():
                if start.startswith(word):
                    for rule in rules:
                        yield from self._match_if_likely(rule, found)

    def _find_by_foreign_context(self) -> Iterator[Finding]:
        foreign = self.foreign.decode().lower()
        index = _contexts()
        if not any(mark in foreign for mark in index.foreign_marks):
            return
        lower = self.text.lower()
        if len(lower) != len(self.text):  # a few capital letters become two small ones
            lower = self.text
        for literal, rules in index.by_foreign_literal.items():
            if literal in lower:
                places = list(_find_all(lower, literal))
                for rule in rules:
                    yield from self._match(rule, places)

    def _match_if_likely(self, rule: _CompiledRule, places: list[int]) -> Iterable[Finding]:
        """Match a rule where its cheap pattern matches."""
        if rule.look is not None:
            lower, back = self.lower, rule.back
            if back:
                look = rule.look.search
                places = [at for at in places if look(lower, at - back if at > back else 0, at)]
            else:
                look = rule.look.match
                places = [at for at in places if look(lower, at)]
        return self._match(rule, places) if places else ()

    def _match(self, rule: _CompiledRule, places: Iterable[int]) -> Iterator[Finding]:
        """Yield the secrets that a rule finds and no rule found before."""
        text, ends, is_format, match_at = self.text, self._ends, rule.is_format, rule.pattern.match
        done = refused_end = refusals = 0
        for at in places:
            if at < done:
                continue
            match = (
                rule.pattern.search(text, max(0, at - rule.back), at + _AHEAD)
                if rule.back
                else match_at(text, at)
            )
            if match is None:
                continue
            start, end = match.span(match.lastgroup or 0)
            if ends.get(start, start) < end:
                if self._accepts(rule.accept, at, start, end):
                    end = done = ends[start] = _end_of_secret(text, end, is_format)
                    yield Finding(start, end, rule.rank, rule.name)
                else:
                    # Names that repeat without a gap could check one long value over and over.
                    refusals = refusals + 1 if end == refused_end else 0
                    refused_end = end
                    if is_format or refusals > _MAX_REFUSALS:
                        done = end

    def _accepts(self, accept: str, at: int, start: int, end: int) -> bool:
        """Check a value; the same question is answered once."""
        text = self.text
        checked = _CHECKED_OF_KEY if accept in _LONG_VALUES else _CHECKED
        question = (
            text[start : min(end, start + checked)],
            text[at - _BEFORE if at > _BEFORE else 0 : at],
            text[at:start],
            text[end : end + 1],
            accept,
        )
        answer = self._checked.get(question)
        if answer is None:
            answer = self._checked[question] = _CHECKS[accept](*question[:4])
        return answer


def starts_like_secret(word: bytes) -> bool:
    """Return whether a word, or a part of it, has the prefix of a secret."""
    return bool(_prefixes().search(b"\n" + word))


def _find_all(text: AnyStr, literal: AnyStr) -> Iterator[int]:
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + 1)


def _end_of_secret(text: str, end: int, is_format: bool) -> int:
    match = _REST_OF_SECRET.match(text, end)
    end = match.end() if match else end
    while is_format and text[end - 1] == ".":  # the end of a sentence
        end -= 1
    return end


def _find_long_words(flat: bytes) -> list[tuple[int, int]]:
    """Return the unbroken runs of 18 and more: few texts have any, most tokens are one."""
    shape = flat.translate(_WORD_MAP)
    found = []
    at = shape.find(_LONG_WORD)
    while at >= 0:
        end = shape.find(b" ", at)
        if end < 0:
            end = len(shape)
        found.append((at, end))
        at = shape.find(_LONG_WORD, end)
    return found


@cache
def _prefixes() -> re.Pattern[bytes]:
    """Compile the pattern for the prefixes of formats, in words on lines of their own.

    The parts of a UUID, of which some texts are full, are skipped.
    """
    prefixes = [literal for rule in load_formats() for literal in rule.literals]
    return lazy_pattern(rf"[\n.~/+-](?![0-9a-f]{{4,12}}+[\n-])({_any_of(prefixes)})".encode())


@cache
def _formats_with(prefix: bytes) -> list[_CompiledRule]:
    wanted = prefix.decode()
    return [_format(order) for order, rule in enumerate(load_formats()) if wanted in rule.literals]


@cache
def _format(order: int) -> _CompiledRule:
    rule = load_formats()[order]
    return _CompiledRule(order, rule.name, rule.accept, lazy_pattern(rule.pattern), None)


@cache
def _contexts() -> _ContextIndex:
    by_literal: dict[str, list[_CompiledRule]] = {}
    by_word: dict[str, list[_CompiledRule]] = {}
    for order, rule in enumerate(load_contexts()):
        look = lazy_pattern(rule.look.encode()) if rule.look else None
        pattern = lazy_pattern(rule.pattern, re.IGNORECASE)
        compiled = _CompiledRule(_CONTEXT_RANK + order, rule.name, rule.accept, pattern, look, rule.back)
        for literal in rule.literals:
            by_literal.setdefault(literal, []).append(compiled)
        for word in rule.words:
            by_word.setdefault(word, []).append(compiled)
    in_order = sorted(by_literal, key=lambda one: (len(one), one))
    plain = {literal.encode(): by_literal[literal] for literal in in_order if literal.isascii()}
    foreign = {literal: rules for literal, rules in by_literal.items() if not literal.isascii()}
    marks = frozenset("".join(letter for letter in word if not letter.isascii()) for word in foreign)
    starts = {word.encode(): rules for word, rules in by_word.items()}
    # Many words have another first or second letter. A match ends there: a word may contain others.
    first, second = ("".join(sorted({re.escape(word[at]) for word in by_word})) for at in (0, 1))
    words = lazy_pattern(f" [{first}][{second}](?<=(?=({_any_of(by_word)}))..)".encode())
    return _ContextIndex(plain, foreign, marks, starts, words)


def _any_of(words: Iterable[str]) -> str:
    """Build a regular expression for any of the words that reads each letter once."""
    by_letter: dict[str, set[str]] = {}
    for word in words:
        by_letter.setdefault(word[:1], set()).add(word[1:])
    choices = [re.escape(first) + _any_of(rest) for first, rest in sorted(by_letter.items()) if first]
    if not choices:
        return ""
    return f"(?:{'|'.join(choices)}){'?' if '' in by_letter else ''}"
