"""What the lab must know of an agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab.npm import Program

if TYPE_CHECKING:  # a bench holds agents
    from lab.bench import Bench

Words = Sequence[str]


@dataclass(frozen=True)
class RealAgent:
    """A real agent: how it is set up, and how it is run without anybody at the keyboard."""

    name: str  # told's name for it
    title: str
    program: Program
    prepare: Callable[[Bench], None]  # writes what its user would have set up
    variables: Callable[[Bench], Mapping[str, str]]
    begin: Callable[[str], Words]  # the arguments that start a session with a prompt
    resume: Callable[[str], Words]  # those that go on with the last session
    remark: str = ""  # what the table has to say about how it was run
    refuses: Mapping[str, str] = field(default_factory=dict)  # what it does not allow, by column
