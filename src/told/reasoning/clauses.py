"""Read the clauses of a statement: what each affirms, denies, limits or only considers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from told.conflict.reading import (
    DENY,
    EMPTY,
    HALT,
    MAX_TEXT,
    PLACE,
    TIME_UNITS,
    Claim,
    Count,
    find_counts,
    find_denied,
    has_phrase,
    is_number,
    load_words,
    read_claim,
)
from told.pattern import lazy_pattern
from told.reasoning.question import load_cues, load_words_of
from told.search.tokens import PUNCTUATION, STOP_WORDS, canonical_stem, tokenize

_CLAUSE_END = lazy_pattern(r"[;:.!?]+\s+|[。；！？]|\n")  # noqa: RUF001 - many languages
_ONLY = load_words("only")
_PREFERS = load_words("prefers")
_COPULAS = load_words("copulas")
_USING = load_words_of("using")
_USING_PAIRS = tuple(tuple(one.split()) for one in load_cues()["using_pairs"])
_LEAVING, _FROM, _TO = load_words_of("leaving"), load_words_of("leaving_from"), load_words_of("leaving_to")
_REJECTING = tuple(tuple(one.split()) for one in load_cues()["rejecting"])
_CONTRAST, _FAVOUR = load_words_of("contrast"), load_words_of("favour")
_PAST = load_words_of("past")
_UNSURE, _UNSURE_PHRASES = load_words_of("unsure"), load_cues()["unsure_phrases"]
_ANYWHERE = load_words_of("anywhere")
_BUT = load_words_of("but")
_REPLACING, _REPLACED_BY = load_words_of("replacing"), load_words_of("replaced_by")
_ENDED = load_words("ended")
_DENIED_STATES = load_words_of("denied_states")
_WITHOUT_STEM = EMPTY | DENY | PUNCTUATION
_MAX_BETWEEN = 2  # words with a meaning between "use" and what is used


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a statement."""

    tokens: tuple[str, ...]
    stems: tuple[str, ...]  # of the words with a meaning, else empty
    denied: frozenset[str]
    affirmed: frozenset[str]
    counts: tuple[Count, ...]
    claim: Claim
    changes: bool  # it says that something is no longer what it was
    unsure: bool  # it only considers, compares or announces something
    conditional: bool  # it has a condition or an exception

    @property
    def words(self) -> frozenset[str]:
        """Return all words with a meaning."""
        return self.affirmed | self.denied

    def uses(self, keys: frozenset[str]) -> bool:
        """Tell whether it says that something is used, and does not only mention it."""
        for place, stem in enumerate(self.stems):
            if stem not in keys:
                continue
            before, between = self.tokens[:place], 0
            if not _LEAVING.isdisjoint(self.tokens) and not _TO.isdisjoint(before[-2:]):
                return True  # moved from X to it
            for at in range(place - 1, -1, -1):
                token = before[at]
                if token in PUNCTUATION or between > _MAX_BETWEEN:
                    break
                is_past = token == "used" and (not at or before[at - 1] not in _COPULAS)  # noqa: S105 - a word
                if token in _USING and not is_past:
                    return True
                if any(before[at : at + len(pair)] == pair for pair in _USING_PAIRS):
                    return True
                between += bool(self.stems[at]) and self.stems[at] not in keys
            after = self.tokens[place + 1 : place + 4]
            if any(one in _COPULAS and other in _USING for one, other in pairwise(after)):
                return True
        return False

    def limits(self, asked: Iterable[str]) -> bool:
        """Tell whether it only applies to something that the question does not name.

        Of a denial only the denied words count: "in Postgres, not in MongoDB".
        """
        known = frozenset(asked)
        known |= _ANYWHERE | (self.affirmed if self.denied & known else self.denied)
        place = False
        for token, stem in zip(self.tokens, self.stems, strict=True):
            if token in PUNCTUATION:
                place = False
            elif token in PLACE:
                place = True
            elif place and stem:
                if stem not in known and token not in TIME_UNITS:
                    return True
                place = False
        return False

    def subject(self, keys: Iterable[str]) -> str:
        """Return the first word before one of the keys, unless it is an order or about us."""
        wanted = frozenset(keys)
        at = next((n for n, stem in enumerate(self.stems) if stem in wanted), 0)
        first = max((n + 1 for n in range(at) if self.tokens[n] in PUNCTUATION), default=0)
        if self.tokens[first] in DENY:  # stored in X, not in Y
            first = 0
        if self.tokens[first] in _ARTICLES and first + 1 < len(self.tokens):
            first += 1
        return "" if self.tokens[first] in _USING else self.stems[first]

    def is_together(self, keys: frozenset[str]) -> bool:
        """Tell whether all keys are in one part between commas, or the last ones after "but"."""
        found: set[str] = set()
        for token, stem in (*zip(self.tokens, self.stems, strict=True), (",", "")):
            if token in PUNCTUATION:
                if keys <= found:
                    return True
                kept, found = found, set()
            elif token in _BUT:
                found |= kept if not found else set()
            elif stem:
                found.add(stem)
        return False

    def is_after_but(self, keys: Iterable[str]) -> bool:
        """Tell whether one of the keys is affirmed after a denial: not in X but in Y."""
        start = next((at for at, token in enumerate(self.tokens) if token in _BUT), len(self.tokens))
        return not self.affirmed.isdisjoint(frozenset(keys) & frozenset(self.stems[start:]))

    def has_own_user(self, keys: frozenset[str]) -> bool:
        """Tell whether a name that begins the clause uses it: "Mara uses it"."""
        start = next((at for at, token in enumerate(self.tokens) if token in _USING), 0)
        return start == 1 and bool(self.stems[0]) and self.stems[0] not in keys

    def is_qualified(self, keys: Iterable[str], asked: Iterable[str]) -> bool:
        """Tell whether a word before one of the keys narrows it: the *production* database."""
        wanted, known = frozenset(keys), frozenset(asked)
        pairs = pairwise(self.stems)
        return any(stem in wanted and before and before not in known for before, stem in pairs)


