"""The one settings record, read from the environment and `config.toml` in told's own folder.

What is here is what every hook needs; what reads TOML, and what writes it, is loaded only where that is done.
"""

from __future__ import annotations

import os

from told.errors import MissingError, UsageError
from told.record import record, replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

CONFIG = "config.toml"
FOLDER = ".told"  # of a project
OFF = ("off", "0", "no")  # what turns something off in a variable
ASK = "ask"


@record
class OwnRule:
    """A kind of secret that only the user knows: what it looks like, and an example that it has to find."""

    name: str
    pattern: str
    example: str


@record
class Redaction:
    """What is taken out of text before it is stored."""

    enabled: bool = True  # `<private>` parts are taken out in any case
    emails: bool = True
    rules: tuple[OwnRule, ...] = ()


@record
class Settings:
    """What the user may decide."""

    home: str  # the folder with everything told writes for itself
    background: bool = True  # read the rest of the history after an answer, in a process of its own
    learn: bool = True  # make memories of what users say in sessions
    guard: str = ASK  # what a tool call meets that a locked rule denies, where that hook is installed
    agents_off: tuple[str, ...] = ()
    agent_folders: tuple[tuple[str, str], ...] = ()
    redaction: Redaction = Redaction()
    checkpoint_remind_after: int = 5  # tool calls, where that hook is installed; 0: no reminder, no gate
    checkpoint_gate: str = "off"  # or ask: a tool call waits for a checkpoint then
    retention_days: int = 90  # after how long without need a memory may fade; 0: never
    retention_cap_mb: int = 1024  # how much disk everything told writes may take; 0: no cap
    brief_tokens: int = 450
    brief_start_tokens: int = 450
    model: str = ""  # what compares meanings: the table that comes with told, off, a folder, or an address
    reranker: str = ""  # a folder with a model that looks at results a second time
    problem: str = ""  # why the file is not understood; nothing that was said may be stored then

    @property
    def sessions_path(self) -> str:
        """The database of conversations."""
        return os.path.join(self.home, "sessions.db")

    @property
    def chosen(self) -> str:
        """What the user decided about where agents are looked for, in one line."""
        return f"{self.agents_off}{self.agent_folders}".replace("\n", " ")

    def folder_of(self, agent: str) -> str:
        """Return the folder the user named for an agent, or nothing."""
        return dict(self.agent_folders).get(agent, "")


def load(environ: Mapping[str, str], check: Callable[[OwnRule], None] | None = None) -> Settings:
    """Read the settings.

    Args:
        environ: The variables that told runs with.
        check: Raises UsageError for a rule of the user's own that is of no use; None leaves rules unchecked.

    Raises:
        MissingError: there is no folder for told to live in, or the config file cannot be read.
        UsageError: the config file is not understood.
    """
    found = _read(home_of(environ), environ, check)
    if found.problem:
        raise UsageError(found.problem)
    return found


def tolerant(environ: Mapping[str, str], check: Callable[[OwnRule], None] | None = None) -> Settings:
    """Read the settings; where the config file is not understood, return safe ones that say so.

    Safe is: secrets are taken out, nothing is learned, and nothing is started. A file that is not understood
    may have a rule that should have taken something out, so whoever stores what was said looks at `problem`.

    Raises:
        MissingError: there is no folder for told to live in.
    """
    home = home_of(environ)
    try:
        return _read(home, environ, check)
    except MissingError as error:
        return _safe(home, str(error))


def home_of(environ: Mapping[str, str]) -> str:
    """Return the folder with everything told writes for itself.

    Raises:
        MissingError: there is no folder for told to live in.
    """
    home = environ.get("TOLD_HOME", "")
    if not home:
        user = environ.get("HOME") or environ.get("USERPROFILE") or ""
        if not user:
            raise MissingError(
                "There is no home folder. Set HOME, or set TOLD_HOME to a folder told may use."
            )
        home = os.path.join(user, ".told")
    return os.path.abspath(os.path.expanduser(home))


def in_project(settings: Settings, root: str) -> Settings:
    """Return the settings as they are in a project, whose own config may only set what does no harm.

    Args:
        settings: The user's.
        root: The project's folder; empty where there is none.
    """
    if not root or not os.path.lexists(os.path.join(root, FOLDER, CONFIG)):
        return settings
    from told.settings.project import wishes

    return replaced(settings, **wishes(settings, root)[0])


def is_off(environ: Mapping[str, str], variable: str) -> bool:
    """Tell whether a variable turns something off; none of them turns anything on."""
    return environ.get(variable, "on") in OFF


def _read(home: str, environ: Mapping[str, str], check: Callable[[OwnRule], None] | None) -> Settings:
    path = os.path.join(home, CONFIG)
    try:
        state = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return _made(home, {}, environ)
    except OSError as error:
        raise MissingError(f"{path} cannot be read ({(error.strerror or 'error').lower()}).") from None
    from told.settings.kept import of_user

    fields, problem = of_user(home, path, state, check)
    return _safe(home, problem) if problem else _made(home, fields, environ)


def _made(home: str, fields: Mapping[str, Any], environ: Mapping[str, str]) -> Settings:
    """Return the settings of a file's plain values, as they are kept."""
    given = dict(fields)
    if "redaction" in given:
        enabled, emails, rules = given["redaction"]
        given["redaction"] = Redaction(enabled, emails, tuple(OwnRule(*rule) for rule in rules))
    if "agent_folders" in given:
        given["agent_folders"] = tuple((name, os.path.expanduser(at)) for name, at in given["agent_folders"])
    for name in ("model", "reranker"):
        if name in given:
            given[name] = os.path.expanduser(given[name])
    for name, variable in (("background", "TOLD_BACKGROUND"), ("learn", "TOLD_LEARN")):
        if is_off(environ, variable):
            given[name] = False
    return Settings(home, **given)


def _safe(home: str, problem: str) -> Settings:
    return Settings(home, background=False, learn=False, problem=problem)
