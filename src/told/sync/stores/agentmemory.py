"""Read agentmemory (npm @agentmemory/agentmemory): its state folder, its standalone file or its export.

All three hold the same records. The state folder has one file for each list of them: a JSON text and, in
its last bytes, where that text is.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from told.files import NotReadableError, read_document
from told.jsontext import as_dict, as_list, as_millis, as_text, parse_json
from told.store.memories.names import ACTIVE, ARCHIVED, FORGOTTEN, SUPERSEDED
from told.sync.stores.item import Item, LeftOut
from told.sync.stores.reading import NotAStoreError, id_text, number_of, read_json, require_path, text_list
from told.sync.stores.statements import add_facts, join_title

TOOL = "agentmemory"
_STATE, _STANDALONE, _SUFFIX = "state_store.db", "standalone.json", ".bin"
_TAIL = 8  # bytes
_MAX_FILE = 1024 * 1024 * 1024  # bytes
_KINDS = {"preference": "preference", "architecture": "decision", "bug": "warning"}
_RELATIONS = {
    "supersedes": "supersedes", "contradicts": "contradicts", "extends": "about", "derives": "about",
    "related": "about",
}  # fmt: skip
# List, kind, and the names of the text and of what it is about.
_TEXTS = (
    ("mem:lessons", "rule", "content", "context"),
    ("mem:semantic", "fact", "fact", ""),
    ("mem:insights", "fact", "content", "title"),
    ("mem:crystals", "observation", "narrative", ""),
)
# The lists of the export have other names than those of the state.
_EXPORTED = {"mem:semantic": "semanticMemories", "mem:procedural": "proceduralMemories"}
_RAW = "raw tool calls: told reads them from the agents' own files"
_OBSERVATIONS = "mem:obs:"

_State = dict[str, list[dict[str, Any]]]


def places(home: str, environ: Mapping[str, str]) -> list[str]:
    """Return where agentmemory keeps its state."""
    data = environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    folders = [
        environ.get("AGENTMEMORY_DATA_DIR", ""),
        os.path.join(data, TOOL),
        os.path.join(home, "Library", "Application Support", TOOL),
        os.path.join(environ.get("APPDATA") or home, TOOL),
    ]
    found = [os.path.join(folder, _STATE) for folder in folders if folder]
    return [*found, os.path.join(home, f".{TOOL}", _STANDALONE)]


def read(path: str) -> Iterator[Item | LeftOut]:
    """Yield what is in a state folder, the folder around it, a standalone file or an export."""
    require_path(path, TOOL)
    for name in (_STATE, _STANDALONE):
        if os.path.isdir(path) and os.path.exists(os.path.join(path, name)):
            path = os.path.join(path, name)
    state, problems = _load_folder(path) if os.path.isdir(path) else (_load_json(path), [])
    if not state and not problems:
        raise NotAStoreError(f"{path} is not a store of {TOOL}: it has no memories. Check the path.")
    yield from problems
    yield from _read_state(state)


def _load_folder(folder: str) -> tuple[_State, list[LeftOut]]:
    state: _State = {}
    problems: list[LeftOut] = []
    for name in sorted(os.listdir(folder)):
        scope = unquote(name.removesuffix(_SUFFIX))
        if not name.endswith(_SUFFIX) or not scope.startswith("mem:"):
            continue
        try:
            content = read_document(os.path.join(folder, name), _MAX_FILE)
        except NotReadableError as error:
            problems.append(LeftOut(scope, str(error)))
            continue
        # A text of up to 8 bytes is in the tail itself, filled up with 0xff.
        parsed = parse_json(content[:-_TAIL].rstrip(b"\0") or content.rstrip(b"\xff"))
        if isinstance(parsed, dict):
            state[scope] = [as_dict(one) for one in parsed.values()]
        else:
            problems.append(LeftOut(scope, "damaged"))
    return state, problems


def _load_json(path: str) -> _State:
    found = as_dict(read_json(path, TOOL))
    if any(name.startswith("mem:") for name in found):
        return {
            name: [as_dict(one) for one in as_dict(values).values()]
            for name, values in found.items()
            if name.startswith("mem:")
        }
    state: _State = {}
    if isinstance(found.get("memories"), list):
        for name in ("memories", "sessions", "summaries", "lessons", "insights", "crystals"):
            state[f"mem:{name}"] = [as_dict(one) for one in as_list(found.get(name))]
        for scope, name in _EXPORTED.items():
            state[scope] = [as_dict(one) for one in as_list(found.get(name))]
        for session, values in as_dict(found.get("observations")).items():
            state[_OBSERVATIONS + session] = [as_dict(one) for one in as_list(values)]
    return state


def _read_state(state: _State) -> Iterator[Item | LeftOut]:
    links: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for one in state.get("mem:relations", []):
        kind = _RELATIONS.get(as_text(one.get("type")))
        if kind:
            links[as_text(one.get("sourceId"))].append((kind, as_text(one.get("targetId"))))
    for one in state.get("mem:memories", []):
        yield _read_memory(one, links)
    for scope, kind, name, about in _TEXTS:
        for one in state.get(scope, []):
            yield _build(one, as_text(one.get(name)), kind, context=as_text(one.get(about)))
    for one in state.get("mem:procedural", []):
        steps = "; ".join(text_list(one.get("steps")))
        start = f"{as_text(one.get('name'))} ({as_text(one.get('triggerCondition'))}): "
        yield _build(one, start + steps if steps else "", "fact")
    for one in state.get("mem:summaries", []):
        yield from _read_summary(one)
    yield from _read_slots(state)
    yield from _read_observations(state)


def _read_slots(state: _State) -> Iterator[Item | LeftOut]:
    for scope in ("mem:slots", "mem:slots:global"):
        for one in state.get(scope, []):
            text, label = as_text(one.get("content")), as_text(one.get("label"))
            if text.strip():  # most are made empty
                yield _build({**one, "id": f"{scope}/{label}"}, text, "fact", context=label)


def _read_observations(state: _State) -> Iterator[Item | LeftOut]:
    projects = {as_text(one.get("id")): as_text(one.get("project")) for one in state.get("mem:sessions", [])}
    raw = 0
    for scope in sorted(state):
        for one in state[scope] if scope.startswith(_OBSERVATIONS) else ():
            if text_list(one.get("facts")):
                yield from _read_observation(one, projects)
            else:
                raw += 1
    if raw:
        yield LeftOut("mem:obs", _RAW, raw)


def _read_memory(row: dict[str, Any], links: dict[str, list[tuple[str, str]]]) -> Item:
    source = id_text(row.get("id"))
    found = [("supersedes", one) for one in text_list(row.get("supersedes"))]
    found += [("about", one) for one in text_list(row.get("relatedIds"))]
    return _build(
        row,
        join_title(as_text(row.get("title")), as_text(row.get("content"))),
        _KINDS.get(as_text(row.get("type")), "fact"),
        links=tuple(dict.fromkeys(found + links[source])),
    )


def _read_summary(row: dict[str, Any]) -> Iterator[Item | LeftOut]:
    session, title = as_text(row.get("sessionId")), as_text(row.get("title"))
    row = {**row, "id": f"summary/{session}"}
    narrative = as_text(row.get("narrative"))
    yield _build(row, narrative or title, "observation", context=title if narrative else "")
    for number, text in enumerate(text_list(row.get("keyDecisions")), 1):
        yield _build({**row, "id": f"summary/{session}/decision/{number}"}, text, "decision", context=title)


def _read_observation(row: dict[str, Any], projects: dict[str, str]) -> Iterator[Item | LeftOut]:
    title = as_text(row.get("title"))
    row = {**row, "project": projects.get(as_text(row.get("sessionId")), "")}
    kind = {"decision": "decision", "error": "warning"}.get(as_text(row.get("type")), "observation")
    item = _build(row, join_title(title, as_text(row.get("narrative"))), kind)
    yield from add_facts(item, title, text_list(row.get("facts")))


def _build(
    row: dict[str, Any], text: str, kind: str, *, context: str = "", links: tuple[tuple[str, str], ...] = ()
) -> Item:
    sessions = (as_text(row.get("sessionId")), *text_list(row.get("sessionIds")))
    strength = number_of(row.get("strength"))  # of 10 for memories, of 1 for others
    names = ("concepts", "tags", "files", "filesModified", "filesAffected")
    return Item(
        id_text(row.get("id")),
        text,
        kind,
        as_text(row.get("project")),
        as_millis(row.get("createdAt")) or as_millis(row.get("timestamp")),
        as_millis(row.get("updatedAt")),
        status=_status(row),
        importance=number_of(row.get("importance")) or (strength * 10 if strength <= 1 else strength),
        entities=tuple(one for name in names for one in text_list(row.get(name))),
        links=links,
        agent=as_text(row.get("agentId")),
        session=next(filter(None, sessions), ""),
        context=context,
    )


def _status(row: dict[str, Any]) -> str:
    if row.get("deleted") is True:
        return FORGOTTEN
    if row.get("isLatest") is False:
        return SUPERSEDED
    ends = as_millis(row.get("forgetAfter"))
    return ARCHIVED if 0 < ends < time.time() * 1000 else ACTIVE
