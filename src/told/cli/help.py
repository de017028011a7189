"""The help, made from the table of commands."""

from __future__ import annotations

from told.cli.commands import COMMANDS, command_named
from told.errors import UsageError

_START = """told: tell your coding agent once.

It reads what Claude Code, Codex, Copilot and other agents wrote down on this
machine, and finds it again. Nothing leaves the machine.

usage: told COMMAND [options]

"""
_END = """
`told COMMAND --help` says more. Try `told list`, then `told search "what you
remember of it"`, then `told show ID`.
"""


def help_text(name: str) -> str:
    """Return the help for one command, or for all."""
    if not name:
        rows = [f"  {command.name:13} {command.help}\n" for command in COMMANDS if not command.hidden]
        return _START + "".join(rows) + _END
    command = command_named(name)
    if command is None:
        raise UsageError(f"There is no command {name!r}. `told help` lists them.")
    lines = [f"told {command.name}: {command.help}\n", f"usage: {command.usage}"]
    lines += [""] if command.options else []
    for option in command.options:
        short = f"-{option.short}, " if option.short else ""
        lines.append(f"  {f'{short}--{option.name} {option.value}'.rstrip():20} {option.help}")
    if command.rows:
        lines += ["", command.rows]
    return "\n".join(lines) + "\n"
