"""Writes files that are as old as what they say."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from demo.story import Call


def absolute(cwd: str, call: Call) -> str:
    """Return the path of the file that a call is about."""
    return os.path.join(cwd, call.target)


def write_text(path: str, text: str, at: int) -> None:
    """Write a file that was changed last at that time."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.utime(path, (at / 1000, at / 1000))


def write_lines(path: str, lines: Iterable[dict[str, Any]], at: int) -> None:
    """Write one JSON object a line."""
    written = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines)
    write_text(path, "".join(f"{line}\n" for line in written), at)
