"""Find the branches and environments that a rule means and a command acts on."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from functools import cache

from told.hook.guard import load_table, load_words
from told.hook.guard.pattern import Call
from told.hook.guard.script import Command
from told.ingest.projects import find_git_root
from told.pattern import lazy_pattern

BRANCH, ENVIRONMENT = "branch", "environment"
_WORD = lazy_pattern(r"[a-z]+|\d+")
_SPOKEN = ("test", "local")  # in a rule, these are seldom the name of an environment
_HEAD = "ref: refs/heads/"


def find_branches(words: list[str]) -> frozenset[str]:
    """Return the branches that a rule names; each of them may be a glob."""
    found: set[str] = set()
    articles = load_words("words", "branch_articles") | load_words("words", "fillers")
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        is_named = following in ("branch", "branches")
        if word in load_words("words", "protected_words") and is_named:
            found |= load_words("words", "protected")
        elif word in _groups("branches"):
            found |= _groups("branches")[word] | ({f"{word}/*", f"{word}-*"} if is_named else set())
        elif (is_named and word and word not in articles and not word.startswith("-")) or "/" in word:
            found |= {word, f"{word}/*", f"{word}-*"}
    return frozenset(found)


def find_environments(words: list[str]) -> frozenset[str]:
    """Return the environments that a rule names, in all spellings."""
    groups = {word: names for word, names in _groups("environments").items() if names.isdisjoint(_SPOKEN)}
    return frozenset(name for word in words if word in groups for name in groups[word])


def on_branch(call: Call, command: Command, cwd: str, wanted: frozenset[str]) -> bool | None:
    """Tell whether a command acts on one of the branches; None if that is not known."""
    if call.operands[:1] == ("merge",) and any(
        fnmatchcase(one, name) for one in call.operands[1:] for name in wanted
    ):
        return False  # `git merge main` changes another branch
    branches = _acted_on(call, command, cwd)
    if branches is None:
        return None
    return any(fnmatchcase(one, name) for one in branches for name in wanted)


def in_environment(call: Call, command: Command, wanted: frozenset[str]) -> bool | None:
    """Tell whether a command acts on one of the environments; None if that is not known."""
    values = [value for _, value in call.options if " " not in value]
    text = (
        " ".join([*command.variables, command.folder, command.context, *values]).lower().replace("/dev/", "")
    )
    named = {word for word in _WORD.findall(text.replace("_", " ")) if word in _groups("environments")}
    if named & wanted:
        return True if named <= wanted else None
    return False if named else None


def _acted_on(call: Call, command: Command, cwd: str) -> set[str] | None:
    """Return the branches that a command changes, and a push's remote."""
    if call.program != "git":
        return None
    subcommand, *operands = call.operands or ("",)
    if subcommand == "push":
        if call.has("--all", "--mirror", "--branches"):
            return None
        names = {one.lstrip("+").rpartition(":")[2].removeprefix("refs/heads/") for one in operands[1:]}
        if not names - {"HEAD", "@"}:
            current = _current_branch(call, command, cwd)
            return {current, *operands[:1]} if current else None
        return {one.lower() for one in names | set(operands[:1])}
    if subcommand in ("branch", "tag", "checkout", "switch") and operands:
        return {one.lower() for one in operands}
    if subcommand == "rebase" and len(operands) > 1:
        return {operands[1].lower()}
    current = _current_branch(call, command, cwd)
    return {current} if current else None


def _current_branch(call: Call, command: Command, cwd: str) -> str:
    """Return the branch that is checked out; empty if that is not known."""
    if command.branch:
        return command.branch.lower()
    folders = [cwd, command.folder, *(value for name, value in call.options if name == "-C")]
    root = find_git_root(os.path.join(*(os.path.expanduser(one) for one in folders if one))) if cwd else ""
    if not root:
        return ""
    try:
        place = os.path.join(root, ".git")
        if os.path.isfile(place):  # a worktree
            with open(place, encoding="utf-8") as file:
                place = os.path.join(root, file.readline().partition("gitdir: ")[2].strip())
        with open(os.path.join(place, "HEAD"), encoding="utf-8") as file:
            head = file.readline().strip()
    except (OSError, UnicodeDecodeError):
        return ""
    return head.removeprefix(_HEAD).lower() if head.startswith(_HEAD) else ""


@cache
def _groups(name: str) -> dict[str, frozenset[str]]:
    lines = [line.split() for line in load_table("words")[name]]
    return {word: frozenset(line) for line in lines for word in line}
