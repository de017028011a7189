"""The table of a run, for the terminal and for docs/agents.md."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from lab.result import COLUMNS, Finding, Row

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "agents.md")
BEGIN = "<!-- The table of the real agents: written by `make agents`. -->"
END = "<!-- End of that table. -->"
_HEADS = ["agent", "version", *COLUMNS.values()]
_FOLDERS = re.compile(r"(?<![\w.~/])(?:[A-Za-z]:)?[/\\](?:[^\s/\\]+[/\\])+")


def markdown(rows: Sequence[Row], across: Mapping[str, Finding]) -> str:
    """Return the table as it stands in the docs."""
    lines = [_line(_HEADS), _line(["---"] * len(_HEADS)), *map(_row, rows)]
    titles = {row.agent: row.title for row in rows}
    briefed = [titles.get(name, name) for name, finding in across.items() if finding.works]
    remarks = [row.remark for row in rows if row.remark]
    if briefed:
        remarks.insert(0, f"Told in {rows[0].title}, briefed in: {', '.join(briefed)}.")
    lines += ["", *remarks] if remarks else []
    return "\n".join(lines)


def plain(rows: Sequence[Row], across: Mapping[str, Finding]) -> str:
    """Return the same for a terminal, with all that is not as it should be."""
    cells = [_HEADS]
    cells += [[row.title, row.version, *(_short(row.findings[name]) for name in COLUMNS)] for row in rows]
    widths = [max(len(line[at]) for line in cells) for at in range(len(cells[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]
    for row in rows:
        for name, finding in (*row.findings.items(), *row.also.items()):
            if finding.note:
                lines.append(f"{row.title}, {COLUMNS.get(name, name)}: {finding.text}")
    for name, finding in across.items():
        lines.append(f"told in {rows[0].title}, briefed in {name}: {finding.text}")
    return "\n".join(lines)


def kept(page: str) -> str:
    """Return the part of docs/agents.md that a run wrote, with its marks; the marks alone if none did."""
    start, end = page.find(BEGIN), page.find(END)
    return page[start : end + len(END)] if 0 <= start < end else f"{BEGIN}\n{END}"


def write(table: str, path: str = PAGE) -> None:
    """Put a table into the page, between its marks."""
    page = _text(path)
    old, new = kept(page), f"{BEGIN}\n\n{table}\n\n{END}"
    page = page.replace(old, new) if old in page else f"{page.rstrip()}\n\n{new}\n"
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)


def write_rows(rows: Sequence[Row], path: str = PAGE) -> None:
    """Put the rows of some agents anew, in a table of all of them; one with other columns stays as it is."""
    lines = kept(_text(path)).removeprefix(BEGIN).removesuffix(END).strip().split("\n")
    if lines[0] == _line(_HEADS):
        new = {_first(line): line for line in map(_row, rows)}
        write("\n".join(new.get(_first(line), line) for line in lines), path)


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _row(row: Row) -> str:
    return _line([row.title, row.version, *(row.findings[name].text for name in COLUMNS)])


def _first(line: str) -> str:
    return line.split("|")[1].strip() if line.startswith("| ") else ""


def _line(cells: Sequence[str]) -> str:
    """Return a row; no folder of the machine that it was made on, and nothing that ends a cell."""
    clean = [_FOLDERS.sub("", " ".join(cell.replace("|", "/").split())) for cell in cells]
    return f"| {' | '.join(clean)} |"


def _short(finding: Finding) -> str:
    return {True: "yes", False: "NO", None: "-"}[finding.works]
