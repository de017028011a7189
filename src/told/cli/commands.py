"""The table of all commands. The help, the docs and the parser are made from it."""

from __future__ import annotations

from told.cli.arguments import Command, Option

JSON = Option("json", "print compact JSON")
LIMIT = Option("limit", "at most this many", "N", number=True, short="n")
DAYS = Option("days", "only the last N days", "N", number=True)
SINCE = Option("since", "only since then: 2026-11-03, yesterday, 'last week'", "WHEN")
AGENT = Option("agent", "only this agent's sessions", "NAME")
PROJECT = Option("project", "another project: its name, owner/name or path", "NAME")
EVERYWHERE = Option("all-projects", "all projects, not only the current one")
_WHERE = (LIMIT, DAYS, SINCE, AGENT, PROJECT, EVERYWHERE, JSON)

COMMANDS = (
    Command(
        "list", "sessions, the latest first",
        "told.cli.sessions", "list_sessions", options=_WHERE, tier=1,
        rows="A row: last activity, id, agent, project@branch, turns (2t), what it is about.",
    ),
    Command(
        "files", "files that sessions touched, the latest first",
        "told.cli.files", "files", options=_WHERE, tier=1,
        rows="A row: when, what was done with it, the file, the session's id.",
    ),
    Command(
        "search", "find what was said, in plain words",
        "told.cli.searching", "search", operand="QUERY…", needs_operand=True, options=_WHERE, tier=2,
        rows="Looks in the current project first. Words in double quotes must stand just so.\n"
        "Below each session: its best turn (.3: `told show ID.3`) and how many more (+2).",
    ),
    Command(
        "show", "one session, turn or checkpoint, by the beginning of its id",
        "told.cli.showing", "show", operand="ID", needs_operand=True, tier=3,
        options=(Option("turns", "list every turn"), Option("full", "print texts whole"), JSON),
        rows="Ids come from `told list` and `told search`; the agent's own do as well. Their\n"
        "first letters are enough. ID.3 is turn 3 of a session.",
    ),
    Command(
        "checkpoints", "hand-over notes that agents wrote",
        "told.cli.checkpoints", "checkpoints", options=_WHERE, tier=1,
        rows="A row: when, id, agent, session, title; below it, what is next.\n`told show ID` has all of it.",
    ),
    Command(
        "repos", "projects, the latest first",
        "told.cli.sessions", "repos", options=(LIMIT, DAYS, SINCE, AGENT, JSON), tier=1,
        rows="A row: last activity, project, sessions (12s), turns (140t), agents.",
    ),
    Command(
        "timeline", "what was asked, across sessions, the latest first",
        "told.cli.sessions", "timeline", options=_WHERE, tier=2,
        rows="A row: when, the turn's id, agent, project, what you asked.",
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
        "rebuild", "make told's database anew from the agents' files",
        "told.cli.upkeep", "rebuild", options=(JSON,), mends=True,
    ),
    Command("sweep", "read the rest of the history quietly", "told.cli.upkeep", "sweep", hidden=True),
)  # fmt: skip


def command_named(name: str) -> Command | None:
    """Return a command by its name."""
    return next((command for command in COMMANDS if command.name == name), None)
