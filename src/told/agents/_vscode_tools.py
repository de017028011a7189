"""What tool calls of editors' agents say: one line about each, and the files it touched."""

from __future__ import annotations

import re

from told.agents._vscode_places import file_path
from told.agents.text import items, mapping, step, text
from told.guard.jsonl import parse
from told.model import AGENT, Said, Touch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_READ = ("readfile", "read", "view", "viewfile", "readnotebook")
_CREATE = ("createfile", "create", "write", "writefile", "writetofile", "createnewjupyternotebook")
_DELETE = ("deletefile", "delete", "deletepath", "removefile")
_EDIT = (
    "edit", "editfile", "insertedit", "inserteditintofile", "replacestring", "replacestringinfile",
    "multireplacestring", "multireplacestringinfile", "applypatch", "editnotebook", "editnotebookfile",
    "editfiles", "searchreplace", "strreplace", "strreplaceeditor", "multiedit", "multistrreplace",
    "replaceinfile", "insert", "insertline", "reapply", "applyagentdiff",
)  # fmt: skip
_HOW = {
    name: how
    for how, names in (("read", _READ), ("create", _CREATE), ("delete", _DELETE), ("edit", _EDIT))
    for name in names
}
_PATHS = (
    "filePath", "file_path", "path", "targetFile", "target_file", "relativeWorkspacePath", "uri",
    "target_notebook", "notebook_path", "filepath", "file", "rel_path", "abs_path",
)  # fmt: skip
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_PATCH_HOW = {"Add": "create", "Update": "edit", "Delete": "delete"}


def arguments_of(value: Any) -> dict[str, Any]:
    """Return a call's arguments, which many programs write down as JSON text."""
    return mapping(parse(value) if isinstance(value, str) else value)


def how_touched(tool: str) -> str:
    """Say what a tool of this name does to a file: read, edit, create or delete; empty if none of these."""
    name = re.sub(r"[^a-z]", "", re.sub(r"_?v\d+$", "", tool.lower()))
    return _HOW.get(name.removeprefix("copilot").removeprefix("vscode"), "")


def touched(tool: str, arguments: Any) -> list[tuple[str, str]]:
    """Return the files a call touched, each with what was done to it."""
    given = mapping(arguments)
    how = how_touched(tool)
    if not how:
        return []
    patch = next((given[name] for name in ("input", "patch") if isinstance(given.get(name), str)), "")
    if "*** " in patch:
        return [(path.strip(), _PATCH_HOW[verb]) for verb, path in _PATCHED.findall(patch)]
    calls = [given, *(mapping(entry) for entry in items(given.get("replacements")))]
    paths = (next((path for name in _PATHS if (path := file_path(call.get(name)))), "") for call in calls)
    return [(path, how) for path in dict.fromkeys(paths) if path]


def call_events(session: str, tool: str, arguments: Any, at: int, key: str = "") -> Iterator[Said | Touch]:
    """Yield one line about a tool call, then the files it touched."""
    files = touched(tool, arguments)
    line = step(tool, arguments)
    if files and line == f"[{tool}]":
        line = step(tool, {"path": files[0][0]})
    yield Said(session, AGENT, line, at, key, "step")
    for path, how in files:
        yield Touch(session, path, how, at)


def plain(value: Any) -> str:
    """Return a text that is kept either bare or as the `value` of a Markdown string."""
    return text(value) or text(mapping(value).get("value"))
