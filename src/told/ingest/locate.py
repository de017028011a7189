"""Finds the project of a session as it is taken in, and remembers it for when the folder is gone."""

from __future__ import annotations

import os

from told.ingest.identity import Identity, identify, normal_remote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.store.projects import Project, Projects
    from told.store.writing import Writer


class Locator:
    """Resolves working folders to projects; each folder is looked at once."""

    def __init__(self, projects: Projects, writer: Writer) -> None:
        self._projects = projects
        self._writer = writer
        self._seen: dict[tuple[str, str], tuple[int, str]] = {}

    def locate(self, cwd: str, repository: str) -> tuple[int, str]:
        """Return a session's (project id, folder within it); (0, "") when nobody knows where it ran."""
        question = (cwd, repository)
        if question not in self._seen:
            self._seen[question] = self._locate(cwd, repository)
        return self._seen[question]

    def _locate(self, cwd: str, repository: str) -> tuple[int, str]:
        if cwd and os.path.isdir(cwd):
            identity = identify(os.path.normpath(cwd), ask_git=True)
            return self._remember(identity, cwd).id, identity.part
        key, name = normal_remote(repository) if repository else ("", "")
        if key:
            project = self._projects.put(key, name, cwd)
            known, part = self._nearest(cwd)
            if cwd and known is None:
                self._projects.place(cwd, project.id)
            return project.id, part if known is not None and known.id == project.id else ""
        if not cwd:
            return 0, ""
        known, part = self._nearest(cwd)
        if known is not None:
            return known.id, part
        project = self._projects.put(f"path:{cwd}", os.path.basename(cwd.rstrip("/")) or cwd, cwd)
        self._projects.place(cwd, project.id)
        return project.id, ""

    def _nearest(self, cwd: str) -> tuple[Project | None, str]:
        """Return the project known at a folder that is gone or above it; never the user's home."""
        folder, home = cwd, os.path.expanduser("~")
        while folder and folder != home and folder != os.path.dirname(folder):
            known = self._projects.at(folder)
            if known is not None:
                return known, os.path.relpath(cwd, folder) if folder != cwd else ""
            folder = os.path.dirname(folder)
        return None, ""

    def _remember(self, identity: Identity, cwd: str) -> Project:
        folder = cwd.rstrip("/") or cwd
        if identity.part:
            folder = folder.removesuffix(identity.part).rstrip("/")
        before = self._projects.at(folder) or self._projects.at(identity.root)
        project = self._projects.by_key(identity.key)
        if project is None and before is not None and _is_provisional(before.key):
            self._projects.rename(before.id, identity.key, identity.name)
            project = self._projects.by_key(identity.key)
        if project is None:
            project = self._projects.put(identity.key, identity.name, identity.root)
        if before is not None and before.id != project.id and _is_provisional(before.key):
            for session_id in self._projects.move(before.id, project.id):
                self._writer.place_session(session_id, project.id, "")
        self._projects.place(folder, project.id)
        self._projects.place(identity.root, project.id)
        return project


def _is_provisional(key: str) -> bool:
    """Whether a key only says where the project lay or how it began, not where it is published."""
    return key.startswith(("path:", "commit:"))
