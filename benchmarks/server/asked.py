"""Hybrid search and briefs on many memories, each beside the plain SQL for the same rows."""

from __future__ import annotations

import http.client
import json
import random
import statistics
import time
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.measure import machine
from benchmarks.server.bulk import Loaded, loaded
from benchmarks.server.corpus import Question, make_questions
from benchmarks.server.process import serving
from told.search.query import parse_query
from told.search.vectors.table import make_vector, table_model_id
from told.server.context import Client, Server, ServerSettings
from told.server.hybrid import as_numbers, find_hybrid
from told.server.memory import open_memory
from told.store.postgres.database import Connection, connect
from told.store.postgres.fts import to_tsquery
from told.store.postgres.memories.match import LABELS, MemoryIndex
from told.store.postgres.memories.search import MemorySearch, Vector
from told.store.postgres.memories.vectors import format_vector

HOW_SEARCH = (
    "Invented memories (words by Zipf's law, 8 to 25 words, 24 people, 40 projects, 80 % shared; vectors "
    "of the built-in table) are loaded in bulk; HNSW and the other indexes are built afterwards, with "
    "told's own parameters. Questions have 4 to 7 words of a memory and 3 common ones; half are about one "
    "project. told: find_hybrid and the answer's memories in a transaction of the viewer; http: POST "
    "/api/v1/search of a server process, one connection. floor: one prepared statement by hand as the "
    "owner of the tables, without row-level security: the newest 600 rows with told's own rare words by "
    "ts_rank, the best 100 of 400 neighbours by HNSW (of fewer, recall is too low), reciprocal rank fusion,"
    " the same readers and scopes. Every question goes to all three, in shuffled order, after a round that "
    "is not counted. recall@10: what search finds by the vector alone, of the ten nearest by a scan of all."
)
HOW_BRIEF = (
    "The same questions as prompts of a project to POST /api/v1/brief of a server process; floor: the "
    "statement of the search floor for the same project."
)
_WORDS = (
    "SELECT row, row_number() OVER (ORDER BY points DESC) AS rank FROM (SELECT h.row, ts_rank(h.tokens, "
    "%(words)s::tsquery) AS points FROM (SELECT m.row, m.tokens FROM memory m WHERE m.team = %(team)s AND"
    " m.tokens @@ %(words)s::tsquery AND m.reader = ANY(%(readers)s){memory_scope} ORDER BY m.row DESC "
    "LIMIT 600) h ORDER BY points DESC LIMIT 100) best"
)
_NEAR = (
    "SELECT row, rank FROM (SELECT row, row_number() OVER (ORDER BY distance + 0) AS rank FROM ("
    "SELECT v.row, v.vector::halfvec(256) <=> %(vector)s::halfvec(256) AS distance FROM memory_vector v"
    " WHERE v.team = %(team)s AND v.model = '{model}' AND v.reader = ANY(%(readers)s){vector_scope} ORDER BY "
    "v.vector::halfvec(256) <=> %(vector)s::halfvec(256) LIMIT 400) near) ranked WHERE rank <= 100"
)
_FLOOR = (
    "WITH every AS (SELECT * FROM ({words}) w UNION ALL SELECT * FROM ({near}) n), fused AS (SELECT row, "
    "sum(1.0 / (60 + rank)) AS score FROM every GROUP BY row) SELECT m.id, m.text, m.scope, m.owner, "
    "f.score FROM fused f JOIN memory m ON m.team = %(team)s AND m.row = f.row AND m.status = 'active' "
    "ORDER BY f.score DESC LIMIT 10"
)
_EXACT = (
    "SELECT m.id FROM memory_vector v JOIN memory m ON m.team = v.team AND m.row = v.row WHERE v.team = "
    "%(team)s AND v.model = '{model}' AND v.reader = ANY(%(readers)s){vector_scope} ORDER BY "
    "v.vector::halfvec(256) <=> %(vector)s::halfvec(256), v.row DESC LIMIT 10"
)


class Asked(NamedTuple):
    """A question, and what the floor is given for it."""

    question: Question
    scopes: tuple[str, ...]  # empty: everywhere
    floor: str
    exact: str
    values: Mapping[str, Any]


def sizes_of(arguments: Namespace) -> list[int]:
    """Return how many memories are measured."""
    return [10_000] if arguments.quick else [int(one) for one in arguments.sizes.split(",")]


def measure_search(arguments: Namespace) -> dict[str, Any]:
    count = 20 if arguments.quick else 60
    return {f"{size} memories": _measure_search(size, count) for size in sizes_of(arguments)}


def measure_brief(arguments: Namespace) -> dict[str, Any]:
    count = 20 if arguments.quick else 60
    return {f"{size} memories": _measure_brief(size, count) for size in sizes_of(arguments)}


