"""`told search`: memories, sessions and checkpoints in one ranking."""

from __future__ import annotations

import os
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from told.app.similarity import similarity_search, warn_words_only
from told.cli.arguments import Arguments
from told.cli.context import Context, MemoryView, count, cut, memory_count
from told.cli.search.rows import SEARCH_BYTES, Found, ResultRows
from told.cli.sessions import (
    NO_HISTORY,
    NOT_HERE,
    SessionScope,
    coverage_json,
    may_widen,
    not_searched,
    not_searched_json,
    print_summary,
    print_unread,
    select_sessions,
)
from told.errors import MissingError, NotFoundError, ToldError, UsageError
from told.ingest.projects import find_git_root
from told.journal.apply import open_memories
from told.memories.scopes import MemoryFilter, active_scopes, list_memories
from told.recall.prompt import relative_folder
from told.recall.search import MemoryMatch, MemoryQuestion, is_from, join_rankings, search_memories
from told.recall.unconfirmed import search_unconfirmed
from told.search.excerpt import make_excerpt
from told.search.query import Query, parse_query
from told.search.rank import RankedTurn, SessionGroup, group_by_session
from told.search.sessions import SearchResult, search_sessions
from told.store.memories.protocol import Memories
from told.store.memories.records import PROJECT, QUARANTINED, SUPERSEDED, UNCONFIRMED
from told.store.sessions.match import TurnIndex
from told.store.sessions.read import Filter
from told.store.sessions.schema import project_token

if TYPE_CHECKING:
    from told.search.vectors.model_folder import Reranker

_LIMIT = 5
_RERANKED_PROMPT, _RERANKED_ANSWER = 400, 800  # characters the user's model reads around the words
_MEMORIES, _SESSIONS, _CHECKPOINTS, _ALL = _PLACES = ("memories", "sessions", "checkpoints", "all")
_STATUSES = (*UNCONFIRMED, SUPERSEDED, QUARANTINED)  # of memories that are only found on request
_NO_RERANKER = (
    "--deep needs your own re-ranking model: `told config set reranker FOLDER`. See docs/models.md."
)
_UNAVAILABLE = (apsw.Error, ToldError, OSError, ValueError)


class _Search(NamedTuple):
    """What is searched, and where."""

    question: str
    query: Query
    scope: SessionScope
    place: str
    limit: int
    here: str  # the memory scope of the current project; empty for all projects
    arguments: Arguments
    status: str = ""  # of memories


class _Memories(NamedTuple):
    """The memories that answer a question."""

    matches: tuple[MemoryMatch, ...] = ()
    widened: bool = False  # none is of this project
    unconfirmed: tuple[MemoryMatch, ...] = ()  # that agents saved; only agents find them


class _Ranking(NamedTuple):
    """What was found, best first."""

    items: tuple[Found, ...]
    sessions: SearchResult
    widened: bool = False  # all memories are of other projects

    @property
    def memory_count(self) -> int:
        """How many memories are in it."""
        return sum(isinstance(one, MemoryMatch) for one in self.items)

    @property
    def session_count(self) -> int:
        """How many sessions are in it."""
        return len(self.items) - self.memory_count

    @property
    def time_not_met(self) -> str:
        """The words of the question that name a time which no result is from."""
        window = self.sessions.query.window
        if not window or any(_is_from(one, window) for one in self.items):
            return ""
        return self.sessions.query.time


def _is_from(one: Found, window: tuple[int, int]) -> bool:
    if isinstance(one, MemoryMatch):
        return is_from(one.memory, window)
    return any(window[0] <= turn.at < window[1] for turn in one.turns)


def search(context: Context, arguments: Arguments) -> None:
    """Print what answers a question, best first."""
    wanted = _read_arguments(context, arguments)
    model = _load_reranker(context.settings.reranker) if arguments.flag("deep") else None
    memories, found = _Memories(), SearchResult(wanted.query)
    if wanted.place != _MEMORIES:
        found = _search_sessions(context, wanted, model)
    if wanted.place == _ALL:
        memories = _find_memories(context, wanted, found)
    is_last_chance = wanted.place == _ALL and not found.sessions and not memories.matches
    if wanted.place == _MEMORIES or (is_last_chance and context.count_unlearned()):
        with MemoryView(context) as view:  # learns what it can in a short time
            memories = _match_memories(context, wanted, view.memories)
    joined = join_rankings(memories.matches, found.sessions, wanted.limit)
    last = memories.unconfirmed[: max(1, wanted.limit - len(joined))]
    ranking = _Ranking((*joined, *last), found, memories.widened)
    if found.widened or (wanted.place == _MEMORIES and memories.widened):
        wanted = wanted._replace(scope=wanted.scope.widen())
    if context.as_json:
        context.print_json(_as_json(context, wanted, ranking), found=ranking.items)
    elif not ranking.items:
        raise NotFoundError(_nothing(context, wanted))
    else:
        _print(context, wanted, ranking)


