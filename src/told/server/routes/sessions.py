"""Sessions that clients push: their turns, files and refs; checkpoints; the timeline."""

from __future__ import annotations

import time
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from told.errors import NotFoundError
from told.model import CLOSED, OPEN, Checkpoint, Ref, Touch
from told.server.context import AsMember, AsReader, Server, TheServer
from told.server.fields import Limit, Project, ProjectKey, Time, TimeQuery
from told.server.forget import find_forgotten, forget_session, write_checkpoint
from told.server.memory import open_memory
from told.server.review import request_review
from told.server.sessions import TeamSessions, checkpoint_json, open_sessions, turn_json
from told.store.postgres.people import add_audit
from told.store.postgres.purge import SESSION_TABLES, request_purge
from told.store.postgres.sessions.queries import project_number
from told.store.postgres.sessions.write import PushedSession
from told.store.sessions.read import Filter, TurnText

router = APIRouter(prefix="/api/v1", tags=["sessions"])

Text = Annotated[str, Field("", max_length=1_000_000)]
Name = Annotated[str, Field("", max_length=1000)]


class TurnIn(BaseModel):
    """One exchange."""

    n: int = Field(ge=0, le=10_000_000)
    at: Time = 0
    asked: Text = ""
    answered: Text = ""
    steps: Text = ""


class TouchIn(BaseModel):
    """A file that the session touched."""

    path: str = Field(min_length=1, max_length=4000)
    how: Literal["read", "edit", "create", "delete"]
    at: Time = 0


class RefIn(BaseModel):
    """A commit, pull request or issue that the session names."""

    kind: Literal["commit", "pr", "issue"]
    value: str = Field(min_length=1, max_length=1000)
    at: Time = 0


class SessionIn(BaseModel):
    """A session, or more turns of one; the same again changes nothing."""

    agent: str = Field(min_length=1, max_length=80)
    native: str = Field(min_length=1, max_length=400, description="the agent's own id of it")
    project: ProjectKey = ""
    title: Name = ""
    summary: Name = ""
    cwd: Name = ""
    branch: Name = ""
    started: Time = 0
    ended: Time = 0
    shared: bool = Field(False, description="show it to the team")
    turns: list[TurnIn] = Field([], max_length=5000)
    files: list[TouchIn] = Field([], max_length=5000)
    refs: list[RefIn] = Field([], max_length=5000)


class CheckpointIn(BaseModel):
    """A hand-over note of a session."""

    session: str = Field(min_length=1, max_length=40, description="the id that the session has here")
    goal: str = Field(min_length=1, max_length=4000)
    summary: Text = ""
    done: Text = ""
    pending: Text = ""
    decisions: Text = ""
    files: Text = ""
    number: int = Field(1, ge=1, le=100_000)


class CheckpointStatus(BaseModel):
    """Whether work on it goes on."""

    status: Literal["open", "closed"]


def _clean(server: Server, given: Any) -> Any:
    """Return a value with secrets removed from its texts."""
    if isinstance(given, str):
        return server.settings.redact(given) if given else given
    if isinstance(given, dict):
        return {name: _clean(server, value) for name, value in given.items()}
    return [_clean(server, one) for one in given] if isinstance(given, list) else given


@router.post("/sessions", status_code=201)
def push(wanted: SessionIn, server: TheServer, client: AsMember) -> dict[str, Any]:
    """Store a session of yours, or add to it."""
    given = _clean(server, wanted.model_dump())
    turns, files, refs = given.pop("turns"), given.pop("files"), given.pop("refs")
    with open_sessions(server, client) as opened:
        forgotten = find_forgotten(opened, given["agent"], given["native"])
        marks = forgotten.marks(given["agent"], given["native"])
        for name in ("title", "summary"):
            given[name] = forgotten.cut_text(given[name], marks)
        texts = forgotten.cut_turns(
            given["agent"], given["native"], [TurnText(key="", **one) for one in turns], marks
        )
        number = opened.writer.put_session(PushedSession(project_name=given["project"], **given))
        opened.writer.put_turns(number, texts)
        opened.writer.put_touches(number, [Touch(wanted.native, **one) for one in files])
        opened.writer.put_refs(number, [Ref(wanted.native, **one) for one in refs])
        stored = opened.reader.session(number)
        add_audit(
            opened.connection, client.viewer, client.token, "session.push", stored.public, turns=len(turns)
        )
        request_review(opened.connection, server, client.viewer, stored)
        return opened.json(stored)


@router.get("/sessions")
def list_sessions(
    server: TheServer,
    client: AsReader,
    *,
    project: Project = "",
    agent: Annotated[str, Query(max_length=80)] = "",
    since: TimeQuery = 0,
    limit: Limit = 50,
) -> dict[str, Any]:
    """List your sessions and shared ones, latest first."""
    with open_sessions(server, client) as opened:
        wanted = Filter(project_number(project), agent, since)
        found = opened.reader.sessions(wanted, limit)
        return {"sessions": [opened.json(one) for one in found], "total": opened.reader.count(wanted)}


