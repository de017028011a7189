"""The stores that hooks are measured on: generated ones, and what the user names."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import Any

import apsw

from benchmarks import CannotMeasureError, banks, surface
from benchmarks.wired import Bank
from told.store.memories.read import memory_path
from told.store.memories.records import PROJECT

_OWN = ("memory.db", "sessions.db", "key", "machine", "journal")
_PROMPTS = 6  # of a project's own


def label_of(size: int) -> str:
    """Return how a store of that size is called."""
    return f"{size:,} memories"


def generated(size: int, prompts: Mapping[str, str]) -> Bank:
    """Return a generated store."""
    return Bank(label_of(size), lambda home: banks.build(home, size).close(), banks.LARGE, prompts)


def from_data(path: str, prompts: Mapping[str, str]) -> list[Bank]:
    """Return the store in a folder of told's, or those of the projects in a file as `surface` takes it."""
    if not os.path.isdir(path):
        return [_of_project(project) for project in surface.load(path)]
    database = memory_path(path)
    try:
        connection = apsw.Connection(database, flags=apsw.SQLITE_OPEN_READONLY)
        found = connection.execute(
            "SELECT scope, sum(count(*)) OVER () FROM memory WHERE scope GLOB ? GROUP BY scope"
            " ORDER BY count(*) DESC LIMIT 1",
            (f"{PROJECT}*",),
        ).fetchall()
        connection.close()
    except apsw.Error as error:
        raise CannotMeasureError(f"{database} cannot be read as memories: {error}") from error
    if not found:
        raise CannotMeasureError(f"{database} has no memory of a project.")
    scope, count = found[0]
    return [Bank(f"data: {count:,} memories", lambda home: _copy(path, home), str(scope), prompts)]


def _copy(path: str, home: str) -> None:
    for name in _OWN:
        there = os.path.join(path, name)
        if os.path.isdir(there):
            shutil.copytree(there, os.path.join(home, name))
        elif name.endswith(".db") and os.path.exists(there):
            source = apsw.Connection(there, flags=apsw.SQLITE_OPEN_READONLY)
            _backup(source, os.path.join(home, name))
        elif os.path.exists(there):
            shutil.copy(there, os.path.join(home, name))


def _of_project(project: dict[str, Any]) -> Bank:
    prompts = {f"prompt {one['id']}": one["prompt"] for one in project["prompts"][:_PROMPTS]}
    return Bank(
        f"data: {project['project']}",
        lambda home: _backup(surface.bank(project).connection, memory_path(home)),
        PROJECT + project["project"], prompts,
    )  # fmt: skip


def _backup(source: apsw.Connection, path: str) -> None:
    target = apsw.Connection(path)
    with target.backup("main", source, "main") as copying:
        copying.step()
    target.close()
    source.close()
