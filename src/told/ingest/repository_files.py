"""Recognise session files that came with a repository: what they say is not the user's word."""

from __future__ import annotations

import os

from told.agents import find_agent
from told.ingest.projects import list_untracked
from told.model import Source

KIND = "repository"  # of a session in such a file


class RepositoryFiles:
    """Tells which session files in projects' folders may be others'; asks git once for each folder."""

    def __init__(self) -> None:
        self._own: dict[str, frozenset[str]] = {}

    def has(self, source: Source) -> bool:
        """Tell whether a file of a project's folder is in git, or git does not say that it is not."""
        agent = find_agent(source.agent)
        if agent is None or not agent.project_layouts or not source.root:
            return False
        folder, name = os.path.split(source.path)
        if folder not in self._own:
            self._own[folder] = list_untracked(folder)
        return name not in self._own[folder]
