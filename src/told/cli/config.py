"""`told config`: show settings and where they come from, and change them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from told.app import full_agent_name, load_checked_settings
from told.cli.arguments import Arguments, command_named, parse
from told.cli.context import to_json
from told.errors import NotFoundError, UsageError
from told.files import cannot_write, make_folder, write_private
from told.ingest.projects import identify
from told.install.place import project_root
from told.memories.caller import detect_caller
from told.redact.custom_rules import check_rule
from told.redact.engine import Redactor
from told.redact.names import has_secret
from told.settings import (
    CONFIG,
    Redaction,
    SettingRow,
    Settings,
    check_values,
    find_home,
    get_setting,
    is_turned_off,
    list_settings,
    parse_toml,
    read_config,
    read_project,
)
from told.settings.endpoints import is_address
from told.settings.keys import OFF, RULES, get_key, parse_value, rename_former
from told.settings.write import add_rule, make_template, remove_rule, set_value, to_toml, unset_value

_USAGE = {
    "list": "list", "path": "path", "get": "get KEY", "set": "set KEY VALUE", "unset": "unset KEY",
    "add-rule": "add-rule NAME PATTERN EXAMPLE", "remove-rule": "remove-rule NAME",
}  # fmt: skip


def config_notes(settings: Settings, cwd: str, environ: Mapping[str, str]) -> list[str]:
    """Return problems of the user's config and of the current project's."""
    root = _project_folder(cwd, environ)
    notes = read_project(settings, root)[1] if root else ()
    own = [settings.problem] if settings.problem else []
    return [*own, *(f"This project's .told/config.toml {note}" for note in notes)]


def _project_folder(cwd: str, environ: Mapping[str, str]) -> str:
    """Return the folder of the current project, as hooks find it."""
    root = project_root(cwd, environ.get("HOME", ""))
    return identify(root, ask_git=False).root if root else ""


def config(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Show or change settings; works with an invalid file."""
    command = command_named("config")
    assert command is not None
    arguments = parse(command, words)
    action, *rest = arguments.operands or ["list"]
    if action not in _USAGE:
        raise UsageError(f"`told config` takes {', '.join(_USAGE)}, not {action!r}.")
    if action == "set" and arguments.flag("default"):
        action = "unset"
    if len(rest) != len(_USAGE[action].split()) - 1:
        raise UsageError(f"Usage: `told config {_USAGE[action]}`.")
    getattr(_ConfigRun(arguments, environ), action.replace("-", "_"))(*rest)
    return 0


def change_setting(environ: Mapping[str, str], name: str, value: str) -> Settings:
    """Give a setting a value for the user who has just agreed; return the settings."""
    command = command_named("config")
    assert command is not None
    return _ConfigRun(parse(command, ["set", name, value]), environ).change_quietly(name, value)


