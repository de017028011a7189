"""Adding an agent takes one folder: no other code names an agent."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import told
from told.agents import installed_agents

SOURCE = Path(told.__file__).parent
# Examples in help texts and generated settings.
ALLOWED = {
    ("cli/connect/install.py", "codex"),
    ("settings/write.py", "codex"),
    ("settings/__init__.py", "codex"),
    ("mcp/server.py", "cursor"),  # a page in a list
    # What agent-memory's sessions are of, if a client does not say.
    ("server/agent_memory/models.py", "claude-code"),
    ("store/postgres/agent_memory/observations.py", "claude-code"),
    ("store/postgres/agent_memory/sessions.py", "claude-code"),
}
WORDS = {"continue", "cursor", "generic"}  # other meanings: not searched for in longer strings
NAMES = set(installed_agents()) - {"generic"}
LABELS = {agent.label for agent in installed_agents().values()} - {"generic"}
MAX_TEXT = 10_000  # longer strings are word lists


def is_inside_agent(path: Path) -> bool:
    """Tell whether a file belongs to one agent's folder."""
    return path.parent.parent == SOURCE / "agents"


def find_texts(tree: ast.AST) -> Iterator[str]:
    """Yield the strings of a module, without docstrings."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and node.body
        if isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def find_names(text: str) -> set[str]:
    """Return the agents that a string names."""
    tokens = set(re.findall(r"[\w-]+", text)) if len(text) < MAX_TEXT else set()
    return ({text} & (NAMES | LABELS)) | (tokens & NAMES - WORDS)


def test_code_outside_an_agents_folder_names_no_agent() -> None:
    named = re.compile("|".join(map(re.escape, NAMES | LABELS)))
    found = set()
    for path in SOURCE.rglob("*.py"):
        source = path.read_text()
        if not is_inside_agent(path) and named.search(source):
            place = path.relative_to(SOURCE).as_posix()
            found |= {(place, name) for text in find_texts(ast.parse(source)) for name in find_names(text)}
    assert found == ALLOWED


def test_no_code_outside_agents_imports_one_agent() -> None:
    packages = "|".join(path.parent.name for path in (SOURCE / "agents").glob("*/__init__.py"))
    imported = re.compile(rf"told\.agents\.(?:{packages})\b|from told\.agents import[^\n]*\b(?:{packages})\b")
    found = [
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if not is_inside_agent(path) and imported.search(path.read_text())
    ]
    assert found == []
