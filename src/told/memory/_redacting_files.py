"""What told writes beside its databases, journals and archive: hand-over notes, logs, caches."""

from __future__ import annotations

import os

from told.guard.second_look import excerpt
from told.ingest.checkpoint_files import new_path, write_again
from told.ingest.checkpoint_text import id_in_name, parsed
from told.ingest.forgetting import remove_leftovers
from told.ingest.redacting import Found
from told.journal.files import UNFINISHED
from told.journal.registry import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.guard.second_look import SecondLook

_LOGS = ("hook.log", "hook.log.old", "hook.trouble")
_CACHES = ("places", "hook.current", "hook.handed")
_ASIDE = ".db.damaged"
_LARGEST = 64 * 1024 * 1024  # of a log; a larger one is none of told's


class LooseFiles:
    """Looks through them, and takes out or removes what holds a secret."""

    def __init__(self, home: str, look: SecondLook) -> None:
        """Take told's folder, and what finds secrets."""
        self._home = home
        self._look = look

    def found(self) -> Iterator[Found]:
        """Yield what would change or go."""
        for kind, paths in (("note", self._notes()), ("log", self._logs())):
            for path in paths:
                old = _read(path)
                new = self._look.text(old)
                if new != old:
                    yield Found(kind, os.path.relpath(path, self._home), excerpt(old, new))
        for _ in self._spool():
            yield Found("name", "", "")
        for name in sorted(os.listdir(self._home)):
            if _ASIDE in name:
                yield Found("aside", name, "")

    def redact(self) -> None:
        """Write notes anew, and remove all that is only kept for a while: it may hold anything."""
        for path in self._notes():
            old = _read(path)
            new = self._look.text(old)
            if path.endswith(UNFINISHED):
                os.remove(path)
            elif new != old:
                self._write_note(path, new)
        caches = (os.path.join(self._home, name) for name in _CACHES)
        for path in (*self._logs(), *caches, *self._spool()):
            if os.path.isfile(path):
                os.remove(path)
        remove_leftovers(self._home)

    def _notes(self) -> Iterator[str]:
        """Yield the hand-over notes of told's home and of projects."""
        for folder in (self._home, *(place.folder for place in places(self._home))):
            for parent, _, names in sorted(os.walk(os.path.join(folder, "checkpoints"))):
                yield from (os.path.join(parent, name) for name in sorted(names))

    def _write_note(self, path: str, text: str) -> None:
        """Write a note anew; the name that was made of its title goes, too."""
        write_again(path, text)
        one = parsed(text, path)
        if id_in_name(path) and one.at:
            os.replace(path, new_path(os.path.dirname(path), one))

    def _logs(self) -> list[str]:
        return [os.path.join(self._home, name) for name in _LOGS]

    def _spool(self) -> Iterator[str]:
        """Yield the notes on what was shown to sessions whose very ids have to go."""
        folder = os.path.join(self._home, "shown")
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            session = _read(os.path.join(folder, name)).partition("\n")[0]
            if self._look.id(session) != session:
                yield os.path.join(folder, name)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            return file.read(_LARGEST)
    except OSError:
        return ""
