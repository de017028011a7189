"""`told help`, `told completion`, and suggestions for unknown commands."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from told.agents import all_agents
from told.cli.arguments import Command, Option, all_commands, command_named
from told.errors import UsageError
from told.pattern import lazy_pattern
from told.tables import load_table

_START = """told: tell your coding agent once.

It remembers what you teach Claude Code, Codex, Copilot and other agents, and
searches all your past sessions. Nothing leaves the machine.

usage: told COMMAND [options]
"""
_END = """
`told COMMAND --help` has the options and examples of a command. Every command
takes --color WHEN (auto, always, never); --json is for programs.
"""
_WIDTH = 80
_NAME = lazy_pattern(r"[a-z][a-z-]*")
SHELLS = ("bash", "zsh", "fish")


def examples_of(command: str) -> list[tuple[str, str]]:
    """Return the examples of a command: what to type, and what it does."""
    pairs = [line.partition(" # ") for line in load_table(__file__)["examples"].get(command, [])]
    return [(typed, does) for typed, _, does in pairs]


def command_groups() -> list[tuple[str, list[Command]]]:
    """Return the commands by group, in the order of the help."""
    return [
        (group["name"], [command for name in group["commands"] if (command := command_named(name))])
        for group in load_table(__file__)["group"]
    ]


def help_text(name: str = "") -> str:
    """Return the list of commands, or the help of one."""
    if not name:
        parts = [_START]
        for group, commands in command_groups():
            parts.append(f"\n{group.capitalize()}\n")
            parts += [f"  {command.name:13} {command.summary}\n" for command in commands]
        return "".join(parts) + _END
    command = command_named(name) or command_named(
        load_table(__file__)["aliases"].get(name, "").partition(" ")[0]
    )
    if command is None:
        raise UsageError(unknown_command(name))
    lines = [f"told {command.name}: {command.summary}\n", f"usage: {command.usage}"]
    lines += [""] if command.options else []
    for option in command.options:
        lines += textwrap.wrap(
            f"{_option_head(option):20} {option.help}", _WIDTH, initial_indent="  ",
            subsequent_indent=" " * 23, break_on_hyphens=False,
        )  # fmt: skip
    if command.details:
        lines += ["", command.details]
    if examples := examples_of(command.name):
        lines += ["", "Examples:", *_example_lines(examples)]
    return "\n".join(lines) + "\n"


def _option_head(option: Option) -> str:
    short = f"-{option.short}, " if option.short else ""
    return f"{short}--{option.name} {option.value}".rstrip()


def _example_lines(examples: Sequence[tuple[str, str]]) -> list[str]:
    """Return the examples, what they do beside or below them."""
    room = max(len(typed) for typed, _ in examples)
    if all(2 + room + 2 + len(does) <= _WIDTH for _, does in examples):
        return [f"  {typed:{room}}  {does}".rstrip() for typed, does in examples]
    return [line for typed, does in examples for line in (f"  {typed}", f"      {does}") if line.strip()]


def resolve_alias(word: str) -> list[str]:
    """Return the command words for a likely word or a singular or plural; empty if unknown."""
    found = load_table(__file__)["aliases"].get(word)
    if found:
        return shlex.split(found)
    for other in (f"{word}s", word.removesuffix("s"), word.replace("_", "-")):
        if command_named(other) is not None:
            return [other]
    return []


def unknown_command(word: str) -> str:
    """Return the error for a word that is no command, with what to use."""
    said = f'Unknown command "{word}".'
    if hint := load_table(__file__)["hints"].get(word):
        return f"{said} {hint}"
    known = [command.name for command in all_commands() if not command.hidden]
    close = get_close_matches(word, [*known, *load_table(__file__)["aliases"]], 1, 0.6)
    if not close:
        return f"{said} `told help` lists the commands."
    return f'{said} Did you mean "told {load_table(__file__)["aliases"].get(close[0], close[0])}"?'


def completion(words: Sequence[str], environ: Mapping[str, str]) -> int:  # noqa: ARG001 - as main calls it
    """Print the completion script of a shell."""
    if len(words) != 1 or words[0] not in SHELLS:
        raise UsageError(f"Name the shell: `told completion {'|'.join(SHELLS)}`.")
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[words[0]](), end="")
    return 0


def _shown() -> list[Command]:
    return [command for command in all_commands() if not command.hidden]


def _values(option: Option) -> list[str]:
    """Return the values that an option takes, where they are few."""
    if option.name == "agent":
        return sorted(all_agents())
    return list(option.choices)


def _operands(command: Command) -> list[str]:
    """Return the words that a command takes first."""
    return [word for word in re.split(r"[\[\]|… ]+", command.operand) if _NAME.fullmatch(word)]


def _bash() -> str:
    cases = "".join(
        f"    {command.name}) words='{' '.join([*_operands(command), *_flags(command)])}' ;;\n"
        for command in _shown()
    )
    values = "".join(
        f"    {command.name}:--{option.name}) words='{' '.join(found)}' ;;\n"
        for command in _shown() for option in command.options if (found := _values(option))
    )  # fmt: skip
    names = " ".join(command.name for command in _shown())
    return f"""# bash completion of told: eval "$(told completion bash)"
