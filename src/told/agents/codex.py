"""Codex: rollout files in ~/.codex/sessions, and the databases that know their names."""

from __future__ import annotations

from told.agents._codex_rollout import ARCHIVED, read_rollout
from told.agents._codex_state import HISTORY, STATE, TABLES, read_history, read_state
from told.agents.base import Agent, Layout
from told.agents.text import text
from told.guard.jsonl import json_lines
from told.model import Cursor, Facts, Mark, Problem, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.agents.wiring import Change, Place
    from told.model import Event

_ROLLOUT, _INDEX = "rollout", "index"


def read(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield what a rollout, a database or the index of names says, from the cursor on."""
    if source.layout == STATE:
        yield from read_state(source, cursor)
    elif source.layout == HISTORY:
        yield from read_history(source, cursor)
    elif source.layout == _INDEX:
        yield from _read_index(source, cursor)
    else:
        yield from read_rollout(source, cursor)


def _read_index(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    for found in json_lines(source.path, cursor):
        if isinstance(found, Problem):
            yield found
        elif isinstance(found, Cursor):
            yield Mark(found)
        elif text(found.value.get("id")) and text(found.value.get("thread_name")):
            yield Facts(found.value["id"], title=found.value["thread_name"])


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into Codex's files."""
    from told.agents._codex_wiring import changes

    return changes(place)


def done(place: Place) -> bool:
    """Tell whether the user has approved told's hooks."""
    from told.agents._codex_wiring import is_approved

    return is_approved(place)


AGENT = Agent(
    name="codex",
    title="Codex",
    label="codex",
    read=read,
    roots=("~/.codex",),
    env="CODEX_HOME",
    layouts=(
        Layout("sessions/**/rollout-*.jsonl", _ROLLOUT),
        Layout("archived_sessions/**/rollout-*.jsonl", ARCHIVED),
        Layout("state_*.sqlite", STATE),
        Layout("thread_history_*.sqlite", HISTORY),
        Layout("session_index.jsonl", _INDEX),
    ),
    tables=TABLES,
    wire=wire,
    programs=("codex",),
    present=("$CODEX_HOME", "~/.codex"),
    hooks=True,
    todo="Open codex once and approve told's hooks: until then it skips them silently.",
    done=done,
)
