"""Choose what of a session the judge reads, and write the question."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from told.capture.pasted import mask_pasted
from told.judge.base import SCHEMA, Question, Stores
from told.memories.scopes import active_scopes
from told.recall.search import MemoryQuestion, search_memories
from told.search.query import parse_query
from told.store.memories.protocol import Memories
from told.store.memories.records import CANDIDATE, GLOBAL, PROJECT, Memory, is_private
from told.store.sessions.facts import QueuedSession
from told.store.sessions.read import TurnRow
from told.text import count_tokens, shorten

ANSWER_TOKENS = 250  # that an answer usually has
_MAX_ANSWER_TOKENS = 2_000
_BATCH_TOKENS = 6_000  # of messages in one question
_BATCH_MESSAGES = 40
_MAX_CANDIDATES = 30
_MAX_KNOWN, _KNOWN_EACH = 15, 3
# In characters.
_MAX_MESSAGE, _MAX_BEFORE, _MAX_KNOWN_TEXT = 4_000, 300, 200
_OUTLINE_MESSAGES, _OUTLINE_LINE, _OUTLINE_ANSWER, _OUTLINE_ANSWERS, _OUTLINE_FILES = 30, 200, 700, 3, 12
_SYSTEM: str = tomllib.loads(Path(__file__).with_name("prompts.toml").read_text(encoding="utf-8"))["system"]


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the user, redacted, with the end of the agent's text before it."""

    turn: int
    at: int
    text: str
    before: str


@dataclass(frozen=True, slots=True)
class Portion:
    """What one question is about."""

    session: QueuedSession
    until: int  # the first turn that is not covered
    messages: tuple[Message, ...] = ()
    candidates: tuple[Memory, ...] = ()
    known: tuple[Memory, ...] = ()
    outline: dict[str, Any] | None = None  # for a summary

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to ask."""
        return not (self.messages or self.candidates or self.outline)

    def question(self) -> Question:
        """Write the question."""
        return make_question(self.messages, self.known, self.candidates, self.outline)

    def estimate_tokens(self) -> int:
        """Estimate the tokens that it takes, with the answer."""
        return estimate_tokens(self.question())


def make_question(
    messages: Sequence[Message],
    known: Sequence[Memory],
    candidates: Sequence[Memory] = (),
    outline: dict[str, Any] | None = None,
) -> Question:
    """Write what the judge is asked about messages of one session."""
    content: dict[str, Any] = {
        "messages": [
            {"turn": one.turn, **({"before": one.before} if one.before else {}), "text": one.text}
            for one in messages
        ],
        "candidates": [{"id": one.id, "text": one.text} for one in candidates],
        "known": [{"id": one.id, "text": shorten(one.text, _MAX_KNOWN_TEXT)} for one in known],
    }
    if outline:
        content["session"] = outline
    prompt = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return Question(_SYSTEM, prompt, SCHEMA, _MAX_ANSWER_TOKENS)


def estimate_tokens(question: Question) -> int:
    """Estimate the tokens that a question takes, with the answer."""
    return count_tokens(question.system) + count_tokens(question.prompt) + ANSWER_TOKENS


class Planner:
    """Divides sessions into questions."""

    def __init__(self, stores: Stores) -> None:
        self._reading = stores.reading
        self._memories = stores.memories
        self._redact = stores.redact
        self._now = stores.now

    def divide(self, session: QueuedSession, start: int, *, summarise: bool) -> Iterator[Portion]:
        """Yield what to ask about the turns of a session from `start` on."""
        turns = self._reading.turns(session.id)
        outline = self._make_outline(session, turns) if summarise else None
        groups = list(group_messages(read_messages(turns, start, self._redact))) or [[]]
        candidates = self._find_candidates(session, turns)
        for number, group in enumerate(groups):
            is_last = number == len(groups) - 1
            yield Portion(
                session,
                session.next_n if is_last else group[-1].turn + 1,
                tuple(group),
                candidates if number == 0 else (),
                self._find_known(session, group),
                outline if is_last else None,
            )

    def _find_candidates(self, session: QueuedSession, turns: Sequence[TurnRow]) -> tuple[Memory, ...]:
        """Return the statements of a session that await confirmation; none that may be pasted."""
        found = self._memories.load(self._memories.of_session(session.native)).values()
        asked = {turn.n: turn.asked for turn in turns}
        waiting = [
            one for one in found
            if one.status == CANDIDATE
            and not is_private(one)
            and any(
                (place.agent, place.session) == (session.agent, session.native)
                and place.quote in mask_pasted(asked.get(place.turn, place.quote))
                for place in one.evidence
            )
        ]  # fmt: skip
        return tuple(map(self._clean, waiting[:_MAX_CANDIDATES]))

    def _clean(self, memory: Memory) -> Memory:
        return memory._replace(text=self._redact(memory.text))

    def _find_known(self, session: QueuedSession, messages: Sequence[Message]) -> tuple[Memory, ...]:
        scope = PROJECT + session.project if session.project else GLOBAL
        scopes = active_scopes(self._memories, scope)
        return tuple(map(self._clean, find_known(self._memories, messages, scopes, self._now)))

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


def read_messages(turns: Sequence[TurnRow], start: int, redact: Callable[[str], str]) -> Iterator[Message]:
    """Yield the messages from a turn on."""
    before = ""
    for turn in turns:
        if turn.n >= start and turn.asked.strip():
            yield Message(turn.n, turn.at, redact(turn.asked)[:_MAX_MESSAGE], redact(before)[-_MAX_BEFORE:])
        before = turn.answered[-2 * _MAX_BEFORE :]


def find_known(
    memories: Memories, messages: Sequence[Message], scopes: tuple[str, ...], now: int
) -> Iterator[Memory]:
    """Yield the active memories that messages may repeat or replace, except private ones."""
    found: dict[str, int] = {}
    for one in messages:
        question = MemoryQuestion(parse_query(one.text, now), scopes, now)
        for hit in search_memories(memories, question)[:_KNOWN_EACH]:
            found.setdefault(hit.memory.id, len(found))
    loaded = memories.get(list(found)[:_MAX_KNOWN])
    yield from (loaded[one] for one in found if one in loaded and not is_private(loaded[one]))


def group_messages(messages: Iterable[Message]) -> Iterator[list[Message]]:
    """Divide messages into groups that fit one question."""
    group: list[Message] = []
    size = 0
    for one in messages:
        tokens = count_tokens(one.text) + count_tokens(one.before)
        if group and (size + tokens > _BATCH_TOKENS or len(group) == _BATCH_MESSAGES):
            yield group
            group, size = [], 0
        group.append(one)
        size += tokens
    if group:
        yield group
