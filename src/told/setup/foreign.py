"""Changes other programs' files, so that the change can be taken back to the byte."""

from __future__ import annotations

import json
import os

from told.agents.wiring import Block, Entry, OwnFile
from told.errors import ToldError, UsageError
from told.record import record, replaced
from told.setup import _foreign_chain as chain
from told.setup import _foreign_disk as disk
from told.setup import _foreign_kinds as kinds
from told.setup._foreign_edit import EDITED, FOREIGN, MISSING, THERE
from told.setup.ledger import OWN_FILE, Installed, Ledger, Pending, Touched, owns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Change = Entry | Block | OwnFile

RESTORED, REMOVED, GONE, LEFT, FAILED = "restored", "removed", "gone", "left", "failed"


@record
class Outcome:
    """What became of one change that was to be taken back."""

    path: str
    state: str  # restored to the byte, removed from among others' changes, gone already, left, or failed
    note: str = ""  # a sentence for the user, where there is something to say
    keys: tuple[str, ...] = ()


def apply(change: Change, ledger: Ledger, owner: str) -> bool:
    """Make a change in another program's file, if it is not there yet.

    Args:
        change: what to write.
        ledger: where it is written down first.
        owner: for whom: the agent and the scope, such as `claude-code user`.

    Returns:
        Whether the file was written.

    Raises:
        UsageError: the file cannot be read, or somebody else's value stands there.
        MissingError: the file or its folder cannot be written.
        BusyError: another program changed the file at the same moment.
    """
    change = _plain(change)
    with ledger.hold():
        found = disk.find(change.path)
        disk.clear_unfinished(found.real)
        touched = chain.settled(ledger.files.get(found.real) or Touched(change.path), found)
        new = kinds.as_installed(change, owner)
        own = next((each for each in touched.changes if each.identity == new.identity), None)
        step = _step(found, touched, change, new, own)
        if isinstance(step, Touched):
            ledger.settle(found.real, step)
            return False
        if step.text is None or kinds.state(step.text, change) != THERE:
            raise UsageError(f"told found no safe place for its entry in {change.path}. Add it by hand.")
        _make(ledger, found, touched, step)
        return True


def take_back(
    ledger: Ledger, owner_prefix: str = "", only: Iterable[Installed] | None = None
) -> list[Outcome]:
    """Take back what was written, and give back the bytes where nobody else changed the file since.

    Args:
        ledger: what was written.
        owner_prefix: only what was written for owners whose name starts with these words.
        only: only these changes, of `Ledger.installed()`.

    Returns:
        One outcome for each change; a file that could not be written stays in the ledger.
    """
    wanted = None if only is None else {(each.path, each.identity) for each in only}
    outcomes: list[Outcome] = []
    with ledger.hold():
        for real in reversed(list(ledger.files)):
            outcomes += _take_back_file(ledger, real, owner_prefix, wanted)
        _remove_folders(ledger)
    return outcomes


def remove(change: Change) -> Outcome:
    """Remove a change that no ledger knows of, if it is recognisably told's."""
    change = _plain(change)
    try:
        found = disk.find(change.path)
        disk.clear_unfinished(found.real)
        if found.raw is None:
            return Outcome(change.path, GONE, keys=_keys(change))
        how = kinds.state(found.text, change)
        if how == MISSING:
            return Outcome(change.path, GONE, keys=_keys(change))
        if how == THERE and not kinds.is_recognisable(change):
            how = FOREIGN
        if how == FOREIGN or (how == EDITED and not isinstance(change, Entry)):
            return _left(change.path, how, _keys(change))
        made = tuple(_keys(change)[:length] for length in range(1, len(_keys(change)) + 1))
        text = kinds.strip(found.text, change, made)
        disk.check_writable(found)
        if not text and not isinstance(change, Entry):
            disk.delete(found)
        else:
            disk.put(found, found.bytes_of(text))
    except ToldError as error:
        return Outcome(change.path, FAILED, str(error), _keys(change))
    return Outcome(change.path, REMOVED, keys=_keys(change))


def look(change: Change) -> str:
    """Tell how a change stands: `there`, `missing`, `edited`, or `broken: ` and a sentence."""
    change = _plain(change)
    try:
        found = disk.find(change.path)
        how = kinds.state(found.text, change)
    except ToldError as error:
        return f"broken: {error}"
    if how == FOREIGN:
        return f"broken: {_foreign(change)}"
    return EDITED if how == kinds.UNEDITED else how


def preview(change: Change) -> str:
    """Return what `apply` would write, as the lines it adds; empty if there is nothing to do.

    Raises:
        UsageError: the file cannot be read, or somebody else's value stands there.
    """
    change = _plain(change)
    found = disk.find(change.path)
    how = kinds.state(found.text, change)
    if how == FOREIGN:
        raise _foreign(change)
    if how == THERE or (how == EDITED and not isinstance(change, Entry)):
        return ""
    head = f"new file {change.path}" if found.raw is None else change.path
    if how == MISSING:
        # Without the lines around it: they are the user's, and may hold keys.
        pieces = [piece for _, piece in kinds.insert(found.text, change).pieces if piece.strip(" ,\r\n")]
    else:
        head += " (replaces what told wrote before)"
        pieces = [kinds.insert("", change).text]
    lines = [line for piece in pieces for line in piece.lstrip(",").splitlines() if line.strip()]
    return "\n".join([head, *(f"+{line}" for line in lines)]) + "\n"


