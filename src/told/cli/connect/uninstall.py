"""`told uninstall`: remove told from agents' files, and delete its data."""

from __future__ import annotations

import itertools
import os
import shutil
import sys

from told.agents import wired_agents
from told.agents.wiring import PROJECT_SCOPE, USER_SCOPE, Place
from told.cli.arguments import Arguments
from told.cli.connect.install import SCOPES, choose_option, named_agents, place_for
from told.cli.context import Context, confirm_yes, may_ask, short_home
from told.errors import MissingError, UsageError
from told.install.apply import remove_unrecorded
from told.install.edits import GONE, REMOVED, RESTORED
from told.install.foreign import FAILED, LEFT, Outcome, undo_changes
from told.install.ledger import Ledger
from told.install.place import delete_home, launch, project_root
from told.install.project import restore_gitignore
from told.journal.registry import read_registry
from told.service.control import stop
from told.service.state import run_folder

_RESULTS = {
    RESTORED: "restored", REMOVED: "told's part removed", GONE: "told's part was already gone",
    LEFT: "left", FAILED: "could not be changed",
}  # fmt: skip
_WORST_FIRST = (FAILED, LEFT, REMOVED, RESTORED, GONE)


def uninstall(context: Context, arguments: Arguments) -> None:
    """Remove told from the files of all or named agents."""
    purge = arguments.flag("purge")
    if purge:
        _check_purge(context, arguments)
    named = named_agents(arguments)
    scope = choose_option(arguments, "scope", SCOPES, "")
    ledger = Ledger(context.home)
    if may_ask(arguments) and not purge and ledger.installed():
        names = ", ".join(agent.title for agent in named) or "every agent"
        if not confirm_yes(context, f"Remove told from the files of {names}?"):
            context.print("Nothing was changed.")
            return
    places = _places(context, scope)
    notes = [
        note
        for agent, place in itertools.product(named or wired_agents().values(), places)
        if agent.describe_own_entries and (note := agent.describe_own_entries(place))
    ]
    outcomes = _remove_wiring(ledger, [agent.name for agent in named], scope, places)
    if not named and not scope:
        roots = [one.root for one in read_registry(context.home)]
        restored = [root for root in roots if restore_gitignore(context.home, root)]
        outcomes += [Outcome(os.path.join(root, ".gitignore"), RESTORED) for root in restored]
    failed = [one for one in outcomes if one.state == FAILED]
    if not ledger.owners():
        stop(context.home)
        shutil.rmtree(run_folder(context.home), ignore_errors=True)
    _report_removal(context, outcomes, notes, purged=purge and not failed)
    for sentence in dict.fromkeys(one.note for one in failed):
        sys.stderr.write(f"told: {sentence}\n")
    if purge and not failed:
        context.connection.close()
        left = delete_home(context.home)
        if left:
            home = short_home(context, context.home)
            context.print(f"Left in {home}, since it is not told's: {', '.join(left[:5])}")
    context.exit_code = MissingError.exit_code if failed else 0


def _places(context: Context, scope: str) -> list[Place]:
    started = launch(strict=False)
    in_project = bool(project_root(context.cwd, context.environ.get("HOME", "")))
    scopes = [USER_SCOPE, *([PROJECT_SCOPE] if in_project else [])]
    return [place_for(context, one, started=started) for one in scopes if not scope or one == scope]


def _remove_wiring(ledger: Ledger, names: list[str], scope: str, places: list[Place]) -> list[Outcome]:
    prefixes = [f"{name} {scope}".strip() for name in names]
    if not names:
        prefixes = [one for one in ledger.owners() if not scope or one.split(" ")[1:2] == [scope]]
    outcomes = [outcome for prefix in prefixes for outcome in undo_changes(ledger, prefix)]
    agents = [agent for agent in wired_agents().values() if not names or agent.name in names]
    return [*outcomes, *remove_unrecorded(agents, places, ledger)]


def _report_removal(
    context: Context, outcomes: list[Outcome], notes: list[str], *, purged: bool
) -> None:  # fmt: skip
    if context.as_json:
        rows = [{"path": one.path, "state": one.state, "note": one.note or None} for one in outcomes]
        context.print_json({"files": rows, "notes": notes, "purged": purged})
        return
    files: dict[str, list[Outcome]] = {}
    for one in outcomes:
        folder, name = os.path.split(one.path)
        is_command = os.path.basename(folder) == "mem" and os.path.splitext(name)[1] in (".md", ".toml")
        files.setdefault(folder if is_command and not os.path.exists(folder) else one.path, []).append(one)
    for path, several in files.items():
        state = next(state for state in _WORST_FIRST if any(one.state == state for one in several))
        note = next((one.note for one in several if one.state == state and one.note), "")
        is_gone = state in (RESTORED, REMOVED) and not os.path.lexists(path)
        said = "removed" if is_gone else note if state == LEFT and note else _RESULTS[state]
        context.print(f"{short_home(context, path)}: {said}")
    for note in notes:
        context.print(note)
    if not outcomes:
        context.print("told is not in any agent's files.")


def _check_purge(context: Context, arguments: Arguments) -> None:
    if arguments["agent"] or arguments["scope"]:
        raise UsageError("--purge deletes everything: leave out --agent and --scope.")
    if may_ask(arguments):
        home = short_home(context, context.home)
        if not confirm_yes(context, f"Delete {home} with every memory in it? This cannot be undone."):
            raise UsageError("Nothing was deleted.")
    elif not arguments.flag("yes"):
        raise UsageError("--purge deletes all of told's data for good. Add --yes to do it.")
