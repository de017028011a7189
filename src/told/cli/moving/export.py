"""`told export`: write memories and what belongs to them in a format of told or of others."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping

from told import __version__
from told.cli.arguments import Arguments
from told.cli.context import Context, MemoryView, confirm_yes, count, iso, may_ask, memory_count
from told.errors import NotFoundError, UsageError
from told.files import cannot_write, write_private
from told.ingest.projects import find_git_root
from told.install.disk import read_foreign, write_foreign
from told.journal.transfer import read_own_operations
from told.jsontext import dump_json
from told.memories.exports import Source, collect, find_private, list_exported
from told.redact.engine import Redactor
from told.redact.rescan import Rescanner
from told.store.memories.records import ACTIVE, Memory
from told.sync.formats import agents_md, markdown, mcp_memory, pam
from told.sync.formats.native import format_export

TOLD, MARKDOWN, MCP, PAM, AGENTS_MD = "told", "markdown", "mcp-memory", "pam", "agents-md"
FORMATS = (TOLD, MARKDOWN, MCP, PAM, AGENTS_MD)
_SUFFIXES = {TOLD: ".json", MCP: ".jsonl", PAM: ".pam.json", MARKDOWN: ""}
_STDOUT = "-"
_SINGULAR = {"memories": "memory", "checkpoints": "checkpoint", "sessions": "session"}


def export(context: Context, arguments: Arguments) -> None:
    """Write an export to a file, a folder or standard output."""
    wanted = arguments.text("format") or TOLD
    if wanted not in FORMATS:
        raise UsageError(f"Unknown format {wanted!r}. The formats are: {', '.join(FORMATS)}.")
    private, sessions = arguments.flag("include-private"), arguments.flag("sessions")
    if private and not context.caller.is_user:
        context.refuse_agent("export private memories")
    if sessions and wanted != TOLD:
        raise UsageError(f"Only told's own format has sessions. Leave out --sessions or --format {wanted}.")
    if private and wanted == AGENTS_MD:
        raise UsageError("Private memories never go into a project's file. Leave out --include-private.")
    path = _choose_path(context, arguments, wanted)
    if wanted == AGENTS_MD and path != _STDOUT:
        context.enter_project(os.path.dirname(path))
    text: str | dict[str, str]
    with MemoryView(context) as view:
        if wanted == TOLD:
            text, counts = _format_told(view, private=private, sessions=sessions)
        elif wanted == AGENTS_MD:
            _export_block(view, path, arguments)
            return
        else:
            text, counts = _format_other(view, wanted, private=private)
    if path == _STDOUT:
        if isinstance(text, dict):
            raise UsageError("A folder of notes cannot go to standard output. Give a path.")
        sys.stdout.write(text)
        return
    _require_free(context, arguments, path)
    _write(path, text)
    said = ", ".join(count(number, _SINGULAR[word]) for word, number in counts.items())
    note = " It has private memories and told's key: keep it as safe as told's own folder." if private else ""
    if (private or not arguments.operands) and find_git_root(os.path.dirname(path)):
        note += " It is in a git repository: do not commit it."
    context.report(f"Exported {said} to {path}.{note}", {"path": path, "format": wanted, "counts": counts})


def _choose_path(context: Context, arguments: Arguments, wanted: str) -> str:
    """Return where to write; at a terminal, a dated file is the default."""
    if arguments.operands:
        given = arguments.operands[0]
        path = given if given == _STDOUT else os.path.abspath(os.path.expanduser(given))
        if wanted in (MARKDOWN, AGENTS_MD) or not os.path.isdir(path):
            return path
    elif wanted == AGENTS_MD or (wanted != MARKDOWN and not context.is_at_terminal and not context.as_json):
        return _STDOUT
    else:
        path = context.cwd or os.path.expanduser("~")
    day = time.strftime("%Y-%m-%d", time.localtime(context.now // 1000))
    return os.path.join(path, f"told-export-{day}{_SUFFIXES[wanted]}")


def _source(view: MemoryView) -> Source:
    context = view.context
    redactor = Redactor(context.key, context.settings.redaction._replace(enabled=True))
    return Source(view.home, view.memories, context.connection, context.key, redactor.redact, context.now)


def _format_told(view: MemoryView, *, private: bool, sessions: bool) -> tuple[str, dict[str, int]]:
    made = iso(view.context.now) or ""
    head, lists = collect(_source(view), version=__version__, made=made, private=private, sessions=sessions)
    names = ("memories", "checkpoints", "sessions") if sessions else ("memories", "checkpoints")
    counts = {name: len(lists[name]) for name in names}
    return "".join(format_export(head, lists)), counts


def _format_other(
    view: MemoryView, wanted: str, *, private: bool
) -> tuple[str | dict[str, str], dict[str, int]]:
    memories = _list_redacted(view, private=private)
    if wanted == MARKDOWN:
        notes = markdown.format_notes(memories)
        return notes, {"memories": len(notes)}
    if wanted == MCP:
        active = [one for one in memories if one.status == ACTIVE and one.text]
        return "".join(f"{line}\n" for line in mcp_memory.format_graph(active)), {"memories": len(active)}
    store = pam.format_store(memories, owner="told-user", version=__version__, now=view.context.now)
    return f"{dump_json(store)}\n", {"memories": len(store["memories"])}


def _list_redacted(view: MemoryView, *, private: bool) -> list[Memory]:
    """Return the memories without secrets, and without links to private ones."""
    source = _source(view)
    hidden = frozenset() if private else find_private(view.memories, read_own_operations(view.home))
    rescanner = Rescanner(source.redact, source.key)
    return [
        one._replace(
            text=rescanner.redact_text(one.text), context=rescanner.redact_text(one.context),
            scope=rescanner.redact_path(one.scope), entities=tuple(map(rescanner.redact_text, one.entities)),
            superseded_by="" if one.superseded_by in hidden else one.superseded_by,
            edges=tuple(edge for edge in one.edges if edge.target not in hidden),
        )
        for one in list_exported(view.memories, hidden)
    ]  # fmt: skip


def _export_block(view: MemoryView, path: str, arguments: Arguments) -> None:
    """Print a block of the project's rules, or put it into a file."""
    context = view.context
    memories = [
        one
        for one in _list_redacted(view, private=False)
        if one.status == ACTIVE and one.scope == view.project and one.is_decided_by_user
    ]
    block = agents_md.format_block(memories)
    file = read_foreign(path) if path != _STDOUT else None
    old = ((file and file.raw) or b"").decode("utf-8", "surrogateescape")
    if not memories and agents_md.BEGIN not in old:
        raise NotFoundError("You said or confirmed nothing in this project yet. `told memories` lists it.")
    if file is None:
        sys.stdout.write(f"{block}\n")
        return
    new = agents_md.replace_block(old, block)
    if old and new != old and may_ask(arguments):
        context.print(block)
        if not confirm_yes(context, f"Write this into {path}?"):
            context.print("Nothing was changed.")
            return
    if new != old:
        write_foreign(file, new.encode("utf-8", "surrogateescape"))
    done = "is up to date" if new == old else "written"
    counts = {"memories": len(memories)}
    context.report(
        f"Block with {memory_count(len(memories))} in {path} {done}.",
        {"path": path, "format": AGENTS_MD, "counts": counts},
    )


