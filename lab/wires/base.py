"""What is asked and what is answered, whichever language an agent speaks with its model."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]
Event = tuple[str, Mapping[str, Any] | str]  # its name, where the language has names, and its data

USER, ASSISTANT, CALL, RESULT = "user", "assistant", "call", "result"
TURN, SUMMARY, TITLE, JSON = "turn", "summary", "title", "json"  # what a request is
CUSTOM = "custom"  # the schema of a tool that takes plain text

# Agents put what is not the user's between tags; a prompt itself is at most put into one of these.
_PROMPT = re.compile(r"<(user_input|user_message|user_query|task)\b[^>]*>(.*?)</\1>", re.DOTALL)
_ADDED = re.compile(r"<([A-Za-z][\w:-]*)(?:\s[^>]*)?>.*?</\1(?:\s[^>]*)?>", re.DOTALL)


@dataclass(frozen=True)
class Asked:
    """A request, in words that all languages share."""

    said: Sequence[tuple[str, str]]  # who (USER, ASSISTANT, CALL, RESULT) and what, in order
    system: str
    tools: Mapping[str, Any]  # the schema of each tool by its name
    schema: Mapping[str, Any] | None = None  # the form of the JSON that is wanted

    @property
    def prompt(self) -> str:
        """What the user said last, without what the agent put around it."""
        return self._last()[1]

    @property
    def last(self) -> str:
        """The same with all that the agent put around it."""
        at = self._last()[0]
        return self.said[at][1] if at >= 0 else ""

    @property
    def rounds(self) -> int:
        """How often the model has called tools since then."""
        after = [who for who, _ in self.said[self._last()[0] + 1 :] if who in {CALL, RESULT}]
        return sum(1 for at, who in enumerate(after) if who == CALL and (at == 0 or after[at - 1] != CALL))

    @property
    def called(self) -> tuple[str, ...]:
        """The tools that the model has called since then."""
        return self._since(CALL)

    @property
    def results(self) -> tuple[str, ...]:
        """What these said."""
        return self._since(RESULT)

    def _since(self, wanted: str) -> tuple[str, ...]:
        return tuple(text for who, text in self.said[self._last()[0] + 1 :] if who == wanted)

    def _last(self) -> tuple[int, str]:
        for at in range(len(self.said) - 1, -1, -1):
            who, text = self.said[at]
            own = without_added(text) if who == USER else ""
            if own:
                return at, own
        return -1, ""


@dataclass(frozen=True)
class Answer:
    """What the model says and does."""

    text: str = ""
    calls: Sequence[tuple[str, Any]] = ()  # the tool and its arguments
    tokens: int = 1200  # how full it says the context is
    spent: int = 40
    kind: str = TURN
    ids: Sequence[str] = field(default_factory=lambda: [fresh("call_") for _ in range(4)])


def without_added(text: str) -> str:
    """Return a user's text without the tagged parts that an agent added."""
    inner = _PROMPT.findall(text)
    return inner[-1][1].strip() if inner else _ADDED.sub("", text).strip()


def text_of(content: Any) -> str:
    """Return the text of a message, be it a text or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict) and "text" in part)


def compact(value: Any) -> str:
    """Return JSON on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def fresh(prefix: str) -> str:
    """Return an id that was never given before."""
    return prefix + uuid.uuid4().hex[:20]
