"""Read the commands that a project defines, and those that its CI runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from told.onboard.files import (
    COMMANDS,
    Document,
    ProjectFact,
    ProjectFiles,
    fact_from_line,
    get_nested,
    load_names,
    parse_manifest,
    quote_command,
)
from told.pattern import lazy_pattern

_COMMON_TASKS = frozenset(load_names()["common_tasks"].split())
MAKEFILES = ("Makefile", "GNUmakefile", "makefile")
_TARGET = lazy_pattern(r"([A-Za-z0-9][\w./ -]{0,120}?)\s*::?(?!=)(?:\s|$)")
_RECIPE = lazy_pattern(
    r"(?!(?:set|export|alias|import|mod) )@?([a-zA-Z_][\w-]{0,60})(?:\s[^:=]{0,200})?:(?!=)"
)
_TASK = lazy_pattern(r"  ([A-Za-z][\w:.-]{0,60}):\s*(.*)$")
_ENVIRONMENTS = lazy_pattern(r"\s*env_?list\s*=")
_SESSION = lazy_pattern(r"def\s+(\w{1,60})\s*\(")
# Files with a task in a line: their names, what runs it, its pattern, and the section that it is in.
_LINE_FILES = (
    (MAKEFILES, "make", _TARGET, ""),
    (("justfile", "Justfile", ".justfile"), "just", _RECIPE, ""),
    (("Taskfile.yml", "Taskfile.yaml", "taskfile.yml"), "task", _TASK, "tasks:"),
)
# Files with a table of tasks: what runs one, and the keys of the table.
_TABLE_FILES = (
    ("composer.json", "composer run", "scripts"),
    ("deno.json", "deno task", "tasks"),
    ("deno.jsonc", "deno task", "tasks"),
    ("pyproject.toml", "poe", "tool.poe.tasks"),
    ("pyproject.toml", "pdm run", "tool.pdm.scripts"),
    ("pyproject.toml", "rye run", "tool.rye.scripts"),
)
_MAX_TASKS = 14  # of a file, described one by one
_MAX_NAMED = 30


@dataclass(frozen=True, slots=True)
class Task:
    """A command that a file defines."""

    runner: str  # such as `npm run` or `make`
    name: str
    does: str  # empty if unknown
    document: Document
    line: int


def learn_tasks(tree: ProjectFiles) -> Iterator[ProjectFact]:
    """Yield common tasks one by one, and the names of the others."""
    groups: dict[str, list[Task]] = {}
    for task in find_tasks(tree):
        groups.setdefault(task.document.path, []).append(task)
    for path, found in groups.items():
        told = [one for one in found if _is_common(one.name)][:_MAX_TASKS]
        for one in told:
            command = quote_command(f"{one.runner} {one.name}")
            text = (
                f"{command} runs {quote_command(one.does)}" if one.does else f"There is a command {command}"
            )
            yield fact_from_line(COMMANDS, f"task {one.name}", f"{text} ({path})", one.document, one.line)
        others = [one for one in found if one not in told]
        if others:
            names = ", ".join(quote_command(one.name) for one in others[:_MAX_NAMED])
            text = f"Other commands of {path} (`{others[0].runner} NAME`): {names}"
            yield fact_from_line(COMMANDS, "other tasks", text, others[0].document, others[0].line)


def find_tasks(tree: ProjectFiles) -> list[Task]:
    """Return all tasks that files in the root folder define."""
    found = list(parse_table(tree.document("package.json"), f"{package_manager(tree)} run", "scripts"))
    for names, runner, pattern, section in _LINE_FILES:
        found += _parse_lines(tree.first(*names), runner, pattern, section)
    for name, runner, keys in _TABLE_FILES:
        found += parse_table(tree.document(name), runner, keys)
    found += [*_parse_environments(tree.document("tox.ini")), *_parse_sessions(tree.document("noxfile.py"))]
    return list({(one.runner, one.name): one for one in reversed(found)}.values())[::-1]


def package_manager(tree: ProjectFiles) -> str:
    """Return the Node package manager, by package.json or the lock file."""
    named = parse_manifest(tree.document("package.json")).get("packageManager")
    if isinstance(named, str) and named.partition("@")[0].isalnum():
        return named.partition("@")[0]
    present = set(tree.list_root())
    return next((manager for name, manager in load_names()["node_locks"].items() if name in present), "npm")


def _is_common(name: str) -> bool:
    parts = re.split(r"[:._/-]", name.lower())
    return parts[0] in _COMMON_TASKS or (parts[-1] in _COMMON_TASKS and len(parts) < 3)


def parse_table(document: Document | None, runner: str, keys: str) -> Iterator[Task]:
    """Yield the tasks below some keys of a JSON or TOML file."""
    is_toml = document is not None and document.path.endswith(".toml")
    scripts = get_nested(parse_manifest(document), *keys.split("."))
    if document is None or not isinstance(scripts, dict):
        return
    begin = document.find_line(f"[{keys}" if is_toml else f'"{keys}"')
    for name, does in scripts.items():
        if name and not name.startswith("//"):
            line = document.find_line(name if is_toml else f'"{name}"', begin)
            yield Task(runner, name, does if isinstance(does, str) else "", document, line)


def parse_targets(document: Document | None) -> Iterator[Task]:
    """Yield the targets of a makefile."""
    return _parse_lines(document, "make", _TARGET)


def _parse_lines(
    document: Document | None, runner: str, pattern: re.Pattern[str], section: str = ""
) -> Iterator[Task]:
    inside = not section
    for number, line in enumerate(document.lines if document else (), 1):
        if section and line[:1].strip():
            inside = line.startswith(section)
        found = pattern.match(line) if inside else None
        if document is None or found is None:
            continue
        does = found[2].strip(" '\"") if section else _first_line_below(document, number)
        for name in found[1].split():
            if "%" not in name and "=" not in name:
                yield Task(runner, name, does, document, number)


def _first_line_below(document: Document, number: int) -> str:
    """Return the first command of a target or recipe."""
    commands = (line.strip().lstrip("@-").strip() for line in _list_indented(document, number)[:3])
    return next((one for one in commands if one and not one.startswith("#")), "")


def _list_indented(document: Document, number: int) -> list[str]:
    """Return the indented lines below a line."""
    return list(takewhile(lambda line: line.startswith((" ", "\t")), document.lines[number : number + 40]))


def _parse_environments(document: Document | None) -> Iterator[Task]:
    """Yield the environments of tox."""
    for number, line in enumerate(document.lines if document else (), 1):
        if document and _ENVIRONMENTS.match(line):
            names = " ".join([line.partition("=")[2], *_list_indented(document, number)])
            listed = re.findall(r"[\w.{}-]+", names)
            yield from (Task("tox -e", name, "", document, number) for name in listed if "{" not in name)
            return


def _parse_sessions(document: Document | None) -> Iterator[Task]:
    """Yield the sessions of nox."""
    for number, line in enumerate(document.lines if document else (), 1):
        made = _SESSION.match(line)
        if document and made and "session" in " ".join(document.lines[max(0, number - 5) : number - 1]):
            yield Task("nox -s", made.group(1), "", document, number)


_CHECK_WORKFLOW = lazy_pattern(r"(?i)[/._-](ci|tests?|build|lint|checks?|main|pull|pr|quality|verify)[._-]")
_OTHER_CI = (".gitlab-ci.yml", "azure-pipelines.yml", ".circleci/config.yml", ".travis.yml")
_RUN = lazy_pattern(r"(\s*(?:-\s+)?)run:\s*(.*)$")
_SCRIPT_LIST = lazy_pattern(r"(\s*)(?:before_script|script|after_script):\s*$")
_ITEM = lazy_pattern(r"(\s*)-\s+(.+)$")
_COMMAND = lazy_pattern(r"(?:\./)?[a-zA-Z][\w./+-]*(?:\s|$)")
_NOT_COMMANDS = (
    "echo ", "if ", "then", "else", "fi", "for ", "do", "done", "export ", "set ", "exit", "cat ", "printf ",
    "curl ", "EOF", "import ", "from ",
)  # fmt: skip
_MAX_WORKFLOWS = 6
_MAX_COMMANDS = 8


def learn_checks(tree: ProjectFiles) -> Iterator[ProjectFact]:
    """Yield the commands that CI runs."""
    every = tree.match(".github/workflows/*.yml", ".github/workflows/*.yaml")
    checks = [path for path in every if _CHECK_WORKFLOW.search(path)] or every
    for document in filter(None, map(tree.document, (*checks[:_MAX_WORKFLOWS], *_OTHER_CI))):
        lines = {command: line for line, command in reversed(list(_runs(document)))}
        commands = list(lines)[::-1][:_MAX_COMMANDS]
        if commands:
            text = f"{document.path} (CI) runs {', '.join(map(quote_command, commands))}"
            yield fact_from_line(COMMANDS, "ci", text, document, lines[commands[0]])


def _runs(document: Document) -> Iterator[tuple[int, str]]:
    """Yield line number and text of each command in a workflow."""
    lines = document.lines
    for number, line in enumerate(lines, 1):
        run, script = _RUN.match(line), _SCRIPT_LIST.match(line)
        found = run or script
        if run and run[2].strip() not in ("", "|", "|-", ">", ">-", "|+"):
            block = [(number, run[2])]
        elif found:
            block = list(_block_lines(lines, number, len(found[1])))
        else:
            continue
        for place, text in block:
            item = _ITEM.match(text) if script else None
            command = (item[2] if item else text).strip().strip("\"'")
            if _COMMAND.match(command) and not command.startswith(_NOT_COMMANDS) and "${{" not in command:
                yield place, command.rstrip("\\ ")


def _block_lines(lines: tuple[str, ...], number: int, indent: int) -> Iterator[tuple[int, str]]:
    """Yield the lines below a line that are indented more; a command that goes on counts once."""
    goes_on = False
    for place, text in enumerate(lines[number : number + 40], number + 1):
        if text.strip() and len(text) - len(text.lstrip()) <= indent:
            return
        if text.strip() and not goes_on:
            yield place, text.strip()
        goes_on = text.rstrip().endswith("\\")
