"""Figures of the server: for Prometheus, and for people."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fastapi import APIRouter
from fastapi.responses import PlainTextResponse

from told import __version__
from told.errors import BusyError
from told.server.context import AsReader, Server, TheServer
from told.server.request_metrics import BOUNDS, RequestMetrics
from told.store.postgres.database import database_size
from told.store.postgres.jobs import count_jobs, count_states
from told.store.postgres.model_calls import spent
from told.store.postgres.people import count_people

router = APIRouter(tags=["stats"])
_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_POOL = (
    "pool_size",
    "pool_available",
    "requests_waiting",
    "requests_num",
    "requests_errors",
    "connections_lost",
)


@router.get("/metrics", response_class=PlainTextResponse)
def metrics(server: TheServer, client: AsReader) -> PlainTextResponse:
    """Return figures in the text format of Prometheus."""
    return PlainTextResponse(
        "\n".join(_describe(server, client.viewer.team)) + "\n", media_type=_CONTENT_TYPE
    )


@router.get("/api/v1/stats")
def stats(server: TheServer, client: AsReader) -> dict[str, Any]:
    """Return how much there is: people, items of the queue, bytes, and what the reader used."""
    team = client.viewer.team
    with server.database.owning() as connection:
        return {
            "reader": spent(connection, team)._asdict() | {"daily": server.settings.reader_daily_tokens},
            "people": count_people(connection, team),
            "jobs": count_states(connection, team),
            "database_bytes": database_size(connection),
            "uptime_seconds": round(time.time() - server.started),
            "version": __version__,
        }


def _describe(server: Server, team: str) -> Iterator[str]:
    build = {"version": __version__, "python": platform.python_version()}
    yield from _series("told_build_info", "gauge", "The version of told.", [(build, 1)])
    yield from _series("told_start_time_seconds", "gauge", "When the server started.", [({}, server.started)])
    if resident := _resident_bytes():
        yield from _series("told_resident_memory_bytes", "gauge", "Memory of the server.", [({}, resident)])
    try:
        with server.database.owning() as connection:
            counts = count_jobs(connection, team)
            used = spent(connection, team)
    except BusyError:
        yield from _series("told_database_up", "gauge", "Whether the database answers.", [({}, 0)])
    else:
        yield from _series("told_database_up", "gauge", "Whether the database answers.", [({}, 1)])
        jobs = [
            ({"kind": kind, "state": state}, number)
            for kind, states in counts.items()
            for state, number in states.items()
        ]
        yield from _series("told_jobs", "gauge", "Items of the queue; those done are of the last days.", jobs)
        tokens = [({"way": "sent"}, used.tokens_in), ({"way": "received"}, used.tokens_out)]
        yield from _series("told_judge_tokens_total", "counter", "What the reader used.", tokens)
    pool = server.database.stats()
    shown = [({"figure": name}, pool.get(name, 0)) for name in _POOL]
    yield from _series("told_database_pool", "gauge", "Connections to the database, and who waits.", shown)
    yield from _describe_requests(server.requests)


def _describe_requests(requests: RequestMetrics) -> Iterator[str]:
    counts = [
        ({"method": method, "route": route, "status": status}, number)
        for (method, route, status), number in list(requests.counts.items())
    ]
    yield from _series("told_requests_total", "counter", "Requests by route and status.", counts)
    name = "told_request_seconds"
    yield f"# HELP {name} How long requests took.\n# TYPE {name} histogram"
    for (method, route), buckets in list(requests.latency.items()):
        place = {"method": method, "route": route}
        total = 0
        for bound, number in zip((*map(str, BOUNDS), "+Inf"), list(buckets), strict=True):
            total += number
            yield _sample(f"{name}_bucket", {**place, "le": bound}, total)
        yield _sample(f"{name}_sum", place, round(requests.seconds.get((method, route), 0.0), 6))
        yield _sample(f"{name}_count", place, total)


def _series(
    name: str, kind: str, says: str, samples: Sequence[tuple[Mapping[str, Any], float]]
) -> Iterator[str]:
    yield f"# HELP {name} {says}\n# TYPE {name} {kind}"
    for labels, value in samples:
        yield _sample(name, labels, value)


def _sample(name: str, labels: Mapping[str, Any], value: float) -> str:
    shown = ",".join(f'{label}="{_escape(str(text))}"' for label, text in labels.items())
    return f"{name}{{{shown}}} {value}" if shown else f"{name} {value}"


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _resident_bytes() -> int:
    """Return the memory of this process; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
