"""`told health --deep`: looks at every byte that told keeps, and says what to do about damage."""

from __future__ import annotations

import os

from told.cli.output import count, to_json
from told.ingest.archive import damaged_files
from told.journal.check import memory_damage
from told.journal.files import journal_folder
from told.journal.read import verify
from told.store.condition import damaged

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.cli.context import Context

_REBUILD = "Run `told rebuild`: it makes both databases anew from the journal, the archive and agents' files."
_LOST = "What a damaged line of the journal said is lost; all other lines stay and are used."
_ARCHIVE = "A damaged file of the archive is written anew as long as told's database has the session."
_MOST = 5


def look_at_everything(context: Context) -> dict[str, Any]:
    """Return what is damaged, by what it is in."""
    home = context.settings.home
    found: dict[str, Any] = {
        "sessions": damaged(context.connection),
        "memories": memory_damage(home),
        "journal": [
            {"file": _short(one.file, home), "line": one.line, "what": one.what}
            for one in verify(journal_folder(home))
        ],
        "archive": [os.path.relpath(path, home) for path in damaged_files(home)],
    }
    return {"sound": not any(found.values()), **found}


def print_damage(context: Context, found: dict[str, Any], *, as_json: bool) -> None:
    """Say what is damaged, and the one thing to do."""
    advice = [_REBUILD] if found["sessions"] or found["memories"] else []
    advice += [_LOST] if found["journal"] else []
    advice += [_ARCHIVE] if found["archive"] else []
    if as_json:
        context.print(to_json({"zone": "RED", "score": 0, "do": advice[0], "deep": found}))
        return
    context.print(f"RED 0 of 10. {advice[0]}")
    for name, file in (("sessions", "sessions.db"), ("memories", "memory.db")):
        if found[name]:
            context.print(f"  {file} is damaged: {context.name(_some(found[name]))}")
    for one in found["journal"][:_MOST]:
        context.print(f"  {one['file']}, line {one['line']} is damaged: {one['what']}")
    if len(found["journal"]) > _MOST:
        context.print(f"  and {count(len(found['journal']) - _MOST, 'more line')}")
    if found["archive"]:
        context.print(f"  damaged in the archive: {_some(found['archive'])}")
    for sentence in advice[1:]:
        context.print(sentence)


def _short(path: str, home: str) -> str:
    """Return a path from told's home on; of a project's own journal, the whole."""
    return os.path.relpath(path, home) if path.startswith(home.rstrip(os.sep) + os.sep) else path


def _some(found: list[str]) -> str:
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return " ".join(found[0].split())[:300] + more
