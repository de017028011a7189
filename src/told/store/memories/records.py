"""Define memories, and convert them to and from rows of `memory.db`."""

# ruff: noqa: PLC0414 - the names of status, trust and scope belong to the record

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from told.hashing import blake2s
from told.jsontext import dump_json, load_json
from told.store.database import public_id
from told.store.fts import match_in, quote_phrase
from told.store.memories.names import ACTIVE as ACTIVE
from told.store.memories.names import AGENT as AGENT
from told.store.memories.names import ARCHIVED as ARCHIVED
from told.store.memories.names import CANDIDATE as CANDIDATE
from told.store.memories.names import DISMISSED as DISMISSED
from told.store.memories.names import FORGOTTEN as FORGOTTEN
from told.store.memories.names import GLOBAL as GLOBAL
from told.store.memories.names import PRIVATE as PRIVATE
from told.store.memories.names import PROJECT as PROJECT
from told.store.memories.names import QUARANTINED as QUARANTINED
from told.store.memories.names import SHARED as SHARED
from told.store.memories.names import SUPERSEDED as SUPERSEDED
from told.store.memories.names import TEAM as TEAM
from told.store.memories.names import TOOL as TOOL
from told.store.memories.names import UNCONFIRMED as UNCONFIRMED
from told.store.memories.names import USER as USER
from told.store.memories.names import format_scope as format_scope
from told.store.memories.names import is_private as is_private
from told.store.memories.names import private_scope as private_scope
from told.store.memories.names import project_key as project_key

RULE, CORRECTION, PREFERENCE = "rule", "correction", "preference"
DECISION, FACT, WARNING, OBSERVATION = "decision", "fact", "warning", "observation"
KINDS = (RULE, DECISION, FACT, OBSERVATION)
MARKS = (CORRECTION, PREFERENCE, WARNING)  # kinds of their own in old journals
KIND_NAMES = (RULE, CORRECTION, PREFERENCE, DECISION, FACT, WARNING, OBSERVATION)
_KIND_OF_MARK = {CORRECTION: RULE, PREFERENCE: RULE, WARNING: FACT}
WAS = "was"  # edge from a memory to the one that it probably replaces
SHARED_WITH = "shared"  # edge to the id of a team that the user shares it with
CAPTURE = "capture"  # told itself, for what users stated in sessions
READ = "judged"  # journal topic: how far the reader has read each session
READER = "reader"  # told itself, for what the reader found in sessions
WHEN, ALWAYS = (
    "when",
    "always",
)  # kinds of triggers: a phrase of prompts that need it; needed in every session


class Evidence(NamedTuple):
    """The source of a memory; `told forget` erases only the quote."""

    agent: str = ""
    session: str = ""
    turn: int = 0
    quote: str = ""
    at: int = 0
    mark: str = ""  # a keyed hash of the words that were forgotten here
    words: int = 0  # how many words were forgotten


class Trigger(NamedTuple):
    """When a memory applies: a command, a path, a task."""

    kind: str
    value: str


class Edge(NamedTuple):
    """A relation to another memory: supports, contradicts, about."""

    kind: str
    target: str
    at: int = 0
    by: str = ""


