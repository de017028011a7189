"""`told uninstall`: takes told out of agents' files again, and out of this machine if that is wanted."""

from __future__ import annotations

import os
import sys

from told.agents import wired_agents
from told.agents.wiring import PROJECT_SCOPE, USER_SCOPE
from told.cli.output import to_json
from told.cli.services import keep_for
from told.cli.wiring_wishes import SCOPES, ask, may_ask, named_agents, one_of, place_for, short
from told.errors import MissingError, UsageError
from told.journal.files import has_places
from told.journal.registry import registered
from told.serve.control import state
from told.setup.foreign import FAILED, GONE, LEFT, REMOVED, RESTORED, Outcome
from told.setup.launch import launch
from told.setup.ledger import Ledger
from told.setup.place import project_root
from told.setup.uninstall import sweep_out, unwire

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.cli.arguments import Arguments
    from told.cli.context import Context

_SAID = {
    RESTORED: "as it was before told", REMOVED: "told's part is out", GONE: "told's part was gone already",
    LEFT: "left", FAILED: "could not be changed",
}  # fmt: skip
_WORST_FIRST = (FAILED, LEFT, REMOVED, RESTORED, GONE)


def uninstall(context: Context, arguments: Arguments) -> int:
    """Take back what was written, for all agents and scopes or the named ones."""
    purge = arguments.flag("purge")
    if purge:
        _check_purge(context, arguments)
    named = named_agents(arguments)
    scope = one_of(arguments, "scope", SCOPES, "")
    ledger = Ledger(context.settings.home)
    if may_ask(arguments) and not purge and ledger.installed():
        names = ", ".join(agent.title for agent in named) or "every agent"
        if not ask(context, f"Take told out of the files of {names}?"):
            context.print("Nothing was changed.")
            return 0
    outcomes = _take_out(context, ledger, [agent.name for agent in named], scope)
    if not named and not scope:
        outcomes += _stop_ignoring(context.settings.home)
    failed = [one for one in outcomes if one.state == FAILED]
    stayed = ledger.owners()
    ended = keep_for(context, (), [one for one in state(context.settings.home).owners if one not in stayed])
    _report(context, arguments, outcomes, purged=purge and not failed)
    if ended and not arguments.flag("json"):
        context.print(ended)
    for sentence in dict.fromkeys(one.note for one in failed):
        sys.stderr.write(f"told: {sentence}\n")
    if purge and not failed:
        _purge(context)
    return MissingError.exit_code if failed else 0


def _take_out(context: Context, ledger: Ledger, names: list[str], scope: str) -> list[Outcome]:
    prefixes = [f"{name} {scope}".strip() for name in names]
    if not names:
        owners = ledger.owners()
        prefixes = [one for one in owners if not scope or one.split(" ")[1:2] == [scope]]
    outcomes = unwire(ledger, prefixes)
    started = launch(strict=False)
    in_project = bool(project_root(context.cwd, context.environ.get("HOME", "")))
    scopes = [USER_SCOPE, *([PROJECT_SCOPE] if in_project else [])]
    places = [place_for(context, one, started=started) for one in scopes if not scope or one == scope]
    agents = [agent for agent in wired_agents().values() if not names or agent.name in names]
    return [*outcomes, *sweep_out(agents, places, ledger)]


def _stop_ignoring(home: str) -> list[Outcome]:
    """Give back the `.gitignore` of projects that keep their own memories; these stay where they are."""
    if not has_places(home):
        return []
    from told.setup.init import take_back

    roots = [one.root for one in registered(home)]
    return [Outcome(os.path.join(root, ".gitignore"), RESTORED) for root in roots if take_back(home, root)]


def _report(context: Context, arguments: Arguments, outcomes: list[Outcome], *, purged: bool) -> None:
    context.rows = len(outcomes)
    if arguments.flag("json"):
        rows = [{"path": one.path, "state": one.state, "note": one.note or None} for one in outcomes]
        context.print(to_json({"files": rows, "purged": purged}))
        return
    files: dict[str, list[Outcome]] = {}
    for one in outcomes:
        folder, name = os.path.split(one.path)
        is_command = os.path.basename(folder) == "mem" and os.path.splitext(name)[1] in (".md", ".toml")
        files.setdefault(folder if is_command and not os.path.exists(folder) else one.path, []).append(one)
    for path, several in files.items():
        state = next(state for state in _WORST_FIRST if any(one.state == state for one in several))
        note = next((one.note for one in several if one.state == state and one.note), "")
        is_away = state in (RESTORED, REMOVED) and not os.path.lexists(path)
        said = "removed" if is_away else note if state == LEFT and note else _SAID[state]
        context.print(f"{short(context, path)}: {said}")
    if not outcomes:
        context.print("Nothing of told's is in any agent's files.")


def _check_purge(context: Context, arguments: Arguments) -> None:
    if not context.caller.is_user:
        raise UsageError("Only you can delete everything told knows: run it at a terminal of your own.")
    if arguments["agent"] or arguments["scope"]:
        raise UsageError("--purge is for everything: leave out --agent and --scope.")
    if may_ask(arguments):
        home = short(context, context.settings.home)
        if not ask(context, f"Delete {home} with every memory in it? This cannot be undone."):
            raise UsageError("Nothing was deleted.")
    elif not arguments.flag("yes"):
        raise UsageError("--purge deletes everything told knows, for good. Add --yes to do it.")


def _purge(context: Context) -> None:
    from told.setup.purge import purge

    context.connection.close()
    left = purge(context.settings.home)
    if left:
        home = short(context, context.settings.home)
        context.print(f"Left in {home}, since it is not told's: {', '.join(left[:5])}")
