"""A project's own config, which others may have written: only what does no harm is taken from it."""

from __future__ import annotations

import os
import stat

from told.errors import MissingError, UsageError
from told.settings import CONFIG, FOLDER
from told.settings.kept import entry_of, keep, stamp_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.settings import Settings

LARGEST = 64_000  # bytes
_SHOWN = 5  # settings that are named in a sentence


def wishes(settings: Settings, root: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return what a project's config changes, by field of the settings, and what it does that it may not.

    It may turn learning off, never on, and ask for more room in briefs, never for less: less would hide the
    user's own rules. Nothing in it is ever an error.

    Args:
        settings: The user's.
        root: The project's folder.
    """
    folder = os.path.join(root, FOLDER)
    path = os.path.join(folder, CONFIG)
    try:
        around, state = os.lstat(folder), os.lstat(path)
    except OSError:
        return {}, ()
    if os.path.realpath(folder) == os.path.realpath(settings.home):
        return {}, ()
    if not stat.S_ISDIR(around.st_mode) or not stat.S_ISREG(state.st_mode):  # a link might lead anywhere
        return {}, ("is no plain file in the project: left alone.",)
    entry = entry_of(settings.home, path, state) or _read(settings.home, path)
    given, notes = entry
    found = {}
    for field, value in given.items():
        mine = getattr(settings, field)
        if isinstance(value, bool):
            found[field] = mine and value
        elif value > mine:
            found[field] = value
    return found, notes


def _read(home: str, path: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    from told.settings.reading import content_of, parsed

    try:
        content, state = content_of(path, LARGEST, getattr(os, "O_NOFOLLOW", 0))
    except MissingError:
        return {}, (f"cannot be read, or is larger than {LARGEST // 1000} kB: left alone.",)
    try:
        entry = _harmless(parsed(content, path))
    except UsageError:
        entry = {}, ("is not valid TOML: left alone.",)
    keep(home, path, stamp_of(state), entry)
    return entry


def _harmless(tables: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the fields that may be taken, and what to say of the rest, without repeating its words."""
    from told.settings.keys import ONLY_OFF, fits, key_at
    from told.settings.reading import flat

    found: dict[str, Any] = {}
    denied: dict[str, None] = {}
    wrong: list[str] = []
    unknown = 0
    for place, value in flat(tables):
        key = key_at(place)
        if key is None:
            unknown += 1
        elif not key.in_project or (key.in_project == ONLY_OFF and value is True):
            denied[key.name if key.in_project == "" else f"{key.name} = true"] = None
        elif not fits(key, value):
            wrong.append(f"has {key.name}, which must be {key.must}: left alone.")
        else:
            found[key.field] = value
    notes = wrong
    if denied:
        names = ", ".join(list(denied)[:_SHOWN])
        notes.append(f"sets {names}, which only you may set: left alone.")
    if unknown:
        notes.append(
            f"has {'a setting' if unknown == 1 else f'{unknown:,} settings'} told does not know: left alone."
        )
    return found, tuple(notes)
