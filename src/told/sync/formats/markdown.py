"""A folder of notes, one for each memory, that Obsidian and basic-memory read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence

from told.files import NotReadableError, read_document
from told.pattern import lazy_pattern
from told.store.memories.names import ACTIVE, AGENT, ARCHIVED, GLOBAL, PROJECT, SHARED, SUPERSEDED, USER
from told.store.memories.records import KIND_NAMES, Memory
from told.sync.formats.words import ID, format_time, make_tag, parse_time
from told.sync.stores.item import Item, LeftOut
from told.text import shorten

_STATUSES = (ACTIVE, SUPERSEDED, ARCHIVED)
_TITLE = 60  # characters
_FORBIDDEN = lazy_pattern(r'[\\/:*?"<>|#^\[\]\x00-\x1f]+')
_FIELD = lazy_pattern(r"([a-z_]+): (.*)")
_OBSERVATION = lazy_pattern(r"- \[([a-z]+)\] (.*)")
_RELATION = lazy_pattern(r"- ([a-z]+) \[\[.*\((m[a-z2-7]{4,40})\)\]\]")
_CONTEXT = "Context: "
_LINKS = ("supports", "contradicts", "about", "supersedes")
_MAX_NOTE = 1 << 20


def format_notes(memories: Sequence[Memory]) -> dict[str, str]:
    """Return the text of each note by its path."""
    shown = [one for one in memories if one.status in _STATUSES and one.text]
    titles = {one.id: _make_title(one) for one in shown}
    superseded: dict[str, list[str]] = {}
    for one in shown:
        if one.superseded_by in titles:
            superseded.setdefault(one.superseded_by, []).append(one.id)
    return {
        f"{_folder(one.scope)}/{titles[one.id]}.md": _format_note(one, titles, superseded.get(one.id, []))
        for one in shown
    }


def _make_title(one: Memory) -> str:
    words = " ".join(_FORBIDDEN.sub(" ", one.text).split())
    return f"{shorten(words, _TITLE).strip(' .')} ({one.id})"


def _folder(scope: str) -> str:
    if scope.startswith(PROJECT):
        return f"projects/{make_tag(scope.removeprefix(PROJECT)) or 'unnamed'}"
    return make_tag(scope.removeprefix(SHARED)) or "unnamed"


def _format_note(one: Memory, titles: Mapping[str, str], superseded: Sequence[str]) -> str:
    tags = list(dict.fromkeys(filter(None, map(make_tag, one.entities))))
    head = {
        "title": titles[one.id], "type": "memory", "tags": [one.leading_kind, *tags],
        "permalink": f"told/{_folder(one.scope)}/{one.id}", "told": one.id, "kind": one.leading_kind,
        "scope": one.scope, "status": one.status, "trust": one.trust, "created": format_time(one.created),
        "updated": format_time(one.updated), "importance": one.importance,
    }  # fmt: skip
    lines = [
        "---",
        *(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in head.items()),
        "---",
    ]
    lines += ["", f"# {titles[one.id]}", "", f"- [{one.leading_kind}] {one.text}{_format_tags(tags)}"]
    lines += ["", f"{_CONTEXT}{one.context}"] if one.context else []
    links = [(edge.kind, edge.target) for edge in one.edges if edge.target in titles]
    links += [("supersedes", old) for old in superseded]
    lines += ["", *(f"- {kind} [[{titles[target]}]]" for kind, target in links)] if links else []
    return "\n".join([*lines, ""])


def _format_tags(tags: Sequence[str]) -> str:
    return "".join(f" #{tag}" for tag in tags)


def read_id(note: str) -> str:
    """Return the id of the memory that a note is about; empty if told did not write it."""
    found = _read_head(note).get("told")
    return found if isinstance(found, str) and ID.fullmatch(found) else ""


def list_own_notes(path: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the memory of each note in a folder that told wrote."""
    for one in _list_notes(path):
        if identity := read_id(_read(one)):
            yield one, identity


def list_items(path: str, *, mine: bool = False) -> Iterator[Item | LeftOut]:
    """Yield the memories of a folder of notes that told wrote."""
    for note in _list_notes(path):
        text = _read(note)
        head = _read_head(text)
        name = os.path.relpath(note, path)
        identity = read_id(text)
        if not identity:
            yield LeftOut(name, "told did not write it: use --from basic-memory")
            continue
        yield _parse_note(identity, head, text, mine=mine) or LeftOut(name, "its statement is missing")


def _parse_note(identity: str, head: Mapping[str, object], text: str, *, mine: bool) -> Item | None:
    body = text.split("\n---\n", 1)[-1].split("\n")
    said = next((found for line in body if (found := _OBSERVATION.fullmatch(line))), None)
    if said is None:
        return None
    given = head.get("tags")
    tags = [tag for tag in given[1:] if isinstance(tag, str)] if isinstance(given, list) else []
    scope = str(head.get("scope", GLOBAL))
    links = [found.groups() for line in body if (found := _RELATION.fullmatch(line))]
    importance, status = head.get("importance"), head.get("status")
    return Item(
        identity, said[2].removesuffix(_format_tags(tags)), said[1] if said[1] in KIND_NAMES else "fact",
        scope.removeprefix(PROJECT) if scope.startswith(PROJECT) else "",
        parse_time(head.get("created")), parse_time(head.get("updated")),
        trust=USER if mine and head.get("trust") == USER else AGENT,
        status=status if isinstance(status, str) and status in _STATUSES else ACTIVE,
        importance=float(importance) if isinstance(importance, (int, float)) else 0.0,
        entities=tuple(tags), links=tuple((kind, target) for kind, target in links if kind in _LINKS),
        context=next((line[len(_CONTEXT) :] for line in body if line.startswith(_CONTEXT)), ""),
    )  # fmt: skip


def _list_notes(path: str) -> Iterator[str]:
    for parent, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (os.path.join(parent, name) for name in sorted(names) if name.endswith(".md"))


def _read(path: str) -> str:
    try:
        return read_document(path, _MAX_NOTE).decode("utf-8", "replace").replace("\r\n", "\n")
    except (NotReadableError, OSError):
        return ""


def _read_head(text: str) -> dict[str, object]:
    """Return the front matter; values that are not JSON stay text."""
    if not text.startswith("---\n"):
        return {}
    found: dict[str, object] = {}
    for line in text[4:].split("\n---\n", 1)[0].split("\n"):
        field = _FIELD.fullmatch(line)
        if field:
            try:
                found[field[1]] = json.loads(field[2])
            except ValueError:
                found[field[1]] = field[2].strip("\"'")
    return found
