"""Change other programs' files so that every change can be undone."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from told.agents.wiring import Change, Entry
from told.errors import ToldError, UsageError
from told.install import disk, edits
from told.install.edits import GONE, REMOVED
from told.install.ledger import OWN_FILE, FileRecord, InstalledChange, Ledger, Pending, owner_matches
from told.install.values import EDITED, FOREIGN, MISSING, THERE

LEFT, FAILED = "left", "failed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of undoing one change."""

    path: str
    state: str  # restored, removed, gone, left or failed
    note: str = ""  # for the user
    keys: tuple[str, ...] = ()


def apply_change(change: Change, ledger: Ledger, owner: str) -> bool:
    """Make a change in another program's file, if it is missing."""
    with ledger.lock():
        found = disk.read_foreign(change.path)
        disk.remove_temporary(found.real)
        record = edits.settle(ledger.files.get(found.real) or FileRecord(change.path), found)
        step = plan_change(found, record, change, owner)
        if step.text == found.text:
            ledger.record(found.real, step.record)
            return False
        _make(ledger, found, record, step)
        return True


def plan_change(found: disk.ForeignFile, record: FileRecord, change: Change, owner: str) -> edits.Step:
    """Return the step that makes a change; it has the same text if there is nothing to write."""
    change = with_json_types(change)
    new = edits.as_installed(change, owner)
    own = next((each for each in record.changes if each.identity == new.identity), None)
    step = _step(found, record, change, new, own)
    if isinstance(step, FileRecord):
        return edits.Step(found.text, step)
    if step.text is None or edits.state_in(step.text, change) != THERE:
        raise UsageError(f"told found no safe place for its entry in {change.path}. Add it by hand.")
    return step


def undo_changes(
    ledger: Ledger, owner_prefix: str = "", only: Iterable[InstalledChange] | None = None
) -> list[Outcome]:
    """Undo changes; restore the bytes if nobody else changed the file."""
    wanted = None if only is None else {(each.path, each.identity) for each in only}
    outcomes: list[Outcome] = []
    with ledger.lock():
        for real in reversed(list(ledger.files)):
            outcomes += _undo_in_file(ledger, real, owner_prefix, wanted)
        _remove_folders(ledger)
    return outcomes


def remove_change(change: Change) -> Outcome:
    """Remove a change that no ledger has, if it is told's."""
    change = with_json_types(change)
    keys = change.keys if isinstance(change, Entry) else ()
    try:
        found = disk.read_foreign(change.path)
        disk.remove_temporary(found.real)
        how = MISSING if found.raw is None else edits.state_in(found.text, change)
        if how == MISSING:
            return Outcome(change.path, GONE, keys=keys)
        if how == THERE and not edits.is_recognisable(change):
            how = FOREIGN
        if how == FOREIGN or (how == EDITED and not isinstance(change, Entry)):
            return _outcome(change.path, how, keys)
        made = tuple(keys[:length] for length in range(1, len(keys) + 1))
        text = edits.strip_change(found.text, change, made)
        disk.check_writable(found)
        if not text and not isinstance(change, Entry):
            disk.delete_foreign(found)
        else:
            disk.write_foreign(found, found.bytes_of(text))
    except ToldError as error:
        return Outcome(change.path, FAILED, str(error), keys)
    return Outcome(change.path, REMOVED, keys=keys)


def change_state(change: Change) -> str:
    """Return `there`, `missing`, `edited`, or `broken: ` with the reason."""
    change = with_json_types(change)
    try:
        found = disk.read_foreign(change.path)
        how = edits.state_in(found.text, change)
    except ToldError as error:
        return f"broken: {error}"
    if how == FOREIGN:
        return f"broken: {_foreign(change)}"
    return EDITED if how == edits.UNEDITED else how


def _step(
    found: disk.ForeignFile,
    record: FileRecord,
    change: Change,
    new: InstalledChange,
    own: InstalledChange | None,
) -> FileRecord | edits.Step:
    """Return the next step, or the record if there is none."""
    how = edits.state_in(found.text, change)
    if how == MISSING:
        rest = tuple(each for each in record.changes if each.identity != new.identity)
        kept = new if own is None else replace(new, owners=_with(own.owners, new.owners[0]), made=own.made)
        return edits.add_step(found, replace(record, changes=rest), kept)
    if own is None:
        if how == FOREIGN:
            raise _foreign(change)
        if how == THERE or (how == EDITED and not isinstance(change, Entry)):
            if how == EDITED or not edits.is_recognisable(change):
                return record
            return replace(record, changes=(*record.changes, new))
        return edits.rewrite_step(found, record, new)
    owners = _with(own.owners, new.owners[0])
    shared = replace(own, owners=owners)
    user_edited = how == EDITED and not isinstance(change, Entry) and own.kind != OWN_FILE
    if own.kind == OWN_FILE and how != THERE:
        user_edited = found.text != own.value
    second = own.owners[0] != new.owners[0]
    if how == THERE or user_edited or second or own.value == new.value:
        return edits.replace_change(record, shared)
    return edits.change_step(found, record, replace(new, owners=owners, made=own.made))


