"""Compares redacted texts with labels: which secrets are covered, which texts gave a false alarm."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PLACEHOLDER = re.compile(r"\[(?:secret(?::[a-z0-9:-]+)?|private)\]")
_RUN = 6  # as many characters of a secret in a row are too many
_WITHOUT_TIER = "no tier"


class Row(NamedTuple):
    """A labelled text."""

    id: str
    text: str
    secret: str
    holds: bool  # whether a secret is in it
    kind: str
    tier: str
    contested: bool = False

    @classmethod
    def from_json(cls, line: Mapping[str, Any], number: int) -> Row:
        """Read a row; all but its text may be missing."""
        secret = str(line.get("secret") or "")
        return cls(
            str(line.get("id", number)), str(line["text"]), secret, bool(line.get("label", bool(secret))),
            str(line.get("kind") or ""), str(line.get("tier") or ""), bool(line.get("contested")),
        )  # fmt: skip

    @property
    def group(self) -> str:
        """The row's kind, or its tier when it has none."""
        return self.kind or self.tier or _WITHOUT_TIER


def covered(row: Row, redacted: str) -> bool:
    """Tell whether nothing is left of a row's secret that would be of use."""
    text, secret, left = plain(row.text), plain(row.secret), plain(_PLACEHOLDER.sub("\0", redacted))
    if not secret:
        return True
    size = min(_RUN, len(secret))
    elsewhere = text.replace(secret, "\0")
    runs = {secret[at : at + size] for at in range(len(secret) - size + 1)}
    return not any(run in left and run not in elsewhere for run in runs)


def plain(text: str) -> str:
    """Return a text without colours and invisible characters, and with ordinary letters for wide ones."""
    text = unicodedata.normalize("NFKC", _COLOUR.sub("", text))
    return "".join(one for one in text if unicodedata.category(one) != "Cf")


def recall(
    rows: Sequence[Row], redacted: Mapping[str, Sequence[str]], found: Mapping[str, Sequence[bool]]
) -> dict[str, Any]:
    """Return by tool the share of secrets that are covered, gone or at least flagged."""
    places = [number for number, row in enumerate(rows) if row.holds]
    is_covered = {
        tool: {at: covered(rows[at], texts[at]) for at in places} for tool, texts in redacted.items()
    }
    is_gone = {
        tool: {at: not rows[at].secret or rows[at].secret not in texts[at] for at in places}
        for tool, texts in redacted.items()
    }
    is_flagged = {tool: {at: marks[at] for at in places} for tool, marks in found.items()}
    groups = {at: rows[at].group for at in places}
    tiers = {at: rows[at].tier or _WITHOUT_TIER for at in places}
    return {
        "recall": {"secrets": _sizes(groups), **_shares(groups, is_covered)},
        "recall_by_tier_all_kinds": {"secrets": _sizes(tiers), **_shares(tiers, is_covered)},
        "recall_gone": _shares(groups, is_gone),
        "recall_flagged": _shares(groups, is_flagged),
    }


def alarms(rows: Sequence[Row], found: Mapping[str, Sequence[bool]]) -> dict[str, Any]:
    """Return by tool the share of texts without a secret in which something was found, by kind."""
    places = {
        number: row.kind or "no kind"
        for number, row in enumerate(rows)
        if not row.holds and not row.contested
    }
    flagged = {tool: {at: marks[at] for at in places} for tool, marks in found.items()}
    return {"texts": _sizes(places), **_shares(places, flagged)}


def _sizes(groups: Mapping[int, str]) -> dict[str, int]:
    return {group: sum(one == group for one in groups.values()) for group in _ordered(groups)}


def _shares(groups: Mapping[int, str], hits: Mapping[str, Mapping[int, bool]]) -> dict[str, dict[str, float]]:
    sizes = _sizes(groups)
    return {
        tool: {
            group: round(sum(marks[at] for at, one in groups.items() if one == group) / size, 4)
            for group, size in sizes.items()
        }
        for tool, marks in hits.items()
    }


def _ordered(groups: Mapping[int, str]) -> list[str]:
    return sorted(set(groups.values()), key=lambda one: (len(one) > 1, one))
