"""Many clients of one server at once: what is saved in a second, what answers take, what memory it needs."""

from __future__ import annotations

import http.client
import random
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial
from threading import Barrier, Thread
from typing import Any, NamedTuple

from benchmarks.measure import machine
from benchmarks.server.asked import quantile, send, sizes_of
from benchmarks.server.bulk import Loaded, loaded
from benchmarks.server.corpus import PROJECTS, Question, make_questions, make_text
from benchmarks.server.process import Served, memory_mb, serving
from told.search.vectors.table import table_model_id
from told.store.postgres.database import connect

CLIENTS = 64
HOW_INSERT = (
    "Different invented statements are saved by POST /api/v1/memories, into the smallest size that is "
    "loaded: redaction, the journal's hash chain, what a statement repeats or replaces, all derived rows,"
    " the audit entry. floor: as many connections insert rows of the tables memory, meaning_of and "
    "word_of under new numbers, a transaction for each memory. fsync and synchronous_commit are on. "
    "vectors_s: how fast workers write the vectors behind the answers, HNSW included."
)
HOW_LOAD = (
    f"{CLIENTS} threads of another process, each with a connection and one of 24 tokens, send without a "
    "pause: 50 % search, 20 % brief, 20 % list, 10 % save; one server process with a worker. errors: "
    "answers that are not 2xx, and connections that break. Clients, server and PostgreSQL share the "
    "machine's cores."
)
HOW_MEMORY = "After the load: the server process, its worker, and one backend of PostgreSQL."
_SAVED = ("memory", "meaning_of", "word_of")
_SAVE, _LIST, _BRIEF, _SEARCH = "save", "list", "brief", "search"
_SHARES = {_SEARCH: 50, _BRIEF: 20, _LIST: 20, _SAVE: 10}


class Sent(NamedTuple):
    """What came back for one request."""

    kind: str
    ms: float
    error: str = ""


def measure_insert(arguments: Namespace) -> dict[str, Any]:
    each = 20 if arguments.quick else 25
    found: dict[str, Any] = {}
    with loaded(min(sizes_of(arguments))) as team, serving(team.database.url) as served:
        for clients in (1, 8):
            told = _save_many(team, served, clients, each)
            floor = _insert_many(team, clients, each)
            found[f"{clients} clients"] = {
                "told_s": round(told, 1), "floor_s": round(floor, 1), "share": round(told / floor, 2)
            }  # fmt: skip
        began, left = time.perf_counter(), _count_missing(team)
        while missing := _count_missing(team):
            assert time.perf_counter() < began + 600, missing
            time.sleep(0.2)
        found["vectors"] = {"waiting": left, "vectors_s": round(left / (time.perf_counter() - began), 1)}
    return found | {"machine": machine()}


def measure_load(arguments: Namespace) -> dict[str, Any]:
    return _load(arguments)[0]


def measure_memory(arguments: Namespace) -> dict[str, Any]:
    return _load(arguments)[1]


