"""Find an agent's installed version, and what that version is too old for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from told.agents.base import Agent
from told.pattern import lazy_pattern

_VERSION = lazy_pattern(r"\d+(?:\.\d+)+")
_FOLDER = lazy_pattern(rf"({_VERSION.pattern})(?:[-+_][\w.]+)?")
_SECONDS = 2  # for `agent --version`, where no file has the version
_LEVELS = 5  # from the program up to its package
_LARGEST = 1_000_000  # bytes of a package.json


def find_version(agent: Agent, environ: Mapping[str, str]) -> str:
    """Return the version of the agent's program on the PATH; empty if unknown."""
    for program in agent.programs:
        path = shutil.which(program, path=environ.get("PATH", os.defpath))
        if path:
            # Without a minimum, the version is not worth the wait.
            return _read_version(path) or (_ask_version(path, environ) if agent.since else "")
    return ""


def find_unmet(agent: Agent, version: str) -> dict[str, str]:
    """Return the parts of told that a version is too old for, each with its first version."""
    if not version:
        return {}
    return {part: first for part, first in agent.since.items() if _numbers(version) < _numbers(first)}


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _read_version(path: str) -> str:
    """Return the version that the program's path or its package has."""
    real = Path(os.path.realpath(path))
    for package in _packages(real):
        if version := _version_in(package):
            return version
    # Native installers name the program or its folder after the version, Homebrew the folder of a formula.
    _, cellar, formula = str(real).partition(f"{os.sep}Cellar{os.sep}")
    names = [real.name, real.parent.name, *(formula.split(os.sep)[1:2] if cellar else ())]
    return next((found[1] for name in names if (found := _FOLDER.fullmatch(name))), "")


def _packages(real: Path) -> Iterator[Path]:
    """Yield where the program's package.json may be: of npm, or of an editor."""
    for folder in list(real.parents)[:_LEVELS]:
        if "node_modules" in folder.parent.parts or folder.parent.name.lower() == "resources":
            yield folder / "package.json"
        yield folder / "resources" / "app" / "package.json"


def _version_in(package: Path) -> str:
    try:
        if package.stat().st_size > _LARGEST:
            return ""
        version = json.loads(package.read_text(encoding="utf-8"))["version"]
        found = _VERSION.match(version)
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    return found[0] if found else ""


def _ask_version(path: str, environ: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - an agent of the user's, found on their PATH
            [path, "--version"], env=dict(environ), stdin=subprocess.DEVNULL, capture_output=True,
            timeout=_SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    found = _VERSION.search(done.stdout[:200].decode("utf-8", "replace"))
    return found[0] if found else ""