_ARTICLES = load_words_of("articles")


@lru_cache(maxsize=1024)
def read_clauses(text: str) -> tuple[Clause, ...]:
    """Read the clauses of a statement of any kind and language."""
    parts = [part for part in _CLAUSE_END.split(text[:MAX_TEXT]) if part.strip()]
    return tuple(_read_clause(part) for part in parts)


def _read_clause(text: str) -> Clause:
    tokens = tokenize(text.lower())
    flags, turned = find_denied(tokens), False
    for fix in (_end_contrast, _mark_left, _mark_rejected, _mark_past, _mark_beaten, _mark_forbidden):
        turned = fix(tokens, flags) or turned
    stems = ["" if token in _WITHOUT_STEM or is_number(token) else canonical_stem(token) for token in tokens]
    affirmed = {stem for stem, is_denied in zip(stems, flags, strict=True) if stem and not is_denied}
    denied = {stem for stem, is_denied in zip(stems, flags, strict=True) if stem and is_denied}
    claim = read_claim(text)
    if claim.unless:  # never X without Y: X with Y is allowed
        denied |= claim.affirmed - affirmed
    spaced = f" {' '.join(tokens)} "
    return Clause(
        tuple(tokens), tuple(stems), frozenset(denied - affirmed), frozenset(affirmed), find_counts(tokens),
        claim,
        changes=turned or bool(denied and _ENDED.intersection(tokens)) or has_phrase(claim.reading, "change"),
        unsure=not _UNSURE.isdisjoint(tokens) or any(phrase in spaced for phrase in _UNSURE_PHRASES),
        conditional=claim.unless or not _ONLY.isdisjoint(tokens) or has_phrase(claim.reading, "except"),
    )  # fmt: skip


