"""Load the settings from the environment and `config.toml` in told's folder."""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from told.errors import MissingError, UsageError
from told.files import NotReadableError, is_utf8, read_document
from told.pattern import lazy_pattern
from told.settings.keys import (
    AGENT_NAME,
    ASK,
    AUTO,
    CONFIG,
    FILE,
    FOLDER,
    FORMER_TABLES,
    KEYS,
    MODEL,
    OFF,
    ONLY_OFF,
    RULES,
    TABLES,
    CustomRule,
    Redaction,
    Settings,
    describe_misfit,
    find_key,
    get_key,
    is_valid,
    rename_former,
    suggest_key,
)

__all__ = [
    "ASK", "AUTO", "CONFIG", "OFF", "CustomRule", "Redaction", "SettingRow", "Settings",
    "apply_project_settings", "check_values", "find_home", "get_setting", "is_turned_off", "list_settings",
    "load_safe_settings", "load_settings", "parse_toml", "read_config", "read_project",
]  # fmt: skip

Path = tuple[str, ...]  # of a setting: its tables and its name

_PROJECT_FOLDER = ".told"
_OFF = (OFF, "0", "no")  # values of a variable that turn something off
_MAX_BYTES = 1_000_000
_MAX_PROJECT_BYTES = 64_000
_MAX_RULE_TEXT = 1_000
_MAX_RULES = 100
_MAX_RULE_NAME = 40
_RULE_NAME = lazy_pattern(f"[a-z0-9-]{{1,{_MAX_RULE_NAME}}}")
_RULE_PARTS = ("name", "pattern", "example")
_NAMED_SETTINGS = 5  # in one sentence
_DEFAULT, _FILE, _ENVIRONMENT, _PROJECT = "default", "file", "environment", "project"


def load_settings(environ: Mapping[str, str], check: Callable[[CustomRule], None] | None = None) -> Settings:
    """Read the settings."""
    found = _read(find_home(environ), environ, check)
    if found.problem:
        raise UsageError(found.problem)
    return found


def load_safe_settings(
    environ: Mapping[str, str], check: Callable[[CustomRule], None] | None = None
) -> Settings:
    """Read the settings; if the config file is not valid, return safe ones.

    Safe settings redact, learn nothing and start nothing. The file may have contained a redaction rule, so
    who stores text must look at `problem` first.
    """
    home = find_home(environ)
    try:
        return _read(home, environ, check)
    except MissingError as error:
        return _make_safe(home, str(error))


def find_home(environ: Mapping[str, str]) -> str:
    """Return told's own folder."""
    home = environ.get("TOLD_HOME", "")
    if not home:
        user = environ.get("HOME") or environ.get("USERPROFILE") or ""
        if not user:
            raise MissingError(
                "There is no home folder. Set HOME, or set TOLD_HOME to a folder told may use."
            )
        home = os.path.join(user, ".told")
    path = os.path.abspath(os.path.expanduser(home))
    if not is_utf8(path):  # SQLite opens no such file
        raise MissingError("The path of told's folder is not valid UTF-8. Set TOLD_HOME to another folder.")
    return path


def apply_project_settings(settings: Settings, root: str) -> Settings:
    """Return the settings with the allowed changes of a project's config."""
    if not root or not os.path.lexists(os.path.join(root, _PROJECT_FOLDER, CONFIG)):
        return settings
    return settings._replace(**read_project(settings, root)[0])


def is_turned_off(environ: Mapping[str, str], variable: str) -> bool:
    """Return whether an environment variable turns something off."""
    return environ.get(variable, "on") in _OFF


class SettingRow(NamedTuple):
    """The value of one setting and where it comes from."""

    name: str
    value: Any
    default: Any
    source: str


def list_settings(settings: Settings, environ: Mapping[str, str], root: str) -> list[SettingRow]:
    """Return every setting, and those of the agents that the file names."""
    values = _read_values(settings)
    agents = sorted({place[1] for place in values if place[0] == "agents"})
    names = [key.name for key in KEYS if AGENT_NAME not in key.path]
    names += [f"agents.{agent}.{last}" for agent in agents for last in ("enabled", "path")]
    return [_make_row(name, settings, values, environ, root) for name in names]


def get_setting(name: str, settings: Settings, environ: Mapping[str, str], root: str) -> SettingRow:
    """Return one setting."""
    get_key(name)
    return _make_row(name, settings, _read_values(settings), environ, root)


