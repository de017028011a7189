"""Portable AI Memory 1.0: one JSON document with memories, relations and a checksum."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

from told.jsontext import as_dict
from told.store.memories.names import ACTIVE, AGENT, ARCHIVED, GLOBAL, PROJECT, SUPERSEDED, USER
from told.store.memories.records import KIND_NAMES, OBSERVATION, Memory
from told.sync.formats.words import format_time, make_tag, parse_time
from told.sync.stores.item import Item, LeftOut

SCHEMA, VERSION = "portable-ai-memory", "1.0"
_IMPORTED = "import:"  # prefix of the agent of what told imported
_STATUS = {ACTIVE: "active", SUPERSEDED: "superseded", ARCHIVED: "archived"}
_TYPES = {"rule": "instruction", "preference": "preference", "fact": "fact", OBSERVATION: "context"}
_KINDS = {"instruction": "rule", "preference": "preference", "context": OBSERVATION}
_RELATIONS = {"supports": "supports", "contradicts": "contradicts", "about": "related_to"}
_LINKS = {
    "supports": "supports",
    "contradicts": "contradicts",
    "related_to": "about",
    "supersedes": "supersedes",
}


def format_store(memories: Sequence[Memory], *, owner: str, version: str, now: int) -> dict[str, Any]:
    """Return the document.

    Args:
        memories: Active, superseded and archived ones; others are left out.
        owner: A name for the user.
        version: Of told.
        now: The present time in ms.
    """
    shown = [one for one in memories if one.status in _STATUS and one.text]
    ids = {one.id for one in shown}
    entries = [_format_memory(one, ids) for one in shown]
    return {
        "schema": SCHEMA, "schema_version": VERSION, "exported_by": f"told/{version}",
        "export_date": _second(now), "owner": {"id": owner}, "memories": entries,
        "relations": list(_format_relations(shown, ids)),
        "integrity": {
            "canonicalization": "RFC8785", "checksum": _checksum(entries), "total_memories": len(entries),
        },
    }  # fmt: skip


def _format_memory(one: Memory, ids: set[str]) -> dict[str, Any]:
    kind = _TYPES.get(one.leading_kind) or _TYPES.get(one.kind, "custom")
    places = [place for place in one.evidence if not place.agent.startswith(_IMPORTED)]
    platform = next((name for place in places if len(name := make_tag(place.agent)) > 1), "told")
    session = next((place.session for place in places if place.session), None)
    is_superseded = one.superseded_by in ids and one.status == SUPERSEDED
    found: dict[str, Any] = _without_none({
        "id": one.id, "type": kind, "custom_type": one.kind if kind == "custom" else None,
        "status": _STATUS[one.status], "content": one.text, "content_hash": _hash_content(one.text),
        "tags": list(dict.fromkeys(filter(None, map(make_tag, one.entities)))),
        "confidence": {"current": _number(one.confidence)},
        "temporal": {
            "created_at": _second(one.created),
            "updated_at": _second(max(one.updated, one.created)),
            "valid_until": _second(one.expires) if one.expires else None,
            "superseded_by": one.superseded_by if is_superseded else None,
        },
        "provenance": {
            "platform": platform[:32], "conversation_ref": session,
            "extraction_method": "explicit_user_input" if one.trust == USER else "llm_inference",
        },
        "access": {"visibility": "private", "exportable": True, "shared_with": []},
        "metadata": {
            "told": {
                "kind": one.kind, "marks": list(one.marks), "scope": one.scope, "trust": one.trust,
                "locked": one.locked, "context": one.context, "entities": list(one.entities),
                "importance": _number(one.importance), "created": one.created, "updated": one.updated,
            },
        },
    })  # fmt: skip
    return found


def _without_none(value: Any) -> Any:
    """Leave out what is unknown: PAM's checksum is of documents without nulls."""
    if not isinstance(value, dict):
        return value
    return {name: _without_none(of) for name, of in value.items() if of is not None}


def _second(at: int) -> str:
    """Format a time without fractions, of which PAM's checksum takes another form."""
    return f"{format_time(at)[:19]}Z"


