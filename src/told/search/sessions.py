"""From a question to the sessions that answer it: in this project first, then everywhere."""

from __future__ import annotations

from told.record import record
from told.search.analyse import Query, analyse
from told.search.coverage import coverage
from told.search.dates import days_of
from told.search.plan import BUDGET, plan, scoped, too_common
from told.search.rank import Group, Ranked, grouped, ranked
from told.search.sides import Known
from told.search.weights import COLUMNS, FEWEST_WORDS, WORDY, WORDY_COLUMNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.search.near import Meaning
    from told.search.sides import Hit
    from told.store.protocol import TurnMatching


_CANDIDATES = 200
_COMPARED = 100  # of them, the best, are compared with the question in meaning
_BESIDE_WORDS = 0.67  # of the nearness that counts by itself, where words found something, too
_CAP = BUDGET + 1  # whatever is more frequent is just "common"
_ENOUGH = 40  # turns to choose from
_MOST_CORRECTED = 3
_SHORTEST_CORRECTED = 4
_ENOUGH_KNOWN = 3  # with so many known words, a wrong guess at another does more harm than good
_LONGEST_CORRECTED_QUESTION = 8  # in a paste, unknown words are names and numbers, not slips of the finger


@record
class Found:
    """The answer to a search."""

    query: Query
    sessions: tuple[Group, ...] = ()
    widened: bool = False  # this project had no good answer, so all projects were searched
    loosened: bool = False  # nothing has the quoted words as quoted, so they were searched as plain words
    corrected: tuple[tuple[str, str], ...] = ()  # words nobody used, and the ones searched instead
    turns: tuple[Ranked, ...] = ()  # all that matched, the best first
    alone: bool = False  # no word matched: all of it was found by its meaning


@record
class Gathered:
    """What is worth ranking."""

    query: Query
    hits: list[Hit]
    near: dict[int, float]  # in meaning, by turn
    frequencies: dict[str, int]  # in how many turns each term of the question is
    widened: bool = False
    loosened: bool = False
    corrected: tuple[tuple[str, str], ...] = ()
    alone: bool = False


@record
class _Limits:
    """What a turn must be to count, and when that was asked."""

    since: int
    until: int
    agent: str
    now: int


class _Counted:
    """A store that counts each expression once."""

    def __init__(self, store: TurnMatching) -> None:
        self._store = store
        self._counts: dict[tuple[str, int], int] = {}
        self.turn_count = store.turn_count
        self.match = store.match
        self.shapes = store.shapes
        self.similar_terms = store.similar_terms

    def frequency(self, phrase: str, cap: int) -> int:
        """Return in how many turns an expression occurs, counting no further than `cap`."""
        counted = self._counts.get((phrase, _CAP))
        if counted is None:
            counted = self._counts[phrase, _CAP] = self._store.frequency(phrase, _CAP)
        return min(counted, cap)


def search(
    store: TurnMatching, question: str, *, now: int, project: str | None = None, agent: str = "",
    since: int = 0, until: int = 0, limit: int = 5, meaning: Meaning | None = None,
) -> Found:  # fmt: skip
    """Find the sessions that answer a question.

    Args:
        store: Where the turns are.
        question: Whatever was typed.
        now: The moment of asking, in ms since 1970.
        project: The index token of the project to look in first; all projects when None.
        agent: Only sessions of this agent.
        since: Only turns from this moment on (ms).
        until: Only turns before this moment (ms).
        limit: How many sessions to return.
        meaning: Tells how near turns are to the question in meaning.
    """
    store = _Counted(store)
    found = gathered(
        store, question, now=now, project=project, agent=agent, since=since, until=until, meaning=meaning
    )
    if not found.hits:
        return Found(found.query, (), found.widened, found.loosened, found.corrected)
    turns = ranked(found.hits, known(store, question, found))
    kin = meaning.kin(turns[0].turn, found.near) if meaning and found.near else {}
    sessions = tuple(grouped(turns, limit, kin=kin))
    return Found(
        found.query, sessions, found.widened, found.loosened, found.corrected, tuple(turns), found.alone
    )


def known(store: TurnMatching, question: str, found: Gathered) -> Known:
    """Return what speaks for the turns that were found, beside the words they share with the question."""
    shapes = dict(store.shapes([hit[0] for hit in found.hits]))
    asked = {turn: text for turn, (_, text, _) in shapes.items()}
    covered = coverage(asked, found.frequencies, store.turn_count())
    return Known(found.query.window, as_written(question), shapes, found.near, covered)


def gathered(
    store: TurnMatching, question: str, *, now: int, project: str | None = None, agent: str = "",
    since: int = 0, until: int = 0, meaning: Meaning | None = None,
) -> Gathered:  # fmt: skip
    """Return the turns among which the answers to a question are; `search` says what the arguments are."""
    query, corrected = _corrected(store, analyse(question, now))
    limits = _Limits(since, until, agent, now)
    scopes = [project, ""] if project else [""]
    attempts = [(must, scope) for must in dict.fromkeys((query.must, ())) for scope in scopes]
    asked = _Asked(question, query, corrected, limits, meaning)
    for must, scope in attempts:
        hits, good, frequencies = _look(store, query, must, scope, limits)
        if hits and (good or (must, scope) == attempts[-1] or scope == ""):
            near: dict[int, float] = {}
            if query.words or query.must:
                hits, near = asked.beside(hits, scope)
            else:  # all that is asked for is a time: no turn fits better than others
                hits = [(*hit[:4], -1.0) for hit in hits]
            return Gathered(query, hits, near, frequencies, scope != scopes[0], must != query.must, corrected)
    for scope in scopes:
        hits, near = asked.beside([], scope)
        if hits:
            return Gathered(query, hits, near, {}, scope != scopes[0], alone=True)
    return Gathered(query, [], {}, {}, len(scopes) > 1, bool(query.must), corrected)


