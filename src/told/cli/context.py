"""What a command is given: settings, the open store, the project it is about, and where to print."""

from __future__ import annotations

import os
import sys
import time

from told.cli.output import is_plain
from told.errors import NotFoundError, UsageError
from told.guard.fence import Fence
from told.guard.names import is_plain as is_plain_name
from told.guard.names import plain_path, tells
from told.ingest.identity import project_at
from told.ingest.whole import Whole
from told.record import record, replaced
from told.store.projects import Projects
from told.store.reading import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

    from told.cli.arguments import Arguments
    from told.guard.redact import Redactor
    from told.ingest.whole import Texts
    from told.memory.authority import Caller
    from told.settings import Settings
    from told.store.projects import Project


@record
class Visit:
    """A command that is not typed in the folder it is about: who asks, and where."""

    caller: Caller | None = None  # None: whoever the environment says
    folder: str | None = None  # None: the current one; empty: none
    project: str = ""  # a project's name or a folder that was named for this command


@record
class Scope:
    """Which sessions a command is about, and how that is said."""

    filter: Filter
    project: Project | None
    name: str


class Context:
    """One run of a command."""

    def __init__(
        self, settings: Settings, environ: Mapping[str, str], connection: apsw.Connection, key: bytes,
        visit: Visit | None = None,
    ) -> None:  # fmt: skip
        """Take what was opened for this run."""
        self._visit = visit
        self._entered: Project | None = None
        self.settings = settings
        self.environ = environ
        self.connection = connection
        self.key = key
        self.reading = self._whole(connection)
        self.fence = Fence(key)
        self.now = time.time_ns() // 1_000_000
        self.rows = 0
        self.left = 0  # files that are still to be read
        self.behind = False  # whether a sweep in the background is due
        self._lines: list[str] = []

    def use(self, connection: apsw.Connection) -> None:
        """Go on with another connection."""
        self.connection = connection
        self.reading = self._whole(connection)

    def _whole(self, connection: apsw.Connection) -> Whole:
        settings, environ, key = self.settings, self.environ, self.key  # holding `self` would keep it open

        def read_again(agent: str, native: str) -> Texts:
            """Return what a session's own file says, where told has no text of it any more."""
            from told.guard.redact import Redactor
            from told.ingest.rereading import texts_again

            redact = Redactor(key, settings.redaction).redact
            return texts_again(connection, settings, environ, redact, (agent, native))

        return Whole(connection, settings.home, read_again)

    @property
    def cwd(self) -> str:
        """The folder it is about, else the current one; empty when there is none, or it was deleted."""
        if self._visit is not None and self._visit.folder is not None:
            return self._visit.folder
        try:
            return os.getcwd()
        except OSError:
            return ""

    @property
    def caller(self) -> Caller:
        """Who asks: the user, or an agent."""
        if self._visit is not None and self._visit.caller is not None:
            return self._visit.caller
        from told.memory.authority import caller

        return caller(self.environ)

    def enter(self, name: str) -> Project | None:
        """Go to a project or a folder by its name; return the project, None where told knows none there.

        Raises:
            NotFoundError: there is neither a folder nor a project of that name.
            UsageError: there are several projects of that name.
        """
        folder = self._below(name)
        by_name = "/" not in name and not name.startswith((".", "~")) and self.projects().named(name)
        if by_name or not os.path.isdir(folder):
            self._entered = self._named(name)
            folder = self._entered.root
        else:
            folder = os.path.realpath(folder)
            self._entered = project_at(self.projects(), folder)
        self._visit = replaced(self._visit or Visit(), folder=folder)
        return self._entered

    @property
    def is_named(self) -> bool:
        """Whether the project was named for this command, wherever the one who asks is."""
        return self._visit is not None and bool(self._visit.project)

    def project(self) -> Project | None:
        """Return the project it is about, if told knows it."""
        return self._entered or (project_at(self.projects(), self.cwd) if self.cwd else None)

    @property
    def is_at_terminal(self) -> bool:
        """Tell whether somebody reads what is printed as it comes."""
        return self._visit is None and sys.stdout.isatty()

    @property
    def width(self) -> int:
        """Columns of the terminal, or 100 where there is none."""
        if not self.is_at_terminal:
            return 100
        return max(60, min(160, os.get_terminal_size(sys.stdout.fileno()).columns))

    def redactor(self, *, emails: bool = True) -> Redactor:
        """Return what takes secrets out of text, as the user wishes; in a path, mail addresses may stay."""
        from told.guard.redact import Redactor

        wish = self.settings.redaction
        return Redactor(self.key, wish if emails else replaced(wish, emails=False))

    def hide(self, name: str) -> str:
        """Return a path or the name of a project without secrets; most need no look at them."""
        return name if is_plain_name(name) else plain_path(name, self.redactor().redact)

    def check_path(self, path: str) -> None:
        """Make sure that told can keep where something is.

        Raises:
            UsageError: there is a secret in the path.
        """
        if tells(path, self.redactor(emails=False).redact):
            raise UsageError("There is a secret in the folder's path, and told does not keep any. Rename it.")

    def projects(self) -> Projects:
        """Return which folder belongs to which project, found by names without secrets."""
        return Projects(self.connection, self.hide)

    def print(self, text: str = "") -> None:
        """Hold a line; everything is written at once."""
        self._lines.append(text)

    def name(self, name: str) -> str:
        """Return a name that others gave as it is; fenced if it could be more than a name."""
        return name if is_plain(name) else self.fence.inline(name)

    def take(self) -> str:
        """Return what was printed."""
        text = "\n".join(self.pieces())
        return text + "\n" if text else ""

    def pieces(self) -> list[str]:
        """Return what was printed, piece by piece: a line, or a fenced block."""
        pieces, self._lines = self._lines, []
        return pieces

    def scope(self, arguments: Arguments) -> Scope:
        """Work out which sessions are meant by --project, --agent, --days, --since and the current folder."""
        since = self._since(arguments)
        agent = agent_name(arguments.text("agent"))
        project: Project | None = None
        name = arguments.text("project")
        if name and arguments.flag("all-projects"):
            raise UsageError("Give --project or --all-projects, not both.")
        if name:
            project = self._entered or self._named(name)
        elif not arguments.flag("all-projects"):
            project = self.project()
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
        from told.search.dates import beginning

        begins = beginning(since, self.now)
        if begins is None:
            raise UsageError(
                f"--since does not understand {since!r}. Try 2026-11-03, yesterday or 'last week'."
            )
        return max(1, begins)

    def _named(self, name: str) -> Project:
        projects = self.projects()
        path = self._below(name)
        if os.path.isdir(path) and ("/" in name or name.startswith((".", "~"))):
            found = project_at(projects, path)
            if found is not None:
                return found
        if name.startswith(("/", "~", ".")):
            gone = projects.at(path.rstrip("/"))
            if gone is not None:
                return gone
        matches = projects.named(name)
        if len(matches) == 1:
            return matches[0]
        if matches:
            keys = ", ".join(self.name(match.key) for match in matches[:5])
            raise UsageError(f"{self.hide(name)!r} could be {keys}. Give one of these.")
        raise NotFoundError(f"No project is called {self.hide(name)!r}. `told repos` lists them.")

    def _below(self, name: str) -> str:
        """Return the path that a name stands for; no path has a NUL."""
        path = os.path.join(self.cwd, os.path.expanduser(name.replace("\0", "\ufffd")))
        return os.path.normpath(path)


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
