"""What the process of the background service runs: the service, with the tools that agents call over MCP."""

from __future__ import annotations

import os

from told.cli.mcp import Tools
from told.serve import running

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def run(**patience: float) -> NoReturn:
    """Be the service until nobody needs it, and leave the process.

    Args:
        **patience: As `told.serve.running.run` takes it.
    """
    running.run(**patience, tools=Tools(os.environ))
