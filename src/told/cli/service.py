"""`told status`, `told service` and `told ping`: are agents connected, does the service run?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from told import __version__
from told.agents import wired_agents
from told.agents.base import Agent, find_agent_sign
from told.agents.wiring import FULL, HOOKS, PROJECT_SCOPE, USER_SCOPE, Place
from told.cli.arguments import Arguments
from told.cli.connect.install import (
    agent_title,
    count_parts,
    describe_old,
    describe_parts,
    named_agents,
    place_for,
    version_json,
)
from told.cli.context import Context, count, short_home, when
from told.cli.reader.status import describe_reader
from told.errors import BusyError, MissingError, ToldError, UsageError
from told.install.apply import (
    BROKEN,
    OUTDATED,
    YOURS,
    HookRun,
    Wiring,
    has_hooks,
    inspect_wiring,
    part_of,
    run_hook,
)
from told.install.ledger import Ledger
from told.install.legacy import legacy_files
from told.install.place import find_fault, launch, project_root
from told.install.values import THERE
from told.install.versions import find_unmet, find_version
from told.service.control import State, is_allowed, start, state, stop
from told.service.latency import percentile, read_waited
from told.service.state import PROCESS_NAME, Count, read_counts
from told.text import clean

_WEEK_MS = 7 * 86_400_000
_NOT_RUNNING = "The service is not running. The next hook starts it."
_OFF = "The service is turned off. Hooks run in a process of their own."


def service(context: Context, arguments: Arguments) -> None:
    """Start or stop the service, or print its state."""
    action = arguments.operands[0]
    home = context.home
    before = state(home)
    if action == "start":
        start(home, context.environ)
    elif action == "stop":
        stop(home)
    elif action != "status":
        raise UsageError(f'Unknown action "{action}". Use start, stop or status.')
    after = state(home)
    if context.as_json:
        context.print_json(_service_json(context, after))
    elif action == "start" and before.is_running:
        context.print(f"Already running (pid {after.pid}).")
    elif action == "start":
        context.print(f"Started the service (pid {after.pid}).")
    elif action == "stop":
        context.print(
            "Stopped the service. The next hook starts it again." if before.is_running else _NOT_RUNNING
        )
    else:
        context.print(_describe_service(context, after))


def ping_service(context: Context, _: Arguments) -> None:
    """Check that told can answer a hook, and print how long it took."""
    found = state(context.home)
    row: dict[str, object] = {"running": found.is_running, "pid": found.pid or None}
    if pong := found.pong:
        row |= {"answers": True, "version": pong.version, "ms": round(pong.milliseconds, 2)}
        context.report(f"The service answered in {pong.milliseconds:.1f} ms (pid {pong.pid}).", row)
        return
    error: ToldError = BusyError(f"The service (pid {found.pid}) does not answer. Run `told service stop`.")
    if not found.is_running:
        ran = run_hook(next(iter(wired_agents().values())), launch(strict=False), context.environ)
        if not ran.fault:
            row |= {"answers": True, "version": __version__, "ms": round(ran.milliseconds, 2)}
            said = f"told answered a hook in {ran.milliseconds:.0f} ms, in its own process."
            context.report(f"{said} {_describe_service(context, found)}", row)
            return
        error = MissingError(f"told cannot answer a hook: {ran.fault}. Reinstall told.")
    if not context.as_json:
        raise error
    context.print_json(row | {"answers": False})
    context.exit_code = error.exit_code


def _describe_service(context: Context, found: State) -> str:
    if pong := found.pong:
        details = f"pid {pong.pid}, {pong.rss_mb:.0f} MB, {count(pong.calls, 'call')}"
        return f"The service is running ({details})."
    if found.is_running:
        return f"The service (pid {found.pid}) does not answer. Run `told service stop`."
    return _NOT_RUNNING if is_allowed(context.environ) else _OFF


def _service_json(context: Context, found: State) -> dict[str, object]:
    pong = found.pong
    return {
        "enabled": is_allowed(context.environ), "running": found.is_running, "answers": pong is not None,
        "pid": found.pid or None, "version": pong.version if pong else None,
        "rss_mb": pong.rss_mb if pong else None, "calls": pong.calls if pong else None,
    }  # fmt: skip


def recent_problems(context: Context, agent: str = "") -> list[Count]:
    """Return hooks that were late, missed or failed in the last week."""
    found = read_counts(context.home)
    return [one for one in found if context.now - one.at < _WEEK_MS and agent in ("", one.agent)]


def describe_problem(context: Context, one: Count) -> str:
    """Return one hook's problems as one sentence."""
    kinds = (("late", one.late), ("missed", one.missed), ("failed", one.failed))
    said = ", ".join(f"{number:,} {kind}" for kind, number in kinds if number)
    subject = "The service" if one.agent == PROCESS_NAME else f"The {one.event} hook of {one.agent}"
    reason = f" ({clean(one.reason)})" if one.reason else ""
    return f"{subject} had problems: {said}, last {when(one.at, context.now)}{reason}."


