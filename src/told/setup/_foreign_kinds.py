"""One set of functions for every kind of change: which module knows a file is decided here."""

from __future__ import annotations

import json
import os

from told.agents.wiring import Block, Entry, OwnFile
from told.errors import UsageError
from told.setup import _foreign_block as blocks
from told.setup._foreign_edit import EDITED, FOREIGN, MISSING, THERE, Edit
from told.setup.ledger import BLOCK, ENTRY, OWN_FILE, Installed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    Change = Entry | Block | OwnFile

OWN_MARK = "told:own"  # a line with it makes a file recognisably told's, also after the user changed it
UNEDITED = blocks.UNEDITED


def state(text: str, change: Change) -> str:
    """Tell how a change stands in a text.

    Returns:
        `there`, `missing`, `unedited` (told's, with an older content), `edited` (told's, with another
        content), or `foreign` (somebody else's value at its place).

    Raises:
        UsageError: the text cannot be read.
    """
    if isinstance(change, Entry):
        return str(_format(change.path).state(text, change))
    if isinstance(change, Block):
        return blocks.state(text, change)
    if not text:
        return MISSING
    if text == change.text:
        return THERE
    return EDITED if OWN_MARK in text and OWN_MARK in change.text else FOREIGN


def insert(text: str, change: Change) -> Edit:
    """Return a text with a change that is missing in it."""
    if isinstance(change, Entry):
        edit: Edit = _format(change.path).insert(text, change)
        return edit
    if isinstance(change, Block):
        return blocks.insert(text, change)
    return Edit(change.text, ((0, change.text),))


def replace(text: str, change: Change) -> str:
    """Return a text with the new content of a change in the place of the old."""
    if isinstance(change, Entry):
        return str(_format(change.path).replace(text, change))
    if isinstance(change, Block):
        return blocks.replace(text, change)
    return change.text


def strip(text: str, change: Change, made: tuple[tuple[str, ...], ...], *, sure: bool = False) -> str:
    """Return a text without a change, whatever stands around it by now."""
    if isinstance(change, Entry):
        return str(_format(change.path).strip(text, change, made, sure=sure))
    if isinstance(change, Block):
        return blocks.strip(text)
    return "" if sure or state(text, change) == THERE else text


def same_meaning(one: str, other: str, change: Change) -> bool:
    """Tell whether two texts say the same to the program they are for."""
    if not isinstance(change, Entry):
        return one.split() == other.split()
    parse = _format(change.path).parse
    try:
        return bool(parse(one, change.path) == parse(other, change.path))
    except UsageError:
        return False


def is_empty(text: str, change: Change) -> bool:
    """Tell whether nothing is left in a text."""
    if isinstance(change, Entry):
        return bool(_format(change.path).is_empty(text, change.path))
    return not text.strip()


def is_recognisable(change: Change) -> bool:
    """Tell whether a change that is there can only be told's; `hooks = true` may well be the user's."""
    if not isinstance(change, Entry) or change.mark:
        return True
    return "told" in json.dumps([change.keys, change.value])


def as_installed(change: Change, owner: str) -> Installed:
    """Return a change as the ledger keeps it."""
    if isinstance(change, Entry):
        value, keys = change.value, tuple(change.keys)
        return Installed((owner,), ENTRY, change.path, value, keys, change.item, change.mark)
    if isinstance(change, Block):
        return Installed((owner,), BLOCK, change.path, change.text)
    return Installed((owner,), OWN_FILE, change.path, change.text, executable=change.executable)


def as_change(installed: Installed) -> Change:
    """Return a change as the ledger kept it."""
    if installed.kind == ENTRY:
        return Entry(installed.path, installed.keys, installed.value, installed.item, installed.mark)
    if installed.kind == BLOCK:
        return Block(installed.path, installed.value)
    return OwnFile(installed.path, installed.value, installed.executable)


def _format(path: str) -> ModuleType:
    ending = os.path.splitext(path)[1].lower()
    if ending == ".toml":
        from told.setup import _foreign_toml

        return _foreign_toml
    if ending in (".yaml", ".yml"):
        raise UsageError(f"{path} is YAML, which told does not change. Add the entry by hand.")
    from told.setup import _foreign_json

    return _foreign_json
