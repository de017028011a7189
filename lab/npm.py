"""Installs the real agents from npm, each at one version, into a scratch folder that is kept between runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass

from lab import CannotRunError

_NODE = "22.23.3"
_MINUTES = 15


@dataclass(frozen=True)
class Program:
    """A program in the registry of npm."""

    package: str
    version: str
    command: str
    node: int = 0  # the oldest Node that it runs on, where that is newer than most machines have


class Shelf:
    """The programs below one folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def installed(self, program: Program, path_to_node: str = "") -> str:
        """Install a program if it is not there, and return the path of its command.

        Args:
            program: The program.
            path_to_node: The PATH to run it with, where it does not run at all on an older Node.

        Raises:
            CannotRunError: It is not there, or is not the version that was asked for.
        """
        folder = os.path.join(self.folder, f"{program.command}-{program.version}")
        path = os.path.join(folder, "node_modules", ".bin", program.command)
        if not os.path.exists(path):
            install(folder, f"{program.package}@{program.version}")
        # With a Node older than a release wants, npm takes an older release without a word.
        said = self._version(path, folder, path_to_node or os.environ.get("PATH", os.defpath))
        if program.version not in re.split(r"[^\w.-]+|\.(?=\s|$)", said):
            raise CannotRunError(
                f"{program.command} says it is {said.strip()[:80]!r} and not {program.version}; remove "
                f"{folder} and run this again with a newer Node."
            )
        return path

    def path_for(self, program: Program) -> str:
        """Return the value of PATH for a program; a newer Node stands first if it needs one."""
        path = os.environ.get("PATH", os.defpath)
        if program.node <= _node_here():
            return path
        node = self.installed(Program("node", _NODE, "node"))
        return os.pathsep.join((os.path.dirname(node), path))

    def _version(self, path: str, folder: str, path_to_node: str) -> str:
        home = os.path.join(folder, "home")
        os.makedirs(home, exist_ok=True)
        environ = {"PATH": path_to_node, "HOME": home}
        done = subprocess.run(
            [path, "--version"], env=environ, cwd=home, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=120, check=False,
        )  # fmt: skip
        return done.stdout.replace("v", " ") if path.endswith("node") else done.stdout


def install(folder: str, wanted: str) -> None:
    """Install a package below a folder.

    Raises:
        CannotRunError: npm is not there, or cannot.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise CannotRunError("npm is not on the PATH; install Node.js 20 or newer.")
    os.makedirs(folder, exist_ok=True)
    done = subprocess.run(
        [npm, "install", "--prefix", folder, "--no-audit", "--no-fund", "--no-save", wanted],
        cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60 * _MINUTES,
        check=False,
    )  # fmt: skip
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise CannotRunError(f"npm cannot install {wanted}: {' '.join(last)}")


def _node_here() -> int:
    node = shutil.which("node")
    if node is None:
        raise CannotRunError("node is not on the PATH; install Node.js 20 or newer.")
    said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=60, check=False).stdout
    return int(said.strip().lstrip("v").partition(".")[0] or 0)
