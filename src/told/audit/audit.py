"""Find memories that have become wrong or redundant; change nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from shlex import quote

from told.audit.pairs import (
    COMMAND,
    EXPIRED,
    FADED,
    GONE,
    HOST,
    KINDS,
    PATTERNS,
    PROGRAM,
    STALE,
    Finding,
    compare_memories,
    compare_with_files,
    propose_change,
    reject_command,
)
from told.capture.entities import find_triggers
from told.onboard.files import Document, ProjectFiles
from told.onboard.instructions import find_instruction_files, parse_instructions
from told.onboard.onboard import plan_onboarding, read_project, source_file_of
from told.onboard.tasks import MAKEFILES, find_tasks, parse_table, parse_targets
from told.pattern import lazy_pattern
from told.recall.filters import MIN_CONFIDENCE
from told.store.memories.protocol import Memories
from told.store.memories.records import (
    ACTIVE,
    GLOBAL,
    PRIVATE,
    TOOL,
    USER,
    Memory,
    private_scope,
    project_key,
)

_MAX_MEMORIES = 3000  # newest first
_PROGRAM_FOLDERS = (
    "node_modules/.bin", ".venv/bin", "venv/bin", ".venv/Scripts", "vendor/bin", "bin", "scripts",
)  # fmt: skip
_SECRET_FILES = (".env", ".env.local", ".env.development", ".env.production", ".envrc")
_MAX_MANIFESTS = 60
_MAX_HOSTS = 8

_SAYS_GONE, _SAYS_WHERE = PATTERNS["says_gone"], PATTERNS["says_where"]
_EXAMPLE, _PLACEHOLDER, _NEGATION = PATTERNS["example"], PATTERNS["placeholder"], PATTERNS["discourages"]
_HOST_NAME, _RUN_SCRIPT = PATTERNS["host_name"], PATTERNS["run_script"]
_OPERATOR = lazy_pattern(r"\s*(?:&&|\|\||;|\|)\s*")
_RUNNERS = ("make", "just", "task", "poe")
_RUNNER_FLAGS = {"tox": "-e", "nox": "-s"}


@dataclass(frozen=True, slots=True)
class AuditResult:
    """The findings of an audit."""

    looked: int  # memories
    findings: tuple[Finding, ...]
    left: int = 0  # older memories that were not checked
    elsewhere: int = 0  # memories of projects that are not on this machine


class ProjectState:
    """What exists in a project, what existed once, and what its files define."""

    def __init__(
        self, tree: ProjectFiles, touched: Iterable[str], search_path: str, notes: Sequence[Document] = ()
    ) -> None:
        """Create a state from the files, the paths that sessions touched, the PATH, and agents' own notes."""
        self.tree = tree
        self.notes = notes
        self._touched = {self.relative_path(path) for path in touched} - {""}
        self._search_path = search_path
        self._lost_hosts: dict[str, bool] = {}

    def relative_path(self, path: str) -> str:
        """Return a path relative to the project; empty if it is outside."""
        if not os.path.isabs(path):
            return path.removeprefix("./").rstrip("/")
        root = self.tree.root.rstrip(os.sep) + os.sep
        return path[len(root) :].rstrip("/") if path.startswith(root) else ""

    def exists(self, path: str) -> bool:
        """Return whether a path exists, also within another folder."""
        return self.tree.exists(path) or any(_is_part(path, one) for one in self.tree.files)

    def describe_former(self, path: str) -> str:
        """Describe how a path is known to have existed; empty if it is not."""
        days = [day for one, day in self._deleted.items() if _is_part(path, one)]
        if days:
            return f"was deleted on {max(days)}"
        if any(_is_part(path, one) for one in self._touched):
            return "was worked on in a session, and is gone"
        return ""

    def find_moved(self, path: str) -> str:
        """Return the only file that now has the path's name."""
        name = path.rpartition("/")[2]
        found = [one for one in self.tree.files if one.rpartition("/")[2] == name]
        return found[0] if len(found) == 1 and "." in name else ""

    def defines(self, runner: str, name: str) -> bool | None:
        """Return whether a task is defined; None if the runner has no tasks here."""
        known = self._tasks.get(runner)
        return None if not known else name in known

    def has_program(self, program: str) -> bool:
        """Return whether a program is on the PATH or in the project."""
        if shutil.which(program, path=self._search_path):
            return True
        return any(self.tree.exists(f"{folder}/{program}") for folder in _PROGRAM_FOLDERS)

    def is_lost_host(self, host: str) -> bool:
        """Return whether the project's files named a host once but no longer do."""
        if host not in self._lost_hosts and len(self._lost_hosts) < _MAX_HOSTS:
            documents = map(self.tree.document, _SECRET_FILES)
            is_secret = any(document and host in document.text.lower() for document in documents)
            git = self.tree.git
            self._lost_hosts[host] = (
                not is_secret and git.is_in_files(host) is False and git.is_in_history(host) is True
            )
        return self._lost_hosts.get(host, False)

    @cached_property
    def _deleted(self) -> dict[str, str]:
        return self.tree.git.deleted_paths()

    @cached_property
    def _tasks(self) -> dict[str, set[str]]:
        tree = self.tree
        manifests = [path for path in tree.files if path.endswith("/package.json")][:_MAX_MANIFESTS]
        makefiles = [
            path for path in tree.files if path.endswith(".mk") or os.path.basename(path) in MAKEFILES
        ]
        documents = [tree.document(path) for path in makefiles[:_MAX_MANIFESTS]]
        found: dict[str, set[str]] = {}
        for task in (
            *find_tasks(tree),
            *(task for path in manifests for task in parse_table(tree.document(path), "run", "scripts")),
            *(task for document in documents for task in parse_targets(document)),
        ):
            runner = "run" if task.runner.endswith(" run") else task.runner
            found.setdefault(runner, set()).add(task.name)
        if any(one is not None and "%:" in one.text for one in documents):
            found.pop("make", None)  # a pattern rule may make anything
        return found


