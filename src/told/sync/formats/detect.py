"""Tell which format a file or folder has."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from told.errors import MissingError, UsageError
from told.files import NotReadableError, read_document
from told.sync.formats import markdown, mcp_memory, native, pam
from told.sync.stores.item import Item, LeftOut

_MAX_FILE = 1 << 31  # bytes
_HEAD = 100  # characters, in which an export names its format
_NAME_IT = "Name the tool that it is from: `told import --from TOOL PATH`."


@dataclass(frozen=True, slots=True)
class Found:
    """What a file or folder contains: told's own export, or items."""

    format: str
    document: native.Document | None = None
    items: Iterable[Item | LeftOut] = ()
    is_own: bool = True  # told wrote it, so its sources are ids of memories


def read_path(path: str, *, mine: bool = False) -> Found:
    """Read what told or a known format wrote.

    Args:
        path: A file or folder.
        mine: The user says that it is their own: statements keep the user's trust.

    Raises:
        MissingError: it is not there or cannot be read.
        UsageError: its format is unknown.
    """
    if os.path.isdir(path):
        if next(markdown.list_own_notes(path), None) is None:
            raise UsageError(f"{path!r} has no notes that told wrote. {_NAME_IT}")
        return Found("markdown", items=markdown.list_items(path, mine=mine))
    try:
        text = read_document(path, _MAX_FILE).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path!r} is not text in UTF-8. {_NAME_IT}") from None
    except (NotReadableError, OSError) as error:
        raise MissingError(f"{path!r} cannot be read: {error}.") from None
    value = _parse(text)
    if native.is_export(value):
        return Found("told", native.parse_export(value))
    if pam.is_store(value):
        return Found("pam", items=pam.list_items(value, mine=mine), is_own=pam.is_own(value))
    lines = _parse_lines(text)
    if mcp_memory.is_own(lines):
        return Found("mcp-memory", items=mcp_memory.list_items(lines))
    if lines and all(one.get("type") in ("entity", "relation") for one in lines):
        return Found("mcp-memory", is_own=False)
    if text.lstrip()[:1] == "{" and native.FORMAT in text[:_HEAD]:
        raise UsageError(f"{path!r} is a damaged export of told: it may be cut off. Copy it again.")
    raise UsageError(f"told does not know the format of {path!r}. {_NAME_IT}")


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _parse_lines(text: str) -> list[dict[str, Any]]:
    """Return the objects of JSON lines; none if a line is something else."""
    found = []
    for line in text.splitlines():
        if line.strip():
            one = _parse(line)
            if not isinstance(one, dict):
                return []
            found.append(one)
    return found