@router.get("/sessions/{session}")
def show(session: str, server: TheServer, client: AsReader, limit: Limit = 500) -> dict[str, Any]:
    """Show a session with its turns, files and refs."""
    with open_sessions(server, client) as opened:
        found = opened.find(session)
        return opened.json(found) | {
            "turns_shown": [turn_json(one) for one in opened.reader.turns(found.id, limit)],
            "files": [
                {"path": path, "how": how, "at": at} for path, how, at in opened.reader.files_of(found.id)
            ],
            "refs": [
                {"kind": kind, "value": value, "at": at}
                for kind, value, at in opened.reader.refs_of(found.id)
            ],
        }


@router.delete("/sessions/{session}")
def delete(session: str, server: TheServer, client: AsMember) -> dict[str, Any]:
    """Delete a session of yours with its checkpoints and memories; it cannot be pushed again."""
    with open_memory(server, client) as opened:
        forgotten = forget_session(opened, session)
        add_audit(opened.connection, client.viewer, client.token, "session.delete", session)
    return {"deleted": session, "forgotten": forgotten}


@router.get("/timeline")
def timeline(
    server: TheServer,
    client: AsReader,
    project: Project = "",
    until: TimeQuery = 0,
    limit: Limit = 50,
) -> list[dict[str, Any]]:
    """List the latest prompts, of all agents."""
    with open_sessions(server, client) as opened:
        turns = opened.reader.timeline(Filter(project_number(project), until=until), limit)
        names = {one: opened.reader.session(one).public for one in {turn.session_id for turn in turns}}
        return [{"session": names[one.session_id]} | turn_json(one) for one in turns]


@router.post("/checkpoints", status_code=201)
def add_checkpoint(wanted: CheckpointIn, server: TheServer, client: AsMember) -> dict[str, Any]:
    """Write a checkpoint of a session of yours; the same number replaces it."""
    given = _clean(server, wanted.model_dump())
    with open_sessions(server, client) as opened:
        session = opened.find(wanted.session)
        note = Checkpoint(
            session.native, wanted.number, given["goal"], given["summary"], time.time_ns() // 1_000_000,
            given["done"], given["decisions"], given["files"], given["pending"], status=OPEN,
        )  # fmt: skip
        public = write_checkpoint(opened, session, note)
        add_audit(opened.connection, client.viewer, client.token, "checkpoint.write", public)
        return checkpoint_json(_find_checkpoint(opened, public))


@router.get("/checkpoints")
def list_checkpoints(
    server: TheServer, client: AsReader, project: Project = "", limit: Limit = 50
) -> list[dict[str, Any]]:
    """List checkpoints, latest first."""
    with open_sessions(server, client) as opened:
        found = opened.reader.checkpoints(Filter(project_number(project)), limit)
        return [checkpoint_json(one) for one in found]


@router.get("/checkpoints/{checkpoint}")
def show_checkpoint(checkpoint: str, server: TheServer, client: AsReader) -> dict[str, Any]:
    """Show a checkpoint."""
    with open_sessions(server, client) as opened:
        return checkpoint_json(_find_checkpoint(opened, checkpoint))


@router.patch("/checkpoints/{checkpoint}")
def close_checkpoint(
    checkpoint: str, wanted: CheckpointStatus, server: TheServer, client: AsMember
) -> dict[str, Any]:
    """Close a checkpoint of yours, or open it again."""
    with open_sessions(server, client) as opened:
        if not opened.writer.put_status(checkpoint, CLOSED if wanted.status == "closed" else OPEN):
            raise NotFoundError("You have no checkpoint of this id.")
        add_audit(
            opened.connection,
            client.viewer,
            client.token,
            "checkpoint.change",
            checkpoint,
            status=wanted.status,
        )
        return checkpoint_json(_find_checkpoint(opened, checkpoint))


@router.delete("/checkpoints/{checkpoint}")
def delete_checkpoint(checkpoint: str, server: TheServer, client: AsMember) -> dict[str, Any]:
    """Delete a checkpoint of yours."""
    with open_sessions(server, client) as opened:
        if not opened.writer.delete_checkpoint(checkpoint):
            raise NotFoundError("You have no checkpoint of this id.")
        request_purge(opened.connection, client.viewer, SESSION_TABLES)
        add_audit(opened.connection, client.viewer, client.token, "checkpoint.delete", checkpoint)
    return {"deleted": checkpoint}


def _find_checkpoint(opened: TeamSessions, public: str) -> Any:
    found = opened.reader.checkpoint_named(public)
    if found is None:
        raise NotFoundError("No checkpoint has this id.")
    return found
