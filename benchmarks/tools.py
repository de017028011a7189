"""The commands that are measured: told, and auto-memory beside it on the same files."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NamedTuple

from benchmarks import CannotMeasureError
from benchmarks.measure import Command, Ran, heavy
from told.store.database import acquire_lock, make_private_folder

PEER = "auto-memory"
PEER_VERSION = "0.5.1"
_ALWAYS = "100000"  # days


class Peer(NamedTuple):
    """The other tool, installed in an environment of its own."""

    folder: str  # where its commands are; empty when it could not be installed
    why: str = ""

    def figures(self) -> dict[str, object]:
        """Say for a report which tool it is and whether it could be run."""
        return {"name": PEER, "version": PEER_VERSION, "installed": bool(self.folder), "why_not": self.why}


def told(home: str, *words: str, folder: str = "") -> Command:
    """Return a told command on the history in `home`."""
    program = os.path.join(os.path.dirname(sys.executable), "told")
    if not os.path.exists(program):
        raise CannotMeasureError("told is not installed beside this Python; run `make install` first.")
    own = {"TOLD_HOME": os.path.join(home, ".told"), "TOLD_BACKGROUND": "off", "TOLD_LEARN": "off"}
    environ = _environ(home) | own
    return Command([program, *words], environ, folder or home)


def peer(
    where: Peer, home: str, program: str, *words: str, folder: str = "", everything: bool = True
) -> Command:
    """Return a command of the other tool; `everything` lifts its limits on how old a file may be."""
    environ = _environ(home) | {
        "SESSION_RECALL_ENABLE_FILE_BACKENDS": "1",
        "SESSION_RECALL_ENABLE_CLAUDE_BACKEND": "1",
    }
    if everything:
        environ |= {"SESSION_RECALL_JSONL_DAYS": _ALWAYS, "SESSION_RECALL_CC_PRUNE_DAYS": _ALWAYS}
    return Command([os.path.join(where.folder, program), *words], environ, folder or home)


def index(home: str) -> Ran:
    """Let told read all history of a home, in the foreground, and write its archive."""
    return _succeeded(heavy(told(home, "index")))


def index_then_sweep(home: str) -> tuple[Ran, Ran]:
    """Let told read all history as it does by default, and then do what it would do in the background."""
    command = told(home, "index")
    folder = os.path.join(home, ".told")
    make_private_folder(folder)
    lock = acquire_lock(folder)  # keeps told from starting the sweep itself, which is measured below
    read = _succeeded(heavy(Command(command.words, dict(command.environ) | {"TOLD_BACKGROUND": "on"}, home)))
    if lock:
        os.close(lock)
    return read, _succeeded(heavy(told(home, "sweep")))


def learn(home: str) -> Ran:
    """Let told learn from all history that it has read."""
    command = told(home, "index")
    return _succeeded(heavy(Command(command.words, dict(command.environ) | {"TOLD_LEARN": "on"}, home)))


def _succeeded(ran: Ran) -> Ran:
    if ran.code:
        raise CannotMeasureError(f"told ended with {ran.code}: {ran.errors.strip()[-300:]}")
    return ran


def install_peer() -> Peer:
    """Install the other tool into a cache folder, once; without it the figures are told's alone."""
    return install(PEER, PEER_VERSION, "session-recall-cc")


def install(
    name: str, version: str, program: str, cache: str = "", *, beside: str = "", source: str = "",
    python: str = sys.executable,
) -> Peer:  # fmt: skip
    """Install a tool from the package index into an environment of its own, unless it is there.

    Args:
        name: Of its package.
        version: Of its package.
        program: One of its commands, which tells that it is there.
        cache: The folder of such environments; by default one in the user's cache.
        beside: What else it needs that its package does not ask for, as pip takes it.
        source: A folder with its source, where the package index does not have it.
        python: The Python that it needs.
    """
    cache = cache or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "told-bench"
    )
    other = "".join(char if char.isalnum() else "-" for char in f" {beside}") if beside else ""
    folder = os.path.join(cache, f"{name}-{version}{other}")
    commands = os.path.join(folder, "bin")
    if os.path.exists(os.path.join(commands, program)):
        return Peer(commands)
    try:
        subprocess.run([python, "-m", "venv", folder], check=True, capture_output=True, text=True)
        pip = [os.path.join(commands, "python"), "-m", "pip", "install", "--quiet"]
        wanted = [source or f"{name}=={version}", *([beside] if beside else [])]
        subprocess.run([*pip, *wanted], check=True, capture_output=True, text=True, timeout=300)
    except subprocess.CalledProcessError as error:
        return Peer("", f"could not be installed: {str(error.stderr).strip()[-200:]}")
    except (OSError, subprocess.TimeoutExpired) as error:
        return Peer("", f"could not be installed: {error}")
    return Peer(commands)


def _environ(home: str) -> dict[str, str]:
    return {"HOME": home, "PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"}
