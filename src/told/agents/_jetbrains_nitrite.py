"""Recovers conversations from the Nitrite databases of older Copilot plugins for JetBrains.

Such a file is a Java object store without a public description. What is in it of use is JSON, often nested
as text in JSON, so the JSON is looked for and the store around it is not interpreted beyond its field names.
"""

from __future__ import annotations

import json
import re

from told.agents._jetbrains_project import project_of
from told.agents._vscode_places import file_path
from told.agents._vscode_tools import arguments_of, call_events
from told.agents.text import items, mapping, text
from told.guard.jsonl import parse
from told.model import AGENT, USER, Begin, Event, Facts, Said, Touch
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_ID = rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
# JSON text has no control bytes in it, so the first one is behind its end.
_FRAGMENT = re.compile(
    rb'\{"(?:__first__|' + _ID + rb')":\{"type":"(?:Subgraph|Value)"[^\x00-\x1f]*'
)  # fmt: skip
_DOCUMENT = b"\xac\xed\x00\x05"  # begins each object that Java wrote
_SESSION = re.compile(rb"sessionIdt\x00\x24(" + _ID + rb")")
_TITLE = re.compile(rb"t\x00\x24(" + _ID + rb").{0,8}name.{0,300}?valuet(..)", re.DOTALL)
_REQUEST, _RESPONSE = b"t\x00\x07request", b"t\x00\x08response"
# Java writes a character beyond the first 65,536 as two halves of three bytes each.
_HALVES = re.compile(rb"\xed([\xa0-\xaf])([\x80-\xbf])\xed([\xb0-\xbf])([\x80-\xbf])")
_NODES = ("Markdown", "AgentRound", "Thinking", "WorkingSet", "FixedContextPanel")


@record
class _Found:
    """One fragment: whose session it is of, whose words it holds, and its nodes in order."""

    session: str
    document: int
    who: str
    nodes: list[tuple[str, Any]]


def conversations(content: bytes, fallback: str) -> Iterator[Event]:
    """Yield each conversation that can be recovered; nothing when there is none.

    Args:
        content: the whole file.
        fallback: the session of words that name none.
    """
    titles = _titles(content)
    content = _HALVES.sub(_joined, content)
    found: dict[str, list[_Found]] = {}
    for fragment in _fragments(content, fallback):
        found.setdefault(fragment.session, []).append(fragment)
    for session, fragments in found.items():
        # One document holds a question and its answer, in no certain order.
        fragments.sort(key=lambda fragment: (fragment.document, fragment.who != USER))
        events = list(dict.fromkeys(event for fragment in fragments for event in _events(fragment)))
        if not any(isinstance(event, Said) for event in events):
            continue
        paths = (event.path for event in events if isinstance(event, Touch))
        cwd = next((project for path in paths if (project := project_of(path))), "")
        yield Begin(session)
        yield Facts(session, cwd, title=titles.get(session, ""))
        yield from events


def _joined(halves: re.Match[bytes]) -> bytes:
    high = (halves[1][0] & 0x0F) << 6 | (halves[2][0] & 0x3F)
    low = (halves[3][0] & 0x0F) << 6 | (halves[4][0] & 0x3F)
    return chr(0x10000 + (high << 10) + low).encode()


def _fragments(content: bytes, fallback: str) -> Iterator[_Found]:
    decoder = json.JSONDecoder()
    session, last = fallback, -1
    position = 0
    while match := _FRAGMENT.search(content, position):
        position = match.end()
        words = match[0].decode("utf-8", "replace")
        try:
            value, length = decoder.raw_decode(words)
        except (ValueError, RecursionError):
            continue
        position = min(position, match.start() + len(words[:length].encode("utf-8", "replace")))
        start = content.rfind(_DOCUMENT, 0, match.start())
        if start != last or start < 0:
            end = content.find(_DOCUMENT, match.start())
            named = _SESSION.search(content, max(start, 0), end if end > 0 else len(content))
            session, last = named[1].decode() if named else fallback, start
        nodes = list(_nodes(value))
        asked = content.rfind(_REQUEST, max(start, 0), match.start())
        answered = content.rfind(_RESPONSE, max(start, 0), match.start())
        yield _Found(session, max(start, 0), _speaker(nodes, asked, answered), nodes)


def _speaker(nodes: list[tuple[str, Any]], asked: int, answered: int) -> str:
    """Say whose words the Markdown is. Without good evidence it is the agent's, who is trusted less."""
    kinds = {kind for kind, _ in nodes}
    if "AgentRound" in kinds or answered > asked:
        return AGENT
    return USER if asked > answered or "FixedContextPanel" in kinds else AGENT


def _nodes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the typed nodes of a graph in order, through every level of JSON kept as text."""
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            node = parse(node) if node[:1] in ("{", "[") else None
        if isinstance(node, list):
            waiting.extend(reversed(node))
        elif isinstance(node, dict):
            data = node.get("data")
            if node.get("type") in _NODES:
                yield node["type"], parse(data) if isinstance(data, str) else data
            else:
                waiting.extend(reversed(node.values()))


def _events(found: _Found) -> Iterator[Event]:
    rounds = any(kind == "AgentRound" for kind, _ in found.nodes)
    for kind, data in found.nodes:
        node = mapping(data)
        # Beside an agent's rounds, Markdown repeats the question.
        if kind == "Markdown" and not rounds:
            yield from _said(found.session, found.who, text(node.get("text")))
        elif kind == "AgentRound":
            yield from _said(found.session, AGENT, text(node.get("reply")))
            for call in items(node.get("toolCalls")):
                given = mapping(call)
                tool = text(given.get("name")) or text(given.get("toolName"))
                if tool:
                    yield from call_events(found.session, tool, arguments_of(given.get("input")), 0)
        elif kind == "Thinking":
            yield from _said(found.session, AGENT, text(node.get("content")), "step")
        elif kind == "WorkingSet":
            for entry in items(data):
                path = file_path(mapping(entry).get("file"))
                if path:
                    yield Touch(found.session, path, "edit")


def _said(session: str, who: str, words: str, form: str = "text") -> Iterator[Said]:
    if words.strip():
        yield Said(session, who, words.strip(), form=form)


def _titles(content: bytes) -> dict[str, str]:
    """Return each conversation's last title."""
    titles = {}
    for match in _TITLE.finditer(content):
        length = int.from_bytes(match[2], "big")
        raw = content[match.end() : match.end() + length]
        title = _HALVES.sub(_joined, raw).decode("utf-8", "replace")
        if 0 < length <= 400 and title.isprintable():
            titles[match[1].decode()] = title
    return titles
