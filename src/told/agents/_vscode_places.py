"""Where things are, in the words of VS Code and the editors built on it: URIs and workspace folders."""

from __future__ import annotations

import os
from urllib.parse import unquote, urlsplit

from told.agents.text import items, mapping, text
from told.guard.jsonl import json_document
from told.model import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Documents of other schemes (untitled, git, output …) are not files of the project.
_FILE_SCHEMES = ("file", "vscode-remote", "vscode-notebook-cell")


def file_path(uri: Any) -> str:
    """Return the path that a URI, as text or as VS Code's parts of one, names; empty if it is no file's."""
    if isinstance(uri, dict):
        if text(uri.get("scheme")) not in ("", *_FILE_SCHEMES):
            return ""
        path = text(uri.get("path")) or text(uri.get("fsPath"))
        return _without_slash(path) if path else file_path(text(uri.get("external")))
    if not isinstance(uri, str) or "\n" in uri:
        return ""
    scheme, separator, _ = uri.partition("://")
    if not separator:
        return uri
    if scheme not in _FILE_SCHEMES:
        return ""
    try:
        return _without_slash(unquote(urlsplit(uri).path))
    except ValueError:
        return ""


def _without_slash(path: str) -> str:
    """Turn `/c:/work`, as URIs write it, into `c:/work`."""
    return path[1:] if path[0:1] == "/" and path[2:3] == ":" else path


def workspace_folder(folder: str) -> str:
    """Return the project folder that the `workspace.json` in an editor's storage folder names."""
    place = mapping(json_document(os.path.join(folder, "workspace.json")))
    single = file_path(text(place.get("folder")))
    if single:
        return single
    workspace = file_path(text(place.get("workspace")) or text(place.get("configuration")))
    return _first_folder(workspace) if workspace else ""


def _first_folder(workspace: str) -> str:
    """Return the first folder of a workspace file, or the folder that the file itself is in."""
    home = os.path.dirname(workspace)
    document = json_document(workspace)
    if isinstance(document, Problem):
        return home if workspace.endswith(".code-workspace") else ""
    for entry in items(mapping(document).get("folders")):
        path = text(mapping(entry).get("path")) or file_path(text(mapping(entry).get("uri")))
        if path:
            return os.path.normpath(os.path.join(home, path))
    return ""


def size_of(path: str) -> int:
    """Return a file's size now, before it is read: what is added meanwhile is then read again."""
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0
