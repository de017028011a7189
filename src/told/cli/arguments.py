"""Read the table of commands, and match command lines with it."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

from told.cli.entry.client import SERVED
from told.errors import UsageError
from told.text import fix_surrogates

_SCOPE, _SCOPES = "scope", ("private", "global")  # `--private` is a common mistake


class Option(NamedTuple):
    """One option: `--name`, with a value unless it is a flag."""

    name: str
    help: str
    value: str = ""  # placeholder for its value in the help; empty for a flag
    number: bool = False  # the value is an integer of at least 1
    short: str = ""
    many: bool = False  # may be repeated; the value is then a list
    own_process: bool = False  # not through the service
    choices: Sequence[str] = ()  # its values, for completion


class Command(NamedTuple):
    """One command: its name, help, arguments and function."""

    name: str
    summary: str
    agents: str  # what it does for an agent: reads, writes, proposes, limited, refused
    run: str  # module:function
    operand: str = ""  # name of the positional argument; "…" at the end takes several
    needs_operand: bool = False
    options: tuple[Option, ...] = ()
    tier: int = 0  # how much it discloses: 1 orientation, 2 search, 3 complete texts
    catch_up: bool = False  # import new data first
    repairs: bool = False  # rebuilds the store, so any store may be opened
    standalone: bool = False  # gets the raw words; nothing is opened for it
    hidden: bool = False
    details: str = ""
    writes: Sequence[str] = ()  # operands with which a command that only reads writes

    @property
    def usage(self) -> str:
        """Return how it is typed."""
        is_phrase = self.operand.endswith("]…") and " " in self.operand  # several words given once
        operand = self.operand.removesuffix("…") if is_phrase else self.operand
        words = f"told {self.name} {operand}".rstrip()
        return f"{words} [options]" if self.options else words


REFUSED = "refused"
_COMMAND = "\n[[command]]\n"


@cache
def _read_table() -> str:
    with open(os.path.join(os.path.dirname(__file__), "commands.toml"), encoding="utf-8") as file:
        return file.read()


def _parse_table(text: str) -> tuple[Command, ...]:
    table = tomllib.loads(text)
    shared = {name: Option(**fields) for name, fields in table["options"].items()}

    def options(names: Iterable[str | dict[str, Any]]) -> Iterable[Option]:
        for one in names:
            if isinstance(one, dict):
                yield Option(**one)
            elif one == "where":
                yield from options(table["where"])
            else:
                yield shared[one]

    return tuple(
        Command(**{**fields, "options": tuple(options(fields.get("options", ())))})
        for fields in table["command"]
    )


@cache
def all_commands() -> tuple[Command, ...]:
    """Return all commands, in the order of the table."""
    return _parse_table(_read_table())


@cache
def command_named(name: str) -> Command | None:
    """Return a command by its name; the rest of the table is not parsed."""
    head, *commands = _read_table().split(_COMMAND)
    start = f'name = "{name}"\n'
    return next((_parse_table(head + _COMMAND + one)[0] for one in commands if one.startswith(start)), None)


def is_served(command: Command, words: Sequence[str]) -> bool:
    """Tell whether the service may answer a command for its client."""
    options = {f"--{option.name}" for option in command.options if option.own_process}
    given = {word.partition("=")[0] for word in words}
    own = {"--help", "-h", "--color", "--no-color", *options, *command.writes}
    return command.name in SERVED and given.isdisjoint(own)


class Arguments:
    """The option values and operands of a command line."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.operands: list[str] = []
        self._values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """Return an option's value."""
        return self._values.get(name)

    def set(self, name: str, value: Any) -> None:
        """Set an option's value."""
        self._values[name] = value

    def flag(self, name: str) -> bool:
        """Tell whether a flag was given."""
        return bool(self._values.get(name))

    def text(self, name: str) -> str:
        """Return an option's value as text, empty if it was not given."""
        return str(self._values.get(name) or "")

    def number(self, name: str, default: int) -> int:
        """Return an option's number, or the default."""
        value = self._values.get(name)
        return default if value is None else int(value)

    @property
    def phrase(self) -> str:
        """Return the operands as one text."""
        return " ".join(self.operands).strip()


def parse(command: Command, words: Sequence[str]) -> Arguments:
    """Match words with a command's options and operands."""
    arguments = Arguments(command)
    by_name = {f"--{option.name}": option for option in command.options}
    by_name |= {f"-{option.short}": option for option in command.options if option.short}
    waiting = list(map(_replace_invalid, words))
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            arguments.operands += waiting
            break
        if not word.startswith("-") or word == "-":
            arguments.operands.append(word)
            continue
        name, equals, value = _split_option(word)
        option = by_name.get(name)
        if option is None:
            behind = " Put words that begin with a dash after `--`." if command.operand else ""
            raise UsageError(f"`told {command.name}` has no option {name}.{_nearest(name, by_name)}{behind}")
        if not option.value:
            if equals:
                raise UsageError(f"{name} takes no value.")
            arguments.set(option.name, True)
            continue
        if not equals:
            if not waiting:
                raise UsageError(f"{name} needs a value: {name} {option.value}.")
            value = waiting.pop(0)
        given = _number(name, value) if option.number else value
        arguments.set(option.name, [*(arguments[option.name] or []), given] if option.many else given)
    _check_operands(command, arguments.operands)
    return arguments


def _replace_invalid(word: str) -> str:
    """Replace bytes that are no UTF-8, except in the path of a file."""
    return word if word.isascii() or os.path.lexists(word) else fix_surrogates(word)


def _split_option(word: str) -> tuple[str, str, str]:
    """Split `--limit=5`, `-n=5` and `-n5` into option and value."""
    if word.startswith("--") or len(word) == 2 or word[2] == "=":
        name, equals, value = word.partition("=")
        return name, equals, value
    return word[:2], "=", word[2:]


def _check_operands(command: Command, operands: list[str]) -> None:
    if command.needs_operand and not " ".join(operands).strip():
        usage = f"told {command.name} {command.operand.rstrip('…')}"
        raise UsageError(f"Missing argument: `{usage}`. See `told {command.name} --help`.")
    if operands and not command.operand:
        raise UsageError(
            f"`told {command.name}` takes options only, not {operands[0]!r}."
            f" To search for words, use `told search`; `told {command.name} --help` lists the options."
        )
    if len(operands) > 1 and not command.operand.endswith("…"):
        raise UsageError(f"`told {command.name}` takes one {command.operand}, not {len(operands)}.")


def _number(name: str, value: str) -> int:
    if not value.isascii() or not value.isdigit() or int(value[:12]) < 1:
        raise UsageError(f"{name} must be a whole number of at least 1, not {value!r}.")
    return int(value[:12])


def _nearest(word: str, known: Iterable[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - for a wrong option only

    names = {one.lstrip("-"): one for one in known}
    bare = word.lstrip("-")
    if bare in _SCOPES and _SCOPE in names:
        return f" Did you mean {names[_SCOPE]} {bare}?"
    close = get_close_matches(bare, names, 1, 0.5)
    return f" Did you mean {names[close[0]]}?" if close else " --help lists them."
