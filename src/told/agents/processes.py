"""Find out from the process tree whether a user or an agent calls told.

A process that runs as the user can hide from this: it may leave its parent, or replace itself by told's own
hook line. Where nothing can be told, it is the user.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from told.agents import agents_with_processes

if TYPE_CHECKING:  # every command asks who runs it, and only a few are run by an agent
    from told.agents.base import Agent

USER, PIPED, NESTED = "user", "piped", "nested"  # who speaks at a hook
_MOST = 64  # processes that are looked at
_MOST_BYTES = 1 << 16  # of a command line
_INTERPRETERS = ("node", "bun", "deno", "python")
_SUFFIXES = (".js", ".mjs", ".cjs", ".exe", ".py")
CLIENT = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "hook", "client.py")
_LINE_ENDS = "2>/dev/null || true"  # as `told install` writes it
_OPERATORS = frozenset("|&;<>()$`\n")  # with these, a line does more than run one program


class Process(NamedTuple):
    """A running process."""

    pid: int
    parent: int
    group: int
    words: tuple[str, ...]  # its command line
    name: str = ""  # as the system shows it

    @property
    def names(self) -> tuple[str, ...]:
        """Return what it may be called: its own name, its program's, its script's and its package's."""
        program = _base(self.words[0]) if self.words else ""
        scope, _, package = self.script.rpartition("node_modules/")[2].partition("/")
        package = f"{scope}/{package.partition('/')[0]}" if scope.startswith("@") else scope
        return tuple({self.name, program, _base(self.script), package} - {""})

    @property
    def script(self) -> str:
        """Return the path of the script that an interpreter runs; empty for other programs."""
        if not self.words or not os.path.basename(self.words[0]).startswith(_INTERPRETERS):
            return ""
        return next((word for word in self.words[1:] if not word.startswith("-")), "")


class Processes(Protocol):
    """The processes of a machine."""

    def get(self, pid: int) -> Process | None:
        """Return a process; None if it is gone or cannot be seen."""

    def variables(self, pid: int) -> frozenset[str]:
        """Return the names of the variables that it was started with; none if unknown."""


def find_speaker(pid: int, processes: Processes, hook: str = CLIENT) -> str:
    """Tell whose word a hook call is.

    PIPED if a shell of a tool call runs the hook, NESTED if an agent runs it that was itself started by a
    tool call of another one, else USER.

    Args:
        pid: The process of the hook.
        processes: The processes of this machine.
        hook: The path of told's own hook.
    """
    chain = _find_chain(pid, processes)
    agents = _find_agents(chain)
    first = next((place for place, one in enumerate(chain) if one.pid in agents), 0)
    if not first:
        return USER
    # Without a service, the hook answers in a fork of its own.
    start = max((place for place in range(first) if chain[place].words == chain[0].words), default=0)
    agent = agents[chain[first].pid]
    if not _is_hook(chain[start : first + 1], agent, hook):
        return PIPED
    only_in_tools = {sign.variable for sign in agent.shell_signs if not sign.in_hooks}
    if only_in_tools and _added(chain[start], chain[first], processes) & only_in_tools:
        return PIPED
    return NESTED if _is_nested(chain[first:], agents, processes) else USER


def find_agent_above(pid: int, processes: Processes) -> str:
    """Return the name of the agent that started a process, or one above it; empty if there is none."""
    chain = _find_chain(pid, processes)
    agents = _find_agents(chain)
    return next((agents[one.pid].name for one in chain if one.pid in agents), "")


def _find_agents(chain: Sequence[Process]) -> dict[int, Agent]:
    """Return the agents among some processes, by process."""
    known = agents_with_processes({name for one in chain for name in one.names})
    return {
        one.pid: agent
        for one in chain
        for agent in known
        if agent.process and not {agent.process.name, agent.process.package}.isdisjoint(one.names)
    }


def _find_chain(pid: int, processes: Processes) -> list[Process]:
    """Return a process and those above it."""
    chain: list[Process] = []
    while pid > 1 and len(chain) < _MOST and (found := processes.get(pid)):
        chain.append(found)
        pid = found.parent
    return chain


def _is_hook(chain: Sequence[Process], agent: Agent, hook: str) -> bool:
    """Tell whether an agent, the last of these, runs the hook: at once, or by a shell that does no more."""
    client, *between, last = chain
    if not between:  # a shell that became the hook has a group of its own
        in_shell = agent.process is not None and agent.process.hooks_in_shell
        return not in_shell and client.group == last.group and _runs_hook(client.words, hook)
    return len(between) == 1 and any(_is_hook_line(word, client, hook) for word in between[0].words[1:])


