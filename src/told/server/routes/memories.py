"""Memories: save, list, show, change, share, forget."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from told.errors import UsageError
from told.memories.change import CONFIRM, LOCK, REJECT, UNLOCK, change, correct
from told.memories.history import read_history
from told.memories.remember import NewMemory, validate_text
from told.memories.scopes import MemoryFilter, list_and_count
from told.server.context import AsMember, AsReader, TheServer
from told.server.fields import Limit, Project, ProjectKey
from told.server.forget import forget_memories
from told.server.memory import API, iso, open_memory
from told.server.publish import is_from_log
from told.store.memories.records import ACTIVE, AGENT, USER

router = APIRouter(prefix="/api/v1/memories", tags=["memories"])

Kind = Literal["", "rule", "decision", "fact", "correction", "preference", "warning", "observation"]
Text = Annotated[str, Field(min_length=1, max_length=16_000)]
MemoryId = Annotated[str, Field(pattern="^[a-z0-9]{4,40}$")]


class MemoryRequest(BaseModel):
    """A statement to save."""

    text: Text
    project: ProjectKey = ""
    scope: Literal["project", "global", "private", "team"] = "project"
    kind: Kind = ""
    lock: bool = False
    share: bool = Field(False, description="show it to the team")
    by: Literal["user", "agent"] = Field("user", description="whose word it is")
    agent: str = Field("", max_length=80)
    session: str = Field("", max_length=200)
    quote: str = Field("", max_length=4000, description="for agents: the person's own words")


class MemoryChange(BaseModel):
    """What to change of a memory; fields that are left out stay."""

    text: Text | None = None
    locked: bool | None = None
    shared: bool | None = None
    status: Literal["confirmed", "rejected"] | None = None


@router.post("", status_code=201)
def save(wanted: MemoryRequest, server: TheServer, client: AsMember) -> dict[str, Any]:
    """Save a statement: a repeated one is counted, a newer one replaces the old one unless that is locked."""
    if wanted.by == AGENT and (wanted.share or wanted.scope == "team"):
        raise UsageError("Only you share with the team. Save it without sharing it, then share it yourself.")
    agent, session = map(server.settings.redact, (wanted.agent, wanted.session))
    with open_memory(
        server, client, project=wanted.project, by=wanted.by, agent=agent, session=session
    ) as opened:
        new = NewMemory(
            wanted.text, opened.named_scope(wanted.scope), wanted.kind, wanted.lock and wanted.by == USER,
            trust=USER if wanted.by == USER else AGENT, quote=wanted.quote, agent=agent or API,
            session=session,
        )  # fmt: skip
        done = opened.remember(new, share=wanted.share)
        memory = opened.writer.read(done.memory.id)
        opened.note("memory.save", memory.id)
        return {
            "memory": opened.json(memory),
            "known": done.again,
            "superseded": [one.id for one, _ in done.superseded if not opened.author_of(one)],
            "contradicted": [one.id for one, _ in done.contradicted],
            "proposals": list(done.proposals),
        }


@router.get("")
def list_memories(
    server: TheServer,
    client: AsReader,
    project: Project = "",
    *,
    all_projects: bool = False,
    status: Literal["active", "candidate", "superseded", "archived", "dismissed"] = ACTIVE,  # type: ignore[assignment]
    kind: Kind = "",
    words: Annotated[str, Query(max_length=1000)] = "",
    limit: Limit = 50,
) -> dict[str, Any]:
    """List memories, newest first."""
    with open_memory(server, client, project=project) as opened:
        scopes = () if all_projects else opened.scopes
        criteria = MemoryFilter(scopes, kind, status, words=words)
        found, total = list_and_count(opened.memories, criteria, opened.now, limit)
        return {"memories": [opened.json(one) for one in found], "total": total}


@router.get("/{memory}")
def show(memory: MemoryId, server: TheServer, client: AsReader) -> dict[str, Any]:
    """Show a memory with its history; one that you may not see is not found."""
    with open_memory(server, client) as opened:
        found = opened.find(memory)
        is_own = not opened.author_of(found)
        steps = read_history(opened.writer.journal, found.id) if is_own else []
        return opened.json(found) | {
            "history": [
                {
                    "at": iso(one.operation.at),
                    "what": one.operation.kind,
                    "by": one.operation.by,
                    "confidence": round(one.confidence, 2),
                    "undone": one.undone,
                }
                for one in steps
            ],
            "evidence": [one._asdict() for one in found.evidence] if is_own else [],
        }


@router.patch("/{memory}")
def edit(memory: MemoryId, wanted: MemoryChange, server: TheServer, client: AsMember) -> dict[str, Any]:
    """Change a memory of yours: replace its text, lock, share, confirm or reject it."""
    if not wanted.model_fields_set:
        raise UsageError("Nothing to change. Give text, locked, shared or status.")
    with open_memory(server, client) as opened:
        found = opened.find_own(memory)
        changed = wanted.model_fields_set
        if wanted.text is not None:
            text = validate_text(server.settings.redact(wanted.text))
            is_shared = opened.is_shared(found)
            found = correct(opened.writer, found, NewMemory(text, found.scope, found.kind)).memory
            if is_shared:
                found = opened.share(found)
        if wanted.locked is not None and wanted.locked != found.locked:
            found = change(opened.writer, LOCK if wanted.locked else UNLOCK, found).memory
        if wanted.shared is not None:
            found = opened.share(found, on=wanted.shared)
        if wanted.status is not None:
            found = change(opened.writer, CONFIRM if wanted.status == "confirmed" else REJECT, found).memory
        opened.note("memory.change", memory, found, what=sorted(changed))
        return opened.json(opened.writer.read(found.id))


@router.delete("/{memory}")
def forget(memory: MemoryId, server: TheServer, client: AsMember) -> dict[str, Any]:
    """Forget a memory of yours, and others of yours with its words, which your sessions lose as well."""
    with open_memory(server, client) as opened:
        ids = forget_memories(opened, [opened.find_own(memory)])
        return {
            "forgotten": memory,
            "same_words": [one for one in ids if one != memory],
            "on_your_machines": [one for one in ids if is_from_log(client.viewer, one)],
        }
