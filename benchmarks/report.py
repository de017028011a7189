"""Lays figures out for reading, within 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

WIDTH = 80
# The first column of a table of figures; what is longer is cut.
_LABEL = 26


def table(figures: Mapping[str, Any]) -> str:
    """Lay out a benchmark's figures: single ones first, then a table for each group, then how it was done."""
    how = figures.get("how", "")
    lines = list(_section({name: value for name, value in figures.items() if name != "how"}, ""))
    if how:
        lines += ["", "How it was measured", *textwrap.wrap(str(how), WIDTH)]
    return "\n".join(line.rstrip() for line in lines).lstrip("\n")


def _section(group: Mapping[str, Any], title: str) -> Iterator[str]:
    if title:
        yield from ("", title, "-" * min(len(title), WIDTH))
    single = {name: value for name, value in group.items() if not isinstance(value, (dict, list))}
    rows = {name: value for name, value in group.items() if isinstance(value, dict) and _flat(value)}
    for name, value in single.items():
        yield from textwrap.wrap(f"{name.replace('_', ' ')}: {_cell(value)}", WIDTH, subsequent_indent="    ")
    if rows:
        yield from _grid(rows)
    for name, value in group.items():
        if isinstance(value, dict) and name not in rows:
            yield from _section(value, f"{title} · {name}" if title else name.replace("_", " "))
        elif isinstance(value, list):
            yield from ("", name.replace("_", " "))
            yield from _records(value)


def _flat(value: Mapping[str, Any]) -> bool:
    return all(not isinstance(item, (dict, list)) for item in value.values())


def _grid(rows: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    by_columns: dict[tuple[str, ...], dict[str, Mapping[str, Any]]] = {}
    for name, row in rows.items():
        by_columns.setdefault(tuple(row), {})[name] = row
    for columns, group in by_columns.items():
        shown, widths = _fitting(columns, group)
        if not shown:
            yield from _records([{"": name, **row} for name, row in group.items()])
            continue
        for heads in zip(*map(_head, shown), strict=True):
            if any(heads):
                cells = [f" {head:>{width}}" for head, width in zip(heads, widths, strict=True)]
                yield " " * _LABEL + "".join(cells)
        for name, row in group.items():
            cells = [_cell(row[column]) for column in shown]
            yield f"{name[:_LABEL]:<{_LABEL}}" + "".join(
                f" {cell:>{width}}" for cell, width in zip(cells, widths, strict=True)
            )


def _fitting(columns: tuple[str, ...], group: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], list[int]]:
    """Choose the columns that fit: all, or those that are no detail (which --json has), or none."""
    main = [column for column in columns if "_min" not in column and "_json" not in column]
    for shown in (list(columns), main):
        widths = [
            max(*map(len, _head(column)), *(len(_cell(row[column])) for row in group.values()))
            for column in shown
        ]
        if _LABEL + sum(width + 1 for width in widths) <= WIDTH:
            return shown, widths
    return [], []


def _head(column: str) -> tuple[str, str]:
    """Break a column's name in two, its unit below."""
    first, _, last = column.rpartition("_")
    return first.replace("_", " "), last


def _records(rows: list[Any]) -> Iterator[str]:
    for row in rows:
        text = (
            ", ".join(f"{name} {_cell(value)}".strip() for name, value in row.items())
            if isinstance(row, dict)
            else _cell(row)
        )
        yield from textwrap.wrap(text, WIDTH, initial_indent="- ", subsequent_indent="  ")


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return "(" + ", ".join(f"{name} {_cell(item)}" for name, item in value.items() if item != "") + ")"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return (
            f"{value:,.3f}" if abs(value) < 1 else f"{value:,.1f}" if abs(value) < 1000 else f"{value:,.0f}"
        )
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)
