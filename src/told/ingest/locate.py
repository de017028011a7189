"""Finds the project of a session as it is taken in, and remembers it for when the folder is gone."""

from __future__ import annotations

import os

from told.ingest.identity import Identity, git_root, identify, normal_remote

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
        there = _existing(cwd)
        if there and there == cwd:
            return self._remember(identify(os.path.realpath(cwd), ask_git=True), cwd)
        key, name = normal_remote(repository) if repository else ("", "")
        if key:
            project = self._projects.put(key, name, cwd)
            if cwd and not self._named_above(cwd):
                self._claim(cwd, project, cwd)
            known, part = self._nearest(cwd)
            return project.id, part if known is not None and known.id == project.id else ""
        if not cwd:
            return 0, ""
        known, part = self._nearest(cwd)
        root = git_root(there)
        place = cwd.removesuffix(part).rstrip("/")
        is_nearer = known is not None and not known.key.startswith("path:") and place.startswith(f"{root}/")
        if root not in ("", os.path.expanduser("~")) and not is_nearer:
            identity = identify(os.path.realpath(there), ask_git=True)
            part = "/".join(filter(None, (identity.part, os.path.relpath(cwd, there))))
            return self._remember(Identity(identity.key, identity.name, identity.root, part), cwd)
        if known is not None:
            return known.id, part
        project = self._projects.put(f"path:{cwd}", _last_name(cwd), cwd)
        self._projects.place(cwd, project.id)
        return project.id, ""

    def _nearest(self, cwd: str) -> tuple[Project | None, str]:
        """Return the project known at a folder that is gone, or the repository known above it."""
        known = self._projects.at(cwd)
        if known is not None:
            return known, ""
        above = self._named_above(cwd)
        return (self._projects.at(above), os.path.relpath(cwd, above)) if above else (None, "")

    def _named_above(self, cwd: str) -> str:
        """Return the nearest folder above that is known as a repository; never the user's home."""
        folder, home = os.path.dirname(cwd), os.path.expanduser("~")
        while folder and folder != home and folder != os.path.dirname(folder):
            known = self._projects.at(folder)
            if known is not None and not known.key.startswith("path:"):
                return folder
            folder = os.path.dirname(folder)
        return ""

    def _remember(self, identity: Identity, cwd: str) -> tuple[int, str]:
        """Note where a project lies; what was known there before it had a better key follows."""
        folder = cwd.rstrip("/") or cwd
        if identity.part:
            folder = folder.removesuffix(identity.part).rstrip("/")
        places = list(dict.fromkeys((folder, identity.root)))
        project = self._projects.by_key(identity.key)
        if project is None:
            before = next(filter(None, map(self._projects.at, places)), None)
            if before is not None and _is_provisional(before.key):
                self._projects.rename(before.id, identity.key, identity.name)
            elif identity.key.startswith("commit:"):  # a hook asks no git, and knew only the folder
                self._projects.follow(f"path:{identity.root}", identity.key)
            project = self._projects.put(identity.key, identity.name, identity.root)
        for place in places:
            self._claim(place, project, identity.root)
        return project.id, identity.part

    def _claim(self, place: str, project: Project, root: str) -> None:
        """Give a folder to a project, with all that was known there, or below it, only by its path."""
        before = self._projects.at(place)
        if before is not None and before.id == project.id:
            return
        if before is not None and _is_provisional(before.key):
            self._merge(before, project, root)
        self._projects.place(place, project.id)
        if project.key.startswith("path:"):
            return
        for below in self._projects.below(place):
            other = self._projects.at(below)
            if (
                other is not None
                and other.key.startswith("path:")
                and git_root(_existing(below)) in ("", root)
            ):
                self._merge(other, project, root)

    def _merge(self, old: Project, new: Project, root: str) -> None:
        for session_id, cwd, part in self._projects.move(old.id, new.id):
            inside = cwd.startswith(root.rstrip("/") + "/")
            self._writer.place_session(session_id, new.id, os.path.relpath(cwd, root) if inside else part)
        self._projects.drop(old.id)
        self._seen.clear()


def _existing(cwd: str) -> str:
    """Return the folder, or the nearest one above it that is there; empty for what is no whole path here."""
    folder = cwd.rstrip("/") or cwd
    if not os.path.isabs(folder):
        return ""
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return cwd if folder == cwd.rstrip("/") else folder


def _last_name(cwd: str) -> str:
    """Return a folder's own name, also of one on Windows."""
    return cwd.replace("\\", "/").rstrip("/").rpartition("/")[2] or cwd


def _is_provisional(key: str) -> bool:
    """Whether a key only says where the project lay or how it began, not where it is published."""
    return key.startswith(("path:", "commit:"))
