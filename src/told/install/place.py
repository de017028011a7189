"""Build the `Place` for wirings: hook command, texts, project; delete told's home."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping

from told.agents.base import is_inside
from told.agents.wiring import (
    MINIMAL,
    OWN_TEXT,
    PROJECT_SCOPE,
    USER_SCOPE,
    Launch,
    Place,
    Slash,
    import_folders,
)
from told.errors import MissingError, UsageError
from told.ingest.projects import find_git_root, find_store_root
from told.install.project import restore_gitignore
from told.journal.registry import read_registry
from told.retention.disk import FILES, FOLDERS
from told.tables import load_table

_SECONDS = 20  # a machine under load is slow to start an interpreter
_CHECK = (
    "import sys;sys.path[:0]={folders!r};import apsw,told.service.local;print(sys.implementation.cache_tag)"
)


def launch(*, strict: bool = True) -> Launch:
    """Return how agents start the hook client of this told."""
    own, *others = import_folders()
    client = os.path.join(own, "told", "hook", "client.py")
    tried = [Launch(binary, client, tuple(others)) for binary in dict.fromkeys(_binaries())]
    faults = []
    for one in tried:
        found = find_fault(one)
        if not found:
            return one
        faults.append(found)
    if strict or not tried:
        raise MissingError(f"told's hooks cannot be started ({', '.join(faults[:1])}). Install told again.")
    return tried[0]


def find_fault(started: Launch) -> str:
    """Return why the hook cannot be loaded; empty if it can."""
    own = os.path.dirname(os.path.dirname(os.path.dirname(started.client)))
    check = _CHECK.format(folders=[own, *started.folders])
    done = _run([started.interpreter, "-I", "-S", "-c", check])
    if done is None:
        return f"{started.interpreter} does not start"
    if done[0]:
        return done[2].strip().rpartition("\n")[2] or f"it ended with {done[0]}"
    if not os.path.isfile(started.client):
        return f"{started.client} is missing"
    # A shim may start another version, for which apsw was not compiled, or no Python at all.
    is_same = done[1] == f"{sys.implementation.cache_tag}\n"
    return "" if is_same else f"{started.interpreter} is another Python"


def _binaries() -> Iterator[str]:
    # A virtual environment's python is a link that may change, and a version manager's shim is a script.
    for given in (getattr(sys, "_base_executable", ""), sys.executable):
        if given:
            real = os.path.realpath(given)
            yield _stable_path(real)
            yield real


def _stable_path(binary: str) -> str:
    """Return Homebrew's path of a binary that stays after an update."""
    prefix, cellar, rest = binary.partition("/Cellar/")
    formula, _, versioned = rest.partition("/")
    stable = f"{prefix}/opt/{formula}/{versioned.partition('/')[2]}"
    is_same = bool(cellar) and os.path.exists(stable) and os.path.samefile(stable, binary)
    return stable if is_same else binary


def _run(words: list[str]) -> tuple[int, str, str] | None:
    try:
        done = subprocess.run(  # noqa: S603 - told's own command
            words, capture_output=True, text=True, timeout=_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.returncode, done.stdout, done.stderr


TEXTS = load_table(__file__, "instructions")


def paragraph(name: str, commands: frozenset[str]) -> str:
    """Return the instructions for an agent that is `briefed` or has to ask, by a `guide`."""
    parts = [TEXTS[name], TEXTS["remember"]]
    parts += [TEXTS["checkpoint"]] if "checkpoint" in commands else []
    return f"{TEXTS['title']}\n\n{OWN_TEXT}{' '.join([*parts, TEXTS['record']])}"


def slash_commands(known: frozenset[str]) -> tuple[Slash, ...]:
    """Return the slash commands whose commands exist."""
    return tuple(
        Slash(
            one["name"], one["about"],
            TEXTS["bodies"][one["kind"]].format(name=one["name"], done=one.get("done", "")),
            one.get("hint", ""), runs=one["kind"] != "done",
        )
        for one in TEXTS["slash"]
        if one["name"] in known
    )  # fmt: skip


def project_root(cwd: str, home: str) -> str:
    """Return a folder's project root; empty at or above the home folder."""
    if not cwd:
        return ""
    real, real_home = os.path.realpath(cwd), os.path.realpath(home)
    root = find_git_root(real) or find_store_root(real) or real
    return "" if real_home == root or real_home.startswith(root.rstrip(os.sep) + os.sep) else root


def make_place(
    environ: Mapping[str, str], cwd: str, commands: frozenset[str], *, scope: str = USER_SCOPE,
    profile: str = MINIMAL, started: Launch | None = None,
) -> Place:  # fmt: skip
    """Return the place for one scope."""
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    project = project_root(cwd, home)
    if scope == PROJECT_SCOPE and not project:
        raise UsageError("There is no project here. Go to its folder first, or leave out --scope project.")
    path = os.path.join(os.path.dirname(sys.executable), "told.exe" if os.name == "nt" else "told")
    beside = (path,) if os.path.exists(path) else (sys.executable, "-m", "told")
    found = _told_on_path(environ, beside[0])
    return Place(
        home=home.rstrip("/\\") or home, project=project, variables=environ, launch=started or launch(),
        scope=scope, profile=profile, told=(found,) if found else beside, told_beside=beside,
        on_path=bool(found) and not _is_activated(found, environ), mcp="mcp" in commands,
        system=sys.platform, note_text=paragraph("briefed", commands),
        guide_text=paragraph("guide", commands), slash_commands=slash_commands(commands),
    )  # fmt: skip


def _told_on_path(environ: Mapping[str, str], beside: str) -> str:
    """Return the `told` on the PATH if it is this installation's; empty if not."""
    found = shutil.which("told", path=environ.get("PATH", os.defpath)) or ""
    return found if found and os.path.realpath(found) == os.path.realpath(beside) else ""


def _is_activated(path: str, environ: Mapping[str, str]) -> bool:
    """Tell whether a program is on the PATH only while an environment is activated."""
    roots = [environ.get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX")]
    return any(root and is_inside(os.path.abspath(path), os.path.abspath(root)) for root in roots)


def delete_home(home: str) -> list[str]:
    """Delete told's home and projects' own folders; return what was left."""
    try:
        for place in read_registry(home):
            restore_gitignore(home, place.root, purge=True)
        if os.path.islink(home):
            home = os.path.realpath(home)
        left = [name for name in sorted(os.listdir(home)) if not _delete(os.path.join(home, name))]
        if not left:
            os.rmdir(home)
    except FileNotFoundError:
        return []
    except OSError as error:
        why = (error.strerror or "error").lower()
        raise MissingError(f"{home} could not be deleted ({why}). Delete it by hand.") from None
    return left


def _delete(path: str) -> bool:
    name = os.path.basename(path)
    if os.path.isdir(path) and not os.path.islink(path):
        if name not in FOLDERS:
            return False
        shutil.rmtree(path)
        return True
    if not name.startswith(FILES) and not name.endswith(".lock"):
        return False
    os.remove(path)
    return True