def _measure_search(size: int, count: int) -> dict[str, Any]:
    with loaded(size) as team, serving(team.database.url) as served, connect(team.database.url) as connection:
        server = server_of(team)
        questions = prepare(team, server, make_questions(count, size, "search"))
        http_client = http.client.HTTPConnection("127.0.0.1", served.port)

        def ask(one: Asked) -> None:
            viewer = team.viewers[one.question.person]
            with open_memory(server, Client(viewer, "member", ""), project=one.question.project) as opened:
                query = parse_query(one.question.text, opened.now)
                found = find_hybrid(opened, query, one.scopes, 10)
                opened.memories.get([name for name, _ in found])

        def post(one: Asked) -> None:
            body = {"query": one.question.text, "project": one.question.project, "what": "memories"}
            send(http_client, team.tokens[one.question.person], "/api/v1/search", body)

        took = interleave({"told": ask, "http": post, "floor": floor_of(connection)}, questions)
        some = questions[: max(20, count // 2)]
        nearest = [_recall_nearest(server, team, connection, one) for one in some]
        return beside(took) | {
            "recall": {"recall_at_10": round(statistics.mean(nearest), 3)},
            "machine": machine(),
        }


def _measure_brief(size: int, count: int) -> dict[str, Any]:
    with loaded(size) as team, serving(team.database.url) as served, connect(team.database.url) as connection:
        asked = [
            one._replace(project=one.project or "acme/project-1")
            for one in make_questions(count, size, "brief")
        ]
        questions = prepare(team, server_of(team), asked)
        http_client = http.client.HTTPConnection("127.0.0.1", served.port)
        texts = []

        def post(one: Asked) -> None:
            body = {"prompt": one.question.text, "project": one.question.project}
            answer = send(http_client, team.tokens[one.question.person], "/api/v1/brief", body)
            texts.append(len(answer["memories"]))

        took = interleave({"told": post, "floor": floor_of(connection)}, questions)
        return beside(took) | {"memories_in_a_brief": round(statistics.mean(texts), 1), "machine": machine()}


def server_of(team: Loaded) -> Server:
    """Return a server of this process for the loaded team."""
    return Server(team.database, ServerSettings("", b"k" * 32), team.viewers[0]._replace(person=""))


def prepare(team: Loaded, server: Server, questions: Sequence[Question]) -> list[Asked]:
    """Work out what the floor is given: told's own choice of rare words, and the vector."""
    return [_prepare(team, server, one) for one in questions]


def _prepare(team: Loaded, server: Server, question: Question) -> Asked:
    viewer = team.viewers[question.person]
    with open_memory(server, Client(viewer, "member", ""), project=question.project) as opened:
        terms = parse_query(question.text, opened.now).terms
        index = MemoryIndex(opened.connection, viewer)
        scopes = opened.scopes if question.project else ()
        counts = {term: index.frequency(term, 601, scopes=scopes) for term in terms}
    rare: list[str] = []
    for term in sorted(counts, key=lambda term: counts[term]):
        if counts[term] and (not rare or sum(counts[one] for one in rare) + counts[term] <= 600):
            rare.append(term)
    model = table_model_id() or ""
    within = {
        f"{table}_scope": f" AND {table[0]}.scope = ANY(%(scopes)s)" if scopes else ""
        for table in ("memory", "vector")
    }
    within = {"memory_scope": within["memory_scope"], "vector_scope": within["vector_scope"]}
    vector = make_vector(question.text, asking=True) or b""
    return Asked(
        question, scopes,
        _FLOOR.format(words=_WORDS.format(**within), near=_NEAR.format(model=model, **within)),
        _EXACT.format(model=model, **within),
        {
            "team": viewer.team, "readers": [viewer.person, ""], "scopes": list(scopes),
            "words": to_tsquery(" OR ".join(rare), LABELS),
            "vector": format_vector(as_numbers(vector)),
        },
    )  # fmt: skip


def floor_of(connection: Connection) -> Callable[[Asked], None]:
    """Return what asks the floor's statement."""

    def ask(one: Asked) -> None:
        assert connection.execute(one.floor, one.values, prepare=True).fetchall()

    return ask


def _recall_nearest(server: Server, team: Loaded, connection: Connection, one: Asked) -> float:
    """Return the share of the ten nearest that a search by the vector alone finds."""
    viewer = team.viewers[one.question.person]
    vector = make_vector(one.question.text, asking=True) or b""
    with open_memory(server, Client(viewer, "member", ""), project=one.question.project) as opened:
        search = MemorySearch(opened.connection, viewer)
        asked = Vector(table_model_id() or "", as_numbers(vector))
        found = {name for name, _ in search.search("", asked, scopes=one.scopes, limit=10)}
    with connection.transaction():
        connection.execute("SET LOCAL enable_indexscan = off")
        exact = {name for (name,) in connection.execute(one.exact, one.values)}
    return len(found & exact) / len(exact)


def interleave(
    actions: Mapping[str, Callable[[Asked], None]], questions: Sequence[Asked]
) -> dict[str, list[float]]:
    """Ask every question by every way, in shuffled order; return the milliseconds."""
    chance = random.Random(1)
    took: dict[str, list[float]] = {name: [] for name in actions}
    for is_counted in (False, True):
        for one in questions:
            for name in chance.sample(sorted(actions), len(actions)):
                began = time.perf_counter()
                actions[name](one)
                if is_counted:
                    took[name].append((time.perf_counter() - began) * 1000)
    return took


def beside(took: Mapping[str, list[float]]) -> dict[str, Any]:
    """Sum times up, each as a multiple of the floor."""
    floor = statistics.median(took["floor"])
    return {
        name: {
            "p50_ms": round(statistics.median(times), 1), "p95_ms": round(quantile(times, 0.95), 1),
            "min_ms": round(min(times), 1), "x_floor": round(statistics.median(times) / floor, 2),
        }
        for name, times in took.items()
    }  # fmt: skip


def quantile(times: Sequence[float], share: float) -> float:
    """Return the value below which a share of the times lies."""
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def send(client: http.client.HTTPConnection, token: str, path: str, body: Mapping[str, Any] | None) -> Any:
    """Send a request; return the answer's JSON.

    Raises:
        AssertionError: it is refused.
    """
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    client.request(
        "GET" if body is None else "POST", path, None if body is None else json.dumps(body), headers
    )
    answer = client.getresponse()
    data = answer.read()
    assert answer.status < 300, (answer.status, data[:300])
    return json.loads(data)
