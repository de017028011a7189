"""Finds how told's hook is started: by a real interpreter, without a shim's or an environment's help."""

from __future__ import annotations

import os
import sys

from told.agents.wiring import Launch
from told.errors import MissingError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Whatever goes wrong in a hook, it ends with 0: some agents take 2 for "stop the prompt".
_SAFELY = "import os,sys;sys.excepthook=lambda *_:os._exit(0);"
_PATHS = "sys.path[:0]=[{paths}];"
_RUN = "from told.hook import run;run()"
_TRY = "import apsw,told.hook;print(sys.implementation.cache_tag)"
_PATIENCE = 20  # seconds; a machine under load is slow to start an interpreter


def launch(*, strict: bool = True) -> Launch:
    """Return how the hook of this told is started.

    Args:
        strict: Fail if it cannot be; without, it is returned all the same, as it would be.

    Raises:
        MissingError: no interpreter on this machine can start it.
    """
    tried = [Launch(binary, code(folders())) for binary in dict.fromkeys(_binaries())]
    reasons = []
    for one in tried:
        reason = fault(one)
        if not reason:
            return one
        reasons.append(reason)
    if strict or not tried:
        raise MissingError(f"told's hooks cannot be started ({', '.join(reasons[:1])}). Install told again.")
    return tried[0]


def code(folders: Sequence[str]) -> str:
    """Return what the interpreter runs: one line, in which all quotes are single ones."""
    return _SAFELY + _PATHS.format(paths=",".join(map(_literal, folders))) + _RUN


def fault(started: Launch) -> str:
    """Return why the hook cannot be loaded, in the interpreter's own words; empty if it can."""
    attempt = started.code.removeprefix(_SAFELY).removesuffix(_RUN)
    done = _run([started.interpreter, "-I", "-S", "-c", f"import sys;{attempt}{_TRY}"])
    if done is None:
        return f"{started.interpreter} does not start"
    if done[0]:
        return done[2].strip().rpartition("\n")[2] or f"it ended with {done[0]}"
    # A shim may lead to another version, for which apsw was not compiled; or to no Python at all.
    return (
        "" if done[1] == f"{sys.implementation.cache_tag}\n" else f"{started.interpreter} is another Python"
    )


def _literal(path: str) -> str:
    return "'" + path.replace("\\", "\\\\").replace("'", "\\'") + "'"


def folders() -> list[str]:
    """Return the folders that told and apsw are imported from; one if they lie side by side."""
    import apsw

    import told

    found = []
    for package in (told, apsw):
        file = str(package.__file__)
        inside = os.path.basename(file).startswith("__init__.")
        folder = os.path.dirname(os.path.abspath(file))
        found.append(os.path.dirname(folder) if inside else folder)
    return list(dict.fromkeys(found))


def _binaries() -> Iterator[str]:
    # An environment's python is a link that a version manager may lead elsewhere; a shim starts a shell.
    for given in (getattr(sys, "_base_executable", ""), sys.executable):
        if given:
            real = os.path.realpath(given)
            yield _lasting(real)
            yield real


def _lasting(binary: str) -> str:
    """Return Homebrew's name for a binary that outlives its next update, where there is one."""
    prefix, cellar, rest = binary.partition("/Cellar/")
    formula, _, versioned = rest.partition("/")
    lasting = f"{prefix}/opt/{formula}/{versioned.partition('/')[2]}"
    is_same = bool(cellar) and os.path.exists(lasting) and os.path.samefile(lasting, binary)
    return lasting if is_same else binary


def _run(words: list[str]) -> tuple[int, str, str] | None:
    import subprocess

    try:
        done = subprocess.run(  # noqa: S603 - told's own command
            words, capture_output=True, text=True, timeout=_PATIENCE, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.returncode, done.stdout, done.stderr
