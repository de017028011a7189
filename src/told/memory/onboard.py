"""Learns a project from its files and its history: as what the files say, which is nobody's word.

What is learned has the trust of a tool. It can be searched and held against memories; it is never a rule and
never put before an agent unasked.
"""

from __future__ import annotations

from _blake2 import blake2s
from difflib import SequenceMatcher

from told.memory._capture_names import entities, triggers
from told.memory._onboard_files import Tree
from told.memory._onboard_git import Git
from told.memory._onboard_history import learn_history
from told.memory._onboard_instructions import learn_instructions
from told.memory._onboard_layout import learn_layout
from told.memory._onboard_learned import GROUPS, INSTRUCTIONS, Learned
from told.memory._onboard_readme import learn_readme
from told.memory._onboard_services import learn_services
from told.memory._onboard_stack import learn_stack
from told.memory._onboard_tasks import learn_tasks
from told.record import record, replaced
from told.store.memory_records import ACTIVE, ARCHIVED, FORGOTTEN, SUPERSEDED, TOOL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from told.memory.pen import Pen
    from told.store.memories import Memories
    from told.store.memory_records import Memory

FILE = "file"  # the agent of evidence that stands in a file
MOST = 200  # memories of a project
_LEARN = (
    learn_readme, learn_stack, learn_tasks, learn_services, learn_layout, learn_history, learn_instructions,
)  # fmt: skip
_IMPORTANCE = 3.0  # below everything that somebody said
_ALIKE = 0.6  # of a statement that was edited and one that was replaced
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


@record
class Change:
    """What is to be done about one thing."""

    learned: Learned
    mark: str  # where it stands, as evidence names it
    instead: Memory | None = None  # what the file said before


@record
class Plan:
    """What onboarding would change."""

    new: tuple[Change, ...] = ()
    known: tuple[Memory, ...] = ()
    gone: tuple[Memory, ...] = ()  # no file says it any more
    kept_out: int = 0  # the user forgot it, or said otherwise
    left: int = 0  # more than a project may have

    @property
    def found(self) -> int:
        """How many things the files say."""
        return len(self.new) + len(self.known) + self.kept_out


def tree_of(root: str, environ: Mapping[str, str]) -> Tree:
    """Return the files of a project."""
    return Tree(root, Git(root, environ))


def learn(tree: Tree, redact: Callable[[str], str]) -> list[Learned]:
    """Return everything that a project's files and history say of it, without secrets."""
    found: dict[tuple[str, str], Learned] = {}
    for part in _LEARN:
        for one in part(tree):
            clean = replaced(one, text=redact(one.text), quote=redact(one.quote), path=redact(one.path))
            if any(map(str.isalnum, clean.text)):
                found.setdefault((one.path, one.topic), clean)
    return sorted(found.values(), key=lambda one: GROUPS.index(one.group))


def plan(memories: Memories, found: list[Learned], scope: str, key: bytes) -> Plan:
    """Hold what was learned against what is known; what a file no longer says has come to its end."""
    rows = [row for status in (ARCHIVED, ACTIVE) for row in memories.listed(status=status, scopes=(scope,))]
    loaded = memories.load(rows)
    active = {
        place: one
        for one in (loaded[row] for row in rows if row in loaded)
        if (place := place_of(one)) and one.trust == TOOL and one.was in ("", ACTIVE)
    }
    marked = {mark_of(one, scope, key): one for one in found[:MOST]}
    new: list[Change] = []
    known: list[Memory] = []
    kept_out = 0
    for mark, learned in marked.items():
        before = active.pop(mark, None)
        if before and (before.text == learned.text or before.locked):
            known.append(before)
        elif before:
            new.append(Change(learned, mark, before))
        elif _is_unwanted(memories, mark, learned):
            kept_out += 1
        else:
            new.append(Change(learned, mark))
    gone = [one for one in active.values() if not one.locked]
    placed = [_in_place_of(one, gone) for one in new]
    return Plan(tuple(placed), tuple(known), tuple(gone), kept_out, max(0, len(found) - MOST))


def write(pen: Pen, planned: Plan, scope: str) -> list[str]:
    """Do what was planned, as one act; return the ids of the new memories in their order."""
    made = []
    for one in planned.new:
        memory = pen.new_id()
        learned = one.learned
        pen.note(
            "remember", memory, text=learned.text, kind=learned.kind, scope=scope, trust=TOOL,
            importance=_IMPORTANCE, alpha=1.0, beta=1.0, entities=list(entities(learned.text)),
            triggers=[[trigger.kind, trigger.value] for trigger in triggers(learned.text)],
            evidence=[{"agent": FILE, "session": one.mark, "turn": learned.line,
                       "quote": learned.quote or learned.text, "at": pen.now}],
        )  # fmt: skip
        if one.instead:
            pen.note("supersede", one.instead.id, by=memory, why=f"{learned.path} changed")
        made.append(memory)
    for old in planned.known:
        if old.status == ARCHIVED:
            pen.note("restore", old.id, why="a file still says it")
    for old in planned.gone:
        pen.note("supersede", old.id, by="", why="no file says it any more")
    pen.write()
    return made


def place_of(memory: Memory) -> str:
    """Return where in a project's files a memory stands; empty if it is from elsewhere."""
    return next((one.session for one in memory.evidence if one.agent == FILE), "")


def mark_of(learned: Learned, scope: str, key: bytes) -> str:
    """Return where something stands: its file, and a mark for the project and the topic.

    It outlives the memory when that is forgotten, so it must not give the words away: the mark is keyed.
    """
    about = f"{scope}\0{learned.path}\0{learned.topic}".encode("utf-8", "replace")
    number = int.from_bytes(blake2s(about, key=key, digest_size=5).digest(), "big")
    letters = "".join(_LETTERS[number >> shift & 31] for shift in range(0, 40, 5))
    return f"{learned.path}#{letters}"


def _is_unwanted(memories: Memories, mark: str, learned: Learned) -> bool:
    """Tell whether the user forgot what stands there, or put his own word in its place."""
    for old in memories.load(memories.of_session(mark)).values():
        if old.status == FORGOTTEN:
            return True
        if old.status != SUPERSEDED or not old.superseded_by or old.text != learned.text:
            continue
        heir = memories.get([old.superseded_by]).get(old.superseded_by)
        if heir and heir.status == ACTIVE and not place_of(heir):
            return True
    return False


def _in_place_of(change: Change, gone: list[Memory]) -> Change:
    """Find the statement of the same file that an edited one was before; it is then no longer gone."""
    if change.instead or change.learned.group != INSTRUCTIONS:
        return change
    file = change.mark.rpartition("#")[0]
    best, alike = None, _ALIKE
    for old in gone:
        if place_of(old).rpartition("#")[0] != file:
            continue
        ratio = SequenceMatcher(None, old.text, change.learned.text, autojunk=False).ratio()
        if ratio > alike:
            best, alike = old, ratio
    if best is None:
        return change
    gone.remove(best)
    return replaced(change, instead=best)
