"""Skip files whose path contains a secret."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from told.model import Problem, Source
from told.redact.engine import Redactor
from told.redact.names import has_secret, is_plain_name, redact_dashed_path, redact_path
from told.settings import Settings
from told.store.database import load_key
from told.store.sessions.sources import Sources

_PROBLEM = "there is a secret in its path, so it is not read; give it another name"


class SecretPaths:
    """Skip files whose path contains a secret."""

    def __init__(self, sources: Sources, settings: Settings, redact: Callable[[str], str]) -> None:
        self._sources = sources
        self._settings = settings
        self._redact = redact
        self._noted: set[str] = set()

    def filter_folders(self, found: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
        """Return the folders without a secret in their path."""
        given = list(found)
        if not self._has_any([path for path, _ in given]):
            return given
        return [(path, changed) for path, changed in given if self._redact_path(path) == path]

    def filter_sources(self, found: Iterable[Source], now: int) -> list[Source]:
        """Return the sources without a secret in their path; report the others as problems."""
        given = list(found)
        if not self._has_any([source.path for source in given]):
            return given
        fine = []
        for source in given:
            path = self._redact_path(source.path)
            if path == source.path:
                fine.append(source)
            elif path not in self._noted:
                self._noted.add(path)
                root = self._redact_path(source.root)
                self._put_problem(Source(source.agent, path, source.layout, root), now)
        return fine

    def _has_any(self, paths: list[str]) -> bool:
        """Check many paths for secrets at once."""
        odd = "\n".join(path for path in paths if not is_plain_name(path))
        return bool(odd) and (
            self._redact(odd) != odd
            or any(redact_dashed_path(one, self._redact) != one for one in odd.split("\n"))
        )

    def _redact_path(self, path: str) -> str:
        """Redact a path; keep mail addresses, which name drives."""
        path = redact_dashed_path(path, self._redact)
        if not has_secret(path, self._redact):
            return path
        wish = self._settings.redaction._replace(emails=False)
        return redact_path(path, Redactor(load_key(self._settings.home), wish).redact)

    def _put_problem(self, source: Source, now: int) -> None:
        self._sources.add([source])
        self._sources.mark_gone([source.path])
        known = self._sources.get(source.path)
        if known is not None:
            self._sources.clear_problems(known.id)
            self._sources.put_problems(known.id, [Problem(0, _PROBLEM)], now)
