"""The commands that a project defines for itself: scripts, targets, recipes and tasks, by their names."""

from __future__ import annotations

import re

from told.memory._onboard_data import json_of, toml_of
from told.memory._onboard_learned import COMMANDS, Learned, from_line, ticked
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from told.memory._onboard_files import Document, Tree

_USUAL_WORDS = """
all bench benchmark bootstrap build check ci clean compile coverage deploy dev develop docs e2e fix fmt format
generate gen help init install integration lint migrate package prepare preview publish release run serve
setup start storybook style test tests typecheck types unit up validate verify watch
"""
_USUAL = frozenset(_USUAL_WORDS.split())
MAKEFILES = ("Makefile", "GNUmakefile", "makefile")
_JUSTFILES = ("justfile", "Justfile", ".justfile")
_TASKFILES = ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml")
_TARGET = re.compile(r"([A-Za-z0-9][\w./ -]{0,120}?)\s*::?(?!=)(?:\s|$)")
_RECIPE = re.compile(r"@?([a-zA-Z_][\w-]{0,60})(?:\s[^:=]{0,200})?:(?!=)")
_TASK = re.compile(r"  ([A-Za-z][\w:.-]{0,60}):\s*(.*)$")
_ENVIRONMENTS = re.compile(r"\s*env_?list\s*=\s*(.*)$")
_SESSION = re.compile(r"def\s+(\w{1,60})\s*\(")
_LOCKS = (
    ("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"), ("bun.lock", "bun"), ("bun.lockb", "bun"),
    ("package-lock.json", "npm"), ("npm-shrinkwrap.json", "npm"),
)  # fmt: skip
_MOST = 14  # commands of a file that are told one by one
_MOST_NAMED = 30


@record
class Task:
    """A command that a file defines."""

    runner: str  # what stands before its name: `npm run`, `make`
    name: str
    does: str  # empty if it is not plain
    document: Document
    line: int


def learn_tasks(tree: Tree) -> Iterator[Learned]:
    """Yield the usual commands one by one, and the names of the others."""
    groups: dict[str, list[Task]] = {}
    for task in tasks_of(tree):
        groups.setdefault(task.document.path, []).append(task)
    for path, found in groups.items():
        told = [one for one in found if _is_usual(one.name)][:_MOST]
        for one in told:
            command = ticked(f"{one.runner} {one.name}")
            text = f"{command} runs {ticked(one.does)}" if one.does else f"There is a command {command}"
            yield from_line(COMMANDS, f"task {one.name}", f"{text} ({path})", one.document, one.line)
        others = [one for one in found if one not in told]
        if others:
            names = ", ".join(ticked(one.name) for one in others[:_MOST_NAMED])
            text = f"Other commands of {path} (`{others[0].runner} NAME`): {names}"
            yield from_line(COMMANDS, "other tasks", text, others[0].document, others[0].line)


def tasks_of(tree: Tree) -> list[Task]:
    """Return every command that the files in the project's own folder define."""
    found = [
        *_scripts(tree),
        *targets_of(tree.first(*MAKEFILES)),
        *_recipes(tree),
        *_python(tree),
        *_yaml_tasks(tree),
    ]
    once: dict[tuple[str, str], Task] = {}
    for one in found:
        once.setdefault((one.runner, one.name), one)
    return list(once.values())


def package_manager(tree: Tree) -> str:
    """Return the package manager of a project for Node: what package.json names, else what locked it."""
    named = json_of(tree.document("package.json")).get("packageManager")
    if isinstance(named, str) and named.partition("@")[0].isalnum():
        return named.partition("@")[0]
    present = set(tree.top())
    return next((manager for name, manager in _LOCKS if name in present), "npm")


def _is_usual(name: str) -> bool:
    parts = re.split(r"[:._/-]", name.lower())
    return parts[0] in _USUAL or (parts[-1] in _USUAL and len(parts) < 3)


