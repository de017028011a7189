"""Makes the checkpoint of a session from what is known of it, and writes it: all that this needs at once."""

from __future__ import annotations

import os
import time

from told.agents.events import COMPACT
from told.guard.redact import Redactor
from told.hook.handed import digest_of
from told.ingest.checkpoint_places import folder_of
from told.ingest.checkpoint_reading import NotTextError, read_file
from told.ingest.checkpoint_sync import sync
from told.ingest.checkpoint_text import id_in_name
from told.ingest.identity import git_root, project_at
from told.ingest.whole import Whole
from told.memory._checkpoint_renew import renew
from told.memory._checkpoint_words import OFFERED
from told.memory.checkpoint import AT_ONCE, keep
from told.memory.checkpoint_made import last_worked, made_from
from told.model import CLOSED, OPEN, TOOL
from told.record import replaced
from told.settings import in_project
from told.store.key import own_key
from told.store.projects import Projects
from told.store.reading import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from told.hook.handed import Handed
    from told.hook.moment import Moment
    from told.model import Handover
    from told.store.memories import Memories
    from told.store.projects import Project
    from told.store.reading import CheckpointRow, SessionRow

_ASKING_GIT = 0.1  # seconds after the hook began: too late to begin with it
_LIKE = 8
_NOTES = 8


def write(
    connection: apsw.Connection, memories: Memories, moment: Moment, known: Handed, *, under_way: bool
) -> Handed:
    """Write the checkpoint of a session, or write told's own anew; return what is known of it then."""
    one = _Handing(connection, memories, moment)
    session = one.session(known)
    if session is None:
        return known  # it was not read yet
    path = one.write(known, session, under_way=under_way)
    if not path:
        return replaced(known, waits="")
    # Where the store was locked, the next session's start tries once more.
    public = id_in_name(path)
    waits = "" if one.path_of(session, public) else known.waits
    return replaced(known, waits=waits, id=public, digest=digest_of(path))


class _Handing:
    """One checkpoint, from what the sessions have to its file."""

    def __init__(self, connection: apsw.Connection, memories: Memories, moment: Moment) -> None:
        self._db = connection
        self._memories = memories
        self._moment = moment
        self._reading = Whole(connection, moment.home)

    def write(self, known: Handed, session: SessionRow, *, under_way: bool) -> str:
        """Write it, or write it anew; return the path of the file, empty if nothing is written."""
        moment = self._moment
        if session.kind:
            return ""
        project = project_at(Projects(self._db, moment.hide), session.cwd) if session.cwd else None
        root = _tree(session, project)
        others = self._by_others(session, known)
        own = in_project(moment.settings, project.root if project else "")
        if not own.learn or self._is_said(session, others):
            return ""
        made = self._made(session, project, under_way=under_way)
        if made is None:
            return ""
        is_open = known.waits == COMPACT or bool(made.pending) or _waits_for_user(made)
        if not is_open and any(one.status == OPEN for one in others):
            return ""  # who wrote it knows better than told what is left to do
        made = replaced(made, status=OPEN if is_open else CLOSED)
        redact = Redactor(own_key(moment.home), moment.settings.redaction).redact
        name = project.name if project else ""
        if known.id:
            old = self._untouched(known, session, folder_of(moment.home, made.project, name, root), redact)
            if old:
                renew(self._db, moment.home, old, made, redact)
                return old
        return keep(self._db, moment.home, made, redact, name=name, root=root).path

    def session(self, known: Handed) -> SessionRow | None:
        """Return what is known of a session."""
        found = self._reading.sessions_like(known.session, _LIKE)
        return next((one for one in found if (one.agent, one.native) == (known.agent, known.session)), None)

    def path_of(self, session: SessionRow, public: str) -> str:
        """Return the file of a session's checkpoint, by its id; empty if the store does not know it."""
        found = self._reading.checkpoints(Filter(), _NOTES, session_id=session.id)
        return next((one.path for one in found if one.public == public), "")

    def _untouched(
        self, known: Handed, session: SessionRow, folder: str, redact: Callable[[str], str]
    ) -> str:
        """Return the file that told itself wrote for a session; empty if somebody changed it since."""
        path = self.path_of(session, known.id)
        if not path and sync(self._db, self._moment.home, redact, folder=folder, most=AT_ONCE):
            path = self.path_of(session, known.id)
        return path if path and digest_of(path) == known.digest else ""

    def _by_others(self, session: SessionRow, known: Handed) -> list[CheckpointRow]:
        """Return the latest notes on a session that its agent or the user wrote, or edited."""
        found = []
        for one in self._reading.checkpoints(Filter(), _NOTES, session_id=session.id):
            if one.path and one.public == known.id and digest_of(one.path) not in ("", known.digest):
                found.append(replaced(one, at=max(one.at, _changed(one.path))))
            elif one.path and _is_by_others(one.path):
                found.append(one)
        return found

    def _is_said(self, session: SessionRow, notes: list[CheckpointRow]) -> bool:
        """Tell whether one was written after what was last worked on."""
        since = last_worked(self._reading, session)
        return any(one.at >= since > 0 for one in notes)

    def _made(self, session: SessionRow, project: Project | None, *, under_way: bool) -> Handover | None:
        moment = self._moment
        root = _tree(session, project)

        def changed() -> tuple[str, ...]:
            if not root or time.monotonic() > moment.began + _ASKING_GIT:
                return ()
            from told.memory.checkpoint_changed import changed_since

            return changed_since(root, moment.environ, session.started)

        return made_from(
            self._reading, self._memories, session, moment.now, project=project.key if project else "",
            root=root, under_way=under_way, changed=changed,
        )  # fmt: skip


def _tree(session: SessionRow, project: Project | None) -> str:
    """Return the work tree that a session worked in: a project may have several."""
    return (git_root(session.cwd) or project.root) if project else ""


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns // 1_000_000
    except OSError:
        return 0


def _is_by_others(path: str) -> bool:
    try:
        return read_file(path).by != TOOL
    except NotTextError:
        return False


def _waits_for_user(made: Handover) -> bool:
    """Tell whether the agent asked for something that it needs, rather than offered to do more."""
    return any(not OFFERED.match(one.replace("\u2019", "'")) for one in made.questions)
