"""`told service` and `told ping`: the background service that may answer prompts."""

from __future__ import annotations

import os
import sys

from told.agents.wiring import Entry
from told.cli.output import to_json
from told.errors import BusyError, MissingError, NotFoundError, ToldError, UsageError
from told.hook.service import Choice
from told.record import replaced
from told.serve.choice import HOST, TOKEN, Terms, remove_choice, settle, terms, token_of
from told.serve.control import is_free, ping, start, state, stop
from told.serve.guarding import MCP
from told.setup.install import THERE, WRITTEN
from told.setup.parts import owner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from told.agents.base import Agent
    from told.agents.wiring import Place
    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.serve.control import State
    from told.setup.install import Step

_NOT_SET_UP = "The service is not set up. `told install --service` does that."
_AGAIN = "An agent whose hooks ask it starts it again; `told install` without --service ends that."


def service(context: Context, arguments: Arguments) -> int:
    """Start or stop the service, or say how it is."""
    what = arguments.operands[0]
    if what not in ("start", "stop", "status"):
        raise UsageError(f"`told service` takes start, stop or status, not {what!r}.")
    home = context.settings.home
    ran = state(home).pid > 0
    if what == "start":
        start(home, context.environ)
    elif what == "stop":
        ran = stop(home)
    found = state(home)
    if arguments.flag("json"):
        context.print(to_json(service_json(found, home)))
    elif what == "start":
        context.print(f"{'It runs already' if ran else 'Started'}: {_where(found)}.")
    elif what == "stop":
        context.print(f"Stopped. {_AGAIN}" if ran else "It was not running.")
    else:
        context.print(in_words(found))
        if found.port:
            token = context.hide(os.path.join(home, TOKEN))
            context.print(f"MCP over HTTP: {_address(found)}, as Bearer the token in {token}.")
    return 0


def ping_service(context: Context, arguments: Arguments) -> int:
    """Ask the service whether it is there, and how long that takes."""
    home = context.settings.home
    found = state(home)
    if not found.pid:
        if arguments.flag("json"):
            context.print(to_json({"running": False, "answers": False, "taken": found.taken}))
            return NotFoundError.exit_code
        raise NotFoundError(in_words(found))
    said = ping(home)
    if said is None:
        if arguments.flag("json"):
            context.print(to_json({"running": True, "answers": False, "pid": found.pid}))
            return BusyError.exit_code
        raise BusyError(f"The service hangs (process {found.pid}). `told service stop` ends it.")
    if arguments.flag("json"):
        took = round(said.milliseconds, 2)
        answer = {"running": True, "answers": True, "pid": said.pid, "version": said.version, "ms": took}
        context.print(to_json(answer))
    else:
        context.print(f"The service answered in {said.milliseconds:.1f} ms: {_where(found)}.")
    return 0


def in_words(found: State) -> str:
    """Say how the service is, and what to do about it."""
    if not found.port:
        return _NOT_SET_UP
    if found.taken:
        return (
            f"The service cannot run: another program has port {found.port}, and prompts go unanswered."
            " `told install --service` chooses another port."
        )
    if not found.pid:
        return f"The service has port {found.port}, but does not run. `told service start` starts it."
    return f"The service runs: {_where(found)}."


def service_json(found: State, home: str) -> dict[str, object]:
    """Return how the service is, for machines."""
    return {
        "chosen": found.port > 0, "running": found.pid > 0, "port": found.port or None,
        "pid": found.pid or None, "taken": found.taken, "for": list(found.owners),
        "mcp": _address(found) if found.port else None,
        "token_file": os.path.join(home, TOKEN) if found.port else None,
    }  # fmt: skip


def proposed(context: Context) -> Terms:
    """Return the terms on which the service would run; nothing is written yet.

    Raises:
        MissingError: this system has no way to run it.
    """
    if not hasattr(os, "posix_spawn"):
        raise MissingError("The background service runs on Linux and macOS only. Leave out --service.")
    home = context.settings.home
    running = state(home)
    # A port on which the service itself listens is told's own.
    return terms(home, lambda port: port == running.port if running.pid else is_free(port))


def after_install(
    context: Context, arguments: Arguments, agreed: Terms | None, steps: Mapping[str, Iterable[Step]]
) -> int:
    """Keep the service for those whose hooks now ask it; return the exit code.

    Args:
        context: The run of the command.
        arguments: Of `told install`.
        agreed: The terms that were written into hooks; None if the service was not chosen.
        steps: What was written, for each owner in the ledger's words.
    """
    served = [name for name, done in steps.items() if agreed and _asks(done, agreed.address)]
    try:
        said = keep_for(context, served, steps, agreed)
    except ToldError as error:
        # What was written is an answer as well, so this does not end the command as an error would.
        sys.stderr.write(f"told: {error}\n")
        return error.exit_code
    if said and not arguments.flag("json"):
        context.print(f"\n{said}")
    return 0


def keep_for(
    context: Context, served: Iterable[str], others: Iterable[str], agreed: Terms | None = None
) -> str:
    """Keep the service for some owners more and some less; without any it ends. Say what was done."""
    home = context.settings.home
    before = state(home)
    owners = (set(before.owners) - set(others)) | set(served)
    if not owners:
        if before.port:
            end_service(home)
            return "The background service was stopped, and its files are removed."
        return "None of these agents can ask the service, so it was not started." if agreed else ""
    if agreed is None:
        agreed = terms(home, lambda _: True)
    if before.pid and before.port != agreed.choice.port:
        stop(home)
    if agreed != Terms(Choice(before.port, tuple(sorted(owners))), token_of(home)):
        settle(home, agreed, owners)
    return f"The background service runs: {_where(start(home, context.environ))}." if served else ""


def as_asking(context: Context, agent: Agent, places: Iterable[Place]) -> list[Place]:
    """Return places with the service in those where an agent's hooks ask it."""
    found = state(context.settings.home)
    asked = {"service": f"http://{HOST}:{found.port}", "token": token_of(context.settings.home)}
    return [replaced(place, **asked) if owner(agent, place) in found.owners else place for place in places]


def end_service(home: str) -> None:
    """Stop the service and remove all its files."""
    if state(home).port:
        stop(home)
        remove_choice(home)


def _asks(steps: Iterable[Step], address: str) -> bool:
    """Tell whether a hook that asks the service is there."""
    done = [step.change for step in steps if step.state in (WRITTEN, THERE)]
    return any(isinstance(change, Entry) and address in to_json(change.value) for change in done)


def _address(found: State) -> str:
    return f"http://{HOST}:{found.port}{MCP}"


def _where(found: State) -> str:
    return f"port {found.port} of this machine, process {found.pid}"
