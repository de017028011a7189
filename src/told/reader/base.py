"""What a reader is asked, what it answers, and what it may use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import apsw

from told.agents.headless import HeadlessReply
from told.errors import BusyError
from told.ingest.complete_sessions import CompleteSessions
from told.settings.keys import OFF
from told.store.memories.protocol import Memories

AGENT, ENDPOINT, ANTHROPIC, GGUF = "agent", "endpoint", "anthropic", "gguf"
MODES = (OFF, AGENT, ENDPOINT, ANTHROPIC, GGUF)


@dataclass(frozen=True, slots=True)
class Question:
    """One request; all text is redacted."""

    system: str
    prompt: str
    schema: Mapping[str, Any]  # JSON schema of the answer
    max_tokens: int  # of the answer


@dataclass(frozen=True, slots=True)
class Stores:
    """What the reader's room reads and writes."""

    home: str
    connection: apsw.Connection
    reading: CompleteSessions
    memories: Memories
    redact: Callable[[str], str]  # also where the user turned redaction off for told's own files
    now: int


class NoAnswerError(BusyError):
    """The reader gave no usable answer. Try again later."""


class Reader(Protocol):
    """A model that answers questions."""

    @property
    def mode(self) -> str:
        """One of MODES."""

    @property
    def title(self) -> str:
        """Its name for users, such as `qwen3 at 127.0.0.1`."""

    @property
    def sends(self) -> str:
        """Where the text goes, in words."""

    def ask(self, question: Question) -> HeadlessReply:
        """Answer a question.

        Raises NoAnswerError, or MissingError until the user changes something.
        """
