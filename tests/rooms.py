"""The rooms of the source, from top to bottom: an import goes down this list or stays in its room."""

from __future__ import annotations

import ast
import contextlib
import functools
import gc
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import told

SOURCE = Path(told.__file__).parent
# Rooms of one row do not import each other; what each is for stands in docs/how-it-works.md.
ROWS = (
    ("__main__",), ("cli",), ("server",), ("mcp",), ("service",), ("hook",), ("install",), ("api",), ("app",),
    ("audit", "reasoning"), ("reader",), ("checkpoints",), ("learning",), ("onboard", "retention"),
    ("recall",), ("memories",), ("conflict",), ("capture",), ("ingest",), ("agents",), ("sync",),
    ("journal",), ("search",), ("store",), ("redact",), ("fence",), ("endpoint",), ("settings",),
    ("jsontext",), ("files",), ("tables", "text", "words"),
    ("model", "errors", "hashing", "pattern"), ("__init__",),
)  # fmt: skip
LEVEL = {room: level for level, rooms in enumerate(ROWS) for room in rooms}


@functools.cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax tree of every file, by its path below the package."""
    with _all_kept():
        return {
            path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"), str(path))
            for path in sorted(SOURCE.rglob("*.py"))
        }


@contextlib.contextmanager
def _all_kept() -> Iterator[None]:
    """Do not look for garbage while millions of objects are made that stay."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@functools.cache
def nodes(*kinds: type[ast.AST]) -> dict[str, list[Any]]:
    """Return the nodes of some kinds in every file, wherever they are in it."""
    wanted = {kind for known in _by_kind().values() for kind in known if issubclass(kind, kinds)}
    return {
        name: [node for kind in wanted.intersection(known) for node in known[kind]]
        for name, known in _by_kind().items()
    }


@functools.cache
def _by_kind() -> dict[str, dict[type[ast.AST], list[ast.AST]]]:
    """Walk through every file once, which is slow."""
    found: dict[str, dict[type[ast.AST], list[ast.AST]]] = {}
    with _all_kept():
        for name, tree in trees().items():
            kinds = found[name] = {}
            for node in ast.walk(tree):
                kinds.setdefault(type(node), []).append(node)
    return found


def room_of(name: str) -> str:
    """Return the room of a file; the hook client is a program of its own, run by its path."""
    if name == "hook/client.py":
        return "__main__"
    return name.partition("/")[0].removesuffix(".py")


def imported_modules(nodes: Iterable[ast.AST]) -> list[tuple[int, str]]:
    """Return (line, module) of every import of told's own modules among some nodes."""
    found = []
    for node in nodes:
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module == "told":
            modules = [f"told.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = ["told.relative" if node.level else node.module or ""]
        else:
            continue
        found += [(node.lineno, module) for module in modules if module.split(".")[0] == "told"]
    return found


def imported_rooms(nodes: Iterable[ast.AST]) -> list[tuple[int, str]]:
    """Return (line, room) of every import of told's own modules."""
    found = []
    for line, module in imported_modules(nodes):
        room = [*module.split("."), ""][1]
        # `from told import __version__` takes a name from the package itself, which is no room.
        is_room = room in LEVEL or room == "relative" or bool(room and (SOURCE / room).is_dir())
        found.append((line, room if is_room else "__init__"))
    return found


def edges() -> Counter[tuple[str, str]]:
    """Return how many imports lead from each room to each other room."""
    return Counter(
        (room_of(name), room)
        for name, imports in nodes(ast.Import, ast.ImportFrom).items()
        for _, room in imported_rooms(imports)
        if room != room_of(name)
    )
