"""One user's machine in a scratch folder: a home, told's folder and a project, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PROJECT = "acme-api"
_SECONDS = 150
_GIT = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}


@dataclass(frozen=True)
class Said:
    """What a program said and how it ended."""

    code: int
    out: str
    err: str


class Machine:
    """Folders of its own, and programs that see nothing else."""

    def __init__(self, root: str) -> None:
        """Make the folders; what was there from an earlier run goes."""
        shutil.rmtree(root, ignore_errors=True)
        self.root = os.path.realpath(root)
        self.home = os.path.join(self.root, "home")
        self.told_home = os.path.join(self.root, "told")
        self.project = os.path.join(self.home, "code", PROJECT)
        os.makedirs(self.project)
        self.variables: dict[str, str] = {"PATH": os.environ.get("PATH", os.defpath)}
        self._repository()

    def _repository(self) -> None:
        self.write(os.path.join(self.project, "README.md"), "# acme-api\n\nThe API of the shop.\n")
        self.write(os.path.join(self.project, "package.json"), '{"name": "acme-api", "private": true}\n')
        identity = ("-c", "user.name=Dev", "-c", "user.email=dev@example.com")
        for words in (
            ("init", "-q", "-b", "main"),
            ("remote", "add", "origin", "https://git.example.com/acme/acme-api.git"),
            ("add", "."),
            (*identity, "commit", "-q", "-m", "The first files"),
        ):
            done = self.run(("git", *words), _GIT)
            assert done.code == 0, done.err

    def write(self, path: str, text: str) -> str:
        """Write a file, with its folders; a path that is not absolute is below the home folder."""
        path = os.path.join(self.home, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def write_json(self, path: str, value: Any) -> str:
        """Write a JSON file as an agent's user would have it."""
        return self.write(path, json.dumps(value, indent=2) + "\n")

    def environ(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return all that a program on this machine sees of the world."""
        return {
            "HOME": self.home, "USERPROFILE": self.home, "TOLD_HOME": self.told_home,
            "TERM": "xterm-256color", "LANG": "C.UTF-8", **self.variables, **(more or {}),
        }  # fmt: skip

    def run(
        self, words: Sequence[str], more: Mapping[str, str] | None = None, seconds: float = _SECONDS
    ) -> Said:
        """Run a program in the project's folder."""
        try:
            done = subprocess.run(
                list(words), cwd=self.project, env=self.environ(more), stdin=subprocess.DEVNULL,
                capture_output=True, timeout=seconds, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            return Said(
                124, (error.stdout or b"").decode(errors="replace"), f"not done after {seconds:.0f} s"
            )
        return Said(
            done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        )

    def told(self, *words: str, more: Mapping[str, str] | None = None) -> Said:
        """Run `told` at this machine's terminal."""
        return self.run((*told_program(), *words), {"TOLD_BACKGROUND": "off", **(more or {})})

    def told_json(self, *words: str) -> dict[str, Any]:
        """Run `told … --json` and return what it printed; nothing where it failed."""
        said = self.told(*words, "--json")
        try:
            value = json.loads(said.out)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


def told_program() -> tuple[str, ...]:
    """Return the command `told` of the environment that this runs in."""
    beside = os.path.join(os.path.dirname(sys.executable), "told")
    return (beside,) if os.path.exists(beside) else (sys.executable, "-I", "-m", "told")
