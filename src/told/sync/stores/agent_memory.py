"""Read agent-memory (metazen11): a dump of its PostgreSQL database, its URL, or saved answers of its API.

A dump is a plain one of `pg_dump`; with a URL told runs `pg_dump` itself, which reads one snapshot and
changes nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from told.errors import MissingError
from told.files import NotReadableError, open_regular
from told.jsontext import as_dict, as_list, as_millis, as_text
from told.pattern import lazy_pattern
from told.store.memories.names import ACTIVE, ARCHIVED
from told.sync.stores.item import Item, LeftOut
from told.sync.stores.reading import (
    NotAStoreError,
    explain,
    find_files,
    id_text,
    read_json,
    require_path,
    text_list,
)
from told.sync.stores.statements import add_facts, join_title

TOOL = "agent-memory"
_SCHEMES = ("postgresql://", "postgres://")
_SECONDS = 600.0
_COPY = lazy_pattern(rb"COPY (?:\w+\.)?(mem_\w+) \(([^)]*)\) FROM stdin;")
_ESCAPE = lazy_pattern(r"\\(.)", re.DOTALL)
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_UNUSED = ("embedding", "tsv", "raw_text")
_KINDS = {"decision": "decision", "gotcha": "warning", "discovery": "fact", "pattern": "fact"}
_SEVERITIES = {"critical": 9.0, "warning": 6.0, "info": 3.0}
_LEFT_OUT = (
    ("mem_user_prompts", "raw prompts: told reads them from the agents' own files"),
    ("mem_observation_queue", "raw tool calls: told reads them from the agents' own files"),
)

_Tables = dict[str, list[dict[str, Any]]]


def places(home: str, environ: Mapping[str, str]) -> list[str]:  # noqa: ARG001 - as all readers have it
    """Refuse to guess: it is a database server.

    Raises:
        MissingError: always.
    """
    raise MissingError(
        f"{TOOL} keeps its memories in PostgreSQL. Give its URL or a dump: told import --from {TOOL} URL"
    )


def read(path: str) -> Iterator[Item | LeftOut]:
    """Yield what is in a database, a dump of it, or saved answers of its API."""
    if path.startswith(_SCHEMES):
        tables = _read_copies(_dump(path))
    else:
        require_path(path, TOOL)
        is_json = path.endswith(".json") or os.path.isdir(path)
        tables = _read_answers(path) if is_json else _read_dump(path)
    if "mem_observations" not in tables and "mem_lessons" not in tables:
        shown = re.sub(r"(?<=://)[^@/]*@", "", path)
        raise NotAStoreError(f"{shown} is not a store of {TOOL}: it has no mem_observations. Check it.")
    yield from _read_tables(tables)


def _dump(url: str) -> list[bytes]:
    """Run pg_dump; the password goes to its environment, where other users cannot see it."""
    program = shutil.which("pg_dump")
    if program is None:
        raise MissingError(
            "told needs pg_dump to read PostgreSQL. Install it, or give a dump made elsewhere."
        )
    parts = urlsplit(url)
    environ = {**os.environ, "PGCONNECT_TIMEOUT": "10"}
    if parts.password:
        environ["PGPASSWORD"] = unquote(parts.password)
    user = f"{parts.username}@" if parts.username else ""
    place = urlunsplit(parts._replace(netloc=user + parts.netloc.rpartition("@")[2]))
    words = [program, "--no-password", "--data-only", "--table=mem_*", f"--dbname={place}"]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program, and the URL is one argument
            words, env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise MissingError(
            f"pg_dump does not run ({type(error).__name__}). Give a dump made elsewhere."
        ) from None
    if done.returncode:
        said = " ".join(done.stderr.decode("utf-8", "replace").split())[:300]
        raise MissingError(f"pg_dump cannot read {place}: {said}")
    return done.stdout.splitlines(keepends=True)


def _read_dump(path: str) -> _Tables:
    try:
        with open_regular(path) as file:
            return _read_copies(file)
    except (NotReadableError, OSError) as error:
        raise explain(path, TOOL, str(error)) from None


def _read_copies(lines: Iterable[bytes]) -> _Tables:
    """Collect the rows of a plain dump; without the vectors."""
    tables: _Tables = defaultdict(list)
    table, columns = "", [""]
    for line in lines:
        if table:
            values = line.rstrip(b"\r\n").split(b"\t")
            if values == [b"\\."]:
                table = ""
            elif len(values) == len(columns):
                row = zip(columns, values, strict=True)
                tables[table].append({name: _value(one) for name, one in row if name not in _UNUSED})
            continue
        start = _COPY.match(line)
        if start:
            table = start.group(1).decode()
            columns = [one.strip().strip('"') for one in start.group(2).decode("utf-8", "replace").split(",")]
            tables.setdefault(table, [])
    return dict(tables)


def _value(raw: bytes) -> str | None:
    text = raw.decode("utf-8", "replace")
    if text == "\\N":
        return None
    return _ESCAPE.sub(lambda found: _ESCAPES.get(found[1], found[1]), text) if "\\" in text else text


def _read_answers(path: str) -> _Tables:
    """Collect saved answers: lists of observations, lessons and sessions, alone or named."""
    tables: _Tables = {}
    for file in find_files(path, ".json") if os.path.isdir(path) else [path]:
        found = read_json(file, TOOL)
        lists = found.items() if isinstance(found, dict) else [("", found)]
        for name, values in lists:
            for row in map(as_dict, as_list(values)):
                table = _table_of(name, row)
                if table:
                    tables.setdefault(table, []).append(row)
    return tables


def _table_of(name: str, row: dict[str, Any]) -> str:
    if "rule" in row and "severity" in row:
        return "mem_lessons"
    if "title" in row and "type" in row:
        return "mem_observations"
    if "session_id" in row and "agent_type" in row:
        return "mem_sessions"
    return name if name.startswith("mem_") else ""


def _read_tables(tables: _Tables) -> Iterator[Item | LeftOut]:
    projects = {
        id_text(row.get("id")): as_text(row.get("full_path")) or as_text(row.get("name"))
        for row in tables.get("mem_projects", [])
    }
    sessions = {id_text(row.get("id")): row for row in tables.get("mem_sessions", [])}
    for row in tables.get("mem_observations", []):
        yield from _read_observation(row, projects, sessions)
    for row in tables.get("mem_lessons", []):
        yield _read_lesson(row, projects)
    for row in sessions.values():
        if as_text(row.get("summary")).strip():
            yield Item(
                f"session/{as_text(row.get('session_id'))}",
                as_text(row.get("summary")),
                "observation",
                _project(row, projects),
                as_millis(row.get("completed_at")) or as_millis(row.get("started_at")),
                agent=as_text(row.get("agent_type")),
                session=as_text(row.get("session_id")),
            )
    for table, reason in _LEFT_OUT:
        if tables.get(table):
            yield LeftOut(table, reason, len(tables[table]))


def _read_observation(
    row: dict[str, Any], projects: dict[str, str], sessions: dict[str, dict[str, Any]]
) -> Iterator[Item | LeftOut]:
    title, session = as_text(row.get("title")), sessions.get(id_text(row.get("session_id")), {})
    names = ("concepts", "files_modified", "files_read")
    item = Item(
        f"observation/{id_text(row.get('id'))}",
        join_title(title, as_text(row.get("narrative")) or as_text(row.get("subtitle"))),
        _KINDS.get(as_text(row.get("type")), "observation"),
        _project(row, projects),
        as_millis(row.get("created_at")),
        entities=tuple(one for name in names for one in text_list(row.get(name))),
        agent=as_text(session.get("agent_type")),
        session=as_text(session.get("session_id")),
    )
    yield from add_facts(item, title, text_list(row.get("facts")))


def _read_lesson(row: dict[str, Any], projects: dict[str, str]) -> Item:
    taught_by = id_text(row.get("source_observation_id"))
    trigger = " ".join(filter(None, (as_text(row.get("trigger_tool")), as_text(row.get("trigger_pattern")))))
    title = as_text(row.get("title"))
    return Item(
        f"lesson/{id_text(row.get('id'))}",
        as_text(row.get("rule")) or title,
        "rule",
        _project(row, projects),
        as_millis(row.get("created_at")),
        status=ARCHIVED if row.get("active") in (False, "f") else ACTIVE,
        importance=_SEVERITIES.get(as_text(row.get("severity")), 0.0),
        links=(("about", f"observation/{taught_by}"),) if taught_by else (),
        context=f"{title} (before {trigger})" if trigger else title,
    )


def _project(row: dict[str, Any], projects: dict[str, str]) -> str:
    found = projects.get(id_text(row.get("project_id"))) or as_text(row.get("project_name"))
    return "" if found == "unknown" else found
