"""Put changes into the text of a foreign file, take them out, and record both for the ledger."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, replace
from types import ModuleType

from told.agents.wiring import OWN, Block, Change, Entry, OwnFile
from told.errors import UsageError
from told.install import json_file, toml_file
from told.install.disk import ForeignFile, short_hash
from told.install.ledger import BLOCK, ENTRY, OWN_FILE, FileRecord, InstalledChange
from told.install.values import (
    EDITED,
    FOREIGN,
    MISSING,
    THERE,
    Edit,
    Keys,
    end_of_text,
    entry_state,
    newline_of,
    put_in,
    take_out,
)
from told.pattern import lazy_pattern

UNEDITED = "unedited"  # told's, as it was written, with an older text
RESTORED, REMOVED, GONE = "restored", "removed", "gone"
_VERSION = 1
_BEGIN = lazy_pattern(r"<!-- told:begin (\d+) ([0-9a-f]{8}) -->\r?\n")
_END = "<!-- told:end -->"
_ANY_MARK = lazy_pattern(r"<!-- told:(?:begin\b|end )")


def state_in(text: str, change: Change) -> str:
    """Return a change's state in a text.

    It is `there`, `missing`, `unedited` (told's, with an older content), `edited` (told's, with another
    content), or `foreign` (somebody else's value at its place).
    """
    if isinstance(change, Entry):
        return entry_state(_format(change.path).parse(text, change.path), change)
    if isinstance(change, Block):
        found = _find_block(text)
        if found is None:
            return EDITED if _ANY_MARK.search(text) else MISSING
        if _checksum(found.inside) != found.checksum:
            return EDITED
        return THERE if found.inside == _plain(change.text) else UNEDITED
    if not text:
        return MISSING
    if text == change.text:
        return THERE
    return EDITED if OWN in text and OWN in change.text else FOREIGN


def insert_change(text: str, change: Change) -> Edit:
    """Return a text with a missing change inserted; a paragraph goes to its end."""
    if isinstance(change, Entry):
        edit: Edit = _format(change.path).insert(text, change)
        return edit
    if isinstance(change, Block):
        newline = newline_of(text)
        return put_in(text, [(len(text), end_of_text(text) + _written(change, newline) + newline)])
    return Edit(change.text, ((0, change.text),))


def replace_content(text: str, change: Change) -> str:
    """Return a text with a change's new content."""
    if isinstance(change, Entry):
        return str(_format(change.path).replace(text, change))
    if isinstance(change, Block):
        found = _find_block(text)
        if found is None:
            return text
        return text[: found.start] + _written(change, newline_of(text)) + text[found.end :]
    return change.text


def strip_change(text: str, change: Change, made: tuple[Keys, ...], *, sure: bool = False) -> str:
    """Return a text without a change; `sure`: it is told's even if it was edited."""
    if isinstance(change, Entry):
        return str(_format(change.path).strip(text, change, made, sure=sure))
    if isinstance(change, Block):
        return _strip_block(text)
    return "" if sure or text == change.text else text


def is_recognisable(change: Change) -> bool:
    """Tell whether a change can only be told's."""
    if not isinstance(change, Entry) or change.mark:
        return True
    return "told" in json.dumps([change.keys, change.value])


def as_installed(change: Change, owner: str) -> InstalledChange:
    """Return a change for the ledger."""
    if isinstance(change, Entry):
        value, keys = change.value, tuple(change.keys)
        return InstalledChange((owner,), ENTRY, change.path, value, keys, change.item, change.mark)
    if isinstance(change, Block):
        return InstalledChange((owner,), BLOCK, change.path, change.text)
    return InstalledChange((owner,), OWN_FILE, change.path, change.text, executable=change.executable)


def as_change(installed: InstalledChange) -> Change:
    """Return a change from its ledger record."""
    if installed.kind == ENTRY:
        return Entry(installed.path, installed.keys, installed.value, installed.item, installed.mark)
    if installed.kind == BLOCK:
        return Block(installed.path, installed.value)
    return OwnFile(installed.path, installed.value, installed.executable)


def _format(path: str) -> ModuleType:
    ending = os.path.splitext(path)[1].lower()
    if ending in (".yaml", ".yml"):
        raise UsageError(f"{path} is YAML, which told does not change. Add the entry by hand.")
    return toml_file if ending == ".toml" else json_file


@dataclass(frozen=True, slots=True)
class _FoundBlock:
    start: int
    end: int
    inside: str
    checksum: str  # of what told wrote


def _find_block(text: str) -> _FoundBlock | None:
    begin = _BEGIN.search(text)
    end = text.find(_END, begin.end()) if begin else -1
    if begin is None or end < 0:
        return None
    return _FoundBlock(begin.start(), end + len(_END), _plain(text[begin.end() : end]), begin[2])


def _strip_block(text: str) -> str:
    """Return the text without an unedited paragraph and its empty line."""
    found = _find_block(text)
    if found is None or _checksum(found.inside) != found.checksum:
        return text
    before, after = text[: found.start], text[found.end :]
    after = after.removeprefix("\r\n") if after.startswith("\r") else after.removeprefix("\n")
    for newline in ("\r\n", "\n"):
        if before.endswith(newline * 2) or before == newline:
            return before.removesuffix(newline) + after
    return before + after


def _written(change: Block, newline: str) -> str:
    inside = _plain(change.text)
    lines = [f"<!-- told:begin {_VERSION} {_checksum(inside)} -->", *inside.split("\n"), _END]
    return newline.join(lines)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").strip("\n")


def _checksum(inside: str) -> str:
    return hashlib.sha256(inside.encode()).hexdigest()[:8]


@dataclass(frozen=True, slots=True)
class Step:
    """The next text of a file, and its ledger record."""

    text: str | None  # None: the file is removed
    record: FileRecord


def settle(record: FileRecord, found: ForeignFile) -> FileRecord:
    """Return the record after an interrupted step: done or not."""
    pending = record.pending
    if pending is None:
        return record
    done = replace(record, pending=None)
    if found.hash == pending.becomes:
        return replace(done, changes=pending.changes)
    if found.hash == pending.was:
        return done if done.changes else replace(done, created=False)
    known = {change.identity for change in record.changes}
    new = tuple(change for change in pending.changes if change.identity not in known)
    return replace(done, changes=record.changes + new)


def replace_change(record: FileRecord, change: InstalledChange) -> FileRecord:
    """Return a record with one of its changes replaced."""
    changes = tuple(change if each.identity == change.identity else each for each in record.changes)
    return replace(record, changes=changes)


def add_step(found: ForeignFile, record: FileRecord, new: InstalledChange) -> Step:
    """Return the step that adds a missing change."""
    text, change = _inserted(found, found.text, found.hash, new)
    return Step(text, replace(record, changes=(*record.changes, change)))


def change_step(found: ForeignFile, record: FileRecord, new: InstalledChange) -> Step:
    """Return the step that gives a change new content."""
    place = next(at for at, each in enumerate(record.changes) if each.identity == new.identity)
    base = _undone(found, record.changes, place)
    if base is None:
        return rewrite_step(found, record, new)
    again = (replace(new, made=()), *record.changes[place + 1 :])
    text, changes = _replayed(found, base, record.changes[place].before, again)
    return Step(text, replace(record, changes=record.changes[:place] + changes))


def rewrite_step(found: ForeignFile, record: FileRecord, new: InstalledChange) -> Step:
    """Return the step that overwrites told's old content in place."""
    text = replace_content(found.text, as_change(new))
    loose = replace(new, pieces=None)
    if any(each.identity == new.identity for each in record.changes):
        return Step(text, replace_change(record, loose))
    return Step(text, replace(record, changes=(*record.changes, loose)))


def removal_step(
    found: ForeignFile, record: FileRecord, gone: set[tuple[object, ...]]
) -> tuple[Step, dict[object, str]]:
    """Return the step that removes changes, and the result for each."""
    place = next(at for at, each in enumerate(record.changes) if each.identity in gone)
    before = record.changes[place].before
    base = _undone(found, record.changes, place)
    if base is None:
        return _stripped(found, record, gone)
    rest = tuple(each for each in record.changes[place:] if each.identity not in gone)
    text, changes = _replayed(found, base, before, rest)
    left = replace(record, changes=record.changes[:place] + changes)
    removed = record.created and not left.changes and not before
    return Step(None if removed else text, left), dict.fromkeys(gone, RESTORED)


def _undone(found: ForeignFile, changes: tuple[InstalledChange, ...], place: int) -> str | None:
    """Return the text before some changes; None if others wrote since."""
    text, expected = found.text, found.hash
    for change in reversed(changes[place:]):
        if change.pieces is None or change.after != expected:
            return None
        undone = take_out(text, change.pieces)
        if undone is None:
            return None
        text, expected = undone, change.before
    before = short_hash(found.bytes_of(text))
    return text if before == expected or (not expected and not text) else None


def _replayed(
    found: ForeignFile, text: str, before: str, changes: tuple[InstalledChange, ...]
) -> tuple[str, tuple[InstalledChange, ...]]:
    made: list[InstalledChange] = []
    for change in changes:
        text, done = _inserted(found, text, before, replace(change, made=()))
        made.append(done)
        before = done.after
    return text, tuple(made)


def _inserted(
    found: ForeignFile, text: str, before: str, new: InstalledChange
) -> tuple[str, InstalledChange]:
    edit = insert_change(text, as_change(new))
    made = (*new.made, *(keys for keys in edit.made if keys not in new.made))
    after = short_hash(found.bytes_of(edit.text))
    return edit.text, replace(new, pieces=edit.pieces, made=made, before=before, after=after)


def _stripped(
    found: ForeignFile, record: FileRecord, gone: set[tuple[object, ...]]
) -> tuple[Step, dict[object, str]]:
    text = found.text
    states: dict[object, str] = {}
    made: tuple[Keys, ...] = ()
    for change in reversed(record.changes):
        if change.identity in gone:
            made += tuple(keys for keys in change.made if keys not in made)
            text, states[change.identity] = _without(text, change, made)
    rest = tuple(each for each in record.changes if each.identity not in gone)
    if rest:  # what was made for a removed change now serves the others
        first = replace(rest[0], made=(*rest[0].made, *(keys for keys in made if keys not in rest[0].made)))
        rest = (first, *rest[1:])
    change = next(each for each in record.changes if each.identity in gone)
    empty = _is_empty(text, as_change(change)) and not rest
    removed = empty and (record.created or change.kind == OWN_FILE)
    return Step(None if removed else text, replace(record, changes=rest)), states


def _without(text: str, installed: InstalledChange, made: tuple[Keys, ...]) -> tuple[str, str]:
    change = as_change(installed)
    how = state_in(text, change)
    if how == MISSING:
        return strip_change(text, change, made), GONE
    if installed.kind != ENTRY and how in (EDITED, FOREIGN):
        return text, how
    stripped = strip_change(text, change, made, sure=True)
    if installed.pieces and how == THERE:
        exact = _cut_pieces(text, installed.pieces)
        if exact is not None and _mean_the_same(exact, stripped, change):
            return exact, REMOVED
    return stripped, REMOVED


def _mean_the_same(one: str, other: str, change: Change) -> bool:
    if not isinstance(change, Entry):
        return one.split() == other.split()
    parse = _format(change.path).parse
    try:
        return bool(parse(one, change.path) == parse(other, change.path))
    except UsageError:
        return False


def _is_empty(text: str, change: Change) -> bool:
    if isinstance(change, Entry):
        return bool(_format(change.path).is_empty(text, change.path))
    return not text.strip()


def _cut_pieces(text: str, pieces: tuple[tuple[int, str], ...]) -> str | None:
    """Return the text without the one piece that was inserted."""
    if len(pieces) != 1 or text.count(pieces[0][1]) != 1:
        return None
    return text.replace(pieces[0][1], "")
