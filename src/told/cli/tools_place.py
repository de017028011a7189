"""Where an agent works that asks told: as it says itself, as its variables say, or where it started told."""

from __future__ import annotations

import os

from told.ingest.identity import git_root, project_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# What agents set for the programs that they start. Several folders stand in one with commas between them.
_VARIABLES = (
    "CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "QWEN_PROJECT_DIR", "CURSOR_PROJECT_DIR",
    "WORKSPACE_FOLDER_PATHS",
)  # fmt: skip


def folder_of(roots: Sequence[str], environ: Mapping[str, str], home: str) -> str:
    """Return the folder that an agent works in; empty if nobody knows.

    Args:
        roots: The folders that the agent says it works in; the first that is a project counts.
        environ: The variables that it gave to told.
        home: The folder of everything told writes for itself.
    """
    for named in (roots, _in_variables(environ)):
        folders = [os.path.realpath(one) for one in named if _is_folder(one)]
        if folders:
            return _first_project(folders, home)
    try:
        current = os.path.realpath(os.getcwd())
    except OSError:
        return ""
    # Agents that know no folder start programs there; nobody works in it.
    nowhere = (os.path.dirname(current), os.path.realpath(environ.get("HOME", "") or os.sep))
    return "" if current in nowhere else current


def is_certain(environ: Mapping[str, str]) -> bool:
    """Tell whether the agent's variables name a folder, or it started told in a project."""
    if any(map(_is_folder, _in_variables(environ))):
        return True
    folder = folder_of((), environ, "")
    return bool(folder and git_root(folder))


def _in_variables(environ: Mapping[str, str]) -> list[str]:
    return [part.strip() for name in _VARIABLES for part in environ.get(name, "").split(",")]


def _is_folder(path: str) -> bool:
    return os.path.isabs(path) and "\0" not in path and os.path.isdir(path)


def _first_project(folders: list[str], home: str) -> str:
    if len(folders) > 1:
        in_git = [one for one in folders if git_root(one)]
        if folders[0] not in in_git:
            return _first_known(folders, in_git, home) or folders[0]
    return folders[0]


def _first_known(folders: list[str], in_git: list[str], home: str) -> str:
    from told.hook.catching_up import open_sessions
    from told.store.projects import Projects

    connection = open_sessions(home)
    try:
        known = [one for one in folders if connection and project_at(Projects(connection), one)]
    finally:
        if connection is not None:
            connection.close()
    return next((one for one in folders if one in known or one in in_git), "")