def _load(arguments: Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    known: tuple[dict[str, Any], dict[str, Any]] | None = getattr(arguments, "loaded", None)
    if known is None:
        known = arguments.loaded = _run_load(arguments)
    return known


def _run_load(arguments: Namespace) -> tuple[dict[str, Any], dict[str, Any]]:
    seconds = 10 if arguments.quick else 60
    size = min(sizes_of(arguments))
    with loaded(size) as team, serving(team.database.url) as served:
        before = {"server, before": memory_mb(served.pid)}
        questions = make_questions(400, size, "load")
        sent = _send_for(team, served, questions, seconds)
        figures: dict[str, Any] = {
            "memories": size, "seconds": seconds, "clients": CLIENTS, "requests": len(sent),
            "requests_s": round(len(sent) / seconds, 1), "errors": sum(1 for one in sent if one.error),
        }  # fmt: skip
        if errors := sorted({one.error for one in sent if one.error}):
            figures["error"] = errors[0][:200]
        for kind in _SHARES:
            times = [one.ms for one in sent if one.kind == kind and not one.error]
            p50, p95 = quantile(times, 0.5), quantile(times, 0.95)
            figures[kind] = {"requests": len(times), "p50_ms": round(p50), "p95_ms": round(p95)}
        held = before | {"server": memory_mb(served.pid)}
        held |= {f"worker {at}": memory_mb(pid) for at, pid in enumerate(served.workers(), 1)}
        with connect(team.database.url) as connection:
            held["one backend"] = memory_mb(connection.info.backend_pid)
        return figures | {"machine": machine()}, held


def _send_for(team: Loaded, served: Served, questions: Sequence[Question], seconds: float) -> list[Sent]:
    until = time.monotonic() + seconds
    found: list[list[Sent]] = [[] for _ in range(CLIENTS)]

    def run(number: int) -> None:
        chance = random.Random(number)
        client = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
        while time.monotonic() < until:
            kind = chance.choices(list(_SHARES), list(_SHARES.values()))[0]
            began = time.perf_counter()
            try:
                _send_one(client, team.tokens[number % len(team.tokens)], kind, chance, questions)
                error = ""
            except (AssertionError, OSError, http.client.HTTPException) as problem:
                error = f"{kind}: {problem!r}"
                client.close()
            found[number].append(Sent(kind, (time.perf_counter() - began) * 1000, error))

    _run_threads([partial(run, number) for number in range(CLIENTS)])
    return [one for every in found for one in every]


def _send_one(
    client: http.client.HTTPConnection,
    token: str,
    kind: str,
    chance: random.Random,
    asked: Sequence[Question],
) -> None:
    one = chance.choice(asked)
    project = one.project or chance.choice(PROJECTS)
    if kind == _SAVE:
        send(
            client, token, "/api/v1/memories", {"text": make_text(chance), "project": project, "share": True}
        )
    elif kind == _LIST:
        send(client, token, f"/api/v1/memories?project={project}&limit=20", None)
    elif kind == _BRIEF:
        send(client, token, "/api/v1/brief", {"prompt": one.text, "project": project})
    else:
        send(client, token, "/api/v1/search", {"query": one.text, "project": one.project})


def _save_many(team: Loaded, served: Served, clients: int, each: int) -> float:
    """Return how many statements are saved in a second."""
    seed = time.time_ns()

    def make(number: int) -> Callable[[], None]:
        chance = random.Random(f"{seed} {number}")
        client = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
        body = {"project": PROJECTS[number], "share": True}

        def run() -> None:
            for _ in range(each):
                send(client, team.tokens[number], "/api/v1/memories", body | {"text": make_text(chance)})

        return run

    return clients * each / _run_threads([make(number) for number in range(clients)])


def _insert_many(team: Loaded, clients: int, each: int) -> float:
    """Return how many memories plain SQL inserts in a second; they are deleted afterwards."""
    with connect(team.database.url) as connection:
        columns = {
            table: [
                name for (name,) in connection.execute(
                    "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
                    " AND attgenerated = '' ORDER BY attnum", (table,),
                )
            ] for table in _SAVED
        }  # fmt: skip
        newest = "SELECT row FROM memory ORDER BY row LIMIT %s"
        rows = [row for (row,) in connection.execute(newest, (clients * each,))]
        found = {row: {table: list[Any]() for table in _SAVED} for row in rows}
        for table, names in columns.items():
            statement = f"SELECT {', '.join(names)} FROM {table} WHERE row = ANY(%s)"
            for one in connection.execute(statement, (rows,)):
                values = dict(zip(names, one, strict=True))
                row = values["row"]
                changed = {"row": -row, "id": f"x{values['id']}"} if "id" in values else {"row": -row}
                found[row][table].append(list((values | changed).values()))
    into = {
        table: f"INSERT INTO {table}({', '.join(names)}) VALUES ({', '.join(['%s'] * len(names))})"
        for table, names in columns.items()
    }

    def make(number: int) -> Callable[[], None]:
        def run() -> None:
            with connect(team.database.url) as connection:
                for row in rows[number * each : (number + 1) * each]:
                    with connection.transaction(), connection.cursor() as cursor:
                        for table, statement in into.items():
                            cursor.executemany(statement, found[row][table])

        return run

    took = _run_threads([make(number) for number in range(clients)])
    with connect(team.database.url) as connection:
        for table in _SAVED:
            connection.execute(f"DELETE FROM {table} WHERE row < 0")
    return clients * each / took


def _run_threads(actions: Sequence[Callable[[], None]]) -> float:
    """Run actions at the same time; return how long all of them took."""
    barrier = Barrier(len(actions) + 1)
    failed: list[BaseException] = []

    def run(action: Callable[[], None]) -> None:
        barrier.wait()
        try:
            action()
        except BaseException as error:  # noqa: BLE001 - raised below
            failed.append(error)

    threads = [Thread(target=run, args=(one,)) for one in actions]
    for one in threads:
        one.start()
    barrier.wait()
    began = time.perf_counter()
    for one in threads:
        one.join()
    if failed:
        raise failed[0]
    return time.perf_counter() - began


def _count_missing(team: Loaded) -> int:
    with connect(team.database.url) as connection:
        row = connection.execute(
            "SELECT count(*) FROM memory m WHERE status = 'active' AND NOT EXISTS"
            " (SELECT FROM memory_vector v WHERE v.team = m.team AND v.row = m.row AND v.model = %s)",
            (table_model_id(),),
        ).fetchone()
    assert row
    return int(row[0])