def _step(
    found: disk.Found, touched: Touched, change: Change, new: Installed, own: Installed | None
) -> Touched | chain.Step:
    """Return the step to make, or what the ledger says of the file when there is none."""
    how = kinds.state(found.text, change)
    if how == MISSING:
        rest = tuple(each for each in touched.changes if each.identity != new.identity)
        kept = new if own is None else replaced(new, owners=_with(own.owners, new.owners[0]), made=own.made)
        return chain.added(found, replaced(touched, changes=rest), kept)
    if own is None:
        if how == FOREIGN:
            raise _foreign(change)
        if how == THERE or (how == EDITED and not isinstance(change, Entry)):
            if how == EDITED or not kinds.is_recognisable(change):
                return touched
            return replaced(touched, changes=(*touched.changes, new))
        return chain.rewritten(found, touched, new)
    owners = _with(own.owners, new.owners[0])
    shared = replaced(own, owners=owners)
    user_edited = how == EDITED and not isinstance(change, Entry) and own.kind != OWN_FILE
    if own.kind == OWN_FILE and how != THERE:
        user_edited = found.text != own.value
    second = own.owners[0] != new.owners[0]
    if how == THERE or user_edited or second or own.value == new.value:
        return chain.with_change(touched, shared)
    return chain.changed(found, touched, replaced(new, owners=owners, made=own.made))


def _make(ledger: Ledger, found: disk.Found, touched: Touched, step: chain.Step) -> None:
    """Write down a step, make it, and write down that it was made."""
    disk.check_writable(found)
    raw = None if step.text is None else found.bytes_of(step.text)
    pending = Pending(step.touched.changes, found.hash, disk.short_hash(raw))
    created = touched.created if found.raw is not None else True
    folders = disk.missing_folders(found.real) if raw is not None else []
    ledger.plan(found.real, replaced(touched, created=created), pending, folders)
    try:
        if raw is None:
            disk.delete(found)
        else:
            executable = any(each.executable for each in step.touched.changes)
            disk.put(found, raw, executable=executable)
    except ToldError:
        ledger.settle(found.real, touched)
        _remove_folders(ledger)
        raise
    ledger.settle(found.real, replaced(step.touched, created=created))


def _take_back_file(
    ledger: Ledger, real: str, owner_prefix: str, wanted: set[tuple[str, tuple[object, ...]]] | None
) -> list[Outcome]:
    touched = ledger.files[real]
    try:
        found = disk.find(touched.path)
        if found.real != real:  # a link that leads elsewhere by now
            found = disk.find(real)
        disk.clear_unfinished(real)
        touched = chain.settled(touched, found)
        chosen = [each for each in touched.changes if _is_chosen(each, owner_prefix, wanted)]
        if not chosen:
            ledger.settle(real, touched)
            return []
        last = [each for each in chosen if all(owns(owner_prefix, owner) for owner in each.owners)]
        kept = tuple(_without_owner(each, owner_prefix, chosen) for each in touched.changes)
        touched = replaced(touched, changes=kept)
        if not last:
            ledger.settle(real, touched)
            return [
                Outcome(touched.path, LEFT, "Another agent still needs it.", each.keys) for each in chosen
            ]
        gone = {each.identity for each in last}
        step, states = chain.without(found, touched, gone)
        if found.raw is None or step.text == found.text:
            ledger.settle(real, step.touched)
        else:
            _make(ledger, found, touched, step)
    except ToldError as error:
        return [Outcome(touched.path, FAILED, str(error))]
    return [_outcome(each, states[each.identity]) for each in reversed(last)]


def _is_chosen(
    change: Installed, owner_prefix: str, wanted: set[tuple[str, tuple[object, ...]]] | None
) -> bool:
    return change.is_of(owner_prefix) and (wanted is None or (change.path, change.identity) in wanted)


def _without_owner(change: Installed, owner_prefix: str, chosen: list[Installed]) -> Installed:
    others = tuple(owner for owner in change.owners if not owns(owner_prefix, owner))
    return replaced(change, owners=others) if change in chosen and others else change


def _outcome(change: Installed, how: str) -> Outcome:
    if how in (EDITED, FOREIGN):
        return _left(change.path, how, change.keys)
    return Outcome(change.path, how, keys=change.keys)


def _left(path: str, how: str, keys: tuple[str, ...]) -> Outcome:
    if how == EDITED:
        return Outcome(path, LEFT, f"You changed told's text in {path}, so it was left there.", keys)
    where = f"{'.'.join(keys)} in {path}" if keys else path
    return Outcome(path, LEFT, f"{where} is not told's as far as told can see, so it was left there.", keys)


def _remove_folders(ledger: Ledger) -> None:
    """Remove the folders that told made and that are empty; forget those that hold nothing of told's."""
    kept = []
    for folder in sorted(ledger.folders, key=len, reverse=True):
        if disk.remove_folder(folder):
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


def _keys(change: Change) -> tuple[str, ...]:
    return change.keys if isinstance(change, Entry) else ()


def _plain(change: Change) -> Change:
    """Return a change whose value is as JSON gives it back: lists, not tuples."""
    if not isinstance(change, Entry):
        return change
    value = json.loads(json.dumps(change.value))
    return Entry(change.path, tuple(change.keys), value, change.item, change.mark)