def _scripts(tree: Tree) -> Iterator[Task]:
    named = (("package.json", package_manager(tree)), ("composer.json", "composer"))
    for path, manager in named:
        yield from scripts_of(tree.document(path), "scripts", f"{manager} run")
    for path in ("deno.json", "deno.jsonc"):
        yield from scripts_of(tree.document(path), "tasks", "deno task")


def scripts_of(document: Document | None, key: str, runner: str) -> Iterator[Task]:
    """Yield the commands that a JSON file lists under a key."""
    scripts = json_of(document).get(key)
    if document is None or not isinstance(scripts, dict):
        return
    begin = document.line_with(f'"{key}"')
    for name, does in scripts.items():
        if name and isinstance(name, str) and not name.startswith("//"):
            said = does if isinstance(does, str) else ""
            yield Task(runner, name, said, document, document.line_with(f'"{name}"', begin))


def targets_of(document: Document | None) -> Iterator[Task]:
    """Yield the targets of a makefile."""
    if document is None:
        return
    for number, line in enumerate(document.lines):
        target = _TARGET.match(line)
        if target is None:
            continue
        does = _first_line_below(document, number, ("\t",))
        for name in target.group(1).split():
            if "%" not in name and "=" not in name:
                yield Task("make", name, does, document, number + 1)


def _recipes(tree: Tree) -> Iterator[Task]:
    document = tree.first(*_JUSTFILES)
    if document is None:
        return
    for number, line in enumerate(document.lines):
        recipe = _RECIPE.match(line)
        if recipe and not line.startswith(("set ", "export ", "alias ", "import ", "mod ")):
            does = _first_line_below(document, number, (" ", "\t"))
            yield Task("just", recipe.group(1), does, document, number + 1)


def _first_line_below(document: Document, number: int, indents: tuple[str, ...]) -> str:
    for line in document.lines[number + 1 : number + 4]:
        if not line.startswith(indents):
            break
        does = line.strip().lstrip("@-").strip()
        if does and not does.startswith("#"):
            return does
    return ""


def _python(tree: Tree) -> Iterator[Task]:
    project = tree.document("pyproject.toml")
    tools: Any = toml_of(project).get("tool")
    tools = tools if isinstance(tools, dict) else {}
    for runner, path in (("poe", ("poe", "tasks")), ("pdm run", ("pdm", "scripts")),
                         ("rye run", ("rye", "scripts"))):  # fmt: skip
        below: Any = tools
        for key in path:
            below = below.get(key) if isinstance(below, dict) else None
        if project is not None and isinstance(below, dict):
            begin = project.line_with(f"[tool.{'.'.join(path)}")
            for name, does in below.items():
                yield Task(runner, name, does if isinstance(does, str) else "", project,
                           project.line_with(name, begin))  # fmt: skip
    tox = tree.document("tox.ini")
    if tox is not None:
        for number, line in enumerate(tox.lines):
            listed = _ENVIRONMENTS.match(line)
            if listed:
                names = re.findall(r"[\w.{}-]+", " ".join([listed.group(1), *_indented(tox, number)]))
                yield from (Task("tox -e", name, "", tox, number + 1) for name in names if "{" not in name)
                break
    nox = tree.document("noxfile.py")
    if nox is not None:
        for number, line in enumerate(nox.lines):
            made = _SESSION.match(line)
            if made and any("session" in above for above in nox.lines[max(0, number - 4) : number]):
                yield Task("nox -s", made.group(1), "", nox, number + 1)


def _indented(document: Document, number: int) -> list[str]:
    found = []
    for line in document.lines[number + 1 : number + 40]:
        if not line.startswith((" ", "\t")):
            break
        found.append(line.strip())
    return found


def _yaml_tasks(tree: Tree) -> Iterator[Task]:
    document = tree.first(*_TASKFILES)
    if document is None:
        return
    inside = False
    for number, line in enumerate(document.lines):
        if line[:1].strip():
            inside = line.startswith("tasks:")
        task = _TASK.match(line) if inside else None
        if task:
            yield Task("task", task.group(1), task.group(2).strip(" '\""), document, number + 1)
