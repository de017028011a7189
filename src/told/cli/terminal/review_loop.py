"""Review one item after the other by single keys."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable

from told.cli.context import MemoryView
from told.cli.terminal.blocks import DIM, WARN, Block, Paragraph, Span
from told.cli.terminal.keys import END, Keyboard
from told.cli.terminal.review_page import (
    BOTH,
    DISMISS,
    EDIT,
    HELP,
    KEEP,
    LOCK,
    QUIT,
    SCOPE,
    SKIP,
    UNDO,
    help_blocks,
    item_blocks,
    item_keys,
    key_lines,
    outcome_block,
    place_name,
)
from told.cli.terminal.screen import Screen, terminal_width
from told.errors import ToldError, UsageError
from told.hook.guard.describe import guard_note
from told.memories.change import Changed
from told.memories.journal_writer import JournalWriter
from told.memories.review import (
    ReviewItem,
    dismiss,
    edit,
    keep,
    keep_both,
    keep_in_scope,
    keep_locked,
)
from told.memories.scopes import list_shared_scopes
from told.memories.undo import undo as undo_last
from told.store.memories.records import GLOBAL, PRIVATE, PROJECT, SHARED, private_scope, project_key

_OUTCOMES = _KEPT, _EDITED, _LOCKED, _MOVED, _DISMISSED, _SKIPPED = (
    "kept", "edited", "locked", "moved", "dismissed", "skipped",
)  # fmt: skip
_DECISIONS: dict[str, tuple[str, Callable[[JournalWriter, ReviewItem], Changed]]] = {
    KEEP: (_KEPT, keep),
    LOCK: (_LOCKED, keep_locked),
    DISMISS: (_DISMISSED, dismiss),
    BOTH: (_KEPT, keep_both),
}
_SHARED_KEYS = "123456789"
_STOPPED = 130  # exit code of shells for Ctrl-C


class ReviewLoop:
    """Shows what waits, one item at a time, and does what the keys say."""

    def __init__(self, view: MemoryView, find_items: Callable[[], list[ReviewItem]], limit: int = 0) -> None:
        """Create a loop over what `find_items` returns, at most `limit` items if that is not 0."""
        self._view = view
        self._context = view.context
        self._find_items = find_items
        self._items = {one.id: one for one in find_items()}
        self._is_changed = False
        self._known = set(self._items)
        self._order = list(self._items)[: limit or None]
        self._done: dict[str, tuple[str, str]] = {}  # what was decided and its text, in order
        self._seen: set[str] = set()  # memories that were decided; one that still waits comes next time
        self._notes: list[Block] = []  # below the item, until the next key
        self._pending: list[Block] = []  # lines on what was decided, to be drawn
        self._drawn = (0, 0)  # lines on the screen, and its width then
        self._keyboard = Keyboard(self._context.environ)

    def run(self) -> None:
        """Review until everything is decided or the user quits; print a summary."""
        try:
            with self._keyboard:
                while (item := self._next_item()) and self._review(item):
                    pass
        except KeyboardInterrupt:
            self._context.exit_code = _STOPPED
        self._draw([])
        self._context.print(self._summary())

    def _next_item(self) -> ReviewItem | None:
        """Return the next item that still waits; a decision may have settled or made others."""
        if self._is_changed:
            self._items = {one.id: one for one in self._find_items()}
            self._is_changed = False
        self._order += [
            name
            for name, one in self._items.items()
            if name not in self._known and one.memory.id not in self._seen
        ]
        self._known |= self._items.keys()
        return next((self._items[name] for name in self._order if self._waits(name)), None)

    def _waits(self, name: str) -> bool:
        return name in self._items and name not in self._done

    def _review(self, item: ReviewItem) -> bool:
        """Show an item and handle one key; return whether to go on."""
        page = item_blocks(self._view, item, self._position(item))
        self._draw([*page, *self._notes, *key_lines(item_keys(item), self._width())])
        self._notes = []
        key = self._keyboard.read()
        if key in (QUIT, END):
            return False
        try:
            self._handle(key, item)
        except ToldError as error:
            self._notes = [Paragraph(Span(str(error), WARN)), ""]
        return True

    def _handle(self, key: str, item: ReviewItem) -> None:
        if key not in dict(item_keys(item)):
            return
        if key == HELP:
            self._notes = help_blocks(item)
        elif key == SKIP:
            self._finish(item, _SKIPPED)
        elif key == UNDO:
            self._undo()
        elif key == EDIT:
            self._edit(item)
        elif key == SCOPE:
            self._move(item)
        else:
            done, decide = _DECISIONS[key]
            memory = decide(self._writer(), item).memory
            self._finish(item, done)
            if note := guard_note(memory.text, self._context.settings.guard, self._context.home):
                self._pending += [Paragraph(Span(note, DIM), 10)] if memory.locked and key == LOCK else []

    def _writer(self) -> JournalWriter:
        """Return a writer of one decision, which is undone as one."""
        self._is_changed = True
        now = time.time_ns() // 1_000_000
        return JournalWriter(self._view.writer.journal, self._view.memories, now, self._view.caller)

    def _finish(self, item: ReviewItem, done: str, text: str = "") -> None:
        self._done[item.id] = (done, text or item.memory.text)
        self._seen.add(item.memory.id)
        self._pending.append(outcome_block(*self._done[item.id], self._width()))

    def _undo(self) -> None:
        if not self._done:
            raise UsageError("There is nothing to undo in this review. `told undo` reverts earlier changes.")
        name, (done, text) = next(reversed(self._done.items()))
        if done != _SKIPPED:
            undo_last(self._writer())
        del self._done[name]
        self._pending.append(outcome_block("undone", f"{done}: {text}", self._width()))

    def _edit(self, item: ReviewItem) -> None:
        typed = self._keyboard.ask("Text: ", item.memory.text)
        self._drawn = (0, 0)  # the typed line is on the screen now
        if typed is None or not typed.strip() or typed.strip() == item.memory.text:
            self._notes = ["Not changed.", ""]
            return
        text = self._view.new_memory(typed).new.text
        edit(self._writer(), item, text)
        self._finish(item, _EDITED, text)

    def _move(self, item: ReviewItem) -> None:
        scopes = self._list_scopes(item)
        names = [(key, name) for key, (_, name) in scopes.items()]
        menu = key_lines([*names, ("Esc", "cancel")], self._width())
        self._draw([*item_blocks(self._view, item, self._position(item)), "Keep it in which scope?", *menu])
        key = self._keyboard.read()
        if key in scopes:
            scope, name = scopes[key]
            keep_in_scope(self._writer(), item, scope)
            self._finish(item, _MOVED, f"to {name}: {item.memory.text}")

    def _list_scopes(self, item: ReviewItem) -> dict[str, tuple[str, str]]:
        """Return (scope, name) by key: its project or the current one, global, private, shared ones."""
        key = project_key(item.memory.scope)
        own = PROJECT + key if key else self._view.project
        found = {"p": (own, place_name(self._view, own))} if own != GLOBAL else {}
        found |= {"g": (GLOBAL, GLOBAL), "v": (private_scope(own), PRIVATE)}
        shared = list_shared_scopes(self._view.memories)
        return found | {
            key: (SHARED + one.name, one.name) for key, one in zip(_SHARED_KEYS, shared, strict=False)
        }

    def _position(self, item: ReviewItem) -> str:
        return f"{self._order.index(item.id) + 1} of {len(self._order)}"

    def _width(self) -> int:
        return Screen.clamp(terminal_width(self._context.environ))

    def _draw(self, blocks: list[Block]) -> None:
        """Replace the last item on the screen by what was decided and the next one, in one write."""
        lines, width = self._drawn
        now = terminal_width(self._context.environ)
        erase = f"\x1b[{lines}A\r\x1b[J" if lines and width == now == self._width() else ""
        self._context.show(*self._pending)
        above = self._context.take()
        self._context.show(*blocks)
        page = f"\n{self._context.take()}" if blocks else ""
        self._pending = []
        self._drawn = (page.count("\n") if self._keyboard.gives_keys else 0, now)
        sys.stdout.write(f"{erase}{above}{page}")
        sys.stdout.flush()

    def _summary(self) -> str:
        counts = Counter(done for done, _ in self._done.values())
        parts = [f"{name} {counts[name]:,}" for name in _OUTCOMES if counts[name]]
        said = ", ".join(parts).capitalize() or "Nothing decided"
        more = sum(1 for name in self._items if name not in self._done)
        if not more:
            return f"{said}." if counts[_SKIPPED] else f"{said}. Nothing more waits."
        return f"{said}; {more:,} more {'waits' if more == 1 else 'wait'}."
