"""`told remember`, `told memories` and `told stats`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from told.app import agent_name
from told.cli.arguments import Arguments
from told.cli.context import Context, MemoryView, count, count_shown, iso
from told.cli.guard import guard_json, print_guard
from told.cli.sessions import print_summary, select_sessions
from told.cli.terminal.tables import print_memories
from told.errors import NotFoundError, UsageError
from told.jsontext import load_json
from told.learning.repeats import count_repeats
from told.memories.change import LOCK, change
from told.memories.history import MemoryCounts, count_briefs, count_memories
from told.memories.remember import Remembered
from told.memories.remember import remember as store_memory
from told.memories.scopes import (
    REPOSITORY,
    MemoryFilter,
    active_scopes,
    list_and_count,
    validate_kind,
)
from told.reader.ledger import Ledger
from told.store.memories.records import (
    ACTIVE,
    ARCHIVED,
    CANDIDATE,
    DISMISSED,
    FORGOTTEN,
    PRIVATE,
    PROJECT,
    QUARANTINED,
    SUPERSEDED,
    Memory,
    format_scope,
    is_private,
    private_scope,
)
from told.store.sessions.match import TurnIndex
from told.store.sessions.read import Filter

_SOURCES = ("", "terminal", "file", "agent", "tool", REPOSITORY)
_STATUSES = (ACTIVE, CANDIDATE, SUPERSEDED, QUARANTINED, ARCHIVED, DISMISSED, FORGOTTEN)


def memories(context: Context, arguments: Arguments) -> None:
    """List memories of this project and global ones, newest first."""
    status = arguments.text("status") or ACTIVE
    if status not in _STATUSES:
        raise UsageError(f"Unknown status {status!r}. Use one of: {', '.join(_STATUSES)}.")
    limit = arguments.number("limit", 20)
    with MemoryView(context) as view:
        scopes, words = _scopes(view, arguments), arguments.phrase
        filters = [words, *(arguments.text(name) for name in ("kind", "source", "status"))]
        deeds = arguments.flag("all") or any(filters)
        wanted = MemoryFilter(
            scopes, validate_kind(arguments.text("kind")), status,
            source_name(arguments.text("source")), arguments.flag("locked"), words, observations=deeds,
        )  # fmt: skip
        found, total = list_and_count(view.memories, wanted, context.now, limit)
        left_out = 0 if deeds else view.memories.count_observations(scopes)
        waiting = 0 if any(filters) else view.memories.count_candidates(scopes)
        learning = context.describe_learning()
        if context.as_json:
            rows = view.json_rows(found)
            head = {"count": len(rows), "total": total, "left_out": left_out, "candidates": waiting}
            context.print_json(head | context.learning_json() | {"memories": rows}, found=found)
            return
        if not found:
            everywhere = arguments.flag("all-projects") or not view.memories.counts()
            filtered = any(filters) or arguments.flag("locked")
            nothing = _no_memories(everywhere=everywhere, filtered=filtered)
            raise NotFoundError(learning or nothing)
        print_summary(context, count_shown(len(found), total, "memory"))
        print_memories(view, found)
        if left_out:
            context.print(f"Not listed: {count(left_out, 'note')} on what agents did (--all).")
        if waiting:
            context.print(f"Not confirmed yet: {count(waiting, 'candidate')} (--status candidate).")
        if learning:
            context.print(learning)
        if status == CANDIDATE:
            context.print("`told review` decides them one after the other.")


def _no_memories(*, everywhere: bool, filtered: bool) -> str:
    if everywhere:
        return "No memories match." if filtered else "No memories yet. `told remember TEXT` adds one."
    what = "No memories match in this project." if filtered else "No memories in this project yet."
    return f"{what} Use --all-projects to list all."


def _scopes(view: MemoryView, arguments: Arguments) -> tuple[str, ...]:
    named = arguments.text("scope")
    project = view.project
    if arguments.text("project") or arguments.flag("all-projects"):
        chosen = select_sessions(view.context, arguments).project
        if chosen is None:
            return (PRIVATE, *view.memories.private_scopes()) if named == PRIVATE else ()
        project = PROJECT + chosen.key
    if named == PRIVATE:
        return (PRIVATE, private_scope(project))
    return (view.named_scope(named, project),) if named else active_scopes(view.memories, project)


def source_name(name: str) -> str:
    """Return a source's name as memories have it; what is no agent's may be a session or a file."""
    try:
        return name if name in _SOURCES else agent_name(name)
    except UsageError:
        if name.isalpha():  # a misspelled agent
            raise
        return name


def stats(context: Context, _: Arguments) -> None:
    """Print counts of memories, briefs and repeated corrections."""
    with MemoryView(context) as view:
        found = count_memories(view.memories, view.writer.journal, context.parse_time("today"))
        briefs = count_briefs(view.writer.journal)
        repeats = count_repeats(view.memories, TurnIndex(context.connection), briefs.since, view.project)
        sessions = context.reading.count(Filter())
        since = context.reading.count(Filter(since=briefs.since)) if briefs.since else 0
        ledger = Ledger(view.home, context.settings.reader_daily_tokens)
        spent, today = ledger.total(), ledger.today(context.now)
        locked = view.memories.get([found.last_locked]).get(found.last_locked) if found.last_locked else None
        if context.as_json:
            context.print_json({
                "count": found.total, "candidates": found.statuses.get(CANDIDATE, 0),
                "by_status": found.statuses, "by_kind": found.kinds,
                "by_scope": {format_scope(name): many for name, many in found.scopes.items()},
                "by_trust": found.trusts, "locked": found.locked, "learned": found.learned,
                "last_locked": view.json(locked) if locked else None,
                "corrections_today": found.corrections, "corrections_shown_today": found.surfaced,
                "briefs": briefs.briefs, "tokens_injected": briefs.tokens,
                "first_brief": iso(briefs.since) if briefs.since else None,
                "sessions": sessions, "sessions_since_first_brief": since,
                "repeated": repeats.total, "repeated_here": repeats.here,
                "repeats_before": repeats.before, "repeats_after": repeats.after,
                "reader": {
                    "mode": context.settings.reader_mode, "calls": spent.calls, "failed": spent.failed,
                    "tokens_in": spent.tokens_in, "tokens_out": spent.tokens_out,
                    "tokens_today": today.tokens, "daily_tokens": ledger.daily_tokens,
                    "memories": found.read,
                },
            })  # fmt: skip
            return
        _print_counts(view, found, locked)
        if briefs.briefs:
            each = briefs.tokens // briefs.briefs
            context.print(
                f"given to agents: {count(briefs.briefs, 'brief')}, {briefs.tokens:,} tokens ({each:,} each)"
            )
        else:
            context.print("given to agents: nothing yet")
        if spent.calls or context.settings.reads_sessions:
            failed = f", {spent.failed:,} failed" if spent.failed else ""
            context.print(
                f"reader: {count(spent.calls, 'call')}{failed}, {spent.tokens:,} tokens;"
                f" today {today.tokens:,} of {ledger.daily_tokens:,}; {found.read:,} learned"
            )
        context.print(f"Repeated corrections: {repeats.here:,} in this project, {repeats.total:,} in all")
        if briefs.since:
            before = f"{repeats.before:,} in {count(sessions - since, 'session')} before told"
            context.print(f"  {before}, {repeats.after:,} in {since:,} since")


def _print_counts(view: MemoryView, found: MemoryCounts, locked: Memory | None) -> None:
    context = view.context
    active = found.statuses.get(ACTIVE, 0)
    context.print(
        f"{active:,} of {found.total:,} memories are active: {found.locked:,} locked,"
        f" {found.learned:,} learned from sessions."
    )
    if waiting := found.statuses.get(CANDIDATE, 0):
        context.print(f"{count(waiting, 'candidate')} to confirm: `told memories --status candidate`.")
    scopes = {context.name(format_scope(name)): many for name, many in found.scopes.items()}
    tables = (("status", found.statuses), ("kind", found.kinds), ("said by", found.trusts), ("scope", scopes))
    for head, table in tables:
        context.print(f"{head}: {', '.join(f'{name} {many:,}' for name, many in table.items()) or '-'}")
    context.print(f"corrections today: {found.corrections:,}, shown to agents: {found.surfaced:,}")
    if locked:
        context.print(f"last locked: {view.row(locked)}")


_MAX_ITEMS = 50
_MAX_INPUT = 1_000_000  # characters
_FORM = 'Give a list such as [{"text": "…", "kind": "rule", "quote": "…"}].'


@dataclass(frozen=True, slots=True)
class _Item:
    """One statement as it was given."""

    text: str
    kind: str = ""
    scope: str = ""
    quote: str = ""
    replaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Saved:
    """One statement as it was saved."""

    done: Remembered
    why_not: str  # why it is not the user's word
    scope: str  # that it was given
    proposals: list[str]


def remember(context: Context, arguments: Arguments) -> None:
    """Remember statements, and report what each superseded."""
    given = arguments.text("items")
    items = _parse_items(given) if given else [_single_item(arguments)]
    locked = arguments.flag("lock")
    problems = []
    saved_items = 0
    rows: list[dict[str, Any]] = []
    with MemoryView(context) as view:
        for number, item in enumerate(items, 1):
            try:
                saved = _save(view, item, locked=locked)
            except UsageError as error:
                problems.append(f"Item {number} was not saved: {error}" if given else str(error))
                rows.append({"error": str(error)})
                continue
            saved_items += 1
            rows.append(
                _json(view, saved) | ({"guard": guard_json(context, saved.done.memory)} if locked else {})
            )
            if not context.as_json:
                _print_saved(view, saved)
    if not saved_items:
        raise UsageError("\n".join(problems))
    if context.as_json:
        context.print_json({"count": saved_items, "items": rows} if given else rows[0])
    else:
        for problem in problems:
            context.print(problem)


def _single_item(arguments: Arguments) -> _Item:
    if not arguments.phrase:
        raise UsageError("Missing argument: `told remember TEXT`. See `told remember --help`.")
    texts = {name: arguments.text(name) for name in ("kind", "scope", "quote")}
    return _Item(arguments.phrase, replaces=tuple(arguments["replaces"] or ()), **texts)


def _parse_items(given: str) -> list[_Item]:
    """Parse a JSON list of statements, from standard input if it is `-`."""
    try:
        text = sys.stdin.read(_MAX_INPUT + 1) if given == "-" else given
        found = load_json(text.strip()) if len(text) <= _MAX_INPUT else None
    except (OSError, ValueError):
        found = None
    if not isinstance(found, list) or not found:
        raise UsageError(f"--items is not a JSON list. {_FORM}")
    if len(found) > _MAX_ITEMS:
        raise UsageError(f"--items has {len(found):,} items. Give at most {_MAX_ITEMS}.")
    return [_parse_item(one) for one in found]


def _parse_item(found: Any) -> _Item:
    fields = {"text": found} if isinstance(found, str) else found
    if not isinstance(fields, dict):
        raise UsageError(f"An item of --items must be an object. {_FORM}")
    unknown = sorted(set(map(str, fields)) - set(_Item.__slots__))
    if unknown:
        raise UsageError(f"Unknown {unknown[0]!r} in --items. Use text, kind, scope, quote and replaces.")
    old = fields.get("replaces") or ()
    old = [old] if isinstance(old, str) else old
    texts = {name: fields.get(name) or "" for name in _Item.__slots__ if name != "replaces"}
    if not isinstance(old, (list, tuple)) or not all(isinstance(one, str) for one in (*texts.values(), *old)):
        raise UsageError(f"The values of an item of --items must be texts. {_FORM}")
    return _Item(replaces=tuple(old), **texts)


def _save(view: MemoryView, item: _Item, *, locked: bool) -> _Saved:
    draft = view.new_memory(
        item.text, scope=item.scope, kind=item.kind, locked=locked, quote=item.quote, replaces=item.replaces
    )
    done = store_memory(view.writer, draft.new)
    proposals = list(done.proposals)
    if locked and not view.caller.is_user and not done.memory.locked:
        proposals.append(change(view.writer, LOCK, done.memory).proposal)
    return _Saved(done, draft.why_not, draft.new.scope, proposals)


def _json(view: MemoryView, saved: _Saved) -> dict[str, Any]:
    done = saved.done
    return view.json(done.memory) | {
        "again": done.again,
        "confirmed": done.confirmed,
        "restored": done.restored,
        "refined": done.refined,
        "supersedes": [view.json(old) | {"why": why} for old, why in done.superseded],
        "conflicts": [view.json(old) | {"why": why} for old, why in done.contradicted],
        "proposals": saved.proposals,
        "unproven": saved.why_not or None,
    }


def _print_saved(view: MemoryView, saved: _Saved) -> None:
    context, done = view.context, saved.done
    memory = done.memory
    is_here = memory.scope == view.project
    scope = memory.scope.removeprefix(PROJECT) if is_here else format_scope(memory.scope)
    refusal = "" if view.caller.is_user else describe_refusal(memory)
    if refusal:
        context.print(refusal)
        return
    if done.refined or done.confirmed:
        what = "Restored" if done.restored else "Refined" if done.refined else "Confirmed"
        context.print(f"{what}{_describe_trust(view, saved)}: {view.row(memory)}")
    elif done.again:
        counted = ", and counted" if done.counted else ""
        context.print(f"Already known{counted}: {view.row(memory)}")
    else:
        marks = [memory.kind_name, context.name(scope), *(["locked"] if memory.locked else [])]
        context.print(f"Remembered {memory.id} ({', '.join(marks)}){_describe_trust(view, saved)}.")
    if is_private(memory) and not is_private(saved.scope) and view.caller.is_user:
        name = context.name(format_scope(saved.scope))
        context.print(f"Kept private. To make it public: `told scopes share {memory.id} {name}`.")
    for old, why in done.superseded:
        context.print(f"It supersedes {old.id} ({why}): {view.text(old, 200)}")
    for old, _ in done.contradicted:
        reason = "locked" if old.locked else f"in another scope ({view.scope(old)})"
        context.print(
            f"It contradicts {old.id}, which is {reason} and stays: {view.text(old, 200)}\n"
            f"To replace it: `told correct {old.id} NEW`."
        )
    if saved.proposals:
        context.print(waiting_note(saved.proposals))
    if not done.again or done.counted or done.confirmed:
        print_guard(context, memory)
        view.print_undo()


def describe_refusal(memory: Memory) -> str:
    """Return why an agent's statement was not saved; empty if it was."""
    if memory.status == DISMISSED:
        return f"Not saved: the user rejected {memory.id}. Only the user can restore it."
    if memory.status == FORGOTTEN:
        return "Not saved: the user deleted this from told. Only the user can save it again."
    return ""


def _describe_trust(view: MemoryView, saved: _Saved) -> str:
    if view.caller.is_user:
        return ""
    return f" as a candidate: {saved.why_not}" if saved.why_not else " as the user's word"


def waiting_note(proposals: list[str]) -> str:
    """Return the note that proposals wait for the user."""
    word = "proposal" if len(proposals) == 1 else "proposals"
    return f"Saved as {word} {', '.join(proposals)} for your approval."
