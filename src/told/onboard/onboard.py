"""Learn a project from its files.

The facts have the trust of a tool: they can be searched and compared with memories, but are never rules and
never shown to an agent unasked.
"""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from told.capture.entities import find_entities, find_triggers
from told.hashing import blake2s
from told.memories.journal_writer import JournalWriter
from told.memories.lookup import find_put_away
from told.onboard.decisions import learn_decisions
from told.onboard.files import GROUPS, Git, ProjectFact, ProjectFiles
from told.onboard.instructions import learn_instructions
from told.onboard.stack import learn_stack
from told.onboard.tasks import learn_checks, learn_tasks
from told.store.memories.protocol import Memories
from told.store.memories.records import ACTIVE, ARCHIVED, FORGOTTEN, SUPERSEDED, TOOL, Memory

_FILE = "file"  # agent of the evidence
_MAX_FACTS = 200  # of a project
_READERS = (learn_stack, learn_tasks, learn_checks, learn_decisions, learn_instructions)
_IMPORTANCE = 3.0  # below every statement


@dataclass(frozen=True, slots=True)
class Change:
    """A new fact, and the memory that it replaces."""

    learned: ProjectFact
    mark: str  # its place, as evidence names it
    instead: Memory | None = None  # what the file said before


@dataclass(frozen=True, slots=True)
class OnboardPlan:
    """What onboarding would change."""

    new: tuple[Change, ...] = ()
    known: tuple[Memory, ...] = ()
    gone: tuple[Memory, ...] = ()  # in no file any more
    kept_out: int = 0  # the user forgot, rejected or replaced it
    left: int = 0  # above the maximum

    @property
    def found(self) -> int:
        """Return the number of facts."""
        return len(self.new) + len(self.known) + self.kept_out


def open_project(root: str, environ: Mapping[str, str]) -> ProjectFiles:
    """Open the files of a project."""
    return ProjectFiles(root, Git(root, environ))


def read_project(tree: ProjectFiles, redact: Callable[[str], str]) -> list[ProjectFact]:
    """Return all facts about a project, redacted."""
    found: dict[tuple[str, str], ProjectFact] = {}
    for part in _READERS:
        for one in part(tree):
            clean = replace(one, text=redact(one.text), quote=redact(one.quote), path=redact(one.path))
            if any(map(str.isalnum, clean.text)):
                found.setdefault((one.path, one.topic), clean)
    return sorted(found.values(), key=lambda one: GROUPS.index(one.group))


def plan_onboarding(
    memories: Memories, found: list[ProjectFact], scope: str, key: bytes, now: int
) -> OnboardPlan:
    """Compare facts with the known memories of a project."""
    rows = [row for status in (ARCHIVED, ACTIVE) for row in memories.listed(status=status, scopes=(scope,))]
    loaded = memories.load(rows)
    active = {
        place: one
        for one in (loaded[row] for row in rows if row in loaded)
        if (place := source_file_of(one)) and one.trust == TOOL and one.was in ("", ACTIVE)
    }
    marked = {_make_mark(one, scope, key): one for one in found[:_MAX_FACTS]}
    new: list[Change] = []
    known: list[Memory] = []
    kept_out = 0
    for mark, learned in marked.items():
        before = active.pop(mark, None)
        if before and (before.text == learned.text or before.locked):
            known.append(before)
        elif before:
            new.append(Change(learned, mark, before))
        elif _is_rejected(memories, mark, learned) or any(
            find_put_away(memories, text, scope, now, key) for text in (learned.text, learned.quote) if text
        ):
            kept_out += 1
        else:
            new.append(Change(learned, mark))
    gone = [one for one in active.values() if not one.locked]
    return OnboardPlan(tuple(new), tuple(known), tuple(gone), kept_out, max(0, len(found) - _MAX_FACTS))


def write_plan(writer: JournalWriter, planned: OnboardPlan, scope: str) -> list[str]:
    """Carry out a plan; return the ids of the new memories in order."""
    made = []
    for one in planned.new:
        memory = writer.new_id()
        learned = one.learned
        writer.add(
            "remember", memory, text=learned.text, kind=learned.kind, scope=scope, trust=TOOL,
            importance=_IMPORTANCE, alpha=1.0, beta=1.0, entities=list(find_entities(learned.text)),
            triggers=[[trigger.kind, trigger.value] for trigger in find_triggers(learned.text)],
            evidence=[{"agent": _FILE, "session": one.mark, "turn": learned.line,
                       "quote": learned.quote or learned.text, "at": writer.now}],
        )  # fmt: skip
        if one.instead:
            writer.add("supersede", one.instead.id, by=memory, why=f"{learned.path} changed")
        made.append(memory)
    for old in planned.known:
        if old.status == ARCHIVED:
            writer.add("restore", old.id, why="a file still says it")
    for old in planned.gone:
        writer.add("supersede", old.id, by="", why="no file says it any more")
    writer.write()
    return made


def source_file_of(memory: Memory) -> str:
    """Return the file that a memory comes from; empty if none."""
    return next((one.session for one in memory.evidence if one.agent == _FILE), "")


def _make_mark(learned: ProjectFact, scope: str, key: bytes) -> str:
    """Return the file of a fact, with a keyed mark of its project and topic.

    It outlives a forgotten memory, so it must not reveal the words.
    """
    about = f"{scope}\0{learned.path}\0{learned.topic}".encode("utf-8", "replace")
    mark = b32encode(blake2s(about, key=key, digest_size=5).digest())[::-1]
    return f"{learned.path}#{mark.decode().lower()}"


def _is_rejected(memories: Memories, mark: str, learned: ProjectFact) -> bool:
    """Return whether the user forgot or rejected what a file said there, or replaced it with a statement."""
    for old in memories.load(memories.of_session(mark)).values():
        is_same = old.text == learned.text
        if old.status == FORGOTTEN or (old.is_rejected and is_same):
            return True
        if old.status == SUPERSEDED and old.superseded_by and is_same:
            heir = memories.get([old.superseded_by]).get(old.superseded_by)
            if heir and heir.status == ACTIVE and not source_file_of(heir):
                return True
    return False
