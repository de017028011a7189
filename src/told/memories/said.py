"""Collect what the user typed in a session, as proof for what agents remember."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from told.ingest.agent_prompts import is_said_by_agent
from told.memories.proof import NO_SESSION, Message, prove
from told.memories.remember import MAX_LENGTH, NewMemory
from told.memories.scopes import find_memories
from told.memories.session_notes import NotesFile
from told.store.memories.protocol import Memories
from told.store.memories.records import ACTIVE, AGENT
from told.store.sessions.read import SessionReader

_MAX_SESSIONS = 4  # rows that share the beginning of an id


@dataclass(frozen=True, slots=True)
class Draft:
    """A statement to remember, and whether it is the user's word."""

    new: NewMemory
    why_not: str = ""  # why it is not the user's word; empty if it is


def verify(new: NewMemory, messages: Sequence[Message]) -> Draft:
    """Give an agent's statement the user's trust if its quote proves it by the messages, the latest first.

    Otherwise it becomes a candidate with the agent's trust that replaces nothing, in the user's own words if
    the quote was typed as a statement.
    """
    proof = prove(new.text, new.quote, messages)
    if proof.message is not None:
        new = new._replace(turn=proof.message.turn)
    if not proof.why_not:
        return Draft(new)
    why_not = proof.why_not if new.session or not new.quote else NO_SESSION
    text = proof.said if 0 < len(proof.said) <= MAX_LENGTH else new.text
    return Draft(new._replace(text=text, trust=AGENT, candidate=True, replaces=()), why_not)


def find_replaced(
    memories: Memories, named: Iterable[str], scopes: Sequence[str], now: int
) -> tuple[str, ...]:
    """Return the ids of active memories by id or text; an ambiguous name finds none."""
    ids: dict[str, None] = {}
    for given in filter(None, map(str.strip, named)):
        found = [one for one in find_memories(memories, given, scopes, now) if one.status == ACTIVE]
        exact = [one for one in found if given in (one.id, one.text)]
        if len(found) == 1 or exact:
            ids[(exact or found)[0].id] = None
    return tuple(ids)


def list_messages(
    reader: SessionReader, home: str, agent: str, session: str, by_agent: str = ""
) -> list[Message]:
    """Return the user's messages of a session, the latest first; none if it is unknown.

    Prompts of a helper session, and while another agent prompted it (`by_agent`, as the journal notes it),
    were written by an agent, so they do not count. The latest prompts may be known only from the prompt
    hook's notes.
    """
    if not session:
        return []
    found: list[Message] = []
    last = ""
    for row in reader.sessions_like(session, _MAX_SESSIONS):
        if row.native != session or row.agent != agent:
            continue
        if row.kind:
            return []
        is_agents = is_said_by_agent(by_agent)
        for turn in reader.turns(row.id):
            if is_agents(turn.at):
                continue
            found.append(Message(turn.asked, last, turn.n, session))
            last = f"{turn.asked}\n{turn.answered}"
    known = {" ".join(one.text.split()) for one in found}
    for prompt in NotesFile(home, agent, session).read().prompts:
        if " ".join(prompt.text.split()) not in known:
            found.append(Message(prompt.text, last, found[-1].turn + 1 if found else 0, session))
            last = prompt.text
    return found[::-1]
