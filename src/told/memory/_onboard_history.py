"""What a project's git history shows: its branches, how commits are called, which files change most."""

from __future__ import annotations

import re

from told.memory._onboard_learned import HISTORY, Learned
from told.store.memory_records import OBSERVATION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.memory._onboard_files import Tree

PLACE = ".git"
_COMMITS = 200
_ENOUGH = 10  # commits from which a habit can be read
_SHARE = 0.6
_CONVENTIONAL = re.compile(
    r"(build|chore|ci|docs|feat|fix|perf|refactor|revert|style|test)(\([^)]{1,60}\))?!?: \S"
)
_TICKET = re.compile(r"\[?([A-Z][A-Z0-9]{1,9})-\d{1,6}\b")
_EMOJI = re.compile(r":[a-z_]{2,30}: ")
# Only words for a kind of work: many a branch begins with somebody's name.
_PREFIX = re.compile(
    r"(feature|feat|fix|bugfix|bug|hotfix|chore|docs|refactor|release|test|task|improvement|perf|ci)/\S"
)
_BRANCHES = 5
_HOT = 8
_HOT_TIMES = 5  # changes that make a file worth naming
_NOT_HOT = re.compile(r"(?i)(^|/)(CHANGELOG[^/]*|[^/]*\.lock|package-lock\.json|pnpm-lock\.yaml|.*\.snap)$")


def learn_history(tree: Tree) -> Iterator[Learned]:
    """Yield what the last commits and the branches show."""
    git = tree.git
    branch = git.default_branch()
    if branch:
        yield Learned(HISTORY, "default branch", f"The default branch is {branch}", PLACE)
    commits = git.commits(_COMMITS)
    yield from _convention([subject for subject, _ in commits])
    yield from _prefixes([name for name in git.branches() if name != branch])
    counts: dict[str, int] = {}
    for _, paths in commits:
        for path in set(paths):
            counts[path] = counts.get(path, 0) + 1
    present = set(tree.files)
    hot = sorted(
        (path for path, times in counts.items()
         if times >= _HOT_TIMES and path in present and not _NOT_HOT.search(path)),
        key=lambda path: (-counts[path], path),
    )[:_HOT]  # fmt: skip
    if hot:
        # By name: who leads changes with every commit, who is among them rarely does.
        text = f"Changed most often lately: {', '.join(sorted(hot))}"
        yield Learned(HISTORY, "hot files", text, PLACE, kind=OBSERVATION)


def _convention(subjects: list[str]) -> Iterator[Learned]:
    if len(subjects) < _ENOUGH:
        return
    need = _SHARE * len(subjects)
    text = ""
    types: dict[str, int] = {}
    keys: dict[str, int] = {}
    for subject in subjects:
        if found := _CONVENTIONAL.match(subject):
            types[found.group(1)] = types.get(found.group(1), 0) + 1
        if found := _TICKET.match(subject):
            keys[found.group(1)] = keys.get(found.group(1), 0) + 1
    if sum(types.values()) >= need:
        usual = sorted(types, key=lambda name: (-types[name], name))[:4]
        named = ", ".join(f"{one}:" for one in sorted(usual))
        text = f"Commit messages follow Conventional Commits, such as {named}"
    elif sum(keys.values()) >= need:
        usual = sorted(keys, key=lambda name: (-keys[name], name))[:2]
        text = f"Commit messages begin with a ticket, such as {' or '.join(f'{one}-123' for one in usual)}"
    elif sum(bool(_EMOJI.match(subject)) for subject in subjects) >= need:
        text = "Commit messages begin with an emoji code such as :bug:"
    if text:
        example = next(
            one for one in subjects if _CONVENTIONAL.match(one) or _TICKET.match(one) or _EMOJI.match(one)
        )
        yield Learned(HISTORY, "commit messages", text, PLACE, quote=example[:200], kind=OBSERVATION)


def _prefixes(branches: list[str]) -> Iterator[Learned]:
    counts: dict[str, int] = {}
    for name in branches:
        if found := _PREFIX.match(name):
            counts[found.group(1)] = counts.get(found.group(1), 0) + 1
    if len(branches) >= _BRANCHES and sum(counts.values()) >= _SHARE * len(branches):
        usual = sorted(counts, key=lambda name: (-counts[name], name))[:3]
        text = f"Branches are named {', '.join(f'{one}/…' for one in sorted(usual))}"
        yield Learned(HISTORY, "branch names", text, PLACE, kind=OBSERVATION)
