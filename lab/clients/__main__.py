"""Runs the real MCP clients: `python -m lab.clients [--client NAME …] [--scratch DIR] [--json]`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from lab import CannotRunError
from lab.clients import checks, inspector, python_sdk, typescript
from lab.clients.past import lived_through
from lab.clients.talk import Client, Server
from lab.machine import Machine, told_program
from lab.npm import Shelf
from lab.result import Finding

_KINDS = ("inspector", "typescript", "python")


def main(words: Sequence[str]) -> int:
    """Run what was asked for, and print it."""
    chosen = _arguments(words)
    try:
        results = [_result(chosen.scratch, client) for client in _clients(chosen)]
    except CannotRunError as error:
        print(error, file=sys.stderr)
        return 1
    works = all(one.works is not False for _, found in results for one in found.values())
    if chosen.json:
        print(json.dumps({"works": works, "clients": [_data(*one) for one in results]}, ensure_ascii=False))
    else:
        print(_plain(results))
    return 0 if works else 1


def _clients(chosen: argparse.Namespace) -> list[Client]:
    shelf = Shelf(os.path.join(chosen.scratch, "programs"))
    made = {
        "inspector": lambda: inspector.clients(shelf, chosen.scratch),
        "typescript": lambda: typescript.clients(shelf),
        "python": python_sdk.clients,
    }
    return [client for kind in chosen.client or _KINDS for client in made[kind]()]


def _result(scratch: str, client: Client) -> tuple[Client, dict[str, Finding]]:
    print(f"{_name(client)} …", file=sys.stderr, flush=True)
    machine = Machine(os.path.join(scratch, "machines", "clients"))
    past = lived_through(machine)
    command, *arguments = told_program()
    environ = machine.environ({"TOLD_BACKGROUND": "off"})
    server = Server(command, (*arguments, "mcp"), environ, machine.project)
    tools = python_sdk.clients()[0].talk(server, ()).tools
    found = checks.found_by(client, server, past, tools)
    if not found["connects"].works:
        return client, found
    folder = os.path.join(machine.home, "elsewhere")
    os.makedirs(folder)
    return client, found | checks.elsewhere(client, server, folder, machine.project)


def _name(client: Client) -> str:
    return f"{client.title} {client.version}, {client.era}"


def _data(client: Client, found: Mapping[str, Finding]) -> dict[str, Any]:
    checked = {name: asdict(one) for name, one in found.items()}
    return {"client": client.title, "version": client.version, "era": client.era, "checks": checked}


def _plain(results: Sequence[tuple[Client, Mapping[str, Finding]]]) -> str:
    """Return the table: a line for each check, a column for each client, and what is not as it should be."""
    names = list(dict.fromkeys(name for _, found in results for name in found))
    heads = [f"{client.title} {client.version}" for client, _ in results]
    cells = [["", *heads], ["", *(client.era for client, _ in results)]]
    for name in names:
        marks = {True: "yes", False: "NO", None: "-"}
        cells.append([name, *(marks[found[name].works] if name in found else "-" for _, found in results)])
    widths = [max(len(line[at]) for line in cells) for at in range(len(cells[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]
    for client, found in results:
        lines += [f"{_name(client)}: {name}: {one.note}" for name, one in found.items() if one.note]
    return "\n".join(lines)


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="lab.clients", description="Let real MCP clients list and call everything `told mcp` offers."
    )
    parser.add_argument(
        "--client", action="append", choices=_KINDS, default=[], help="only this one; may be given again"
    )
    parser.add_argument(
        "--scratch", default=os.path.join(tempfile.gettempdir(), "agents-lab"), help="kept between runs"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
