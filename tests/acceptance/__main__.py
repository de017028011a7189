"""Run the acceptance tests and write their results: `python -m tests.acceptance`."""

from __future__ import annotations

import sys

from tests.acceptance import table

if __name__ == "__main__":
    code, made = table.run()
    table.write(made)
    sys.exit(code)