def _make_row(
    name: str,
    settings: Settings,
    values: Mapping[tuple[str, ...], Any],
    environ: Mapping[str, str],
    root: str,
) -> SettingRow:
    key = get_key(name)
    place = tuple(name.split("."))
    value, source = (values[place], _FILE) if place in values else (key.default, _DEFAULT)
    if key.variable and is_turned_off(environ, key.variable):
        value, source = False, _ENVIRONMENT
    if key.in_project and not settings.problem:
        in_project = getattr(apply_project_settings(settings, root), key.field)
        if in_project != value:
            value, source = in_project, _PROJECT
    if key.kind == RULES:
        value = [rule._asdict() for rule in value]
    return SettingRow(name, value, [] if key.kind == RULES else key.default, source)


def _read_values(settings: Settings) -> dict[Path, Any]:
    path = os.path.join(settings.home, CONFIG)
    if settings.problem or not os.path.lexists(path):
        return {}
    return check_values(parse_toml(read_config(path), path), path)


def _read(home: str, environ: Mapping[str, str], check: Callable[[CustomRule], None] | None) -> Settings:
    path = os.path.join(home, CONFIG)
    if not os.path.lexists(path):
        return _to_settings(home, {}, environ)
    content = read_config(path)
    try:
        found = _to_settings(home, check_values(parse_toml(content, path), path), environ)
        if check is not None:
            for rule in found.redaction.rules:
                check(rule)
    except UsageError as error:
        why = str(error)
        return _make_safe(home, why if path in why else f"{why} It is in {path}.")
    return found


def _make_safe(home: str, problem: str) -> Settings:
    return Settings(home, background=False, learn=False, problem=problem)


def _to_settings(home: str, values: Mapping[Path, Any], environ: Mapping[str, str]) -> Settings:
    """Make the settings of checked values and of what the environment turns off."""
    given: dict[str, Any] = {}
    redaction: dict[str, Any] = {}
    off, folders = [], []
    for place, value in sorted(values.items()):
        key = find_key(place)
        assert key
        if key.field == "redaction":
            redaction[place[1]] = value
        elif key.field == "agents_off":
            off += [] if value else [place[1]]
        elif key.field == "agent_folders":
            folders += [(place[1], os.path.expanduser(value))] if value else []
        else:
            is_path = key.kind in (MODEL, FOLDER, FILE)
            given[key.field] = os.path.expanduser(value) if is_path else value
    for key in KEYS:
        if key.variable and is_turned_off(environ, key.variable):
            given[key.field] = False
    given |= {"agents_off": tuple(off), "agent_folders": tuple(folders), "redaction": Redaction(**redaction)}
    return Settings(home, **given)


def read_config(path: str, limit: int = _MAX_BYTES, *, follow_links: bool = True) -> bytes:
    """Read a config file."""
    try:
        return read_document(path, limit, follow_links=follow_links)
    except NotReadableError as error:
        raise MissingError(f"{path} cannot be read ({error}).") from None


def parse_toml(content: bytes | str, path: str) -> dict[str, Any]:
    """Parse a TOML file."""
    try:
        return tomllib.loads(content if isinstance(content, str) else content.decode())
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, ValueError) else "too many brackets in each other"
        raise UsageError(f"{path} is not valid TOML: {why}. Mend that line.") from None


def check_values(tables: Mapping[str, Any], path: str) -> dict[Path, Any]:
    """Return the values of a config file by path, after checking all."""
    found: dict[Path, Any] = {}
    for place, value in _flatten(tables):
        key = find_key(place)
        if key is None:
            raise UsageError(_describe_unknown(place, value, path))
        if not is_valid(key, value):
            raise UsageError(f"{'.'.join(place)} in {path} {describe_misfit(key, value)}.")
        found[place] = _check_rules(value, path) if key.kind == RULES else value
    return found


def _flatten(tables: Mapping[str, Any]) -> Iterator[tuple[Path, Any]]:
    """Yield path and value of each setting in a file; a former name comes before the present one."""
    for name, value in sorted(tables.items(), key=lambda one: one[0] not in FORMER_TABLES):
        if (name,) not in TABLES or not isinstance(value, dict):
            yield (name,), value
            continue
        for inner, below in value.items():
            if name == "agents" and isinstance(below, dict):
                yield from (((name, inner, last), given) for last, given in below.items())
            else:
                is_former = name in FORMER_TABLES
                yield rename_former((name, inner)), OFF if is_former and below == "none" else below


