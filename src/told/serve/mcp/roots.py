"""The folders a client says it works in: it may have started told in any other."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST = 32
_LONGEST = 4096
_FILE = "file://"
_ESCAPE = 2  # hexadecimal digits behind a percent sign


def folders(result: Any) -> tuple[str, ...]:
    """Return the folders of an answer to `roots/list`; whatever is none is left out."""
    roots = result.get("roots") if isinstance(result, dict) else None
    if not isinstance(roots, list):
        return ()
    found = []
    for root in roots[:_MOST]:
        uri = root.get("uri") if isinstance(root, dict) else root
        folder = folder_of(uri) if isinstance(uri, str) and len(uri) <= _LONGEST else ""
        if folder and folder not in found:
            found.append(folder)
    return tuple(found)


def folder_of(uri: str) -> str:
    """Return the folder that an address stands for; empty if it is none of this machine."""
    if uri[: len(_FILE)].lower() != _FILE:
        return uri if os.path.isabs(uri) and "\0" not in uri else ""
    host, slash, rest = uri[len(_FILE) :].partition("/")
    path = slash + _unescaped(rest.partition("?")[0].partition("#")[0])
    if "\0" in path:
        return ""
    if path[2:3] == ":" and path[1:2].isalpha():
        return path[1:]  # /C:/Users is a drive of Windows
    if host.lower() not in ("", "localhost", "127.0.0.1"):
        return f"//{host}{path}" if os.name == "nt" else ""
    return path if len(path) > 1 else ""


def _unescaped(text: str) -> str:
    if "%" not in text:
        return text
    first, *others = text.encode("utf-8", "replace").split(b"%")
    made = [first]
    for part in others:
        try:
            made += (bytes.fromhex(part[:_ESCAPE].decode("ascii")), part[_ESCAPE:])
        except ValueError:
            made += (b"%", part)
    return b"".join(made).decode("utf-8", "replace")
