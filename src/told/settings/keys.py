"""The settings record, and the kind, default, valid values and help text of each setting."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from told.errors import UsageError
from told.tables import load_table

CONFIG = "config.toml"
ASK, AUTO, OFF = "ask", "auto", "off"
FORMER_TABLES = {"judge": "reader"}


class CustomRule(NamedTuple):
    """A user's own redaction rule with an example that it must find."""

    name: str
    pattern: str
    example: str


class Redaction(NamedTuple):
    """What to remove from text before it is stored."""

    enabled: bool = True  # `<private>` parts are removed in any case
    emails: bool = True
    rules: tuple[CustomRule, ...] = ()


class Settings(NamedTuple):
    """All settings of the user."""

    home: str  # told's own folder
    background: bool = True  # read the rest of the history in a background process
    service: bool = True  # let a local service answer hooks
    learn: bool = True  # make memories from sessions
    nudge: bool = True  # ask agents at a session's start to remember what it teaches
    ask_at_end: str = AUTO  # or on, off: ask the agent once when it stops
    guard: str = ASK  # answer to a tool call that a locked rule forbids
    agents_off: tuple[str, ...] = ()
    agent_folders: tuple[tuple[str, str], ...] = ()
    redaction: Redaction = Redaction()
    checkpoint_remind_after: int = 5  # tool calls; 0: no reminder, no gate
    checkpoint_gate: str = "off"  # or ask: deny tool calls until there is a checkpoint
    retention_days: int = 90  # unused memories are archived after this; 0: never
    retention_cap_mb: int = 1024  # disk space of told's folder; 0: no cap
    brief_tokens: int = 450
    brief_start_tokens: int = 800
    model: str = ""  # embeddings: empty for the built-in table, off, a folder or an address
    reranker: str = ""  # folder of a model that re-ranks results
    reader_mode: str = OFF  # or agent, endpoint, anthropic, gguf
    reader_agent: str = ""  # empty: the first that is installed
    reader_url: str = ""
    reader_model: str = ""
    reader_key_env: str = ""  # environment variable with the key
    reader_file: str = ""
    reader_daily_tokens: int = 200_000
    server_compat: str = "off"  # or agent-memory: the server answers its paths as well
    problem: str = ""  # why the file is not valid; store no text then

    @property
    def sessions_path(self) -> str:
        """The database of conversations."""
        return os.path.join(self.home, "sessions.db")

    @property
    def chosen(self) -> str:
        """The settings that decide where agents are looked for, on one line."""
        return f"{self.agents_off}{self.agent_folders}".replace("\n", " ")

    @property
    def reads_sessions(self) -> bool:
        """Whether a reader may read sessions."""
        return self.reader_mode != OFF and self.learn and not self.problem

    def folder_of(self, agent: str) -> str:
        """Return the folder that the user set for an agent, or ""."""
        return dict(self.agent_folders).get(agent, "")


MODEL_FORMS = "empty, off, the whole path of a folder, or an address that begins with https:// or http://"


def is_folder_path(value: object) -> bool:
    """Return whether a value is the absolute path of a folder."""
    return isinstance(value, str) and value.isprintable() and (value[:1] == "~" or os.path.isabs(value))


BOOLEAN, NUMBER, CHOICE, TEXT, RULES = "boolean", "number", "choice", "text", "rules"
MODEL, FOLDER, FILE, URL, VARIABLE = "model", "folder", "file", "url", "variable"
_UNQUOTED = (MODEL, URL, VARIABLE)  # their values may contain somebody's key
ONLY_OFF = "only `false`"  # a value of `in_project`
AGENT_NAME = "NAME"  # placeholder for an agent's name
_TRUE, _FALSE = ("true", "on", "yes"), ("false", "off", "no")
# Settings that are not a field of the settings record with the same name.
_FIELDS = {
    "redaction.enabled": "redaction",
    "redaction.emails": "redaction",
    "redaction.rules": "redaction",
    "agents.NAME.enabled": "agents_off",
    "agents.NAME.path": "agent_folders",
}
_DEFAULTS = {"redaction.rules": (), "agents.NAME.enabled": True, "agents.NAME.path": ""}


class Key(NamedTuple):
    """One setting; keys.toml describes the fields."""

    name: str
    kind: str
    default: Any
    about: str
    field: str  # of the settings record
    most: int = 0
    choices: tuple[str, ...] = ()
    variable: str = ""
    in_project: str = ""
    by_agents: bool = False

    @property
    def path(self) -> tuple[str, ...]:
        """The tables of the setting, and its name there."""
        return tuple(self.name.split("."))

    @property
    def must(self) -> str:
        """Valid values in words."""
        if self.kind == NUMBER:
            return f"a whole number from 0 to {self.most:,}"
        if self.kind == CHOICE:
            return f"one of {', '.join(self.choices)}"
        kinds = {
            MODEL: MODEL_FORMS,
            BOOLEAN: "true or false",
            TEXT: "text in quotes",
            FOLDER: "empty, or the whole path of a folder",
            FILE: "empty, or the whole path of a file",
            URL: "empty, or an address that begins with https:// or http://, without a password",
            VARIABLE: "empty, or the name of an environment variable, not the key itself",
        }
        return kinds.get(self.kind, "tables with a name, a pattern and an example: [[redaction.rules]]")


