"""Told's own tools for agents on the team server, with the arguments of the local ones."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any

from told.errors import NotFoundError, UsageError
from told.fence import Fence
from told.mcp.tools import Tool, check_arguments, load_tool, tool_named
from told.memories.change import correct
from told.memories.remember import NewMemory, validate_text
from told.model import CLOSED, OPEN, Checkpoint
from told.pattern import lazy_pattern
from told.recall.brief import format_age, format_for_agent, make_line, make_prompt_brief
from told.recall.prompt import RecallRequest
from told.search.query import parse_query
from told.search.sessions import search_sessions
from told.server.context import Client, Server
from told.server.forget import write_checkpoint
from told.server.hybrid import find_hybrid
from told.server.mcp import ServerTool
from told.server.memory import open_memory
from told.server.sessions import TeamSessions, open_sessions
from told.store.memories.records import AGENT, Memory
from told.store.postgres.people import MEMBER, READER, add_audit, find_person
from told.store.postgres.sessions.queries import project_number
from told.store.postgres.sessions.write import PushedSession
from told.store.sessions.read import CheckpointRow, Filter, SessionRow, TurnRow
from told.store.sessions.schema import project_token
from told.tables import load_table
from told.text import clean, shorten

_TABLE = load_table(__file__)
INSTRUCTIONS: str = _TABLE["instructions"]
_AGENT = "mcp"  # what a client calls itself is not known: each request is one of its own
_MOST_FOUND, _MOST_IDS = 50, 20
_ROW, _TEXT, _FULL = 300, 2_000, 20_000  # characters of a text in a list, in `get`, and with `full`
_NAME = lazy_pattern(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+){0,2}")  # of an agent: no room for instructions
_NOTHING = "Nothing found."
_SCOPES = ("project", "global", "private")
_NO_SCOPE = "`scope` must be project, global or private. Only the user shares with the team."
_NO_PROJECT = "Give `project`, such as acme/shop; or the scope global."


class _Teller:
    """Writes what an agent reads: fenced, with who said it and when."""

    def __init__(self, server: Server, client: Client) -> None:
        self._fence, self._now = Fence(server.settings.key), server.now()
        self._viewer = client.viewer
        self._names: dict[str, str] = {}

    def memory(self, one: Memory) -> str:
        """Return the line of a memory."""
        status = "" if one.status == "active" else f" [{one.status}]"
        return f"{one.id}{status} {make_line(one, self._fence, self._now).text[2:]}"

    def session(self, opened: TeamSessions, one: SessionRow) -> str:
        """Return the line of a session."""
        title = self._fence.inline(shorten(clean(one.title or one.summary), _ROW), AGENT)
        agent = one.agent if _NAME.fullmatch(one.agent) else self._fence.inline(one.agent, AGENT)
        marks = f"{one.turns} turns, {agent}, {self._age(one.ended)}, {self._author(opened, one.id)}"
        return f"{one.public} {title} ({marks})"

    def turn(self, opened: TeamSessions, one: SessionRow, turn: TurnRow, most: int) -> str:
        """Return what was asked and answered in a turn."""
        author = self._author(opened, one.id)
        trust = "user" if author == "you" else f"team:{self._viewer.team_name}/{author}"
        lines = [f"{one.public}.{turn.n} ({self._age(turn.at)}, {self._author(opened, one.id)})"]
        for text, by in ((turn.asked, trust), (turn.answered, AGENT), (turn.steps, AGENT)):
            if text:
                lines.append(self._block(text, by, most))
        return "\n".join(lines)

    def checkpoint(self, opened: TeamSessions, one: CheckpointRow, most: int) -> str:
        """Return a checkpoint; agents write them."""
        parts = {
            "Goal": one.title, "Notes": one.overview, "Done": one.work_done, "Pending": one.next_steps,
            "Decisions": one.technical_details, "Files": one.important_files,
        }  # fmt: skip
        text = "\n".join(f"{name}: {value}" for name, value in parts.items() if value)
        about = f"{one.status}, {self._age(one.at)}, {self._author(opened, opened.find(one.session).id)}"
        return f"{one.public} ({about})\n{self._block(text, AGENT, most)}"

    def _block(self, text: str, trust: str, most: int) -> str:
        text = clean(text)
        return self._fence.block(text if len(text) <= most else f"{text[:most]}…", trust)

    def _age(self, at: int) -> str:
        return format_age(at, self._now) if at else "no date"

    def _author(self, opened: TeamSessions, session: int) -> str:
        owner = opened.reader.ownership(session).owner
        if owner == self._viewer.person:
            return "you"
        if owner not in self._names:
            person = find_person(opened.connection, self._viewer.team, owner)
            self._names[owner] = person.name if person else "a colleague"
        return self._names[owner]


def _search(server: Server, client: Client, given: dict[str, Any]) -> str:
    where, limit = given.get("in", "all"), min(given.get("limit", 8), _MOST_FOUND)
    project = given.get("project", "")
    teller, found = _Teller(server, client), []
    if where in ("memories", "all"):
        with open_memory(server, client, project=project) as opened:
            query = parse_query(given["query"], opened.now)
            ids = [name for name, _ in find_hybrid(opened, query, opened.scopes if project else (), limit)]
            known = opened.memories.get(ids)
            found += [teller.memory(known[name]) for name in ids if name in known]
    if where != "memories":
        with open_sessions(server, client) as sessions:
            number = project_number(project)
            result = search_sessions(
                sessions.index, given["query"], now=server.now(), limit=limit,
                project=project_token(number) if number else None, only=True,
            )  # fmt: skip
            for group in result.sessions:
                row = sessions.reader.session(group.session)
                if where == "checkpoints":
                    left = limit - len(found)
                    notes = sessions.reader.checkpoints(Filter(), left, session_id=row.id) if left else ()
                    found += [teller.checkpoint(sessions, one, _ROW) for one in notes]
                    continue
                found.append(teller.session(sessions, row))
                turns = [sessions.reader.turn(row.id, one.n) for one in group.turns if one.n >= 0]
                found += [teller.turn(sessions, row, one, _ROW) for one in turns if one]
    return "\n".join(found) or _NOTHING


def _get(server: Server, client: Client, given: dict[str, Any]) -> str:
    names = [*given.get("ids", ()), *given.get("id", ())][:_MOST_IDS]
    most = _FULL if given.get("full") else _TEXT
    return "\n\n".join(_show(server, client, name, most) for name in names) or _NOTHING


def _show(server: Server, client: Client, name: str, most: int) -> str:
    teller = _Teller(server, client)
    if name.startswith("m"):
        with open_memory(server, client) as opened:
            return teller.memory(opened.find(name))
    with open_sessions(server, client) as sessions:
        if name.startswith("c"):
            note = sessions.reader.checkpoint_named(name)
            if note is None:
                raise NotFoundError("No checkpoint has this id.")
            return teller.checkpoint(sessions, note, most)
        public, _, number = name.partition(".")
        row = sessions.find(public)
        if number.isdecimal() and len(number) < 10:
            turn = sessions.reader.turn(row.id, int(number))
            if turn is None:
                raise NotFoundError(f"{public} has no such turn; it has {row.turns}.")
            return teller.turn(sessions, row, turn, most)
        turns = [teller.turn(sessions, row, one, most // 4) for one in sessions.reader.turns(row.id, 20)]
        return "\n".join((teller.session(sessions, row), *turns))


def _remember(server: Server, client: Client, given: dict[str, Any]) -> str:
    items = [*given.get("items", ())]
    if "text" in given:
        items.insert(0, {name: value for name, value in given.items() if name not in ("items", "project")})
    if not items:
        raise UsageError("`items` is missing: give statements, each with text.")
    project, lines = given.get("project", ""), []
    with open_memory(server, client, project=project, by=AGENT, agent=_AGENT) as opened:
        for one in items:
            scope = one.get("scope", given.get("scope", "project"))
            if scope not in _SCOPES:
                raise UsageError(_NO_SCOPE)
            if scope == "project" and not project:
                raise UsageError(_NO_PROJECT)
            replaces = one.get("replaces", ())
            replaced = replaces.replace(",", " ").split() if isinstance(replaces, str) else replaces
            done = opened.remember(
                NewMemory(
                    one["text"], opened.named_scope(scope), one.get("kind", ""), trust=AGENT,
                    quote=one.get("quote", ""), agent=_AGENT, replaces=tuple(replaced),
                ),
                share=False,
            )  # fmt: skip
            opened.note("memory.save", done.memory.id, by=AGENT)
            says = "Known as" if done.again else "Saved as"
            own = [old.id for old, _ in done.superseded if not opened.author_of(old)]
            lines += [f"{says} {done.memory.id}.", *(f"Superseded {name}." for name in own)]
            lines += [f"Proposal {name} waits for the user." for name in done.proposals]
    return "\n".join(lines)


def _correct(server: Server, client: Client, given: dict[str, Any]) -> str:
    with open_memory(server, client, by=AGENT, agent=_AGENT) as opened:
        old = opened.find_own(given["id"])
        text = validate_text(server.settings.redact(given["text"]))
        quote = " ".join(server.settings.redact(given.get("quote", "")).split())
        new = NewMemory(
            text, old.scope, given.get("kind", old.kind), trust=AGENT, quote=quote, agent=_AGENT
        )  # fmt: skip
        done = correct(opened.writer, old, new)
        opened.note("memory.change", old.id, by=AGENT)
    if done.proposal:
        return f"Only the user can change {old.id}. Saved as proposal {done.proposal} for their approval."
    return f"Replaced {old.id} with {done.memory.id}."


def _brief(server: Server, client: Client, given: dict[str, Any]) -> str:
    with open_memory(server, client, project=given.get("project", "")) as opened:
        request = RecallRequest(given["prompt"], opened.scopes, opened.now)
        made = make_prompt_brief(opened.memories, request, Fence(server.settings.key))
        return format_for_agent(made) or _NOTHING


def _write_checkpoint(server: Server, client: Client, given: dict[str, Any]) -> str:
    redacted = {
        name: server.settings.redact("\n".join(value) if isinstance(value, list) else value)
        for name, value in given.items()
    }

    def part(*names: str) -> str:
        return "\n".join(redacted[name] for name in names if redacted.get(name))

    with open_sessions(server, client) as opened:
        if "session" in given:
            row = opened.find(given["session"])
        else:
            project, now = redacted.get("project", ""), server.now()
            new = PushedSession(
                agent=_AGENT, native=f"{_AGENT}-{secrets.token_hex(8)}", project=project,
                project_name=project, started=now, ended=now,
            )  # fmt: skip
            row = opened.reader.session(opened.writer.put_session(new))
        many = len(opened.reader.checkpoints(Filter(), -1, session_id=row.id))
        status = CLOSED if given.get("status") == "closed" else OPEN
        note = Checkpoint(
            row.native, many + 1, part("goal"), part("notes", "questions"), server.now(), part("done"),
            part("decisions", "plans", "references"), part("files"), part("pending"), status=status,
        )  # fmt: skip
        public = write_checkpoint(opened, row, note)
        add_audit(opened.connection, client.viewer, client.token, "checkpoint.write", public, by=AGENT)
    return f"Wrote checkpoint {public} of session {row.public}."


def _list_sessions(server: Server, client: Client, given: dict[str, Any]) -> str:
    teller = _Teller(server, client)
    wanted = Filter(project_number(given.get("project", "")), given.get("agent", ""))
    with open_sessions(server, client) as opened:
        rows = opened.reader.sessions(wanted, min(given.get("limit", 8), _MOST_FOUND))
        return "\n".join(teller.session(opened, one) for one in rows) or _NOTHING


_Run = Callable[[Server, Client, dict[str, Any]], str]
_RUN: dict[str, tuple[_Run, str]] = {
    "search": (_search, READER), "get": (_get, READER), "remember": (_remember, MEMBER),
    "correct": (_correct, MEMBER), "brief": (_brief, READER), "checkpoint": (_write_checkpoint, MEMBER),
    "sessions": (_list_sessions, READER),
}  # fmt: skip


def _make_tool(name: str, run: _Run, role: str) -> ServerTool:
    local = tool_named(name) or load_tool(_TABLE[name])
    properties = {**local.schema["properties"]}
    if "project" in local.more and name not in ("get", "correct"):
        properties["project"] = local.more["project"]
    schema = {**local.schema, "properties": properties}
    tool = Tool(name, _TABLE["tools"].get(name, local.about), schema, local.more)

    def call(server: Server, client: Client, given: dict[str, Any]) -> str:
        arguments, wrong = check_arguments(tool, given)
        if wrong:
            raise UsageError(wrong)
        return run(server, client, arguments)

    return ServerTool(name, tool.about, schema, call, role)


TOOLS: Sequence[ServerTool] = [_make_tool(name, *how) for name, how in _RUN.items()]
