"""`told hook`: what agents run; at a terminal it does the same."""

from __future__ import annotations

import sys

from told.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn


def hook(words: Sequence[str], environ: Mapping[str, str]) -> NoReturn:  # noqa: ARG001 - as bare commands
    """Answer one call of an agent's, and leave with exit code 0 whatever happens.

    Raises:
        UsageError: somebody tries it at a terminal, without a call.
    """
    if sys.stdin is not None and sys.stdin.isatty():
        raise UsageError("Agents run this, with a call on standard input. `told install` sets it up.")
    from told.hook import run

    sys.argv = ["told", *words]
    run()
