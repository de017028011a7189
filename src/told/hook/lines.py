"""Small tables in told's folder: a row a line, fields between tabs, written as a whole or not at all."""

from __future__ import annotations

import os


def read_rows(home: str, name: str, fields: int, most: int = -1) -> list[list[str]]:
    """Return the rows that have so many fields, of at most so many characters; none if there is no table."""
    try:
        with open(os.path.join(home, name), encoding="utf-8", errors="replace") as file:
            lines = file.read(most).split("\n")
    except OSError:
        return []
    rows = (line.split("\t") for line in lines)
    return [row for row in rows if len(row) == fields]


def write_lines(home: str, name: str, lines: list[str]) -> None:
    """Put a table in the place of the old one; what cannot be written is found out again."""
    path = os.path.join(home, name)
    temporary = f"{path}.{os.getpid()}"
    try:
        with os.fdopen(os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            file.write("".join(f"{line}\n" for line in lines))
        os.replace(temporary, path)
    except (OSError, UnicodeError):
        return


def is_time(text: str) -> bool:
    """Tell whether a field is a time in ms."""
    return text.isascii() and text.isdigit() and len(text) < 20
