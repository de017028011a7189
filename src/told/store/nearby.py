"""Finds what was asked before and after a moment, and the project of a session."""

from __future__ import annotations

from told.record import record
from told.store.database import rows
from told.store.projects import Project
from told.store.reading import TurnRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from told.store.reading import Filter

# A turn's row id counts eighths of seconds since 2015, as `writing` has it.
_EPOCH = 1_420_070_400
# Of turns in the same second, all but a few have the row ids of the seconds behind it.
_SLACK = 1 << 16
_SAME_SECOND = 64


@record
class Moment:
    """A place in the order of all turns: by time, then by session, then by number."""

    at: int
    session: str = ""  # told's id of it
    n: int = 0


class Nearby:
    """Reads the turns around a moment; those that nobody asked for, and helpers' ones, are left out."""

    def __init__(self, connection: apsw.Connection) -> None:
        """Take the open store."""
        self._db = connection

    def project_of(self, session_id: int) -> Project | None:
        """Return the project of a session, if it has one."""
        found = rows(
            self._db,
            "SELECT p.id, p.key, p.name, p.root FROM session s JOIN project p ON p.id = s.project_id"
            " WHERE s.id = ?",
            (session_id,),
        )
        return Project(*found[0]) if found else None

    def before(self, moment: Moment, wanted: Filter, limit: int) -> list[TurnRow]:
        """Return the last turns before a moment, in order."""
        most = (_second(moment.at) << 3) + _SLACK
        found = self._turns(
            f"t.id <= {most} AND t.at <= ?1", f"t.id DESC LIMIT {limit + _SAME_SECOND}", moment, wanted
        )
        return [turn for place, turn in found if place < _place(moment)][-limit:]

    def after(self, moment: Moment, wanted: Filter, limit: int) -> list[TurnRow]:
        """Return the first turns after a moment, in order."""
        least = _second(moment.at) << 3
        found = self._turns(
            f"t.id >= {least} AND t.at >= ?1", f"t.id ASC LIMIT {limit + _SAME_SECOND}", moment, wanted
        )
        return [turn for place, turn in found if place > _place(moment)][:limit]

    def _turns(
        self, where: str, order: str, moment: Moment, wanted: Filter
    ) -> list[tuple[tuple[int, str, int], TurnRow]]:
        found = rows(
            self._db,
            "SELECT t.session_id, t.n, t.at, t.asked, t.answered, t.steps, s.public FROM turn t"
            f" JOIN session s ON s.id = t.session_id WHERE {where} AND t.n >= 0 AND t.asked != ''"
            " AND s.kind = '' AND (?2 = 0 OR s.project_id = ?2) AND (?3 = '' OR s.agent = ?3)"
            f" ORDER BY {order}",
            (moment.at, wanted.project, wanted.agent),
        )
        turns = [((int(row[2]), str(row[6]), int(row[1])), TurnRow(*row[:6])) for row in found]
        return sorted(turns, key=lambda pair: pair[0])


def _place(moment: Moment) -> tuple[int, str, int]:
    return moment.at, moment.session, moment.n


def _second(at: int) -> int:
    return max(1, at // 1000 - _EPOCH)
