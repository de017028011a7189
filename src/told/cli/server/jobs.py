"""`told server jobs`: list and retry what failed; and the worker processes."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from told.cli.context import Context, count
from told.cli.server.team import open_team
from told.errors import NotFoundError, ToldError, UsageError

if TYPE_CHECKING:
    from told.server.run import StartOptions
    from told.store.postgres.database import Connection

_SHOWN = 20


def jobs(context: Context, words: Sequence[str], url: str) -> None:
    """Print the queue, or retry its failed items: all or those named."""
    from told.store.postgres.jobs import retry_dead  # noqa: PLC0415 - loads psycopg

    word, *rest = words or ["list"]
    if word not in ("list", "retry") or (word == "list" and rest) or not all(map(_is_id, rest)):
        raise UsageError("Use `told server jobs`, `told server jobs retry` or `told server jobs retry ID…`.")
    with open_team(context.home, url) as (database, viewer):
        team = viewer.team
        if word == "list":
            with database.owning() as connection:
                _print_queue(context, connection, team)
            return
        with database.owning() as connection:
            retried = retry_dead(connection, team, [int(one) for one in rest])
        if rest and not retried:
            raise NotFoundError(f"No failed item has the id {rest[0]}. `told server jobs` lists them.")
        context.report(f"{count(retried, 'item')} will be tried again.", {"retried": retried})


def _is_id(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 19


def _print_queue(context: Context, connection: Connection, team: str) -> None:
    from told.server.routes.jobs import describe_jobs  # noqa: PLC0415 - loads FastAPI

    found = describe_jobs(connection, team, _SHOWN)
    if context.as_json:
        context.print_json(found)
        return
    for kind, states in found["counts"].items():
        context.print(f"{kind}: " + ", ".join(f"{number} {state}" for state, number in states.items()))
    if not found["counts"]:
        context.print("The queue is empty.")
    if found["dead"]:
        context.print("\nFailed; `told server jobs retry` tries them again:")
    for one in found["dead"]:
        error = context.fence.inline(one["error"], "tool")
        context.print(f"  {one['id']} {one['kind']}, {count(one['attempts'], 'attempt')}: {error}")


def work(context: Context, options: StartOptions, name: str) -> None:
    """Process the queue until the server that started this process ends it."""
    from told.server.context import Server  # noqa: PLC0415 - loads FastAPI
    from told.server.handlers import HANDLERS, SLOW  # noqa: PLC0415
    from told.server.jobs import Worker  # noqa: PLC0415
    from told.server.opening import open_database  # noqa: PLC0415 - loads psycopg
    from told.server.people import ensure_team  # noqa: PLC0415
    from told.server.workers import run_worker  # noqa: PLC0415

    context.connection.close()
    with open_database(context.home, options.database_url, size=2) as database:
        team = ensure_team(database, options.team)
        run_worker(Worker(Server(database, options.settings, team, time.time()), name, HANDLERS, slow=SLOW))


def describe_failed_jobs(context: Context) -> list[str]:
    """Return a note on failed items of the server that runs here; none if no server runs."""
    if not os.path.exists(os.path.join(context.home, "server", "server.json")):
        return []  # the usual case needs no import
    from told.server.opening import read_state  # noqa: PLC0415 - loads psycopg
    from told.store.postgres.database import connect  # noqa: PLC0415
    from told.store.postgres.jobs import count_dead  # noqa: PLC0415

    url = read_state(context.home).get("database", "")
    if not url:
        return []
    try:
        with connect(url) as connection:
            dead = count_dead(connection)
    except ToldError as error:
        return [f"The team server's database does not work: {error}"]
    if not dead:
        return []
    return [f"{count(dead, 'queue item')} of the team server failed. `told server jobs` shows why."]
