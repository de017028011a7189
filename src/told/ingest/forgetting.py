"""Takes what was forgotten out of `sessions.db`, the archive and the checkpoints, to the last byte.

It goes by the marks that the journal keeps, never by the words: what was interrupted can be done again.
"""

from __future__ import annotations

import os

from told.ingest.archive import keep_again
from told.ingest.archive_file import archive_path, rewrite
from told.ingest.checkpoint_forgetting import forget_in_files
from told.ingest.fold import Draft
from told.ingest.whole import Whole
from told.record import record
from told.search.index_text import extra_words, near_words
from told.store.erasing import Erasing, leave_nothing
from told.store.writing import TurnText, Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from told.ingest.forgotten import Forgotten
    from told.store.writing import SessionState

    Name = tuple[str, str]  # of a session: agent, native


@record
class Loss:
    """What a session would lose, or has lost."""

    agent: str
    native: str
    public: str
    turns: int  # that lose text
    whole: bool
    files: tuple[str, ...]  # of the agent, which still hold it


class Forgetting:
    """One run over some sessions."""

    def __init__(self, connection: apsw.Connection, home: str, forgotten: Forgotten) -> None:
        """Take the open store, told's folder, and what was forgotten."""
        self._connection = connection
        self._home = home
        self._forgotten = forgotten
        self._erasing = Erasing(connection)
        self._reading = Whole(connection, home)
        self._writer = Writer(connection, extra_words, near_words)

    def losses(self, names: Iterable[Name]) -> list[Loss]:
        """Say what sessions lose; those that are not there, or lose nothing, are left out."""
        found = []
        for agent, native in sorted(set(names)):
            session_id = self._erasing.find(agent, native)
            if not session_id:
                continue
            row = self._reading.session(session_id)
            before = self._turns(session_id)
            whole = self._forgotten.has(agent, native, row.parent)
            marks = self._forgotten.marks(agent, native)
            after = () if whole else self._forgotten.turns(agent, native, before, marks)
            lost = len(before) if whole else sum(map(_differs, before, after))
            if lost or whole or self._forgotten.text(row.title, marks) != row.title:
                files = tuple(path for path in self._erasing.files(session_id) if os.path.exists(path))
                found.append(Loss(agent, native, row.public, lost, whole, files))
        return found

    def turns_losing(self, names: Iterable[Name]) -> dict[int, str]:
        """Return the turns that lose something, by the numbers of the agent's own ids, and their sessions.

        The agent may have copied a turn into the file of another session.
        """
        found: dict[int, str] = {}
        for agent, native in names:
            session_id = self._erasing.find(agent, native)
            before = self._turns(session_id) if session_id else ()
            whole = self._forgotten.has(agent, native)
            after = before if whole else self._forgotten.turns(
                agent, native, before, self._forgotten.marks(agent, native)
            )  # fmt: skip
            for old, new in zip(before, after, strict=True):
                if isinstance(old.key, int) and (whole or old != new):
                    found[old.key] = f"{agent}/{native}"
        return found

    def erase(self, names: Iterable[Name]) -> None:
        """Take what was forgotten out of sessions, wherever they are.

        Raises:
            BusyError: another told is reading or writing; not all bytes are gone.
            MissingError: the file of a checkpoint cannot be written.
        """
        forget_in_files(self._connection, self._home, self._forgotten)
        there = []
        for agent, native in sorted(set(names)):
            session = self._writer.session(agent, native)
            path = archive_path(self._home, agent, native)
            if session is not None and not self._forgotten.has(agent, native, session.parent):
                with self._writer.transaction():
                    self._cut(session)
                there.append(session.id)
                continue
            if session is not None:
                with self._writer.transaction():
                    self._drop(session)
            if os.path.exists(path) and not rewrite(path, agent, self._forgotten):
                os.remove(path)
        keep_again(self._connection, self._home, there)
        remove_leftovers(self._home)
        leave_nothing(self._connection)

    def _turns(self, session_id: int) -> tuple[TurnText, ...]:
        return tuple(
            TurnText(n, at, "" if key is None else key, *texts)
            for n, at, key, *texts in self._reading.kept_turns(session_id)
        )

    def _cut(self, session: SessionState) -> None:
        forgotten, erasing, writer = self._forgotten, self._erasing, self._writer
        agent, native = session.agent, session.native
        marks = forgotten.marks(agent, native)
        for source_id, title, branch, state in erasing.facts(session.id):
            texts = (forgotten.text(title, marks), forgotten.text(branch, marks))
            erasing.put_facts(session.id, source_id, *texts, forgotten.state(state, marks))
        writer.facts.settle(session.id)
        session = writer.session(agent, native) or session
        before = self._turns(session.id)
        after = forgotten.turns(agent, native, before, marks)
        writer.put_turns(session, after, replace=True)
        for source_id, note in erasing.notes(session.id):
            writer.put_checkpoint(session, source_id, forgotten.note(note, marks))
        for path, _, _ in self._reading.files_of(session.id):
            if not forgotten.keeps(path, marks):
                erasing.drop_touch(session.id, path)
        for _, value, _ in self._reading.refs_of(session.id):
            if not forgotten.keeps(value, marks):
                erasing.drop_ref(session.id, value)
        erasing.drop_said(session.id)
        writer.put_title(session)
        summary = forgotten.summary(session.summary, before, after, marks)
        draft = Draft(native, begin=True)
        draft.turns = after
        if summary != session.summary and len(after) == session.next_n:
            summary = draft.summary
        writer.close_session(session.id, session.next_n, summary)

    def _drop(self, session: SessionState) -> None:
        for source_id, title, branch, state in self._erasing.facts(session.id):
            kept = self._forgotten.state(state, [], all_of_it=True)
            self._erasing.put_facts(session.id, source_id, title, branch, kept)
        self._erasing.drop_session(self._writer, session)


def remove_leftovers(home: str) -> None:
    """Remove what may hold anything: damaged stores that were put aside, and what killed writers left."""
    for name in os.listdir(home):
        if ".db.damaged" in name:
            os.remove(os.path.join(home, name))
    for parent, _, names in os.walk(os.path.join(home, "archive")):
        for name in names:
            if not name.endswith((".jsonl.gz", ".jsonl")):
                os.remove(os.path.join(parent, name))


def _differs(before: TurnText, after: TurnText) -> bool:
    return before != after