def _load_keys() -> Iterator[Key]:
    for name, table in load_table(__file__).items():
        field = _FIELDS.get(name, name.replace(".", "_"))
        default = _DEFAULTS[name] if name in _DEFAULTS else _default(name, field)
        yield Key(name, default=default, field=field, **{**table, "choices": tuple(table.get("choices", ()))})


def _default(name: str, field: str) -> Any:
    value = getattr(Settings(""), field)
    return getattr(value, name.rpartition(".")[2]) if field == "redaction" else value


KEYS = tuple(_load_keys())
TABLES = {key.path[:1] for key in KEYS if len(key.path) > 1} | {(name,) for name in FORMER_TABLES}


def find_key(path: Sequence[str]) -> Key | None:
    """Return the setting at a path, which may contain the name of an agent."""
    if len(path) == 3 and path[0] == "agents":
        path = ("agents", AGENT_NAME, path[2])
    return next((key for key in KEYS if key.path == tuple(path)), None)


def rename_former(path: Sequence[str]) -> tuple[str, ...]:
    """Return the path of a setting whose table had another name in older versions."""
    return (FORMER_TABLES.get(path[0], path[0]), *path[1:])


def get_key(name: str) -> Key:
    """Return the setting with the name that a user typed, also a former one."""
    found = find_key(rename_former(name.split(".")))
    if found is None or AGENT_NAME in name.split("."):
        raise UsageError(f"There is no setting {name!r}.{suggest_key(name)}")
    return found


def suggest_key(
    name: str, known: Iterable[str] = (), otherwise: str = "`told config list` shows them all."
) -> str:
    """Return a hint at the setting that a mistyped name may mean."""
    from difflib import get_close_matches  # noqa: PLC0415 - for a wrong name only

    names = list(known) or [key.name for key in KEYS]
    lasts = {one.rpartition(".")[2]: one for one in reversed(names)}
    close = get_close_matches(name, names, 1, 0.6)
    close = close or [lasts[one] for one in get_close_matches(name.rpartition(".")[2], lasts, 1, 0.7)]
    return f" Did you mean {close[0]}?" if close else f" {otherwise}"


def is_valid(key: Key, value: Any) -> bool:
    """Return whether a value is valid; the parts of rules are checked elsewhere."""
    if key.kind == BOOLEAN:
        return isinstance(value, bool)
    if key.kind == NUMBER:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= key.most
    if key.kind == CHOICE:
        return isinstance(value, str) and value in key.choices
    if key.kind == TEXT:
        return isinstance(value, str)
    if key.kind == MODEL:
        return not _find_model_problem(value)
    if key.kind in (FOLDER, FILE):
        return value == "" or is_folder_path(value)
    if key.kind == URL:
        from told.settings.endpoints import parse_address  # noqa: PLC0415 - few have one

        return value == "" or (isinstance(value, str) and parse_address(value) is not None)
    if key.kind == VARIABLE:
        return isinstance(value, str) and (value == "" or (value.isascii() and value.isidentifier()))
    return isinstance(value, list)


def _find_model_problem(value: object) -> str:
    from told.settings.endpoints import find_model_problem  # noqa: PLC0415 - few have one

    return find_model_problem(value)


def describe_misfit(key: Key, value: Any) -> str:
    """Say what is wrong with a value, in words that follow the setting's name."""
    return _find_model_problem(value) if key.kind == MODEL else f"must be {key.must}"


def parse_value(key: Key, name: str, text: str) -> Any:
    """Convert the text that a user typed for a setting."""
    if key.kind == RULES:
        raise UsageError(
            "Rules are changed by `told config add-rule NAME PATTERN EXAMPLE` and `told config remove-rule`."
        )
    value: Any = text
    if key.kind == BOOLEAN and text.lower() in (*_TRUE, *_FALSE):
        value = text.lower() in _TRUE
    elif key.kind == NUMBER:
        plain = text.replace(",", "").replace("_", "")
        value = int(plain[:12]) if plain.isascii() and plain.isdigit() else text
    if not is_valid(key, value):
        given = "" if key.kind in _UNQUOTED else f", not {text!r}"
        raise UsageError(f"{name} {describe_misfit(key, value).removesuffix(' in quotes')}{given}.")
    return value
