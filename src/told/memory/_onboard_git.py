"""Asks git about a project: with a time limit, without the network, and running nothing of the project's."""

from __future__ import annotations

import os
import subprocess
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# Settings of a repository that would start a program of its own choice.
_SAFE = (
    "core.fsmonitor=false", f"core.hooksPath={os.devnull}", "log.showSignature=false", "core.pager=cat",
    "diff.external=", "core.attributesFile=", "grep.fallbackToNoIndex=false",
)  # fmt: skip
_WORDS = tuple(word for setting in _SAFE for word in ("-c", setting))
_SECONDS = 5.0
_ALTOGETHER = 20.0  # seconds that all questions of a command may take


class Git:
    """The history of one work tree; every answer is None where it can't be told."""

    def __init__(self, root: str, environ: Mapping[str, str]) -> None:
        self.root = root
        self.here = os.path.lexists(os.path.join(root, ".git"))
        own = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
        self._environ = own | {
            "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "", "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C",
        }  # fmt: skip
        self._left = _ALTOGETHER

    def ask(self, *words: str, seconds: float = _SECONDS) -> tuple[int, str] | None:
        """Return the exit code and what git says."""
        limit = min(seconds, self._left)
        if not self.here or limit <= 0:
            return None
        began = time.monotonic()
        try:
            done = subprocess.run(  # noqa: S603 - git itself, no shell; what varies stands behind `--` or `-e`
                ["git", "-C", self.root, "--no-pager", "--literal-pathspecs", *_WORDS, *words],  # noqa: S607
                capture_output=True, timeout=limit, check=False, stdin=subprocess.DEVNULL, env=self._environ,
            )  # fmt: skip
        except (OSError, ValueError, subprocess.SubprocessError):
            return None
        finally:
            self._left -= time.monotonic() - began
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def said(self, *words: str, seconds: float = _SECONDS) -> str | None:
        """Return what git says if it has an answer."""
        answer = self.ask(*words, seconds=seconds)
        return answer[1] if answer and answer[0] == 0 else None

    def files(self) -> list[str] | None:
        """Return the files of the work tree that are not ignored."""
        listed = self.said("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        return None if listed is None else [path for path in dict.fromkeys(listed.split("\0")) if path]

    def commits(self, most: int) -> list[tuple[str, list[str]]]:
        """Return the subjects of the last commits with the files that each changed, the newest first."""
        told = self.said(
            "log", f"-{most}", "--no-merges", "--no-ext-diff", "--no-textconv", "--no-renames", "--name-only",
            "-z", "--format=%x01%s%x02",
        )  # fmt: skip
        found = []
        for part in (told or "").split("\x01")[1:]:
            subject, _, rest = part.partition("\x02")
            found.append((subject, [path.strip("\n") for path in rest.split("\0") if path.strip("\n")]))
        return found

    def default_branch(self) -> str:
        """Return the branch that a clone gets; without a remote, the only usual name that is there."""
        head = self.said("symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
        if head and head.strip():
            return head.strip().partition("/")[2]
        listed = self.branches()
        usual = [name for name in ("main", "master", "trunk", "develop") if name in listed]
        return usual[0] if usual else ""

    def branches(self) -> list[str]:
        """Return the names of all branches, here and at `origin`."""
        listed = self.said(
            "for-each-ref", "--count=2000", "--format=%(refname)", "refs/heads/", "refs/remotes/origin/"
        )
        names = (
            line.removeprefix("refs/heads/").removeprefix("refs/remotes/origin/")
            for line in (listed or "").split("\n")
        )
        return sorted({name for name in names if name and name != "HEAD"})

    def deleted(self, most: int = 5000) -> dict[str, str]:
        """Return each path that a commit took away, with the day of the latest that did."""
        told = self.said(
            "log", f"-{most}", "--no-ext-diff", "--no-textconv", "--no-renames", "--diff-filter=D",
            "--name-only", "-z", "--date=short", "--format=%x01%cd%x02",
        )  # fmt: skip
        found: dict[str, str] = {}
        for part in (told or "").split("\x01")[1:]:
            day, _, rest = part.partition("\x02")
            for path in rest.split("\0"):
                if path.strip("\n"):
                    found.setdefault(path.strip("\n"), day)
        return found

    def stands_in_files(self, words: str) -> bool | None:
        """Tell whether a text stands in any file that is not ignored."""
        answer = self.ask("grep", "-q", "-I", "-F", "-i", "--untracked", "-e", words, seconds=2)
        return None if answer is None or answer[0] not in (0, 1) else answer[0] == 0

    def stood_in_files(self, words: str) -> bool | None:
        """Tell whether a commit took a text out of a file or put it in."""
        told = self.said(
            "log", "-n", "1", "--no-ext-diff", "--no-textconv", "--format=%h", f"-S{words}",
            seconds=3,
        )  # fmt: skip
        return None if told is None else bool(told.strip())
