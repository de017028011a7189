"""Compose a checkpoint from what was given, the transcript and git."""

from __future__ import annotations

import os
import select
import sys
import time
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from told.agents import all_agents, label, wired_agents
from told.checkpoints.from_session import build_from_session, list_changes, read_branch
from told.checkpoints.save import SavedCheckpoint, close_checkpoint, save_checkpoint
from told.cli.arguments import Arguments
from told.cli.checkpoint_fields import CheckpointFields, from_arguments, from_json
from told.cli.context import MOST_MATCHES, SHORTEST_ID, Context, cut, short_home
from told.cli.sessions import find_own_checkpoint, without_helpers
from told.errors import UsageError
from told.ingest.projects import find_git_root, find_project, identify
from told.install.ledger import Ledger
from told.journal.apply import open_memories
from told.journal.registry import read_registry
from told.memories.caller import Caller
from told.memories.session_notes import find_running_session
from told.model import AGENT, OPEN, TOOL, USER, Handover
from told.redact.names import is_plain_name
from told.store.database import public_id
from told.store.sessions.read import Filter, SessionRow
from told.store.sessions.schema import is_checkpoint_id

_TERMINAL = "terminal"  # the agent of what the user writes outside of any agent
_LONGEST_ID = 200
_NO_PROJECT = "no project"  # a folder's name, for people who look into told's home
_EXAMPLE = 'such as `told checkpoint "Move the login to OAuth" --pending "Tests"`.'
_NO_GOAL = f"Give the goal, too, {_EXAMPLE}"
_NO_SESSION = f"There is no session here to make a checkpoint of. Give the goal of the work, {_EXAMPLE}"
_NOTHING_DONE = f"The session has nothing to hand over yet. Give the goal of the work, {_EXAMPLE}"


@dataclass(frozen=True, slots=True)
class _Place:
    """The project and folder of the work."""

    key: str = ""
    name: str = ""
    root: str = ""
    folder: str = ""


def _compose(context: Context, given: CheckpointFields, caller: Caller) -> tuple[Handover, _Place]:
    context.import_new()  # an agent hands over what it said seconds ago
    agent, session = _find_owner(context, given, caller)
    row = _find_session_row(context, agent, session)
    place = _find_place(context, row)
    shown = _from_transcript(context, row, place, under_way=not caller.is_user)
    handover = _merge(given, shown)
    if not handover.goal:
        raise UsageError(_NO_GOAL if given.has_content else _NOTHING_DONE if row else _NO_SESSION)
    if not handover.files:
        handover = replace(handover, files=_changed_files(context, row, place))
    root = find_git_root(place.folder) if place.folder else ""
    branch = (row.branch if row else "") or (read_branch(root, context.environ) if root else "")
    by = TOOL if not given.has_content else USER if caller.is_user else AGENT
    handover = replace(
        handover, status=given.status or OPEN, agent=agent, session=session, project=place.key,
        folder=place.folder, branch=branch, at=context.now, by=by,
    )  # fmt: skip
    return handover, place


def _find_session_row(context: Context, agent: str, native: str) -> SessionRow | None:
    found = context.reading.sessions_like(native, MOST_MATCHES)
    return next((row for row in found if (row.agent, row.native) == (agent, native)), None)


