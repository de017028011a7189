"""What a reader of another tool's store yields: items to import, and why others are left out."""

from __future__ import annotations

from dataclasses import dataclass

from told.store.memories.names import ACTIVE, AGENT


@dataclass(frozen=True, slots=True)
class Item:
    """One statement found in another tool's store."""

    source: str  # its id there; a second import finds it again by this
    text: str
    kind: str = "fact"  # rule, decision, fact, correction, preference, warning, observation
    project: str = ""  # as stored there: a path, a remote or a name; empty: all projects
    created: int = 0  # in ms since 1970; 0: unknown
    updated: int = 0
    trust: str = AGENT  # `user` only for what a person wrote; what a model wrote is the agent's
    status: str = ACTIVE  # active, candidate, archived, superseded; forgotten if it was deleted there
    importance: float = 0.0  # 0 to 10
    entities: tuple[str, ...] = ()  # tags, concepts and files
    triggers: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()  # (supports, contradicts, supersedes or about; a source)
    agent: str = ""  # the agent it was learned from, as named there
    session: str = ""  # the agent's own id of the session, if known
    context: str = ""  # one line that makes the text understandable


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What is not imported, and why."""

    source: str  # an id there, or the name of a table
    reason: str
    count: int = 1  # how many it stands for
