"""Remember statements: add a memory or count a repeat, and supersede others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from told.capture.statements import Description, Statement
from told.conflict.compare import Comparison, compare_statement, is_user_statement
from told.conflict.same import say_same
from told.errors import UsageError
from told.journal.transitions import may_reword
from told.memories.journal_writer import JournalWriter
from told.memories.lookup import (
    find_refusing,
    find_rejected,
    find_same,
    find_same_words,
    is_users_request,
    keep_private,
    may_confirm,
    refuse,
)
from told.memories.payload import estimate_prior, evidence_of, make_content
from told.search.until import find_end
from told.store.memories.records import (
    ACTIVE,
    ARCHIVED,
    CANDIDATE,
    CAPTURE,
    DISMISSED,
    PRIVATE,
    QUARANTINED,
    READER,
    USER,
    WAS,
    Memory,
    is_private,
)

MAX_LENGTH = 4000  # characters


class NewMemory(NamedTuple):
    """A statement to remember, already redacted."""

    text: str
    scope: str
    kind: str = ""  # default: guessed for the user's statements, an observation for others
    locked: bool = False
    trust: str = USER
    quote: str = ""
    agent: str = "terminal"
    session: str = ""
    turn: int = 0
    at: int = 0  # when it was said; 0 is now
    about: Description | Statement | None = None  # kind, triggers and entities, if already known
    label: str = ""  # of an observation
    seed: str = ""  # makes the id reproducible
    certainty: float = 1.0  # that it is worth keeping
    candidate: bool = False  # stored, but not used until something confirms it
    marks: tuple[str, ...] = ()  # of correction, preference, warning
    context: str = ""  # one line that is shown with a text that cannot stand alone
    replaces: tuple[str, ...] = ()  # ids of memories that it replaces by its own words


class Remembered(NamedTuple):
    """The result of remembering a statement."""

    memory: Memory
    again: bool = False  # it was already known
    counted: bool = False  # the repeat changed the memory's confidence or evidence
    superseded: tuple[tuple[Memory, str], ...] = ()  # with the reason
    contradicted: tuple[tuple[Memory, str], ...] = ()  # not superseded, with the reason
    proposals: tuple[str, ...] = ()
    confirmed: bool = False  # a candidate became active
    restored: bool = False  # a memory that the user had rejected became active again
    refined: bool = False  # the text of a captured memory was replaced by a better one


def validate_text(text: str) -> str:
    """Return a statement on one line.

    Raises:
        UsageError: it is empty or too long.
    """
    line = " ".join(text.split())
    if not any(map(str.isalnum, line)):
        raise UsageError("There is nothing to remember in that.")
    if len(line) > MAX_LENGTH:
        raise UsageError(f"That is too long to remember: {len(line):,} characters. Say it in {MAX_LENGTH:,}.")
    return line


def remember(writer: JournalWriter, new: NewMemory, *, sync: bool = True) -> Remembered:
    """Remember a statement and write the result to the journal.

    A repeat counts for the known memory, and may confirm a candidate. A statement supersedes what it
    replaces, except for locked memories; a candidate supersedes nothing. What an agent says supersedes
    nothing that the user said; it makes a proposal instead, as does a captured statement against a locked
    memory. Of the same words of a session only one memory is made. What the user rejected or forgot only
    comes back by the user's own word: a command, or a request in a prompt to remember it. What repeats,
    refines or replaces a private memory is private.
    """
    with writer.lock():  # two processes may read the same prompt at the same time
        writer.begin_group()
        known = find_same_words(writer.memories, new.agent, new.session, new.quote)
        said_at = new.at if writer.caller.is_told else 0
        now = said_at or writer.now
        new = new._replace(scope=keep_private(writer.memories, new.text, new.scope, now, said_at))
        done = _use_same_words(writer, new, known) or _remember(writer, new)
        writer.write(sync=sync)
    return done._replace(memory=writer.read(done.memory.id))


def _use_same_words(writer: JournalWriter, new: NewMemory, known: Sequence[Memory]) -> Remembered | None:
    """Refine the memory that was made from the same words; None if the statement is another one."""
    if not known:
        return None
    if known[0].is_rejected:
        return _use_rejected(writer, new, known[0], _compare(writer, new, without=known[0].id))
    if writer.caller.is_told:
        old, is_candidate = known[0], known[0].status == CANDIDATE
        if writer.caller.by == READER:
            said = (new.text, tuple(new.about.triggers if new.about else ()))
            is_better = may_reword(old) and old.status in (ACTIVE, CANDIDATE)
            confirms, refines = is_candidate, is_better and (old.text, old.triggers) != said
        else:
            confirms = is_candidate and not new.candidate
            refines = confirms or _says_more(new, old)
        return _refine(writer, new, old, confirms=confirms) if refines else Remembered(old, again=True)
    own = [one for one in known if one.worded_by == CAPTURE and not one.locked]
    if new.trust != USER or not own:
        return None
    if own[0].status not in (ACTIVE, CANDIDATE):
        return Remembered(own[0], again=True) if own[0].status == DISMISSED else None
    for other in own[1:]:
        if other.status == CANDIDATE:
            writer.add("reject", other.id, why="an agent reported the same words")
    return _refine(writer, new, own[0], confirms=True)


def _says_more(new: NewMemory, old: Memory) -> bool:
    """Tell whether a transcript gives a better text than the hook had, which sees only the prompt."""
    from_hook = any(place.session == new.session and not place.turn for place in old.evidence)
    differs = (old.text, old.context) != (new.text, new.context)
    is_own = old.worded_by == CAPTURE and not old.locked and old.status in (ACTIVE, CANDIDATE)
    return bool(from_hook and new.turn and differs and is_own)


def _refine(writer: JournalWriter, new: NewMemory, old: Memory, *, confirms: bool) -> Remembered:
    """Replace the text, kind and scope of a captured memory by a better statement of the same words."""
    found = _compare(writer, new, without=old.id)
    if found.repeats:
        other = found.repeats[0]
        writer.add("confirm", other.id, evidence=[evidence_of(new, writer.now)])
        writer.add("supersede", old.id, by=other.id, why="says the same")
        return Remembered(other, again=True, counted=True)
    put_away = find_refusing(writer, new)
    if put_away:
        return Remembered(refuse(writer, new, put_away), again=True)
    evidence = [evidence_of(new, writer.now)]
    asks_private = is_private(new.scope) and not is_private(old)
    scope = old.scope if is_private(old) or asks_private else new.scope
    writer.add("revise", old.id, **make_content(new), scope=scope, evidence=evidence)
    if asks_private:  # only the user makes a memory private
        source = (new.agent, new.session) if writer.caller.is_told else None
        writer.propose(PRIVATE, old.id, source=source)
    if confirms:
        writer.add("confirm", old.id)
    if new.candidate:
        return Remembered(old, again=True, refined=True)
    done = add_consequences(writer, new, old, found)
    return done._replace(again=True, refined=True, confirmed=old.status == CANDIDATE)


def _compare(writer: JournalWriter, new: NewMemory, *, without: str = "") -> Comparison:
    """Compare a statement with the other memories of its scope."""
    # The quote may announce a change that the text leaves out: "From now on, …".
    said = new.quote if new.quote and say_same(new.quote, new.text) else new.text
    at = new.at if writer.caller.is_told else 0
    now = new.at if writer.caller.is_told else writer.now
    return compare_statement(writer.memories, said, new.scope, now, at, without=without)


def _remember(writer: JournalWriter, new: NewMemory) -> Remembered:
    """Do what the first state asks for that a statement is known in; without any it is new."""
    found = _compare(writer, new)
    for state, old in _find_states(writer, new, found):
        done = _ACTIONS[state](writer, new, old, found)
        if done:
            return done
    if new.candidate:
        return Remembered(Memory(add_memory(writer, new, status=CANDIDATE)))
    _, disputed = _divide_conflicts(writer, new, found)
    memory = add_memory(writer, new, status=QUARANTINED if disputed else "")
    return _add_operations(writer, new, Memory(memory), found)


def _find_states(writer: JournalWriter, new: NewMemory, found: Comparison) -> Iterator[tuple[str, Memory]]:
    """Yield in what states a statement is known, the first to count first."""
    yield from ((_KNOWN, old) for old in found.repeats[:1])
    rejected = find_rejected(writer.memories, new.text, new.scope, writer.now)
    if rejected:
        yield _REJECTED, rejected
    forgotten = find_refusing(writer, new)
    if forgotten:
        yield _FORGOTTEN, forgotten
    for status in (CANDIDATE, DISMISSED) if new.candidate else (CANDIDATE,):
        known = find_same(writer.memories, new.text, (new.scope,), writer.now, status)
        yield from ((_UNCONFIRMED, old) for old in known[:1])


def _is_pasted(new: NewMemory) -> bool:
    return isinstance(new.about, Statement) and new.about.pasted


def _count_repeat(writer: JournalWriter, new: NewMemory, old: Memory, _: Comparison) -> Remembered:
    """Count that a known statement was said again; a paste does not count."""
    if _is_pasted(new):
        return Remembered(old, again=True)
    counted = (_add_captured_repeat if writer.caller.is_told else _add_repeat)(writer, new, old)
    if old.expires:
        writer.add("expire", old.id, expires=find_end(new.text, new.at or writer.now))
    return Remembered(old, again=True, counted=counted)


def _use_rejected(writer: JournalWriter, new: NewMemory, old: Memory, found: Comparison) -> Remembered | None:
    """Keep a rejected memory away, or restore it because the user asks for it again.

    None if the user asks for it in another scope, where it is a new memory.
    """
    if not is_users_request(writer, new, old):
        return Remembered(refuse(writer, new, old), again=True)
    if old.scope != new.scope:
        return None
    return _confirm_by_repeat(writer, new, old, found)._replace(restored=True)


def _refuse(writer: JournalWriter, new: NewMemory, old: Memory, _: Comparison) -> Remembered:
    """Keep away what the user forgot."""
    return Remembered(refuse(writer, new, old), again=True)


def _use_unconfirmed(writer: JournalWriter, new: NewMemory, old: Memory, found: Comparison) -> Remembered:
    """Confirm a candidate that is said again, if that is enough."""
    if not _is_pasted(new) and may_confirm(old, new.session, new.trust, sure=not new.candidate):
        return _confirm_by_repeat(writer, new, old, found)
    return Remembered(old, again=True)


def _confirm_by_repeat(writer: JournalWriter, new: NewMemory, old: Memory, found: Comparison) -> Remembered:
    """Make a candidate active because it was said again; a sure statement gives it its wording."""
    if not new.candidate and not old.locked:
        writer.add("revise", old.id, **make_content(new), trust=new.trust)
    writer.add("confirm", old.id, evidence=[evidence_of(new, writer.now)], why="said again")
    if new.locked and writer.caller.is_user:
        writer.add("lock", old.id)
    done = add_consequences(writer, new, old, found)
    return done._replace(again=True, counted=True, confirmed=True)


_KNOWN, _REJECTED, _FORGOTTEN, _UNCONFIRMED = "known", "rejected", "forgotten", "unconfirmed"
_ACTIONS: dict[str, Callable[[JournalWriter, NewMemory, Memory, Comparison], Remembered | None]] = {
    _KNOWN: _count_repeat,  # for it, or against it if it was shown
    _REJECTED: _use_rejected,  # kept away, or restored if the user asks for it
    _FORGOTTEN: _refuse,
    _UNCONFIRMED: _use_unconfirmed,  # confirmed if it is said again elsewhere
}


def add_consequences(writer: JournalWriter, new: NewMemory, memory: Memory, found: Comparison) -> Remembered:
    """Add what a confirmed or refined memory supersedes, contradicts and proposes."""
    if _divide_conflicts(writer, new, found)[1]:
        writer.add("quarantine", memory.id)
    return _add_operations(writer, new, memory, found)


def _divide_conflicts(
    writer: JournalWriter, new: NewMemory, found: Comparison
) -> tuple[list[tuple[Memory, str]], list[Memory]]:
    """Return what a statement supersedes, and what it only disputes."""
    named = writer.memories.get(new.replaces).values()
    named_pairs = [(old, "named as replaced") for old in named if old.status in (ACTIVE, QUARANTINED)]
    pairs = list({old.id: (old, why) for old, why in (*found.replaces, *named_pairs)}.values())
    if writer.caller.is_user:
        return [pair for pair in pairs if not pair[0].locked], []
    if new.trust == USER:  # the user's own words in a session
        blocked = (*(old for old, _ in found.blocked), *(old for old, _ in named_pairs))
        disputed = list({old.id: old for old in blocked if old.locked}.values())
        return [pair for pair in pairs if not pair[0].locked], disputed
    superseded = [pair for pair in pairs if not is_user_statement(pair[0])]
    return superseded, [old for old, _ in pairs if is_user_statement(old) and old.status == ACTIVE]


def _add_operations(writer: JournalWriter, new: NewMemory, memory: Memory, found: Comparison) -> Remembered:
    superseded, disputed = _divide_conflicts(writer, new, found)
    for old, why in superseded:
        writer.add("supersede", old.id, by=memory.id, why=why)
    is_captured = writer.caller.is_told
    for later, why in found.outdated_by[:1] if is_captured else ():
        writer.add("supersede", memory.id, by=later.id, why=why)
    for old, why in found.blocked:
        writer.add("edge", memory.id, kind="contradicts", target=old.id, why=why)
    source = (new.agent, new.session) if is_captured else None
    proposals = [writer.propose("correct", old.id, by=memory.id, source=source) for old in disputed]
    if not disputed and new.trust == USER:
        done = {old.id for old, _ in superseded}
        # The reader names what it replaces itself.
        likely = [pair for pair in found.likely if pair[0].id not in done and writer.caller.by != READER]
        proposals += [propose_replacement(writer, memory.id, *pair, source=source) for pair in likely]
    return Remembered(
        memory, superseded=tuple(superseded), contradicted=found.blocked, proposals=tuple(proposals)
    )


def propose_replacement(
    writer: JournalWriter, new: str, old: Memory, why: str, *, source: tuple[str, str] | None = None
) -> str:
    """Ask whether a new memory replaces an old one; until then the old one is shown as what it was."""
    writer.add("edge", new, kind=WAS, target=old.id, why=why)
    return writer.propose("correct", old.id, by=new, source=source)


def add_memory(
    writer: JournalWriter, new: NewMemory, *, status: str = "", operation: str = "remember"
) -> str:
    """Add the operation that creates a memory; return its id."""
    alpha, beta = estimate_prior(new)
    optional = {
        "locked": new.locked and writer.caller.is_user, "created": new.at, "label": new.label,
        "expires": find_end(new.text, new.at or writer.now), "status": status,
    }  # fmt: skip
    memory = writer.new_id(new.seed)
    writer.add(
        operation, memory, **make_content(new), scope=new.scope, trust=new.trust, alpha=alpha, beta=beta,
        evidence=[evidence_of(new, writer.now)], **{name: value for name, value in optional.items() if value},
    )  # fmt: skip
    return memory


def _add_repeat(writer: JournalWriter, new: NewMemory, old: Memory) -> bool:
    """Count a repeat: against a memory that was shown before, else for it."""
    if old.status == ARCHIVED:
        writer.add("restore", old.id, why="said again")
    is_counted = writer.caller.is_user or not is_user_statement(old)
    if is_counted:
        kind = "repeat" if old.shown and old.status != ARCHIVED else "confirm"
        writer.add(kind, old.id, evidence=[evidence_of(new, writer.now)])
    if new.locked and writer.caller.is_user and not old.locked:
        writer.add("lock", old.id)
    return is_counted


def _add_captured_repeat(writer: JournalWriter, new: NewMemory, old: Memory) -> bool:
    """Count a repeat in a session: against a memory that this session was shown."""
    if old.status == ARCHIVED:
        writer.add("restore", old.id, why="said again")
    shown = writer.memories.shown_in(new.session).get(old.id, 0)
    did_not_help = 0 < shown <= new.at
    if any(place.session == new.session for place in old.evidence) and not did_not_help:
        return False
    weight = 1.0 if did_not_help else 0.0
    writer.add("repeat", old.id, weight=weight, evidence=[evidence_of(new, writer.now)])
    return True
