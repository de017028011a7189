"""Read a project's files and git history without trusting or running them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from told.agents.base import is_inside
from told.files import NotReadableError, read_document
from told.pattern import lazy_pattern
from told.store.memories.records import FACT
from told.text import clean, shorten

_MAX_BYTES = 1 << 20
_MAX_FILES = 50_000
_MAX_DEPTH = 8
_SKIPPED_FOLDERS = frozenset(
    (".git", ".hg", ".svn", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox", ".mypy_cache",
     ".ruff_cache", ".pytest_cache", ".gradle", ".idea", ".next", "dist", "target")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Document:
    """A text file of a project."""

    path: str  # below the project's folder, with slashes
    text: str
    lines: tuple[str, ...]
    place: str = ""  # its absolute path, if it is outside the project

    def find_line(self, part: str, after: int = 0) -> int:
        """Return the first line number with a text after a line; else that line."""
        for number in range(after, len(self.lines)):
            if part in self.lines[number]:
                return number + 1
        return after

    def quote(self, line: int) -> str:
        """Return a line by its number, from 1."""
        return self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""


class ProjectFiles:
    """The files of a project, as listed by git or found in its folder."""

    def __init__(self, root: str, git: Git) -> None:
        self.root = os.path.realpath(root)
        self.git = git
        self._files: tuple[str, ...] | None = None
        self._read: dict[str, Document | None] = {}

    @property
    def files(self) -> tuple[str, ...]:
        """Return the paths of all files relative to the project, sorted."""
        if self._files is None:
            listed = self.git.files()
            self._files = tuple(sorted(self._walk() if listed is None else listed)[:_MAX_FILES])
        return self._files

    def document(self, path: str) -> Document | None:
        """Return a text file; None if missing, outside, binary or too large."""
        if path not in self._read:
            self._read[path] = self._document(path)
        return self._read[path]

    def first(self, *names: str) -> Document | None:
        """Return the first of some files that exists."""
        return next((found for name in names if (found := self.document(name)) is not None), None)

    def match(self, *patterns: str) -> list[str]:
        """Return the files whose path matches a pattern, ignoring case."""
        return [
            path for path in self.files
            if any(
                fnmatchcase(path.lower(), pattern) and path.count("/") == pattern.count("/")
                for pattern in patterns
            )
        ]  # fmt: skip

    def list_root(self) -> list[str]:
        """Return the names in the project's root folder, ignored ones too."""
        try:
            return sorted(os.listdir(self.root))
        except OSError:
            return []

    def exists(self, path: str) -> bool:
        """Return whether a file or folder exists at a path in the project."""
        full = os.path.realpath(os.path.join(self.root, path))
        return is_inside(full, self.root) and os.path.lexists(full)

    def _document(self, path: str) -> Document | None:
        full = os.path.realpath(os.path.join(self.root, path))
        if not is_inside(full, self.root) or full == self.root:
            return None
        return read_text_file(full, path)

    def _walk(self) -> Iterator[str]:
        count = 0
        for folder, folders, names in os.walk(self.root):
            below = os.path.relpath(folder, self.root).replace(os.sep, "/")
            head = "" if below == "." else f"{below}/"
            deep = head.count("/") >= _MAX_DEPTH
            folders[:] = [] if deep else sorted(name for name in folders if name not in _SKIPPED_FOLDERS)
            for name in sorted(names):
                count += 1
                if count > _MAX_FILES:
                    return
                yield head + name


def read_text_file(full: str, path: str, place: str = "") -> Document | None:
    """Return a text file under a name; None if it is missing, binary or too large."""
    try:
        raw = read_document(full, _MAX_BYTES)
    except (NotReadableError, OSError):
        return None
    if b"\0" in raw:
        return None
    text = clean(raw.decode("utf-8-sig", "replace"))
    return Document(path, text, tuple(text.split("\n")), place)


@cache
def load_names() -> dict[str, Any]:
    """Load `project_files.toml`."""
    return tomllib.loads(Path(__file__).with_name("project_files.toml").read_text(encoding="utf-8"))


def load_pattern(name: str) -> re.Pattern[str]:
    """Load a regular expression of `project_files.toml`."""
    return compile_pattern(load_names()["patterns"][name])


def compile_pattern(text: str) -> re.Pattern[str]:
    """Compile a regular expression; line breaks in it mean nothing."""
    return lazy_pattern("".join(map(str.strip, text.splitlines())), re.IGNORECASE)


def skip_front_matter(lines: tuple[str, ...]) -> int:
    """Return the index of the first line after front matter."""
    if lines and lines[0].strip() == "---":
        for number in range(1, min(len(lines), 60)):
            if lines[number].strip() == "---":
                return number + 1
    return 0


