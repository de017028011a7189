"""The least that reading history in can cost: parse every line, put the same text into a bare FTS5 table.

Run as a process of its own: `python -m benchmarks.floor HOME DATABASE`.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import apsw

from told.agents.reading import describe_call

ROWS = 5_000


def main(home: str, database: str) -> None:
    """Read the transcripts below a home into a new database."""
    connection = apsw.Connection(database)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(body, tokenize='porter unicode61')")
    rows = (row for path in transcripts(home) for row in texts(path))
    while batch := [(body,) for body in itertools.islice(rows, ROWS)]:
        with connection:
            connection.executemany("INSERT INTO t VALUES (?)", batch)
    connection.close()


def transcripts(home: str) -> Iterator[str]:
    """Yield every transcript's path, in a fixed order."""
    for folder, folders, names in os.walk(os.path.join(home, ".claude", "projects")):
        folders.sort()
        yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".jsonl"))


def texts(path: str) -> Iterator[str]:
    """Yield what told keeps of a transcript: prompts, answers, thoughts and one line a tool call."""
    with open(path, "rb") as file:
        for line in file:
            record = json.loads(line)
            kind = record.get("type")
            if kind == "user":
                content = record["message"]["content"]
                if isinstance(content, str):
                    yield content
            elif kind == "assistant":
                yield from (_block(block) for block in record["message"]["content"])


def _block(block: dict[str, Any]) -> str:
    kind = block["type"]
    if kind == "tool_use":
        return describe_call(block["name"], block["input"])
    return str(block["text"] if kind == "text" else block["thinking"])


if __name__ == "__main__":
    main(*sys.argv[1:3])
