"""Brings `sessions.db` in line with the files of checkpoints: they are the truth, also after a hand edit."""

from __future__ import annotations

import os
import time

from told.guard.names import plain_id, plain_path
from told.ingest.checkpoint_neighbours import placed_like_neighbours
from told.ingest.checkpoint_places import folders, listed
from told.ingest.checkpoint_reading import NotTextError, read_file
from told.ingest.checkpoint_rows import is_agent, note_of, redacted, session_elsewhere, without_forgotten
from told.ingest.checkpoint_text import id_in_name
from told.ingest.identity import normal_remote
from told.ingest.locate import Locator
from told.ingest.tombstones import Tombstones
from told.journal.files import has_places
from told.journal.registry import places
from told.record import replaced
from told.search.index_text import extra_words, near_words
from told.store.checkpoints import OwnCheckpoints
from told.store.ids import public_id
from told.store.key import own_key
from told.store.projects import Projects
from told.store.writing import Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    import apsw

    from told.ingest.forgotten import Forgotten
    from told.model import Handover
    from told.store.writing import SessionState

    State = tuple[int, int]  # size, time of change in ns

_NO_SESSION = "told"  # the agent of a checkpoint that names none
_AT_ONCE, _MUCH = 200, 2 << 20  # files, and bytes, in one transaction


def sync(
    connection: apsw.Connection, home: str, redact: Callable[[str], str], *, folder: str = "", most: int = 0,
    seconds: float = 0.0,
) -> int:  # fmt: skip
    """Take in the files that are new, changed or gone, of one folder or of all.

    Args:
        connection: The open store.
        home: The folder of everything told writes for itself.
        redact: Takes secrets out of text.
        folder: Look at this folder alone.
        most: Where there are more files to read than that, do nothing; 0: read them all.
        seconds: Begin with no more of them after that time, and leave the rest to the next look; 0: go on.

    Returns:
        How many files were taken in or out; -1 if there are too many.
    """
    own = OwnCheckpoints(connection)
    found, unseen = _found(home, folder)
    known = own.known(folder)
    changed = {
        path: state for path, state in found.items() if path not in known or known[path].state != state
    }
    gone = {path for path in known if path not in found and os.path.dirname(path) not in unseen}
    taken = 0
    if most and len(changed) > most:
        return -1
    if changed or gone:
        taking = _Taking(connection, home, redact)
        until = time.monotonic() + seconds
        for portion in _portions(changed):
            taking.take(portion, gone)
            taken += len(portion) + len(gone)
            gone = set()
            if seconds and time.monotonic() > until:
                break
    return taken


def _portions(changed: dict[str, State]) -> Iterator[dict[str, State]]:
    """Yield what is taken in at once, the latest first; one that is empty if nothing has changed."""
    portion: dict[str, State] = {}
    size = 0
    for path in sorted(changed, reverse=True):  # their names begin with the time
        if portion and (len(portion) == _AT_ONCE or size + changed[path][0] > _MUCH):
            yield portion
            portion, size = {}, 0
        portion[path] = changed[path]
        size += changed[path][0]
    yield portion


def _found(home: str, folder: str) -> tuple[dict[str, State], set[str]]:
    """Return the files that are there, and the folders into which told cannot look."""
    found: dict[str, State] = {}
    unseen = set()
    for one in [folder] if folder else folders(home):
        try:
            found |= listed(one)
        except OSError:
            unseen.add(one)
    return found, unseen