def _is_part(path: str, whole: str) -> bool:
    return f"/{whole}".endswith(f"/{path}") or f"/{path}/" in f"/{whole}"


def audit(
    memories: Memories, scopes: Sequence[str], projects: Mapping[str, ProjectState], now: int, *,
    redact: Callable[[str], str], key: bytes,
) -> AuditResult:  # fmt: skip
    """Check the active memories of some scopes, or of all, against the projects on this machine."""
    rows = memories.listed(scopes=scopes)
    loaded = memories.load(rows[:_MAX_MEMORIES])
    every = [loaded[row] for row in rows[:_MAX_MEMORIES] if row in loaded]
    said = [one for one in every if not source_file_of(one)]
    found = [*_check_age(every, now), *compare_memories([one for one in said if not _is_expired(one, now)])]
    for scope, project in projects.items():
        for one in said:
            if one.scope in (scope, private_scope(scope)):
                found += _find_missing_names(one, project)
        documents = [*find_instruction_files(project.tree), *project.notes]
        instructions = [one for document in documents for one in parse_instructions(document, 0.0)]
        applying = (scope, GLOBAL, private_scope(scope), PRIVATE)
        # Agents are never shown what came from a tool, so a file cannot repeat it.
        shown = [one for one in said if one.scope in applying and one.trust != TOOL]
        found += (_date(one, project.tree) for one in compare_with_files(shown, instructions, documents))
        if any(one.scope == scope and source_file_of(one) for one in every):
            facts = read_project(project.tree, redact)
            plan = plan_onboarding(memories, facts, scope, key, now)
            changed = [one.instead for one in plan.new if one.instead]
            for old in (one for one in (*plan.gone, *changed) if one.status == ACTIVE):
                where = source_file_of(old).rpartition("#")[0]
                found.append(Finding(STALE, old, "{} no longer says so.", where, do=("told onboard",)))
    known = {project_key(scope) for scope in projects}
    elsewhere = sum(bool(project_key(one.scope)) and project_key(one.scope) not in known for one in every)
    unique = {(one.what, one.memory.id, one.name, one.other.id if one.other else ""): one for one in found}
    ordered = sorted(unique.values(), key=lambda one: (
        KINDS.index(one.what), not one.sure, one.memory.created, one.memory.number, one.memory.id, one.name,
        one.other.id if one.other else "",
    ))  # fmt: skip
    return AuditResult(len(every), tuple(ordered), max(0, len(rows) - _MAX_MEMORIES), elsewhere)


def _date(finding: Finding, tree: ProjectFiles) -> Finding:
    """Say which is newer, a file that contradicts a memory or the memory."""
    if finding.instruction is None:
        return finding
    file = finding.instruction.document
    at = 0 if file.place else tree.git.changed_at(file.path)
    if not at:
        with suppress(OSError):
            at = os.stat(file.place or os.path.join(tree.root, file.path)).st_mtime_ns // 1_000_000
    said = max((place.at for place in finding.memory.evidence), default=finding.memory.created)
    return replace(finding, newer=("file" if at > said else "memory") if at else "")


