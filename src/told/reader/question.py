"""Choose what a reader sees of some sessions, and write the question."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from told.ingest.agent_prompts import TOPIC as PROMPTED
from told.ingest.agent_prompts import is_said_by_agent
from told.journal.transitions import may_reword
from told.learning.programs import Programs
from told.memories.scopes import active_scopes
from told.reader.answer import ITEMS_SCHEMA, SUMMARY_SCHEMA
from told.reader.base import Question, Stores
from told.recall.search import MemoryQuestion, search_memories
from told.search.query import parse_query
from told.store.memories.protocol import Memories
from told.store.memories.records import (
    ACTIVE,
    CANDIDATE,
    GLOBAL,
    PROJECT,
    TOOL,
    USER,
    Memory,
    is_private,
)
from told.store.sessions.facts import QueuedSession
from told.store.sessions.read import TurnRow
from told.tables import load_table
from told.text import count_tokens, shorten

_PROMPTS: Mapping[str, str] = load_table(__file__, "prompts")
ANSWER_TOKENS = 200  # that an answer usually has, for each session
_MAX_ANSWER_TOKENS, _MAX_SUMMARY_TOKENS = 4_000, 600
BATCH_TOKENS = 3_000  # of messages in one question
_BATCH_MESSAGES, _BATCH_SESSIONS = 60, 12
_MAX_KEPT = 30
_MAX_KNOWN, _KNOWN_EACH = 40, 4
# In characters.
_MAX_MESSAGE, _MAX_BEFORE, _MAX_KNOWN_TEXT = 4_000, 400, 240
_OUTLINE_MESSAGES, _OUTLINE_LINE, _OUTLINE_ANSWER, _OUTLINE_ANSWERS, _OUTLINE_FILES = 30, 200, 700, 3, 12


@dataclass(frozen=True, slots=True)
class Message:
    """A message that the user typed, redacted, with the end of the agent's text before it."""

    turn: int
    at: int
    text: str
    before: str
    id: int = -1  # in the question: its turn, or its number among those of several sessions

    @property
    def tokens(self) -> int:
        """Estimate its size."""
        return count_tokens(self.text) + count_tokens(self.before)


@dataclass(frozen=True, slots=True)
class Part:
    """The messages of one session that a question is about."""

    session: QueuedSession
    until: int  # the first turn that is not covered
    messages: tuple[Message, ...] = ()

    @property
    def tokens(self) -> int:
        """Estimate the size of its messages."""
        return sum(one.tokens for one in self.messages)


@dataclass(frozen=True, slots=True)
class Batch:
    """What one question is about: sessions of one project, oldest first."""

    parts: tuple[Part, ...]
    kept: tuple[Memory, ...] = ()  # what told kept from these messages by itself
    known: tuple[Memory, ...] = ()

    @property
    def messages(self) -> tuple[Message, ...]:
        """All messages, in the order of their ids."""
        return tuple(one for part in self.parts for one in part.messages)

    def question(self) -> Question:
        """Write the question."""
        return make_question([part.messages for part in self.parts], self.known, self.kept)

    def estimate_tokens(self) -> int:
        """Estimate the tokens that it takes, with the answer."""
        return estimate_tokens(self.question(), len(self.parts))


def make_question(
    sessions: Sequence[Sequence[Message]], known: Sequence[Memory], kept: Sequence[Memory] = ()
) -> Question:
    """Write what the reader is asked about the messages of one or several sessions."""
    key = "turn" if len(sessions) == 1 else "id"
    found = [[_describe_message(one, key) for one in messages] for messages in sessions]
    content: dict[str, Any] = {}
    if len(sessions) == 1:
        content = {"date": _find_date(sessions[0]), "messages": found[0]}
    else:
        content["sessions"] = [
            {"date": _find_date(messages), "messages": rows}
            for messages, rows in zip(sessions, found, strict=True)
        ]
    content["candidates"] = [{"id": one.id, "text": one.text} for one in kept]
    content["known"] = [
        {"id": one.id, "date": _format_date(_last_said(one)), "text": shorten(one.text, _MAX_KNOWN_TEXT)}
        for one in known
    ]
    prompt = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return Question(_PROMPTS["items"], prompt, ITEMS_SCHEMA, _MAX_ANSWER_TOKENS)


