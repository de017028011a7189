"""Looks into a project without trusting it: small text files inside its own folder, and nothing is run."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

from told.agents.base import inside
from told.guard.files import NotReadableError, read_document
from told.guard.text import clean
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.memory._onboard_git import Git

MOST_BYTES = 1 << 20
_MOST_FILES = 50_000
_DEEPEST = 8
_NEVER = frozenset(
    (".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox", ".mypy_cache",
     ".ruff_cache", ".pytest_cache", ".gradle", ".idea", ".next", "dist", "target")
)  # fmt: skip


@record
class Document:
    """A text file of a project."""

    path: str  # below the project's folder, with slashes
    text: str
    lines: tuple[str, ...]

    def line_with(self, part: str, after: int = 0) -> int:
        """Return the number of the first line with some text, behind a line; that line if there is none."""
        for number in range(after, len(self.lines)):
            if part in self.lines[number]:
                return number + 1
        return after

    def quote(self, line: int) -> str:
        """Return a line by its number, from 1."""
        return self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""


class Tree:
    """The files of a project, as git lists them; without git, as they are found."""

    def __init__(self, root: str, git: Git) -> None:
        self.root = os.path.realpath(root)
        self.git = git
        self._files: tuple[str, ...] | None = None
        self._read: dict[str, Document | None] = {}

    @property
    def files(self) -> tuple[str, ...]:
        """Every file, by its path below the project's folder, sorted."""
        if self._files is None:
            listed = self.git.files()
            self._files = tuple(sorted(self._walked() if listed is None else listed)[:_MOST_FILES])
        return self._files

    def document(self, path: str) -> Document | None:
        """Return a text file; None if it is not there, leads outside, or is no small text."""
        if path not in self._read:
            self._read[path] = self._document(path)
        return self._read[path]

    def first(self, *names: str) -> Document | None:
        """Return the first of some files that is there."""
        return next((found for name in names if (found := self.document(name)) is not None), None)

    def like(self, *patterns: str) -> list[str]:
        """Return the files whose whole path fits a pattern, upper and lower case alike."""
        return [
            path for path in self.files
            if any(
                fnmatchcase(path.lower(), pattern) and path.count("/") == pattern.count("/")
                for pattern in patterns
            )
        ]  # fmt: skip

    def top(self) -> list[str]:
        """Return the names in the project's own folder, whether git knows them or not."""
        try:
            return sorted(os.listdir(self.root))
        except OSError:
            return []

    def has(self, path: str) -> bool:
        """Tell whether there is a file or folder at a path below the project's folder."""
        whole = os.path.realpath(os.path.join(self.root, path))
        return inside(whole, self.root) and os.path.lexists(whole)

    def _document(self, path: str) -> Document | None:
        whole = os.path.realpath(os.path.join(self.root, path))
        if not inside(whole, self.root) or whole == self.root:
            return None
        try:
            raw = read_document(whole, MOST_BYTES)
        except (NotReadableError, OSError):
            return None
        if b"\0" in raw:
            return None
        text = clean(raw.decode("utf-8-sig", "replace"))
        return Document(path, text, tuple(text.split("\n")))

    def _walked(self) -> Iterator[str]:
        count = 0
        for folder, folders, names in os.walk(self.root):
            below = os.path.relpath(folder, self.root).replace(os.sep, "/")
            head = "" if below == "." else f"{below}/"
            deep = head.count("/") >= _DEEPEST
            folders[:] = [] if deep else sorted(name for name in folders if name not in _NEVER)
            for name in sorted(names):
                count += 1
                if count > _MOST_FILES:
                    return
                yield head + name


def behind_front_matter(lines: tuple[str, ...]) -> int:
    """Return the number of the first line of a text behind the settings that some begin with."""
    if lines and lines[0].strip() == "---":
        for number in range(1, min(len(lines), 60)):
            if lines[number].strip() == "---":
                return number + 1
    return 0
