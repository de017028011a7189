"""The changes told made in one file, in order: undone to the byte while nobody else wrote in it."""

from __future__ import annotations

from told.record import record, replaced
from told.setup import _foreign_kinds as kinds
from told.setup._foreign_disk import Found, short_hash
from told.setup._foreign_edit import EDITED, FOREIGN, MISSING, THERE, take_out
from told.setup.ledger import ENTRY, OWN_FILE, Installed, Touched

RESTORED, REMOVED, GONE = "restored", "removed", "gone"


@record
class Step:
    """What a file will say, and what the ledger will say of it."""

    text: str | None  # None: the file is removed
    touched: Touched


def settled(touched: Touched, found: Found) -> Touched:
    """Return what is true of a file: a step that was begun was made, or was not."""
    pending = touched.pending
    if pending is None:
        return touched
    done = replaced(touched, pending=None)
    if found.hash == pending.becomes:
        return replaced(done, changes=pending.changes)
    if found.hash == pending.was:
        return done if done.changes else replaced(done, created=False)
    known = {change.identity for change in touched.changes}
    new = tuple(change for change in pending.changes if change.identity not in known)
    return replaced(done, changes=touched.changes + new)


def with_change(touched: Touched, change: Installed) -> Touched:
    """Return a file with one of its changes written down anew."""
    changes = tuple(change if each.identity == change.identity else each for each in touched.changes)
    return replaced(touched, changes=changes)


def added(found: Found, touched: Touched, new: Installed) -> Step:
    """Return the step that adds a change that is not there."""
    text, change = _inserted(found, found.text, found.hash, new)
    return Step(text, replaced(touched, changes=(*touched.changes, change)))


def changed(found: Found, touched: Touched, new: Installed) -> Step:
    """Return the step that gives a change another content."""
    place = next(at for at, each in enumerate(touched.changes) if each.identity == new.identity)
    base = _undone(found, touched.changes, place)
    if base is None:
        return rewritten(found, touched, new)
    again = (replaced(new, made=()), *touched.changes[place + 1 :])
    text, changes = _replayed(found, base, touched.changes[place].before, again)
    return Step(text, replaced(touched, changes=touched.changes[:place] + changes))


def rewritten(found: Found, touched: Touched, new: Installed) -> Step:
    """Return the step that writes a change over what told wrote before, where it stands now."""
    text = kinds.replace(found.text, kinds.as_change(new))
    loose = replaced(new, pieces=None)
    if any(each.identity == new.identity for each in touched.changes):
        return Step(text, with_change(touched, loose))
    return Step(text, replaced(touched, changes=(*touched.changes, loose)))


def without(found: Found, touched: Touched, gone: set[tuple[object, ...]]) -> tuple[Step, dict[object, str]]:
    """Return the step that takes changes out, and what became of each."""
    place = next(at for at, each in enumerate(touched.changes) if each.identity in gone)
    before = touched.changes[place].before
    base = _undone(found, touched.changes, place)
    if base is None:
        return _stripped(found, touched, gone)
    rest = tuple(each for each in touched.changes[place:] if each.identity not in gone)
    text, changes = _replayed(found, base, before, rest)
    left = replaced(touched, changes=touched.changes[:place] + changes)
    removed = touched.created and not left.changes and not before
    return Step(None if removed else text, left), dict.fromkeys(gone, RESTORED)


def _undone(found: Found, changes: tuple[Installed, ...], place: int) -> str | None:
    """Return the text before a change and all later ones; None if others wrote since."""
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
    found: Found, text: str, before: str, changes: tuple[Installed, ...]
) -> tuple[str, tuple[Installed, ...]]:
    made: list[Installed] = []
    for change in changes:
        text, done = _inserted(found, text, before, replaced(change, made=()))
        made.append(done)
        before = done.after
    return text, tuple(made)


def _inserted(found: Found, text: str, before: str, new: Installed) -> tuple[str, Installed]:
    edit = kinds.insert(text, kinds.as_change(new))
    made = (*new.made, *(keys for keys in edit.made if keys not in new.made))
    after = short_hash(found.bytes_of(edit.text))
    return edit.text, replaced(new, pieces=edit.pieces, made=made, before=before, after=after)


def _stripped(
    found: Found, touched: Touched, gone: set[tuple[object, ...]]
) -> tuple[Step, dict[object, str]]:
    text = found.text
    states: dict[object, str] = {}
    made: tuple[tuple[str, ...], ...] = ()
    for change in reversed(touched.changes):
        if change.identity in gone:
            made += tuple(keys for keys in change.made if keys not in made)
            text, states[change.identity] = _without(text, change, made)
    rest = tuple(each for each in touched.changes if each.identity not in gone)
    if rest:  # what was made for a change that is away is from now on there for the others
        first = replaced(rest[0], made=(*rest[0].made, *(keys for keys in made if keys not in rest[0].made)))
        rest = (first, *rest[1:])
    change = next(each for each in touched.changes if each.identity in gone)
    empty = kinds.is_empty(text, kinds.as_change(change)) and not rest
    removed = empty and (touched.created or change.kind == OWN_FILE)
    return Step(None if removed else text, replaced(touched, changes=rest)), states


def _without(text: str, installed: Installed, made: tuple[tuple[str, ...], ...]) -> tuple[str, str]:
    change = kinds.as_change(installed)
    how = kinds.state(text, change)
    if how == MISSING:
        return kinds.strip(text, change, made), GONE
    if installed.kind != ENTRY and how in (EDITED, FOREIGN):
        return text, how
    stripped = kinds.strip(text, change, made, sure=True)
    if installed.pieces and how == THERE:
        exact = _cut_pieces(text, installed.pieces)
        if exact is not None and kinds.same_meaning(exact, stripped, change):
            return exact, REMOVED
    return stripped, REMOVED


def _cut_pieces(text: str, pieces: tuple[tuple[int, str], ...]) -> str | None:
    """Return the text without the one piece that was put in, wherever it stands by now."""
    if len(pieces) != 1 or text.count(pieces[0][1]) != 1:
        return None
    return text.replace(pieces[0][1], "")