def _format_relations(memories: Sequence[Memory], ids: set[str]) -> Iterator[dict[str, Any]]:
    for one in memories:
        for edge in one.edges:
            if edge.target in ids and edge.target != one.id:
                kind = _RELATIONS.get(edge.kind, "related_to")
                yield _relation(one.id, edge.target, kind, edge.at or one.created)
        if one.superseded_by in ids and one.superseded_by != one.id:
            yield _relation(one.superseded_by, one.id, "supersedes", one.updated or one.created)


def _relation(source: str, target: str, kind: str, at: int) -> dict[str, Any]:
    name = f"{source}-{kind}-{target}"
    return {"id": name, "from": source, "to": target, "type": kind, "created_at": _second(at)}


def _number(value: float) -> float | int:
    """Return a number as RFC 8785 spells it in JSON."""
    rounded = round(value, 3)
    return int(rounded) if rounded == int(rounded) else rounded


def _hash_content(text: str) -> str:
    bare = re.sub(r"\s+", " ", unicodedata.normalize("NFC", text.strip().lower()))
    return f"sha256:{sha256(bare.encode()).hexdigest()}"


def _checksum(entries: Sequence[dict[str, Any]]) -> str:
    """Return the checksum of the canonical form.

    With keys in ASCII and short numbers, `json` writes what RFC 8785 asks for.
    """
    ordered = sorted(entries, key=lambda one: str(one["id"]))
    text = json.dumps(ordered, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def is_store(value: Any) -> bool:
    """Tell whether a JSON value is a memory store of PAM."""
    return (
        isinstance(value, dict) and value.get("schema") == SCHEMA and isinstance(value.get("memories"), list)
    )


def list_items(value: dict[str, Any], *, mine: bool = False) -> Iterator[Item | LeftOut]:
    """Yield the memories of a store; only what told itself wrote of the user's keeps its trust."""
    links: dict[str, list[tuple[str, str]]] = {}
    for one in value.get("relations") or ():
        if isinstance(one, dict) and one.get("type") in _LINKS:
            links.setdefault(str(one.get("from")), []).append((_LINKS[one["type"]], str(one.get("to"))))
    for number, one in enumerate(value["memories"], 1):
        content = one.get("content") if isinstance(one, dict) else None
        if not isinstance(content, str) or not isinstance(one.get("id"), str):
            yield LeftOut(f"memory {number}", "not a memory")
            continue
        if one.get("content_hash") != _hash_content(content):
            yield LeftOut(one["id"], "its content does not have the hash that it states")
            continue
        yield _parse_memory(one, content, links.get(one["id"], []), mine=mine)


def _parse_memory(one: dict[str, Any], content: str, links: list[tuple[str, str]], *, mine: bool) -> Item:
    told = as_dict(as_dict(one.get("metadata")).get("told"))
    times, provenance = as_dict(one.get("temporal")), as_dict(one.get("provenance"))
    scope = str(told.get("scope", GLOBAL))
    marks = [mark for mark in told.get("marks") or () if mark in KIND_NAMES]
    kind = marks[0] if marks else told.get("kind") or _KINDS.get(str(one.get("type")), "fact")
    status = {"superseded": SUPERSEDED, "archived": ARCHIVED, "deprecated": ARCHIVED}.get(
        str(one.get("status")), "forgotten" if one.get("status") == "retracted" else ACTIVE
    )
    tags = told.get("entities") or one.get("tags") or ()
    importance = told.get("importance")
    conversation = provenance.get("conversation_ref")
    return Item(
        one["id"], content, str(kind), scope.removeprefix(PROJECT) if scope.startswith(PROJECT) else "",
        _time(told.get("created")) or parse_time(times.get("created_at")),
        _time(told.get("updated")) or parse_time(times.get("updated_at")),
        trust=USER if mine and told.get("trust") == USER else AGENT, status=status,
        importance=float(importance) if isinstance(importance, (int, float)) else 0.0,
        entities=tuple(tag for tag in tags if isinstance(tag, str)), links=tuple(links),
        agent=str(provenance.get("platform", "")) if conversation else "",
        session=conversation if isinstance(conversation, str) else "",
        context=str(told.get("context", "")),
    )  # fmt: skip


def is_own(value: dict[str, Any]) -> bool:
    """Tell whether told wrote a store."""
    return str(value.get("exported_by", "")).startswith("told/")


def _time(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 53 else 0
