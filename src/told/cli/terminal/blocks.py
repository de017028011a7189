"""What a terminal shows: plain values that `screen` renders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

DIM, BOLD, HEADING, ID, PROJECT_STYLE, GOOD, WARN, BAD, HIT, COMMAND = (
    "dim", "bold", "heading", "id", "project", "good", "warn", "bad", "hit", "command",
)  # fmt: skip


class Span(NamedTuple):
    """Some text in one style."""

    text: str
    style: str = ""


Cell = str | Span | Sequence[Span]


class Column(NamedTuple):
    """One column of a table."""

    name: str
    style: str = ""
    wraps: bool = False  # the others stay on one line
    right: bool = False
    least: int = 0  # columns of the terminal from which on it is shown


class Table(NamedTuple):
    """Rows below a header."""

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Cell]]


class Paragraph(NamedTuple):
    """Text that wraps by words."""

    cell: Cell
    indent: int = 0
    hanging: int = 0  # columns by which later lines are indented further


class Heading(NamedTuple):
    """A title with an empty line above it."""

    text: str
    note: str = ""


class Diff(NamedTuple):
    """A unified diff, never wrapped."""

    text: str


Block = str | Table | Paragraph | Heading | Diff


def spans(cell: Cell) -> tuple[Span, ...]:
    """Return a cell as spans."""
    if isinstance(cell, str):
        return (Span(cell),)
    return (cell,) if isinstance(cell, Span) else tuple(cell)


def marked(text: str, ranges: Iterable[tuple[int, int]], style: str = "") -> tuple[Span, ...]:
    """Return a text with some of its ranges highlighted."""
    found, at = [], 0
    for start, end in ranges:
        found += [Span(text[at:start], style), Span(text[start:end], HIT)]
        at = end
    return (*found, Span(text[at:], style))


def zone_style(zone: str) -> str:
    """Return the style of a zone of health."""
    return {"GREEN": GOOD, "AMBER": WARN, "RED": BAD}.get(zone, DIM)


def kind_style(kind: str) -> str:
    """Return the style of a memory's kind."""
    return f"kind.{kind}"
