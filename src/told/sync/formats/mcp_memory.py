"""The file of the MCP memory server: entities with observations, and relations between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from told.jsontext import dump_json
from told.store.memories.names import GLOBAL, PROJECT, SHARED
from told.store.memories.records import KIND_NAMES, Memory
from told.sync.formats.words import ID, format_time, parse_time
from told.sync.stores.item import Item, LeftOut

_PROJECT, _TOPIC = "project", "topic"  # types of entities
_APPLIES_TO, _MENTIONS = "applies to", "mentions"  # types of relations
_CONTEXT, _SAID = "Context: ", "Said: "
_LINKS = ("supports", "contradicts", "about", "supersedes")


def format_graph(memories: Sequence[Memory]) -> Iterator[str]:
    """Yield the lines: an entity for each memory, project and topic, and the relations between them."""
    ids = {one.id for one in memories}
    named: dict[str, str] = {}
    relations: dict[tuple[str, str, str], None] = {}
    for one in memories:
        observations = [one.text, *([f"{_CONTEXT}{one.context}"] if one.context else [])]
        observations += [f"{_SAID}{format_time(one.created)}"]
        yield _entity(one.id, one.leading_kind, observations)
        scope = one.scope.removeprefix(PROJECT).removeprefix(SHARED)
        named.setdefault(scope, _PROJECT if one.scope.startswith(PROJECT) else "scope")
        relations[one.id, scope, _APPLIES_TO] = None
        for topic in one.entities:
            if topic not in ids:
                named.setdefault(topic, _TOPIC)
                relations[one.id, topic, _MENTIONS] = None
        for edge in one.edges:
            if edge.target in ids:
                relations[one.id, edge.target, edge.kind] = None
        if one.superseded_by in ids:
            relations[one.superseded_by, one.id, "supersedes"] = None
    for name, kind in named.items():
        yield _entity(name, kind, [])
    for source, target, kind in relations:
        yield dump_json({"type": "relation", "from": source, "to": target, "relationType": kind})


def _entity(name: str, kind: str, observations: list[str]) -> str:
    return dump_json({"type": "entity", "name": name, "entityType": kind, "observations": observations})


def is_own(lines: Sequence[dict[str, Any]]) -> bool:
    """Tell whether told wrote a graph: its entities have ids of memories."""
    return any(_is_memory(one) for one in lines)


def _is_memory(one: dict[str, Any]) -> bool:
    name, kind = one.get("name"), one.get("entityType")
    return (
        one.get("type") == "entity"
        and kind in KIND_NAMES
        and isinstance(name, str)
        and bool(ID.fullmatch(name))
    )


def list_items(lines: Sequence[dict[str, Any]]) -> Iterator[Item | LeftOut]:
    """Yield the memories of a graph that told wrote."""
    relations: dict[str, list[tuple[str, str]]] = {}
    kinds = {one.get("name"): one.get("entityType") for one in lines if one.get("type") == "entity"}
    for one in lines:
        source, target, kind = one.get("from"), one.get("to"), one.get("relationType")
        if one.get("type") == "relation" and all(isinstance(part, str) for part in (source, target, kind)):
            relations.setdefault(str(source), []).append((str(kind), str(target)))
    for one in lines:
        if not _is_memory(one):
            if one.get("type") == "entity" and one.get("observations"):
                yield LeftOut(str(one.get("name")), "told did not write it: use --from mcp-memory")
            continue
        name, own = one["name"], relations.get(one["name"], [])
        given = [text for text in one.get("observations") or () if isinstance(text, str)]
        said = [text for text in given if not text.startswith((_CONTEXT, _SAID))]
        if not said:
            yield LeftOut(name, "it has no text")
            continue
        project = next((to for kind, to in own if kind == _APPLIES_TO and kinds.get(to) == _PROJECT), "")
        scope = next((to for kind, to in own if kind == _APPLIES_TO), GLOBAL)
        if not project and scope != GLOBAL:
            yield LeftOut(name, f"its scope {scope[:60]!r} is not known here")
            continue
        yield Item(
            name, " ".join(said), one["entityType"], project, _find_time(given),
            entities=tuple(to for kind, to in own if kind == _MENTIONS),
            links=tuple((kind, to) for kind, to in own if kind in _LINKS),
            context=next((text[len(_CONTEXT) :] for text in given if text.startswith(_CONTEXT)), ""),
        )  # fmt: skip


def _find_time(given: Sequence[str]) -> int:
    return next((parse_time(text[len(_SAID) :]) for text in given if text.startswith(_SAID)), 0)
