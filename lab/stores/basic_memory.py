"""Runs basic-memory from PyPI and writes notes with its own command."""

from __future__ import annotations

import shutil
from pathlib import Path

from lab.stores.run import install_pypi, run

PACKAGE = "basic-memory==0.24.1"  # needs Python 3.12
_NOTES = (
    ("Charge once", "payments", "payments,decisions", """
Each order is charged once. See [[Importer]] for the files of the old shop.

- [ ] test with a slow server

## Observations
- [decision] The order number is the idempotency key #payments (from the review)
- [gotcha] Keys expire after 24 hours #payments
- [preference] Ada wants one commit for each change

## Relations
- supersedes [[Charge twice]]
- part_of [[Payments overview]]
"""),
    ("Charge twice", "payments", "", "- [fact] There is no key.\n"),
    ("Importer", "shop", "files", "Files of the old shop are in Latin-1.\n"),
    ("Index", "shop", "", "- lists [[Importer]]\n"),
)  # fmt: skip


def make(scratch: Path, target: Path) -> None:
    """Make a project with four notes."""
    programs = install_pypi(scratch, PACKAGE, python="python3.12")
    home = scratch / "homes" / "basic-memory"
    shutil.rmtree(home, ignore_errors=True)
    for title, folder, tags, content in _NOTES:
        words = [str(programs / "basic-memory"), "tool", "write-note", "--title", title, "--folder", folder]
        words += ["--tags", tags] if tags else []
        run(words, home, {"HOME": str(home)}, content)
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(home / "basic-memory", target / "basic-memory")
