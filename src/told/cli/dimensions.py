"""The nine dimensions of health: each a score from 0 to 10, and what to do when it is low."""

from __future__ import annotations

from told.record import record
from told.search.sessions import search
from told.store.matching import Matching
from told.store.schema import VERSION, version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.cli.calls import Call
    from told.cli.context import Context
    from told.store.condition import Condition

_HOUR = 3_600_000
_FEW_CALLS = 10


@record
class Dimension:
    """One side of health."""

    name: str
    score: float | None  # None: too little is known to judge
    says: str
    do: str = ""

    @property
    def zone(self) -> str:
        """GREEN, AMBER or RED; CALIBRATING when there is no score yet."""
        if self.score is None:
            return "CALIBRATING"
        return "GREEN" if self.score >= 7 else "AMBER" if self.score >= 4 else "RED"


def dimensions(
    context: Context, condition: Condition, calls: list[Call], missing: list[str]
) -> list[Dimension]:
    """Judge all nine."""
    sessions, summarised, placed, turns, last = condition.totals()
    return [
        _freshness(context.now, last),
        _schema(context, missing),
        _latency(calls),
        _corpus(sessions, turns),
        _coverage(
            "summary coverage", summarised, sessions, "Sessions without a word from the user have no summary."
        ),
        _coverage("project coverage", placed, sessions, "Start agents inside the project's folder."),
        _concurrency(calls),
        _probe(context, condition),
        _disclosure(calls),
    ]


def _graded(value: float, green: float, amber: float) -> float:
    """Return 10 at zero, 7 at `green`, 4 at `amber`, and down to 0 beyond: less is better."""
    if value <= green:
        return 10 - 3 * value / green
    if value <= amber:
        return 7 - 3 * (value - green) / (amber - green)
    return max(0.0, 4 - 4 * (value - amber) / amber)


def _freshness(now: int, last: int) -> Dimension:
    if not last:
        return Dimension("freshness", 0, "no session yet", "Use a coding agent, or see `told agents`.")
    hours = max(0, now - last) / _HOUR
    age = f"{hours:.0f} h" if hours < 72 else f"{hours / 24:.0f} days"
    return Dimension("freshness", _graded(hours, 24, 72), f"last activity {age} ago",
                     "If you used an agent since, see `told agents` for where told looks.")  # fmt: skip


def _schema(context: Context, missing: list[str]) -> Dimension:
    found = version(context.connection)
    if found != VERSION:
        return Dimension("schema", 1, f"store version {found}, expected {VERSION}", "Run `told rebuild`.")
    if missing:
        return Dimension(
            "schema", 5, f"missing: {', '.join(missing[:3])}", "See `told schema-check`; update told."
        )
    return Dimension("schema", 10, "as expected")


def _latency(calls: list[Call]) -> Dimension:
    took = sorted(call.milliseconds for call in calls if call.tier)
    if len(took) < _FEW_CALLS:
        return Dimension("latency", None, "fewer than ten calls so far")
    middle = took[len(took) // 2]
    says = f"{middle:.0f} ms in the middle of the last {len(took)} calls"
    return Dimension("latency", _graded(middle, 200, 500), says,
                     "The disk or machine is slow; `told rebuild` makes the index compact.")  # fmt: skip


def _corpus(sessions: int, turns: int) -> Dimension:
    score = (
        10.0 if sessions >= 50 else 7 + 3 * (sessions - 10) / 40 if sessions >= 10 else 4 + 3 * sessions / 10
    )
    if not sessions:
        return Dimension("corpus", 0, "no session yet", "Use a coding agent, or see `told agents`.")
    return Dimension("corpus", score, f"{sessions:,} sessions, {turns:,} turns",
                     "Few sessions so far; `told agents` shows which agents are read.")  # fmt: skip


def _coverage(name: str, part: int, whole: int, do: str) -> Dimension:
    if not whole:
        return Dimension(name, None, "no session yet")
    share = part / whole
    score = (
        7 + 3 * (share - 0.8) / 0.2
        if share >= 0.8
        else 4 + 3 * (share - 0.4) / 0.4
        if share >= 0.4
        else 10 * share
    )
    return Dimension(name, score, f"{share:.0%} of sessions", do)


def _concurrency(calls: list[Call]) -> Dimension:
    if len(calls) < _FEW_CALLS:
        return Dimension("concurrency", None, "fewer than ten calls so far")
    share = 100 * sum(1 for call in calls if call.retries or call.code == 3) / len(calls)
    says = f"{share:.0f} % of calls had to wait for a busy database"
    return Dimension("concurrency", _graded(share, 5, 20), says,
                     "Another program holds an agent's database; close it.")  # fmt: skip


def _probe(context: Context, condition: Condition) -> Dimension:
    latest = condition.latest_asked()
    if latest is None:
        return Dimension("end-to-end probe", None, "no session yet")
    session, text = latest
    words = " ".join(text.split()[:12])
    found = search(Matching(context.connection), words, now=context.now, limit=10)
    hits = [context.reading.session(group.session).public for group in found.sessions]
    if session in hits:
        return Dimension("end-to-end probe", 10, "the latest prompt is found by search")
    return Dimension(
        "end-to-end probe", 3, "the latest prompt was not found by search", "Run `told rebuild`."
    )


def _disclosure(calls: list[Call]) -> Dimension:
    tiers = [call.tier for call in calls if call.tier]
    if len(tiers) < _FEW_CALLS:
        return Dimension("progressive disclosure", None, "fewer than ten calls so far")
    whole = 100 * sum(1 for tier in tiers if tier == 3) / len(tiers)
    says = f"{whole:.0f} % of calls asked for whole sessions"
    return Dimension("progressive disclosure", _graded(whole, 50, 80), says,
                     "Ask `told list` or `told search` first, then `told show`.")  # fmt: skip
