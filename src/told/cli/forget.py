"""`told forget` and `told redact-scan`: delete stored data for good."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from told.cli.arguments import Arguments
from told.cli.checkpoint_lines import checkpoint_head
from told.cli.context import (
    SHORTEST_ID,
    Context,
    MemoryView,
    confirm_yes,
    count,
    cut,
    may_ask,
    memory_count,
)
from told.cli.index import import_checkpoints, rebuild
from told.cli.memories import source_name, waiting_note
from told.cli.moving.receipts import make_receipts, print_receipts
from told.cli.sessions import find_own_checkpoint
from told.cli.terminal.progress import ProgressBar
from told.errors import BusyError, DiskFullError, MissingError, NotFoundError, UsageError
from told.ingest.checkpoint_rows import forget_checkpoint
from told.ingest.forgotten import SESSION_TOPIC
from told.ingest.leftovers import remove_traces
from told.memories.forget import (
    ForgetPlan,
    finish_forgetting,
    include_duplicates,
    memories_of_sessions,
    plan_forget,
    read_undone_memories,
)
from told.memories.forget import forget as erase
from told.memories.redact_stored import Redaction, RedactionScan
from told.memories.scopes import REPOSITORY, MemoryFilter, list_memories
from told.service.control import stop
from told.store.database import UNWRITABLE, public_id
from told.store.memories.records import ACTIVE, ARCHIVED, QUARANTINED, SUPERSEDED, UNCONFIRMED, Memory
from told.store.sessions.erase import SessionEraser

_NOWHERE = "As far as told knows, no agent's own file contains it."
_ELSEWHERE = "told does not change agents' own files. These still contain it:"


@dataclass(frozen=True, slots=True)
class _Selection:
    """What the user wants forgotten."""

    memories: tuple[Memory, ...]
    sessions: tuple[tuple[str, str], ...] = ()  # agent and its own id


def _nothing_to_forget(arguments: Arguments) -> str:
    if session := arguments.text("session"):
        return f"No session has the id {cut(session, 60)!r}. `told list` lists them."
    if since := arguments.text("since"):
        return f"No memory was made since {since!r}."
    if source := arguments.text("source"):
        return f"No memory comes from {source!r}."
    return "There is no such memory. `told memories` lists them."


def forget(context: Context, arguments: Arguments) -> None:
    """Forget by id, session, time or source; a dry run without --force."""
    if arguments.flag("receipt"):
        _print_receipt(context, arguments)
        return
    given = [name for name in ("session", "since", "source") if arguments.text(name)]
    if bool(arguments.operands) + len(given) != 1:
        raise UsageError("Say what to forget: ids, or one of --session ID, --since WHEN, --source NAME.")
    source = arguments.text("source")
    checkpoints = [one for one in arguments.operands if one.startswith("c")]
    if source and source.startswith("c") and context.reading.checkpoints_like(source, 1):
        arguments.operands.append(source)
        arguments.set("source", "")
        checkpoints = [source]
    if checkpoints and len(checkpoints) < len(arguments.operands):
        raise UsageError("Forget checkpoints and memories in separate commands.")
    if checkpoints:
        _forget_checkpoints(context, arguments)
        return
    with MemoryView(context) as view:
        chosen = _select(view, arguments)
        if not chosen.memories and not chosen.sessions:
            raise NotFoundError(_nothing_to_forget(arguments))
        import_checkpoints(context)  # a file that nobody has read yet may contain it
        every = include_duplicates(view.writer.journal, view.memories, chosen.memories)
        duplicates = every[len(chosen.memories) :]
        plan = plan_forget(context.connection, context.key, view.home, every, chosen.sessions)
        force = arguments.flag("force")
        proposals = []
        if force and not view.caller.is_user:
            proposals = [view.writer.propose("forget", memory.id) for memory in chosen.memories]
            view.writer.write()
        elif force:
            erase(view.writer, context.connection, plan)
            import_checkpoints(context)
            end_service(context.home)
        done = force and view.caller.is_user
        ids, sessions = [one.id for one in plan.memories], [f"{agent}/{one}" for agent, one in plan.sessions]
        receipts = make_receipts(context, ids, sync=True, sessions=sessions) if done else []
        if context.as_json:
            rows = [{"id": one.id} if done else view.json(one) for one in plan.memories]
            losses = [
                {"id": one.public, "agent": one.agent, "native_id": one.native, "turns": one.turns,
                 "whole": one.whole}
                for one in plan.losses
            ]  # fmt: skip
            context.print_json({
                "count": len(rows), "forgotten": done, "memories": rows, "sessions": losses,
                "same_words": [one.id for one in duplicates], "proposals": proposals,
                "elsewhere": _files(plan), "receipts": receipts,
            })  # fmt: skip
        elif force and not done:
            waiting = f" {waiting_note(proposals)}" if proposals else ""
            context.print(f"Only you can forget memories.{waiting}")
        else:
            _print_plan(view, plan, duplicates, done=done)
            print_receipts(context, receipts)


def _print_receipt(context: Context, arguments: Arguments) -> None:
    """Print which machines have erased what was forgotten earlier."""
    if not arguments.operands:
        raise UsageError("Give the id that you forgot: `told forget --receipt ID`.")
    with MemoryView(context) as view:
        noted = {
            f"{agent}/{native}": public_id("s", agent, native)
            for agent, _, native in (name.partition("/") for name in view.memories.noted(SESSION_TOPIC))
        }
    sessions = [name for name, public in noted.items() if public in arguments.operands]
    receipts = make_receipts(context, arguments.operands, sync=False, sessions=sessions)
    if context.as_json:
        context.print_json({"receipts": receipts}, found=receipts)
        return
    if not receipts:
        raise NotFoundError("No other machine or place knew it.")
    print_receipts(context, receipts)


def end_service(home: str) -> None:
    """Stop the service, which may write what it has read before; the next hook starts it again."""
    if stop(home):
        remove_traces(home)


def _files(plan: ForgetPlan) -> list[str]:
    return sorted({path for one in plan.losses for path in one.files})


def _print_plan(view: MemoryView, plan: ForgetPlan, duplicates: list[Memory], *, done: bool) -> None:
    context = view.context
    many = memory_count(len(plan.memories)) if plan.memories or not plan.sessions else ""
    sessions = count(len(plan.sessions), "session") if plan.sessions else ""
    what = " and ".join(filter(None, (many, sessions)))
    if done:
        ids = ", ".join(one.id for one in plan.memories)
        context.print(f"Forgot {what}{': ' if ids else ''}{ids}. This cannot be undone.")
    else:
        context.print(f"Would forget {what} for good; add --force to do it.")
        for one in plan.memories:
            context.print(view.row(one))
    if duplicates:
        context.print(f"With the same words: {', '.join(one.id for one in duplicates)}.")
    verb = "lost" if done else "would lose"
    for loss in plan.losses:
        lost = "all of its text" if loss.whole else f"text in {count(loss.turns, 'turn')}"
        context.print(f"Session {loss.public} {verb} {lost}.")
    files = _files(plan)
    _print_paths(context, _ELSEWHERE if files else _NOWHERE, files)
    if len(files) > _MOST_PATHS:
        context.print(f"  and {count(len(files) - _MOST_PATHS, 'more file')}")


def _select(view: MemoryView, arguments: Arguments) -> _Selection:
    if arguments.operands:
        return _Selection(tuple(dict.fromkeys(_find_by_id(view, given) for given in arguments.operands)))
    session, source = arguments.text("session"), arguments.text("source")
    if source and len(source) >= SHORTEST_ID and view.context.reading.sessions_like(source, 1):
        session = source
    if session:
        return _select_session(view, session)
    source = source_name(source)
    since = view.context.parse_time(arguments.text("since")) if arguments.text("since") else 0
    scopes = (view.project,) if source == REPOSITORY else ()
    filters = [
        MemoryFilter(scopes, "", status, source, since=since)
        for status in (ACTIVE, SUPERSEDED, QUARANTINED, ARCHIVED, *UNCONFIRMED)
    ]
    now = view.context.now
    return _Selection(tuple(one for each in filters for one in list_memories(view.memories, each, now, -1)))


def _select_session(view: MemoryView, given: str) -> _Selection:
    """Return a session with its helpers, and the memories from them.

    A session that is forgotten already may still have to be finished.
    """
    known = {(row.agent, row.native): row.public for row in view.context.reading.sessions_like(given, 99)}
    for name in view.memories.noted(SESSION_TOPIC):
        agent, _, native = name.partition("/")
        public = public_id("s", agent, native)
        if native.startswith(given) or public.startswith(given):
            known.setdefault((agent, native), public)
    exact = [name for name, public in known.items() if given in (name[1], public)]
    exact = exact or [name for name in known if not any(name[1].startswith(f"{one[1]}/") for one in known)]
    if len(exact) > 1:
        raise UsageError(f"{given!r} matches {count(len(exact), 'session')}. Give more of the id.")
    if not exact:
        return _Selection(tuple(memories_of_sessions(view.memories, [given])))
    agent, native = exact[0]
    helpers = SessionEraser(view.context.connection).helpers(agent, native)
    sessions = tuple((agent, one) for one in (native, *helpers))
    memories = memories_of_sessions(view.memories, [name for _, name in sessions])
    return _Selection(tuple(memories), sessions)


def _find_by_id(view: MemoryView, given: str) -> Memory:
    """Return a memory by its id, also one whose forgetting was interrupted."""
    found = view.find_by_prefix(given)
    if not found and len(given) >= 3:
        found = read_undone_memories(view.writer.journal, given)
        found = [one for one in found if one.id == given] or found
    if not found:
        raise NotFoundError(f"No memory has the id {given!r}. `told memories` lists them.")
    if len(found) > 1:
        raise UsageError(f"{given!r} matches {', '.join(one.id for one in found)}. Give more of it.")
    return found[0]


def _forget_checkpoints(context: Context, arguments: Arguments) -> None:
    notes = list(dict.fromkeys(find_own_checkpoint(context, given.strip()) for given in arguments.operands))
    force = arguments.flag("force")
    if force and not context.caller.is_user:
        close = f"told checkpoint --close {notes[0].public}"
        raise UsageError(f"Only you can forget a checkpoint. An agent may close it: `{close}`.")
    if force:
        for note in notes:
            forget_checkpoint(context.connection, context.home, note.public)
        from told.memories.sync_checkpoints import note_forgotten  # noqa: PLC0415 - few users sync

        note_forgotten(context.home, [note.public for note in notes], context.now)
        end_service(context.home)
    receipts = make_receipts(context, [note.public for note in notes], sync=True) if force else []
    if context.as_json:
        shown = [{"id": note.public, "path": note.path, "session": note.session} for note in notes]
        found = {"count": len(shown), "forgotten": force, "checkpoints": shown, "receipts": receipts}
        context.print_json(found)
        return
    many = count(len(notes), "checkpoint")
    if force:
        context.print(f"Forgot {many}: {', '.join(note.public for note in notes)}. This cannot be undone.")
        print_receipts(context, receipts)
    else:
        context.print(f"Would forget {many} for good; add --force to do it.")
        for note in notes:
            title = context.fence.inline(cut(note.title, 200))
            context.print(f"{checkpoint_head(context, note)}: {title}\n  {note.path}")
    rows = [row for note in notes for row in context.reading.sessions_like(note.session, 1)]
    sessions = ", ".join(dict.fromkeys(row.public for row in rows if row.turns))
    if sessions:
        context.print(f"The text of {sessions} stays: `told forget --session ID` deletes that, too.")


_KINDS = {
    "turn": "turn", "session": "title, summary or branch", "checkpoint": "checkpoint",
    "touch": "touched file", "ref": "ref", "state": "state of a reader", "problem": "problem",
    "name": "name of a file, folder, project or session", "archive": "file of the archive",
    "journal": "line of the journal", "memory": "memory", "note": "note", "log": "log",
    "aside": "damaged database",
}  # fmt: skip
_PLURALS = {
    "session": "titles, summaries or branches", "state": "states of readers",
    "name": "names of files, folders, projects or sessions", "archive": "files of the archive",
    "journal": "lines of the journal", "memory": "memories",
    "aside": "damaged databases",
}  # fmt: skip
_NOTHING = "Stored data has nothing that today's rules would remove."
_APPLY = "`told redact-scan --apply` removes it from all stored data, for good."
_ABSENT = "These folders are missing and were not checked. Run it again when they are back:"
_MOST_PATHS = 10


def redact_scan(context: Context, arguments: Arguments) -> None:
    """Check all stored data; with --apply, remove what is found."""
    apply = arguments.flag("apply")
    if apply and not context.caller.is_user:
        raise UsageError("Only you can remove stored text: run it in your own terminal.")
    if not context.settings.redaction.enabled:
        raise UsageError("Redaction is turned off. `told config set redaction.enabled true` turns it on.")
    run = Redaction(context.connection, context.home, context.redact, context.key)
    bar = ProgressBar()
    found = run.scan(lambda done, total: bar.draw(done, total, f"{done:,} of {count(total, 'text')}"))
    bar.end()
    done = False
    if apply and (found.total or found.begun):
        if may_ask(arguments):
            _print(context, found, done=False)
            if not confirm_yes(context, "Remove it? This cannot be undone."):
                context.print("Nothing was changed.")
                return
        run.apply(found, context.now, lambda: _rebuild(context, arguments))
        import_checkpoints(context)
        done = True
    if context.as_json:
        context.print_json(_json(context, found, done=done))
    else:
        _print(context, found, done=done)
    context.exit_code = 0 if found.total or found.begun else 1


def _rebuild(context: Context, arguments: Arguments) -> apsw.Connection:
    rebuild(context, arguments)
    context.take()  # drop its report
    return context.connection


def _json(context: Context, found: RedactionScan, *, done: bool) -> dict[str, Any]:
    return {
        "count": found.total, "applied": done, "unfinished": found.begun and not done,
        "places": [{"kind": kind, "count": number} for kind, number in found.counts.items()],
        "texts": [
            {"kind": one.kind, "id": one.id, "text": context.fence.inline(one.shown)} for one in found.shown
        ],
        "elsewhere": list(found.elsewhere), "absent": list(found.absent),
    }  # fmt: skip


def _print(context: Context, found: RedactionScan, *, done: bool) -> None:
    if not found.total:
        context.print(_unfinished(found, done=done) or _NOTHING)
    else:
        verb = "Removed secrets from" if done else "Today's rules would remove secrets from"
        context.print(f"{verb} {count(found.total, 'text')}:")
        for kind, number in found.counts.items():
            context.print(f"  {_count_kind(kind, number)}")
        for one in () if done else found.shown:
            context.print(f"{one.kind} {context.name(one.id)}: {context.fence.inline(one.shown)}")
        context.print("Nothing of it is left in told's own files." if done else _APPLY)
        if not done and found.begun:
            context.print(_unfinished(found, done=done))
    for sentence, paths in ((_ELSEWHERE, found.elsewhere), (_ABSENT, found.absent)):
        if paths:
            _print_paths(context, sentence, paths)
        if len(paths) > _MOST_PATHS:
            context.print(f"  and {len(paths) - _MOST_PATHS:,} more")


def _unfinished(found: RedactionScan, *, done: bool) -> str:
    if not found.begun:
        return ""
    if done:
        return "Finished an interrupted run."
    return "An earlier `told redact-scan --apply` was interrupted. Run it again to finish it."


def _print_paths(context: Context, sentence: str, paths: Sequence[str]) -> None:
    context.print(sentence)
    for path in paths[:_MOST_PATHS]:
        context.print(f"  {context.name(path)}")


def _count_kind(kind: str, number: int) -> str:
    name = _KINDS[kind]
    return f"1 {name}" if number == 1 else f"{number:,} {_PLURALS.get(kind, name + 's')}"


def finish_interrupted(context: Context) -> None:
    """Finish an interrupted `told forget`, and say so."""
    try:
        missing = finish_forgetting(context.home, context.connection)
    except (BusyError, *UNWRITABLE, DiskFullError, MissingError, OSError):
        sys.stderr.write("told: An interrupted `told forget` is not finished yet. Run `told index`.\n")
        return
    if missing:
        again = f"told forget {' '.join(missing)} --force"
        sys.stderr.write(f"told: `told forget` was interrupted before it began. Run `{again}` again.\n")
    elif missing is not None:
        sys.stderr.write("told: Finished an interrupted `told forget`.\n")
