"""Normalise a command's options and operands, and match it against a pattern.

A pattern is itself a command: `rm -rf` matches every command with the same program, at least these options in
any spelling, and these operands in this order. `*` in a word matches any letters. `curl | sh` matches `curl`
where a shell reads its output.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, lru_cache

from told.hook.guard import load_table, load_words
from told.hook.guard.script import Command, parse_script, program_name


@dataclass(frozen=True, slots=True)
class Call:
    """A command with its options apart from its operands."""

    program: str
    path: str  # of the program, as typed
    operands: tuple[str, ...]
    options: tuple[tuple[str, str], ...]  # each with its value, or ""

    def has(self, *names: str) -> bool:
        """Tell whether it has any of the options."""
        return any(name in names for name, _ in self.options)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A forbidden command."""

    text: str
    call: Call
    reader: str = ""  # the program that must read its output

    def matches(self, call: Call, command: Command) -> bool:
        """Tell whether a command is this one in any spelling."""
        return (
            self._matches_program(call)
            and all(_has_option(call, name, value) for name, value in self.call.options)
            and self._matches_operands(call.operands)
            and (not self.reader or not _readers(self.reader).isdisjoint(command.feeds))
            and (_changes_nothing(self.call) or not _changes_nothing(call))
        )

    def _matches_program(self, call: Call) -> bool:
        if "/" in self.call.path:
            return f"/{call.path}".endswith(f"/{self.call.path.removeprefix('./')}")
        return fnmatchcase(call.program, self.call.program) or program_name(call.path) == self.call.program

    def _matches_operands(self, operands: tuple[str, ...]) -> bool:
        wanted = self.call.operands
        # The first operand is the subcommand: `git stash push` is no `git push`.
        if wanted and self.call.program in load_table("programs")["options"]:
            if not operands or not fnmatchcase(operands[0].lower(), wanted[0]):
                return False
            wanted, operands = wanted[1:], operands[1:]
        rest = iter(operands)
        return all(any(fnmatchcase(one.lower(), word) for one in rest) for word in wanted)


@lru_cache(maxsize=2048)
def read_pattern(text: str) -> Pattern | None:
    """Read a command that a rule or an action names; return None if it has no words."""
    commands = parse_script(text)
    if not commands or not commands[0].words:
        return None
    call = normalise(commands[0].words)
    if len(commands[0].words) == 1 and call.operands:  # `docker-compose` alone does not mean `docker compose`
        call = Call(program_name(text), text, (), ())
    reader = program_name(commands[1].words[0]) if commands[0].feeds else ""
    lowered = tuple(word.lower() for word in call.operands)
    return Pattern(text, Call(call.program, call.path, lowered, call.options), reader)


@lru_cache(maxsize=256)
def list_calls(command: Command) -> tuple[Call, ...]:
    """Return the normalised layers of a command."""
    return tuple(normalise(layer) for layer in command.layers if layer)


def normalise(words: tuple[str, ...]) -> Call:
    """Split a command's words into options, by their long names, and operands."""
    name = program_name(words[0])
    same = load_table("programs")["same_program"]
    if name.startswith("python") and name[6:].replace(".", "").isdigit():
        name = "python"
    program, *extra = same[name].split() if name in same else (name,)
    rest = [*extra, *words[1:]]
    operands: list[str] = []
    options: list[tuple[str, str]] = []
    is_one_dash = program in load_words("programs", "one_dash")
    while rest:
        word = rest.pop(0)
        if word == "--":
            operands += rest
            break
        spelt, with_value = _spellings(program, operands[0].lower() if operands else "")
        if not word.startswith("-") or word == "-":
            operands.append(word)
        elif word.startswith("--") or (is_one_dash and len(word) > 2):
            flag, _, value = f"--{word.lstrip('-')}".partition("=")
            names = spelt.get(flag, (flag,))
            if not value and not with_value.isdisjoint((flag, *names)) and rest:
                value = rest.pop(0)
            options += [(one, value) for one in names]
        else:
            _split_letters(word, rest, options, spelt, with_value)
    _add_refspecs(program, operands, options)
    return Call(program, words[0], tuple(operands), tuple(options))


def _split_letters(
    word: str, rest: list[str], options: list[tuple[str, str]],
    spelt: dict[str, tuple[str, ...]], with_value: frozenset[str],
) -> None:  # fmt: skip
    """Read options of one letter each: `-rf`, `-am message`, `-n5`."""
    for at, letter in enumerate(word[1:], 2):
        flag = f"-{letter}"
        names = spelt.get(flag, (flag,))
        if with_value.isdisjoint((flag, *names)):
            options += [(one, "") for one in names]
            continue
        value = word[at:].removeprefix("=") or (rest.pop(0) if rest else "")
        options += [(one, value) for one in names]
        break


def _add_refspecs(program: str, operands: list[str], options: list[tuple[str, str]]) -> None:
    """Read `+main` of a push as --force, and `:main` as --delete."""
    if program == "git" and operands[:1] == ["push"]:
        options += [("--force", "")] if any(word[0] == "+" for word in operands if word) else []
        options += [("--delete", "")] if any(word[0] == ":" for word in operands[2:] if word) else []


@cache
def _spellings(program: str, subcommand: str) -> tuple[dict[str, tuple[str, ...]], frozenset[str]]:
    """Return the spellings of a program's options, and those that take a value."""
    tables = load_table("programs")["options"]
    known = [tables[one] for one in (program, f"{program} {subcommand}") if one in tables] or [tables["*"]]
    pairs = [pair.partition("=") for table in known for pair in table.get("same", "").split()]
    values = frozenset(word for table in known for word in table.get("values", "").split())
    return {short: tuple(names.split("+")) for short, _, names in pairs}, values


def _changes_nothing(call: Call) -> bool:
    is_shown = call.program in load_table("programs")["options"] and not load_words(
        "programs", "read_only"
    ).isdisjoint(call.operands[1:2])
    return is_shown or call.has(*load_words("programs", "dry_run"))


def _has_option(call: Call, name: str, value: str) -> bool:
    return any(
        name == one and (not value or fnmatchcase(given.lower(), value.lower()))
        for one, given in call.options
    )


def _readers(reader: str) -> frozenset[str]:
    shells = load_words("programs", "shells")
    return shells if reader in shells else frozenset((reader,))
