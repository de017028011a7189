"""The command that agents start and keep: it answers them on standard input and output."""

from __future__ import annotations

import os
import sys

from told.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from told.serve.mcp.protocol import Answer, Client, Toolbox


def mcp(words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Answer one agent until it is gone."""
    if words:
        raise UsageError("`told mcp` takes no words: agents start it as it is.")
    from told.serve.mcp.loop import serve
    from told.serve.mcp.server import Server
    from told.serve.mcp.streams import own

    try:
        if os.isatty(0):
            sys.stderr.write("told waits for messages of an agent, one a line. Ctrl+D ends it.\n")
        else:
            _outlive_interruptions()
        source, sink = own()
    except OSError:
        return 0  # without an input or an output nobody asks
    serve(Server(Tools(environ), lambda error: _note(error, environ)), source, sink)
    return 0


class Tools:
    """The tools, which are loaded when the first of them is called: many a session calls none."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._loaded: Toolbox | None = None

    def call(self, name: str, arguments: dict[str, Any], client: Client) -> Answer:
        """Do what a tool says."""
        return self._tools().call(name, arguments, client)

    def read(self, uri: str, client: Client) -> Answer:
        """Return the text of a resource."""
        return self._tools().read(uri, client)

    def knows_place(self) -> bool:
        """Tell whether it is clear which project the agent works in."""
        return self._tools().knows_place()

    def _tools(self) -> Toolbox:
        if self._loaded is None:
            import gc

            from told.cli.tools import Tools as Loaded

            gc.enable()  # this process lives as long as its agent
            self._loaded = Loaded(self._environ)
        return self._loaded


def _outlive_interruptions() -> None:
    """End without a word when told to; go on when the user only interrupts the agent."""
    import _signal  # type: ignore[import-not-found] # `signal` would load enum

    def leave(*_: object) -> None:
        os._exit(0)

    _signal.signal(_signal.SIGTERM, leave)
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
    if hasattr(_signal, "SIGHUP"):
        _signal.signal(_signal.SIGHUP, leave)


def _note(error: Exception, environ: Mapping[str, str]) -> None:
    from told.hook.trouble import note

    note(error, environ)
