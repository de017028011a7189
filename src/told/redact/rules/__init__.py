"""Load the redaction rules from the TOML files in this folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from told import tables
from told.pattern import lazy_pattern

_NOT_IN_WORD = r"(?<![A-Za-z0-9_+])"
_NOT_IN_BASE64 = r"(?<![A-Za-z0-9_+/])"
# The check of a token by the mark behind its alphabet in issuers.toml.
_CHECKS = {"": "mixed", "?": "random", "!": "given", "~": "mixed"}
# A token whose length varies less than this must end where the pattern ends.
_FIXED_LENGTH = 11


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret; contexts.toml describes the fields."""

    name: str
    literals: tuple[str, ...]  # lower case, except for formats
    pattern: str
    examples: tuple[str, ...]
    counter_examples: tuple[str, ...] = ()
    accept: str = "filled"
    is_format: bool = False  # known by its prefix, in an unbroken run of at least 18 characters
    look: str = ""
    words: tuple[str, ...] = ()  # like literals, at the start of a word
    back: int = 0  # how far before a literal the pattern may match


@cache
def all_rules() -> tuple[Rule, ...]:
    """Load every rule: formats first, then contexts."""
    return (*load_formats(), *load_contexts())


@cache
def load_formats() -> tuple[Rule, ...]:
    """Load the rules for secrets that are known by their prefix."""
    issuers = tables.load_table(__file__, "issuers")
    rows = issuers["issuers"]["table"].split("\n")
    simple = [_issuer_rule(row, issuers["alphabets"]) for row in rows if row]
    return (*simple, *(_format_rule(table) for table in tables.load_table(__file__, "formats")["rule"]))


@cache
def load_contexts() -> tuple[Rule, ...]:
    """Load the rules for secrets that are known by the text around them."""
    rules: list[Rule] = []
    for file in ("contexts", "sentences", "commands", "numbers"):
        data = tables.load_table(__file__, file)
        fragments: dict[str, str] = {}
        for name, text in data["fragments"].items():
            fragments[name] = _insert(_join(text), fragments)
        rules += (_context_rule(table, fragments) for table in data["rule"])
    return tuple(rules)


load_words = partial(tables.load_words, __file__, "words")


def load_pattern(name: str, flags: int = 0) -> re.Pattern[str]:
    """Compile a regular expression of patterns.toml."""
    return lazy_pattern(_join(tables.load_table(__file__, "patterns")[name]), flags)


def _issuer_rule(row: str, alphabets: Mapping[str, Mapping[str, str]]) -> Rule:
    name, kind, fewest, most, *prefixes = row.split()
    shortest, longest = int(fewest), int(most)
    alphabet, mark = alphabets[kind[0]], kind[1:]
    before = _NOT_IN_BASE64 if mark == "~" else _NOT_IN_WORD
    after = r"(?!\w)" if longest - shortest < _FIXED_LENGTH else ""
    repeated = alphabet["sample"] * (shortest // len(alphabet["sample"]) + 1)
    sample = repeated[: shortest - 1] + repeated[0]
    return Rule(
        name,
        tuple(prefixes),
        f"{before}(?:{_any_prefix(prefixes)}){alphabet['pattern']}{{{shortest},{longest}}}+{after}",
        examples=tuple(prefix + sample for prefix in prefixes),
        counter_examples=(*(prefix + "x" * shortest for prefix in prefixes), f"{prefixes[0]} and then"),
        accept=_CHECKS[mark],
        is_format=True,
    )


def _format_rule(table: Mapping[str, Any]) -> Rule:
    return Rule(
        table["name"],
        tuple(table["prefixes"]),
        f"{_NOT_IN_WORD}(?:{_any_prefix(table['prefixes'])}){table['rest']}",
        tuple(table["examples"]),
        tuple(table.get("counter_examples", ())),
        table.get("accept", "mixed"),
        is_format=True,
    )


def _context_rule(table: Mapping[str, Any], fragments: Mapping[str, str]) -> Rule:
    return Rule(
        table["name"],
        tuple(table.get("literals", ())),
        _insert(_join(table["pattern"]), fragments),
        tuple(table["examples"]),
        tuple(table["counter_examples"]),
        table.get("accept", "filled"),
        look=_join(table.get("look", "")),
        words=tuple(table.get("words", ())),
        back=table.get("back", 0),
    )


def _any_prefix(prefixes: list[str]) -> str:
    return "|".join(prefixes).replace(".", r"\.")


def _join(parts: str | list[str]) -> str:
    return parts if isinstance(parts, str) else "".join(parts)


def _insert(pattern: str, fragments: Mapping[str, str]) -> str:
    """Replace {name} by fragments; no repeat such as {1,3} looks like one."""
    return re.sub(r"\{([a-z]\w+)\}", lambda match: fragments[match[1]], pattern)


@cache
def seed_words() -> tuple[str, ...]:
    """Return the 2,048 English words of seed phrases (BIP-39), in their order."""
    return tuple(Path(__file__).with_name("seed_words.txt").read_text(encoding="utf-8").split())
