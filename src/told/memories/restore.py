"""Bring an export of the user's own home back: its operations, checkpoints and sessions."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from told.files import create_private, make_folder, write_private
from told.ingest.archive import archive_path, sync_disk, write_lines
from told.ingest.checkpoint_files import (
    FOLDER,
    UnreadableError,
    hash_content,
    list_checkpoints,
    read_checkpoint,
)
from told.ingest.checkpoint_markdown import parse_checkpoint
from told.ingest.forgotten import SESSION_TOPIC, TURN_TOPIC
from told.ingest.projects import places_path
from told.journal.apply import catch_up
from told.journal.files import FORGET, MAKES_MEMORY, SET, UNDO
from told.journal.registry import ProjectJournal, register
from told.journal.transfer import Copy, advance_clock, name_series, read_own_operations, write_copies
from told.jsontext import as_dict, as_text, dump_json
from told.memories.exports import redact_copy
from told.memories.journal_writer import IMPORT, JournalWriter
from told.memories.lookup import find_forgotten
from told.memories.undo_import import find_undone_imports, list_notes
from told.redact.rescan import Rescanner
from told.store.memories.protocol import Memories
from told.store.memories.records import FORGOTTEN, Memory
from told.sync.formats.native import CheckpointFile, Document

MEMORY, CHECKPOINT, PART = "memory", "checkpoint", "part"  # what a row is about
NEW, SAME, CONFLICTING, REFUSED = "new", "same", "conflicting", "refused"
_MAX_NOTED = 1000  # checkpoints in one operation
_FORGETS = (SESSION_TOPIC, TURN_TOPIC)


@dataclass(frozen=True, slots=True)
class Row:
    """What an import does with one memory, or with a checkpoint or another part."""

    action: str
    id: str
    text: str = ""
    reason: str = ""
    memory: str = ""  # the memory here that it is compared with
    what: str = MEMORY


@dataclass(frozen=True, slots=True)
class Restore:
    """What an import of the user's own export would do."""

    rows: tuple[Row, ...]
    copies: tuple[Copy, ...]  # to write
    revived: tuple[str, ...]  # identities of undo operations that a new import takes back
    checkpoints: tuple[CheckpointFile, ...]
    sessions: int

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.copies or self.revived or self.checkpoints or self.sessions)


def is_home_empty(home: str) -> bool:
    """Tell whether a home has no operations yet."""
    return not read_own_operations(home)


def is_own_export(home: str, document: Document, key: bytes) -> bool:
    """Tell whether an export is of this home, comes into an empty one, or was taken for the user's before."""
    if document.is_sealed_by(key):
        return True
    own = read_own_operations(home)
    return not own or any(
        one.kind == IMPORT and (one.payload or {}).get("digest") == document.digest for one in own
    )


def plan_restore(
    home: str, memories: Memories, document: Document, redact: Callable[[str], str], key: bytes
) -> Restore:
    """Compare an export with what is here."""
    rescanner = Rescanner(redact, key)
    own = read_own_operations(home)
    known = {one.identity for one in own if one.identity}
    undoing = find_undone_imports(own)  # undone imports
    redacted = [redact_copy(one, rescanner) for one in document.copies]
    rows: list[Row] = []
    taken: set[int] = set()
    revived: dict[str, None] = {}
    groups: dict[str, list[Copy]] = {}
    for one in redacted:
        for name in one.operation.touched:
            groups.setdefault(name, []).append(one)
    here = memories.get(groups)
    for name, copies in groups.items():
        made = _creation(copies)
        text, scope = as_text(made.get("text")), as_text(made.get("scope"))
        is_new = name not in here and text and scope
        put_away = find_forgotten(memories, text, scope, key) if is_new else None
        row, chosen = _plan_memory(name, copies, here.get(name, put_away), known)
        again = [undoing[one.identity] for one in copies if one.identity in undoing]
        if again and row.action == SAME:
            row = Row(NEW, name, row.text, "its import was undone")
        revived |= dict.fromkeys(again if row.action != REFUSED else ())
        rows.append(row)
        taken |= {id(one) for one in chosen}
    for one in redacted:  # notes; in a home that is in use they delete no session
        topics = as_dict((one.payload or {}).get(SET))
        deletes = own and any(name in topics for name in _FORGETS)
        if not one.operation.touched and one.identity not in known and not deletes:
            taken.add(id(one))
    every = [one for one in redacted if id(one) in taken]
    checkpoints = list(_plan_checkpoints(home, document.checkpoints, rows))
    rows += [Row(REFUSED, one.source, reason=one.reason, what=PART) for one in document.problems]
    sessions = sum(not os.path.exists(path) for path, _ in _list_sessions(home, document))
    return Restore(tuple(rows), tuple(every), tuple(revived), tuple(checkpoints), sessions)


def _creation(copies: Sequence[Copy]) -> dict[str, Any]:
    return next((one.payload for one in copies if one.kind in MAKES_MEMORY and one.payload), {})


