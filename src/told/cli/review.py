"""`told review`: decide what was learned, what is not sure, conflicts and proposals."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

from told.agents import label
from told.cli.arguments import Arguments
from told.cli.checkpoint_show import print_unapproved
from told.cli.context import (
    SHORTEST_ID,
    UNDO_HINT,
    Context,
    MemoryView,
    confirm_yes,
    count,
    cut,
    iso,
    may_ask,
    memory_count,
    when,
)
from told.cli.guard import print_guard
from told.cli.memories import waiting_note
from told.cli.memory_changes import undo
from told.cli.moving.machines import MachineNames, sides_json
from told.cli.moving.share import offer_sharing
from told.cli.sessions import may_widen, print_summary
from told.errors import NotFoundError, UsageError
from told.memories.change import Changed, find_proposal
from told.memories.journal_writer import JournalWriter
from told.memories.quotes import Quote, find_quote
from told.memories.review import (
    LEARNED,
    STATES,
    ReviewItem,
    dismiss,
    edit,
    find_review_items,
    keep,
    keep_both,
    keep_in_scope,
    keep_locked,
)
from told.memories.scopes import active_scopes, validate_kind
from told.store.memories.records import (
    ACTIVE,
    AGENT,
    CANDIDATE,
    GLOBAL,
    PROJECT,
    QUARANTINED,
    UNCONFIRMED,
    project_key,
)
from told.store.sessions.read import Filter

_LISTED = 20
_OFFERED = 10
_AROUND = 120  # characters on each side of a quote
_DECISIONS: dict[str, tuple[str, str, Callable[[JournalWriter, ReviewItem], Changed]]] = {
    "keep": ("Kept", "confirm", keep),
    "dismiss": ("Dismissed", "dismiss", dismiss),
    "both": ("Kept both", "decide", keep_both),
    "lock": ("Locked", "lock", keep_locked),
}
_USAGE = (
    "Use `told review`, `told review keep ID…`, `dismiss ID…`, `both ID…`, `lock ID…`, `edit ID TEXT`,"
    " `scope ID NAME` or `undo`."
)


def review(context: Context, arguments: Arguments) -> None:
    """Review what waits by keys at a terminal, list it elsewhere, or decide one by its id."""
    words = arguments.operands
    if words:
        _decide(context, arguments, words[0], words[1:])
        return
    kind = validate_kind(arguments.text("kind"))
    with MemoryView(context) as view:
        scopes = () if arguments.flag("all-projects") else active_scopes(view.memories, view.project)
        items = find_review_items(view.memories, view.writer.journal, scopes, kind)
        if not items and scopes and may_widen(context, arguments):
            scopes = ()
            items = find_review_items(view.memories, view.writer.journal, scopes, kind)
        limit = arguments["limit"]
        if context.as_json:
            _print_json(view, items, limit or _LISTED)
            return
        print_unapproved(context, Filter())
        if not items:
            nothing = f"{f'No {kind}' if kind else 'Nothing'} waits for review."
            unapproved = "\n".join(context.take_lines())
            parts = (nothing, context.describe_learning(), unapproved, offer_sharing(view))
            raise NotFoundError(" ".join(filter(None, parts)))
        if context.is_at_terminal and sys.stdin.isatty():
            _run_loop(view, scopes, kind, limit or 0)
        else:
            _list_items(view, items, limit or _LISTED)
        if offer := offer_sharing(view):
            context.print(offer)


def review_items(view: MemoryView, limit: int = 0) -> list[ReviewItem]:
    """Return what waits in all projects, the best first; all if `limit` is 0."""
    return find_review_items(view.memories, view.writer.journal)[: limit or None]


def offer_review(context: Context, arguments: Arguments) -> bool:
    """Offer to review the best of what was learned; return whether anything waits."""
    with MemoryView(context) as view:
        items = review_items(view)
        if not items:
            return False
        which = f"the {_OFFERED} best of {len(items):,}" if len(items) > _OFFERED else _count_states(items)
        if not (may_ask(arguments) and context.is_at_terminal):
            context.print(f"Learned: {_count_states(items)}. Review them: `told review`.")
        elif confirm_yes(context, f"Review {which} now?"):
            _run_loop(view, (), "", _OFFERED)
        else:
            context.print("`told review` shows them later.")
    return True


def _run_loop(view: MemoryView, scopes: tuple[str, ...], kind: str, limit: int) -> None:
    from told.cli.terminal.review_loop import ReviewLoop  # noqa: PLC0415 - loads rich

    ReviewLoop(view, lambda: find_review_items(view.memories, view.writer.journal, scopes, kind), limit).run()
    if not scopes:
        return
    elsewhere = sum(one.memory.scope not in scopes for one in review_items(view))
    if elsewhere:
        view.context.print(f"{elsewhere:,} in other projects: `told review --all-projects`.")


def _count_states(items: list[ReviewItem]) -> str:
    counts = Counter(one.state for one in items)
    parts = [count(counts[state], state) for state in STATES if state != LEARNED and counts[state]]
    parts[:0] = [memory_count(counts[LEARNED])] if counts[LEARNED] else []
    return ", ".join(parts)


def _list_items(view: MemoryView, items: list[ReviewItem], limit: int) -> None:
    context, shown = view.context, items[:limit]
    more = f"; {len(shown):,} shown (use --limit to see more)" if len(shown) < len(items) else ""
    print_summary(context, f"To review, best first: {_count_states(items)}{more}.")
    for one in shown:
        _print_item(view, one)
    context.print(
        "Decide: `told review keep ID…`, `dismiss ID…`, `lock ID…`, `edit ID TEXT`, `scope ID NAME`;"
        " `both ID…` for a conflict."
    )


def _print_item(view: MemoryView, item: ReviewItem) -> None:
    context, proposal = view.context, item.proposal
    memory = f"{item.memory.kind_name} {view.scope(item.memory)}: {view.text(item.memory, 300)}"
    asks = ""
    if proposal is not None and proposal.asked_by == AGENT:
        asks = f" {context.name(label(proposal.agent))} asks: {proposal.action} {item.memory.id}"
    context.print(f"{item.id} {item.state}{asks} {memory}")
    quote = find_quote(context.reading, item.memory, _AROUND)
    if quote is not None:
        words = context.fence.inline(cut(f"{quote.before}{quote.words}{quote.after}", 500), item.memory.trust)
        place = f" {context.name(_place(quote))}" if quote.session else ""
        context.print(f"  {when(quote.at, context.now)} {context.name(label(quote.agent))}{place}: {words}")
    if item.sides is not None:
        names = MachineNames(context)
        context.print(f"  {names.describe(item.sides.kept.edit)}; this one is used")
        for other, edit in item.sides.others:
            context.print(f"  {names.describe(edit)}: {view.text(other, 300)}")
    elif item.other is not None:
        verb = "would replace" if item.replaces else "contradicts"
        context.print(f"  {verb}: {view.row(item.other)}")
    for old in item.ended:
        context.print(f"  replaced: {view.row(old)}")


def _place(quote: Quote) -> str:
    return quote.session if quote.turn is None else f"{quote.session}.{quote.turn}"


def _print_json(view: MemoryView, items: list[ReviewItem], limit: int) -> None:
    rows = [_item_json(view, one) for one in items[:limit]]
    view.context.print_json({"count": len(rows), "waiting": len(items), "items": rows}, found=rows)


def _item_json(view: MemoryView, item: ReviewItem) -> dict[str, Any]:
    proposal, quote = item.proposal, find_quote(view.context.reading, item.memory, _AROUND)
    trust = item.memory.trust
    return {
        "id": item.id, "state": item.state, "score": item.score, "memory": view.json(item.memory),
        "other": view.json(item.other) if item.other else None,
        "ended": [view.json(one) for one in item.ended],
        "proposal": {
            "id": proposal.id, "action": proposal.action, "agent": proposal.agent or None,
            "asked_by": proposal.asked_by, "at": iso(proposal.at),
        } if proposal else None,
        "quote": {
            "agent": quote.agent, "session": quote.session or None, "turn": quote.turn, "at": iso(quote.at),
            "words": view.context.fenced(quote.words, trust),
            "message": view.context.fenced(f"{quote.before}{quote.words}{quote.after}", trust),
            "sessions": quote.sessions, "trust": trust,
        } if quote else None,
        "machines": sides_json(view, item.sides) if item.sides else None,
    }  # fmt: skip


def _decide(context: Context, arguments: Arguments, action: str, words: list[str]) -> None:
    if action == "undo" and not words:
        if not context.caller.is_user:
            context.refuse_agent("undo your changes")
        undo(context, arguments)
        return
    is_known = (action in ("edit", "scope") and len(words) > 1) or (action in _DECISIONS and bool(words))
    if not is_known or (action == "scope" and len(words) > 2):
        raise UsageError(f"`told review` does not take {cut(action, 40)!r}. {_USAGE}")
    with MemoryView(context) as view:
        if action in _DECISIONS:
            items = list({one.id: one for one in (_find_item(view, given) for given in words)}.values())
            said, verb, decide = _DECISIONS[action]
            for one in items:
                _check(view, one, action)
            _report(view, action, said, verb, [decide(view.writer, one) for one in items])
            return
        view.require_user("edit what you review" if action == "edit" else "change scopes")
        item = _find_item(view, words[0])
        if action == "edit":
            done = edit(view.writer, item, view.new_memory(" ".join(words[1:])).new.text)
        else:
            done = keep_in_scope(view.writer, item, _named_scope(view, item, words[1]))
        _report(view, action, "Edited" if action == "edit" else f"Kept in {words[1]}", action, [done])


def _check(view: MemoryView, item: ReviewItem, action: str) -> None:
    """Refuse what only the user may do, or what cannot be undone."""
    if item.proposal is not None or item.sides is not None or action == "both":
        view.require_user("decide proposals")
    if item.deletes and action == "keep":
        raise UsageError(f"This deletes {item.memory.id} for good. Use `told proposals accept {item.id}`.")


def _find_item(view: MemoryView, given: str) -> ReviewItem:
    """Return the item with an id or the beginning of one; a memory that does not wait may be decided, too."""
    waiting = review_items(view)
    if not view.caller.is_user:  # what agents asked for does not keep them from asking for something else
        waiting = [one for one in waiting if not one.is_request or one.id.startswith(given)]
    near = [one for one in waiting if given in (one.id, one.memory.id)]
    if not near and len(given) >= SHORTEST_ID:
        near = [one for one in waiting if one.id.startswith(given) or one.memory.id.startswith(given)]
    if len(near) > 1:
        raise UsageError(f"{given!r} could be {', '.join(one.id for one in near[:8])}. Give one of these.")
    if near:
        return near[0]
    if given.startswith("p"):
        find_proposal(view.writer.journal, given)
        raise NotFoundError(f"{given} cannot be done any more. `told proposals decline {given}` closes it.")
    memory = view.find_one(given, also=(*UNCONFIRMED, QUARANTINED))
    return ReviewItem(LEARNED if memory.status == ACTIVE else CANDIDATE, memory)


def _named_scope(view: MemoryView, item: ReviewItem, name: str) -> str:
    key = project_key(item.memory.scope)
    own = PROJECT + key if key else view.project
    if name == "project" and own == GLOBAL:
        raise UsageError("This folder belongs to no project. Go to one of its folders first.")
    return view.named_scope(name, own)


def _report(view: MemoryView, action: str, said: str, verb: str, done: list[Changed]) -> None:
    context = view.context
    proposals = [one.proposal for one in done if one.proposal]
    if context.as_json:
        rows = [view.json(one.memory) | {"proposals": [one.proposal] if one.proposal else []} for one in done]
        context.print_json({"count": len(rows), "decision": action, "memories": rows})
        return
    if proposals:
        context.print(f"Only you can {verb} memories. {waiting_note(proposals)}")
        return
    for one in done:
        context.print(f"{said}: {view.row(one.memory)}")
        if action == "lock":
            print_guard(context, one.memory)
        if one.memory.status == QUARANTINED:
            context.print("It contradicts a locked memory: `told review` asks which is right.")
    context.print(UNDO_HINT)