class _ConfigRun:
    def __init__(self, arguments: Arguments, environ: Mapping[str, str]) -> None:
        self._as_json = arguments.flag("json")
        self._environ = environ
        self._path = os.path.join(find_home(environ), CONFIG)
        try:
            self._cwd = os.getcwd()
        except OSError:
            self._cwd = ""

    def _print(self, text: str, data: Any) -> None:
        sys.stdout.write(f"{to_json(data) if self._as_json else text}\n")

    def path(self) -> None:
        """Print where the file is."""
        self._print(self._path, {"path": self._path})

    def list(self) -> None:
        """Print every setting, its value, and where that comes from."""
        settings = load_checked_settings(self._environ)
        found = list_settings(settings, self._environ, self._root)
        notes = config_notes(settings, self._cwd, self._environ)
        data = {"path": self._path, "settings": [_row_json(row) for row in found], "notes": notes}
        self._print("\n".join([self._path, *map(_row_line, found), *notes]), data)

    def get(self, name: str) -> None:
        """Print one setting's value."""
        get_key(name)
        found = self._setting(self._spell(name))
        self._print(_value_text(found.value), _row_json(found))

    def set(self, name: str, text: str) -> None:
        """Give a setting a value."""
        key = get_key(name)
        name = self._spell(name)
        self._check_caller(name, allow_agents=key.by_agents)
        value = parse_value(key, name, text)
        if isinstance(value, str):
            _check_no_secret(name, value)
        self._change(lambda before: set_value(before, name.split("."), value))
        self._report(name)

    def change_quietly(self, name: str, value: str) -> Settings:
        """Give a setting a value; return the settings."""
        self._check_caller(name)
        self._change(lambda before: set_value(before, name.split("."), value))
        return load_checked_settings(self._environ)

    def unset(self, name: str) -> None:
        """Restore a setting's default."""
        key = get_key(name)
        if key.kind == RULES:
            parse_value(key, name, "")
        self._check_caller(name, allow_agents=key.by_agents)
        with suppress(UsageError):  # an unknown agent can be removed
            name = self._spell(name)
        default = "" if "agents" in key.path else to_toml(key.default)
        self._change(lambda before: unset_value(before, name.split("."), default))
        self._report(name)

    def add_rule(self, name: str, pattern: str, example: str) -> None:
        """Add a rule for one more kind of secret."""
        self._check_caller("redaction.rules")
        self._change(lambda before: add_rule(before, name, pattern, example))
        rule = {"name": name, "pattern": pattern, "example": example}
        said = f"Text that {name} matches is redacted from now on; `told redact-scan` checks stored data."
        self._print(said, {"added": rule})

    def remove_rule(self, name: str) -> None:
        """Remove a rule."""
        self._check_caller("redaction.rules")
        if not self._change(lambda before: remove_rule(before, name)):
            raise NotFoundError(f"There is no rule {name!r}. `told config get redaction.rules` lists them.")
        self._print(f"Removed the rule {name}.", {"removed": name})

    def _change(self, change: Callable[[str], str]) -> bool:
        """Change the file if it stays valid; tell whether it changed."""
        exists = os.path.lexists(self._path)
        before = _decode(read_config(self._path), self._path) if exists else make_template()
        after = change(before)
        values = check_values(parse_toml(after, self._path), self._path)
        for agent in dict.fromkeys(place[1] for place in values if place[0] == "agents"):
            full_agent_name(agent, self._path)
        for rule in values.get(("redaction", "rules"), ()):
            check_rule(rule)
        if after == before and exists:
            return False
        try:
            make_folder(os.path.dirname(self._path))
            write_private(os.path.realpath(self._path), after.encode())
        except OSError as error:
            raise cannot_write(self._path, error) from None
        return after != before

    def _check_caller(self, name: str, *, allow_agents: bool = False) -> None:
        if not allow_agents and not detect_caller(self._environ).is_user:
            raise UsageError(f"Only you can change {name}. Use your own terminal.")

    def _spell(self, name: str) -> str:
        """Return a setting's name with its agent's full name, or the one that the file uses."""
        name = ".".join(rename_former(name.split(".")))
        first, agent, *rest = (*name.split("."), "")
        if first != "agents":
            return name
        full = full_agent_name(agent)
        exists = os.path.lexists(self._path)
        tables = parse_toml(read_config(self._path), self._path).get("agents") if exists else None
        for written in tables if isinstance(tables, dict) else ():
            with suppress(UsageError):
                if full_agent_name(written) == full:
                    full = written
        return ".".join(("agents", full, *rest[:-1]))

    def _report(self, name: str) -> None:
        found = self._setting(name)
        variable = get_key(name).variable
        is_off = variable and is_turned_off(self._environ, variable)
        more = f", because {variable} turns it off" if is_off else ""
        then = _model_note(found.value) if name == "model" else ""
        self._print(f"{name} is now {_value_text(found.value) or 'empty'}{more}.{then}", _row_json(found))

    def _setting(self, name: str) -> SettingRow:
        return get_setting(name, load_checked_settings(self._environ), self._environ, self._root)

    @property
    def _root(self) -> str:
        return _project_folder(self._cwd, self._environ)


def _decode(content: bytes, path: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not valid TOML: it is not UTF-8. Fix it.") from None


def _model_note(value: str) -> str:
    sent = " Redacted text is sent there from now on." if is_address(value) else ""
    return "" if value == OFF else f"{sent} `told re-embed` makes the missing vectors."


def _check_no_secret(name: str, value: str) -> None:
    if has_secret(value, Redactor(b"", Redaction(emails=False)).redact):
        raise UsageError(
            f"That value of {name} contains a secret, which told does not store."
            " In an address, name the variable that has it: #model=NAME&key=VARIABLE."
        )


def _row_json(row: SettingRow) -> dict[str, Any]:
    return {"key": row.name, "value": row.value, "default": row.default, "source": row.source}


def _row_line(row: SettingRow) -> str:
    value = row.value
    text = f"{len(value)} of your own" if isinstance(value, list) else _value_text(value) or "-"
    default = "" if row.value == row.default else f", default {_value_text(row.default) or 'none'}"
    return f"  {row.name:23} {text:14} {row.source}{default}"


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "\n".join(f"{one['name']}: {one['pattern']}  ({one['example']})" for one in value)
    return str(value)