class _Asked:
    """A question, and what its meaning adds to what its words find."""

    def __init__(
        self, question: str, query: Query, corrected: tuple[tuple[str, str], ...], limits: _Limits,
        meaning: Meaning | None,
    ) -> None:  # fmt: skip
        # What is quoted has to stand there, and so has a word that is asked for by itself.
        self._is_question = not query.must and len(query.words) >= FEWEST_WORDS
        self._limits = limits
        self._meaning = meaning
        self._text = question
        for slip, word in corrected:
            self._text = self._text.replace(slip, word)

    def beside(self, hits: list[Hit], scope: str) -> tuple[list[Hit], dict[int, float]]:
        """Add the turns of a scope that are near in meaning, and return how near all of them are.

        Args:
            hits: What the words found.
            scope: The project's token, or empty.
        """
        if self._meaning is None:
            return hits, {}
        limits = self._limits
        known = {hit[0] for hit in hits}
        near = self._meaning.candidates(
            self._text, scope, since=limits.since, until=limits.until, agent=limits.agent
        ) if self._is_question else ()  # fmt: skip
        more = {place[0]: (*place, 0.0) for place in near if place[0] not in known}
        compared = sorted(hits, key=lambda hit: (hit[4], hit[0]))[:_COMPARED]
        scores = self._meaning.scores(self._text, [*(hit[0] for hit in compared), *more])
        floor = self._meaning.floor * (_BESIDE_WORDS if hits else 1.0)
        added = [hit for turn, hit in more.items() if scores.get(turn, 0.0) > floor]
        return hits + added, scores


def as_written(question: str) -> frozenset[str]:
    """Return the words of a question with their capital letters, which tell names from other words."""
    return frozenset("".join(char if char.isalnum() else " " for char in question[:1000]).split())


def _look(
    store: TurnMatching, query: Query, must: tuple[str, ...], scope: str, limits: _Limits
) -> tuple[list[Hit], bool, dict[str, int]]:
    """Return the candidates in a scope, whether it knows enough of the question's words, and their counts."""
    frequencies = {
        term: store.frequency(scoped(term, scope), _CAP) for term in dict.fromkeys((*must, *query.terms))
    }
    if not all(frequencies[phrase] for phrase in must):
        return [], False, frequencies
    optional = {term: frequencies[term] for term in query.terms}
    # Counting all turns is only worth it where it can change the plan.
    open_question = sum(optional.values()) > BUDGET and max(optional.values(), default=0) < _CAP
    expression = plan(optional, store.turn_count() if open_question else _CAP, must=must)
    if not expression:
        return [], False, frequencies
    newest = 0
    if too_common({term: frequencies[term] for term in must or optional}, _CAP):
        together = " AND ".join(dict.fromkeys((*must, *(term for term in query.terms if optional[term]))))
        count = store.frequency(scoped(together, scope), _CAP)
        if count >= _ENOUGH:  # turns that have every word outrank the others anyway
            expression = together
        newest = 0 if _ENOUGH <= count < _CAP else BUDGET
        if query.window and query.words:
            days = " OR ".join(f'"{day}"' for day in days_of(query.window, limits.now))
            expression = f"({expression}) AND ({days})" if days else expression
    hits = _match(store, scoped(expression, scope), limits, newest)
    if newest and not hits:
        hits = _match(store, scoped(expression, scope), limits, 0)
    known = sum(1 for count in optional.values() if count)
    good = bool(must) or not scope or 2 * known >= _known_anywhere(store, optional)
    return hits, good, frequencies


def _match(store: TurnMatching, expression: str, limits: _Limits, newest: int) -> list[Hit]:
    """Ask the store for candidates."""
    return store.match(
        expression, COLUMNS, _CANDIDATES,
        since=limits.since, until=limits.until, agent=limits.agent, newest=newest,
        wordy=WORDY_COLUMNS, wordy_from=WORDY,
    )  # fmt: skip


def _known_anywhere(store: TurnMatching, frequencies: dict[str, int]) -> int:
    """Count the terms that any project knows."""
    return sum(1 for term, count in frequencies.items() if count or store.frequency(scoped(term), 1))


def _corrected(store: TurnMatching, query: Query) -> tuple[Query, tuple[tuple[str, str], ...]]:
    """Replace words that nobody ever used by the nearest ones that somebody did."""
    if len(query.terms) > _LONGEST_CORRECTED_QUESTION:
        return query, ()
    unknown = [term for term in query.terms if not store.frequency(scoped(term), 1)]
    if len(query.terms) - len(unknown) >= _ENOUGH_KNOWN:
        return query, ()
    instead: dict[str, list[str]] = {}
    for term in unknown[:_MOST_CORRECTED]:
        word = term.strip('"')
        similar = store.similar_terms(word) if _may_be_a_slip(word) else []
        if similar:
            instead[term] = similar
    if not instead:
        return query, ()
    terms = dict.fromkeys(
        new for term in query.terms for new in ([f'"{word}"' for word in instead.get(term, ())] or [term])
    )
    words = dict.fromkeys((*query.words, *(word for similar in instead.values() for word in similar)))
    changed = Query(query.text, tuple(terms), query.must, tuple(words), query.window, query.window_words)
    return changed, tuple((term.strip('"'), similar[0]) for term, similar in instead.items())


def _may_be_a_slip(word: str) -> bool:
    """Tell whether a word is one that people mistype: long enough, and plain letters."""
    return len(word) >= _SHORTEST_CORRECTED and word.isascii() and word.isalpha()
