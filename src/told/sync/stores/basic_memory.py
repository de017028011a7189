"""Read the notes of basic-memory: Markdown files, which are its only truth."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from told.jsontext import as_dict, as_millis, as_text
from told.model import Problem
from told.pattern import lazy_pattern
from told.sync.stores.item import Item, LeftOut
from told.sync.stores.markdown import split_front_matter
from told.sync.stores.reading import (
    NotAStoreError,
    file_time,
    find_files,
    read_json,
    read_markdown,
    require_path,
)
from told.sync.stores.statements import join_title, text_key

TOOL = "basic-memory"
_CONFIG = "config.json"
_OBSERVATION = lazy_pattern(r"\s*[-*]\s+\[([^\[\]()\n]{1,60})\]\s+(.*)")
_RELATION = lazy_pattern(r"\s*[-*]\s+(.{0,80}?)\s*\[\[([^\[\]\n]{1,200})\]\](?:\s*\(.*\))?\s*\Z")
_LINK = lazy_pattern(r"\[\[([^\[\]\n|]{1,200})(?:\|[^\[\]\n]{0,200})?\]\]")
_TAG = lazy_pattern(r"(?<!\S)#([\w/-]{1,60})")
_CHECKBOX = lazy_pattern(r"[ xX/-]?\Z")
_HEADINGS = lazy_pattern(r"^#{1,6}\s+(?:observations|relations)\s*$", re.IGNORECASE | re.MULTILINE)
_KINDS = {
    "decision": "decision", "preference": "preference", "rule": "rule", "requirement": "rule",
    "constraint": "rule", "warning": "warning", "gotcha": "warning", "issue": "warning", "problem": "warning",
}  # fmt: skip
_RELATIONS = {
    "supersedes": "supersedes", "replaces": "supersedes", "contradicts": "contradicts",
    "supports": "supports",
}  # fmt: skip


class _Note(NamedTuple):
    source: str
    path: str
    project: str
    title: str
    fields: dict[str, list[str]]
    body: str


def places(home: str, environ: Mapping[str, str]) -> list[str]:
    """Return where basic-memory keeps its list of projects, and its first project."""
    settings = environ.get("BASIC_MEMORY_CONFIG_DIR") or os.path.join(home, ".basic-memory")
    notes = environ.get("BASIC_MEMORY_HOME") or os.path.join(home, TOOL)
    return [os.path.join(settings, _CONFIG), notes]


def read(path: str) -> Iterator[Item | LeftOut]:
    """Yield the notes of a folder, or of all projects in basic-memory's settings."""
    require_path(path, TOOL)
    if os.path.isdir(path) and os.path.exists(os.path.join(path, _CONFIG)):
        path = os.path.join(path, _CONFIG)
    if os.path.isdir(path):
        yield from _read_project(path, os.path.basename(os.path.abspath(path)), "", set())
        return
    settings = as_dict(read_json(path, TOOL))
    projects = as_dict(settings.get("projects"))
    if not projects:
        raise NotAStoreError(f"{path} is not a store of {TOOL}: it has no projects. Check the path.")
    used: set[str] = set()
    for name, value in projects.items():
        folder = as_text(value) or as_text(as_dict(value).get("path"))
        if not os.path.isdir(folder):
            yield LeftOut(name, f"its folder {folder!r} is not there")
        else:
            is_default = name == settings.get("default_project")  # notes about anything
            yield from _read_project(folder, name, "" if is_default else name, used)


def _read_project(folder: str, name: str, project: str, used: set[str]) -> Iterator[Item | LeftOut]:
    notes = []
    for path in find_files(folder, ".md"):
        relative = os.path.relpath(path, folder).replace(os.sep, "/")
        text = read_markdown(path)
        if isinstance(text, Problem):
            yield LeftOut(f"{name}/{relative}", text.reason)
            continue
        fields, body = split_front_matter(text)
        source = (fields.get("permalink") or [f"{name}/{relative.removesuffix('.md')}"])[0]
        if source in used:  # older versions do not begin it with the project's name
            source = f"{name}/{relative}"
        used.add(source)
        title = (fields.get("title") or [os.path.basename(relative).removesuffix(".md")])[0]
        notes.append(_Note(source, path, project, title, fields, body))
    known = {key.casefold(): note.source for note in notes for key in (note.source, note.title)}
    known |= {note.source.partition("/")[2].casefold(): note.source for note in notes}
    for note in notes:
        yield from _read_note(note, known)


def _read_note(note: _Note, known: dict[str, str]) -> Iterator[Item | LeftOut]:
    tags = tuple(tag.removeprefix("#") for tag in note.fields.get("tags", []))
    prose, observations, links, relations = [], [], [], []
    for line in _HEADINGS.sub("", note.body).splitlines():
        observation, relation = _OBSERVATION.match(line), _RELATION.match(line)
        if observation and not _CHECKBOX.match(observation.group(1)):
            observations.append((observation.group(1).strip(), observation.group(2).strip()))
            continue
        for target in _LINK.findall(line):
            kind = relation.group(1).strip().casefold() if relation else ""
            other = known.get(target.strip().casefold())
            if other:
                links.append((_RELATIONS.get(kind, "about"), other))
        if relation:
            relations.append(f"{relation.group(1) or 'relates to'} {relation.group(2)}")
        else:
            prose.append(_LINK.sub(r"\1", line))
    text = "\n".join(prose).strip().removeprefix(f"# {note.title}").strip()
    text = text if any(map(str.isalnum, text)) else ""
    if not text and relations:
        text = f"{'; '.join(relations)}."
    created, updated = _dates(note)
    main = Item(
        note.source,
        join_title(note.title, text) if text else "",
        project=note.project,
        created=created,
        updated=updated,
        entities=tags,
        links=tuple(dict.fromkeys(links)),
    )
    if text or not observations:
        yield main
    for category, content in observations:
        yield Item(
            f"{note.source}/{text_key(category, content)}",
            _TAG.sub("", content).strip() or content,
            _KINDS.get(category.casefold(), "fact"),
            note.project,
            created,
            updated,
            entities=(*_TAG.findall(content), *tags, category),
            links=(("about", note.source),) if text else (),
            context=note.title,
        )


def _dates(note: _Note) -> tuple[int, int]:
    """Return when a note was made and changed; the file's time where the note has none."""
    changed = file_time(note.path)
    found = [
        as_millis((note.fields.get(name) or [""])[0]) for name in ("created", "date", "modified", "updated")
    ]
    created = found[0] or found[1]
    return created or changed, found[2] or found[3] or created or changed