def _require_free(context: Context, arguments: Arguments, path: str) -> None:
    """Ask before something is replaced; without a terminal, only --yes does."""
    is_taken = bool(os.listdir(path)) if os.path.isdir(path) else os.path.lexists(path)
    if not is_taken or arguments.flag("yes"):
        return
    if not may_ask(arguments) or not confirm_yes(context, f"{path} exists. Replace it?"):
        raise UsageError(f"{path} exists. Give another path, or add --yes to replace it.")


def _write(path: str, text: str | Mapping[str, str]) -> None:
    try:
        if isinstance(text, str):
            write_private(path, text.encode("utf-8", "replace"))
            return
        os.makedirs(path, mode=0o700, exist_ok=True)
        _remove_renamed(path, text)
        for name, note in text.items():
            place = os.path.join(path, *name.split("/"))
            os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
            write_private(place, note.encode("utf-8", "replace"))
    except OSError as error:
        raise cannot_write(path, error, "Choose another place.") from None


def _remove_renamed(path: str, notes: Mapping[str, str]) -> None:
    """Remove told's older notes of memories that get a note with another name."""
    places = {os.path.join(path, *name.split("/")) for name in notes}
    ids = {markdown.read_id(note) for note in notes.values()}
    for place, name in markdown.list_own_notes(path):
        if place not in places and name in ids:
            os.remove(place)