class _Taking:
    """One run."""

    def __init__(self, connection: apsw.Connection, home: str, redact: Callable[[str], str]) -> None:
        self._home = home
        self._redact = redact
        self._own = OwnCheckpoints(connection)
        self._writer = Writer(connection, extra_words, near_words)
        # Not a method of this: a ring of objects would keep the database open.
        self._projects = Projects(connection, lambda name: plain_path(name, redact))
        self._tombstones = Tombstones(home)

    def take(self, changed: dict[str, State], gone: Collection[str]) -> None:
        """Take files in and out, in one transaction; what changes after the look is found by the next one."""
        read = {path: self._read(path) for path in changed}
        with self._writer.transaction():
            forgotten = self._tombstones.now()
            known = self._own.known()
            # Somebody may have changed or deleted a file meanwhile, or another told has taken it in.
            read = {path: one for path, one in read.items() if _state(path) == changed[path]}
            gone = {*gone} - _found(self._home, "")[0].keys() if gone else ()
            touched = {known[path].id for path in (*read, *gone) if path in known}
            touched |= {one.id for one in read.values() if one is not None}
            # Of two files with the same id one keeps it: which one has nothing to do with the order.
            again = [one.path for one in known.values() if one.id and one.id in touched]
            read |= {path: self._read(path) for path in again if path not in read and path not in gone}
            states = {path: changed.get(path) or known[path].state for path in read}
            ids = {path: one.id for path, one in known.items() if path not in gone}
            ids |= {path: "" if one is None else one.id for path, one in read.items()}
            left = set()
            for path in (*read, *gone):
                if path in known:
                    left.update(self._own.clear(self._writer, known[path].source_id))
            for path in gone:
                if path in known:
                    self._own.drop_source(known[path].source_id)
            holders = _holders(ids, self._home)
            locator = Locator(self._projects, self._writer)
            for path in sorted(read):
                one = read[path]
                source_id = self._own.add(path, os.path.dirname(path), ids[path], states[path])
                if one is not None:
                    one = one if holders[one.id] == path else _copy(one, path)
                    left.discard(self._put(path, source_id, one, locator, forgotten))
            self._close(left)

    def _read(self, path: str) -> Handover | None:
        try:
            return redacted(read_file(path), self._redact)
        except NotTextError:
            return None  # `told health` names it

    def _put(
        self, path: str, source_id: int, one: Handover, locator: Locator, forgotten: Forgotten
    ) -> tuple[str, str]:
        """Put a checkpoint into the store; return the session that it is about."""
        root = _root(self._home, path)
        if not root:
            one = placed_like_neighbours(one, path, lambda name: plain_path(name, self._redact))
        agent, native = self._session(one)
        if forgotten.has(agent, native):
            return "", ""
        one = without_forgotten(replaced(one, agent=agent, session=native), forgotten)
        if self._is_elsewhere(agent, native, self._project_of(one, root, locator), bool(root)):
            native = session_elsewhere(native, os.path.dirname(path))
        session = self._writer.session(agent, native) or self._writer.new_session(agent, native)
        session = self._placed(session, one, root or one.folder, locator)
        self._writer.put_checkpoint(session, source_id, note_of(one, path))
        self._writer.close_session(session.id, session.next_n, session.summary)
        return agent, native

    def _session(self, one: Handover) -> tuple[str, str]:
        """Return the (agent, native) of the session that a checkpoint belongs to."""
        agent = one.agent if is_agent(one.agent) else _NO_SESSION
        if not one.session:
            return agent, f"checkpoint-{one.id}"
        native = plain_id(one.session, self._redact, lambda: own_key(self._home))
        if self._writer.session(agent, native) is None:
            return self._own.session_called(one.session) or (agent, native)
        return agent, native

    def _project_of(self, one: Handover, root: str, locator: Locator) -> int:
        """Return the project that a file belongs to, by where it lies or what it says; 0: none."""
        if root:
            return locator.locate(root, "")[0]
        known = self._projects.by_key(one.project) if one.project else None
        return known.id if known is not None else 0

    def _is_elsewhere(self, agent: str, native: str, project_id: int, in_project: bool) -> bool:
        """Tell whether a session worked in another project than the one that its checkpoint is for.

        The file of a project may come from anybody: it says nothing about sessions of other projects.
        """
        known = self._writer.session(agent, native)
        if known is None or not project_id or known.project_id == project_id:
            return False
        return bool(known.project_id) or (in_project and bool(known.next_n or known.cwd))

    def _placed(self, session: SessionState, one: Handover, folder: str, locator: Locator) -> SessionState:
        """Give a session that nobody has placed yet to the project that its checkpoint names."""
        if session.project_id:
            return session
        project_id, part = 0, ""
        if folder and os.path.isdir(folder):
            project_id, part = locator.locate(folder, "")
        else:
            known = self._projects.at(folder) if folder else None
            if known is None and one.project:
                known = self._projects.put(one.project, _name(one.project, one.folder), one.folder)
            project_id = known.id if known is not None else 0
        if not project_id:
            return session
        self._writer.place_session(session.id, project_id, self._projects.hide(part))
        return self._writer.session(session.agent, session.native) or session

    def _close(self, sessions: Collection[tuple[str, str]]) -> None:
        """Bring sessions up to date that lost a checkpoint."""
        for agent, native in sessions:
            session = self._writer.session(agent, native) if native else None
            if session is not None:
                self._writer.close_session(session.id, session.next_n, session.summary)
        self._own.drop_unfounded(sessions)


def _holders(ids: dict[str, str], home: str) -> dict[str, str]:
    """Return which file has each id, where several say the same: the one that is named so.

    What lies in told's own folder comes first: files of a project may come from anybody.
    """
    found: dict[str, str] = {}
    own = os.path.join(home, "")
    for path in sorted(ids, key=lambda path: (not path.startswith(own), id_in_name(path) != ids[path], path)):
        found.setdefault(ids[path], path)
    return found


def _state(path: str) -> State:
    try:
        found = os.lstat(path)
    except OSError:
        return -1, -1
    return found.st_size, found.st_mtime_ns


def _copy(one: Handover, path: str) -> Handover:
    """Return what a copy of another file says, as a checkpoint of its own."""
    return replaced(one, id=public_id("c", one.id, path, length=9))


def _name(key: str, folder: str) -> str:
    """Return the name of a project that is known by its key alone."""
    where = key.removeprefix("path:") if key.startswith("path:") else folder
    named = "" if key.startswith(("path:", "commit:")) else normal_remote(key)[1]
    return named or where.rstrip("/").rpartition("/")[2] or key


def _root(home: str, path: str) -> str:
    """Return the project in whose own folder a file lies: it belongs there, whatever it says."""
    if not has_places(home):
        return ""
    folder = os.path.dirname(os.path.dirname(path))
    return next((place.root for place in places(home) if place.folder == folder), "")
