"""Run the service, and the commands that it answers."""

from __future__ import annotations

import io
from contextlib import redirect_stderr
from typing import NoReturn

from told.cli.entry.client import identity
from told.service.commands import CommandLine, CommandRunner, Printed
from told.service.process import run as run_service


def run() -> NoReturn:
    """Run the service until it is no longer needed, and exit."""
    run_service(CommandRunner(identity(), run_line))


def run_line(line: CommandLine) -> Printed | None:
    """Run a command that only reads; None if it needs its own process."""
    # A service that only answers hooks stays smaller without these.
    from told.app import CallSite, load_checked_settings  # noqa: PLC0415
    from told.cli.arguments import command_named, is_served, parse  # noqa: PLC0415
    from told.cli.context import Context  # noqa: PLC0415
    from told.cli.main import run_command  # noqa: PLC0415
    from told.errors import ToldError  # noqa: PLC0415
    from told.fence import defuse_tags  # noqa: PLC0415
    from told.memories.caller import detect_caller  # noqa: PLC0415
    from told.settings.keys import OFF  # noqa: PLC0415

    command = command_named(line.words[0])
    if command is None or not is_served(command, line.words[1:]):
        return None
    if load_checked_settings(line.environ).model not in ("", OFF):
        return None  # the user's own model can take gigabytes
    written: list[str] = []
    is_behind: list[bool] = []

    def write(context: Context) -> None:
        written.append(context.take())

    with redirect_stderr(io.StringIO()) as errors:
        try:
            code = run_command(
                command, parse(command, line.words[1:]), line.environ, write,
                CallSite(detect_caller(line.environ, line.pid), line.folder),
                when_behind=lambda *_: is_behind.append(True),
            )  # fmt: skip
        except ToldError as error:
            code = error.exit_code
            errors.write(f"told: {defuse_tags(str(error))}\n")
    return Printed(code, "".join(written), errors.getvalue(), bool(is_behind))
