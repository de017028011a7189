"""Which files changed since a session began, as git has it: for sessions whose transcript does not say."""

from __future__ import annotations

import os

from told.memory._onboard_git import Git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

MOST = 40
SECONDS = 2.0
_OWN = ".told"
_CREATE, _EDIT, _DELETE = "create", "edit", "delete"
_HOW = {"A": _CREATE, "?": _CREATE, "D": _DELETE}


def changed_since(
    root: str, environ: Mapping[str, str], since: int, own: Collection[str] = (), *, seconds: float = SECONDS
) -> tuple[str, ...]:
    """Return what was made, changed and deleted in a work tree, such as "src/app.py (edit)".

    What told keeps in the project is not part of the work.

    Args:
        root: The work tree.
        environ: The variables that git is run with.
        since: When the session began (ms); 0: only what is not committed counts.
        own: Files that told wrote itself, as whole paths.
        seconds: How long git may take for an answer; there are three of them at most.
    """
    git = Git(root, environ)
    found = _committed(git, since, seconds) if since else {}
    for path, how in _uncommitted(git, seconds):
        if how == _DELETE or _is_newer(os.path.join(root, path), since):
            found[path] = _CREATE if found.get(path) == _CREATE != how and how != _DELETE else how
    mine = {os.path.realpath(path) for path in own}
    return tuple(
        f"{path} ({how})"
        for path, how in sorted(found.items())
        if path.split("/")[0] != _OWN and os.path.realpath(os.path.join(root, path)) not in mine
    )[:MOST]


def branch_of(root: str, environ: Mapping[str, str]) -> str:
    """Return the branch that a work tree is on; empty if it is on none."""
    told = Git(root, environ).said("symbolic-ref", "--quiet", "--short", "HEAD", seconds=SECONDS)
    return (told or "").strip()


def _committed(git: Git, since: int, seconds: float) -> dict[str, str]:
    """Return what commits since a time did, the last word on each path; they come newest first."""
    told = git.said(
        "log", f"--since=@{since // 1000}", "-200", "--no-merges", "--no-ext-diff", "--no-textconv",
        "--no-renames", "--name-status", "-z", "--format=", seconds=seconds,
    )  # fmt: skip
    words = [word.strip("\n") for word in (told or "").split("\0")]
    found: dict[str, str] = {}
    for state, path in zip(words[::2], words[1::2], strict=False):
        if state and path:
            how = _HOW.get(state[0], _EDIT)
            # Made and changed since: it is new. Deleted at last: it is gone, whatever was before.
            if path not in found or (how == _CREATE and found[path] == _EDIT):
                found[path] = how
    return found


def _uncommitted(git: Git, seconds: float) -> list[tuple[str, str]]:
    """Return the (path, what was done) of all that differs from the last commit."""
    words = ("status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules")
    told = git.said(*words, "--untracked-files=all", seconds=seconds)
    if told is None:  # there are too many: then a new folder stands for what is in it
        told = git.said(*words, "--untracked-files=normal", seconds=seconds)
    found = []
    for entry in (told or "").split("\0"):
        states, path = entry[:2], entry[3:]
        if path:
            how = _DELETE if "D" in states else _CREATE if states in ("??", "A ", "AM") else _EDIT
            found.append((path, how))
    return found


def _is_newer(path: str, since: int) -> bool:
    try:
        return os.lstat(path.rstrip("/")).st_mtime_ns // 1_000_000 >= since
    except OSError:
        return True
