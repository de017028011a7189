"""Gives a project a folder `.told` for its own memories, and takes that back."""

from __future__ import annotations

import os

from told.errors import MissingError, UsageError
from told.ingest.identity import git_root, is_home
from told.journal.append import MAKES_MEMORY
from told.journal.files import open_private
from told.journal.places import own_series, register, series_in, unregister
from told.journal.read import picked_in
from told.journal.registry import Place, fit_to_read, places, registered, series_of_places
from told.record import record, replaced
from told.setup.ignoring import before, ignore, is_ignored, stop_ignoring

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from told.journal.model import Operation

ADDED, ALREADY, BY_HAND, NO_REPOSITORY = "added", "already", "by hand", "no repository"


@record
class Made:
    """What came of `told init`."""

    place: Place
    is_new: bool
    ignored: str
    left_out: tuple[str, ...]  # series of other machines that were not let in


def init(home: str, root: str, scope: str, environ: Mapping[str, str], *, let_in: bool) -> Made:
    """Make a project keep its own memories; once more, and nothing changes but what is missing.

    Args:
        home: The folder of everything told writes for itself.
        root: The project's.
        scope: Of its memories.
        environ: The user's environment, for git.
        let_in: Whether journals of other machines that stand there may be read from now on.

    Raises:
        UsageError: something else stands there.
        MissingError: it cannot be written.
    """
    known = next((one for one in registered(home) if one.root == root), None)
    place = replaced(known, scope=scope) if known else Place(home, root, scope)
    is_new = known is None or not known.is_there
    _make(place)
    place = _without_old_name(place)
    own, there = own_series(place), series_in(place)
    place = replaced(place, series=tuple(dict.fromkeys((own, *(there if let_in else place.series)))))
    ignored = _ignored(place, environ)
    if ignored == ADDED:
        place = replaced(place, ignored=before(root))
    register(place)  # first, so that what a killed told did to another's file is known
    if ignored == ADDED and not ignore(root):
        ignored = BY_HAND
    left_out = tuple(name for name in there if name not in place.series)
    return Made(place, is_new, ignored, left_out)


def take_back(home: str, root: str, *, purge: bool = False) -> bool:
    """Undo what `told init` did to a file of a project; its memories stay, and stay known, unless purged.

    Returns:
        Whether its `.gitignore` was changed back.
    """
    place = next((one for one in registered(home) if one.root == root), None)
    if place is None:
        return False
    undone = stop_ignoring(root, place.ignored)
    if purge and place.is_there:
        import shutil

        shutil.rmtree(place.folder)
    elif undone and place.is_there:
        _ignore_itself(place.folder)
    if purge:
        unregister(home, root)
    elif place.ignored:
        register(replaced(place, ignored=""))
    return undone


def makers_in(place: Place) -> list[Operation]:
    """Return the operations that made memories in a place, as they were taken."""
    needles = [f'"kind":"{kind}",'.encode() for kind in sorted(MAKES_MEMORY)]
    read = [one for one in series_of_places(place.home) if one.place and one.place.root == place.root]
    return [
        one for series in read for one in picked_in(series, needles, lambda one: one.kind in MAKES_MEMORY)
    ]


def held_elsewhere(place: Place, machine: str) -> bool:
    """Tell whether the same series stands in another project's folder: one of the two is a copy."""
    others = [one for one in places(place.home) if one.root != place.root]
    return any(machine in series_in(one) for one in others)


def _make(place: Place) -> None:
    """Make the folder, for the user's eyes only.

    Raises:
        UsageError: something else stands there.
        MissingError: it cannot be written.
    """
    path = place.folder
    if os.path.islink(path):
        raise UsageError(f"{path} is a link. Remove it: a project's memories stay in its own folder.")
    if os.path.lexists(path) and not os.path.isdir(path):
        raise UsageError(f"{path} is a file. Give it another name: told needs a folder there.")
    if _same(path, place.home):
        raise UsageError(f"{path} is where told keeps everything (TOLD_HOME): the project has it already.")
    if is_home(path):
        raise UsageError(f"In {path} another told keeps everything. Move it away, or set TOLD_HOME to it.")
    try:
        if not os.path.isdir(path):
            os.mkdir(path, 0o700)
        os.chmod(path, 0o700)
        for name in series_in(place):
            folder = os.path.join(place.journal, name)
            for file in fit_to_read(folder, os.listdir(folder)):
                os.chmod(os.path.join(folder, file), 0o600)
    except OSError as error:
        why = (error.strerror or "error").lower()
        raise MissingError(f"told cannot write to {place.root} ({why}). Check its permissions.") from None


def _without_old_name(place: Place) -> Place:
    """Let a folder that was moved go on as it was under its old name."""
    there = series_in(place)
    for old in registered(place.home):
        if old.root != place.root and not old.is_there and own_series(old) in there:
            series = tuple(dict.fromkeys((*place.series, *old.series)))
            place = replaced(place, ignored=place.ignored or old.ignored, series=series)
            unregister(place.home, old.root)
    return place


def _ignored(place: Place, environ: Mapping[str, str]) -> str:
    if git_root(place.root) != place.root:
        return NO_REPOSITORY
    if is_ignored(place.root, dict(environ)):
        return ALREADY
    return ADDED if before(place.root) else BY_HAND


def _ignore_itself(folder: str) -> None:
    """Keep what stays there out of the repository without touching any file of it."""
    descriptor = open_private(os.path.join(folder, ".gitignore"), os.O_WRONLY | os.O_TRUNC)
    os.write(descriptor, b"*\n")
    os.close(descriptor)


def _same(path: str, other: str) -> bool:
    return os.path.realpath(path) == os.path.realpath(other)