def _plan_memory(
    name: str, copies: Sequence[Copy], here: Memory | None, known: Collection[str]
) -> tuple[Row, list[Copy]]:
    """Return what becomes of a memory, and the operations on it that are new here."""
    text = str(_creation(copies).get("text", ""))
    new = [one for one in copies if one.identity not in known and (one.identity or here is None)]
    if not new:
        return Row(SAME, name, text, memory=name), []
    if here is None:
        return Row(NEW, name, text), new
    if reason := _find_refusal(here, copies):
        return Row(REFUSED, name, text, reason, here.id), []
    was_copied = any(one.identity in known for one in copies if one.kind in MAKES_MEMORY)
    if not was_copied and text != here.text:
        return Row(CONFLICTING, name, text, "another memory has this id here", name), []
    changes = [one for one in new if one.kind not in MAKES_MEMORY]
    if not changes:
        return Row(SAME, name, text, memory=name), []
    return Row(CONFLICTING, name, text, "it was changed there as well", name), changes


def _find_refusal(here: Memory, copies: Sequence[Copy]) -> str:
    """Return why a memory must not be changed by an import."""
    reasons = {
        "you forgot it": here.status == FORGOTTEN,
        "you rejected it": here.is_rejected,
        "it is locked here, and was changed there": here.locked,
        "it was forgotten there; an import deletes nothing": any(one.kind == FORGET for one in copies),
    }
    return next((why for why, holds in reasons.items() if holds), "")


def _plan_checkpoints(
    home: str, given: Sequence[CheckpointFile], rows: list[Row]
) -> Iterator[CheckpointFile]:
    """Yield the checkpoints that are not here."""
    known = {}
    for path in list_checkpoints(home) if given else ():
        try:
            known[read_checkpoint(path).id] = path
        except UnreadableError:
            continue
    for one in given:
        found = parse_checkpoint(one.text, one.name, one.changed)
        if found.id not in known:
            rows.append(Row(NEW, found.id, found.title, what=CHECKPOINT))
            yield one
            continue
        is_same = read_checkpoint(known[found.id]) == found
        why = "" if is_same else "it is another one here, which stays"
        rows.append(Row(SAME if is_same else REFUSED, found.id, found.title, why, what=CHECKPOINT))


def apply_restore(writer: JournalWriter, document: Document, plan: Restore, *, conflicting: bool) -> None:
    """Write what a plan found; one undo takes it back.

    What was changed on both sides is only written if wanted.
    """
    skipped = {row.id for row in plan.rows if row.action == CONFLICTING and not conflicting}
    copies = [one for one in plan.copies if not skipped.intersection(one.operation.touched)]
    home = writer.home
    with writer.lock():
        writer.begin_group()
        names = name_series(home, os.urandom(8).hex(), document.order) if copies else []
        files = [_write_checkpoint(home, one) for one in plan.checkpoints]
        series = [name for at, name in enumerate(names) if any(one.series == at for one in copies)]
        for at in range(0, max(1, len(files)), _MAX_NOTED):
            brought = {"series": series if not at else [], "checkpoints": files[at : at + _MAX_NOTED]}
            writer.add(IMPORT, "", **brought, digest=document.digest)
        undone = {one.identity: one for one in (read_own_operations(home) if plan.revived else ())}
        for identity in plan.revived:
            undo = undone[identity]
            listed = (undo.payload or {}).get("memories")
            writer.add(UNDO, undo.memory, undone=identity, **({"memories": listed} if listed else {}))
        for (topic, note), value in list_notes(one.operation for one in document.copies if undone).items():
            if writer.memories.noted(topic).get(note, "") != value:
                writer.add(SET, "", **{SET: {topic: {note: value}}})
        advance_clock(home, copies)
        writer.write(at_home=True)
        write_copies(home, copies, names)
        catch_up(home, writer.memories)


def _write_checkpoint(home: str, one: CheckpointFile) -> list[str]:
    """Write a checkpoint's file; return its path below the home, and a hash to recognise it by."""
    folder = os.path.join(home, FOLDER, one.folder)
    make_folder(folder)
    path = os.path.join(folder, one.name)
    content = one.text.encode("utf-8", "replace")
    if not os.path.lexists(path):
        create_private(path, content)
        if one.changed:
            os.utime(path, ns=(one.changed * 1_000_000, one.changed * 1_000_000))
    return [f"{one.folder}/{one.name}", hash_content(content)]


def _list_sessions(home: str, document: Document) -> Iterator[tuple[str, list[list[object]]]]:
    """Yield path and lines of each session's archive file."""
    for agent, lines in document.sessions:
        head = lines[0] if lines and len(lines[0]) == 2 and lines[0][0] == "session" else None
        native = head[1].get("native") if head and isinstance(head[1], dict) else None
        if isinstance(native, str) and native:
            yield archive_path(home, agent, native), lines


def write_sessions(home: str, document: Document, redact: Callable[[str], str]) -> int:
    """Write the sessions that are not here into the archive; return how many."""
    rescanner = Rescanner(redact)
    written = 0
    for path, lines in _list_sessions(home, document):
        if not os.path.exists(path):
            write_lines(path, rescanner.redact_value(lines))
            written += 1
    if document.places and not os.path.exists(places_path(home)):
        make_folder(os.path.dirname(places_path(home)))
        text = "".join(f"{dump_json(list(one))}\n" for one in document.places)
        write_private(places_path(home), text.encode("utf-8", "replace"))
    sync_disk()
    return written


def adopt_key(home: str, document: Document) -> None:
    """Take over the key and the projects of a complete export, in an empty home."""
    if document.key:
        write_private(os.path.join(home, "key"), document.key)
    for root, scope, series in document.projects:
        project = ProjectJournal(home, root, scope, series=tuple(filter(str.isalnum, series)))
        if os.path.isabs(root) and project.exists:
            register(project)
