"""Read Claude Code's own memory: MEMORY.md and topic files, one folder for each project."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from told.files import NotReadableError, open_regular
from told.jsontext import as_dict, as_text, parse_json
from told.model import Problem
from told.pattern import lazy_pattern
from told.sync.stores.item import Item, LeftOut
from told.sync.stores.markdown import split_blocks, split_front_matter
from told.sync.stores.reading import NotAStoreError, file_time, find_files, read_markdown, require_path
from told.sync.stores.statements import text_key

TOOL = "Claude Code's memory"
_FOLDER, _INDEX = "memory", "MEMORY.md"
_TRANSCRIPT_BYTES = 200_000  # in which the project's folder is named
_LINK = lazy_pattern(r"\s*[-*]?\s*\[([^\]\n]{1,200})\]\(([^)\s]{1,200}\.md)\)")
_KINDS = {"feedback": "rule", "user": "preference"}


def places(home: str, environ: Mapping[str, str]) -> list[str]:
    """Return where Claude Code keeps the memories of its projects."""
    settings = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude")
    return [os.path.join(settings, "projects")]


def read(path: str) -> Iterator[Item | LeftOut]:
    """Yield the memories of one file, one project, or of all projects."""
    require_path(path, TOOL)
    if not os.path.isdir(path):
        yield from _read_files([path], os.path.dirname(os.path.abspath(path)))
        return
    folders = _find_folders(path)
    for folder in folders:
        yield from _read_files(find_files(folder, ".md"), folder)
    if not folders:
        raise NotAStoreError(f"{path} has no {_INDEX} of Claude Code. Check the path.")


def _find_folders(path: str) -> list[str]:
    """Return the memory folders of a project, of all projects, or of Claude Code's settings."""
    for folder in (path, os.path.join(path, _FOLDER)):
        if os.path.isfile(os.path.join(folder, _INDEX)):
            return [folder]
    projects = os.path.join(path, "projects")
    parent = projects if os.path.isdir(projects) else path
    found = [os.path.join(parent, name, _FOLDER) for name in sorted(os.listdir(parent))]
    return [folder for folder in found if os.path.isdir(folder) and find_files(folder, ".md")]


def _read_files(paths: list[str], folder: str) -> Iterator[Item | LeftOut]:
    project_folder = os.path.dirname(folder) if os.path.basename(folder) == _FOLDER else folder
    start, project = os.path.basename(project_folder), _find_project(project_folder)
    for path in paths:
        relative = os.path.relpath(path, folder).replace(os.sep, "/")
        source = f"{start}/{relative}"
        text = read_markdown(path)
        if isinstance(text, Problem):
            yield LeftOut(source, text.reason)
            continue
        fields, body = split_front_matter(text)
        if not fields:
            yield from _read_blocks(body, source, project, path)
            continue
        name, about = ((fields.get(one) or [""])[0] for one in ("name", "description"))
        yield Item(
            source,
            body if body.strip() else about,
            _KINDS.get((fields.get("type") or [""])[0], "fact"),
            project,
            file_time(path),
            context=about or name,
        )


def _read_blocks(body: str, source: str, project: str, path: str) -> Iterator[Item | LeftOut]:
    """Yield one item for each bullet and paragraph of a file without front matter."""
    seen: set[str] = set()
    for block in split_blocks(body):
        link = _LINK.match(block.text)
        text = link.group(1) + block.text[link.end() :] if link else block.text
        if link and os.path.exists(os.path.join(os.path.dirname(path), link.group(2))):
            continue  # an entry of the index; the file itself is read
        key = text_key(block.text)
        if key not in seen:
            seen.add(key)
            created = file_time(path)
            yield Item(f"{source}/{key}", text, "fact", project, created, context=block.heading)


def _find_project(folder: str) -> str:
    """Return the path of a project, of which the folder's name has dashes for slashes."""
    name = os.path.basename(folder)
    if not name.startswith("-"):
        return ""
    simple = name.replace("-", os.sep)
    if os.path.isdir(simple):
        return simple
    for transcript in find_files(folder, ".jsonl")[:5]:
        try:
            with open_regular(transcript) as file:
                lines = file.read(_TRANSCRIPT_BYTES).splitlines()
        except (NotReadableError, OSError):
            continue
        for line in lines:
            folder_there = as_text(as_dict(parse_json(line)).get("cwd"))
            if folder_there and re.sub(r"[^A-Za-z0-9]", "-", folder_there) == name:
                return folder_there
    return name
