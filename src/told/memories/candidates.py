"""Confirm candidates: statements that told is not sure of."""

from __future__ import annotations

from told.conflict.compare import compare_statement
from told.errors import NotFoundError
from told.journal.transitions import confirmed_content
from told.memories.journal_writer import JournalWriter
from told.memories.lookup import find_put_away, keep_private
from told.memories.remember import NewMemory, Remembered, add_consequences
from told.store.memories.records import CANDIDATE, UNCONFIRMED, is_private

_USER_WEIGHT, _WEIGHT = 3.0, 1.0  # of a confirmation by the user, and by the reader


def confirm_candidate(writer: JournalWriter, memory: str, why: str = "") -> Remembered:
    """Make a candidate an active memory; conflicts are judged as for a new one.

    The user may also confirm a dismissed one; the other caller is told itself, for the reader.

    Raises:
        NotFoundError: There is no such candidate.
    """
    is_user = writer.caller.is_user
    with writer.lock():
        old = writer.read(memory)
        if old.status not in (UNCONFIRMED if is_user else (CANDIDATE,)):
            raise NotFoundError(f"{memory} is no candidate. `told memories --status candidate` lists them.")
        last = old.evidence[-1] if old.evidence else None
        put_away = find_put_away(writer.memories, old.text, old.scope, writer.now, writer.journal.key)
        if not is_user and put_away:
            writer.add("reject", old.id, why="says what the user rejected or forgot")
            writer.write()
            return Remembered(writer.read(old.id), again=True)
        said_at = 0 if is_user or last is None else last.at
        now = said_at or writer.now
        scope = keep_private(writer.memories, old.text, old.scope, now, said_at)
        found = compare_statement(writer.memories, old.text, scope, now, said_at)
        becomes_private = is_private(scope) and not is_private(old)
        if becomes_private and not found.repeats and not is_user:
            return Remembered(old, again=True)  # only the user makes a memory private
        if found.repeats:
            known = found.repeats[0]
            writer.add("confirm", known.id, why=why, weight=_WEIGHT)
            writer.add("supersede", old.id, by=known.id, why="says the same")
            done = Remembered(known, again=True, counted=True)
        else:
            weight = _USER_WEIGHT if is_user else _WEIGHT
            writer.add("confirm", old.id, why=why, weight=weight, **confirmed_content(old))
            if becomes_private:
                writer.add("share", old.id, scope=scope)
            agent, session = (last.agent, last.session) if last else ("", "")
            new = NewMemory(old.text, scope, old.kind, trust=old.trust, agent=agent, session=session)
            done = add_consequences(writer, new, old, found)
        writer.write()
    return done._replace(memory=writer.read(done.memory.id), confirmed=True)
