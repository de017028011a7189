"""Puts a chat of Gemini CLI together from its file: a JSON document, or a log in which the last word wins."""

from __future__ import annotations

from told.agents.text import items, mapping, text
from told.guard.jsonl import Line, json_document, json_lines
from told.model import Cursor, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Chat:
    """A chat: what its head says, and its messages in the order they were first written."""

    def __init__(self) -> None:
        self.head: dict[str, Any] = {}
        self._messages: dict[str, dict[str, Any]] = {}

    def messages(self) -> list[dict[str, Any]]:
        """Return the messages, each as it was last written."""
        return list(self._messages.values())

    def load(self, path: str) -> Iterator[Problem]:
        """Take in a file; yield what could not be read of it."""
        if path.endswith(".json"):
            document = json_document(path)
            if isinstance(document, Problem):
                yield document
            elif isinstance(document, dict):
                self._record(document)
            else:
                yield Problem(0, "not a JSON object")
            return
        for found in json_lines(path, Cursor()):
            if isinstance(found, Line):
                self._record(found.value)
            elif isinstance(found, Problem):
                yield found

    def _record(self, record: dict[str, Any]) -> None:
        if isinstance(record.get("$set"), dict):
            record = record["$set"]
        if isinstance(record.get("$rewindTo"), str):
            self._rewind(record["$rewindTo"])
        elif isinstance(record.get("id"), str):
            self._messages[record["id"]] = record
        else:
            self.head |= {name: value for name, value in record.items() if name != "messages" and value}
            self._context(items(record.get("messages")))

    def _context(self, messages: list[Any]) -> None:
        """Take in the messages the model is given from here on.

        A compression leaves the old ones out, yet they were said; and it may write the others again with
        new ids, so that one with a new id and a known text is a copy.
        """
        said = {(text(message.get("type")), content(message)) for message in self._messages.values()}
        for number, message in enumerate(map(mapping, messages)):
            key = text(message.get("id")) or f"#{number}"
            if key in self._messages or (text(message.get("type")), content(message)) not in said:
                self._messages[key] = message

    def _rewind(self, to: str) -> None:
        keys = list(self._messages)
        if to in self._messages:
            for key in keys[keys.index(to) :]:
                del self._messages[key]


def content(message: dict[str, Any]) -> str:
    """Return a message's text: what was shown of it if that is told, else what the model was given."""
    shown = message.get("displayContent") or message.get("content")
    if isinstance(shown, str):
        return shown
    parts = [shown] if isinstance(shown, dict) else items(shown)
    return "\n\n".join(part for block in parts if (part := text(block) or text(mapping(block).get("text"))))
