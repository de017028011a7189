"""`python -m told`."""

from __future__ import annotations

from told.cli.entry.client import run

if __name__ == "__main__":
    run()
