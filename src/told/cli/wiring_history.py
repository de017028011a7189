"""After the first `told install`: reads the history that is there, and shows what it taught."""

from __future__ import annotations

from told.cli.arguments import parse
from told.cli.commands import command_named
from told.cli.wiring_wishes import ask, may_ask
from told.errors import NotFoundError
from told.record import replaced
from told.store.watch import Watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.cli.arguments import Arguments
    from told.cli.context import Context

_SHOWN = "5"


def offer_history(context: Context, arguments: Arguments) -> None:
    """Read what agents wrote down before told came, if nobody has read it yet."""
    last, _ = Watch(context.connection).last_sweep()
    if last:
        return
    if may_ask(arguments):
        if ask(context, "Read what these agents wrote down before told came?"):
            _read_now(context, arguments)
        else:
            context.print("`told index` reads it when you want it.")
    elif context.settings.background:
        context.behind = True
        context.print("What agents wrote down before is read in the background: see `told memories`.")
    else:
        context.print("`told index` reads what agents wrote down before.")


def _read_now(context: Context, arguments: Arguments) -> None:
    from told.cli.memories import memories
    from told.cli.upkeep import index

    settings = context.settings
    context.settings = replaced(settings, background=False)  # what was learned is to be seen at once
    try:
        index(context, arguments)
    finally:
        context.settings = settings
    command = command_named("memories")
    if command is None or not settings.learn:
        return
    try:
        memories(context, parse(command, ["--all-projects", "--limit", _SHOWN]))
    except NotFoundError:
        context.print("There was nothing in it to remember yet.")