def _is_hook_line(line: str, client: Process, hook: str) -> bool:
    """Tell whether a line for a shell runs just this process, which is told's hook."""
    import shlex  # noqa: PLC0415 - only hooks need it

    line = line.removesuffix(_LINE_ENDS).strip()
    if _OPERATORS.intersection(line):
        return False
    try:
        words = shlex.split(line)
    except ValueError:
        return False
    if [_base(word) for word in words[:2]] == ["told", "hook"]:
        return True
    # Python may be started by a program of another name.
    return words[1:] == list(client.words[1:]) and _runs_hook(client.words, hook)


def _runs_hook(words: Sequence[str], hook: str) -> bool:
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    return script == hook or os.path.realpath(script) == hook


def _is_nested(above: Sequence[Process], agents: Mapping[int, Agent], processes: Processes) -> bool:
    """Tell whether another agent's tool call started an agent, the first of these processes."""
    group, last = above[0].group, above[0]
    is_apart = False  # whether something else than agents is in between
    for one in above[1:]:
        if one.pid not in agents:
            is_apart = True
            continue
        agent = agents[one.pid]
        # A launcher and the program that it starts are in one group.
        replaces_shell = agent.process is not None and agent.process.replaces_shell
        if is_apart or (one.group != group and replaces_shell):
            return True
        if _added(last, one, processes) & {sign.variable for sign in agent.shell_signs}:
            return True
        last = one
    return False


def _added(child: Process, parent: Process, processes: Processes) -> frozenset[str]:
    """Return the variables that a process has and the one above it has not."""
    return processes.variables(child.pid) - processes.variables(parent.pid)


def _base(path: str) -> str:
    name = os.path.basename(path)
    return next((name.removesuffix(end) for end in _SUFFIXES if name.endswith(end)), name)


class LinuxProcesses:
    """Reads `/proc`."""

    def get(self, pid: int) -> Process | None:
        """Return a process; None if it is gone or cannot be seen."""
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                head, _, rest = file.read(4096).rpartition(")")
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = os.fsdecode(file.read(_MOST_BYTES)).split("\0")
            _state, parent, group, *_ = rest.split()
            return Process(pid, int(parent), int(group), tuple(words[:-1]), head.partition("(")[2])
        except (OSError, ValueError):
            return None

    def variables(self, pid: int) -> frozenset[str]:
        """Return the names of the variables that it was started with; none if unknown."""
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                pairs = os.fsdecode(file.read()).split("\0")
        except OSError:
            return frozenset()
        return frozenset(pair.partition("=")[0] for pair in pairs)


class OtherProcesses:
    """Asks `ps`, once."""

    def __init__(self) -> None:
        self._found: dict[int, Process] | None = None

    def get(self, pid: int) -> Process | None:
        """Return a process; None if it is gone or cannot be seen."""
        if self._found is None:
            self._found = self._list()
        return self._found.get(pid)

    def variables(self, pid: int) -> frozenset[str]:  # noqa: ARG002
        """Return nothing: they cannot be read."""
        return frozenset()

    def _list(self) -> dict[int, Process]:
        import subprocess  # noqa: PLC0415 - not needed on Linux

        try:
            done = subprocess.run(
                ["/bin/ps", "-axwwo", "pid=,ppid=,pgid=,command="], stdin=subprocess.DEVNULL,
                capture_output=True, timeout=1, check=False,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            return {}
        found = {}
        for line in os.fsdecode(done.stdout).splitlines():
            pid, parent, group, command = (*line.split(None, 3), "", "", "", "")[:4]
            if pid.isdigit() and parent.isdigit() and group.isdigit():
                found[int(pid)] = Process(int(pid), int(parent), int(group), _split(command))
        return found


def _split(command: str) -> tuple[str, ...]:
    """Return a command line that `ps` joined, with what a shell's `-c` runs as one word."""
    head, flag, line = command.partition(" -c ") if " -c " in command else command.partition(" -lc ")
    return (*head.split(), *((flag.strip(), line) if flag else ()))


def this_machine() -> Processes | None:
    """Return the processes of this machine; None where they cannot be listed."""
    if sys.platform == "linux":
        return LinuxProcesses()
    return None if sys.platform == "win32" else OtherProcesses()
