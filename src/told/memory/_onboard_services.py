"""What runs around a project: its continuous integration, its services and ports, its variables by name."""

from __future__ import annotations

import re

from told.memory._onboard_learned import COMMANDS, ENVIRONMENT, Learned, from_line, ticked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.memory._onboard_files import Document, Tree

_WORKFLOWS = (".github/workflows/*.yml", ".github/workflows/*.yaml")
_CHECKS = re.compile(r"(?i)[/._-](ci|tests?|build|lint|checks?|main|pull|pr|quality|verify)[._-]")
_OTHER_CI = (".gitlab-ci.yml", "azure-pipelines.yml", ".circleci/config.yml", ".travis.yml")
_COMPOSE = ("docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml")
_EXAMPLES = (".env.example", ".env.sample", ".env.template", ".env.dist", "env.example", "example.env")
_RUN = re.compile(r"(\s*(?:-\s+)?)run:\s*(.*)$")
_SCRIPT = re.compile(r"(\s*)(?:before_script|script|after_script):\s*$")
_ITEM = re.compile(r"(\s*)-\s+(.+)$")
_KEY = re.compile(r"(\s*)([\w.-]{1,80}):\s*(.*)$")
_PORT = re.compile(r"[\"']?([\d.:-]{1,40}(?:/(?:tcp|udp))?)[\"']?\s*(?:#.*)?$")
_IMAGE = re.compile(r"[\w./:@-]{1,120}$")
_VARIABLE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]{1,80})\s*=")
_COMMAND = re.compile(r"(?:\./)?[a-zA-Z][\w./+-]*(?:\s|$)")
_NO_COMMAND = (
    "echo ",
    "if ",
    "then",
    "else",
    "fi",
    "for ",
    "do",
    "done",
    "export ",
    "set ",
    "exit",
    "cat ",
    "printf ",
    "curl ",
    "EOF",
    "import ",
    "from ",
)
_MOST_WORKFLOWS = 6
_MOST_COMMANDS = 8
_MOST_NAMES = 40
_MOST_SERVICES = 20


def learn_services(tree: Tree) -> Iterator[Learned]:
    """Yield what continuous integration runs, which services there are, and which variables are named."""
    every = tree.like(*_WORKFLOWS)
    telling = [path for path in every if _CHECKS.search(path)] or every
    workflows = [*telling[:_MOST_WORKFLOWS], *_OTHER_CI]
    for document in filter(None, map(tree.document, workflows)):
        commands = list(_runs(document))
        once = list({command: line for line, command in reversed(commands)}.items())[::-1]
        if once:
            named = ", ".join(ticked(command) for command, _ in once[:_MOST_COMMANDS])
            yield from_line(COMMANDS, "ci", f"{document.path} (CI) runs {named}", document, once[0][1])
    compose = tree.first(*_COMPOSE)
    if compose is not None:
        yield from _services(compose)
    for document in filter(None, map(tree.document, _EXAMPLES)):
        found = [(n + 1, m.group(1)) for n, line in enumerate(document.lines) if (m := _VARIABLE.match(line))]
        if found:
            names = ", ".join(dict.fromkeys(name for _, name in found[:_MOST_NAMES]))
            text = f"{document.path} names the variables {names}"
            # Only names: what stands behind them may be somebody's.
            yield Learned(ENVIRONMENT, "variables", text, document.path, found[0][0], names[:400])


def _runs(document: Document) -> Iterator[tuple[int, str]]:
    """Yield the commands of a workflow with their lines: `run:` in one, as a block, or a `script:` list."""
    lines = document.lines
    for number, line in enumerate(lines):
        run, script = _RUN.match(line), _SCRIPT.match(line)
        if run and run.group(2).strip() not in ("", "|", "|-", ">", ">-", "|+"):
            block = [(number, run.group(2).strip().strip("\"'"))]
        elif run or script:
            start = len((run or script).group(1))  # type: ignore[union-attr]
            block = list(_indented(lines, number, start))
        else:
            continue
        for place, text in block:
            item = _ITEM.match(text)
            command = (item.group(2) if item and script else text).strip().strip("\"'")
            if _COMMAND.match(command) and not command.startswith(_NO_COMMAND) and "${{" not in command:
                yield place + 1, command.rstrip("\\ ")


def _indented(lines: tuple[str, ...], number: int, start: int) -> Iterator[tuple[int, str]]:
    goes_on = False
    for place in range(number + 1, min(len(lines), number + 40)):
        text = lines[place]
        if text.strip() and len(text) - len(text.lstrip()) <= start:
            return
        if text.strip() and not goes_on:
            yield place, text.strip()
        goes_on = text.rstrip().endswith("\\")


def _services(document: Document) -> Iterator[Learned]:
    """Yield one line about the services of a compose file."""
    begin = document.line_with("services:")
    indent, service = 0, ""
    found: dict[str, list[str]] = {}
    in_ports = 0
    for line in document.lines[begin:]:
        depth = len(line) - len(line.lstrip())
        if line.strip() and not depth:
            break
        key, item = _KEY.match(line), _ITEM.match(line)
        if key and not item:
            indent = indent or depth
            in_ports = 0
            if depth == indent:
                service = key.group(2)
                found.setdefault(service, [])
            elif service and key.group(2) == "image" and _IMAGE.match(key.group(3).strip("\"'")):
                found[service].insert(0, key.group(3).strip("\"'"))
            elif service and key.group(2) == "ports":
                in_ports = depth
        elif item and in_ports and service:
            port = _PORT.match(item.group(2))
            found[service] += [f"port {port.group(1)}"] if port else []
    if not begin or not found:
        return
    told = [f"{name} ({', '.join(about[:6])})" if about else name for name, about in found.items()]
    text = f"{document.path} has the services {', '.join(told[:_MOST_SERVICES])}"
    yield from_line(ENVIRONMENT, "services", text, document, begin)
