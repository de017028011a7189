"""Ask an agent one question, without a user."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class HeadlessTask:
    """A question for an agent that runs without a user."""

    system: str  # what it is asked to do
    model: str  # empty for the agent's own choice


@dataclass(frozen=True, slots=True)
class HeadlessReply:
    """What an agent answered; tokens are 0 if it does not say."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(frozen=True, slots=True)
class Headless:
    """How to ask an agent one question without tools, hooks, MCP servers or told itself.

    The agent runs in an empty folder and reads the question from standard input.
    """

    arguments: Callable[[HeadlessTask], Sequence[str]]
    read: Callable[[str], HeadlessReply]  # from its standard output; raises ValueError
    small_model: str = ""  # its small fast model; empty if no name of it lasts
    takes_system: bool = False  # as an argument; otherwise it precedes the question
    variables: Mapping[str, str] = field(default_factory=dict)  # of its environment
    files: Mapping[str, str] = field(default_factory=dict)  # settings in the folder it runs in


_SCRATCH = "told-reader-"
_FORMER_SCRATCH = "told-judge-"


def make_scratch_folder() -> str:
    """Create an empty folder in which an agent works for told."""
    return tempfile.mkdtemp(prefix=_SCRATCH)


def is_scratch_folder(path: str) -> bool:
    """Tell whether a session in this folder works for told: it is neither read nor answered."""
    return os.path.basename(path.rstrip("/\\")).startswith((_SCRATCH, _FORMER_SCRATCH))
