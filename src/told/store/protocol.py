"""What a store of conversations has to do, whatever database is behind it.

SQLite is the one there is (`reading`, `matching`, `vectors`, `writing`, `projects`, `checkpoints`); a team's
PostgreSQL is to be the second. Only type checkers and tests import this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from contextlib import AbstractContextManager

    from told.model import Checkpoint, Ref, Touch
    from told.store.checkpoints import KnownFile
    from told.store.projects import Project
    from told.store.reading import CheckpointRow, Filter, SessionRow, TouchRow, TurnRow
    from told.store.writing import SessionState, TurnText, Writer


class SessionReading(Protocol):
    """Looks back: lists and single things, for people and agents."""

    def sessions(self, wanted: Filter, limit: int) -> list[SessionRow]:
        """Return sessions, the latest first."""

    def count(self, wanted: Filter) -> int:
        """Return how many sessions there are."""

    def session(self, session_id: int) -> SessionRow:
        """Return one session."""

    def sessions_like(self, text: str, limit: int) -> list[SessionRow]:
        """Return the sessions whose id (ours or the agent's own) begins with a text."""

    def turns(self, session_id: int, limit: int = -1, *, newest: bool = False) -> list[TurnRow]:
        """Return a session's turns in order; with `newest` the last ones."""

    def turn(self, session_id: int, n: int) -> TurnRow | None:
        """Return one turn."""

    def timeline(self, wanted: Filter, limit: int) -> list[TurnRow]:
        """Return turns of all sessions, the latest first."""

    def touches(self, wanted: Filter, limit: int) -> list[TouchRow]:
        """Return touched files, each once, the latest first."""

    def files_of(self, session_id: int) -> list[tuple[str, str, int]]:
        """Return the (path, how, at) of a session's touches, changes before looks."""

    def refs_of(self, session_id: int) -> list[tuple[str, str, int]]:
        """Return the (kind, value, at) of what a session names."""

    def checkpoints(
        self, wanted: Filter, limit: int, *, session_id: int = 0, status: str = ""
    ) -> list[CheckpointRow]:
        """Return hand-over notes, the latest first; all, or those of a session, or of a status."""

    def checkpoints_like(self, text: str, limit: int) -> list[CheckpointRow]:
        """Return the notes whose id begins with a text."""

    def projects(self, wanted: Filter, limit: int) -> list[tuple[str, str, int, int, int, str]]:
        """Return (name, key, sessions, turns, last active, agents) of each project, the latest first."""


class TurnMatching(Protocol):
    """Finds turns by their words; the search room plans and ranks."""

    def turn_count(self) -> int:
        """Return how many turns are indexed."""

    def frequency(self, phrase: str, cap: int) -> int:
        """Return in how many turns an expression occurs, counting no further than `cap`."""

    def match(
        self, expression: str, weights: Sequence[float], limit: int, *,
        since: int = 0, until: int = 0, agent: str = "", newest: int = 0,
        wordy: Sequence[float] = (), wordy_from: int = 1000,
    ) -> list[tuple[int, int, int, int, float]]:  # fmt: skip
        """Return (row, session, n, at, score) of the best matches; a lower score is better."""

    def shapes(self, turns: Sequence[int]) -> list[tuple[int, tuple[int, str, bool]]]:
        """Return the row and the (bytes, asked, whether it is a question without an answer) of turns.

        Of what was asked, only the beginning.
        """

    def similar_terms(self, word: str) -> list[str]:
        """Return words in use that are one letter away from a word."""


class TurnNearness(Protocol):
    """Has what turns mean, as vectors; the search room compares."""

    def of(self, turns: Iterable[int]) -> dict[int, bytes]:
        """Return the vectors of turns, by row."""

    def sketches(
        self, project: str = "", *, since: int = 0, until: int = 0, agent: str = ""
    ) -> list[tuple[bytes, bytes]]:
        """Return the (turns, signs) of all sessions, or of those that may have what is looked for."""

    def places(
        self, turns: Sequence[int], *, since: int = 0, until: int = 0
    ) -> list[tuple[int, int, int, int]]:
        """Return the (row, session, n, at) of those turns that are there and of the time that is wanted."""


class SessionWriting(Protocol):
    """Takes conversations in, inside transactions that keep everything or nothing."""

    def transaction(self) -> AbstractContextManager[None]:
        """Begin a transaction."""

    def session(self, agent: str, native: str) -> SessionState | None:
        """Return what is known of a session."""

    def new_session(self, agent: str, native: str) -> SessionState:
        """Make a session and return it."""

    def own(self, session_id: int, source_id: int) -> None:
        """Make a source the one that a session's turns come from."""

    def place_session(self, session_id: int, project_id: int, part: str) -> None:
        """Say which project a session belongs to, and which folder of it."""

    def close_session(self, session_id: int, next_n: int, summary: str) -> None:
        """Bring the counts and times of a session up to date after its turns were written."""

    def turn(self, session_id: int, n: int) -> TurnText | None:
        """Return one turn of a session."""

    def put_turns(self, session: SessionState, turns: Sequence[TurnText], *, replace: bool) -> None:
        """Store turns that follow each other; with `replace` the session has no others."""

    def put_title(self, session: SessionState) -> None:
        """Make a session's title searchable."""

    def put_touches(self, session_id: int, touches: Iterable[Touch]) -> None:
        """Store touched files."""

    def put_refs(self, session_id: int, source_id: int, refs: Iterable[Ref]) -> None:
        """Store commits, pull requests and issues."""

    def put_checkpoint(self, session: SessionState, source_id: int, note: Checkpoint) -> None:
        """Store a hand-over note."""


class ProjectKeeping(Protocol):
    """Knows which folder belongs to which project."""

    def at(self, path: str) -> Project | None:
        """Return the project that a folder was found to belong to."""

    def by_key(self, key: str) -> Project | None:
        """Return a project by its key."""

    def named(self, name: str) -> list[Project]:
        """Return the projects a user may mean by a name."""

    def put(self, key: str, name: str, root: str) -> Project:
        """Make a project, or return the one with that key."""

    def place(self, path: str, project_id: int) -> None:
        """Note that a folder belongs to a project."""


class CheckpointKeeping(Protocol):
    """Knows the checkpoints that told keeps as files, each as it was taken in."""

    def known(self, folder: str = "") -> dict[str, KnownFile]:
        """Return what is known of the files in a folder, or of all, by their paths."""

    def states(self, folder: str = "") -> list[tuple[str, int, int]]:
        """Return the (path, size, time of change in ns) of files in a folder, or of all, the latest first."""

    def add(self, path: str, folder: str, public: str, state: tuple[int, int]) -> int:
        """Note that a file is taken in as it is; return the number of its source."""

    def drop_source(self, source_id: int) -> None:
        """Forget a file."""

    def clear(self, writer: Writer, source_id: int) -> list[tuple[str, str]]:
        """Take out what a file said; return the (agent, native) of the sessions that it was about."""

    def put_status(self, public: str, status: str) -> None:
        """Change the status of a checkpoint."""

    def of_session(self, agent: str, native: str) -> list[tuple[str, str, str]]:
        """Return the (id, status, path) of a session's, the latest first."""
