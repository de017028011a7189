"""The history and the memories that told's MCP server is asked about, and what its tools are called with."""

from __future__ import annotations

import json
import os
import time
from typing import Any, NamedTuple

from benchmarks import CannotMeasureError, banks, histories, measure, story, tools
from benchmarks.mcp_peers import Server
from benchmarks.words import Language
from told.search.index_text import make_index_fields
from told.store.memories.read import SqliteMemories, memory_path, open_memory_database
from told.store.memories.records import PROJECT

_SESSIONS, _TURNS, _MEMORIES = 400, 4_600, 1_000
_FEW_SESSIONS, _FEW_TURNS, _FEW_MEMORIES = 10, 40, 100
_PROJECT = "acme-api"
_SHAPE = story.Shape(sentences=(1, 4), calls=(0, 2), compacted=0.05)
_LIMIT = 5


class Served(NamedTuple):
    """Told's server, and how much it knows."""

    server: Server
    memories: int
    sessions: int


def served(folder: str, data: str, *, quick: bool) -> Served:
    """Make a store for told, and return its server.

    Args:
        folder: A scratch folder.
        data: A home with the agents' own files in it; empty for a generated history.
        quick: A small history, and few memories.
    """
    home = os.path.join(folder, "home")
    store = os.path.join(home, ".told")
    os.makedirs(store, mode=0o700)
    if data:
        desk = _Desk(tools.told(data, "index", folder=home), store)
    else:
        now, turns = int(time.time() * 1000), _FEW_TURNS if quick else _TURNS
        sessions = _FEW_SESSIONS if quick else _SESSIONS
        histories.claude(home, sessions, turns, now=now, shape=_SHAPE, language=Language(1, sentences=2_000))
        desk = _Desk(tools.told(home, "index", folder=os.path.join(home, "src", _PROJECT)), store)
    desk.run("index")
    _fill(store, desk.key(), _FEW_MEMORIES if quick else _MEMORIES)
    kept = [str(desk.run("remember", text, "--kind", "fact")["id"]) for text in _TEXTS]
    session = str(desk.run("list", "--all-projects", "--limit", "1")["sessions"][0]["id"])
    known = desk.run("stats")
    server = Server(desk.command("mcp"), ("sessions", {"limit": _LIMIT}), _calls(session, kept))
    return Served(server, int(known["count"]), int(known["sessions"]))


class _Desk:
    """Told, on one history and one store."""

    def __init__(self, like: measure.Command, store: str) -> None:
        self._like = like._replace(environ={**like.environ, "TOLD_HOME": store})

    def command(self, *words: str) -> measure.Command:
        """Return a command of told's."""
        return self._like._replace(words=[self._like.words[0], *words])

    def run(self, *words: str) -> dict[str, Any]:
        """Run a command of told's, and return the object that it prints."""
        ran = measure.once(self.command(*words, "--json"))
        try:
            found: dict[str, Any] = json.loads(ran.out)
        except ValueError as error:
            said = (ran.errors or ran.out).strip()[-300:]
            raise CannotMeasureError(f"told {words[0]} ended with {ran.code}: {said}") from error
        return found

    def key(self) -> str:
        """Return the project that most sessions are about."""
        projects = self.run("repos")["projects"]
        if not projects:
            raise CannotMeasureError("There is no session in this history.")
        return str(max(projects, key=lambda one: int(one["sessions"]))["key"])


def _fill(store: str, key: str, size: int) -> None:
    database = open_memory_database(memory_path(store))
    assert database is not None
    memories = SqliteMemories(database)
    with memories.writer.transaction():
        for memory in banks.generated(size):
            scope = PROJECT + key if memory.scope == banks.LARGE else memory.scope
            memories.writer.put(memory._replace(scope=scope), make_index_fields, fresh=True)
    memories.close()


_TEXTS = (
    "Orders are charged once, also if the webhook comes twice.",
    "The nightly export runs on the replica, never on the primary.",
    "Reviews need two people for everything below the billing folder.",
)


def _calls(session: str, kept: list[str]) -> dict[str, dict[str, Any]]:
    """Return what each tool is called with, on a session and three memories that are there."""
    return {
        "search": {"query": story.QUESTION, "limit": _LIMIT},
        "timeline": {"around": session, "limit": _LIMIT},
        "get": {"id": session},
        "remember": {"text": "The invoice archive is kept for ten years.", "kind": "fact"},
        "correct": {"id": kept[0], "text": "Orders are charged once, the webhook's id decides."},
        "forget": {"id": kept[1]},
        "checkpoint": {"goal": "Charge each order once", "done": ["a test"], "pending": ["the webhook"]},
        "sessions": {"limit": _LIMIT},
        "files": {"limit": _LIMIT},
        "wonder": {"topic": "the payment webhook"},
        "reason": {"question": "Should the nightly export run on the primary?"},
        "feedback": {"id": kept[2], "useful": True},
    }
