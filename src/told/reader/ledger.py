"""Record every call of the reader with its tokens; enforce the daily budget.

The file has no text of a session: one line of JSON per call.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass

from told.files import open_private, read_text, write_private

_FILE, _FORMER_FILE = "reader.jsonl", "judge.jsonl"
_MAX_BYTES = 1_000_000
_KEPT = 2_000  # lines after older ones were added up


@dataclass(frozen=True, slots=True)
class Entry:
    """One call, or the sum of older ones."""

    at: int
    mode: str
    model: str
    session: str
    tokens_in: int
    tokens_out: int
    failed: str = ""  # why there was no answer
    calls: int = 1  # 0 for the further sessions of a call


@dataclass(frozen=True, slots=True)
class Spent:
    """What the reader used."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    failed: int = 0

    @property
    def tokens(self) -> int:
        """Tokens sent and received."""
        return self.tokens_in + self.tokens_out


class Ledger:
    """The calls of the reader in one home."""

    def __init__(self, home: str, daily_tokens: int) -> None:
        self._path = os.path.join(home, _FILE)
        former = os.path.join(home, _FORMER_FILE)
        if os.path.exists(former) and not os.path.exists(self._path):
            with suppress(OSError):
                os.replace(former, self._path)
        self.daily_tokens = daily_tokens

    def add(self, entry: Entry) -> None:
        """Append a call.

        If it cannot be written, nothing more may be asked.
        """
        descriptor = open_private(self._path, os.O_WRONLY | os.O_APPEND)
        with os.fdopen(descriptor, "ab") as file:
            file.write(json.dumps(asdict(entry), separators=(",", ":")).encode() + b"\n")
            size = file.tell()
        if size > _MAX_BYTES:
            self._add_up()

    def total(self) -> Spent:
        """Return what was ever used."""
        return _sum(self._read())

    def today(self, now: int) -> Spent:
        """Return what was used since midnight, local time."""
        since = start_of_day(now)
        return _sum([one for one in self._read() if one.at >= since])

    def left_today(self, now: int) -> int:
        """Return how many tokens may still be used today."""
        return max(0, self.daily_tokens - self.today(now).tokens)

    def note_problem(self, now: int, problem: str) -> None:
        """Record why the reader could not be asked at all."""
        with suppress(OSError):
            self.add(Entry(now, "", "", "", 0, 0, problem, calls=0))

    def last_problem(self) -> str:
        """Return why the latest call failed; empty if it did not."""
        entries = self._read()
        return entries[-1].failed if entries else ""

    def failures(self) -> Counter[str]:
        """Return how often the reader failed on each session since it last succeeded."""
        found: Counter[str] = Counter()
        for one in self._read():
            if one.failed:
                found[one.session] += 1
            else:
                found.pop(one.session, None)
        return found

    def _read(self) -> list[Entry]:
        try:
            lines = read_text(self._path).splitlines()
        except OSError:
            return []
        found = []
        for line in lines:
            try:
                found.append(Entry(**json.loads(line)))
            except (ValueError, TypeError):
                continue  # a damaged line
        return found

    def _add_up(self) -> None:
        """Replace old lines by their sum."""
        entries = self._read()
        old, recent = entries[:-_KEPT], entries[-_KEPT:]
        spent = _sum(old)
        lines = [Entry(old[-1].at, "", "", "", spent.tokens_in, spent.tokens_out, "", spent.calls), *recent]
        text = "".join(json.dumps(asdict(one), separators=(",", ":")) + "\n" for one in lines)
        write_private(self._path, text.encode())


def start_of_day(now: int) -> int:
    """Return local midnight in ms since 1970."""
    day = time.localtime(now // 1000)
    return int(time.mktime((day.tm_year, day.tm_mon, day.tm_mday, 0, 0, 0, 0, 0, -1))) * 1000


def _sum(entries: list[Entry]) -> Spent:
    return Spent(
        sum(one.calls for one in entries),
        sum(one.tokens_in for one in entries),
        sum(one.tokens_out for one in entries),
        sum(one.calls for one in entries if one.failed),
    )
