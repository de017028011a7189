"""Codex's databases: facts about threads, and the turns of threads whose rollout file is gone."""

from __future__ import annotations

import json
import os
import re
from itertools import groupby

from told.agents._codex_items import item_events
from told.agents._codex_rollout import thread_of
from told.agents.base import Table
from told.agents.text import mapping, millis, text
from told.guard.jsonl import parse
from told.model import Begin, Cursor, Facts, Mark, Problem, Source
from told.store.foreign import Foreign, ForeignError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from told.model import Event

STATE, HISTORY = "state", "history"

TABLES = (
    Table(STATE, "threads", ("id",)),
    Table(HISTORY, "thread_items", ("thread_id", "rollout_ordinal", "item_json")),
)

_THREAD = (
    "id", "cwd", "title", "name", "git_branch", "git_origin_url", "archived", "archived_at", "source",
    "thread_source", "agent_nickname", "model", "created_at", "created_at_ms", "updated_at", "updated_at_ms",
)  # fmt: skip
_ITEM = ("thread_id", "item_json", "created_at_ms")
_OF_THESE = "thread_id IN (SELECT value FROM json_each(?))"
_NUMBER = re.compile(r"_(\d{1,6})\.sqlite$")

# Threads that are asked for at once: few enough to hold all they say in memory.
_BATCH = 50


def read_state(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the facts about every thread that changed since the cursor."""
    if _newest(source.path) != os.path.basename(source.path):
        return
    try:
        with Foreign(source.path) as database:
            if lacking := _lacking(database, STATE):
                yield lacking
                return
            latest = cursor.offset
            for row in database.rows("threads", _THREAD, order="rowid"):
                at = max(millis(row[name]) for name in ("updated_at_ms", "updated_at", "archived_at"))
                if text(row["id"]) and (at > cursor.offset or not cursor.offset):
                    yield _facts(row)
                latest = max(latest, at)
            if latest != cursor.offset:
                yield Mark(Cursor(latest))
    except ForeignError as error:
        yield Problem(0, str(error))


def read_history(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the threads with new items since the cursor that have no rollout file any more."""
    if _newest(source.path) != os.path.basename(source.path):
        return
    folder = os.path.dirname(source.path)
    try:
        with Foreign(source.path) as database:
            if lacking := _lacking(database, HISTORY):
                yield lacking
                return
            new = list(
                database.rows("thread_items", ("rowid", "thread_id"), "rowid > ?", (cursor.offset,), "rowid")
            )
            threads = dict.fromkeys(text(row["thread_id"]) for row in new if text(row["thread_id"]))
            if threads:
                rollouts, helpers = _rollouts(folder), _helpers(folder)
                gone = [thread for thread in threads if thread not in rollouts]
                for start in range(0, len(gone), _BATCH):
                    yield from _threads(database, gone[start : start + _BATCH], helpers)
            if new:
                yield Mark(Cursor(new[-1]["rowid"]))
    except ForeignError as error:
        yield Problem(0, str(error))


def _threads(database: Foreign, threads: list[str], helpers: set[str]) -> Iterator[Event | Problem]:
    rows = database.rows(
        "thread_items", _ITEM, _OF_THESE, (json.dumps(threads),), order="thread_id, rollout_ordinal"
    )
    for thread, group in groupby(rows, key=lambda row: text(row["thread_id"])):
        yield Begin(thread)
        for row in group:
            item = parse(text(row["item_json"]))
            if isinstance(item, dict):
                yield from item_events(
                    thread, item, millis(row["created_at_ms"]), "", by_user=thread not in helpers
                )
            else:
                yield Problem(0, f"an item of {thread} is not JSON")


def _facts(row: dict[str, Any]) -> Facts:
    origin, is_helper = _origin(row)
    return Facts(
        row["id"],
        cwd=text(row["cwd"]),
        branch=text(row["git_branch"]),
        repository=text(row["git_origin_url"]),
        title=text(row["name"]) or text(row["title"]) or text(row["agent_nickname"]),
        started=millis(row["created_at_ms"]) or millis(row["created_at"]),
        parent=text(mapping(origin.get("thread_spawn")).get("parent_thread_id")),
        kind="subagent" if is_helper else "",
        archived=bool(row["archived"]),
        model=text(row["model"]),
    )


def _origin(row: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return what a thread's source says of the agent that started it, and whether one did."""
    said = text(row["source"])
    source = mapping(parse(said)) if said.startswith("{") else {}
    return mapping(source.get("subagent")), "subagent" in source or row["thread_source"] == "subagent"


def _helpers(folder: str) -> set[str]:
    """Return the threads that another agent started, as far as a state database beside says so."""
    try:
        newest = _newest(os.path.join(folder, "state_0.sqlite"))
        with Foreign(os.path.join(folder, newest)) as database:
            rows = database.rows("threads", ("id", "source", "thread_source"))
            return {text(row["id"]) for row in rows if _origin(row)[1]}
    except ForeignError:
        return set()


def _lacking(database: Foreign, layout: str) -> Problem | None:
    names = [
        f"{needed.table}.{column}"
        for needed in TABLES
        if needed.layout == layout
        for column in needed.columns
        if column not in database.columns(needed.table)
    ]
    return Problem(0, f"missing in the database: {', '.join(names)}") if names else None


def _newest(path: str) -> str:
    """Return the name with the highest number of this kind of database beside a path."""
    folder, name = os.path.split(path)
    stem = _NUMBER.sub("", name)
    try:
        beside = os.listdir(folder)
    except OSError:
        return name
    numbered = {other: int(match[1]) for other in beside if (match := _NUMBER.search(other))}
    alike = {other: number for other, number in numbered.items() if _NUMBER.sub("", other) == stem}
    return max(alike, key=alike.__getitem__, default=name)


def _rollouts(folder: str) -> set[str]:
    return {
        thread_of(name)
        for kind in ("sessions", "archived_sessions")
        for _, _, names in os.walk(os.path.join(folder, kind))
        for name in names
        if name.startswith("rollout-") and name.endswith(".jsonl")
    }