def _find_owner(context: Context, given: CheckpointFields, caller: Caller) -> tuple[str, str]:
    """Return the agent and session of a checkpoint.

    An agent's environment comes first, then its hook's note, then what was given: an agent may be wrong
    about its own id. At the user's terminal what the user gives comes first.
    """
    if caller.is_user and not given.session and not given.has_content:
        project = context.project()
        latest = context.reading.sessions(Filter(project.id, helpers=False), 1) if project else []
        if not latest:
            raise UsageError(_NO_SESSION)
        return latest[0].agent, latest[0].native
    if not caller.is_user:
        running = caller.session or find_running_session(
            context.home, caller.agent, context.cwd, context.environ.get("HOME", "")
        )
        if running:
            return caller.agent, context.stored_id(running)
    named = _find_agent_name(given.agent)
    agent = named or caller.agent or _TERMINAL
    wanted = given.session.strip()
    if wanted:
        found = _find_known(context, wanted, named, may_be_cut=caller.is_user and not named)
        return found or (agent, context.stored_id(wanted))
    # The same note again belongs to the same session.
    day = str(context.now // 86_400_000)
    return agent, public_id("", context.cwd, day, repr(given), length=12)


def _find_agent_name(name: str) -> str:
    """Return an agent's full name; an unknown agent keeps the given one."""
    name = name.strip().lower()
    if not name:
        return ""
    found = [one for one in (*all_agents(), *wired_agents()) if name in (one, label(one))]
    if found:
        return found[0]
    letters = name.replace("-", "").replace("_", "").replace(".", "")
    if not letters.isascii() or not letters.isalnum() or len(name) > 40 or not is_plain_name(name):
        raise UsageError(f"{cut(name, 40)!r} is no agent's name. `told agents` lists those told knows.")
    return name


def _find_known(context: Context, given: str, agent: str, *, may_be_cut: bool) -> tuple[str, str] | None:
    """Return the agent and own id of a known session.

    Only people give the beginning of an id; a program gives all of it, and names the agent.
    """
    if len(given) > _LONGEST_ID or not given.isprintable():
        raise UsageError("That is no session id. `told list` shows them.")
    found = context.reading.sessions_like(given, MOST_MATCHES + 1)
    exact = [
        row for row in found if given == row.public or (given == row.native and agent in ("", row.agent))
    ]
    by_beginning = without_helpers(found) if may_be_cut and len(given) >= SHORTEST_ID else []
    found = exact or by_beginning
    if len(found) > 1:
        ids = ", ".join(row.public for row in found[:MOST_MATCHES])
        raise UsageError(f"{given!r} matches {ids}. Give more of the id.")
    return (found[0].agent, found[0].native) if found else None


def _from_transcript(
    context: Context, row: SessionRow | None, place: _Place, *, under_way: bool
) -> Handover | None:
    if row is None:
        return None
    with closing(open_memories(context.home)) as memories:
        return build_from_session(
            context.reading, memories, row, context.now, project=place.key, root=place.root,
            under_way=under_way, changed=lambda: _changed_files(context, row, place),
        )  # fmt: skip


def _merge(given: CheckpointFields, shown: Handover | None) -> Handover:
    """Return what was given, completed from the transcript.

    If the progress was given, only what can be counted is added.
    """
    shown = shown or Handover("")
    progress = Handover("") if given.has_progress else shown
    return Handover(
        goal=given.goal or given.title or shown.goal,
        done=given.done or progress.done, pending=given.pending or progress.pending,
        decisions=given.decisions or progress.decisions, questions=given.questions or progress.questions,
        files=given.files or shown.files, plans=given.plans or shown.plans,
        references=given.references or shown.references, notes=given.notes or progress.notes,
        title=given.title or ("" if given.goal else shown.title),
    )  # fmt: skip


def _find_place(context: Context, row: SessionRow | None) -> _Place:
    """Return the project of the session, or of the current folder."""
    own = row.cwd if row and not context.names_project else ""
    folder = own or context.cwd
    home = os.path.realpath(context.environ.get("HOME") or "/")
    known = find_project(context.projects(), folder) if own else context.project()
    if known is None and (not folder or os.path.realpath(folder) in (home, "/")):
        return _Place(name=_NO_PROJECT)
    hide = context.hide_secrets
    if known is not None:
        return _Place(known.key, known.name, find_git_root(folder) or known.root, hide(folder))
    found = identify(folder, ask_git=bool(find_git_root(folder)))
    return _Place(hide(found.key), hide(found.name), hide(found.root), hide(folder))


def _changed_files(context: Context, row: SessionRow | None, place: _Place) -> tuple[str, ...]:
    """Return changed files from git, without those told changed."""
    root = find_git_root(place.folder) if place.folder else ""
    if not root:
        return ()
    ignoring = [os.path.join(one.root, ".gitignore") for one in read_registry(context.home) if one.ignored]
    own = [*Ledger(context.home).files, *ignoring]
    return list_changes(root, context.environ, row.started if row else 0, own)


STDIN_SECONDS = 5.0
_MOST_BYTES = 1_000_000  # a checkpoint has a few thousand
_NO_INPUT = "There is nothing on standard input. Pipe a JSON object into `told checkpoint --stdin`."
# What people type who want another command.
_OTHER_COMMANDS = {
    "close": "told checkpoint --close ID", "export": "told checkpoints export ID", "list": "told checkpoints",
    "show": "told show ID", "forget": "told forget ID", "help": "told checkpoint --help",
}  # fmt: skip


def checkpoint(context: Context, arguments: Arguments) -> None:
    """Write a checkpoint, or close one; print its id, status and path."""
    closing = arguments.text("close").strip()
    if closing:
        _close(context, arguments, closing)
        return
    _check_goal(arguments.operands)
    given = _read_fields(arguments)
    saved = _save(context, given, context.caller)
    if context.as_json:
        context.print_json(_as_json(context, saved))
        return
    again = " (already there)" if saved.again else ""
    unknown = f" (ignored: {', '.join(map(context.name, given.unknown))})" if given.unknown else ""
    path = short_home(context, saved.path) if context.is_at_terminal else saved.path
    context.print(f"{saved.handover.id} {saved.handover.status} {path}{again}{unknown}")


def _as_json(context: Context, saved: SavedCheckpoint) -> dict[str, Any]:
    one = saved.handover
    row = _find_session_row(context, one.agent, one.session)
    public = row.public if row else public_id("s", one.agent, one.session)
    return {
        "id": one.id, "path": saved.path, "status": one.status, "session": public, "agent": one.agent,
        "native_id": context.name(one.session), "again": saved.again,
    }  # fmt: skip


def _check_goal(words: list[str]) -> None:
    other = _OTHER_COMMANDS.get(words[0]) if words else None
    if other and (len(words) == 1 or (len(words) == 2 and is_checkpoint_id(words[1]))):
        raise UsageError(f"Did you mean `{other}`? If it is the goal, use --goal.")


def _read_fields(arguments: Arguments) -> CheckpointFields:
    """Read the fields from the words and options, or from standard input."""
    if not arguments.flag("stdin") and arguments.operands != ["-"]:
        return from_arguments(arguments)
    options = [one.name for one in arguments.command.options if one.value and arguments[one.name]]
    if set(options) - {"session"} or arguments.operands not in ([], ["-"]):
        raise UsageError("With --stdin all fields come from there. Give no other words or options.")
    given = from_json(_read_stdin())
    return replace(given, session=arguments.text("session") or given.session)


def _read_stdin() -> str:
    try:
        number = sys.stdin.fileno()
    except (AttributeError, OSError, ValueError):  # closed, or replaced by something that is no file
        raise UsageError(_NO_INPUT) from None
    if os.isatty(number):
        raise UsageError(_NO_INPUT)
    content = b""
    until = time.monotonic() + STDIN_SECONDS
    while _can_read(number, until):
        part = os.read(number, 65_536)
        if not part:
            break
        content += part
        if len(content) > _MOST_BYTES:
            raise UsageError("That is too long for a checkpoint: give it less than a megabyte.")
    else:
        raise UsageError("Standard input does not end. Close it after the JSON." if content else _NO_INPUT)
    if not content.strip():
        raise UsageError(_NO_INPUT)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("Standard input is not UTF-8. Give a JSON object as plain text.") from None


def _can_read(number: int, until: float) -> bool:
    """Wait for input or its end; False if that takes too long."""
    try:
        ready, _, _ = select.select([number], [], [], max(0.0, until - time.monotonic()))
    except (OSError, ValueError):  # this system can only wait for sockets
        return True
    return bool(ready)


def _save(context: Context, given: CheckpointFields, caller: Caller) -> SavedCheckpoint:
    handover, place = _compose(context, given, caller)
    saved = save_checkpoint(
        context.connection, context.home, handover, context.redact, name=place.name, root=place.root
    )
    if saved.again and given.status not in ("", saved.handover.status):  # it exists, and is to be closed now
        close_checkpoint(context.connection, context.home, saved.handover.id)
        saved = replace(saved, handover=replace(saved.handover, status=given.status), again=False)
    return saved


def _close(context: Context, arguments: Arguments, closing: str) -> None:
    others = [one.name for one in arguments.command.options if one.name not in ("close", "json", "status")]
    if arguments.operands or any(arguments[name] for name in others):
        raise UsageError("--close only closes a checkpoint. Give the rest in another command.")
    if arguments.text("status") not in ("", "closed"):
        raise UsageError(f"--close closes it; leave out --status {cut(arguments.text('status'), 20)!r}.")
    note = find_own_checkpoint(context, closing)
    close_checkpoint(context.connection, context.home, note.public)
    was_closed = note.status == "closed"
    again = " (it was already)" if was_closed else ""
    shown = {"id": note.public, "path": note.path, "status": "closed", "session": note.session}
    context.report(f"{note.public} closed {note.path}{again}", shown | {"again": was_closed})
