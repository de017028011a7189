"""One agent on one machine, with the model that it speaks to."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab.agents.base import RealAgent
from lab.machine import Machine, Said
from lab.model import Model, Request
from lab.npm import Shelf
from lab.quiet import wait_for_quiet
from lab.wires.base import SUMMARY, TURN


@dataclass(frozen=True)
class Exchange:
    """What a prompt led to."""

    said: Said
    requests: tuple[Request, ...]  # all that reached the model meanwhile

    @property
    def turns(self) -> tuple[Request, ...]:
        """The requests of the conversation itself: no titles and no summaries."""
        return tuple(request for request in self.requests if request.kind == TURN)

    @property
    def after_summary(self) -> tuple[Request, ...]:
        """The requests of the conversation that follow its last compaction; none if there was none."""
        kinds = [request.kind for request in self.requests]
        if SUMMARY not in kinds:
            return ()
        last = len(kinds) - 1 - kinds[::-1].index(SUMMARY)
        return tuple(request for request in self.requests[last + 1 :] if request.kind == TURN)

    @property
    def answered(self) -> bool:
        """Whether the agent asked the model and ended well."""
        return self.said.code == 0 and bool(self.turns)


class Bench:
    """Runs one real agent."""

    def __init__(self, agent: RealAgent, machine: Machine, model: Model, shelf: Shelf) -> None:
        """Install the agent if needed, and write its user's settings."""
        self.agent = agent
        self.machine = machine
        self.model = model
        self.label = f"{os.path.basename(machine.root)}-{agent.name}"
        model.watched[self.label] = os.path.join(machine.told_home, "checkpoints")
        self.program = shelf.installed(agent.program)
        self.path = shelf.path_for(agent.program)
        agent.prepare(self)

    @property
    def url(self) -> str:
        """The model's address for this agent."""
        return self.model.url(self.label)

    def begin(self, prompt: str, more: Mapping[str, str] | None = None) -> Exchange:
        """Start a session with a prompt, in a new process."""
        return self.run(self.agent.begin(prompt), more)

    def resume(self, prompt: str) -> Exchange:
        """Go on with the last session, in a new process."""
        return self.run(self.agent.resume(prompt))

    def run(self, arguments: Sequence[str], more: Mapping[str, str] | None = None) -> Exchange:
        """Run the agent."""
        wait_for_quiet()
        before = self.model.count(self.label)
        said = self.machine.run((self.program, *arguments), {**self.environ(), **(more or {})})
        return Exchange(said, tuple(self.model.since(self.label, before)))

    def environ(self) -> dict[str, str]:
        """Return what the agent needs to find the model."""
        return {"PATH": self.path, **self.agent.variables(self)}
