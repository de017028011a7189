"""An agent that asks told through its tools, as the server lets it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from told.cli.mcp import Tools
from told.mcp.tools import TOOLS, Answer, Client, check_arguments

if TYPE_CHECKING:
    from tests.cli.machine import Machine

NAMES = {tool.name: tool for tool in TOOLS}


class Asking:
    """One agent at work on a machine."""

    def __init__(self, machine: Machine, name: str = "codex-mcp-client", *roots: str) -> None:
        self._tools = Tools(machine.environ)
        self.client = Client(name, roots)

    def call(self, tool: str, **arguments: Any) -> Answer:
        """Call a tool with arguments that pass the server's checks."""
        taken, wrong = check_arguments(
            NAMES[tool], {name.rstrip("_"): value for name, value in arguments.items()}
        )
        assert wrong == ""
        return self._tools.call(tool, taken, self.client)

    def say(self, tool: str, **arguments: Any) -> str:
        """Call a tool that has something to say."""
        answer = self.call(tool, **arguments)
        assert not answer.is_error, answer.text
        return answer.text

    def wrong(self, tool: str, **arguments: Any) -> str:
        """Call a tool that cannot do what it is asked."""
        answer = self.call(tool, **arguments)
        assert answer.is_error, answer.text
        return answer.text

    def read(self, uri: str) -> Answer:
        """Read a resource."""
        return self._tools.read(uri, self.client)
