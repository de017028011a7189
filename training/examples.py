"""Reads labelled messages: the hand-written ones beside this file, and rows of a data set."""

from __future__ import annotations

import json
import os
import re
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
WRITTEN = "written"
KINDS = {
    "r": "rule",
    "c": "correction",
    "p": "preference",
    "d": "decision",
    "f": "fact",
    "w": "warning",
}
_MARKED = re.compile(r"\[\[(\w)(\*?): ?(.*?)\]\]")


class Item(NamedTuple):
    """A statement in a message that is worth keeping."""

    quote: str
    kind: str
    scope: str


class Example(NamedTuple):
    """A message and what is worth keeping in it."""

    repository: str
    message: str
    before: str
    items: tuple[Item, ...]


def written() -> list[Example]:
    """Return the hand-written examples of all languages."""
    examples = []
    for name in sorted(os.listdir(HERE)):
        if name.startswith("capture_examples_") and name.endswith(".txt"):
            with open(os.path.join(HERE, name), encoding="utf-8") as file:
                examples += [_marked(line.rstrip("\n")) for line in file if line.strip() and line[0] != "#"]
    return examples


def rows(path: str) -> list[Example]:
    """Return the rows of a data set: JSON lines with message, context, repo and items."""
    with open(path, encoding="utf-8") as file:
        return [_row(json.loads(line)) for line in file if line.strip()]


def _marked(line: str) -> Example:
    message, place, items = "", 0, []
    for mark in _MARKED.finditer(line):
        quote = mark[3].replace("\\n", "\n")
        message += line[place : mark.start()].replace("\\n", "\n") + quote
        items.append(Item(quote, KINDS[mark[1]], "global" if mark[2] else "project"))
        place = mark.end()
    return Example(WRITTEN, message + line[place:].replace("\\n", "\n"), "", tuple(items))


def _row(row: dict[str, Any]) -> Example:
    items = [Item(item["quote"], item["kind"], item["scope"]) for item in row["items"] if item["durable"]]
    return Example(row["repo"], row["message"], row.get("context", ""), tuple(items))
