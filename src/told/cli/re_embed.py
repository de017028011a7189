"""`told re-embed`: makes the vectors of all turns with the model that is set; stopped, it goes on."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress

from told.cli.output import count, to_json
from told.cli.understanding import embedder_of
from told.errors import BusyError, MissingError, UsageError
from told.ingest.understanding import understand
from told.store.locks import UNDERSTAND, hold_lock
from told.store.vectors import TurnVectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.search.embedder import Embedder

_NAME = "re-embed"  # the file that says with which model a run did not come to its end
_STOPPED = 130  # as shells have it for Ctrl-C
_WIDTH = 30  # of the bar
_EVERY = 0.1  # seconds


def re_embed(context: Context, arguments: Arguments) -> int:
    """Make vectors anew, or only those that are missing, with a bar on a terminal."""
    embedder = embedder_of(context)
    if embedder is None:
        raise UsageError(
            "`model` is off, so nothing gets vectors. `told config unset model` takes the table that comes"
            " with told; docs/models.md has the others."
        )
    home = context.settings.home
    if not os.access(home, os.W_OK):
        raise MissingError(f"told cannot write to {home}. Check its permissions.")
    lock = hold_lock(home, UNDERSTAND)
    if lock is None:
        raise BusyError("Another told makes vectors already. Try again when it is done.")
    try:
        return _under_lock(context, arguments, embedder)
    finally:
        if lock:
            os.close(lock)


def _under_lock(context: Context, arguments: Arguments, embedder: Embedder) -> int:
    embedder.vectors(["told"])  # a model that does not work is no reason to throw vectors away
    vectors = TurnVectors(context.connection, embedder.model)
    if not arguments.flag("only-missing") and _unfinished(context) != embedder.model:
        _note(context, embedder.model)
        vectors.queue(drop=True)
    before, every = vectors.counts()
    draw = _bar(before, every) if sys.stderr.isatty() else None
    stopped, memories = False, 0
    try:
        understand(context.connection, embedder, said=draw)
        memories = _memories(context, only_missing=arguments.flag("only-missing"))
        _note(context, "")
    except KeyboardInterrupt:
        stopped = True
    finally:
        if draw is not None:
            sys.stderr.write("\n")
    _report(context, arguments, embedder.model, before, memories, stopped=stopped)
    return _STOPPED if stopped else 0


def _memories(context: Context, *, only_missing: bool) -> int:
    """Give memories their vectors, which are the table's in any case; return how many got one."""
    home = context.settings.home
    if not os.path.exists(os.path.join(home, "memory.db")):
        return 0
    from told.journal.apply import open_memories
    from told.memory.remeaning import remeaning

    memories = open_memories(home)
    try:
        return max((done for done, _ in remeaning(memories, only_missing=only_missing)), default=0)
    finally:
        memories.close()


def _report(
    context: Context, arguments: Arguments, model: str, before: int, memories: int, *, stopped: bool
) -> None:
    done, every = TurnVectors(context.connection, model).counts()
    context.rows = done - before
    if arguments.flag("json"):
        found = {
            "model": model,
            "made": done - before,
            "turns": every,
            "with_vectors": done,
            "memories": memories,
            "stopped": stopped,
        }
        context.print(to_json(found))
        return
    if stopped:
        context.print(f"Stopped: {done:,} of {count(every, 'turn')} have vectors. `told re-embed` goes on.")
        return
    known = "1 memory" if memories == 1 else f"{memories:,} memories"
    context.print(
        f"Made the vectors of {count(done - before, 'turn')} and {known}."
        f" {done:,} of {every:,} turns have some of {model}."
    )


def _unfinished(context: Context) -> str:
    """Return the model with which a run did not come to its end; empty if the last one did."""
    try:
        with open(os.path.join(context.settings.home, _NAME), encoding="utf-8") as file:
            return file.read(1000).strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _note(context: Context, model: str) -> None:
    path = os.path.join(context.settings.home, _NAME)
    if not model:
        with suppress(OSError):
            os.unlink(path)
        return
    from told.journal.files import write_whole

    try:
        write_whole(path, f"{model}\n".encode())
    except OSError as error:
        why = (error.strerror or "error").lower()
        raise MissingError(f"{path} cannot be written ({why}). Check its permissions.") from None


def _bar(done: int, every: int) -> Callable[[int], None]:
    began, first, drawn = time.monotonic(), done, 0.0

    def draw(more: int) -> None:
        nonlocal done, drawn
        done += more
        now = time.monotonic()
        if now - drawn < _EVERY and done < every:
            return
        drawn = now
        share = min(1.0, done / every) if every else 1.0
        filled = int(share * _WIDTH)
        speed = (done - first) / max(now - began, 0.001)
        left = f", {(every - done) / speed / 60:,.0f} min left" if speed and every - done > 60 * speed else ""
        bar = "█" * filled + "·" * (_WIDTH - filled)
        sys.stderr.write(f"\r{bar} {share:4.0%}  {done:,} of {every:,} turns, {speed:,.0f} a second{left}  ")
        sys.stderr.flush()

    return draw