def _describe_unknown(place: Path, value: Any, path: str) -> str:
    name = _printable(place)
    if place == ("agents",):
        return f"agents in {path} must be tables such as [agents.codex]."
    if place[0] == "agents":
        return f"[{_printable(place[:2])}] in {path} takes only `enabled` and `path`."
    if place in TABLES and not isinstance(value, dict):
        return f"{name} in {path} must be a table: [{name}]."
    return f"{path} has an unknown setting: {name}.{suggest_key(name, otherwise='Remove that line.')}"


def _printable(place: Path) -> str:
    return "".join(char if char.isprintable() else "?" for char in ".".join(place))[:80]


def _check_rules(given: list[Any], path: str) -> tuple[CustomRule, ...]:
    where = f"redaction.rules in {path}"
    if len(given) > _MAX_RULES:
        raise UsageError(f"{where} may have {_MAX_RULES} rules at most.")
    found: dict[str, CustomRule] = {}
    for one in given:
        if not isinstance(one, dict) or set(one) != set(_RULE_PARTS):
            raise UsageError(f"Each of {where} must have a name, a pattern and an example, and nothing else.")
        name, pattern, example = (one[part] for part in _RULE_PARTS)
        if not isinstance(name, str) or not _RULE_NAME.fullmatch(name):
            raise UsageError(
                f"The name of each of {where} must be of a to z, 0 to 9 and dashes, {_MAX_RULE_NAME} at most."
            )
        if name in found:
            raise UsageError(f"Two of {where} are called {name}. Give one of them another name.")
        for part, text in (("pattern", pattern), ("example", example)):
            if not isinstance(text, str) or not 0 < len(text) <= _MAX_RULE_TEXT:
                raise UsageError(
                    f"The {part} of {name} in {where} must be text of 1 to {_MAX_RULE_TEXT:,} characters."
                )
        found[name] = CustomRule(name, pattern, example)
    return tuple(found.values())


def read_project(settings: Settings, root: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the fields that a project's config changes, and what it may not set.

    It may turn learning off and ask for longer briefs; shorter ones would hide the user's rules. Mistakes in
    it are notes, never errors.
    """
    folder = os.path.join(root, _PROJECT_FOLDER)
    path = os.path.join(folder, CONFIG)
    try:
        folder_mode, file_mode = os.lstat(folder).st_mode, os.lstat(path).st_mode
    except OSError:
        return {}, ()
    if os.path.realpath(folder) == os.path.realpath(settings.home):
        return {}, ()
    if not stat.S_ISDIR(folder_mode) or not stat.S_ISREG(file_mode):  # a link may lead anywhere
        return {}, ("is no plain file in the project: left alone.",)
    given, notes = _read_project_file(path)
    found = {}
    for field, value in given.items():
        mine = getattr(settings, field)
        if isinstance(value, bool):
            found[field] = mine and value
        elif value > mine:
            found[field] = value
    return found, notes


def _read_project_file(path: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    try:
        content = read_config(path, _MAX_PROJECT_BYTES, follow_links=False)
    except MissingError:
        return {}, (f"cannot be read, or is larger than {_MAX_PROJECT_BYTES // 1000} kB: left alone.",)
    try:
        return _select_allowed(parse_toml(content, path))
    except UsageError:
        return {}, ("is not valid TOML: left alone.",)


def _select_allowed(tables: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the fields a project may set, and notes that do not quote the rest."""
    found: dict[str, Any] = {}
    denied: dict[str, None] = {}
    notes: list[str] = []
    unknown = 0
    for place, value in _flatten(tables):
        key = find_key(place)
        if key is None:
            unknown += 1
        elif not key.in_project or (key.in_project == ONLY_OFF and value is True):
            denied[key.name if key.in_project == "" else f"{key.name} = true"] = None
        elif not is_valid(key, value):
            notes.append(f"has {key.name}, which must be {key.must}: left alone.")
        else:
            found[key.field] = value
    if denied:
        names = ", ".join(list(denied)[:_NAMED_SETTINGS])
        notes.append(f"sets {names}, which only you may set: left alone.")
    if unknown:
        settings = "a setting" if unknown == 1 else f"{unknown:,} settings"
        notes.append(f"has {settings} told does not know: left alone.")
    return found, tuple(notes)
