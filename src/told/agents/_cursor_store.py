"""Reads Cursor's state databases, a composer at a time and only those that changed."""

from __future__ import annotations

import os
from _blake2 import blake2b

from told.agents._cursor_composer import (
    composer_events,
    folder_of,
    inline_bubbles,
    legacy_tab,
    updated_at,
)
from told.agents._vscode_places import workspace_folder
from told.agents.text import items, mapping, text
from told.guard.jsonl import parse
from told.model import Cursor, Event, Mark, Problem, Source
from told.store.foreign import Foreign, ForeignError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_TABLE = "cursorDiskKV"
_BETWEEN = "key >= ? AND key < ?"
# The table can hold gigabytes; this leaves all but the changed composers where they are.
_DOCUMENT = "iif(json_valid(CAST(value AS TEXT)), CAST(value AS TEXT), '{}')"
_TIME = f"coalesce(json_extract({_DOCUMENT}, '$.lastUpdatedAt'), json_extract({_DOCUMENT}, '$.createdAt'), 0)"
_CHANGED = f"{_BETWEEN} AND value IS NOT NULL AND {_TIME} > ?"
_COMPOSERS = ("composerData:", "composerData;")
_LEGACY = "workbench.panel.aichat.view.aichat.chatdata"


def read_global(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield every composer that changed since the cursor, the longest unchanged first."""
    try:
        with Foreign(source.path) as database:
            yield from _changed_composers(source, database, cursor.offset)
    except ForeignError as error:
        yield Problem(0, str(error))


def _changed_composers(source: Source, database: Foreign, since: int) -> Iterator[Event | Problem]:
    listed = _listed(database, "composer.composerHeaders")
    changed = {key: at for key, entry in listed.items() if (at := updated_at(entry)) > since}
    for row in database.rows(_TABLE, ("key",), _CHANGED, (*_COMPOSERS, since or -1)):
        key = text(row["key"]).partition(":")[2]
        composer = _value(database, _TABLE, f"composerData:{key}")
        if not composer:
            yield Problem(0, f"composer {key}: not a JSON object")
            continue
        at = max(updated_at(composer), changed.get(key, 0))
        if at > since or since == 0:
            changed[key] = at
    order = sorted(changed, key=lambda key: (changed[key], key))
    folders: dict[str, str] | None = None
    for number, key in enumerate(order):
        try:
            composer = _value(database, _TABLE, f"composerData:{key}")
            bubbles = inline_bubbles(composer) | _bubbles(database, key)
        except ForeignError as error:
            yield Problem(0, f"composer {key}: {error}")
            continue
        cwd = folder_of(composer) or folder_of(listed.get(key, {}))
        if not cwd and bubbles:
            folders = _folders(source) if folders is None else folders
            cwd = folders.get(key, "")
        yield from composer_events(key, composer, bubbles, cwd)
        # Of composers that changed in the same moment, all or none are done.
        if number + 1 == len(order) or changed[order[number + 1]] > changed[key]:
            yield Mark(Cursor(changed[key]))


def read_workspace(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield what versions before the global store kept in a workspace's own database."""
    folder = workspace_folder(os.path.dirname(source.path))
    try:
        with Foreign(source.path) as database:
            tabs = _value(database, "ItemTable", _LEGACY)
            listed = _listed(database, "composer.composerData")
    except ForeignError as error:
        yield Problem(0, str(error))
        return
    composers = [legacy_tab(mapping(tab)) for tab in items(tabs.get("tabs"))]
    composers += [entry for entry in listed.values() if items(entry.get("conversation"))]
    known = blake2b(repr(composers).encode("utf-8", "replace"), digest_size=8).hexdigest()
    if known == cursor.state:
        return
    for composer in composers:
        session = text(composer.get("composerId"))
        if session:
            yield from composer_events(session, composer, inline_bubbles(composer), folder)
    yield Mark(Cursor(1, 0, known))


def has_conversation(path: str, composer: str) -> bool:
    """Say whether a global database holds anything that was said in a composer."""
    prefix = f"bubbleId:{composer}"
    if not composer.isascii():
        return False  # the editor makes ids of another kind
    try:
        with Foreign(path) as database:
            return any(database.rows(_TABLE, ("key",), _BETWEEN, (f"{prefix}:", f"{prefix};")))
    except ForeignError:
        return False


def _bubbles(database: Foreign, composer: str) -> dict[str, dict[str, Any]]:
    prefix = f"bubbleId:{composer}"
    rows = database.rows(_TABLE, ("key", "value"), _BETWEEN, (f"{prefix}:", f"{prefix};"), "rowid")
    return {text(row["key"])[len(prefix) + 1 :]: _json(row["value"]) for row in rows}


def _folders(source: Source) -> dict[str, str]:
    """Return the project folder of each composer that some workspace lists."""
    storage = os.path.join(os.path.dirname(os.path.dirname(source.path)), "workspaceStorage")
    found: dict[str, str] = {}
    try:
        names = sorted(os.listdir(storage))
    except OSError:
        return found
    for name in names:
        folder = workspace_folder(os.path.join(storage, name))
        if not folder:
            continue
        try:
            with Foreign(os.path.join(storage, name, "state.vscdb")) as database:
                for key in _listed(database, "composer.composerData"):
                    found.setdefault(key, folder)
        except ForeignError:
            continue
    return found


def _listed(database: Foreign, key: str) -> dict[str, dict[str, Any]]:
    """Return the composers that a list in the editor's own table names, by their id."""
    entries = (mapping(entry) for entry in items(_value(database, "ItemTable", key).get("allComposers")))
    named = ((text(entry.get("composerId")), entry) for entry in entries)
    return {name: entry for name, entry in named if name and name.isascii()}


def _value(database: Foreign, table: str, key: str) -> dict[str, Any]:
    for row in database.rows(table, ("value",), "key = ?", (key,)):
        return _json(row["value"])
    return {}


def _json(value: Any) -> dict[str, Any]:
    return mapping(parse(value)) if isinstance(value, (str, bytes)) else {}