_told() {{
  local words='{names} help' current="${{COMP_WORDS[COMP_CWORD]}}"
  if [ "$COMP_CWORD" -gt 1 ]; then
    words=''
    case "${{COMP_WORDS[1]}}" in
{cases}    help) words='{names}' ;;
    esac
    case "${{COMP_WORDS[1]}}:${{COMP_WORDS[COMP_CWORD-1]}}" in
{values}    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _told told
"""


def _flags(command: Command) -> list[str]:
    return [f"--{option.name}" for option in command.options]


def _zsh() -> str:
    names = "".join(f"    '{command.name}:{_quoted(command.summary)}'\n" for command in _shown())
    cases = "".join(f"    {command.name}) _arguments {_zsh_arguments(command)} ;;\n" for command in _shown())
    return f"""#compdef told
# zsh completion of told: eval "$(told completion zsh)", or save it as _told in your fpath
_told() {{
  local -a commands
  commands=(
{names}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local name=$words[2]
  shift words
  (( CURRENT-- ))
  case $name in
{cases}  esac
}}
(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit; }}
compdef _told told
"""


def _zsh_arguments(command: Command) -> str:
    parts = []
    for option in command.options:
        values = " ".join(_values(option))
        value = f":{option.value}:({values})" if values else f":{option.value}:" if option.value else ""
        help_ = _quoted(option.help).replace("[", "(").replace("]", ")").replace(":", " -")
        parts.append(f"'{'*' if option.many else ''}--{option.name}[{help_}]{value}'")
    words = " ".join(_operands(command))
    parts.append(f"'*:word:({words})'" if words else "'*:file:_files'")
    return " ".join(parts)


def _fish() -> str:
    lines = ["# fish completion of told: told completion fish | source", "complete -c told -f"]
    for command in _shown():
        said = _quoted(command.summary)
        lines.append(f"complete -c told -n __fish_use_subcommand -a {command.name} -d '{said}'")
        here = f"'__fish_seen_subcommand_from {command.name}'"
        for option in command.options:
            values = " ".join(_values(option))
            takes = f" -x -a '{values}'" if values else " -x" if option.value else ""
            short = f" -s {option.short}" if option.short else ""
            lines.append(
                f"complete -c told -n {here} -l {option.name}{short}{takes} -d '{_quoted(option.help)}'"
            )
        if words := " ".join(_operands(command)):
            lines.append(f"complete -c told -n {here} -a '{words}'")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """Return a text for single quotes in a shell."""
    return text.replace("\\", "").replace("'", "")
