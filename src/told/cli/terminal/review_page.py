"""One item of `told review` at a terminal: what it says, where it was said, and the keys."""

from __future__ import annotations

from collections.abc import Sequence

from told.agents import label
from told.cli.context import MemoryView, count, cut
from told.cli.moving.machines import MachineNames
from told.cli.terminal.blocks import BAD, BOLD, COMMAND, DIM, GOOD, HIT, Block, Paragraph, Span, kind_style
from told.cli.terminal.tables import agent_span
from told.memories.quotes import Quote, find_quote
from told.memories.review import ReviewItem
from told.store.memories.records import AGENT, PRIVATE, PROJECT, Memory
from told.text import relative_time

KEEP, EDIT, LOCK, SCOPE, DISMISS, BOTH = "k", "e", "l", "s", "d", "b"
SKIP, UNDO, QUIT, HELP = "n", "u", "q", "?"
_WALK = ((SKIP, "skip"), (UNDO, "undo"), (QUIT, "quit"), (HELP, "help"))
_MEMORY = ((KEEP, "keep"), (EDIT, "edit"), (LOCK, "lock"), (SCOPE, "scope"), (DISMISS, "dismiss"), *_WALK)
_CONFLICT = (
    (KEEP, "new"), (DISMISS, "old"), (BOTH, "both"), (EDIT, "edit"), (LOCK, "lock"),
    (SCOPE, "scope"), *_WALK,
)  # fmt: skip
_MACHINES = (
    (KEEP, "this"), (DISMISS, "other"), (BOTH, "both"), (EDIT, "edit"), (LOCK, "lock"), *_WALK,
)  # fmt: skip
_REQUEST = ((KEEP, "accept"), (DISMISS, "decline"), *_WALK)
_DELETION = ((DISMISS, "decline"), *_WALK)
_HELP = {
    KEEP: "Keep it; a candidate becomes a memory that agents get.",
    EDIT: "Edit its text, then keep it.",
    LOCK: "Keep it and lock it: only you can change it.",
    SCOPE: "Keep it for this project, for all, or in a shared scope.",
    DISMISS: "Dismiss it: agents do not get it, told does not learn it again, and what it replaced applies.",
    SKIP: "Skip it; it waits for the next review.",
    UNDO: "Undo the last decision and show it again.",
    QUIT: "Quit. Every decision is already saved.",
}
_CONFLICT_HELP = {
    KEEP: "Use the new one; it replaces the old one.",
    DISMISS: "Use the old one; the new one is dismissed.",
    BOTH: "Keep both.",
    EDIT: "Edit the new one; it replaces the old one.",
    LOCK: "Use the new one and lock it.",
    SCOPE: "Keep both, the new one in another scope.",
}
_MACHINES_HELP = {
    KEEP: "Use this one on all machines.",
    DISMISS: "Use the other one on all machines.",
    BOTH: "Keep both.",
    EDIT: "Edit this one, then use it.",
    LOCK: "Use this one and lock it.",
}
_REQUEST_HELP = {KEEP: "Do what the agent asks.", DISMISS: "Decline it; the memory is unchanged."}
_AT_TERMINAL = "terminal"  # typed there, so its text is the quote
_MOST_TEXT = 700  # bytes of a statement
_AROUND, _AROUND_OTHER = 160, 60  # characters on each side of a quote


def item_keys(item: ReviewItem) -> tuple[tuple[str, str], ...]:
    """Return the keys for an item, each with its label."""
    if item.deletes:
        return _DELETION
    if item.sides is not None:
        return _MACHINES
    return _REQUEST if item.is_request else _CONFLICT if item.replaces else _MEMORY


def item_blocks(view: MemoryView, item: ReviewItem, position: str) -> list[Block]:
    """Return an item: where it is in the list, its text, and its quote in context."""
    memory = item.memory
    head = [Span(position, BOLD), Span(" · ", DIM), Span(memory.kind_name, kind_style(memory.kind))]
    head.append(Span(f" · {place_name(view, memory.scope)} · {item.state}", DIM))
    blocks: list[Block] = [Paragraph(head), ""]
    if asks := describe_request(item):
        blocks += [Paragraph(asks), ""]
    blocks += _side(view, memory, "New: " if item.replaces else "", BOLD, _AROUND)
    if item.sides is not None:
        names = MachineNames(view.context)
        blocks.append(Paragraph(Span(names.describe(item.sides.kept.edit), DIM), 2))
        for other, edit in item.sides.others:
            blocks += ["", *_side(view, other, f"{names.describe(edit)}: ", "", _AROUND_OTHER)]
    elif item.other is not None:
        title = "Old: " if item.replaces else "It contradicts: "
        blocks += ["", *_side(view, item.other, title, "", _AROUND_OTHER)]
    for old in item.ended:
        blocks += ["", *_side(view, old, "It replaced: ", "", _AROUND_OTHER)]
    return [*blocks, ""]


