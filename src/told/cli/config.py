"""`told config`: shows what is set and where that comes from, and changes the one file it is in."""

from __future__ import annotations

import os
import sys

from told.cli.arguments import parse
from told.cli.output import to_json
from told.cli.wishes import check_agents, check_rule, config_notes, project_folder, settings_for
from told.errors import MissingError, UsageError
from told.settings import CONFIG, OwnRule, home_of, is_off

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from told.cli.arguments import Arguments
    from told.settings.origins import Row

# How many words each of them takes.
_WORDS = {"list": 0, "path": 0, "get": 1, "set": 2, "unset": 1, "add-rule": 3, "remove-rule": 1}
_USAGE = {
    "get": "get KEY", "set": "set KEY VALUE", "unset": "unset KEY",
    "add-rule": "add-rule NAME PATTERN EXAMPLE", "remove-rule": "remove-rule NAME",
}  # fmt: skip


def config(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Show or change settings; nothing is opened for it, so that it works whatever the file says."""
    from told.cli.commands import command_named

    command = command_named("config")
    assert command is not None
    arguments = parse(command, words)
    what, *rest = arguments.operands or ["list"]
    if what not in _WORDS:
        raise UsageError(f"`told config` takes {', '.join(_WORDS)}, not {what!r}.")
    wanted = _WORDS[what] - (what == "set" and arguments.flag("default"))
    if len(rest) != wanted:
        raise UsageError(f"That is used so: `told config {_USAGE.get(what, what)}`.")
    run = _Run(arguments, environ)
    if what == "path":
        run.print(run.path, {"path": run.path})
    elif what == "list":
        run.list()
    elif what == "get":
        run.get(rest[0])
    elif what == "unset" or wanted < _WORDS[what]:
        run.unset(rest[0])
    elif what == "set":
        run.set(*rest)
    elif what == "add-rule":
        run.add_rule(*rest)
    else:
        run.remove_rule(*rest)
    return 0


class _Run:
    """One run of the command."""

    def __init__(self, arguments: Arguments, environ: Mapping[str, str]) -> None:
        self._as_json = arguments.flag("json")
        self._environ = environ
        self.path = os.path.join(home_of(environ), CONFIG)

    def print(self, text: str, data: Any) -> None:
        """Print for people, or for machines."""
        sys.stdout.write(f"{to_json(data) if self._as_json else text}\n")

    def list(self) -> None:
        """Print every setting, its value, and where that comes from."""
        from told.settings.origins import rows

        settings = settings_for(self._environ)
        found = rows(settings, self._environ, self._root)
        notes = config_notes(settings, _cwd(), self._environ)
        data = {"path": self.path, "settings": list(map(_json, found)), "notes": notes}
        self.print("\n".join([self.path, *map(_line, found), *notes]), data)

    def get(self, name: str) -> None:
        """Print one setting's value."""
        from told.settings.keys import key_named
        from told.settings.origins import one

        key_named(name)
        self._check_agent(name)
        found = one(name, settings_for(self._environ), self._environ, self._root)
        self.print(_text(found.value), _json(found))

    def set(self, name: str, text: str) -> None:
        """Give a setting a value."""
        from told.settings.keys import key_named, typed
        from told.settings.writing import with_value

        key = key_named(name)
        self._check_agent(name)
        self._check_caller(name, may=key.by_agents)
        value = typed(key, name, text)
        if isinstance(value, str):
            _check_no_secret(name, value)
        self._change(lambda before: with_value(before, name.split("."), value))
        self._say(name)

    def unset(self, name: str) -> None:
        """Let a setting be as it usually is."""
        from told.settings.first import literal
        from told.settings.keys import RULES, key_named, typed
        from told.settings.writing import without

        key = key_named(name)
        if key.kind == RULES:
            typed(key, name, "")
        self._check_caller(name, may=key.by_agents)
        usual = "" if "agents" in key.path else literal(key.default)
        self._change(lambda before: without(before, name.split("."), usual))
        self._say(name)

    def add_rule(self, name: str, pattern: str, example: str) -> None:
        """Take out one more kind of secret from now on."""
        from told.settings.rules import with_rule
        from told.setup.snapshots import renew

        self._check_caller("redaction.rules")
        self._change(lambda before: with_rule(before, name, pattern, example))
        renew(os.path.dirname(self.path))  # hooks find it compiled
        rule = {"name": name, "pattern": pattern, "example": example}
        said = f"What {name} matches is taken out from now on; `told redact-scan` looks at what is stored."
        self.print(said, {"added": rule})

    def remove_rule(self, name: str) -> None:
        """Take a rule out of the file."""
        from told.errors import NotFoundError
        from told.settings.rules import without_rule

        self._check_caller("redaction.rules")
        if not self._change(lambda before: without_rule(before, name)):
            raise NotFoundError(f"There is no rule {name!r}. `told config get redaction.rules` lists them.")
        self.print(f"The rule {name} is gone.", {"removed": name})

    def _change(self, change: Callable[[str], str]) -> bool:
        """Write the file with a change, if all of it is understood then; tell whether anything changed."""
        from told.journal.files import make_folder, write_whole
        from told.settings.first import template
        from told.settings.reading import content_of

        there = os.path.lexists(self.path)
        before = _decoded(content_of(self.path)[0], self.path) if there else template()
        after = change(before)
        self._check(after)
        if after == before and there:
            return False
        try:
            make_folder(os.path.dirname(self.path))
            write_whole(os.path.realpath(self.path), after.encode())
        except OSError as error:
            why = (error.strerror or "error").lower()
            raise MissingError(f"{self.path} cannot be written ({why}). Check its permissions.") from None
        settings_for(self._environ)  # hooks find it read
        return after != before

    def _check(self, content: str) -> None:
        """Make sure that the whole file would be understood."""
        from told.settings.reading import parsed, values_of

        values = values_of(parsed(content, self.path), self.path)
        check_agents(dict.fromkeys(place[1] for place in values if place[0] == "agents"), self.path)
        for rule in values.get(("redaction", "rules"), ()):
            check_rule(OwnRule(*rule))

    def _check_caller(self, name: str, *, may: bool = False) -> None:
        from told.memory.authority import caller

        if not may and not caller(self._environ).is_user:
            raise UsageError(f"Only you can change {name}: run it at a terminal of your own.")

    def _check_agent(self, name: str) -> None:
        first, agent, *_ = (*name.split("."), "")
        if first == "agents":
            from told.agents import all_agents, is_agent
            from told.settings.keys import nearest

            if not is_agent(agent):
                known = all_agents()
                hint = nearest(agent, known, f"told knows: {', '.join(known)}.")
                raise UsageError(f"There is no agent {agent!r}.{hint}")

    def _say(self, name: str) -> None:
        from told.settings.keys import key_named
        from told.settings.origins import one

        found = one(name, settings_for(self._environ), self._environ, self._root)
        variable = key_named(name).variable
        more = f", because {variable} turns it off" if variable and is_off(self._environ, variable) else ""
        then = _of_model(found.value) if name == "model" else ""
        self.print(f"{name} is {_text(found.value) or 'empty'} now{more}.{then}", _json(found))

    @property
    def _root(self) -> str:
        return project_folder(_cwd(), self._environ)


def _decoded(content: bytes, path: str) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not valid TOML: it is not UTF-8. Mend it.") from None


def _of_model(value: str) -> str:
    """Return what follows from a choice of model."""
    from told.settings.models import OFF, is_address

    sent = " Text without secrets goes there from now on." if is_address(value) else ""
    return "" if value == OFF else f"{sent} `told re-embed` makes the vectors that are missing."


def _check_no_secret(name: str, value: str) -> None:
    from told.guard.names import tells
    from told.guard.redact import Redactor
    from told.settings import Redaction

    if tells(value, Redactor(b"", Redaction(emails=False)).redact):
        raise UsageError(
            f"There is a secret in that value of {name}, and told keeps none."
            " In an address, name the variable that holds it: #model=NAME&key=VARIABLE."
        )


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _json(row: Row) -> dict[str, Any]:
    return {"key": row.name, "value": row.value, "default": row.default, "source": row.source}


def _line(row: Row) -> str:
    value = row.value
    text = f"{len(value)} of your own" if isinstance(value, list) else _text(value) or "-"
    usual = "" if row.value == row.default else f", usually {_text(row.default) or 'none'}"
    return f"  {row.name:22} {text:14} {row.source}{usual}"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "\n".join(f"{one['name']}: {one['pattern']}  ({one['example']})" for one in value)
    return str(value)
