"""Keeps a project's `.told` out of its repository: one line in `.gitignore`, and how it is taken back."""

from __future__ import annotations

import os
import stat

from told.errors import ToldError
from told.journal.registry import FOLDER
from told.setup import _foreign_disk as disk

LINE = f"{FOLDER}/"
# How the file was before, which is all that is needed to give back its bytes.
NEW, ENDED, OPEN_END = "new", "ended", "open"
_GIT_SECONDS = 5


def is_ignored(root: str, environ: dict[str, str]) -> bool:
    """Tell whether git ignores the folder already, by whatever file."""
    import subprocess

    asked = ("-c", "core.fsmonitor=false", "check-ignore", "-q", "--no-index", "--", LINE)
    clean = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(  # noqa: S603 - the only argument that varies is a folder that was looked at
            ["git", "-C", root, *asked],  # noqa: S607 - the user's own git
            capture_output=True, timeout=_GIT_SECONDS, check=False, stdin=subprocess.DEVNULL, env=clean,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return _says_so(root)
    return done.returncode == 0 if done.returncode in (0, 1) else _says_so(root)


def before(root: str) -> str:
    """Return how the `.gitignore` of a project is now; empty if it is not one that told may change."""
    path = os.path.join(root, ".gitignore")
    if not os.path.lexists(path):
        return NEW
    raw = _read(path)
    if raw is None:
        return ""
    return ENDED if not raw or raw.endswith(b"\n") else OPEN_END


def ignore(root: str) -> bool:
    """Add the line; whether a line break was missing at the end stays as it was. False if it cannot be."""
    found = _found(root)
    if found is None:
        return False
    raw = found.raw or b""
    end = b"\r\n" if b"\r\n" in raw else b"\n"
    line = LINE.encode()
    try:
        disk.put(found, raw + end + line if raw and not raw.endswith(b"\n") else raw + line + end)
    except ToldError:
        return False
    return True


def stop_ignoring(root: str, was: str) -> bool:
    """Take the line out again, to the byte; a file that was made for it goes. True if something was done."""
    found = _found(root)
    line = LINE.encode()
    if not was or found is None or found.raw is None or line not in _lines(found.raw):
        return False
    raw = found.raw
    if was == NEW and raw.strip() == line:
        disk.delete(found)
        return True
    for end in (b"\r\n", b"\n"):
        if was == OPEN_END and raw.endswith(end + line):
            disk.put(found, raw[: -len(end + line)])
            return True
    kept = raw.splitlines(keepends=True)
    place = max(number for number, one in enumerate(kept) if one.rstrip(b"\r\n") == line)
    disk.put(found, b"".join(kept[:place] + kept[place + 1 :]))
    return True


def _found(root: str) -> disk.Found | None:
    path = os.path.join(root, ".gitignore")
    if not os.path.lexists(path):
        return disk.Found(path, path, None)
    raw = _read(path)
    return None if raw is None else disk.Found(path, path, raw, stat.S_IMODE(os.lstat(path).st_mode))


def _read(path: str) -> bytes | None:
    """Return what a file says; None if it is a link, which git does not follow there, or cannot be read."""
    try:
        state = os.lstat(path)
        if not stat.S_ISREG(state.st_mode) or state.st_size > disk.LARGEST:
            return None
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return None


def _says_so(root: str) -> bool:
    """Tell, where there is no git to ask, whether the line stands in the file in any of its forms."""
    lines = set(_lines(_read(os.path.join(root, ".gitignore")) or b""))
    return bool(lines & {b".told", b".told/", b"/.told", b"/.told/"})


def _lines(raw: bytes) -> list[bytes]:
    return [one.strip() for one in raw.splitlines()]
