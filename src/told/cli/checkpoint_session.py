"""Whose session a checkpoint belongs to: the one that runs, else the one that is named, else a new one."""

from __future__ import annotations

from told.cli.output import cut
from told.errors import UsageError
from told.guard.names import is_plain, plain_id
from told.store.ids import public_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.cli.context import Context
    from told.memory.authority import Caller
    from told.store.reading import SessionRow

TERMINAL = "terminal"  # the agent of what the user writes where no agent runs
_CANDIDATES = 8
_SHORTEST = 3  # letters of a beginning that stands for an id
_LONGEST = 200


def session_of(
    context: Context, caller: Caller, given: str = "", *, agent: str = "", new: str = ""
) -> tuple[str, str]:
    """Return the agent and its own id of the session that a checkpoint is about.

    What an agent's environment says comes first, then what its hook noted, then what was given: an agent
    may be wrong about its own id. At the user's terminal what the user names comes first.

    Args:
        context: The run of the command.
        caller: Who asks.
        given: told's id of a session, the agent's own, or, at a terminal, the beginning of one; an unknown
            one is made.
        agent: Whose session that is, where the one who asks says so.
        new: What the id of a new session is made of, so that the same note again is of the same session.
    """
    if not caller.is_user:
        running = caller.session or _noted(context, caller.agent)
        if running:
            return caller.agent, stored(context, running)
    named = agent_called(agent)
    if given:
        found = _known(context, given.strip(), named, may_be_cut=caller.is_user and not named)
        return found or (named or caller.agent or TERMINAL, stored(context, given.strip()))
    day = str(context.now // 86_400_000)
    return named or caller.agent or TERMINAL, public_id("", context.cwd, day, new, length=12)


def row_of(context: Context, agent: str, native: str) -> SessionRow | None:
    """Return what is known of a session; None if nothing is."""
    found = context.reading.sessions_like(native, _CANDIDATES)
    return next((row for row in found if (row.agent, row.native) == (agent, native)), None)


def latest_here(context: Context) -> SessionRow | None:
    """Return the latest session in the project of the current folder."""
    from told.store.reading import Filter

    project = context.project()
    if project is None:
        return None
    found = context.reading.sessions(Filter(project.id, helpers=False), 1)
    return found[0] if found else None


def stored(context: Context, native: str) -> str:
    """Return a session's own id as it may be stored."""
    if is_plain(native):
        return native
    return plain_id(native, context.redactor().redact, lambda: context.key)


def agent_called(name: str) -> str:
    """Return the agent that goes by a name, or by the first word of one; a stranger keeps its name.

    Raises:
        UsageError: it cannot be a name.
    """
    name = name.strip().lower()
    if not name:
        return ""
    from told.agents import all_agents, wired_agents
    from told.agents.labels import label

    found = [one for one in (*all_agents(), *wired_agents()) if name in (one, label(one))]
    if found:
        return found[0]
    bare = name.replace("-", "").replace("_", "").replace(".", "")
    if not bare.isascii() or not bare.isalnum() or len(name) > 40 or not is_plain(name):
        raise UsageError(f"{cut(name, 40)!r} is no name of an agent. `told agents` lists those told knows.")
    return name


def _noted(context: Context, agent: str) -> str:
    """Return the session that the agent's hook saw begin in the current folder."""
    from told.hook.current import running

    return running(context.settings.home, agent, context.cwd)


def _known(context: Context, given: str, agent: str, *, may_be_cut: bool) -> tuple[str, str] | None:
    """Return the session of an id; None if nobody knows it.

    Only people write the beginning of an id. A program's is whole, and of the agent that it names.
    """
    if not given or len(given) > _LONGEST or not given.isprintable():
        raise UsageError("That is no id of a session. `told list` shows those that there are.")
    found = context.reading.sessions_like(given, _CANDIDATES + 1)
    exact = [
        row for row in found if given == row.public or (given == row.native and agent in ("", row.agent))
    ]
    parents = {row.native for row in found}
    # The agent's own id of a helper begins with that of the session it helped.
    fits = may_be_cut and len(given) >= _SHORTEST
    found = exact or [row for row in found if fits and row.parent not in parents]
    if len(found) > 1:
        ids = ", ".join(row.public for row in found[:_CANDIDATES])
        raise UsageError(f"{given!r} could be {ids}. Give more of the id.")
    return (found[0].agent, found[0].native) if found else None
