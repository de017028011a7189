"""Import what other tools know: compare it with what is here, and write it as one change.

What a model wrote there has the trust `agent`. An import deletes nothing, and changes no memory that the user
locked, rejected or forgot.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from told.capture.statements import describe_statement
from told.conflict.compare import compare_statement
from told.errors import UsageError
from told.ingest.projects import identify, normalize_remote
from told.journal.append import new_memory_id
from told.journal.files import ARCHIVE, UNDO
from told.memories.journal_writer import JournalWriter
from told.memories.lookup import find_put_away
from told.memories.remember import validate_text
from told.memories.restore import CONFLICTING, NEW, REFUSED, SAME, Row
from told.store.memories.records import (
    ACTIVE,
    ARCHIVED,
    CANDIDATE,
    DISMISSED,
    FORGOTTEN,
    GLOBAL,
    KIND_NAMES,
    OBSERVATION,
    PROJECT,
    SUPERSEDED,
    USER,
    Memory,
    split_kind,
)
from told.store.sessions.checkpoints import Projects
from told.sync.stores.item import Item, LeftOut

SOURCE = "import:"  # prefix of the agent in the evidence of what was imported
TOLD = "told"  # the tool of told's own formats, whose sources are ids of memories
_LINKS = ("supports", "contradicts", "about")
_MAX_SOURCE = 200  # characters
_PRIORS = {USER: (4.0, 1.0)}


class Planned(NamedTuple):
    """An item, and what becomes of it."""

    item: Item
    row: Row
    text: str = ""
    scope: str = GLOBAL
    memory: str = ""  # its id here
    contradicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import would do."""

    tool: str
    items: tuple[Planned, ...]
    left_out: tuple[LeftOut, ...] = ()
    unknown: frozenset[str] = frozenset()  # projects that told does not know
    ids: dict[str, str] = field(default_factory=dict)  # of memories, by source

    @property
    def rows(self) -> list[Row]:
        """What becomes of each item."""
        refused = [Row(REFUSED, one.source, reason=one.reason) for one in self.left_out]
        return [*(one.row for one in self.items), *refused]


