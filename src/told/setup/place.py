"""Makes the `Place` that wirings are given, from this machine and the user's wishes."""

from __future__ import annotations

import os
import sys

from told.agents.wiring import MINIMAL, PROJECT_SCOPE, USER_SCOPE, Place
from told.errors import UsageError
from told.ingest.identity import git_root, own_store_root
from told.setup import instructions, slash
from told.setup.launch import launch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from told.agents.wiring import Launch


def project_root(cwd: str, home: str) -> str:
    """Return the root folder of the project of a folder; empty for the home folder and what is above it."""
    if not cwd:
        return ""
    real, real_home = os.path.realpath(cwd), os.path.realpath(home)
    root = git_root(real) or own_store_root(real) or real
    return "" if real_home == root or real_home.startswith(root.rstrip(os.sep) + os.sep) else root


def make_place(
    environ: Mapping[str, str], cwd: str, commands: frozenset[str], *, scope: str = USER_SCOPE,
    profile: str = MINIMAL, service: tuple[str, str] = ("", ""), started: Launch | None = None,
) -> Place:  # fmt: skip
    """Return the place for one scope.

    Args:
        environ: the user's variables.
        cwd: the folder in which told was called.
        commands: the names of the commands that this told has.
        scope: for all projects of the user, or for the one of the folder.
        profile: which hooks are wanted.
        service: the address of the background service and its token, if the user chose it.
        started: how the hook is started, if that is known already.

    Raises:
        UsageError: there is no project here.
        MissingError: no interpreter can start the hook.
    """
    home = environ.get("HOME") or environ.get("USERPROFILE") or ""
    project = project_root(cwd, home)
    if scope == PROJECT_SCOPE and not project:
        raise UsageError("There is no project here. Go to its folder first, or leave out --scope project.")
    return Place(
        home=home.rstrip("/\\") or home, project=project, variables=environ, launch=started or launch(),
        scope=scope, profile=profile, told=_told(environ), mcp="mcp" in commands, service=service[0],
        system=sys.platform, token=service[1], note=instructions.note(commands),
        guide=instructions.guide(commands), slash=slash.commands(commands),
    )  # fmt: skip


def _told(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the command `told` in full: as it is found by its name, if that is this one."""
    import shutil

    beside = os.path.join(os.path.dirname(sys.executable), "told.exe" if os.name == "nt" else "told")
    found = shutil.which("told", path=environ.get("PATH", os.defpath))
    if found and os.path.realpath(found) == os.path.realpath(beside):
        return (found,)
    return (beside,) if os.path.exists(beside) else (sys.executable, "-m", "told")
