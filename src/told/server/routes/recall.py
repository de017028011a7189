"""Search, briefs, topics and what waits for a decision."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from told.errors import NotFoundError
from told.fence import Fence
from told.memories.review import dismiss, find_review_items, keep
from told.recall.brief import BUDGET, count_frame, format_for_agent, make_prompt_brief, make_shown_payload
from told.recall.prompt import RecallRequest
from told.server.context import AsMember, AsReader, TheServer
from told.server.fields import Project, ProjectKey
from told.server.memory import open_memory

router = APIRouter(prefix="/api/v1", tags=["recall"])


class BriefRequest(BaseModel):
    """A prompt, and where it is asked."""

    prompt: str = Field(min_length=1, max_length=100_000)
    project: ProjectKey = ""
    folder: str = Field("", max_length=1000, description="the current folder below the project's root")
    budget: int = Field(BUDGET, ge=1, le=10_000, description="the most tokens")
    session: str = Field("", max_length=200, description="where a memory is not shown twice")


class Decision(BaseModel):
    """What to do with something that waits."""

    decision: Literal["keep", "dismiss"]


@router.post("/brief")
def brief(wanted: BriefRequest, server: TheServer, client: AsReader) -> dict[str, Any]:
    """Return the few lines that a prompt needs; empty if no memory fits."""
    session = server.settings.redact(wanted.session)
    with open_memory(server, client, project=wanted.project) as opened:
        request = RecallRequest(wanted.prompt, opened.scopes, opened.now, wanted.folder)
        made = make_prompt_brief(
            opened.memories,
            request,
            Fence(server.settings.key),
            budget=wanted.budget - count_frame(),
            session=session,
        )
        if session and made.memories and client.role != "reader":
            for one in opened.memories.get(made.memories).values():
                if not opened.author_of(one):
                    opened.writer.add("show", one.id, **make_shown_payload(made, session))
            opened.writer.write()
        return {"text": format_for_agent(made), "memories": list(made.memories)}


@router.get("/review")
def review(server: TheServer, client: AsReader, project: Project = "") -> list[dict[str, Any]]:
    """List what waits for your decision: conflicts, proposals, candidates; the best first."""
    with open_memory(server, client, project=project) as opened:
        scopes = opened.scopes if project else ()
        items = find_review_items(opened.memories, opened.writer.journal, scopes)
        return [
            {
                "id": one.id,
                "state": one.state,
                "memory": opened.json(one.memory),
                "other": opened.json(one.other) if one.other else None,
                "action": one.proposal.action if one.proposal else "",
            }
            for one in items
            if not opened.author_of(one.memory)
        ]


@router.post("/review/{item}")
def decide(item: str, wanted: Decision, server: TheServer, client: AsMember) -> dict[str, Any]:
    """Keep or dismiss something that waits."""
    with open_memory(server, client) as opened:
        items = find_review_items(opened.memories, opened.writer.journal)
        found = next((one for one in items if one.id == item and not opened.author_of(one.memory)), None)
        if found is None:
            raise NotFoundError("Nothing with this id waits for a decision.")
        done = (keep if wanted.decision == "keep" else dismiss)(opened.writer, found)
        opened.note(f"review.{wanted.decision}", item, found.memory)
        return opened.json(opened.writer.read(done.memory.id))
