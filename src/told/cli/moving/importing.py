"""`told import`: bring an export back, or what another tool knows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from told.cli.arguments import Arguments
from told.cli.context import UNDO_HINT, Context, MemoryView, confirm_yes, count, cut, may_ask, memory_count
from told.cli.forget import end_service
from told.cli.index import import_all, import_checkpoints
from told.errors import NotFoundError, UsageError
from told.ingest.archive import restore_sessions
from told.memories.imports import TOLD, Importer, count_rows
from told.memories.restore import (
    CHECKPOINT,
    CONFLICTING,
    NEW,
    REFUSED,
    SAME,
    Row,
    adopt_key,
    apply_restore,
    is_home_empty,
    is_own_export,
    plan_restore,
    write_sessions,
)
from told.redact.engine import Redactor
from told.store.memories.names import AGENT
from told.store.sessions.read import Filter
from told.sync import stores
from told.sync.formats.detect import Found, read_path
from told.sync.formats.native import Document, list_items

_SHOWN = 10  # rows of each kind
_VERBS = {NEW: "new", SAME: "known already", CONFLICTING: "conflicting", REFUSED: "refused"}


def import_memories(context: Context, arguments: Arguments) -> None:
    """Show what an import would do, and do it unless it is a dry run."""
    tool, mine = arguments.text("from"), arguments.flag("mine")
    path = _choose_path(context, tool, "".join(arguments.operands))
    found = Found(tool, is_own=False) if tool else read_path(path, mine=mine)
    with MemoryView(context) as view:
        document = found.document
        if document is not None and (mine or is_own_export(context.home, document, context.key)):
            _restore(view, arguments, document)
            return
        _import_items(view, arguments, found, path)


def _choose_path(context: Context, tool: str, given: str) -> str:
    """Return what to read: a path, the address of a database, or the default place of a tool."""
    if tool and tool not in stores.TOOLS:
        raise UsageError(f"Unknown tool {tool!r}. told reads: {', '.join(stores.TOOLS)}.")
    if not given:
        if not tool:
            raise UsageError("Give a path: `told import PATH`. `told import --from TOOL` finds a tool's own.")
        return stores.find_store(tool, context.environ)
    if tool and "://" in given:
        return given
    path = os.path.abspath(os.path.expanduser(given))
    if not os.path.exists(path):
        raise NotFoundError(f"There is no file or folder {path!r}.")
    return path


def _import_items(view: MemoryView, arguments: Arguments, found: Found, path: str) -> None:
    context = view.context
    items, name = found.items, TOLD if found.is_own else found.format
    if found.document is not None:
        items = list_items(found.document)
    elif not items:
        items = stores.read_store(found.format, path)
    importer = Importer(view.writer, context.projects(), _redact(context), name)
    plan = importer.plan(items)
    note = _describe_unknown(context, plan.unknown)
    if _may_import(view, arguments, plan.rows, note):
        importer.apply(plan, conflicting=arguments.flag("merge"))
        _report(view, arguments, plan.rows, done=True, note=note, source=f"import:{name}")


def _restore(view: MemoryView, arguments: Arguments, document: Document) -> None:
    """Import the user's own export with its history."""
    context = view.context
    is_empty = is_home_empty(view.home)
    plan = plan_restore(view.home, view.memories, document, _redact(context), context.key)
    more = f"{count(plan.sessions, 'session')} to restore." if plan.sessions else ""
    if not _may_import(view, arguments, plan.rows, more):
        return
    if is_empty and not context.reading.count(Filter()):
        adopt_key(view.home, document)
        context.key = document.key or context.key
    if not plan.is_empty:
        apply_restore(view.writer, document, plan, conflicting=arguments.flag("merge"))
    if plan.sessions:
        write_sessions(view.home, document, _redact(context))
        import_all(context)
        restore_sessions(context.connection, view.home, context.redact)
    import_checkpoints(context)
    end_service(view.home)
    _report(view, arguments, plan.rows, done=True)


def _redact(context: Context) -> Any:
    return Redactor(context.key, context.settings.redaction._replace(enabled=True)).redact


def _describe_unknown(context: Context, projects: frozenset[str]) -> str:
    if not projects:
        return ""
    names = ", ".join(context.name(context.hide_secrets(one)) for one in sorted(projects)[:5])
    more = " …" if len(projects) > 5 else ""
    return f"Without a folder that told knows: {names}{more}. Memories keep these as their projects."


def _may_import(view: MemoryView, arguments: Arguments, rows: Sequence[Row], note: str) -> bool:
    """Print a dry run, refuse what conflicts, and ask at a terminal; tell whether to go on."""
    context, counts = view.context, count_rows(rows)
    if arguments.flag("dry-run"):
        _report(view, arguments, rows, done=False, note=note)
        return False
    if counts[CONFLICTING] and not arguments.flag("merge"):
        raise UsageError(
            f"{counts[CONFLICTING]:,} of {len(rows):,} conflict with your memories, so nothing was imported."
            " --dry-run lists them; --merge imports the rest, and keeps yours."
        )
    if counts[NEW] + counts[CONFLICTING] and may_ask(arguments):
        _report(view, arguments, rows, done=False, note=note)
        if not confirm_yes(context, "Import it?"):
            context.print("Nothing was changed.")
            return False
    return True


def _report(
    view: MemoryView, arguments: Arguments, rows: Sequence[Row], *, done: bool, note: str = "",
    source: str = "",
) -> None:  # fmt: skip
    context, counts = view.context, count_rows(rows)
    if context.as_json:
        shown = [
            {"action": row.action, "what": row.what, "id": row.id, "reason": row.reason or None,
             "memory": row.memory or None, "text": context.fenced(row.text, AGENT) if row.text else None}
            for row in rows
        ]  # fmt: skip
        context.print_json({"imported": done, "counts": counts, "rows": shown})
        return
    wanted = (NEW, CONFLICTING) if arguments.flag("merge") else (NEW,)
    taken = [row for row in rows if row.action in wanted]
    files = sum(row.what == CHECKPOINT for row in taken)
    what = f"{memory_count(len(taken) - files)}{f' and {count(files, CHECKPOINT)}' if files else ''}"
    others = [
        f"{counts[action]:,} {_VERBS[action]}" for action in (SAME, CONFLICTING, REFUSED) if counts[action]
    ]
    verb = "Imported" if done else "Would import"
    context.print(f"{verb} {what}{_join(others)}.")
    for action in (REFUSED, CONFLICTING) if done else (NEW, CONFLICTING, REFUSED):
        chosen = [row for row in rows if row.action == action]
        for row in chosen[:_SHOWN]:
            context.print(f"  {_describe(view, row)}")
        if len(chosen) > _SHOWN:
            context.print(f"  and {len(chosen) - _SHOWN:,} more that are {_VERBS[action]} (--json lists all)")
    if note:
        context.print(note)
    if done and taken:
        context.print(
            UNDO_HINT + (f" `told forget --source {source}` deletes it for good." if source else "")
        )


def _join(others: Sequence[str]) -> str:
    return f"; {', '.join(others)}" if others else ""


def _describe(view: MemoryView, row: Row) -> str:
    text = view.context.fence.inline(cut(row.text, 120)) if row.text else ""
    reason = f" ({row.reason})" if row.reason else ""
    return f"{row.action} {view.context.name(row.id)}{': ' if text else ''}{text}{reason}"