def parse_manifest(document: Document | None) -> dict[str, Any]:
    """Parse a JSON or TOML file; empty if there is none, or it has no table."""
    if document is None:
        return {}
    parse = tomllib.loads if document.path.endswith(".toml") else json.loads
    try:
        value = parse(document.text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def get_nested(value: Any, *keys: str) -> Any:
    """Return the value below nested keys; None if there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


STACK, COMMANDS, DECISIONS, INSTRUCTIONS = GROUPS = ("stack", "commands", "decisions", "instructions")
MAX_TEXT, _MAX_COMMAND = 500, 160  # characters


@dataclass(frozen=True, slots=True)
class ProjectFact:
    """A statement about a project, with its source."""

    group: str
    topic: str  # stays the same when the file changes its statement
    text: str
    path: str
    line: int = 0  # from 1; 0 for the file itself
    quote: str = ""
    kind: str = FACT


def fact_from_line(
    group: str, topic: str, text: str, document: Document, line: int, *, kind: str = FACT
) -> ProjectFact:
    """Create a fact with a line of a file as evidence."""
    quote = shorten(document.quote(line), MAX_TEXT)
    return ProjectFact(group, topic, shorten(text, MAX_TEXT), document.path, line, quote, kind)


def quote_command(command: str) -> str:
    """Return a command in backticks, shortened."""
    return f"`{shorten(command, _MAX_COMMAND).replace('`', chr(39))}`"


# Override settings by which a repository could start programs.
_SAFE_SETTINGS = (
    "core.fsmonitor=false", f"core.hooksPath={os.devnull}", "log.showSignature=false", "core.pager=cat",
    "diff.external=", "core.attributesFile=", "grep.fallbackToNoIndex=false",
)  # fmt: skip
_SAFE_ARGUMENTS = tuple(word for setting in _SAFE_SETTINGS for word in ("-c", setting))
_MAX_DELETIONS = 5000  # commits
_TIMEOUT = 5.0
_TOTAL_TIMEOUT = 20.0  # seconds for all calls


class Git:
    """Run read-only git commands in a work tree; None means no answer."""

    def __init__(self, root: str, environ: Mapping[str, str]) -> None:
        self.root = root
        self.is_repository = os.path.lexists(os.path.join(root, ".git"))
        own = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
        self._environ = own | {
            "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "", "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C",
        }  # fmt: skip
        self._seconds_left = _TOTAL_TIMEOUT

    def run(self, *words: str, seconds: float = _TIMEOUT) -> tuple[int, str] | None:
        """Run git; return its exit code and output."""
        limit = min(seconds, self._seconds_left)
        if not self.is_repository or limit <= 0:
            return None
        began = time.monotonic()
        try:
            done = subprocess.run(  # noqa: S603 - git itself, no shell; input follows `--` or `-e`
                ["git", "-C", self.root, "--no-pager", "--literal-pathspecs", *_SAFE_ARGUMENTS, *words],  # noqa: S607
                capture_output=True, timeout=limit, check=False, stdin=subprocess.DEVNULL, env=self._environ,
            )  # fmt: skip
        except (OSError, ValueError, subprocess.SubprocessError):
            return None
        finally:
            self._seconds_left -= time.monotonic() - began
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def read(self, *words: str, seconds: float = _TIMEOUT) -> str | None:
        """Run git; return its output if it succeeds."""
        answer = self.run(*words, seconds=seconds)
        return answer[1] if answer and answer[0] == 0 else None

    def files(self) -> list[str] | None:
        """Return the files that are not ignored."""
        listed = self.read("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        return None if listed is None else [path for path in dict.fromkeys(listed.split("\0")) if path]

    def changed_at(self, path: str) -> int:
        """Return when a file was committed last, in ms; 0 if it is changed since then, or unknown."""
        if self.read("status", "--porcelain", "--ignored", "--", path) != "":
            return 0
        seconds = (self.read("log", "-1", "--format=%ct", "--", path) or "").strip()
        return int(seconds) * 1000 if seconds.isdecimal() else 0

    def deleted_paths(self) -> dict[str, str]:
        """Return deleted paths with the day of their last deletion."""
        output = self.read(
            "log", f"-{_MAX_DELETIONS}", "--no-ext-diff", "--no-textconv", "--no-renames", "--name-only",
            "-z", "--diff-filter=D", "--date=short", "--format=%x01%cd%x02",
        )  # fmt: skip
        found: dict[str, str] = {}
        for part in (output or "").split("\x01")[1:]:
            day, _, paths = part.partition("\x02")
            for path in filter(None, (one.strip("\n") for one in paths.split("\0"))):
                found.setdefault(path, day)
        return found

    def is_in_files(self, words: str) -> bool | None:
        """Return whether a file that is not ignored contains a text."""
        answer = self.run("grep", "-q", "-I", "-F", "-i", "--untracked", "-e", words, seconds=2)
        return None if answer is None or answer[0] not in (0, 1) else answer[0] == 0

    def is_in_history(self, words: str) -> bool | None:
        """Return whether a commit added or removed a text."""
        output = self.read(
            "log", "-n", "1", "--no-ext-diff", "--no-textconv", "--format=%h", f"-S{words}",
            seconds=3,
        )  # fmt: skip
        return None if output is None else bool(output.strip())