class Importer:
    """Compare the items of one tool with what is here, and write them."""

    def __init__(
        self, writer: JournalWriter, projects: Projects, redact: Callable[[str], str], tool: str
    ) -> None:
        """Take the writer, the known projects, what removes secrets, and the tool's name."""
        self._writer = writer
        self._memories = writer.memories
        self._projects = projects
        self._redact = redact
        self._tool, self._agent = tool, f"{SOURCE}{tool}"
        self._key = writer.journal.key
        self._undone = {one.memory for one in writer.journal.find_by_kind((UNDO,))}
        self._taken: set[str] = set()
        self._texts: dict[tuple[str, str], str] = {}  # texts of this import, with their source
        self._scopes: dict[str, str] = {}
        self._unknown: set[str] = set()

    def plan(self, found: Iterable[Item | LeftOut]) -> Plan:
        """Decide what becomes of each item."""
        planned, left_out, sources = [], [], set()
        for one in found:
            if isinstance(one, LeftOut):
                left_out.append(LeftOut(self._redact(one.source), one.reason))
            elif one.source in sources:
                left_out.append(LeftOut(self._redact(one.source), "its id is there twice"))
            else:
                sources.add(one.source)
                planned.append(self._plan(one))
        ids = {one.item.source: one.memory or one.row.memory for one in planned}
        unknown = frozenset(self._unknown)
        return Plan(self._tool, tuple(planned), tuple(left_out), unknown, {k: v for k, v in ids.items() if v})

    def _plan(self, item: Item) -> Planned:
        source = self._name(item.source)
        try:
            text = validate_text(self._redact(item.text))
        except UsageError as error:
            return Planned(item, Row(REFUSED, source, reason=str(error)))
        known = self._find(item)
        if known is not None:
            return self._plan_known(item, text, known)
        if item.status == FORGOTTEN:
            return Planned(item, Row(REFUSED, source, text, "it was deleted there"))
        scope = self._scope(item.project)
        put_away = find_put_away(self._memories, text, scope, self._writer.now, self._key)
        if put_away is not None:
            verb = "forgot" if put_away.status == FORGOTTEN else "rejected"
            return Planned(item, Row(REFUSED, source, text, f"you {verb} it", put_away.id))
        if (scope, text.casefold()) in self._texts:
            first = self._texts[scope, text.casefold()]
            return Planned(item, Row(SAME, source, text, "it is there twice", first))
        compared = compare_statement(self._memories, text, scope, self._writer.now)
        if compared.repeats:
            return Planned(item, Row(SAME, source, text, "told knows it", compared.repeats[0].id))
        memory = self._new_id(item)
        self._texts[scope, text.casefold()] = memory
        against = [] if item.status != ACTIVE else [*compared.replaces, *compared.blocked]
        if against:
            old, why = against[0]
            row = Row(CONFLICTING, source, text, f"it contradicts {old.id}: {why}", old.id)
            return Planned(item, row, text, scope, memory, tuple(one.id for one, _ in against))
        return Planned(item, Row(NEW, source, text, memory=memory), text, scope, memory)

    def _plan_known(self, item: Item, text: str, known: Memory) -> Planned:
        """Decide about an item that was imported before."""
        source = self._name(item.source)
        if known.status == FORGOTTEN:
            return Planned(item, Row(REFUSED, source, reason="you forgot it", memory=known.id))
        if known.is_rejected:
            return Planned(item, Row(REFUSED, source, text, "you rejected it", known.id))
        if item.status == FORGOTTEN and known.status == ACTIVE:
            reason = "it was deleted there; an import deletes nothing"
            return Planned(item, Row(REFUSED, source, text, reason, known.id))
        if known.text == text or item.status == FORGOTTEN:
            return Planned(item, Row(SAME, source, text, memory=known.id))
        if known.locked or known.is_decided_by_user:
            return Planned(item, Row(REFUSED, source, text, "you decided about the one here", known.id))
        row = Row(CONFLICTING, source, text, "it was changed there", known.id)
        return Planned(item, row, text, known.scope, known.id)

    def _find(self, item: Item) -> Memory | None:
        """Return the memory that an item became, or that it is."""
        if self._tool == TOLD:
            own = self._memories.get([item.source]).get(item.source)
            if own is not None:
                return own
        name = self._name(item.source)
        for one in self._memories.load(self._memories.of_session(name)).values():
            if any((place.agent, place.session) == (self._agent, name) for place in one.evidence):
                return one
        return None

    def _name(self, source: str) -> str:
        return self._redact(" ".join(source.split()))[:_MAX_SOURCE]

    def _new_id(self, item: Item) -> str:
        is_own = self._tool == TOLD and not self._is_taken(item.source)
        memory = item.source if is_own else new_memory_id(self._is_taken, f"{self._tool}\0{item.source}")
        self._taken.add(memory)
        return memory

    def _is_taken(self, memory: str) -> bool:
        is_named = memory in self._taken or memory in self._undone
        return is_named or bool(self._memories.ids_with_prefix(memory, 1))

    def _scope(self, project: str) -> str:
        """Return the scope of a project that a tool names by a folder, a remote or a name."""
        if project and project not in self._scopes:
            self._scopes[project] = PROJECT + self._projects.hide(self._identify(project))
        return self._scopes.get(project, GLOBAL)

    def _identify(self, project: str) -> str:
        if self._projects.by_key(project):
            return project
        is_path = os.path.isabs(project) or project[1:3] in (":\\", ":/")
        folder = project.rstrip("/") or project
        if is_path and os.path.isdir(folder):
            return identify(os.path.realpath(folder), ask_git=True).key
        known = self._projects.at(folder) if is_path else None
        if known:
            return known.key
        if is_path:
            self._unknown.add(project)
            return f"path:{folder}"
        named = self._projects.named(project)
        if len(named) == 1:
            return named[0].key
        if "/" in project or project.startswith(("path:", "commit:")):
            key = project if project.startswith(("path:", "commit:")) else normalize_remote(project)[0]
            if key.startswith("path:"):
                self._unknown.add(project)
            if key:  # a clone has the same one
                return key
        self._unknown.add(project)
        return f"name:{project}"

    def apply(self, plan: Plan, *, conflicting: bool) -> int:
        """Write a plan as one change; return how many memories it made or changed.

        What conflicts is only written if wanted: as a candidate, beside what is here.
        """
        wanted = (NEW, CONFLICTING) if conflicting else (NEW,)
        chosen = [one for one in plan.items if one.row.action in wanted]
        with self._writer.lock():
            self._writer.begin_group()
            for one in chosen:
                self._add(one)
            for one in chosen:
                self._add_links(one, plan.ids, {other.memory for other in chosen})
            self._writer.write(at_home=True)
        return len(chosen)

    def _add(self, one: Planned) -> None:
        item, writer = one.item, self._writer
        if one.memory == one.row.memory and one.row.action == CONFLICTING:
            writer.add("revise", one.memory, text=one.text, evidence=self._evidence(item))
            return
        is_candidate = item.status in (CANDIDATE, DISMISSED) or one.row.action == CONFLICTING
        payload = self._content(item, one.text) | {
            "scope": one.scope, "trust": item.trust, "evidence": self._evidence(item),
            "created": item.created or writer.now,
        }  # fmt: skip
        payload["alpha"], payload["beta"] = _PRIORS.get(item.trust, (1.0, 1.0))
        if is_candidate:
            payload["status"] = CANDIDATE
        writer.add("remember", one.memory, **payload)
        if item.status == ARCHIVED:
            writer.add(ARCHIVE, one.memory, known=[writer.now, 0, 0, 0, 0])
        if item.status == SUPERSEDED:
            writer.add("supersede", one.memory, by="", why=f"superseded in {self._tool}")

    def _content(self, item: Item, text: str) -> dict[str, Any]:
        about = describe_statement(text)
        kind, marks = split_kind(item.kind if item.kind in KIND_NAMES else OBSERVATION)
        entities = [*map(self._redact, item.entities), *about.entities]
        triggers = [[kind, self._redact(value)] for kind, value in item.triggers]
        return {
            "text": text, "kind": kind, "marks": list(marks), "context": self._redact(item.context),
            "importance": min(max(item.importance, 0.0), 10.0) or 4.0,
            "triggers": triggers or [[one.kind, one.value] for one in about.triggers],
            "entities": list(dict.fromkeys(entities)),
        }  # fmt: skip

    def _evidence(self, item: Item) -> list[dict[str, Any]]:
        at = item.created or self._writer.now
        places = [{"agent": self._agent, "session": self._name(item.source), "turn": 0, "at": at}]
        if item.agent and item.session:
            places.append({"agent": item.agent, "session": self._redact(item.session), "turn": 0, "at": at})
        return places

    def _add_links(self, one: Planned, ids: dict[str, str], made: set[str]) -> None:
        for kind, source in one.item.links:
            target = ids.get(source)
            if not target or target == one.memory:
                continue
            if kind in _LINKS:
                self._writer.add("edge", one.memory, kind=kind, target=target)
            elif kind == "supersedes" and target in made:
                self._writer.add("supersede", target, by=one.memory, why=f"superseded in {self._tool}")
        for target in one.contradicts:
            self._writer.add("edge", one.memory, kind="contradicts", target=target)


def count_rows(rows: Sequence[Row]) -> dict[str, int]:
    """Return how many rows have each action."""
    return {action: sum(row.action == action for row in rows) for action in (NEW, SAME, CONFLICTING, REFUSED)}
