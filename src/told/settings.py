"""The one settings record, read from the environment and `config.toml` in told's own folder."""

from __future__ import annotations

import os

from told.errors import MissingError, UsageError
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_OFF = ("off", "0", "no")
ASK = "ask"
_GUARDS = (ASK, "deny", "off")


@record
class Settings:
    """What the user may decide."""

    home: str  # the folder with everything told writes for itself
    background: bool = True  # read the rest of the history after an answer, in a process of its own
    learn: bool = True  # make memories of what users say in sessions
    guard: str = ASK  # what a tool call meets that a locked rule denies, where that hook is installed
    agents_off: tuple[str, ...] = ()
    agent_folders: tuple[tuple[str, str], ...] = ()

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


def load(environ: Mapping[str, str]) -> Settings:
    """Read the settings.

    Raises:
        MissingError: there is no folder for told to live in.
        UsageError: the config file is not understood.
    """
    home = home_of(environ)
    background, learn = (environ.get(name, "on") not in _OFF for name in ("TOLD_BACKGROUND", "TOLD_LEARN"))
    path = os.path.join(home, "config.toml")
    if not os.path.exists(path):
        return Settings(home, background, learn)
    return _from_file(path, home, background, learn)


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


def may_learn(home: str, environ: Mapping[str, str]) -> bool:
    """Tell whether memories may be made of what users say; reads TOML only where something is turned off."""
    if environ.get("TOLD_LEARN", "on") in _OFF:
        return False
    try:
        with open(os.path.join(home, "config.toml"), "rb") as file:
            return b"false" not in file.read() or load(environ).learn
    except FileNotFoundError:
        return True


def guard_of(home: str, environ: Mapping[str, str]) -> str:
    """Return what a tool call meets that a locked rule denies: ask, deny, or nothing."""
    path = os.path.join(home, "config.toml")
    found = load(environ).guard if os.path.exists(path) else ASK
    return "" if found == "off" else found


def _from_file(path: str, home: str, background: bool, learn: bool) -> Settings:
    import tomllib

    try:
        with open(path, "rb") as file:
            values = tomllib.load(file)
    except OSError as error:
        raise MissingError(f"{path} cannot be read ({(error.strerror or 'error').lower()}).") from None
    except ValueError as error:
        raise UsageError(f"{path} is not valid TOML: {error}. Mend that line.") from None
    agents = values.pop("agents", {})
    if not isinstance(agents, dict):
        raise UsageError(f"agents in {path} must be tables such as [agents.codex].")
    wanted = _boolean(values.pop("background", True), "background", path)
    background = background and wanted
    learn = _boolean(values.pop("learn", True), "learn", path) and learn
    guard = values.pop("guard", ASK)
    if guard not in _GUARDS:
        raise UsageError(f"guard in {path} must be one of {', '.join(_GUARDS)}.")
    if values:
        raise UsageError(f"{path} has an unknown setting: {min(values)}. Remove that line.")
    off, folders = [], []
    for name, given in sorted(agents.items()):
        if not isinstance(given, dict) or set(given) - {"enabled", "path"}:
            raise UsageError(f"[agents.{name}] in {path} takes only `enabled` and `path`.")
        if not _boolean(given.get("enabled", True), f"agents.{name}.enabled", path):
            off.append(name)
        folder = given.get("path", "")
        if not isinstance(folder, str):
            raise UsageError(f"agents.{name}.path in {path} must be text in quotes.")
        if folder:
            folders.append((name, os.path.expanduser(folder)))
    return Settings(home, background, learn, guard, tuple(off), tuple(folders))


def _boolean(value: Any, name: str, path: str) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{name} in {path} must be true or false.")
    return value
