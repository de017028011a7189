"""Read the commands that a project defines, and those that its CI runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from told.onboard.files import (
    COMMANDS,
    Document,
    ProjectFact,
    ProjectFiles,
    fact_from_line,
    get_nested,
    load_names,
    parse_json,
    parse_toml,
    quote_command,
)
from told.pattern import lazy_pattern

_COMMON_TASKS = frozenset(load_names()["common_tasks"].split())
MAKEFILES = ("Makefile", "GNUmakefile", "makefile")
_JUSTFILES = ("justfile", "Justfile", ".justfile")
_TASKFILES = ("Taskfile.yml", "Taskfile.yaml", "taskfile.yml")
_TARGET = lazy_pattern(r"([A-Za-z0-9][\w./ -]{0,120}?)\s*::?(?!=)(?:\s|$)")
_RECIPE = lazy_pattern(r"@?([a-zA-Z_][\w-]{0,60})(?:\s[^:=]{0,200})?:(?!=)")
_TASK = lazy_pattern(r"  ([A-Za-z][\w:.-]{0,60}):\s*(.*)$")
_ENVIRONMENTS = lazy_pattern(r"\s*env_?list\s*=\s*(.*)$")
_SESSION = lazy_pattern(r"def\s+(\w{1,60})\s*\(")
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
    found = [
        *_scripts(tree),
        *parse_targets(tree.first(*MAKEFILES)),
        *_recipes(tree),
        *_python(tree),
        *_yaml_tasks(tree),
    ]
    once: dict[tuple[str, str], Task] = {}
    for one in found:
        once.setdefault((one.runner, one.name), one)
    return list(once.values())


def package_manager(tree: ProjectFiles) -> str:
    """Return the Node package manager, by package.json or the lock file."""
    named = parse_json(tree.document("package.json")).get("packageManager")
    if isinstance(named, str) and named.partition("@")[0].isalnum():
        return named.partition("@")[0]
    present = set(tree.list_root())
    return next((manager for name, manager in load_names()["node_locks"].items() if name in present), "npm")


def _is_common(name: str) -> bool:
    parts = re.split(r"[:._/-]", name.lower())
    return parts[0] in _COMMON_TASKS or (parts[-1] in _COMMON_TASKS and len(parts) < 3)


def _scripts(tree: ProjectFiles) -> Iterator[Task]:
    yield from parse_scripts(tree.document("package.json"), "scripts", f"{package_manager(tree)} run")
    yield from parse_scripts(tree.document("composer.json"), "scripts", "composer run")
    for path in ("deno.json", "deno.jsonc"):
        yield from parse_scripts(tree.document(path), "tasks", "deno task")


def parse_scripts(document: Document | None, key: str, runner: str) -> Iterator[Task]:
    """Yield the scripts below a key of a JSON file."""
    scripts = parse_json(document).get(key)
    if document is None or not isinstance(scripts, dict):
        return
    begin = document.find_line(f'"{key}"')
    for name, does in scripts.items():
        if name and isinstance(name, str) and not name.startswith("//"):
            said = does if isinstance(does, str) else ""
            yield Task(runner, name, said, document, document.find_line(f'"{name}"', begin))


def parse_targets(document: Document | None) -> Iterator[Task]:
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


def _recipes(tree: ProjectFiles) -> Iterator[Task]:
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


def _python(tree: ProjectFiles) -> Iterator[Task]:
    project = tree.document("pyproject.toml")
    runners = (("poe", "poe", "tasks"), ("pdm run", "pdm", "scripts"), ("rye run", "rye", "scripts"))
    for runner, tool, key in runners:
        scripts = get_nested(parse_toml(project), "tool", tool, key)
        if project is None or not isinstance(scripts, dict):
            continue
        for name, does in scripts.items():
            at = project.find_line(name, project.find_line(f"[tool.{tool}.{key}"))
            yield Task(runner, name, does if isinstance(does, str) else "", project, at)
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


def _yaml_tasks(tree: ProjectFiles) -> Iterator[Task]:
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
    for number, line in enumerate(lines):
        run, script = _RUN.match(line), _SCRIPT_LIST.match(line)
        if run and run.group(2).strip() not in ("", "|", "|-", ">", ">-", "|+"):
            block = [(number, run.group(2).strip().strip("\"'"))]
        elif run or script:
            start = len((run or script).group(1))  # type: ignore[union-attr]
            block = list(_block_lines(lines, number, start))
        else:
            continue
        for place, text in block:
            item = _ITEM.match(text)
            command = (item.group(2) if item and script else text).strip().strip("\"'")
            if _COMMAND.match(command) and not command.startswith(_NOT_COMMANDS) and "${{" not in command:
                yield place + 1, command.rstrip("\\ ")


def _block_lines(lines: tuple[str, ...], number: int, start: int) -> Iterator[tuple[int, str]]:
    goes_on = False
    for place in range(number + 1, min(len(lines), number + 40)):
        text = lines[place]
        if text.strip() and len(text) - len(text.lstrip()) <= start:
            return
        if text.strip() and not goes_on:
            yield place, text.strip()
        goes_on = text.rstrip().endswith("\\")