def problem_json(one: Count) -> dict[str, object]:
    """Return one hook's problems for JSON output."""
    return {
        "agent": one.agent, "event": one.event, "late": one.late, "missed": one.missed,
        "failed": one.failed, "last_ms": one.at, "reason": one.reason or None,
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """The state of one agent."""

    agent: Agent
    version: str  # empty if unknown
    found: str
    wired: tuple[Wiring, ...]  # the scopes in which it is
    ran: HookRun | None
    todo: tuple[str, ...]
    problems: tuple[Count, ...] = ()  # of its hooks, in the last week

    @property
    def verdict(self) -> str:
        """Return its state in a few words."""
        if not self.wired:
            return f"not connected. Run `told install --agent {self.agent.label}`."
        if self.ran is not None and self.ran.fault:
            return "connected, but the hook fails"
        if any(one.needs_install or _broken(one) for one in self.wired):
            return "partly connected"
        if HOOKS in find_unmet(self.agent, self.version):
            return "connected, but too old for hooks"
        if self.agent.todo in self.todo and self.agent.is_todo_done:
            return "connected, and waits for you"
        if self.ran is None:
            return "connected, without hooks"
        return f"works, its hook took {self.ran.milliseconds:.0f} ms"

    @property
    def works(self) -> bool:
        """Whether told is installed without a fault."""
        has_fault = bool(self.ran and self.ran.fault) or any(map(_broken, self.wired))
        return bool(self.wired) and not has_fault


def status(context: Context, arguments: Arguments) -> None:
    """Print how the agents that are found or named are connected."""
    named = named_agents(arguments)
    rows = agent_rows(context, named or list(wired_agents().values()))
    rows = [row for row in rows if row.found or row.wired or row.agent in named]
    legacy = legacy_files(context.home)
    guard = any(one.profile == FULL for row in rows for one in row.wired)
    if context.as_json:
        context.print_json({
            "agents": [_json(context, row) for row in rows],
            "guard": context.settings.guard if guard else "off", "reader": context.settings.reader_mode,
            **_latency_json(context), "service": _service_json(context, state(context.home)),
            "hook_problems": [problem_json(one) for one in recent_problems(context)],
            "legacy_files": legacy,
        })  # fmt: skip
        return
    if not rows:
        context.print("No agent was found on this machine. `told install --agent NAME` connects one.")
    for row in rows:
        _print(context, row)
    context.print(f"\n{describe_reader(context)}")
    context.print(f"Guard: {_guard(guard, context.settings.guard)}")
    context.print(_describe_latency(context))
    context.print(_describe_service(context, state(context.home)))
    for one in recent_problems(context, PROCESS_NAME):
        context.print(describe_problem(context, one))
    if legacy:
        number = count(len(legacy), "file")
        context.print(f"{number} of an earlier version in told's home. Run `told install` to remove them.")


def recent_waits(context: Context) -> list[float]:
    """Return how many ms agents waited for the latest hooks of the last week."""
    return [one.milliseconds for one in read_waited(context.home, context.now - _WEEK_MS)]


def _latency_json(context: Context) -> dict[str, Any]:
    """Return the latency of recent hooks, and how many were late or missed."""
    waited = recent_waits(context)
    problems = [one for one in recent_problems(context) if one.agent != PROCESS_NAME]
    return {
        "hook_calls": len(waited),
        "hook_p50_ms": percentile(waited, 0.5) if waited else None,
        "hook_p95_ms": percentile(waited, 0.95) if waited else None,
        "late": sum(one.late for one in problems), "missed": sum(one.missed for one in problems),
    }  # fmt: skip


def _describe_latency(context: Context) -> str:
    found = _latency_json(context)
    problems = f"{found['late']:,} late, {found['missed']:,} missed"
    if not found["hook_calls"]:
        return f"Hooks: no calls this week; {problems}."
    latency = f"latency p50 {found['hook_p50_ms']:.0f} ms, p95 {found['hook_p95_ms']:.0f} ms"
    return f"Hooks: {latency} ({_last_calls(found['hook_calls'])}); {problems}."


def _last_calls(number: int) -> str:
    return "1 call" if number == 1 else f"last {number:,} calls"


def _guard(is_wired: bool, chosen: str) -> str:
    """Describe what happens to a tool call that a locked rule forbids."""
    if not is_wired:
        return "off; `told install --profile full` turns it on"
    if chosen == "off":
        return "off, as config.toml has it"
    met = "denied" if chosen == "deny" else "asked about first"
    return f"on; a tool call that a locked rule forbids is {met}"


def agent_rows(context: Context, agents: list[Agent]) -> list[Row]:
    """Return how agents are connected, for all projects and this one."""
    started = launch(strict=False)
    trouble = find_fault(started)
    in_project = bool(project_root(context.cwd, context.environ.get("HOME", "")))
    scopes = (USER_SCOPE, PROJECT_SCOPE) if in_project else (USER_SCOPE,)
    places = [place_for(context, scope, started=started) for scope in scopes]
    ledger = Ledger(context.home)
    return [_row(context, one, places, ledger, trouble) for one in agents]


def _row(context: Context, agent: Agent, places: list[Place], ledger: Ledger, trouble: str) -> Row:
    where = find_agent_sign(agent, context.environ)
    wired = tuple(one for place in places if (one := inspect_wiring(agent, place, ledger)).is_wired)
    version = find_version(agent, context.environ)
    ran = None
    if any(has_hooks(one) for one in wired):
        ran = run_hook(agent, places[0].launch, context.environ)
    todo = list(_todo(agent, version, places, wired, ran))
    if ran is not None and trouble:
        todo.insert(0, f"told's hook cannot be loaded ({trouble}): run `told install` again.")
    problems = tuple(recent_problems(context, agent.name))
    return Row(agent, version, where, wired, ran, tuple(dict.fromkeys(todo)), problems)


def _todo(
    agent: Agent, version: str, places: list[Place], wired: tuple[Wiring, ...], ran: HookRun | None
) -> list[str]:
    told = []
    if ran is not None and ran.fault:
        told.append(f"The hook fails: {ran.fault}. Run `told install --agent {agent.label}`.")
    if sum(map(has_hooks, wired)) > 1:
        told.append(
            f"Its hooks run twice here: `told uninstall --agent {agent.label} --scope project` ends that."
        )
    for one in wired:
        told += [seen.note for seen in one.seen if seen.state == BROKEN]
        if one.needs_install:
            scope = f" --scope {one.scope}" if one.scope != USER_SCOPE else ""
            told.append(f"`told install --agent {agent.label}{scope}` writes what is missing or old.")
        old = describe_old(agent, _parts(one), version)
        if old:
            told.append(old)
        place = next(place for place in places if place.scope == one.scope)
        needed = agent.todo and not old and (has_hooks(one) or not agent.has_hooks)
        if needed and not (agent.is_todo_done and agent.is_todo_done(place)):
            told.append(agent.todo)
    return told


def _print(context: Context, row: Row) -> None:
    context.print(f"{agent_title(row.agent, row.version)}: {row.verdict}")
    for one in row.wired:
        where = "this project" if one.scope == PROJECT_SCOPE else "all projects"
        parts = describe_parts(row.agent, _parts(one), row.version)
        context.print(f"  {where}: {parts or 'nothing left'}")
        yours = {short_home(context, seen.change.path) for seen in one.seen if seen.state == YOURS}
        for path in sorted(yours):
            context.print(f"  {path}: as you changed it")
    if row.wired and row.agent.limits:
        context.print(f"  {row.agent.limits}")
    for sentence in (*row.todo, *(describe_problem(context, one) for one in row.problems)):
        context.print(f"  -> {sentence}")


def _parts(one: Wiring) -> dict[str, int]:
    return count_parts(seen.change for seen in one.seen if seen.state in (THERE, YOURS, OUTDATED))


def _broken(one: Wiring) -> bool:
    return any(seen.state == BROKEN for seen in one.seen)


def _json(context: Context, row: Row) -> dict[str, Any]:
    todo = list(row.todo) if row.wired else [f"`told install --agent {row.agent.label}` connects it."]
    todo += [describe_problem(context, one) for one in row.problems]
    return {
        "agent": row.agent.name, "title": row.agent.title, **version_json(row.agent, row.version),
        "found": row.found or None, "wired": bool(row.wired), "works": row.works,
        "hook_ms": round(row.ran.milliseconds, 1) if row.ran else None,
        "hook_problem": (row.ran.fault or None) if row.ran else None,
        "scopes": [
            {
                "scope": one.scope, "profile": one.profile,
                "files": [
                    {"path": seen.change.path, "what": part_of(seen.change), "state": seen.state}
                    | ({"problem": seen.note} if seen.note else {})
                    for seen in one.seen
                ],
            }
            for one in row.wired
        ],
        "limits": row.agent.limits or None, "todo": todo,
    }  # fmt: skip
