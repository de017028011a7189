"""What a session touched and named, in the order of what the next one needs: files, plans, references."""

from __future__ import annotations

import os

from told.guard.text import clean, one_line
from told.snapshot import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.store.reading import TurnRow

_MOST_FILES, _MOST_READ = 12, 5
_MOST_COMMITS, _MOST_OTHERS, _MOST_ADDRESSES = 3, 5, 4
_WIDTH = 160
_PLAN = pattern(r"(?:^|[-_. ])(?:plan|plans|todo|todos|roadmap|tasks|prd|spec)(?:$|[-_. ])")
_TEXTS = (".md", ".mdx", ".txt", ".rst", ".org")
_ADDRESS = pattern(r"https?://[^\s<>\"'`)\]}|\\^]{4,300}")
_NAMES = {"commit": "commit", "pr": "PR", "issue": "issue"}
_SHA = 10
_READ = "read"
_OWN = ".told/"


def files(touched: Sequence[tuple[str, str, int]], root: str) -> list[str]:
    """Return the files that a session changed, the latest first; where it changed none, those it read."""
    seen = [(_short(path, root), how) for path, how, _ in touched]
    seen = [(path, how) for path, how in seen if path and not _is_own(path)]
    changed = [f"{path} ({how})" for path, how in seen if how != _READ]
    if changed:
        return changed[:_MOST_FILES]
    return [f"{path} ({how})" for path, how in seen if not os.path.isabs(path)][:_MOST_READ]


def has_changed(touched: Sequence[tuple[str, str, int]]) -> bool:
    """Tell whether a session says which files it changed."""
    return any(how != _READ for _, how, _ in touched)


def plans(touched: Sequence[tuple[str, str, int]], root: str) -> list[str]:
    """Return the plans among the files that a session touched, changed ones first."""
    found = [_short(path, root) for path, _, _ in touched if _is_plan(path)]
    return [path for path in found if path][:_MOST_READ]


def references(named: Sequence[tuple[str, str, int]], turns: Sequence[TurnRow]) -> list[str]:
    """Return the commits, pull requests and issues of a session, and the addresses that the user gave."""
    by_kind: dict[str, list[str]] = {}
    for kind, value, _ in named:
        by_kind.setdefault(kind, []).append(value)
    found = [f"commit {value[:_SHA]}" for value in by_kind.get("commit", ())[-_MOST_COMMITS:]]
    for kind in ("pr", "issue"):
        found += [f"{_NAMES[kind]} {value}" for value in by_kind.get(kind, ())[-_MOST_OTHERS:]]
    addresses = [
        one.rstrip(".,;:!?") for turn in turns if "://" in turn.asked for one in _ADDRESS.findall(turn.asked)
    ]
    known = " ".join(found)
    new = [
        one
        for one in dict.fromkeys(addresses)
        if "/".join(one.split("/")[3:5]) not in known or one.count("/") < 5
    ]
    return [one_line(clean(one), _WIDTH) for one in dict.fromkeys((*found, *new[-_MOST_ADDRESSES:]))]


def _short(path: str, root: str) -> str:
    path = clean(path)
    if root and path.startswith(root.rstrip("/") + "/"):
        path = path[len(root.rstrip("/")) + 1 :]
    return path if len(path) <= _WIDTH and "\n" not in path else ""


def _is_plan(path: str) -> bool:
    name = os.path.basename(path).lower()
    stem, extension = os.path.splitext(name)
    return extension in _TEXTS and (_PLAN.search(stem) is not None or "/plans/" in path.lower())


def _is_own(path: str) -> bool:
    return path.startswith(_OWN) or f"/{_OWN}" in path
