"""What a memory is, as `memory.db` stores it and every room above speaks of it."""

from __future__ import annotations

from told.record import record

RULE, CORRECTION, PREFERENCE = "rule", "correction", "preference"
DECISION, FACT, WARNING, OBSERVATION = "decision", "fact", "warning", "observation"
KINDS = (RULE, CORRECTION, PREFERENCE, DECISION, FACT, WARNING, OBSERVATION)
ACTIVE, SUPERSEDED, QUARANTINED, FORGOTTEN = "active", "superseded", "quarantined", "forgotten"
ARCHIVED = "archived"  # it faded: nothing finds it but who asks for it, and it comes back as it was
USER, AGENT, TOOL, TEAM = "user", "agent", "tool", "team:"
CAPTURE = "capture"  # who writes down what users said in sessions: told itself
GLOBAL, PROJECT, SHARED = "global", "project:", "shared:"


@record
class Evidence:
    """Where a memory comes from; after `told forget` the quote is gone and the place remains."""

    agent: str = ""
    session: str = ""
    turn: int = 0
    quote: str = ""
    at: int = 0
    mark: str = ""  # of words that were forgotten here: a keyed hash of them …
    words: int = 0  # … and how many they were


@record
class Trigger:
    """When a memory applies: a command, a path, a task."""

    kind: str
    value: str


@record
class Edge:
    """How a memory stands to another: it supports it, contradicts it, is about it."""

    kind: str
    target: str
    at: int = 0
    by: str = ""


@record
class Memory:
    """One statement worth knowing later, as its operations have left it."""

    id: str
    machine: str = ""  # the operation that made it
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
    confirmed: int = 0  # when the user last did so; 0: not, or rejected since
    was: str = ""  # its status before it was archived
    evidence: tuple[Evidence, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    entities: tuple[str, ...] = ()
    edges: tuple[Edge, ...] = ()
    last: tuple[int, str, int] = (0, "", 0)  # the latest operation in it: when, machine, number

    @property
    def confidence(self) -> float:
        """How likely it is to help, from what really happened."""
        return self.alpha / (self.alpha + self.beta)


@record
class Meant:
    """What a text means, as numbers that only those of the same model can be compared with."""

    model: str = ""
    vector: bytes = b""  # empty if it is not known


@record
class Worked:
    """What is worked out of a memory's text when it is stored."""

    extra: str  # further words to find it by
    about: str  # its topics and first words, for recall
    meant: Meant = Meant()


@record
class Idle:
    """What of a memory decides when it fades, as it is read of many at once."""

    row: int
    id: str
    machine: str
    number: int
    kind: str
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
    last_at: int  # the latest operation in it
    last_machine: str
    last_number: int


@record
class Position:
    """Up to where a segment of the journal has been applied."""

    size: int  # bytes
    number: int  # the highest operation
    mark: str  # the last bytes before that place: they differ once a payload was erased