def _read_arguments(context: Context, arguments: Arguments) -> _Search:
    place, status = arguments.text("in") or _ALL, arguments.text("status")
    if place not in _PLACES:
        raise UsageError(f"--in takes {', '.join(_PLACES)}, not {place!r}.")
    if status and (place != _MEMORIES or status not in _STATUSES):
        raise UsageError(f"--status takes {' or '.join(_STATUSES)}, and needs `--in memories`.")
    if place == _MEMORIES and arguments.flag("deep"):
        raise UsageError("--deep re-ranks sessions and checkpoints, not memories.")
    question = " ".join(arguments.operands)
    scope = select_sessions(context, arguments)
    here = ""
    if scope.project is not None:
        here = PROJECT + scope.project.key
    elif not arguments.flag("all-projects") and context.cwd and find_git_root(context.cwd):
        here = context.project_scope()
    return _Search(
        question, parse_query(question, context.now), scope, place, arguments.number("limit", _LIMIT), here,
        arguments, status,
    )  # fmt: skip


def _search_sessions(context: Context, wanted: _Search, model: Reranker | None) -> SearchResult:
    only_notes, scope = wanted.place == _CHECKPOINTS, wanted.scope
    similarity = similarity_search(context, notes=only_notes)
    search_in = partial(
        search_sessions, TurnIndex(context.connection, notes=only_notes), wanted.question, now=context.now,
        project=project_token(scope.project.id) if scope.project else None,
        agent=scope.filter.agent, since=scope.filter.since, limit=wanted.limit, meaning=similarity,
    )  # fmt: skip
    found = search_in()
    if found.widened and not may_widen(context, wanted.arguments):
        found = search_in(only=True)
    if similarity is not None and similarity.error:
        warn_words_only(similarity.error)
    return found if model is None else _rerank(context, model, found, wanted)


def _find_memories(context: Context, wanted: _Search, found: SearchResult) -> _Memories:
    """Return the memories that answer the question, too, if they can be read at once."""
    if not os.path.exists(os.path.join(context.home, "memory.db")):
        return _Memories()
    try:
        with closing(open_memories(context.home, hurry=True)) as memories:
            is_elsewhere = found.widened or not found.sessions
            return _match_memories(context, wanted, memories, is_elsewhere=is_elsewhere, always=found.widened)
    except _UNAVAILABLE:
        return _Memories()


def _match_memories(
    context: Context, wanted: _Search, memories: Memories, *, is_elsewhere: bool = True, always: bool = False
) -> _Memories:
    """Return matches of this project; of others if it has none, or always the sure ones."""
    scopes = active_scopes(memories, wanted.here) if wanted.here else ()
    last: tuple[MemoryMatch, ...] = ()
    if not context.caller.is_user and not wanted.status:
        last = tuple(search_unconfirmed(memories, wanted.query, scopes))
    if not wanted.here:
        return _Memories(tuple(_match_in(context, wanted, memories, ())), unconfirmed=last)
    own = _match_in(context, wanted, memories, scopes)
    others: list[MemoryMatch] = []
    if is_elsewhere and (always or not own) and may_widen(context, wanted.arguments):
        known = {one.memory.id for one in own}
        others = [one for one in _match_in(context, wanted, memories, ()) if one.memory.id not in known]
    others = [one for one in others if one.is_sure] if own else others
    return _Memories((*own, *others), widened=bool(others) and not own, unconfirmed=last)


def _match_in(
    context: Context, wanted: _Search, memories: Memories, scopes: tuple[str, ...]
) -> list[MemoryMatch]:
    limits = wanted.scope.filter
    if wanted.status:
        criteria = MemoryFilter(
            scopes, status=wanted.status, source=limits.agent, since=limits.since, words=wanted.question
        )
        listed = list_memories(memories, criteria, context.now, wanted.limit)
        return [MemoryMatch(one, 1.0, is_sure=True) for one in listed]
    project = wanted.scope.project
    folder = relative_folder(project.root, context.cwd) if project else ""
    question = MemoryQuestion(wanted.query, scopes, context.now, folder, limits.since, limits.agent)
    return search_memories(memories, question)


