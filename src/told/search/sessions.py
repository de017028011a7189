"""Search sessions: this project first, then all projects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from told.errors import ToldError
from told.search.dates import list_day_words
from told.search.lookups import is_lookup
from told.search.query import Query, parse_query
from told.search.rank import (
    COLUMN_WEIGHTS,
    LONG_ANSWER,
    LONG_ANSWER_WEIGHTS,
    MIN_QUESTION_WORDS,
    RANK_BUDGET,
    Hit,
    RankContext,
    RankedTurn,
    SessionGroup,
    group_by_session,
    is_too_common,
    measure_coverage,
    plan_query,
    rank_turns,
    restrict_to_project,
)
from told.search.vectors.arithmetic import find_nearest, pack_signs, similarities, unpack_vectors
from told.search.vectors.embedder import Embedder
from told.store.fts import match_all, match_any, quote_phrase, unquote_phrase
from told.store.sessions.match import TurnVectors
from told.store.sessions.schema import TITLE
from told.words import WORD, split_words, stem

if TYPE_CHECKING:
    from told.store.sessions.protocols import TurnMatching

Place = tuple[int, int, int, int]  # turn id, session id, n, at
Corrections = tuple[tuple[str, str], ...]  # unknown words, and the ones searched instead

_MAX_HITS = 200
_MAX_COMPARED = 100  # hits whose similarity to the question is computed
_FLOOR_BESIDE_WORDS = 0.67  # of the similarity floor, where words found something too
_CAP = RANK_BUDGET + 1  # frequencies are counted up to here
_ENOUGH = 40  # turns to choose from
_MAX_CORRECTED = 3
_MIN_CORRECTED = 4  # letters
_ENOUGH_KNOWN = 3  # with so many known words, a wrong correction does more harm than good
_MAX_CORRECTED_TERMS = 8  # unknown words of a paste are names and numbers, not typos
_NEAREST = 100
_MAX_QUESTION = 1500  # characters
_ANSWER_SHARE = 0.8  # an answer says less about a turn than the question


class SearchResult(NamedTuple):
    """The answer to a search."""

    query: Query
    sessions: tuple[SessionGroup, ...] = ()
    widened: bool = False  # this project had no good match, so all projects were searched
    loosened: bool = False  # quoted phrases did not match, so they were searched as words
    corrected: Corrections = ()
    turns: tuple[RankedTurn, ...] = ()  # all matches, best first
    only_similar: bool = False  # no word matched; all turns were found by similarity


class Candidates(NamedTuple):
    """The turns to rank."""

    query: Query
    hits: list[Hit]
    near: dict[int, float]  # similarity by turn
    frequencies: dict[str, int]  # turns that contain each term of the question
    widened: bool = False
    loosened: bool = False
    corrected: Corrections = ()
    only_similar: bool = False


class _Filters(NamedTuple):
    since: int
    agent: str
    now: int


class TurnSimilarity:
    """Finds and compares turns by their vectors."""

    def __init__(self, store: TurnVectors, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        self._questions: dict[str, bytes | None] = {}
        self.error = ""  # why a question could not be embedded
        self.floor = embedder.floor  # similarity from which a turn without a common word is a match

    def find(self, question: str, project: str, *, since: int, agent: str) -> list[Place]:
        """Return the turns that are nearest to a question."""
        vector = self._embed(question)
        if vector is None:
            return []
        sketches = self._store.sketches(project, since=since, agent=agent)
        turns = memoryview(b"".join([one for one, _ in sketches])).cast("q")
        places = find_nearest(pack_signs(vector), b"".join([signs for _, signs in sketches]), _NEAREST)
        found = dict.fromkeys([turns[place] for place in places])
        return self._store.places(list(found), since=since) if found else []

    def score(self, question: str, turns: Iterable[int]) -> dict[int, float]:
        """Return the similarity of turns to a question, where they have vectors."""
        vector = self._embed(question)
        if vector is None:
            return {}
        known = {row: unpack_vectors(blob) for row, blob in self._store.of(turns).items() if blob}
        every = [one for asked, answered in known.values() for one in (*asked, *answered)]
        figures = iter(similarities(vector, every))
        found = {}
        for row, (asked, answered) in known.items():
            own = [next(figures) for _ in asked]
            others = [_ANSWER_SHARE * next(figures) for _ in answered]
            # The first vector of each side stands for all of its text.
            found[row] = (max([*own[:1], *others[:1]]) + max(own + others)) / 2
        return found

    def compare(self, turn: int, turns: Iterable[int]) -> dict[int, float]:
        """Return the similarity of turns to one of them by their questions."""
        found = {row: unpack_vectors(blob)[0] for row, blob in self._store.of(turns).items()}
        asked = {row: own[0] for row, own in found.items() if own}
        if turn not in asked:
            return {}
        return dict(zip(asked, similarities(asked[turn], list(asked.values())), strict=True))

    def _embed(self, question: str) -> bytes | None:
        if question not in self._questions:
            self._questions[question] = None
            try:
                self._questions[question] = self._embedder.vectors([question[:_MAX_QUESTION]], asking=True)[0]
            except ToldError as error:
                self.error = str(error)
        return self._questions[question]


def search_sessions(
    store: TurnMatching, question: str, *, now: int, project: str | None = None, agent: str = "",
    since: int = 0, limit: int = 5, meaning: TurnSimilarity | None = None, only: bool = False,
) -> SearchResult:  # fmt: skip
    """Find the sessions that answer a question.

    `project` is the index token of the project to search first; None searches all. `only`: no other project
    is searched. Times are ms since 1970.
    """
    found = gather_candidates(
        store, question, now=now, project=project, agent=agent, since=since, meaning=meaning, only=only
    )
    result = SearchResult(found.query, (), found.widened, found.loosened, found.corrected)
    if not found.hits:
        return result
    turns = rank_turns(found.hits, make_rank_context(store, question, found))
    similar = meaning.compare(turns[0].turn, found.near) if meaning and found.near else {}
    sessions = tuple(group_by_session(turns, limit, similar=similar))
    return result._replace(sessions=sessions, turns=tuple(turns), only_similar=found.only_similar)


def make_rank_context(store: TurnMatching, question: str, found: Candidates) -> RankContext:
    """Return what ranking knows of candidates beside the matched words."""
    shapes = dict(store.shapes([hit[0] for hit in found.hits]))
    asked = {turn: text for turn, (_, text, _) in shapes.items()}
    covered = measure_coverage(asked, found.frequencies, store.turn_count())
    return RankContext(
        found.query.window, frozenset(WORD.findall(question[:1000])), shapes, found.near, covered
    )


def gather_candidates(
    store: TurnMatching, question: str, *, now: int, project: str | None = None, agent: str = "",
    since: int = 0, meaning: TurnSimilarity | None = None, only: bool = False,
) -> Candidates:  # fmt: skip
    """Return the turns to rank; see `search_sessions` for the arguments."""
    matcher = _Matcher(store, parse_query(question, now), _Filters(since, agent, now))
    query, corrected = matcher.query, matcher.corrected
    for typo, word in corrected:
        question = question.replace(typo, word)
    scopes = [project] if project and only else [project, ""] if project else [""]
    attempts = [(must, scope) for must in dict.fromkeys((query.must, ())) for scope in scopes]
    for must, scope in attempts:
        hits, is_good, frequencies = matcher.match(must, scope)
        if hits and (is_good or (must, scope) == attempts[-1] or scope == ""):
            near: dict[int, float] = {}
            if query.words or query.must:
                hits, near = matcher.add_similar(hits, scope, question, meaning)
            else:  # only a time is asked for: all turns fit equally
                hits = [(*hit[:4], -1.0) for hit in hits]
            widened, loosened = scope != scopes[0], must != query.must
            return Candidates(query, hits, near, frequencies, widened, loosened, corrected)
    for scope in scopes:
        hits, near = matcher.add_similar([], scope, question, meaning)
        if hits:
            return Candidates(query, hits, near, {}, scope != scopes[0], only_similar=True)
    return Candidates(query, [], {}, {}, len(scopes) > 1, bool(query.must), corrected)


class _Matcher:
    """Matches one question against the index, counting each term once."""

    def __init__(self, store: TurnMatching, query: Query, filters: _Filters) -> None:
        self._store = store
        self._filters = filters
        self._count: Callable[[str], int] = cache(lambda phrase: store.frequency(phrase, _CAP))
        self.query, self.corrected = self._correct(query)

    def match(self, must: tuple[str, ...], scope: str) -> tuple[list[Hit], bool, dict[str, int]]:
        """Return a scope's hits, whether it knows enough words, and their counts."""
        query = self.query
        frequencies = {
            term: self._count(restrict_to_project(term, scope))
            for term in dict.fromkeys((*must, *query.terms))
        }
        if not all(frequencies[phrase] for phrase in must):
            return [], False, frequencies
        optional = {term: frequencies[term] for term in query.terms}
        # The total only changes the plan where terms may overlap a lot.
        needs_total = sum(optional.values()) > RANK_BUDGET and max(optional.values(), default=0) < _CAP
        expression = plan_query(optional, self._store.turn_count() if needs_total else _CAP, must=must)
        if not expression:
            return [], False, frequencies
        newest = 0
        if is_too_common({term: frequencies[term] for term in must or optional}, _CAP):
            together = match_all(dict.fromkeys((*must, *(term for term in query.terms if optional[term]))))
            count = self._count(restrict_to_project(together, scope))
            if count >= _ENOUGH:  # turns with every word outrank the others anyway
                expression = together
            newest = 0 if _ENOUGH <= count < _CAP else RANK_BUDGET
            if query.window and query.words:
                days = match_any(map(quote_phrase, list_day_words(query.window, self._filters.now)))
                expression = match_all((expression, days)) if days else expression
        expression = restrict_to_project(expression, scope)
        hits = self._fetch(expression, newest)
        if newest and not hits:
            hits = self._fetch(expression, 0)
        known = sum(1 for count in optional.values() if count)
        known_anywhere = sum(1 for term, count in optional.items() if count or self._count(term))
        return hits, bool(must) or not scope or 2 * known >= known_anywhere, frequencies

    def add_similar(
        self, hits: list[Hit], scope: str, question: str, meaning: TurnSimilarity | None
    ) -> tuple[list[Hit], dict[int, float]]:
        """Add a scope's similar turns to the hits; return all similarities too."""
        if meaning is None:
            return hits, {}
        filters, query = self._filters, self.query
        known = {hit[0] for hit in hits}
        near: Sequence[Place] = ()
        # Quoted phrases and one or two words have to match literally.
        if not query.must and len(query.words) >= MIN_QUESTION_WORDS:
            near = meaning.find(question, scope, since=filters.since, agent=filters.agent)
        more = {place[0]: (*place, 0.0) for place in near if place[0] not in known}
        compared = sorted(hits, key=lambda hit: (hit[4], hit[0]))[:_MAX_COMPARED]
        scores = meaning.score(question, [*(hit[0] for hit in compared), *more])
        floor = meaning.floor * (_FLOOR_BESIDE_WORDS if hits else 1.0)
        added = [hit for turn, hit in more.items() if scores.get(turn, 0.0) > floor]
        return hits + _drop_lookups(self._store, added, query.words), scores

    def _fetch(self, expression: str, newest: int) -> list[Hit]:
        filters = self._filters
        hits = self._store.match(
            expression, COLUMN_WEIGHTS, _MAX_HITS,
            since=filters.since, agent=filters.agent, newest=newest,
            long_weights=LONG_ANSWER_WEIGHTS, long_from=LONG_ANSWER,
        )  # fmt: skip
        return _drop_lookups(self._store, hits, self.query.words)

    def _correct(self, query: Query) -> tuple[Query, Corrections]:
        """Replace unknown words by similar known ones."""
        if len(query.terms) > _MAX_CORRECTED_TERMS:
            return query, ()
        unknown = [term for term in query.terms if not self._count(term)]
        if len(query.terms) - len(unknown) >= _ENOUGH_KNOWN:
            return query, ()
        instead: dict[str, list[str]] = {}
        for term in unknown[:_MAX_CORRECTED]:
            word = unquote_phrase(term)
            may_be_typo = len(word) >= _MIN_CORRECTED and word.isascii() and word.isalpha()
            similar = self._store.similar_terms(word) if may_be_typo else []
            if similar:
                instead[term] = similar
        if not instead:
            return query, ()
        terms = dict.fromkeys(
            new for term in query.terms for new in (list(map(quote_phrase, instead.get(term, ()))) or [term])
        )
        words = dict.fromkeys((*query.words, *(word for similar in instead.values() for word in similar)))
        changed = query._replace(terms=tuple(terms), words=tuple(words))
        return changed, tuple((unquote_phrase(term), similar[0]) for term, similar in instead.items())


def _drop_lookups(store: TurnMatching, hits: Sequence[Hit], words: Iterable[str]) -> list[Hit]:
    """Leave out turns that only asked told, and hits that only their words explain.

    The words of a turn are indexed with its neighbours, and in the title of its session.
    """
    asked_told = store.texts([hit[0] for hit in hits], of_told=True)
    lookups = {row for row, (asked, _, steps) in asked_told.items() if is_lookup(asked, steps)}
    if not lookups:
        return list(hits)
    places = {hit[1:3] for hit in hits if hit[0] in lookups}
    kept = [hit for hit in hits if hit[0] not in lookups]
    beside = [
        turn
        for turn, session, n, _, score in kept
        if score and places.intersection(((session, n - 1), (session, n + 1)))
    ]
    wanted = set(map(stem, words))
    explained = {
        row
        for row, texts in store.texts(beside).items()
        if wanted.isdisjoint(map(stem, split_words(" ".join(texts))))
    }
    kept = [hit for hit in kept if hit[0] not in explained]
    only_title = {session for session, _ in places} - {hit[1] for hit in kept if hit[2] != TITLE}
    return [hit for hit in kept if hit[1] not in only_title]
