"""`told why`, `told evolution`, `told diff` and `told stats`: how what is known came to be so."""

from __future__ import annotations

from told.agents.labels import label
from told.cli.memory_desk import Desk, joined, memory_json, moment_of
from told.cli.output import cut, iso, to_json, when
from told.errors import NotFoundError
from told.memory.finding import Wanted, listed, meant
from told.memory.history import changes_since, line_of
from told.memory.why import after, before, steps_of
from told.store.memory_records import ARCHIVED, SUPERSEDED, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.memory.why import Step
    from told.store.memory_records import Evidence, Memory

_LATEST_STEPS = 40
_LEAST_OF_AN_ID = 3  # letters


def is_memory(context: Context, given: str) -> bool:
    """Tell whether an id is that of a memory, or the beginning of one."""
    if not (len(given) >= _LEAST_OF_AN_ID and given.startswith("m") and given.isascii() and given.isalnum()):
        return False
    with Desk(context) as desk:
        return bool(desk.memories.like(given, 1))


def why(context: Context, arguments: Arguments) -> int:
    """Print where a memory comes from, what it replaced, when it was shown, and all that happened to it."""
    with Desk(context) as desk:
        memory = desk.one(joined(arguments), ended=True)
        earlier, later = before(desk.memories, memory.id), after(desk.memories, memory)
        shown = desk.memories.sessions_showing(memory.id)
        steps = steps_of(desk.home, memory.id)
        context.rows = 1
        if arguments.flag("json"):
            context.print(to_json(memory_json(desk, memory) | {
                "evidence": [_evidence_json(desk, memory, one) for one in memory.evidence],
                "supersedes": [memory_json(desk, one) for one in earlier],
                "superseded_by_all": [memory_json(desk, one) for one in later],
                "shown_in": [{"session": name, "at": iso(at)} for name, at in shown.items()],
                "followed": memory.followed,
                "history": [_step_json(one) for one in steps],
            }))  # fmt: skip
            return 0
        locked = ", locked" if memory.locked else ""
        context.print(
            f"{memory.id} {memory.kind}, {desk.scope(memory)}, {memory.status}{locked},"
            f" said by {memory.trust}, confidence {memory.confidence:.2f}"
        )
        context.print(desk.text(memory))
        if memory.status == ARCHIVED:
            context.print(f"It faded; `told retention restore {memory.id}` brings it back as it was.")
        for place in memory.evidence:
            context.print(_evidence(desk, memory, place))
        for head, chain in (("replaced", earlier), ("replaced by", later)):
            for one in chain:
                context.print(f"{head}: {desk.row(one)}")
        times = f"{memory.shown}, last {when(memory.shown_last, context.now)}" if memory.shown else "never"
        context.print(f"shown: {times}")
        if len(steps) > _LATEST_STEPS:
            context.print(f"({len(steps) - _LATEST_STEPS} earlier operations: --json)")
        for step in steps[-_LATEST_STEPS:]:
            context.print(_step(context, step))
    return 0


def _evidence(desk: Desk, memory: Memory, one: Evidence) -> str:
    context = desk.context
    where = context.name(label(one.agent)) if one.agent else "unknown"
    where = "typed at the terminal" if one.agent == "terminal" else where
    place = f" {context.name(f'{one.session}.{one.turn}')}" if one.session else ""
    if one.agent == "file":  # what stands behind # tells apart what was learned from one file
        path = one.session.partition("#")[0]
        place = f" {context.name(f'{path}:{one.turn}')}"
    quote = cut(one.quote, 200)
    quote = quote if memory.trust == USER else context.fence.inline(quote, memory.trust)
    return f"evidence: {when(one.at, context.now)} {where}{place}: {quote}"


def _evidence_json(desk: Desk, memory: Memory, one: Evidence) -> dict[str, Any]:
    quote = one.quote if memory.trust == USER else desk.context.fence.inline(one.quote, memory.trust)
    return {
        "agent": one.agent, "session": one.session or None, "turn": one.turn if one.session else None,
        "quote": quote, "at": iso(one.at), "trust": memory.trust,
    }  # fmt: skip


def _step(context: Context, step: Step) -> str:
    one = step.operation
    other = str((one.payload or {}).get("by") or "") if one.kind == "supersede" else ""
    reason = str((one.payload or {}).get("why") or "")
    detail = f" by {other}" if other else ""
    detail += f" ({reason})" if reason else ""
    note = ", taken back" if step.undone else ""
    return (
        f"{when(one.at, context.now)} {one.kind} by {one.by}, confidence {step.confidence:.2f}{note}{detail}"
    )


def _step_json(step: Step) -> dict[str, Any]:
    one = step.operation
    return {
        "at": iso(one.at), "what": one.kind, "by": one.by, "confidence": step.confidence,
        "undone": step.undone,
    }  # fmt: skip


def evolution(context: Context, arguments: Arguments) -> int:
    """Print how a memory, or what is known of a topic, developed, the oldest first."""
    given = joined(arguments)
    with Desk(context) as desk:
        found = [one for one in meant(desk.memories, given, desk.scopes, context.now) if one.text]
        if not (len(found) == 1 and found[0].id.startswith(given)):
            wanted = Wanted(desk.scopes, "", SUPERSEDED, words=given)
            found += listed(desk.memories, wanted, context.now, 20)
        line = line_of(desk.memories, found)
        context.rows = len(line)
        if arguments.flag("json"):
            rows = [memory_json(desk, one) for one in line]
            context.print(to_json({"count": len(rows), "memories": rows}))
            return 0 if rows else 1
        if not line:
            raise NotFoundError(f"No memory fits {cut(given, 60)!r}. `told memories` lists them.")
        for one in line:
            to = f" -> {one.superseded_by}" if one.superseded_by else ""
            context.print(f"{desk.row(one)}{to}")
    return 0


def diff(context: Context, arguments: Arguments) -> int:
    """Print what happened to memories since a time."""
    since = moment_of(context, joined(arguments))
    with Desk(context) as desk:
        changes = changes_since(desk.home, since)
        known = desk.memories.get(change.memory for change in changes)
        wanted = [one for one in changes if one.memory in known]
        if not arguments.flag("all-projects"):
            scopes = desk.scopes
            wanted = [
                one for one in wanted if known[one.memory].scope in scopes or not known[one.memory].text
            ]
        context.rows = len(wanted)
        if arguments.flag("json"):
            rows = [memory_json(desk, known[one.memory]) | {"what": list(one.what), "at": iso(one.at)}
                    for one in wanted]  # fmt: skip
            context.print(to_json({"count": len(rows), "since": iso(since), "changes": rows}))
            return 0 if rows else 1
        if not wanted:
            raise NotFoundError(f"Nothing happened to memories since {when(since, context.now)}.")
        for one in wanted:
            context.print(f"{', '.join(one.what)}: {desk.row(known[one.memory])}")
    return 0
