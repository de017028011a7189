"""The team server on a real PostgreSQL: each part beside the plain SQL floor in the same run."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import Any

from benchmarks.server import asked, queue, traffic

# Each part adds its figures under its name.
PARTS: dict[str, Callable[[Namespace], dict[str, Any]]] = {
    "queue": queue.measure, "search": asked.measure_search, "brief": asked.measure_brief,
    "insert": traffic.measure_insert, "load": traffic.measure_load, "memory": traffic.measure_memory,
}  # fmt: skip
HOWS = {
    "queue": queue.HOW,
    "search": asked.HOW_SEARCH,
    "brief": asked.HOW_BRIEF,
    "insert": traffic.HOW_INSERT,
    "load": traffic.HOW_LOAD,
    "memory": traffic.HOW_MEMORY,
}


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--part", choices=sorted(PARTS), help="only this part")
    parser.add_argument("--sizes", default="100000,1000000", help="how many memories; 10000 with --quick")


def run(arguments: Namespace) -> dict[str, Any]:
    parts = [arguments.part] if arguments.part else list(PARTS)
    figures: dict[str, Any] = {name: PARTS[name](arguments) for name in parts}
    return figures | {"how": " ".join(f"{name}: {HOWS[name]}" for name in parts)}
