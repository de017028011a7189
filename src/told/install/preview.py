"""Make changes in memory only, to show them as a diff."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from difflib import unified_diff

from told.agents.wiring import Change
from told.errors import ToldError
from told.install import disk, edits
from told.install.foreign import plan_change, plan_removal, with_json_types
from told.install.ledger import FileRecord, InstalledChange, Ledger

_NO_NEWLINE = "\\ No newline at end of file\n"


class Preview:
    """Files as they would be after changes; nothing is written."""

    def __init__(self, ledger: Ledger) -> None:
        """Take what was installed so far."""
        self._ledger = ledger
        self._before: dict[str, disk.ForeignFile] = {}
        self._after: dict[str, tuple[disk.ForeignFile, FileRecord]] = {}

    def apply(self, change: Change, owner: str) -> bool:
        """Make a change; return whether the file would be written."""
        found, record = self._open(change.path)
        return self._put(found, plan_change(found, record, change, owner))

    def remove(self, changes: Iterable[InstalledChange], owner: str) -> None:
        """Remove installed changes of an owner."""
        wanted = {(one.path, one.identity) for one in changes}
        for path in dict.fromkeys(path for path, _ in wanted):
            with suppress(ToldError):  # installing reports a file that cannot be read
                found, record = self._open(path)
                self._put(found, plan_removal(found, record, owner, wanted).step)

    def state(self, change: Change) -> str:
        """Return a change's state in the file as it would be."""
        found, _ = self._open(change.path)
        return edits.state_in(found.text, with_json_types(change))

    def diffs(self) -> Iterator[tuple[str, str]]:
        """Yield each file that would change, with its unified diff."""
        for real, before in self._before.items():
            after, _ = self._after[real]
            if before.raw != after.raw:
                yield before.path, _diff(before, after)

    def _open(self, path: str) -> tuple[disk.ForeignFile, FileRecord]:
        found = disk.read_foreign(path)
        if found.real not in self._after:
            known = self._ledger.files.get(found.real) or FileRecord(path)
            self._before[found.real] = found
            self._after[found.real] = found, edits.settle(known, found)
        return self._after[found.real]

    def _put(self, found: disk.ForeignFile, step: edits.Step) -> bool:
        """Replace a file's content; return whether it differs."""
        raw = None if step.text is None else found.bytes_of(step.text)
        is_same = raw == found.raw or (not raw and found.raw is None)
        file = found if is_same else replace(found, raw=raw, text=step.text or "")
        self._after[found.real] = file, step.record
        return not is_same


def _diff(before: disk.ForeignFile, after: disk.ForeignFile) -> str:
    old = "/dev/null" if before.raw is None else before.path
    new = "/dev/null" if after.raw is None else before.path
    lines = unified_diff(_lines(before), _lines(after), old, new)
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}" for line in lines)


def _lines(file: disk.ForeignFile) -> list[str]:
    return file.text.splitlines(keepends=True)
