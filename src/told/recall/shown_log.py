"""Note what sessions were shown until the journal has it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from told.files import open_private, read_text
from told.memories.journal_writer import JournalWriter
from told.store.database import public_id

_FOLDER = "shown"
_SINCE = "since"
_KEPT_MS = 60 * 86_400_000  # a session may be resumed that late


@dataclass(frozen=True, slots=True)
class Shown:
    """What a session was shown that the journal does not have yet."""

    session: str
    memories: dict[str, int]  # id -> when last, in ms
    tokens: int = 0
    since: int = 0  # when the session was compacted


class ShownLog:
    """The notes of one session."""

    def __init__(self, home: str, agent: str, session: str, stored_session: str) -> None:
        """Take the agent's id of the session, and the id as it may be stored."""
        self._path = os.path.join(home, _FOLDER, public_id("s", agent, session, length=12))
        self._session = session
        self._stored_session = stored_session

    def read(self) -> Shown:
        """Return what the session was shown."""
        return _read(self._path, self._session)

    def add(self, now: int, memories: Sequence[str], tokens: int) -> None:
        """Note that the session was shown memories."""
        _append(self._path, self._stored_session, f"{now} {tokens} {' '.join(memories)}")

    def add_compaction(self, now: int) -> None:
        """Note that the session was compacted."""
        _append(self._path, self._stored_session, f"{now} {_SINCE}")


def move_shown_to_journal(writer: JournalWriter, now: int, *, session: str = "") -> None:
    """Write what sessions were shown to the journal, and delete old notes.

    Args:
        writer: Has no operations yet.
        now: The time in ms.
        session: Only this session.
    """
    folder = os.path.join(writer.home, _FOLDER)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        shown = _read(path, "")
        if session not in ("", shown.session):
            continue
        if shown.memories:
            writer.add("show", "", memories=list(shown.memories), session=shown.session, tokens=shown.tokens)
            writer.now = max(shown.memories.values())
            writer.write(sync=False)
            writer.now = now
        is_old = now - shown.since > _KEPT_MS
        if shown.memories or is_old:
            os.remove(path)
        if shown.memories and not is_old:
            _append(path, shown.session.strip(), f"{shown.since} {_SINCE}")


def _read(path: str, session: str) -> Shown:
    memories: dict[str, int] = {}
    tokens = since = 0
    try:
        lines = read_text(path).splitlines()
    except OSError:
        return Shown(session, {})
    for line in lines[1:]:
        at, _, rest = line.partition(" ")
        first, _, ids = rest.partition(" ")
        if not at.isdigit():
            continue
        if first == _SINCE:
            since = int(at)
        elif first.isdigit():
            tokens += int(first)
            memories.update(dict.fromkeys(ids.split(), int(at)))
    return Shown(lines[0] if lines else session, memories, tokens, since)


def _append(path: str, session: str, line: str) -> None:
    """Add a line in one write; a note that cannot be written is dropped."""
    try:
        descriptor = open_private(path, os.O_WRONLY | os.O_APPEND, make_parent=True)
        is_new = os.fstat(descriptor).st_size == 0
        first = " ".join(session.split()) + "\n" if is_new else ""
        os.write(descriptor, f"{first}{line}\n".encode("utf-8", "replace"))
        os.close(descriptor)
    except OSError:
        return
