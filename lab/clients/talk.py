"""What a client is asked to do with a server, and what it heard; the same for every client."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

WORD = "semicolons"  # stands in one memory of the invented machine; prompts that want a word are given it
INITIALIZE = "initialize"  # the revisions that begin with a handshake
STATELESS = "2026-07-28"  # the one without


@dataclass(frozen=True)
class Server:
    """How a client starts the server, and the folders that it says it works in."""

    command: str
    args: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    roots: Sequence[str] = ()


@dataclass(frozen=True)
class Call:
    """One call of a tool; None for no arguments at all."""

    tool: str
    arguments: Mapping[str, Any] | None


@dataclass(frozen=True)
class Outcome:
    """What came back: a result, a tool error, or a failure, which is anything that is neither."""

    text: str = ""
    is_error: bool = False
    failure: str = ""


@dataclass(frozen=True)
class Heard:
    """Everything that a client heard on one connection."""

    revision: str = ""
    instructions: str = ""
    tools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # the schema of each by its name
    resources: Sequence[str] = ()
    prompts: Sequence[str] = ()
    texts: Mapping[str, str] = field(default_factory=dict)  # of every resource and prompt that was asked for
    outcomes: Sequence[Outcome] = ()
    failure: str = ""  # why there is no more


@dataclass(frozen=True)
class Client:
    """A client at one version, speaking one era of the protocol."""

    title: str
    version: str
    era: str
    talk: Callable[[Server, Sequence[Call]], Heard]


def heard(said: Mapping[str, Any]) -> Heard:
    """Return what a client of another language wrote down as JSON."""
    outcomes = [Outcome(**one) for one in said.get("outcomes") or ()]
    return Heard(**{**said, "outcomes": outcomes})
