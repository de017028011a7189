"""Puts the figures of a run into `docs/benchmarks.md`, so that none is typed by hand."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks import CannotMeasureError

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "benchmarks.md")
_NAMES = {"baseline": "plain FTS5", "told_words": "told, words only", "told_model": "told with a model"}


def option(parser: argparse.ArgumentParser) -> None:
    """Add the option that writes the page."""
    parser.add_argument(
        "--write", nargs="?", const=PAGE, default="", metavar="PAGE",
        help="put the figures into docs/benchmarks.md, or into another page with the same marks",
    )  # fmt: skip


def write(arguments: argparse.Namespace, name: str, text: str) -> None:
    """Put a text between the marks of a name, if that was asked for."""
    path = getattr(arguments, "write", "")
    if not path:
        return
    with open(path, encoding="utf-8") as file:
        before = file.read()
    after = replaced(before, name, text)
    if after is None:
        raise CannotMeasureError(
            f"{path} has no place for the figures: it needs {marks(name)[0]} and its end."
        )
    with open(path, "w", encoding="utf-8") as file:
        file.write(after)


def replaced(page: str, name: str, text: str) -> str | None:
    """Return a page with another text between the marks of a name; None if they are not there."""
    begin, end = marks(name)
    head, found, rest = page.partition(begin)
    _, ended, tail = rest.partition(end)
    return f"{head}{begin}\n\n{text}\n\n{end}{tail}" if found and ended else None


def marks(name: str) -> tuple[str, str]:
    """Return what stands before and after the figures of a benchmark."""
    return f"<!-- written by benchmarks {name} --write -->", f"<!-- end of {name} -->"


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Lay out a table in Markdown."""
    lines = [head, ["---"] * len(head), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def shares(row: Mapping[str, Any], *names: str) -> str:
    """Return some of the shares of a row as one cell: `.677 / .772`."""
    return " / ".join(f"{row[name]:.3f}".removeprefix("0") for name in names if name in row)


def peers(found: Mapping[str, Any], *names: str) -> str:
    """Lay out what other tools reached beside told, and say of the others why they are not there."""
    rows = []
    for way, row in found["scores"].items():
        cost = found["cost"].get(way, {})
        version = found["state"].get(way, "")
        costs = [cost.get(name, "") for name in ("query_ms", "index_s", "index_MB", "peak_MB")]
        rows.append([f"{name_of(way)} {version}".strip(), row["questions"], shares(row, *names), *costs])
    head = ["", "questions", " / ".join(names), "ms a query", "index s", "index MB", "peak MB"]
    left = [f"{name}: {state}." for name, state in found["state"].items() if name not in found["scores"]]
    return "\n\n".join([table(head, rows), *left])


def name_of(way: str) -> str:
    """Return what a way of retrieval is called on the page."""
    return _NAMES.get(way, way)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
