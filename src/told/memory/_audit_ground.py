"""A project as an audit stands on it: what is there, what was there once, and what its files define."""

from __future__ import annotations

import os
import shutil

from told.memory._onboard_tasks import MAKEFILES, scripts_of, targets_of, tasks_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from told.memory._onboard_files import Tree

_OWN_PROGRAMS = (
    "node_modules/.bin",
    ".venv/bin",
    "venv/bin",
    ".venv/Scripts",
    "vendor/bin",
    "bin",
    "scripts",
)
_SECRET_FILES = (".env", ".env.local", ".env.development", ".env.production", ".envrc")
_MOST_MANIFESTS = 60
_MOST_HOSTS = 8


class Ground:
    """The present and the past of one project's files; nothing is looked up before it is asked for."""

    def __init__(self, tree: Tree, touched: Iterable[str], search_path: str) -> None:
        """Take the files, the paths that sessions touched, and where programs are looked for."""
        self.tree = tree
        self._touched = {self.inside(path) for path in touched} - {""}
        self._search_path = search_path
        self._deleted: dict[str, str] | None = None
        self._commands: dict[str, set[str]] | None = None
        self._hosts: dict[str, bool] = {}

    def inside(self, path: str) -> str:
        """Return a path as seen from the project's folder; empty if it is not in it."""
        if not os.path.isabs(path):
            return path.removeprefix("./").rstrip("/")
        root = self.tree.root.rstrip(os.sep) + os.sep
        return path[len(root) :].rstrip("/") if path.startswith(root) else ""

    def has(self, path: str) -> bool:
        """Tell whether a path is there, or ends the path of something that is."""
        if self.tree.has(path):
            return True
        end, middle = f"/{path}", f"/{path}/"
        return any(f"/{one}".endswith(end) or middle in f"/{one}" for one in self.tree.files)

    def had(self, path: str) -> str:
        """Return how it is known that a path was there: the day it went, or that it was worked on."""
        if self._deleted is None:
            self._deleted = self.tree.git.deleted()
        end, middle = f"/{path}", f"/{path}/"
        days = [
            day for one, day in self._deleted.items() if f"/{one}".endswith(end) or middle in f"/{one}"
        ]  # fmt: skip
        if days:
            return f"was deleted on {max(days)}"
        if any(f"/{one}".endswith(end) or middle in f"/{one}" for one in self._touched):
            return "was worked on in a session, and is gone"
        return ""

    def moved(self, path: str) -> str:
        """Return the one place where a file of that name is now."""
        name = path.rpartition("/")[2]
        found = [one for one in self.tree.files if one.rpartition("/")[2] == name]
        return found[0] if len(found) == 1 and "." in name else ""

    def defines(self, runner: str, name: str) -> bool | None:
        """Tell whether a script or target is defined; None if the project defines none of that sort."""
        if self._commands is None:
            self._commands = self._defined()
        known = self._commands.get(runner)
        return None if not known else name in known

    def runs(self, program: str) -> bool:
        """Tell whether a program can be found, on this machine or in the project."""
        if shutil.which(program, path=self._search_path):
            return True
        return any(self.tree.has(f"{folder}/{program}") for folder in _OWN_PROGRAMS)

    def lost_host(self, host: str) -> bool:
        """Tell whether a host stood in the project's files once and stands in none now."""
        if host not in self._hosts and len(self._hosts) < _MOST_HOSTS:
            secret = any(
                host in document.text.lower()
                for name in _SECRET_FILES
                if (document := self.tree.document(name)) is not None
            )
            git = self.tree.git
            self._hosts[host] = (
                not secret and git.stands_in_files(host) is False and git.stood_in_files(host) is True
            )
        return self._hosts.get(host, False)

    def _defined(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for task in tasks_of(self.tree):
            runner = "run" if task.runner.endswith(" run") else task.runner
            found.setdefault(runner, set()).add(task.name)
        manifests = [one for one in self.tree.files if one.endswith("/package.json")][:_MOST_MANIFESTS]
        for path in manifests:
            names = {task.name for task in scripts_of(self.tree.document(path), "scripts", "")}
            found.setdefault("run", set()).update(names)
        makefiles = [one for one in self.tree.files if one.rpartition("/")[2] in MAKEFILES]
        makefiles += [one for one in self.tree.files if one.endswith(".mk")]
        for path in makefiles[:_MOST_MANIFESTS]:
            document = self.tree.document(path)
            if document is not None and "%:" in document.text:
                found.pop("make", None)  # a pattern may make anything
                break
            found.setdefault("make", set()).update(task.name for task in targets_of(document))
        return found
