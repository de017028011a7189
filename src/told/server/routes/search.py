"""Search memories and sessions; what is related to a topic; the operations of the journal."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from told.journal.postgres_journal import PostgresJournal
from told.reasoning.graph import find_related
from told.recall.search import MemoryQuestion, search_memories
from told.search.query import parse_query
from told.search.sessions import search_sessions
from told.server.context import AsReader, Client, Server, TheServer
from told.server.fields import Project, ProjectKey
from told.server.hybrid import find_hybrid
from told.server.memory import TeamMemory, iso, open_memory
from told.server.sessions import open_sessions, turn_json
from told.store.memories.names import PROJECT
from told.store.postgres.sessions.queries import project_number
from told.store.sessions.schema import project_token

router = APIRouter(prefix="/api/v1", tags=["search"])


class SearchRequest(BaseModel):
    """A question in plain words."""

    query: str = Field(min_length=1, max_length=4000)
    project: ProjectKey = ""
    all_projects: bool = False
    what: Literal["memories", "sessions", "all"] = "all"
    mode: Literal["hybrid", "recall"] = Field(
        "hybrid", description="hybrid: words and meaning; recall: ranked as for a brief"
    )
    limit: int = Field(10, ge=1, le=100)


@router.post("/search")
def search(wanted: SearchRequest, server: TheServer, client: AsReader) -> dict[str, Any]:
    """Search in plain words; everything that you may see is searched."""
    answer: dict[str, Any] = {}
    if wanted.what != "sessions":
        with open_memory(server, client, project=wanted.project) as opened:
            answer["memories"] = _search_memories(opened, wanted)
    if wanted.what != "memories":
        answer["sessions"] = _search_sessions(server, client, wanted)
    return answer


def _search_memories(opened: TeamMemory, wanted: SearchRequest) -> list[dict[str, Any]]:
    scopes = () if wanted.all_projects or not wanted.project else opened.scopes
    query = parse_query(wanted.query, opened.now)
    if wanted.mode == "recall":
        matches = search_memories(opened.memories, MemoryQuestion(query, scopes, opened.now))
        return [opened.json(one.memory) | {"score": round(one.score, 4)} for one in matches[: wanted.limit]]
    found = find_hybrid(opened, query, scopes, wanted.limit)
    loaded = opened.memories.get([name for name, _ in found])
    return [opened.json(loaded[name]) | {"score": round(score, 4)} for name, score in found if name in loaded]


def _search_sessions(server: Server, client: Client, wanted: SearchRequest) -> list[dict[str, Any]]:
    with open_sessions(server, client) as opened:
        number = project_number(wanted.project)
        project = project_token(number) if number and not wanted.all_projects else None
        result = search_sessions(
            opened.index, wanted.query, now=server.now(), project=project, limit=wanted.limit, only=True
        )
        found = []
        for group in result.sessions:
            turns = [opened.reader.turn(group.session, one.n) for one in group.turns if one.n >= 0]
            found.append(
                opened.json(opened.reader.session(group.session))
                | {"score": round(group.score, 4), "found": [turn_json(one) for one in turns if one]}
            )
        return found


@router.get("/graph")
def graph(
    server: TheServer,
    client: AsReader,
    topic: Annotated[str, Query(min_length=1, max_length=1000)],
    project: Project = "",
) -> dict[str, Any]:
    """Return the memories related to a topic, and the edges between them."""
    with open_memory(server, client, project=project) as opened:
        found = find_related(opened.memories, topic, opened.scopes, opened.now)
        return {
            "nodes": [opened.json(one.memory) | {"fit": one.fit} for one in found.nodes],
            "edges": [{"source": one[0], "kind": one[1], "target": one[2]} for one in found.edges],
        }


@router.get("/projects")
def projects(server: TheServer, client: AsReader) -> list[dict[str, Any]]:
    """List the projects that memories belong to, with how many."""
    with open_memory(server, client) as opened:
        counts: dict[str, int] = {}
        for status, _, scope, many, _ in opened.memories.counts():
            if status == "active" and scope.startswith(PROJECT):
                name = scope.removeprefix(PROJECT)
                counts[name] = counts.get(name, 0) + many
        return [{"project": name, "memories": many} for name, many in sorted(counts.items())]


@router.get("/operations")
def operations(
    server: TheServer,
    client: AsReader,
    after: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=5000)] = 500,
) -> list[dict[str, Any]]:
    """List the operations of your journal after a number, in order."""
    with server.database.viewing(client.viewer) as connection:
        found = PostgresJournal(connection, client.viewer).read_after(after, limit)
    return [
        {"number": one.number, "at": iso(one.at), "kind": one.kind, "memory": one.memory, "by": one.by,
         "payload": one.payload, "hash": one.hash}
        for one in found
    ]  # fmt: skip