def _side(view: MemoryView, memory: Memory, title: str, style: str, room: int) -> list[Block]:
    marks = f"  (locked, {place_name(view, memory.scope)})" if memory.locked else ""
    text = [Span(title, DIM), Span(cut(memory.text, _MOST_TEXT), style), Span(marks, DIM)]
    blocks: list[Block] = [Paragraph(text)]
    if memory.context:
        blocks.append(Paragraph(Span(f"Context: {memory.context}", DIM), 2))
    quote = find_quote(view.context.reading, memory, room)
    return [*blocks, *_quote_blocks(view, quote)] if quote else blocks


def _quote_blocks(view: MemoryView, quote: Quote) -> list[Block]:
    words = cut(quote.words, _MOST_TEXT)
    message = [Span(f"“{quote.before}", DIM), Span(words, HIT), Span(f"{quote.after}”", DIM)]
    facts = [Span(relative_time(quote.at, view.context.now), DIM), Span(" · ", DIM)]
    facts += [Span("typed at the terminal", DIM) if quote.agent == _AT_TERMINAL else agent_span(quote.agent)]
    if quote.session:
        turn = "" if quote.turn is None else f".{quote.turn}"
        facts.append(Span(f" · {quote.session}{turn}", DIM))
    if quote.sessions > 1:
        facts.append(Span(f" · said in {count(quote.sessions, 'session')}", DIM))
    return [*([] if quote.agent == _AT_TERMINAL else [Paragraph(message, 2)]), Paragraph(facts, 2)]


def describe_request(item: ReviewItem) -> str:
    """Return what an agent asks for, in a sentence; empty for a memory."""
    if item.proposal is None:
        return ""
    if item.proposal.asked_by != AGENT:
        return "You said both. Does the new one replace the old one?"
    agent = label(item.proposal.agent) if item.proposal.agent else "An agent"
    if item.deletes:
        return f"{agent} asks to delete it for good. To do that: `told proposals accept {item.id}`"
    if item.proposal.action == PRIVATE:
        return f"{agent} asks to make it private."
    return f"{agent} asks to {item.proposal.action} it{' as follows' if item.replaces else ''}."


def place_name(view: MemoryView, scope: str) -> str:
    """Return the short name of a scope: owner/name of a project."""
    if not scope.startswith(PROJECT):
        return view.scope_name(scope)
    key = scope.removeprefix(PROJECT).rstrip("/")
    parts = key.split("/")
    return view.context.name("/".join(parts[-1:] if key.startswith("path:") else parts[-2:]))


def key_lines(keys: Sequence[tuple[str, str]], width: int) -> list[Block]:
    """Return the line of keys; more lines if the terminal is narrow."""
    lines: list[list[Span]] = [[]]
    used = 0
    for key, name in keys:
        size = len(key) + 1 + len(name)
        if used and used + 2 + size > width:
            lines.append([])
            used = 0
        lines[-1] += [Span("  " if used else ""), Span(key, COMMAND), Span(f" {name}", DIM)]
        used += size + (2 if used else 0)
    return [Paragraph(line) for line in lines]


def help_blocks(item: ReviewItem) -> list[Block]:
    """Return what each key does."""
    texts = _HELP | (_CONFLICT_HELP if item.replaces else _REQUEST_HELP if item.is_request else {})
    texts |= _MACHINES_HELP if item.sides is not None else {}
    rows = [(key, texts[key]) for key, _ in item_keys(item) if key in texts]
    return [*(Paragraph([Span(f"{key}  ", COMMAND), Span(text)], 2, 3) for key, text in rows), ""]


def outcome_block(done: str, text: str, width: int) -> Block:
    """Return one line on what was decided."""
    style = BAD if done == "dismissed" else DIM if done in ("skipped", "undone") else GOOD
    head = f"{done:<10}"
    line = " ".join(text.split())
    room = width - len(head)
    return Paragraph([Span(head, style), Span(line if len(line) <= room else f"{line[: room - 1]}…", DIM)])
