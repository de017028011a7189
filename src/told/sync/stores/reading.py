"""Open other tools' files read-only; say in one sentence why one cannot be read."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from typing import Any

from told.errors import BusyError, MissingError, ToldError, UsageError
from told.files import NotReadableError, read_document
from told.jsontext import as_list, parse_json
from told.model import Problem
from told.store.foreign import ForeignDatabase, ForeignError

_PAGE = 500  # rows
_MAX_FILES = 20_000  # of a folder
_MAX_JSON = 1024 * 1024 * 1024  # bytes


class NotAStoreError(UsageError):
    """That is not a store of this tool."""


@contextlib.contextmanager
def open_database(path: str, tool: str, table: str, columns: Sequence[str]) -> Iterator[ForeignDatabase]:
    """Open a database that must have a table with some columns.

    Raises:
        MissingError: it is not there.
        BusyError: its owner keeps writing to it.
        ToldError: it is damaged, or not a store of this tool.
    """
    require_path(path, tool)
    try:
        with ForeignDatabase(path) as database:
            missing = [name for name in columns if name not in database.columns(table)]
            if missing:
                raise NotAStoreError(
                    f"{path} is not a store of {tool}: it has no {table}.{missing[0]}. Check the path."
                )
            yield database
    except ForeignError as error:
        raise explain(path, tool, str(error)) from None


def read_rows(
    database: ForeignDatabase, table: str, columns: Sequence[str], where: str = ""
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table in the order of their ids, a page at a time."""
    last: int | None = None
    condition = f"({where}) AND " if where else ""
    while True:
        after = "rowid > ?" if last is not None else "?1 IS NULL"
        page = list(
            database.rows(table, ("rowid", *columns), f"{condition}{after}", (last,), f"rowid LIMIT {_PAGE}")
        )
        yield from page
        if len(page) < _PAGE or not isinstance(page[-1]["rowid"], int):
            return
        last = page[-1]["rowid"]


def count_rows(database: ForeignDatabase, table: str) -> int:
    """Count the rows of a table; 0 if it is missing."""
    return sum(1 for _ in read_rows(database, table, ()))


def read_json(path: str, tool: str) -> Any:
    """Read a JSON file.

    Raises:
        ToldError: it is missing, too large or not JSON.
    """
    require_path(path, tool)
    try:
        content = read_document(path, _MAX_JSON)
    except NotReadableError as error:
        raise explain(path, tool, str(error)) from None
    parsed = parse_json(content.removeprefix(b"\xef\xbb\xbf"))
    if isinstance(parsed, str):
        raise explain(path, tool, "empty" if not content.strip() else parsed)
    return parsed


def read_markdown(path: str) -> str | Problem:
    """Read a Markdown file; return a `Problem` if that fails."""
    try:
        return read_document(path).decode("utf-8", "replace")
    except NotReadableError as error:
        return Problem(0, str(error))


def find_files(folder: str, suffix: str) -> list[str]:
    """Return the files below a folder by name; no links, and nothing hidden."""
    found: list[str] = []
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [os.path.join(parent, name) for name in sorted(names)
                  if name.endswith(suffix) and not name.startswith(".")]  # fmt: skip
        if len(found) > _MAX_FILES:
            raise UsageError(f"{folder} has more than {_MAX_FILES:,} {suffix} files. Give a smaller folder.")
    return found


def file_time(path: str) -> int:
    """Return when a file was changed, in ms; 0 if unknown."""
    try:
        return int(os.stat(path).st_mtime * 1000)
    except OSError:
        return 0


def text_list(value: Any) -> tuple[str, ...]:
    """Return the texts of a list, or of a JSON text of one."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = parse_json(value)
    return tuple(one for one in as_list(value) if isinstance(one, str) and one.strip())


def tag_list(value: Any) -> tuple[str, ...]:
    """Return tags of a list, of a JSON text of one, or separated by commas."""
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return tuple(one.strip() for one in value.split(",") if one.strip())
    return text_list(value)


def id_text(value: Any) -> str:
    """Return an id as text: of a number or a text."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return ""
    return str(value)


def number_of(value: Any) -> float:
    """Return a number as a float; 0 for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0.0
    try:
        return float(value)
    except OverflowError:
        return 0.0


def require_path(path: str, tool: str) -> None:
    """Check that a path is there.

    Raises:
        MissingError: it is not.
    """
    if "\0" in path or not os.path.exists(path):
        raise MissingError(f"There is no store of {tool} at {path!r}. Check the path.")


def explain(path: str, tool: str, reason: str) -> ToldError:
    """Build the error for a store that cannot be read."""
    if reason in ("busy", "kept changing while it was read"):
        return BusyError(f"{path} is busy: {tool} keeps writing to it. Close {tool}, then retry.")
    if reason in (
        "not a database",
        "not JSON",
        "not UTF-8",
        "not a JSON object",
        "not a regular file",
        "empty",
    ):
        return NotAStoreError(f"{path} is not a store of {tool} ({reason}). Check the path.")
    return ToldError(
        f"told cannot read the {tool} store {path} ({reason}). Restore it from a copy, then retry."
    )