def _describe_message(one: Message, key: str) -> dict[str, Any]:
    return {key: one.id, **({"before": one.before} if one.before else {}), "text": one.text}


def _find_date(messages: Sequence[Message]) -> str:
    return _format_date(next((one.at for one in messages if one.at > 0), 0))


def _format_date(at: int) -> str:
    try:
        return time.strftime("%Y-%m-%d", time.localtime(at // 1000)) if at > 0 else "unknown"
    except (OverflowError, ValueError, OSError):
        return "unknown"


def _last_said(memory: Memory) -> int:
    return max((place.at for place in memory.evidence), default=memory.created)


def estimate_tokens(question: Question, sessions: int = 1) -> int:
    """Estimate the tokens that a question takes, with the answer."""
    return count_tokens(question.system) + count_tokens(question.prompt) + ANSWER_TOKENS * max(1, sessions)


class Planner:
    """Divides sessions into questions."""

    def __init__(self, stores: Stores) -> None:
        self._reading = stores.reading
        self._memories = stores.memories
        self._redact = stores.redact
        self._now = stores.now
        self._programs = Programs(stores.reading)

    def read_parts(self, session: QueuedSession, start: int) -> list[Part]:
        """Return what was typed in a session from a turn on, in parts that fit one question."""
        speaker = self._memories.noted(PROMPTED).get(session.name, "")
        turns = self._reading.turns(session.id)
        if self._programs.prompt(session, turns):
            return [Part(session, session.next_n)]
        found = read_messages(turns, start, self._redact, speaker)
        groups = list(group_messages(found)) or [[]]
        return [
            Part(session, group[-1].turn + 1 if more else session.next_n, tuple(group))
            for group, more in zip(groups, (*groups[1:], None), strict=True)
        ]

    def make_batch(self, parts: Sequence[Part]) -> Batch:
        """Number the messages, and add what told kept from them and knows."""
        numbered, last = [], 0
        for part in parts:
            messages = tuple(
                replace(one, id=last + at if len(parts) > 1 else one.turn)
                for at, one in enumerate(part.messages)
            )
            last += len(messages)
            numbered.append(Part(part.session, part.until, messages))
        kept = tuple(one for part in numbered for one in self._find_kept(part))[:_MAX_KEPT]
        batch = Batch(tuple(numbered), kept)
        if not batch.messages:
            return batch
        project = numbered[0].session.project
        scopes = active_scopes(self._memories, PROJECT + project if project else GLOBAL)
        ids = {one.id for one in kept}
        known = find_known(self._memories, batch.messages, scopes, self._now, ids)
        return Batch(batch.parts, kept, tuple(map(self._clean, known)))

    def _find_kept(self, part: Part) -> Iterator[Memory]:
        """Yield what told kept by itself from the messages of a session, and agents' unproven statements."""
        turns = {one.turn: " ".join(one.text.split()) for one in part.messages}
        if not turns:
            return
        for one in self._memories.load(self._memories.of_session(part.session.native)).values():
            is_unsure = one.status == CANDIDATE and one.trust != TOOL
            if is_private(one) or not (
                is_unsure or (one.status == ACTIVE and one.trust == USER and may_reword(one))
            ):
                continue
            places = [place for place in one.evidence if place.session == part.session.native]
            if any(_is_in(place.quote, place.turn, turns) for place in places):
                yield self._clean(one)

    def _clean(self, memory: Memory) -> Memory:
        return memory._replace(text=self._redact(memory.text))

    def make_summary_question(self, session: QueuedSession) -> Question:
        """Ask for the goal, the work and the decisions of a session."""
        outline = self._make_outline(session, self._reading.turns(session.id))
        prompt = json.dumps({"session": outline}, ensure_ascii=False, separators=(",", ":"))
        return Question(_PROMPTS["summary"], prompt, SUMMARY_SCHEMA, _MAX_SUMMARY_TOKENS)

    def _make_outline(self, session: QueuedSession, turns: Sequence[TurnRow]) -> dict[str, Any]:
        """Return the requests, the last answers and the changed files of a session."""

        def short(text: str, width: int) -> str:
            return shorten(self._redact(text[: 4 * width]), width)

        asked = [one for one in turns if one.asked.strip()]
        some = asked if len(asked) <= _OUTLINE_MESSAGES else [asked[0], *asked[1 - _OUTLINE_MESSAGES :]]
        answers = [one.answered[-2 * _OUTLINE_ANSWER :] for one in turns if one.answered.strip()]
        files = [path for path, how, _ in self._reading.files_of(session.id) if how != "read"]
        return {
            "requests": [short(one.asked, _OUTLINE_LINE) for one in some],
            "last_answers": [self._redact(one)[-_OUTLINE_ANSWER:] for one in answers[-_OUTLINE_ANSWERS:]],
            "changed_files": [short(path, _OUTLINE_LINE) for path in files[:_OUTLINE_FILES]],
        }


def _is_in(quote: str, turn: int, turns: Mapping[int, str]) -> bool:
    wanted = " ".join(quote.split())
    return bool(wanted) and (turn in turns or any(wanted in text for text in turns.values()))


def read_messages(
    turns: Iterable[TurnRow], start: int, redact: Callable[[str], str], speaker: str = ""
) -> Iterator[Message]:
    """Yield what the user typed from a turn on; long pastes are cut in the middle.

    Args:
        turns: The turns of one session.
        start: The first turn that was not read yet.
        redact: Removes secrets.
        speaker: When an agent prompted the session, as the journal notes it.
    """
    is_agents = is_said_by_agent(speaker)
    before = ""
    for turn in turns:
        if turn.n >= start and turn.asked.strip() and not is_agents(turn.at):
            text = cut_middle(redact(turn.asked).strip(), _MAX_MESSAGE)
            yield Message(turn.n, turn.at, text, redact(before)[-_MAX_BEFORE:])
        before = turn.answered[-2 * _MAX_BEFORE :]


def cut_middle(text: str, most: int) -> str:
    """Shorten a text in its middle."""
    if len(text) <= most:
        return text
    head = most * 2 // 3
    return f"{text[:head]}\n[… {len(text) - most:,} characters …]\n{text[head - most :]}"


def find_known(
    memories: Memories,
    messages: Sequence[Message],
    scopes: tuple[str, ...],
    now: int,
    without: Iterable[str] = (),
) -> Iterator[Memory]:
    """Yield the active memories that messages may repeat or replace, except private ones, oldest first."""
    rows = memories.listed(scopes=scopes, observations=False, limit=_MAX_KNOWN + 1)
    if len(rows) <= _MAX_KNOWN:
        chosen = list(memories.load(rows).values())
    else:
        ids: dict[str, None] = {}
        for one in messages:
            question = MemoryQuestion(parse_query(one.text, now), scopes, now)
            ids |= dict.fromkeys(hit.memory.id for hit in search_memories(memories, question)[:_KNOWN_EACH])
        chosen = list(memories.get(list(ids)[:_MAX_KNOWN]).values())
    left_out = set(without)
    shown = [
        one
        for one in chosen
        if one.status == ACTIVE and one.trust != TOOL and not is_private(one) and one.id not in left_out
    ]
    yield from sorted(shown, key=lambda one: (_last_said(one), one.id))


def group_messages(messages: Iterable[Message]) -> Iterator[list[Message]]:
    """Divide messages into groups that fit one question."""
    group: list[Message] = []
    size = 0
    for one in messages:
        if group and (size + one.tokens > BATCH_TOKENS or len(group) == _BATCH_MESSAGES):
            yield group
            group, size = [], 0
        group.append(one)
        size += one.tokens
    if group:
        yield group


def fits(parts: Sequence[Part], more: Part) -> bool:
    """Tell whether another part fits one question with some."""
    return (
        len(parts) < _BATCH_SESSIONS
        and sum(one.tokens for one in (*parts, more)) <= BATCH_TOKENS
        and sum(len(one.messages) for one in (*parts, more)) <= _BATCH_MESSAGES
    )
