"""Reads the settings for a command, with what only the rooms above know: agents' names and usable rules."""

from __future__ import annotations

import os

from told.errors import UsageError
from told.record import replaced
from told.settings import CONFIG, load, tolerant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from told.settings import OwnRule, Settings


def settings_for(environ: Mapping[str, str], *, whatever: bool = False) -> Settings:
    """Return the settings, all of them checked.

    Args:
        environ: The variables that told runs with.
        whatever: Return safe ones that say what is wrong, where the file is not understood.

    Raises:
        MissingError: there is no folder for told to live in, or the file cannot be read.
        UsageError: the file is not understood.
    """
    found = tolerant(environ, check_rule) if whatever else load(environ, check_rule)
    try:
        check_agents((*found.agents_off, *dict(found.agent_folders)), os.path.join(found.home, CONFIG))
    except UsageError as error:
        if not whatever:
            raise
        return replaced(tolerant({**environ, "TOLD_LEARN": "off"}), background=False, problem=str(error))
    return found


def check_agents(names: Iterable[str], path: str) -> None:
    """Make sure that told knows the agents that a config file names.

    Raises:
        UsageError: it does not know one.
    """
    for name in names:
        from told.agents import all_agents, is_agent

        if not is_agent(name):
            from told.settings.keys import nearest

            known = all_agents()
            hint = nearest(name, known, f"told knows: {', '.join(known)}.")
            raise UsageError(f"There is no agent {name!r}, as {path} has it.{hint}")


def check_rule(rule: OwnRule) -> None:
    """Make sure that a rule of the user's own is of use: it finds its example, in linear time.

    Raises:
        UsageError: it is not.
    """
    from told.guard.own_rules import check

    check(rule)


def project_folder(cwd: str, environ: Mapping[str, str]) -> str:
    """Return the folder of the project that one is in, as hooks find it; empty if in none."""
    from told.ingest.identity import identify
    from told.setup.place import project_root

    root = project_root(cwd, environ.get("HOME", ""))
    return identify(root, ask_git=False).root if root else ""


def config_notes(settings: Settings, cwd: str, environ: Mapping[str, str]) -> list[str]:
    """Return what is to be said of the user's config and of that of the project one is in."""
    from told.settings.project import wishes

    root = project_folder(cwd, environ)
    notes = wishes(settings, root)[1] if root else ()
    own = [settings.problem] if settings.problem else []
    return [*own, *(f"This project's .told/config.toml {note}" for note in notes)]
