"""Keeps files whose very path tells a secret out of the store: they are not read, and health says so."""

from __future__ import annotations

from told.guard.names import is_plain, plain_path, spelled, tells
from told.model import Problem, Source
from told.record import replaced
from told.store.key import own_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from told.settings import Settings
    from told.store.sources import Sources

_WHY = "there is a secret in its path, so it is not read; give it another name"


class Telling:
    """Tells sources with a secret in their path from others."""

    def __init__(self, sources: Sources, settings: Settings, redact: Callable[[str], str]) -> None:
        self._sources = sources
        self._settings = settings
        self._redact = redact
        self._noted: set[str] = set()

    def folders(self, found: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
        """Return the folders that may be stored as they are."""
        given = list(found)
        if not self._any([path for path, _ in given]):
            return given
        return [(path, changed) for path, changed in given if self._hidden(path) == path]

    def apart(self, found: Iterable[Source], now: int) -> list[Source]:
        """Return the sources that may be stored as they are; note the others as files with a problem."""
        given = list(found)
        if not self._any([source.path for source in given]):
            return given
        fine = []
        for source in given:
            path = self._hidden(source.path)
            if path == source.path:
                fine.append(source)
            elif path not in self._noted:
                self._noted.add(path)
                self._note(Source(source.agent, path, source.layout, self._hidden(source.root)), now)
        return fine

    def _any(self, paths: list[str]) -> bool:
        """Tell whether there may be a secret in one of many paths; it is one look for all of them."""
        odd = "\n".join(path for path in paths if not is_plain(path))
        return bool(odd) and (
            self._redact(odd) != odd or any(spelled(one, self._redact) != one for one in odd.split("\n"))
        )

    def _hidden(self, path: str) -> str:
        """Return a path without secrets. A mail address in it names a drive, and stays."""
        path = spelled(path, self._redact)
        if not tells(path, self._redact):
            return path
        from told.guard.redact import Redactor

        wish = replaced(self._settings.redaction, emails=False)
        return plain_path(path, Redactor(own_key(self._settings.home), wish).redact)

    def _note(self, source: Source, now: int) -> None:
        self._sources.add([source])
        self._sources.mark_gone([source.path])
        known = self._sources.get(source.path)
        if known is not None:
            self._sources.clear_problems(known.id)
            self._sources.put_problems(known.id, [Problem(0, _WHY)], now)
