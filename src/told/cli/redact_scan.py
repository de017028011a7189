"""`told redact-scan`: what older data would lose under today's rules, and with --apply loses everywhere."""

from __future__ import annotations

import sys

from told.cli.output import count, to_json
from told.cli.wiring_wishes import ask, may_ask
from told.errors import UsageError
from told.memory.redacting import Redaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from told.cli.arguments import Arguments
    from told.cli.context import Context
    from told.memory.redacting import Scan

_KINDS = {
    "turn": "turn", "session": "title, summary or branch", "checkpoint": "checkpoint",
    "touch": "touched file", "ref": "ref", "state": "state of a reader", "problem": "problem",
    "name": "name of a file, folder, project or session", "archive": "file of the archive",
    "journal": "line of the journal", "memory": "memory", "note": "note", "log": "log",
    "aside": "damaged database that was put aside",
}  # fmt: skip
_PLURALS = {
    "session": "titles, summaries or branches", "state": "states of readers",
    "name": "names of files, folders, projects or sessions", "archive": "files of the archive",
    "journal": "lines of the journal", "memory": "memories",
    "aside": "damaged databases that were put aside",
}  # fmt: skip
_NOTHING = "Today's rules would take nothing out of what told has stored."
_APPLY = "`told redact-scan --apply` takes it out of all that told has stored, for good."
_ELSEWHERE = "told changes no agent's own files. They still hold it:"
_ABSENT = "Folders that are not there could not be looked at. Run it again when they are:"
_MOST = 10


def redact_scan(context: Context, arguments: Arguments) -> int:
    """Look at everything that is stored once more; with --apply, take out what is found."""
    wished = arguments.flag("apply")
    if wished and not context.caller.is_user:
        raise UsageError(
            "Only you can take text out of what told has stored: run it at a terminal of your own."
        )
    if not context.settings.redaction.enabled:
        raise UsageError("Redaction is turned off. `told config set redaction.enabled true` turns it on.")
    run = Redaction(context.connection, context.settings.home, context.redactor().redact, context.key)
    found = run.scan(_bar() if sys.stderr.isatty() else None)
    context.rows = found.total
    done = False
    if wished and (found.total or found.begun):
        if may_ask(arguments):
            _print(context, found, done=False)
            if not ask(context, "Take it out? This cannot be undone."):
                context.print("Nothing was changed.")
                return 0
        run.apply(found, context.now, lambda: _made_anew(context, arguments))
        from told.cli.upkeep import take_checkpoints

        take_checkpoints(context)
        done = True
    if arguments.flag("json"):
        context.print(_json(context, found, done=done))
    else:
        _print(context, found, done=done)
    return 0 if found.total or found.begun else 1


def _made_anew(context: Context, arguments: Arguments) -> apsw.Connection:
    from told.cli.upkeep import rebuild

    rebuild(context, arguments)
    context.take()  # what it says of itself
    return context.connection


def _json(context: Context, found: Scan, *, done: bool) -> str:
    return to_json({
        "count": found.total, "applied": done, "unfinished": found.begun and not done,
        "places": [{"kind": kind, "count": number} for kind, number in found.counts.items()],
        "texts": [
            {"kind": one.kind, "id": one.id, "text": context.fence.inline(one.shown)} for one in found.shown
        ],
        "elsewhere": list(found.elsewhere), "absent": list(found.absent),
    })  # fmt: skip


def _print(context: Context, found: Scan, *, done: bool) -> None:
    if not found.total:
        context.print(_unfinished(found, done=done) or _NOTHING)
    else:
        verb = "Took something out of" if done else "Today's rules would take something out of"
        context.print(f"{verb} {count(found.total, 'text')}:")
        for kind, number in found.counts.items():
            context.print(f"  {_named(kind, number)}")
        for one in () if done else found.shown:
            context.print(f"{one.kind} {context.name(one.id)}: {context.fence.inline(one.shown)}")
        context.print("No byte of it is left in told's own files." if done else _APPLY)
        if not done and found.begun:
            context.print(_unfinished(found, done=done))
    _list(context, _ELSEWHERE, found.elsewhere)
    _list(context, _ABSENT, found.absent)


def _unfinished(found: Scan, *, done: bool) -> str:
    if not found.begun:
        return ""
    if done:
        return "Finished what was interrupted before."
    return "An earlier `told redact-scan --apply` was interrupted. Run it again to finish it."


def _list(context: Context, sentence: str, paths: tuple[str, ...]) -> None:
    if paths:
        context.print(sentence)
    for path in paths[:_MOST]:
        context.print(f"  {context.name(path)}")
    if len(paths) > _MOST:
        context.print(f"  and {len(paths) - _MOST:,} more")


def _named(kind: str, number: int) -> str:
    name = _KINDS[kind]
    return f"1 {name}" if number == 1 else f"{number:,} {_PLURALS.get(kind, name + 's')}"


def _bar() -> Callable[[int, int], None]:
    def draw(done: int, total: int) -> None:
        share = done / total if total else 1.0
        filled = int(share * 30)
        end = "\n" if done == total else ""
        bar = "█" * filled + "·" * (30 - filled)
        sys.stderr.write(f"\r{bar} {share:4.0%}  {done:,} of {total:,} texts{end}")
        sys.stderr.flush()

    return draw
