"""Puts a checkpoint together: what was given, else what the transcript shows, else what git shows."""

from __future__ import annotations

import os

from told.cli.checkpoint_session import latest_here, row_of, session_of
from told.cli.memory_quote import catch_up
from told.errors import UsageError
from told.ingest.identity import git_root, identify, project_at
from told.journal.apply import open_memories
from told.memory.checkpoint_changed import branch_of, changed_since
from told.memory.checkpoint_made import made_from
from told.model import AGENT, OPEN, TOOL, USER, Handover
from told.record import record, replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.cli.checkpoint_fields import Given
    from told.cli.context import Context
    from told.memory.authority import Caller
    from told.store.reading import SessionRow

_NO_PROJECT = "no project"  # a folder's name, for people who look into told's own
_SUCH_AS = 'such as `told checkpoint "Move the login to OAuth" --pending "Tests"`.'
_NO_GOAL = f"Say what the work is for as well, {_SUCH_AS}"
_NO_SESSION = f"There is no session here to make a checkpoint of. Say what the work is for, {_SUCH_AS}"
_NOTHING_DONE = f"The session shows nothing to hand over so far. Say what the work is for, {_SUCH_AS}"


@record
class Made:
    """A checkpoint that is to be kept, and the project it belongs to."""

    handover: Handover
    name: str
    root: str


@record
class _Place:
    """Where the work was done."""

    key: str = ""
    name: str = ""
    root: str = ""
    folder: str = ""


def handover_of(context: Context, given: Given, caller: Caller) -> Made:
    """Return the checkpoint that is meant.

    Raises:
        UsageError: nobody says what the work is for.
    """
    catch_up(context)  # an agent hands over what it said and did seconds ago
    agent, session = _whose(context, given, caller)
    row = row_of(context, agent, session)
    place = _place(context, row)
    shown = _shown(context, row, place, under_way=not caller.is_user)
    handover = _filled(given, shown)
    if not handover.goal:
        raise UsageError(_NO_GOAL if given.says_something else _NOTHING_DONE if row else _NO_SESSION)
    if not handover.files:
        handover = replaced(handover, files=_changed(context, row, place))
    by = TOOL if not given.says_something else USER if caller.is_user else AGENT
    handover = replaced(
        handover, status=given.status or OPEN, agent=agent, session=session, project=place.key,
        folder=place.folder, branch=(row.branch if row else "") or _branch(context, place),
        at=context.now, by=by,
    )  # fmt: skip
    return Made(handover, place.name, place.root)


def _whose(context: Context, given: Given, caller: Caller) -> tuple[str, str]:
    """Return whose session it is; where the user says nothing at all, it is the latest in the project."""
    if caller.is_user and not given.session and not given.says_something:
        latest = latest_here(context)
        if latest is None:
            raise UsageError(_NO_SESSION)
        return latest.agent, latest.native
    return session_of(context, caller, given.session, agent=given.agent, new=repr(given))


def _shown(context: Context, row: SessionRow | None, place: _Place, *, under_way: bool) -> Handover | None:
    """Return what the transcript shows of a session; None if that is nothing."""
    if row is None:
        return None
    memories = open_memories(context.settings.home)
    try:
        return made_from(
            context.reading, memories, row, context.now, project=place.key, root=place.root,
            under_way=under_way, changed=lambda: _changed(context, row, place),
        )  # fmt: skip
    finally:
        memories.close()


def _filled(given: Given, shown: Handover | None) -> Handover:
    """Return what was given, with what the transcript shows of the rest.

    Who tells how far the work is knows it better than the transcript; only what can be counted is added.
    """
    shown = shown or Handover("")
    told = Handover("") if given.tells else shown
    return Handover(
        goal=given.goal or given.title or shown.goal,
        done=given.done or told.done, pending=given.pending or told.pending,
        decisions=given.decisions or told.decisions, questions=given.questions or told.questions,
        files=given.files or shown.files, plans=given.plans or shown.plans,
        references=given.references or shown.references, notes=given.notes or told.notes,
        title=given.title or ("" if given.goal else shown.title),
    )  # fmt: skip


def _place(context: Context, row: SessionRow | None) -> _Place:
    """Return the project that a session worked in, else that of the current folder; the home is none."""
    own = row.cwd if row and not context.is_named else ""
    folder = own or context.cwd
    home = os.path.realpath(context.environ.get("HOME") or "/")
    known = project_at(context.projects(), folder) if own else context.project()
    if known is None and (not folder or os.path.realpath(folder) in (home, "/")):
        return _Place(name=_NO_PROJECT)
    if known is not None:
        return _Place(known.key, known.name, git_root(folder) or known.root, context.hide(folder))
    found = identify(folder, ask_git=bool(git_root(folder)))
    return _Place(
        context.hide(found.key), context.hide(found.name), context.hide(found.root), context.hide(folder)
    )


def _changed(context: Context, row: SessionRow | None, place: _Place) -> tuple[str, ...]:
    """Return the files that git shows as changed since a session began, else what is not committed."""
    root = git_root(place.folder) if place.folder else ""
    if not root:
        return ()
    return changed_since(root, context.environ, row.started if row else 0, _written_by_told(context))


def _written_by_told(context: Context) -> list[str]:
    """Return the files that `told install` and `told init` changed: they are no part of the work."""
    from told.journal.registry import registered
    from told.setup.ledger import Ledger

    home = context.settings.home
    ignoring = [os.path.join(one.root, ".gitignore") for one in registered(home) if one.ignored]
    return [*Ledger(home).files, *ignoring]


def _branch(context: Context, place: _Place) -> str:
    root = git_root(place.folder) if place.folder else ""
    return branch_of(root, context.environ) if root else ""