def _make(ledger: Ledger, found: disk.ForeignFile, record: FileRecord, step: edits.Step) -> None:
    """Record a step, make it, and record that it was made."""
    disk.check_writable(found)
    raw = None if step.text is None else found.bytes_of(step.text)
    pending = Pending(step.record.changes, found.hash, disk.short_hash(raw))
    created = record.created if found.raw is not None else True
    folders = disk.missing_folders(found.real) if raw is not None else []
    ledger.record_plan(found.real, replace(record, created=created), pending, folders)
    try:
        if raw is None:
            disk.delete_foreign(found)
        else:
            executable = any(each.executable for each in step.record.changes)
            disk.write_foreign(found, raw, executable=executable)
    except ToldError:
        ledger.record(found.real, record)
        _remove_folders(ledger)
        raise
    ledger.record(found.real, replace(step.record, created=created))


def _undo_in_file(ledger: Ledger, real: str, owner_prefix: str, wanted: Wanted | None) -> list[Outcome]:
    record = ledger.files[real]
    try:
        found = disk.read_foreign(record.path)
        if found.real != real:  # the link has changed
            found = disk.read_foreign(real)
        disk.remove_temporary(real)
        record = edits.settle(record, found)
        removal = plan_removal(found, record, owner_prefix, wanted)
        if found.raw is None or removal.step.text == found.text:
            ledger.record(real, removal.step.record)
        else:
            _make(ledger, found, removal.before, removal.step)
    except ToldError as error:
        return [Outcome(record.path, FAILED, str(error))]
    if removal.kept:
        return [
            Outcome(record.path, LEFT, "Another agent still needs it.", each.keys) for each in removal.kept
        ]
    return [
        _outcome(each.path, removal.states[each.identity], each.keys) for each in reversed(removal.removed)
    ]


Wanted = set[tuple[str, tuple[object, ...]]]  # (path, identity) of changes


@dataclass(frozen=True, slots=True)
class Removal:
    """The step that removes an owner's changes from a file."""

    before: FileRecord  # without the owner
    step: edits.Step
    removed: tuple[InstalledChange, ...] = ()
    kept: tuple[InstalledChange, ...] = ()  # that only another owner still needs
    states: Mapping[object, str] = field(default_factory=dict)  # what happens to each


def plan_removal(
    found: disk.ForeignFile, record: FileRecord, owner_prefix: str, wanted: Wanted | None = None
) -> Removal:
    """Return the step that removes an owner's changes; it has the same text if there are none."""
    chosen = [
        each
        for each in record.changes
        if each.is_owned_by(owner_prefix) and (wanted is None or (each.path, each.identity) in wanted)
    ]
    if not chosen:
        return Removal(record, edits.Step(found.text, record))
    last = [each for each in chosen if all(owner_matches(owner_prefix, owner) for owner in each.owners)]
    kept = tuple(_without_owner(each, owner_prefix, chosen) for each in record.changes)
    record = replace(record, changes=kept)
    if not last:
        return Removal(record, edits.Step(found.text, record), kept=tuple(chosen))
    step, states = edits.removal_step(found, record, {each.identity for each in last})
    return Removal(record, step, tuple(last), states=states)


def _without_owner(
    change: InstalledChange, owner_prefix: str, chosen: list[InstalledChange]
) -> InstalledChange:
    others = tuple(owner for owner in change.owners if not owner_matches(owner_prefix, owner))
    return replace(change, owners=others) if change in chosen and others else change


def _outcome(path: str, how: str, keys: tuple[str, ...]) -> Outcome:
    if how == EDITED:
        return Outcome(path, LEFT, f"You changed told's text in {path}, so it was left.", keys)
    if how == FOREIGN:
        where = f"{'.'.join(keys)} in {path}" if keys else path
        return Outcome(path, LEFT, f"{where} does not look like told's, so it was left.", keys)
    return Outcome(path, how, keys=keys)


def _remove_folders(ledger: Ledger) -> None:
    """Remove empty folders that told made."""
    kept = []
    for folder in sorted(ledger.folders, key=len, reverse=True):
        if disk.remove_empty_folder(folder):
            continue
        if any(real.startswith(folder + os.sep) for real in ledger.files):
            kept.append(folder)
    kept.reverse()
    if kept != ledger.folders:
        ledger.folders = kept
        ledger.save()


def _foreign(change: Change) -> UsageError:
    if isinstance(change, Entry):
        where = ".".join(change.keys)
        return UsageError(
            f"{change.path} has a value at {where} that is not told's. Rename or remove it first."
        )
    return UsageError(f"{change.path} is there already and is not told's. Move it away first.")


def _with(owners: tuple[str, ...], owner: str) -> tuple[str, ...]:
    return owners if owner in owners else (*owners, owner)


def with_json_types(change: Change) -> Change:
    """Return a change with JSON types: lists, not tuples."""
    if not isinstance(change, Entry):
        return change
    value = json.loads(json.dumps(change.value))
    return Entry(change.path, tuple(change.keys), value, change.item, change.mark)
