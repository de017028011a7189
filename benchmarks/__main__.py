"""Runs one benchmark: `python -m benchmarks NAME [--data PATH] [--json] [--quick]`."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import sys
from types import ModuleType

import benchmarks
from benchmarks import report


def available() -> dict[str, ModuleType]:
    """Return the modules of this package that can be run as a benchmark, by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__))
    modules = {
        name: importlib.import_module(f"benchmarks.{name}") for name in names if not name.startswith("_")
    }
    return {name: module for name, module in modules.items() if hasattr(module, "run")}


def main(words: list[str]) -> int:
    """Run the named benchmark and print its figures."""
    found = available()
    name = words[0] if words else ""
    if name not in found:
        print(f"There is no benchmark {name!r}; choose one of: {', '.join(found)}.", file=sys.stderr)
        return 2
    module = found[name]
    parser = argparse.ArgumentParser(
        prog=f"benchmarks {name}", description=module.__doc__, conflict_handler="resolve"
    )
    parser.add_argument("--data", default="", help="the public data set to read, where one is needed")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--quick", action="store_true", help="a smaller size and fewer rounds")
    if hasattr(module, "options"):
        module.options(parser)
    arguments = parser.parse_args(words[1:])
    try:
        figures = module.run(arguments)
    except benchmarks.CannotMeasureError as error:
        print(error, file=sys.stderr)
        return 1
    try:
        print(
            json.dumps(figures, ensure_ascii=False) if arguments.json else report.table(figures), flush=True
        )
    except BrokenPipeError:  # whoever read it has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