class Memory(NamedTuple):
    """A statement worth knowing later, folded from its operations."""

    id: str
    machine: str = ""  # machine and number of the operation that created it
    number: int = 0
    text: str = ""
    kind: str = OBSERVATION
    label: str = ""
    scope: str = GLOBAL
    status: str = ACTIVE
    locked: bool = False
    trust: str = TOOL
    importance: float = 0.0
    alpha: float = 1.0
    beta: float = 1.0
    created: int = 0
    updated: int = 0
    expires: int = 0  # 0: never
    superseded_by: str = ""
    shown: int = 0
    shown_last: int = 0
    followed: int = 0
    repeated: int = 0
    confirmed: int = 0  # last confirmation by the user; 0: none, or rejected since
    marks: tuple[str, ...] = ()
    context: str = ""  # one line that is shown with a text that cannot stand alone
    worded_by: str = ""  # who chose its text: user, agent, or capture for told itself
    was: str = ""  # status before it was archived; of a dismissed one: candidate if expired, user if rejected
    evidence: tuple[Evidence, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    entities: tuple[str, ...] = ()
    edges: tuple[Edge, ...] = ()
    last: tuple[int, str, int] = (0, "", 0)  # time, machine and number of the latest operation

    @property
    def confidence(self) -> float:
        """How likely it is to help, by what happened so far."""
        return self.alpha / (self.alpha + self.beta)

    @property
    def is_decided_by_user(self) -> bool:
        """Whether the user said, locked or confirmed it."""
        return self.trust == USER or self.locked or bool(self.confirmed)

    @property
    def is_rejected(self) -> bool:
        """Whether the user rejected it, so that sessions do not teach it again."""
        return self.status == DISMISSED and self.was == USER

    @property
    def leading_kind(self) -> str:
        """The first mark if it has one, else the kind."""
        return self.marks[0] if self.marks else self.kind

    @property
    def kind_name(self) -> str:
        """The kind and its marks, as users read them."""
        return ", ".join((self.kind, *self.marks))

    @property
    def when(self) -> tuple[str, ...]:
        """Phrases of later prompts that need it."""
        return tuple(one.value for one in self.triggers if one.kind == WHEN)

    @property
    def always(self) -> bool:
        """Whether nearly every session needs it."""
        return any(one.kind == ALWAYS for one in self.triggers)

    @property
    def words(self) -> str:
        """Entities, triggers and context, which are indexed beside the text."""
        named = [*self.entities, *(one.value for one in self.triggers if one.kind != ALWAYS)]
        return " ".join([*named, self.context] if self.context else named)


class Embedding(NamedTuple):
    """The vector of a text, comparable only within its model."""

    model: str = ""
    vector: bytes = b""  # empty if unknown; of a memory, those of its phrases follow


class IndexFields(NamedTuple):
    """What is indexed of a memory's text."""

    extra: str  # extra words
    embedding: Embedding = Embedding()


MakeFields = Callable[[str, int, Sequence[str]], IndexFields]  # of a text, its time and its phrases


class IdleMemory(NamedTuple):
    """The columns that decide when a memory is archived."""

    row: int
    id: str
    machine: str
    number: int
    kind: str
    marks: str
    status: str
    trust: str
    alpha: float
    beta: float
    created: int
    updated: int
    expires: int
    shown: int
    shown_last: int
    followed: int
    repeated: int
    last_at: int  # of the latest operation
    last_machine: str
    last_number: int


class Position(NamedTuple):
    """How far a segment of the journal has been applied."""

    size: int  # bytes
    number: int  # the highest operation
    mark: str  # the bytes before that place; they change when a payload is erased
    erased: str = ""  # the numbers of the operations that were erased when they were applied


# Columns of a memory; WRITTEN adds those of the index and the checksum.
COLUMNS = (
    "id", "machine", "number", "text", "kind", "label", "scope", "status", "locked",
    "trust", "importance", "alpha", "beta", "created", "updated", "expires", "superseded_by", "shown",
    "shown_last", "followed", "repeated", "confirmed", "marks", "context", "worded_by", "was",
    "detail", "last_at", "last_machine", "last_number",
)  # fmt: skip
INDEXED = ("scope_word", "text", "words", "extra")
WRITTEN = ("row", *COLUMNS, "scope_word", "words", "extra", "hash")
# Tables that link to memories, with their key columns.
LINK_TABLES = {
    "trigger_of": ("kind", "value", "scope", "row"),
    "evidence_of": ("session", "agent", "turn", "row"),
    "edge": ("source", "kind", "target", "at", "by"),
}
_MARKS = COLUMNS.index("marks")
_LOCKED = COLUMNS.index("locked")
_DETAIL = COLUMNS.index("detail")

# The upper part of a row id counts seconds since 2015, so that rows are in order of time.
_EPOCH = 1_420_070_400
_LAST_SECOND = (1 << 40) - 1
_LOW = (1 << 20) - 1

# Index words of scopes, which nobody writes.
ACTIVE_SCOPE = "toldscope"
# Of every memory that normal searches leave out, beside its scope.
_STATUS_WORDS = {ARCHIVED: "toldarchived", CANDIDATE: "toldcandidates", DISMISSED: "tolddismissals"}
STATUS_TERMS = {status: match_in("scope_word", quote_phrase(word)) for status, word in _STATUS_WORDS.items()}
_SCOPE_PREFIXES = {
    ACTIVE: ACTIVE_SCOPE, ARCHIVED: "toldaway", CANDIDATE: "toldmaybe", DISMISSED: "tolddropped",
}  # fmt: skip


def split_kind(name: str) -> tuple[str, tuple[str, ...]]:
    """Return the kind and the marks of a kind's name, also of an old one."""
    return (_KIND_OF_MARK[name], (name,)) if name in _KIND_OF_MARK else (name, ())


@cache
def make_scope_word(scope: str, status: str = ACTIVE) -> str:
    """Return the index word of a scope's memories of a status."""
    return public_id(_SCOPE_PREFIXES.get(status, "toldended"), scope, length=10)


def row_key(memory: Memory) -> tuple[int, str, int]:
    """Return what a memory's row id depends on."""
    return memory.created, memory.machine, memory.number


def make_row_id(memory: Memory) -> int:
    """Return the row id of a memory, the same on every machine."""
    second = min(max(memory.created // 1000 - _EPOCH, 0), _LAST_SECOND)
    return second << 20 | (memory.number + row_offset(memory.machine)) & _LOW


@cache
def row_offset(machine: str) -> int:
    """Return what a machine's rows of one second begin with."""
    return int.from_bytes(blake2s(machine.encode(), digest_size=4).digest(), "big") & _LOW


def make_row(row: int, memory: Memory, extra: str) -> tuple[Any, ...]:
    """Return the values of a row in the order of WRITTEN."""
    detail = dump_json([memory.evidence, memory.triggers, memory.entities, memory.edges])
    plain = [getattr(memory, name) for name in COLUMNS[:_DETAIL]]
    values: tuple[Any, ...] = (*plain, detail, *memory.last)
    values = (*values[:_LOCKED], int(memory.locked), *values[_LOCKED + 1 :])
    values = (*values[:_MARKS], " ".join(memory.marks), *values[_MARKS + 1 :])
    word = make_scope_word(memory.scope, memory.status) if memory.text else ""
    if word and memory.status in _STATUS_WORDS:
        word = f"{_STATUS_WORDS[memory.status]} {word}"
    values = (row, *values, word, memory.words, extra)
    return (*values, hash_row(values))


def hash_row(values: Sequence[Any]) -> bytes:
    """Return the checksum of a row's other values."""
    return blake2s("\x1f".join(map(str, values)).encode("utf-8", "replace"), digest_size=8).digest()


def parse_memory(values: Sequence[Any]) -> Memory:
    """Return the memory of a row in the order of COLUMNS."""
    evidence, triggers, entities, edges = load_json(values[_DETAIL])
    fields = (
        *values[:_LOCKED],
        bool(values[_LOCKED]),
        *values[_LOCKED + 1 : _MARKS],
        tuple(values[_MARKS].split()),
        *values[_MARKS + 1 : _DETAIL],
        tuple([Evidence(*one) for one in evidence]),
        tuple([Trigger(*one) for one in triggers]),
        tuple(entities),
        tuple([Edge(*one) for one in edges]),
        tuple(values[_DETAIL + 1 :]),
    )
    return Memory(*fields)


def list_links(row: int, memory: Memory) -> set[tuple[Any, ...]]:
    """Return the rows of LINK_TABLES for a memory: (table, values …)."""
    found: set[tuple[Any, ...]] = {
        ("evidence_of", one.session, one.agent, one.turn, row) for one in memory.evidence if one.session
    }
    found |= {("edge", memory.id, edge.kind, edge.target, edge.at, edge.by) for edge in memory.edges}
    if memory.status == ACTIVE:
        found |= {("trigger_of", one.kind, one.value, memory.scope, row) for one in memory.triggers}
    return found