def _end_contrast(tokens: list[str], flags: list[bool]) -> bool:
    """End a denial: "statt X nutzen wir Y", "replaced X with Y", "dropped X in favour of Y"."""
    for at, token in enumerate(tokens):
        is_heir = token in _REPLACED_BY and not _REPLACING.isdisjoint(tokens[:at])
        if token in _FAVOUR or is_heir:
            flags[at:] = [False] * (len(tokens) - at)
        verb = next((n for n in range(at + 1, len(tokens)) if tokens[n] in _USING), 0)
        if token in _CONTRAST and verb and DENY.isdisjoint(tokens[verb:]):
            flags[verb:] = [False] * (len(tokens) - verb)
    return False


def _mark_left(tokens: list[str], flags: list[bool]) -> bool:
    """Deny what was left: "moved from X to Y", "von X auf Y umgestiegen"."""
    if _LEAVING.isdisjoint(tokens):
        return False
    verb = next(at for at, token in enumerate(tokens) if token in _LEAVING)
    start = next((at for at, token in enumerate(tokens) if token in _FROM), -1)
    if start < 0 or (start > verb and start - verb > _MAX_BETWEEN + 1):
        return False
    end = next((at for at in range(start + 1, len(tokens)) if tokens[at] in _TO | PUNCTUATION), len(tokens))
    flags[start:end] = [True] * (end - start)
    flags[end:] = [False] * (len(tokens) - end)
    return True


def _mark_rejected(tokens: list[str], flags: list[bool]) -> bool:
    """Deny what follows "decided against" or "got rid of"."""
    found = False
    for phrase in _REJECTING:
        for at in range(len(tokens) - len(phrase) + 1):
            if tuple(tokens[at : at + len(phrase)]) == phrase:
                found = True
                _deny_from(at + len(phrase), tokens, flags)
    return found


def _deny_from(start: int, tokens: list[str], flags: list[bool]) -> None:
    """Deny what stands from a place to the end of its clause."""
    for place in range(start, len(tokens)):
        if tokens[place] in HALT or tokens[place] in PUNCTUATION:
            break
        flags[place] = True


def _mark_past(tokens: list[str], flags: list[bool]) -> bool:
    """Deny what was so before: "used to go to S3", but not "is used to send mail"."""
    for at, token in enumerate(tokens):
        follows = tokens[at + 1] if at + 1 < len(tokens) else ""
        before = tokens[at - 1] if at else ""
        is_past = token == "used" and follows == "to" and before not in _COPULAS  # noqa: S105 - words
        if is_past or token in _PAST:
            marks = [n for n, one in enumerate(tokens) if one in PUNCTUATION]
            start = at if is_past else max([0, *(n for n in marks if n < at)])
            end = min([len(tokens), *(n for n in marks if n > at)])
            flags[start:end] = [True] * (end - start)
            return True
    return False


def _mark_beaten(tokens: list[str], flags: list[bool]) -> bool:
    """Deny what another is preferred over: "prefer X over Y", "lieber X als Y"."""
    for verbs, word in ((_PREFERS, "over"), (frozenset(("lieber",)), "als")):
        verb = next((at for at, token in enumerate(tokens) if token in verbs), len(tokens))
        at = next((n for n in range(verb, len(tokens)) if tokens[n] == word), len(tokens))
        _deny_from(at + 1, tokens, flags)
    return False


def _mark_forbidden(tokens: list[str], flags: list[bool]) -> bool:
    """Deny what stands before "is not allowed"."""
    for at, token in enumerate(tokens):
        rest = [one for one in tokens[at + 1 :] if one not in PUNCTUATION]
        if token in DENY and rest and all(one in _DENIED_STATES or one in STOP_WORDS for one in rest):
            start = max((n for n in range(at) if tokens[n] in PUNCTUATION), default=0)
            flags[start:at] = [True] * (at - start)
    return False
