"""Open told's home, settings, key, redactor and stores for one run.

Most commands only read, so what imports, learns and writes is loaded by the functions that need it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

import apsw

from told.agents import all_agents, find_agent, installed_agents
from told.errors import BusyError, DiskFullError, NotFoundError, ToldError, UsageError
from told.fence import Fence
from told.ingest.complete_sessions import CompleteSessions, Texts
from told.ingest.projects import find_git_root, find_project, identify
from told.ingest.scan import scan
from told.pattern import lazy_pattern
from told.redact.names import has_secret, is_plain_name, redact_id, redact_path
from told.settings import CONFIG, CustomRule, Settings, load_safe_settings, load_settings
from told.store.database import UNWRITABLE
from told.store.memories.names import GLOBAL, PRIVATE, PRIVATE_HERE, PROJECT
from told.store.sessions.checkpoints import Project, Projects
from told.store.sessions.facts import WorkQueue
from told.store.sessions.source_states import SourceStates

if TYPE_CHECKING:
    from told.agents.base import Agent
    from told.learning.learn import LearnResult
    from told.memories.caller import Caller
    from told.memories.proof import Message
    from told.memories.said import Draft
    from told.redact.engine import Redactor
    from told.store.memories.protocol import Memories

# A command waits this long; the background does the rest, or `told index` where there is none.
_LEARN_SECONDS, _LEARN_ALONE_SECONDS = 0.4, 2.0
_IMPORT_SECONDS = 2.0
_BARE_NAME = lazy_pattern(r"[A-Za-z0-9._/@:+#~-]{0,80}")
_PLAIN_PATH = lazy_pattern(r"[A-Za-z0-9\u00c0-\u024f._/\\@:+#~()\[\]{}$,=%&-]{1,300}")


def load_checked_settings(environ: Mapping[str, str], *, lenient: bool = False) -> Settings:
    """Load and check the settings.

    With `lenient`, an invalid file gives safe settings that state the problem.
    """
    found = load_safe_settings(environ, _check_rule) if lenient else load_settings(environ, _check_rule)
    path = os.path.join(found.home, CONFIG)
    try:
        off = tuple(full_agent_name(name, path) for name in found.agents_off)
        folders = tuple((full_agent_name(name, path), folder) for name, folder in found.agent_folders)
    except UsageError as error:
        if not lenient:
            raise
        safe = load_safe_settings({**environ, "TOLD_LEARN": "off"})
        return safe._replace(background=False, problem=str(error))
    return found._replace(agents_off=off, agent_folders=folders)


def _check_rule(rule: CustomRule) -> None:
    from told.redact.custom_rules import check_rule  # noqa: PLC0415

    check_rule(rule)


def full_agent_name(name: str, path: str = "") -> str:
    """Return the full name of an agent in the settings, given any of its names."""
    if found := find_agent(name):
        return found.name
    for agent in installed_agents().values():
        if name.lower() in agent.names:
            return agent.name
    from told.settings.keys import suggest_key  # noqa: PLC0415

    known = all_agents()
    where = f" in {path}" if path else ""
    raise UsageError(f"Unknown agent {name!r}{where}.{suggest_key(name, known, _known_agents(known))}")


def _known_agents(names: Iterable[str]) -> str:
    return f"told knows: {', '.join(names)}."


def agent_name(name: str) -> str:
    """Return the full name of an agent given its name, label or alias."""
    if not name:
        return ""
    return match_agent(name, all_agents()).name


def match_agent(given: str, known: Mapping[str, Agent]) -> Agent:
    """Return the agent that a name, label or alias means."""
    by_name = {name: agent for agent in known.values() for name in agent.names}
    agent = by_name.get(given.lower())
    if agent is None:
        from difflib import get_close_matches  # noqa: PLC0415 - for a wrong name only

        close = get_close_matches(given.lower(), sorted(by_name, key=len), 1, 0.5)
        hint = f'Did you mean "{by_name[close[0]].name}"?' if close else _known_agents(known)
        raise UsageError(f'Unknown agent "{given}". {hint}')
    return agent


def is_bare_name(name: str) -> bool:
    """Tell whether a name is a short ASCII identifier or path.

    A branch, project or folder with other characters could be a sentence that steers its reader.
    """
    return _BARE_NAME.fullmatch(name) is not None


def is_plain_path(path: str) -> bool:
    """Tell whether a path is only a path, not a sentence that steers its reader."""
    return _PLAIN_PATH.fullmatch(path) is not None


class CallSite(NamedTuple):
    """The caller and folder of a call, if not the default."""

    caller: Caller | None = None  # None: from the environment and the processes
    folder: str | None = None  # None: the current folder; empty: no folder
    project: str = ""  # a project's name or folder that was given


class App:
    """The settings, key, redactor and session store of one run."""

    def __init__(
        self, settings: Settings, environ: Mapping[str, str], connection: apsw.Connection, key: bytes,
        site: CallSite | None = None,
    ) -> None:  # fmt: skip
        self.settings = settings
        self.home = settings.home
        self.environ = environ
        self.key = key
        self.fence = Fence(key)
        self.now = time.time_ns() // 1_000_000
        self.behind = False  # whether a background sweep is due
        self.is_read_only = False  # the disk is full or read-only: only what is there can be read
        self._site = site or CallSite()
        self.entered: Project | None = None
        self.use_connection(connection)

    def use_connection(self, connection: apsw.Connection) -> None:
        """Continue with another connection to the session store."""
        settings, environ, key = self.settings, self.environ, self.key  # capturing `self` would keep it open

        def read_again(agent: str, native: str) -> Texts:
            """Return a session's texts from its own file."""
            from told.ingest.sweep import reread_texts  # noqa: PLC0415
            from told.redact.engine import Redactor  # noqa: PLC0415

            redact = Redactor(key, settings.redaction).redact
            return reread_texts(connection, settings, environ, redact, (agent, native))

        self.connection = connection
        self.reading = CompleteSessions(connection, settings.home, read_again)

    @property
    def cwd(self) -> str:
        """Return the folder the call is about; empty if there is none."""
        if self._site.folder is not None:
            return self._site.folder
        try:
            return os.getcwd().encode("utf-8", "replace").decode()  # a database stores it
        except OSError:
            return ""

    @property
    def caller(self) -> Caller:
        """Return who calls: the user or an agent."""
        from told.memories.caller import detect_caller  # noqa: PLC0415

        caller = self._site.caller or detect_caller(self.environ)
        self._site = self._site._replace(caller=caller)
        return caller

    @property
    def caller_session(self) -> str:
        """Return the agent's id of the caller's session, else its latest one in the folder."""
        from told.memories.session_notes import find_running_session  # noqa: PLC0415

        caller = self.caller
        if caller.session or caller.is_user:
            return caller.session
        return find_running_session(self.home, caller.agent, self.cwd, self.environ.get("HOME", ""))

    @property
    def names_project(self) -> bool:
        """Tell whether the call names its project, wherever the caller is."""
        return bool(self._site.project)

    @property
    def is_user_home(self) -> bool:
        """Tell whether the folder is the user's home."""
        return bool(self.cwd) and self.cwd == os.path.realpath(self.environ.get("HOME", ""))

    def redactor(self, *, emails: bool = True) -> Redactor:
        """Return the redactor; mail addresses may stay in a path."""
        from told.redact.engine import Redactor  # noqa: PLC0415

        wanted = self.settings.redaction
        return Redactor(self.key, wanted if emails else wanted._replace(emails=False))

    def redact(self, text: str) -> str:
        """Return a text without secrets."""
        return self.redactor().redact(text)

    def hide_secrets(self, name: str) -> str:
        """Return a path or a project's name without secrets."""
        return name if is_plain_name(name) else redact_path(name, self.redact)

    def stored_id(self, session: str) -> str:
        """Return a session's own id as it may be stored."""
        return session if is_plain_name(session) else redact_id(session, self.redact, lambda: self.key)

    def name(self, name: str) -> str:
        """Return a name, fenced if it could be a sentence."""
        return name if is_bare_name(name) else self.fence.inline(name)

    def path(self, path: str) -> str:
        """Return a path, fenced if it could be a sentence."""
        return path if is_plain_path(path) else self.fence.inline(path)

    def check_path(self, path: str) -> None:
        """Check that a path contains no secret."""
        if has_secret(path, self.redactor(emails=False).redact):
            raise UsageError("The folder's path contains a secret, which told does not store. Rename it.")

    def projects(self) -> Projects:
        """Return the known projects, looked up by names without secrets."""
        return Projects(self.connection, self.hide_secrets)

    def project(self) -> Project | None:
        """Return the project the call is about, if told knows it."""
        return self.entered or (find_project(self.projects(), self.cwd) if self.cwd else None)

    def enter_project(self, name: str) -> Project | None:
        """Switch to a project or folder; return the project if known."""
        folder = self._path_below(name)
        by_name = "/" not in name and not name.startswith((".", "~")) and self.projects().named(name)
        if by_name or not os.path.isdir(folder):
            self.entered = self.find_project(name)
            folder = self.entered.root
        else:
            folder = os.path.realpath(folder)
            self.entered = find_project(self.projects(), folder)
        self._site = self._site._replace(folder=folder)
        return self.entered

    def find_project(self, name: str) -> Project:
        """Return the project with a name, `owner/name` or path."""
        projects = self.projects()
        path = self._path_below(name)
        if os.path.isdir(path) and ("/" in name or name.startswith((".", "~"))):
            found = find_project(projects, path)
            if found is not None:
                return found
        if name.startswith(("/", "~", ".")):
            gone = projects.at(path.rstrip("/"))
            if gone is not None:
                return gone
        matches = projects.named(name)
        if len(matches) == 1:
            return matches[0]
        shown = self.hide_secrets(name)
        if matches:
            keys = ", ".join(self.name(match.key) for match in matches[:5])
            raise UsageError(f"{shown!r} matches {keys}. Give one of these.")
        raise NotFoundError(f"No project is called {shown!r}. `told repos` lists them.")

    def _path_below(self, name: str) -> str:
        """Return the path for a name."""
        path = os.path.join(self.cwd, os.path.expanduser(name.replace("\0", "\ufffd")))
        return os.path.normpath(path)

    def project_scope(self) -> str:
        """Return the scope of the folder's project; global in the home folder."""
        if not self.cwd or self.is_user_home:
            return GLOBAL
        if known := self.project():
            return PROJECT + known.key
        return PROJECT + self.hide_secrets(identify(self.cwd, ask_git=bool(find_git_root(self.cwd))).key)

    def import_new(self, seconds: float = _IMPORT_SECONDS) -> None:
        """Import what agents wrote just now: a prompt may be seconds old."""
        from told.ingest.sweep import Sweep  # noqa: PLC0415

        changed = scan(SourceStates(self.connection), self.environ, self.settings.chosen)
        if not changed.is_empty:
            sweep = Sweep(self.connection, self.settings, self.environ, self.redact)
            sweep.read_some(changed, self.cwd, seconds)

    def learn(
        self, memories: Memories, seconds: float | None = None, report: Callable[..., None] = lambda _: None
    ) -> LearnResult | None:
        """Learn from new turns; None if another told does so already."""
        from told.learning.learn import learn  # noqa: PLC0415

        home, settings = self.home, self.settings
        return learn(home, memories, self.connection, settings, self.now, seconds=seconds, report=report)

    def learn_briefly(self, memories: Memories) -> None:
        """Learn from new turns within a short time limit."""
        queue = WorkQueue(self.connection)
        if self.settings.learn and queue.is_waiting():
            try:
                self.learn(memories, _LEARN_SECONDS if self.settings.background else _LEARN_ALONE_SECONDS)
            except (ToldError, *UNWRITABLE) as error:
                self.is_read_only |= not isinstance(error, BusyError) or isinstance(error, DiskFullError)
                return  # busy or full: answer from what is known, and learn later
            self.behind = self.behind or queue.is_waiting()


