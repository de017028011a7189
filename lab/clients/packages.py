"""The pinned clients from npm, installed once into the scratch folder."""

from __future__ import annotations

import json
import os

from lab import CannotRunError
from lab.npm import Program, Shelf, install

INSPECTOR = Program("@modelcontextprotocol/inspector", "2.12.0", "mcp-inspector", node=22)
OLDER = Program("@modelcontextprotocol/sdk", "1.32.2", "node", node=18)
NEWER = Program("@modelcontextprotocol/client", "2.4.0", "node", node=20)


def library(shelf: Shelf, program: Program) -> str:
    """Install a package that has no command, and return the folder in which it can be imported.

    Raises:
        CannotRunError: It is not there, or is not the version that was asked for.
    """
    folder = os.path.join(shelf.folder, f"{program.package.replace('/', '-').lstrip('@')}-{program.version}")
    manifest = os.path.join(folder, "node_modules", *program.package.split("/"), "package.json")
    if not os.path.exists(manifest):
        install(folder, f"{program.package}@{program.version}")
    with open(manifest, encoding="utf-8") as file:
        version = json.load(file).get("version")
    if version != program.version:
        raise CannotRunError(
            f"{folder} holds {version} and not {program.version}; remove it, run this again."
        )
    return folder
