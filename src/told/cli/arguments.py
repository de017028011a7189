"""Reads a command line against a table of commands. argparse alone would cost as much as the whole answer."""

from __future__ import annotations

from told.errors import UsageError
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


@record
class Option:
    """One option: `--name`, with a value unless it is a flag."""

    name: str
    help: str
    value: str = ""  # what its value is called in the help; empty for a flag
    number: bool = False  # its value is a whole number of at least 1
    short: str = ""
    many: bool = False  # it may be given several times; its value is then a list


@record
class Command:
    """One command: what it is called, what it does, what it takes, and where it lives."""

    name: str
    help: str
    module: str
    function: str
    operand: str = ""  # what its positional argument is called; "…" at the end takes several
    needs_operand: bool = False
    options: tuple[Option, ...] = ()
    hidden: bool = False
    mends: bool = False  # it makes the store anew, whatever state it is in
    tier: int = 0  # how much it discloses: 1 orientation, 2 search, 3 whole texts
    learns: bool = False  # it is about memories, so what was said just now is read first
    rows: str = ""  # what a row of its output shows
    bare: bool = False  # it is given the words as they are, and nothing is opened for it

    @property
    def usage(self) -> str:
        """How it is typed."""
        is_phrase = self.operand.endswith("]…") and " " in self.operand  # several words that are said once
        operand = self.operand.removesuffix("…") if is_phrase else self.operand
        words = f"told {self.name} {operand}".rstrip()
        return f"{words} [options]" if self.options else words


class Arguments:
    """What the user gave, by option name; a missing option is None, a missing flag False."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.operands: list[str] = []
        self._values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """Return an option's value."""
        return self._values.get(name)

    def set(self, name: str, value: Any) -> None:
        """Note an option's value."""
        self._values[name] = value

    def flag(self, name: str) -> bool:
        """Return whether a flag was given."""
        return bool(self._values.get(name))

    def text(self, name: str) -> str:
        """Return an option's value as text, empty when it was not given."""
        return str(self._values.get(name) or "")

    def number(self, name: str, default: int) -> int:
        """Return an option's number, or the default."""
        value = self._values.get(name)
        return default if value is None else int(value)


def parse(command: Command, words: Sequence[str]) -> Arguments:
    """Match words with a command's options and operands.

    Raises:
        UsageError: a word is not understood; the message says what to do.
    """
    arguments = Arguments(command)
    by_name = {f"--{option.name}": option for option in command.options}
    by_name |= {f"-{option.short}": option for option in command.options if option.short}
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            arguments.operands += waiting
            break
        if not word.startswith("-") or word == "-":
            arguments.operands.append(word)
            continue
        name, equals, value = _divided(word)
        option = by_name.get(name)
        if option is None:
            behind = " Words that begin with a dash go behind `--`." if command.operand else ""
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


def _divided(word: str) -> tuple[str, str, str]:
    """Divide `--limit=5`, `-n=5` and `-n5` into the option and its value."""
    if word.startswith("--") or len(word) == 2 or word[2] == "=":
        name, equals, value = word.partition("=")
        return name, equals, value
    return word[:2], "=", word[2:]


def _check_operands(command: Command, operands: list[str]) -> None:
    if command.needs_operand and not " ".join(operands).strip():
        usage = f"told {command.name} {command.operand.rstrip('…')}"
        raise UsageError(f"Something is missing: `{usage}`. `told {command.name} --help` says more.")
    if operands and not command.operand:
        raise UsageError(
            f"`told {command.name}` takes options only, not {operands[0]!r}."
            f" To look for words, use `told search`; `told {command.name} --help` lists the options."
        )
    if len(operands) > 1 and not command.operand.endswith("…"):
        raise UsageError(f"`told {command.name}` takes one {command.operand}, not {len(operands)}.")


def _number(name: str, value: str) -> int:
    if not value.isascii() or not value.isdigit() or int(value[:12]) < 1:
        raise UsageError(f"{name} must be a whole number of at least 1, not {value!r}.")
    return int(value[:12])


def _nearest(word: str, known: dict[str, Any]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, known, 1, 0.5)
    return f" Did you mean {close[0]}?" if close else " --help lists them."


def nearest_command(word: str, commands: Sequence[Command]) -> str:
    """Return a hint at the command that a mistyped one may have been."""
    from difflib import get_close_matches

    close = get_close_matches(word, [command.name for command in commands if not command.hidden], 1, 0.5)
    return f" Did you mean `told {close[0]}`?" if close else " `told help` lists them."