class MemorySession:
    """Open memories with a journal writer and the scopes of the folder."""

    def __init__(self, app: App) -> None:
        """Open the memories as the journal has them now."""
        from told.journal.apply import open_memories  # noqa: PLC0415
        from told.journal.file_journal import FileJournal  # noqa: PLC0415
        from told.memories.journal_writer import JournalWriter  # noqa: PLC0415

        self.app = app
        self.home = app.home
        self.caller = app.caller._replace(session=app.stored_id(app.caller_session))
        self.memories = open_memories(app.home)
        app.learn_briefly(self.memories)
        self.writer = JournalWriter(FileJournal(self.home), self.memories, app.now, self.caller)
        self.project = app.project_scope()
        self._said: list[Message] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close the memories; rebuild a file that turned out to be damaged."""
        from told.journal.apply import find_memory_damage, rebuild  # noqa: PLC0415
        from told.store.memories.read import UNREADABLE  # noqa: PLC0415

        self.memories.close()
        if kind is not None and issubclass(kind, UNREADABLE) and find_memory_damage(self.home):
            rebuild(self.home).close()
            raise BusyError("The memories were damaged and were rebuilt from the journal. Try again.")

    @property
    def scopes(self) -> tuple[str, ...]:
        """Return the scopes that apply in the folder."""
        from told.memories.scopes import active_scopes  # noqa: PLC0415

        return active_scopes(self.memories, self.project)

    def named_scope(self, name: str, project: str = "") -> str:
        """Return the scope with a name."""
        from told.memories.scopes import parse_scope, require_scope, validate_scope_name  # noqa: PLC0415

        if name not in ("", "project", GLOBAL, PRIVATE, PRIVATE_HERE):
            require_scope(self.memories, validate_scope_name(name))
        return parse_scope(name, project or self.project)

    def new_memory(
        self, text: str, *, scope: str = "", kind: str = "", locked: bool = False, quote: str = "",
        replaces: Sequence[str] = (),
    ) -> Draft:  # fmt: skip
        """Return a statement to remember, redacted, with the trust its quote earns.

        Args:
            text: The statement.
            scope: The name of its scope; the project by default.
            kind: What it is; guessed by default.
            locked: Whether to lock it.
            quote: For agents: the user's words that prove it.
            replaces: Ids or texts of memories that it replaces.
        """
        from told.ingest.agent_prompts import TOPIC as PROMPTED  # noqa: PLC0415
        from told.memories.remember import NewMemory, validate_text  # noqa: PLC0415
        from told.memories.said import Draft, find_replaced, list_messages, verify  # noqa: PLC0415
        from told.memories.scopes import validate_kind  # noqa: PLC0415

        redact = self.app.redact
        new = NewMemory(validate_text(redact(text)), self.named_scope(scope), validate_kind(kind), locked)
        old = find_replaced(self.memories, map(redact, replaces), self.scopes, self.app.now)
        if self.caller.is_user:
            return Draft(new._replace(replaces=old))
        quote = " ".join(redact(quote).split())
        if quote and self._said is None:
            self.app.import_new()
            agent, session = self.caller.agent, self.caller.session
            spans = self.memories.noted(PROMPTED).get(f"{agent}/{session}", "")
            self._said = list_messages(self.app.reading, self.home, agent, session, spans)
        new = new._replace(agent=self.caller.agent, session=self.caller.session, quote=quote, replaces=old)
        return verify(new, self._said or [])