def _check_age(every: Sequence[Memory], now: int) -> Iterator[Finding]:
    for one in every:
        if _is_expired(one, now):
            yield Finding(EXPIRED, one, "It expired; it is no longer shown.", do=(reject_command(one),))
        elif not one.locked and one.confidence < MIN_CONFIDENCE:
            cases = (f"if it is right: told confirm {one.id}", f"if not: {reject_command(one)}")
            why = f"It did not help: confidence {one.confidence:.2f}. It is no longer shown."
            yield Finding(FADED, one, why, do=cases)


def _is_expired(memory: Memory, now: int) -> bool:
    return bool(memory.expires) and memory.expires <= now


def _find_missing_names(memory: Memory, project: ProjectState) -> Iterator[Finding]:
    named = [(one.kind, one.value) for one in (*find_triggers(memory.text), *memory.triggers)]
    paths = dict.fromkeys(value for kind, value in named if kind == "path")
    commands = list(dict.fromkeys(value for kind, value in named if kind == "command"))
    if not _SAYS_GONE.search(memory.text):
        for path in paths:
            yield from _check_path(memory, path, project)
        for host in dict.fromkeys(match.group(1).lower() for match in _HOST_NAME.finditer(memory.text)):
            if not host.startswith("example.") and ".example." not in host and project.is_lost_host(host):
                why = "{} was in files of the project; no file has it now."
                yield Finding(HOST, memory, why, host, do=propose_change(memory))
    yield from _check_tasks(memory, commands, project)


def _check_path(memory: Memory, given: str, project: ProjectState) -> Iterator[Finding]:
    path = _checkable_path(given, project)
    if not path or project.exists(path):
        return
    moved = project.find_moved(path)
    actions = propose_change(memory)
    if moved and memory.trust == USER and given in memory.text and moved not in memory.text:
        actions = (f"told correct {memory.id} {quote(memory.text.replace(given, moved))}",)
    former = project.describe_former(path)
    if former:
        yield Finding(GONE, memory, f"{{}} {former}.", given, do=actions)
    elif (
        "/" in path
        and "." in os.path.basename(path).strip(".")
        and _SAYS_WHERE.search(memory.text)
        and not _EXAMPLE.search(memory.text)
        and not _NEGATION.search(memory.text)
    ):
        why = "{} is not in this project, and never was as far as told knows."
        yield Finding(GONE, memory, why, given, do=actions, sure=False)


def _checkable_path(given: str, project: ProjectState) -> str:
    """Return a path in the project; empty for a pattern, an example or another place."""
    if any(sign in given for sign in "*<>{}$%…|") or given.startswith("~") or ".." in given.split("/"):
        return ""
    path = project.relative_path(given.rstrip(".,:;/"))
    is_url = "/" in path and _HOST_NAME.fullmatch(path.partition("/")[0])
    return "" if not path or _PLACEHOLDER.search(path) or is_url else path


def _check_tasks(memory: Memory, commands: list[str], project: ProjectState) -> Iterator[Finding]:
    seen: set[tuple[str, str]] = set()
    for runner, name, call in _find_task_calls(memory.text, commands):
        if (runner, name) not in seen and project.defines(runner, name) is False:
            seen.add((runner, name))
            why = "{} is not defined in this project (any more)."
            yield Finding(COMMAND, memory, why, call, do=propose_change(memory))
    if _NEGATION.search(memory.text):
        return
    for command in commands:
        program = next((word for word in command.split() if "=" not in word), "")
        if program.isalnum() and ("", program) not in seen and not project.has_program(program):
            seen.add(("", program))
            why = "{} is neither on this machine's PATH nor in the project."
            yield Finding(PROGRAM, memory, why, program, do=propose_change(memory), sure=False)


def _find_task_calls(text: str, commands: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (runner, name, the call) of every script or target that is called."""
    for match in _RUN_SCRIPT.finditer(text):
        yield "run", match.group(1) or match.group(2), match.group()
    for words in (part.split() for command in commands for part in _OPERATOR.split(command)):
        runner = words[0] if words else ""
        if runner in _RUNNERS and not any(word.startswith("-") for word in words):
            names = [word for word in words[1:] if "=" not in word]
            # Only make takes several targets; others pass the rest on as arguments.
            for name in names if runner == "make" else names[:1]:
                yield runner, name, f"{runner} {name}"
        elif runner in _RUNNER_FLAGS and len(words) > 2 and words[1] == _RUNNER_FLAGS[runner]:
            yield f"{runner} {words[1]}", words[2], " ".join(words[:3])
