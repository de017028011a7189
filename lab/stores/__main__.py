"""Makes stores of other tools again: `python -m lab.stores SCRATCH [TOOL …]`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from lab import CannotRunError
from told.sync.stores import TOOLS

DATA = Path(__file__).parents[2] / "tests" / "data" / "stores"


def main(arguments: list[str]) -> int:
    """Make the named stores, or all of them."""
    if not arguments:
        print(__doc__)
        return 2
    scratch, names = Path(arguments[0]).absolute(), arguments[1:] or list(TOOLS)
    for name in names:
        maker = importlib.import_module(f"lab.stores.{TOOLS[name]}")
        try:
            maker.make(scratch, DATA / name)
        except CannotRunError as error:
            print(f"{name}: {error}")
            return 1
        print(f"{name}: {', '.join(sorted(p.name for p in (DATA / name).iterdir()))}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
