"""What a command is given: settings, the open store, the project it is about, and where to print."""

from __future__ import annotations

import os
import sys
import time

from told.cli.output import is_plain
from told.errors import NotFoundError, UsageError
from told.guard.fence import Fence
from told.ingest.identity import project_at
from told.record import record
from told.store.projects import Projects
from told.store.reading import Filter, Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

    from told.cli.arguments import Arguments
    from told.settings import Settings
    from told.store.projects import Project


@record
class Scope:
    """Which sessions a command is about, and how that is said."""

    filter: Filter
    project: Project | None
    name: str


class Context:
    """One run of a command."""

    def __init__(
        self, settings: Settings, environ: Mapping[str, str], connection: apsw.Connection, key: bytes
    ) -> None:
        """Take what was opened for this run."""
        self.settings = settings
        self.environ = environ
        self.connection = connection
        self.reading = Reading(connection)
        self.key = key
        self.fence = Fence(key)
        self.now = time.time_ns() // 1_000_000
        self.rows = 0
        self.left = 0  # files that are still to be read
        self.behind = False  # whether a sweep in the background is due
        self._lines: list[str] = []

    def use(self, connection: apsw.Connection) -> None:
        """Go on with another connection."""
        self.connection = connection
        self.reading = Reading(connection)

    @property
    def cwd(self) -> str:
        """The current folder; empty when it was deleted."""
        try:
            return os.getcwd()
        except OSError:
            return ""

    @property
    def width(self) -> int:
        """Columns of the terminal, or 100 where there is none."""
        if not sys.stdout.isatty():
            return 100
        return max(60, min(160, os.get_terminal_size(sys.stdout.fileno()).columns))

    def print(self, text: str = "") -> None:
        """Hold a line; everything is written at once."""
        self._lines.append(text)

    def name(self, name: str) -> str:
        """Return a name that others gave as it is; fenced if it could be more than a name."""
        return name if is_plain(name) else self.fence.inline(name)

    def take(self) -> str:
        """Return what was printed."""
        text = "\n".join(self._lines)
        self._lines.clear()
        return text + "\n" if text else ""

    def scope(self, arguments: Arguments) -> Scope:
        """Work out which sessions are meant by --project, --agent, --days, --since and the current folder."""
        since = self._since(arguments)
        agent = agent_name(arguments.text("agent"))
        project: Project | None = None
        name = arguments.text("project")
        if name and arguments.flag("all-projects"):
            raise UsageError("Give --project or --all-projects, not both.")
        if name:
            project = self._named(name)
        elif not arguments.flag("all-projects") and self.cwd:
            project = project_at(Projects(self.connection), self.cwd)
        wanted = Filter(project.id if project else 0, agent, since)
        return Scope(wanted, project, self.name(project.name) if project else "all projects")

    def _since(self, arguments: Arguments) -> int:
        days = arguments["days"]
        if days is not None and arguments.text("since"):
            raise UsageError("Give --days or --since, not both.")
        if days is not None:
            return max(1, self.now - int(days) * 86_400_000)
        since = arguments.text("since")
        if not since:
            return 0
        from told.search.dates import moment

        window = moment(since, self.now).window
        if window is None:
            raise UsageError(
                f"--since does not understand {since!r}. Try 2026-11-03, yesterday or 'last week'."
            )
        return max(1, window[0])

    def _named(self, name: str) -> Project:
        projects = Projects(self.connection)
        if os.path.isdir(os.path.expanduser(name)) and ("/" in name or name.startswith((".", "~"))):
            found = project_at(projects, os.path.abspath(os.path.expanduser(name)))
            if found is not None:
                return found
        if name.startswith(("/", "~", ".")):
            gone = projects.at(os.path.abspath(os.path.expanduser(name)).rstrip("/"))
            if gone is not None:
                return gone
        matches = projects.named(name)
        if len(matches) == 1:
            return matches[0]
        if matches:
            keys = ", ".join(self.name(match.key) for match in matches[:5])
            raise UsageError(f"{name!r} could be {keys}. Give one of these.")
        raise NotFoundError(f"No project is called {name!r}. `told repos` lists them.")


def agent_name(name: str) -> str:
    """Return the full name of an agent that was named by its name or label."""
    if not name:
        return ""
    from told.agents import all_agents

    agents = all_agents()
    for agent in agents.values():
        if name.lower() in (agent.name, agent.label):
            return agent.name
    raise UsageError(f"There is no agent {name!r}. told knows: {', '.join(agents)}.")
