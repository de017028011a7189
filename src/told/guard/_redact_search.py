"""Looks for secrets in a text as it stands: by how they begin, by what stands around them."""

from __future__ import annotations

from told.guard._redact_patterns import pattern
from told.guard._redact_tables import contexts, current
from told.snapshot import IGNORECASE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import AnyStr

    # start, end, the rank of the rule, its name
    Seen = tuple[int, int, int, str]

# A secret goes on as far as its own characters go: its pattern is bounded.
_GOES_ON = pattern(r"[\w+/=~-]*+")
_IN_WORDS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~")
_WORD_MAP = bytes(97 if byte in _IN_WORDS else 32 for byte in range(256))
_LONG_WORD = b"a" * 18
# How much of a value is judged: it shows what it is in its first characters, a key after its headers.
_JUDGED = 80
_JUDGED_OF_A_KEY = 2000
_HEAD = 96
_MAX_REFUSALS = 20
_ASCII = bytes(range(128))
# The ranks of those that no format tells, and of what no rule knows: any rule's name says more.
_CONTEXT, _STRANGER = 1_000, 2_000

_rules, _CONTEXTS, _FURTHER_CONTEXTS, _FOREIGN_CONTEXTS, _groups = current(f"{__name__}:table", contexts)


class Known:
    """A rule, ready for a search."""

    def __init__(self, rank: int, rule: tuple[str, str, str, bytes], flags: int) -> None:
        """Take a row of a table."""
        self.rank = rank
        self.name, sought, self.accept, look = rule
        self.sought = pattern(sought, flags)
        self.look = pattern(look) if look else None
        self.is_format = rank < _CONTEXT


_RULES = [Known(_CONTEXT + order, rule, IGNORECASE) for order, rule in enumerate(_rules)]
_GROUPS = [(pattern(sought), literals) for sought, literals in _groups]
_FOREIGN_MARKS = {"".join(one for one in word if not one.isascii()) for word in _FOREIGN_CONTEXTS}


class Search:
    """A text, and what was found in it so far."""

    def __init__(self, text: str) -> None:
        """Take a text in ordinary letters."""
        self.text = text
        self.flat = text.encode("ascii", "replace")  # still a byte for a character
        self.lower = self.flat.lower()
        self.words = _long_words(self.flat)
        self.foreign = b"" if text.isascii() else text.encode().translate(None, _ASCII)
        self._ends: dict[int, int] = {}  # of secrets that were found, by where they begin
        self._judged: dict[tuple[str, ...], bool] = {}

    def found(self, emails: bool) -> list[Seen]:
        """Return where rules find something."""
        found: list[Seen] = []
        if self.words:
            found += self._of_words()
        if emails and b"@" in self.flat:
            from told.guard._redact_email import emails as addresses

            found += ((start, end, _STRANGER, name) for start, end, name in addresses(self.text, self.flat))
        found += self._of_names()
        if self.foreign:
            found += self._of_foreign_names()
        return found

    def _of_names(self) -> list[Seen]:
        lower = self.lower
        found: list[Seen] = []
        places: dict[bytes, list[int]] = {}
        for sought, literals in _GROUPS:
            first = sought.search(lower)
            if first:
                seen: list[list[int]] = [[] for _ in literals]
                for match in sought.finditer(lower, first.start()):
                    seen[match.lastindex or 0].append(match.start())
                for (literal, before), ats in zip(literals, seen, strict=True):
                    if ats:
                        places[literal] = [at - before for at in ats] if before else ats
        if places:
            for literal, orders in _CONTEXTS.items():
                if literal in places:
                    for order in orders:
                        found += self._looked_at(_RULES[order], places[literal])
            for literal, needed, orders in _FURTHER_CONTEXTS:
                if needed in places and literal in lower:
                    further = list(_places(lower, literal))
                    for order in orders:
                        found += self._looked_at(_RULES[order], further)
        return found

    def _looked_at(self, known: Known, places: list[int]) -> Iterable[Seen]:
        """Return what a rule finds where there is what it needs at least."""
        if known.look is not None:
            look, lower = known.look.match, self.lower
            places = [at for at in places if look(lower, at)]
        return self._matches(known, places) if places else ()

    def _of_words(self) -> Iterator[Seen]:
        from told.guard._redact_beginnings import BEGINNING, beginning_as
        from told.guard._redact_strangers import strangers

        words = [self.flat[start:end] for start, end in self.words]
        # No token is of small letters alone. The longest beginnings come first: they say most.
        lines = b"\n".join([b"", *(word for word in words if not (word.isalpha() and word.islower()))])
        for beginning in sorted(set(BEGINNING.findall(lines)), key=lambda one: (-len(one), one)):
            places = list(_places(self.flat, beginning))
            for known in beginning_as(beginning):
                yield from self._matches(known, places)
        unknown = [word for word in self.words if word[0] not in self._ends] if self._ends else self.words
        for start, end, name in strangers(self.text, self.flat, unknown):
            yield start, end, _STRANGER, name

    def _of_foreign_names(self) -> Iterator[Seen]:
        foreign = self.foreign.decode().lower()  # few texts have much of it
        if not any(mark in foreign for mark in _FOREIGN_MARKS):
            return
        lower = self.text.lower()
        if len(lower) != len(self.text):  # a few capital letters have a long small one
            lower = self.text
        for literal, orders in _FOREIGN_CONTEXTS.items():
            if literal in lower:
                places = list(_places(lower, literal))
                for order in orders:
                    yield from self._matches(_RULES[order], places)

    def _matches(self, known: Known, places: Iterable[int]) -> Iterator[Seen]:
        """Yield where a rule finds a secret that was not found before."""
        text, ends, is_format, sought = self.text, self._ends, known.is_format, known.sought.match
        behind = refused_end = refusals = 0
        for at in places:
            if at < behind:
                continue
            match = sought(text, at)
            if match is None:
                continue
            start, end = match.span(match.lastgroup or 0)
            if ends.get(start, start) < end:
                if self._accepts(known.accept, at, start, end):
                    end = behind = ends[start] = _whole(text, end, is_format)
                    yield start, end, known.rank, known.name
                else:
                    # Names that repeat without a gap could make one long value be judged over and over.
                    refusals = refusals + 1 if end == refused_end else 0
                    refused_end = end
                    if is_format or refusals > _MAX_REFUSALS:
                        behind = end

    def _accepts(self, accept: str, at: int, start: int, end: int) -> bool:
        """Tell whether what a rule found is a secret; the same question is answered once."""
        text = self.text
        seen = _JUDGED_OF_A_KEY if accept == "key-body" else _JUDGED
        question = (
            text[start : min(end, start + seen)],
            text[at - _HEAD if at > _HEAD else 0 : at],
            text[at:start],
            text[end : end + 1],
            accept,
        )
        answer = self._judged.get(question)
        if answer is None:
            from told.guard._redact_values import JUDGEMENTS

            answer = self._judged[question] = JUDGEMENTS[accept](*question[:4])
        return answer


def _places(text: AnyStr, literal: AnyStr) -> Iterator[int]:
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + 1)


def _whole(text: str, end: int, is_format: bool) -> int:
    """Return where a secret ends: as far as its own characters go, but before the end of a sentence."""
    goes_on = _GOES_ON.match(text, end)
    end = goes_on.end() if goes_on else end
    while is_format and text[end - 1] == ".":
        end -= 1
    return end


def _long_words(flat: bytes) -> list[tuple[int, int]]:
    """Return where the unbroken runs of 18 and more are: few texts have any, and most tokens are one."""
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
