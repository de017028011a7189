"""Writes the whole made-up history into a home folder."""

from __future__ import annotations

import os

from demo import claude, codex, copilot, gemini, others, payments, shop
from demo.story import Project, Talk
from demo.writing import write_text

TALKS: tuple[Talk, ...] = (*shop.TALKS, *payments.TALKS, *others.TALKS)
_WRITERS = {
    "claude-code": claude.write, "codex": codex.write, "copilot-cli": copilot.write,
    "gemini-cli": gemini.write,
}  # fmt: skip


def write_history(home: str, now: int) -> dict[str, str]:
    """Write all talks, the youngest an hour old at `now`. Returns the path of each by its title."""
    for project in {talk.project for talk in TALKS}:
        _make_project(home, project)
    return {talk.title: _WRITERS[talk.agent](home, talk, now) for talk in TALKS}


def _make_project(home: str, project: Project) -> None:
    """Make a folder that looks like a git work tree; git itself need not be there."""
    git = os.path.join(home, project.folder, ".git")
    remote = f'[remote "origin"]\n\turl = {project.remote}\n' if project.remote else ""
    write_text(os.path.join(git, "config"), f"[core]\n\tbare = false\n{remote}", 0)
    write_text(os.path.join(git, "HEAD"), "ref: refs/heads/main\n", 0)
