"""The table of all commands. The help, the docs and the parser are made from it."""

from __future__ import annotations

from told.cli.arguments import Command, Option

JSON = Option("json", "print compact JSON")
LIMIT = Option("limit", "at most this many", "N", number=True, short="n")
DAYS = Option("days", "only the last N days", "N", number=True)
SINCE = Option("since", "only since a day (2026-11-03, yesterday, 'last week')", "WHEN")
AGENT = Option("agent", "only this agent's sessions", "NAME")
PROJECT = Option("project", "this project instead of the current one: a name, owner/name or a path", "NAME")
EVERYWHERE = Option("all-projects", "look in all projects")
_WHERE = (LIMIT, DAYS, SINCE, AGENT, PROJECT, EVERYWHERE, JSON)

COMMANDS = (
    Command(
        "list", "sessions, the latest first",
        "told.cli.sessions", "list_sessions", options=_WHERE, tier=1,
    ),
    Command(
        "files", "files that sessions touched, the latest first",
        "told.cli.files", "files", options=_WHERE, tier=1,
    ),
    Command(
        "search", "find what was said, in plain words",
        "told.cli.searching", "search", operand="QUERY…", needs_operand=True, options=_WHERE, tier=2,
    ),
    Command(
        "show", "one session, turn or checkpoint, by the beginning of its id",
        "told.cli.showing", "show", operand="ID", needs_operand=True, tier=3,
        options=(Option("turns", "list every turn"), Option("full", "print texts whole"), JSON),
    ),
    Command(
        "checkpoints", "hand-over notes that agents wrote",
        "told.cli.checkpoints", "checkpoints", options=_WHERE, tier=1,
    ),
    Command(
        "repos", "projects, the latest first",
        "told.cli.sessions", "repos", options=(LIMIT, DAYS, SINCE, AGENT, JSON), tier=1,
    ),
    Command(
        "timeline", "what was asked, across sessions, the latest first",
        "told.cli.sessions", "timeline", options=_WHERE, tier=2,
    ),
    Command(
        "health", "whether everything works, and the one thing to do",
        "told.cli.health", "health", options=(JSON,),
    ),
    Command(
        "schema-check", "whether agents' databases have the columns told reads",
        "told.cli.health", "schema_check", options=(AGENT, JSON),
    ),
    Command(
        "agents", "which agents are found on this machine, and where",
        "told.cli.health", "agents", options=(JSON,),
    ),
    Command("index", "read all new history now", "told.cli.upkeep", "index", options=(JSON,)),
    Command(
        "rebuild", "make told's databases anew from the agents' files and the archive",
        "told.cli.upkeep", "rebuild", options=(JSON,),
    ),
    Command("sweep", "read the rest of the history quietly", "told.cli.upkeep", "sweep", hidden=True),
)  # fmt: skip


def command_named(name: str) -> Command | None:
    """Return a command by its name."""
    return next((command for command in COMMANDS if command.name == name), None)
