"""Makes of the rules what a search needs, which a prompt should not wait for."""

from __future__ import annotations

import os
import sys

from told.snapshot import kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from told.guard._redact_rule import Rule

    _Stamped = tuple[list[tuple[str, tuple[int, int]]], tuple[Any, ...]]

_OF_TABLES = "told.guard._redact_"
# What is not there without another word, which is looked for first.
_NEEDS = {b"use ": b"pass"}
# Text is searched for a character that is rare in it; the ones before the space are rarer than the others.
_RAREST_FIRST = b"@:-kwychpgfbmudlsrinoate "


def current(name: str, make: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
    """Return a table of a snapshot if no module that it was made of has changed, and else a new one."""
    stamps, made = kept(name, lambda: _stamped(make))
    return made if all(_stamp(file) == stamp for file, stamp in stamps) else make()


def contexts() -> tuple[Any, ...]:
    """Return the rules for what stands around a secret.

    Those are the rules; which of them a literal calls for; the same for literals that need another one, and
    for those that are not ASCII; and how to look for the literals.
    """
    from told.guard._redact_places import PLACES
    from told.guard._redact_rules import CONTEXT

    rules = (*CONTEXT, *PLACES)
    orders = orders_by_literal(rules)
    plain = {literal.encode(): orders[literal] for literal in orders if literal.isascii()}
    literals = sorted(plain, key=lambda one: (len(one), one))
    needs = {one: _NEEDS.get(one) or _part(one, literals) for one in literals}
    first = [one for one in literals if not needs[one]]
    return (
        [(rule.name, rule.pattern, rule.accept, rule.look.encode()) for rule in rules],
        {one: plain[one] for one in first},
        [(one, needs[one], plain[one]) for one in literals if needs[one]],
        {literal: orders[literal] for literal in orders if not literal.isascii()},
        [_looked_for(*group) for group in _grouped(first)],
    )


def formats() -> tuple[Any, ...]:
    """Return the rules for how a secret begins, which of them a beginning calls for, and how to see one."""
    from told.guard._redact_formats import FORMATS

    beginnings = {literal.encode(): orders for literal, orders in orders_by_literal(FORMATS).items()}
    return (
        [(rule.name, rule.pattern, rule.accept, b"") for rule in FORMATS],
        beginnings,
        # Where a long word, or a part of one, begins as a secret does; the words stand on lines of their own.
        # The parts of a UUID, of which some texts are full, are passed over.
        rf"[\n.~/+-](?![0-9a-f]{{4,12}}+[\n-])({_any_of(map(bytes.decode, beginnings))})".encode(),
    )


def orders_by_literal(rules: Sequence[Rule]) -> dict[str, list[int]]:
    """Return which rules a literal calls for."""
    found: dict[str, list[int]] = {}
    for order, rule in enumerate(rules):
        for literal in rule.literals:
            found.setdefault(literal, []).append(order)
    return found


def _part(literal: bytes, others: Iterable[bytes]) -> bytes:
    """Return another literal that is a part of this one."""
    return next((one for one in others if one in literal and one != literal), b"")


def _grouped(literals: Iterable[bytes]) -> list[tuple[int, list[bytes]]]:
    """Return the literals by their rarest character, so that no two can be around the same one."""
    groups: list[tuple[int, list[bytes]]] = []
    for literal in literals:
        rarest = min(literal, key=lambda byte: _RAREST_FIRST.find(byte) % 256)
        for byte, group in groups:
            if byte == rarest and not any(_may_share(byte, literal, other) for other in group):
                group.append(literal)
                break
        else:
            groups.append((rarest, [literal]))
    return groups


def _may_share(byte: int, one: bytes, other: bytes) -> bool:
    (head, _, tail), (other_head, _, other_tail) = (
        one.rpartition(bytes((byte,))),
        other.rpartition(bytes((byte,))),
    )
    return (head.endswith(other_head) or other_head.endswith(head)) and (
        tail.startswith(other_tail) or other_tail.startswith(tail)
    )


def _looked_for(byte: int, literals: Iterable[bytes]) -> tuple[bytes, list[tuple[bytes, int]]]:
    """Return a pattern with a group for each literal, and of each how much is before the byte."""
    import re

    rarest = bytes((byte,))
    choices, found = [], [(b"", 0)]
    for literal in literals:
        head, _, tail = literal.rpartition(rarest)
        choices.append(re.escape(tail) + (b"(?<=" + re.escape(literal) + b")" if head else b"") + b"()")
        found.append((literal, len(head)))
    return re.escape(rarest) + b"(?:" + b"|".join(choices) + b")", found


def _any_of(words: Iterable[str]) -> str:
    """Return a regular expression for any of the words, the longest first, that looks at each letter once."""
    import re

    by_letter: dict[str, set[str]] = {}
    for word in words:
        by_letter.setdefault(word[:1], set()).add(word[1:])
    choices = [re.escape(first) + _any_of(rest) for first, rest in sorted(by_letter.items()) if first]
    if not choices:
        return ""
    return f"(?:{'|'.join(choices)}){'?' if '' in by_letter else ''}"


def _stamped(make: Callable[[], tuple[Any, ...]]) -> _Stamped:
    made = make()
    files = [module.__file__ for name, module in sys.modules.items() if name.startswith(_OF_TABLES)]
    return [(file, _stamp(file)) for file in files if file], made


def _stamp(file: str) -> tuple[int, int]:
    """Return what changes with a file."""
    try:
        found = os.stat(file)
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