def _print(context: Context, wanted: _Search, ranking: _Ranking) -> None:
    header = _header(wanted, ranking)
    print_summary(context, header)
    if ranking.time_not_met:
        context.print(f"None of these is from {ranking.time_not_met!r}.")
    rows = ResultRows(context, ranking.sessions.query.words, wanted.here)
    if context.is_at_terminal:
        context.show(rows.table(ranking.items))
    else:
        room = SEARCH_BYTES - len(header.encode()) - 60 if wanted.limit <= _LIMIT else 0
        for line in rows.format(ranking.items, room):
            context.print(line)
    if wanted.place != _MEMORIES:
        print_unread(context)
        if less := not_searched(context, wanted.scope):
            context.print(less)


def _header(wanted: _Search, ranking: _Ranking) -> str:
    memories, sessions, found = ranking.memory_count, ranking.session_count, ranking.sessions
    parts = [memory_count(memories)] if memories else []
    parts += [f"{count(sessions, 'session')} in {wanted.scope.name}"] if sessions else []
    header = f"{' and '.join(parts)} for {cut(wanted.question, 60)!r}"
    if sessions and found.widened:
        header += " (too little in this project)"
    elif ranking.widened and not sessions:
        header += NOT_HERE
    if sessions and found.loosened:
        header += " (not as quoted)"
    if sessions and found.only_similar:
        header += " (in other words)"
    for typed, used in found.corrected if sessions else ():
        header += f" ({typed} not found; searched {used})"
    return header


def _as_json(context: Context, wanted: _Search, ranking: _Ranking) -> dict[str, Any]:
    rows = ResultRows(context, ranking.sessions.query.words, wanted.here)
    items = list(enumerate(ranking.items, 1))
    memories = [rows.memory_json(one, rank) for rank, one in items if isinstance(one, MemoryMatch)]
    sessions = [rows.session_json(one, rank) for rank, one in items if isinstance(one, SessionGroup)]
    shown = memories if wanted.place == _MEMORIES else sessions
    head = coverage_json(context, wanted.scope, len(shown)) | {"query": wanted.question}
    found = ranking.sessions
    if ranking.time_not_met:
        head["time_not_met"] = ranking.time_not_met
    head |= context.learning_json()
    if wanted.place == _MEMORIES:
        return head | {"memories": memories}
    if found.corrected:
        head["corrected"] = dict(found.corrected)
    if found.only_similar:
        head["in_other_words"] = True
    head |= not_searched_json(context, wanted.scope) | {"results": sessions}
    return head | ({"memories": memories} if wanted.place == _ALL else {})


def _nothing(context: Context, wanted: _Search) -> str:
    learning = "" if wanted.status else context.describe_learning()
    if learning and (context.left or wanted.place in (_MEMORIES, _ALL)):
        context.behind = True
        return f"Nothing found yet. {learning}"
    asked = cut(wanted.question, 60)
    if wanted.query.window and not wanted.query.words:
        return f"Nothing found for {asked!r}: nothing is from then."
    scope = wanted.scope
    where = f" in {scope.name}. Try --all-projects" if scope.project is not None else ""
    stays = where and not may_widen(context, wanted.arguments)
    if wanted.place == _MEMORIES:
        return f"No memory matches {asked!r}{where if stays else ''}. `told memories` lists them."
    if not stays and not context.reading.count(Filter()) and not context.reading.count_checkpoints(Filter()):
        return NO_HISTORY.format(what="Nothing found")
    less = f" {not_searched(context, scope)}".rstrip()
    return f"Nothing found for {asked!r}{where}. Try fewer or other words.{less}"


def _load_reranker(folder: str) -> Reranker:
    if not folder:
        raise MissingError(_NO_RERANKER)
    from told.search.vectors.model_folder import Reranker  # noqa: PLC0415 - few have such a model

    return Reranker(folder)


def _rerank(context: Context, model: Reranker, found: SearchResult, wanted: _Search) -> SearchResult:

    def text_of(hit: RankedTurn) -> str:
        turn = context.reading.turn(hit.session, hit.n)
        texts = ((turn.asked, _RERANKED_PROMPT), (turn.answered, _RERANKED_ANSWER)) if turn else ()
        return "\n".join(make_excerpt(text, found.query.words, room)[0] for text, room in texts if text)

    from told.search.vectors.model_folder import rerank  # noqa: PLC0415

    turns = rerank(found.turns, text_of, lambda texts: model.scores(wanted.question, texts))
    return found._replace(turns=tuple(turns), sessions=tuple(group_by_session(turns, wanted.limit)))
