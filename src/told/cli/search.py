"""`told search`: memories, sessions and checkpoints, with the words marked."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import apsw

from told.agents import label
from told.cli.arguments import Arguments
from told.cli.context import (
    NOT_HERE,
    Context,
    MemoryView,
    SessionScope,
    count,
    cut,
    iso,
    memory_count,
    short_home,
    when,
)
from told.cli.sessions import (
    NO_HISTORY,
    coverage_json,
    not_searched,
    not_searched_json,
    print_unread,
    session_head,
    session_json,
    session_summary,
)
from told.cli.similarity import similarity_search, warn_words_only
from told.errors import MissingError, NotFoundError, ToldError, UsageError
from told.ingest.projects import find_git_root
from told.journal.apply import open_memories
from told.memories.scopes import active_scopes
from told.search.excerpt import highlight, make_excerpt
from told.search.memories import MatchThreshold, MemoryMatch, search_memories
from told.search.query import Query, parse_query
from told.search.rank import RankedTurn, group_by_session
from told.search.sessions import SearchResult, search_sessions
from told.store.memories.read import Memories
from told.store.memories.records import PROJECT, SHARED, UNCONFIRMED, Memory
from told.store.sessions.match import TurnIndex
from told.store.sessions.read import CheckpointRow, Filter, SessionRow
from told.store.sessions.schema import FIRST_NOTE, TITLE, project_token

if TYPE_CHECKING:
    from told.search.vectors.model_folder import Reranker

_LIMIT, _LIMIT_BESIDE_SESSIONS = 5, 3
_BESIDE_SESSIONS = MatchThreshold(0.5, 0.6, 12)
_TEXT_BYTES, _TEXT_BYTES_BESIDE_SESSIONS = 300, 110
_NO_RERANKER = (
    "--deep needs your own re-ranking model: `told config set reranker FOLDER`. See docs/models.md."
)
_UNAVAILABLE = (apsw.Error, ToldError, OSError, ValueError)


@dataclass(frozen=True, slots=True)
class _MemoryQuestion:
    """What memories are searched for, and where."""

    query: Query
    scope: SessionScope
    arguments: Arguments
    may_widen: bool  # whether to search other projects if this one has nothing
    only_memories: bool = False
    has_sessions: bool = False  # sessions were found, too


@dataclass(frozen=True, slots=True)
class _FoundMemories:
    """The memories that answer a question."""

    matches: tuple[MemoryMatch, ...] = ()
    widened: bool = False  # none is of this project
    here: str = ""  # the scope of the current project
    room: int = 0  # bytes of a text

    def print(self, context: Context, question: str) -> None:
        """Print them, others' words fenced."""
        many = memory_count(len(self.matches))
        context.print(f"{many} for {cut(question, 60)!r}{NOT_HERE if self.widened else ''}")
        for one in self.matches:
            context.print(_match_row(context, one, self.here, self.room))


def _match_memories(context: Context, question: _MemoryQuestion, memories: Memories) -> _FoundMemories:
    alone, scope = question.only_memories, question.scope
    limit = question.arguments.number("limit", _LIMIT if alone else _LIMIT_BESIDE_SESSIONS)
    here = ""  # all projects
    if scope.project is not None:
        here = PROJECT + scope.project.key
    elif not question.arguments.flag("all-projects") and context.cwd and find_git_root(context.cwd):
        here = context.project_scope()
    threshold = MatchThreshold() if alone else _BESIDE_SESSIONS
    scopes = active_scopes(memories, here) if here else ()
    status = question.arguments.text("status") if alone else ""
    for wanted in [scopes, ()] if here and question.may_widen else [scopes]:
        found = search_memories(memories, question.query, context.now, wanted, threshold, status=status)
        matches = [one for one in found if _fits(one.memory, question)]
        if matches:
            room = _TEXT_BYTES_BESIDE_SESSIONS if question.has_sessions else _TEXT_BYTES
            return _FoundMemories(tuple(matches[:limit]), wanted != scopes, here, room)
    return _FoundMemories()


def _fits(memory: Memory, question: _MemoryQuestion) -> bool:
    wanted = question.scope.filter
    is_from_agent = not wanted.agent or any(place.agent == wanted.agent for place in memory.evidence)
    if not is_from_agent or memory.updated < wanted.since:
        return False
    # What an agent said in a session is found there, with its surroundings.
    return not (
        question.has_sessions and memory.trust == "agent" and any(place.session for place in memory.evidence)
    )


def _match_row(context: Context, one: MemoryMatch, here: str, room: int) -> str:
    memory = one.memory
    scope = context.name(memory.scope.removeprefix(PROJECT).removeprefix(SHARED))
    marks = [memory.kind_name, "project" if memory.scope == here else scope]
    marks += ["locked"] if memory.locked else []
    marks += [] if one.is_current else [memory.status]
    marks += [f"by {memory.superseded_by}"] if memory.superseded_by else []
    head = f"{when(memory.created, context.now)} {memory.id} {' '.join(marks)}"
    return f"{head}: {context.memory_text(memory, room)}"


def _match_json(context: Context, one: MemoryMatch) -> dict[str, Any]:
    memory = one.memory
    project = memory.scope.removeprefix(PROJECT) if memory.scope.startswith(PROJECT) else ""
    return {
        "id": memory.id, "text": context.fenced(memory.text, memory.trust), "trust": memory.trust,
        "kind": memory.kind, "marks": list(memory.marks), "context": memory.context or None,
        "scope": "project" if project else memory.scope.removeprefix(SHARED),
        "project": context.name(project) or None, "status": memory.status, "locked": memory.locked,
        "created": iso(memory.created), "superseded_by": memory.superseded_by or None, "score": one.score,
    }  # fmt: skip


_SEARCH_BYTES = 1380  # of five hits: 350 tokens
_LEAST_EXCERPT, _MOST_EXCERPT = 30, 200
_RERANKED_PROMPT, _RERANKED_ANSWER = 400, 800  # characters the user's model reads around the words
_MEMORIES, _SESSIONS, _CHECKPOINTS, _ALL = _PLACES = ("memories", "sessions", "checkpoints", "all")


@dataclass(frozen=True, slots=True)
class _Hit:
    """What is shown of a session."""

    place: str
    who: str
    text: str  # with the words marked
    trust: str = "agent"
    note: CheckpointRow | None = None


def search(context: Context, arguments: Arguments) -> None:
    """Print what answers a question, best first: memories, then sessions."""
    question = " ".join(arguments.operands)
    place = arguments.text("in") or _ALL
    _check_options(place, arguments.text("status"))
    scope = context.scope(arguments)
    deep = arguments.flag("deep")
    if place == _MEMORIES:
        if deep:
            raise UsageError("--deep re-ranks sessions and checkpoints, not memories.")
        _search_memories(context, arguments, scope, question)
        return
    model = _load_reranker(context.settings.reranker) if deep else None
    limit = arguments.number("limit", 5)
    similarity = similarity_search(context, notes=place == _CHECKPOINTS)
    found = search_sessions(
        TurnIndex(context.connection, notes=place == _CHECKPOINTS), question, now=context.now,
        project=project_token(scope.project.id) if scope.project else None,
        agent=scope.filter.agent, since=scope.filter.since, limit=limit, meaning=similarity,
    )  # fmt: skip
    if similarity is not None and similarity.error:
        warn_words_only(similarity.error)
    if model is not None:
        found = _rerank(context, model, found, question, limit)
    known = _FoundMemories()
    if place == _ALL:
        known = _find_memories(context, arguments, scope, found)
    if found.widened and arguments.text("project"):
        found = SearchResult(found.query)
    if found.widened:
        scope = scope.widen()
    if context.as_json:
        memories = {"memories": [_match_json(context, one) for one in known.matches]} if place == _ALL else {}
        context.print_json(
            _as_json(context, scope, found, question) | memories, found=found.sessions or known.matches
        )
        return
    if not found.sessions and not known.matches:
        raise NotFoundError(_nothing(context, scope, question))
    if known.matches:
        known.print(context, question)
    if found.sessions:
        _print(context, scope, found, question, limit)
    print_unread(context)
    if less := not_searched(context, scope):
        context.print(less)


def _check_options(place: str, status: str) -> None:
    if place not in _PLACES:
        raise UsageError(f"--in takes {', '.join(_PLACES)}, not {place!r}.")
    if status and (place != _MEMORIES or status not in UNCONFIRMED):
        raise UsageError(f"--status takes {' or '.join(UNCONFIRMED)}, and needs `--in memories`.")


def _find_memories(
    context: Context, arguments: Arguments, scope: SessionScope, found: SearchResult
) -> _FoundMemories:
    """Return the few memories that answer the question, too, if they can be read at once."""
    if not os.path.exists(os.path.join(context.home, "memory.db")):
        return _FoundMemories()
    # A word that no session has may be in a memory.
    query = parse_query(found.query.text, context.now) if found.corrected else found.query
    may_widen = found.widened and not arguments.text("project")
    question = _MemoryQuestion(query, scope, arguments, may_widen, has_sessions=bool(found.sessions))
    try:
        with closing(open_memories(context.home, hurry=True)) as memories:
            return _match_memories(context, question, memories)
    except _UNAVAILABLE:
        return _FoundMemories()


def _search_memories(context: Context, arguments: Arguments, scope: SessionScope, question: str) -> None:
    query = parse_query(question, context.now)
    wanted = _MemoryQuestion(query, scope, arguments, not arguments.text("project"), only_memories=True)
    with MemoryView(context) as view:
        known = _match_memories(context, wanted, view.memories)
    if context.as_json:
        scope = replace(scope, widened=known.widened)
        head = coverage_json(context, scope, len(known.matches)) | {"query": question}
        context.print_json(
            head | {"memories": [_match_json(context, one) for one in known.matches]}, found=known.matches
        )
    elif not known.matches:
        raise NotFoundError(f"No memory matches {cut(question, 60)!r}. `told memories` lists them.")
    else:
        known.print(context, question)


def _print(context: Context, scope: SessionScope, found: SearchResult, question: str, limit: int) -> None:
    header = f"{count(len(found.sessions), 'session')} in {scope.name} for {cut(question, 60)!r}"
    if found.widened:
        header += " (too little in this project)"
    if found.loosened:
        header += " (not as quoted)"
    if found.only_similar:
        header += " (in other words)"
    for typed, used in found.corrected:
        header += f" ({typed} not found; searched {used})"
    rows = [context.reading.session(group.session) for group in found.sessions]
    heads = [f"{session_head(context, row)} {cut(session_summary(row), 40)}".rstrip() for row in rows]
    room = _MOST_EXCERPT
    hits = _hit_lines(context, found, rows, room)
    if limit <= 5:
        fixed = len(header.encode()) + 40 + sum(len(head.encode()) + 2 for head in heads)
        for _ in range(3):  # marks and letters of several bytes make an excerpt longer than its room
            size = sum(len(hit.encode()) for hit in hits)
            if fixed + size <= _SEARCH_BYTES:
                break
            room = max(_LEAST_EXCERPT, room * max(0, _SEARCH_BYTES - fixed) // size - 2)
            hits = _hit_lines(context, found, rows, room)
    context.print(header)
    lines = [line for pair in zip(heads, hits, strict=True) for line in pair]
    context.print(context.fence.block("\n".join(lines)))


def _hit_lines(context: Context, found: SearchResult, rows: list[SessionRow], room: int) -> list[str]:
    lines = []
    for group, row in zip(found.sessions, rows, strict=True):
        hit = _make_hit(context, row, group.turns[0], found.query.words, room)
        more = f" (+{len(group.turns) - 1})" if len(group.turns) > 1 else ""
        if hit.note is not None and hit.note.path:
            more = f" {short_home(context, hit.note.path)}{more}"
        lines.append(f"  {hit.place} {hit.who}: {hit.text}{more}")
    return lines


def _make_hit(context: Context, row: SessionRow, hit: RankedTurn, words: tuple[str, ...], room: int) -> _Hit:

    def marked(text: str) -> str:
        return highlight(*make_excerpt(text, words, room), "*", "*")

    turn = context.reading.turn(row.id, hit.n)
    if turn is None:
        return _Hit("", "", "")
    if hit.n == TITLE:
        who = "you" if row.title_by == "user" else label(row.agent)
        return _Hit("title", who, marked(turn.answered), row.title_by)
    if hit.n <= FIRST_NOTE:
        notes = context.reading.checkpoints(Filter(), -1, session_id=row.id)
        note = next((one for one in notes if one.number == FIRST_NOTE - hit.n), None)
        if note is None:
            return _Hit("", "checkpoint", marked(turn.answered))
        from told.cli.checkpoint_show import checkpoint_line  # noqa: PLC0415 - few results are checkpoints

        return _Hit(
            note.public, f"{note.status} checkpoint".strip(), marked(checkpoint_line(note)), note=note
        )
    texts = [(turn.asked, "agent" if row.kind else "user"), (turn.answered, "agent"), (turn.steps, "agent")]
    shown = [(*make_excerpt(text, words, room), trust) for text, trust in texts if text]
    part, ranges, trust = max(shown, key=lambda option: len({option[0][a:b].lower() for a, b in option[1]}))
    who = "you" if trust == "user" else label(row.agent)
    return _Hit(f".{hit.n}", who, highlight(part, ranges, "*", "*"), trust)


def _as_json(context: Context, scope: SessionScope, found: SearchResult, question: str) -> dict[str, Any]:
    rows = []
    for group in found.sessions:
        row = context.reading.session(group.session)
        hits = []
        for turn in group.turns:
            hit = _make_hit(context, row, turn, found.query.words, _MOST_EXCERPT)
            where = f"{row.public}{hit.place}" if hit.place.startswith(".") else row.public
            shown = hit.text if hit.trust == "user" else context.fence.inline(hit.text)
            one = {"id": where, "who": hit.who, "at": iso(turn.at), "excerpt": shown, "trust": hit.trust}
            if hit.note is not None:
                one |= {"id": hit.note.public, "who": "checkpoint"}
                one |= {"status": hit.note.status, "path": hit.note.path} if hit.note.path else {}
            hits.append(one)
        rows.append(session_json(context, row) | {"score": group.score, "hits": hits})
    head = coverage_json(context, scope, len(found.sessions)) | {"query": question}
    if found.corrected:
        head["corrected"] = dict(found.corrected)
    if found.only_similar:
        head["in_other_words"] = True
    return head | not_searched_json(context, scope) | {"results": rows}


def _nothing(context: Context, scope: SessionScope, question: str) -> str:
    if context.left:
        left = count(context.left, "file")
        return f"Nothing found yet: {left} of history still being imported. Ask again soon."
    if not context.reading.count(Filter()) and not context.reading.count_checkpoints(Filter()):
        return NO_HISTORY.format(what="Nothing found")
    where = f" in {scope.name}. Try --all-projects" if scope.project is not None else ""
    less = f" {not_searched(context, scope)}".rstrip()
    return f"Nothing found for {cut(question, 60)!r}{where}. Try fewer or other words.{less}"


def _load_reranker(folder: str) -> Reranker:
    if not folder:
        raise MissingError(_NO_RERANKER)
    from told.search.vectors.model_folder import Reranker  # noqa: PLC0415 - few have such a model

    return Reranker(folder)


def _rerank(
    context: Context, model: Reranker, found: SearchResult, question: str, limit: int
) -> SearchResult:

    def text_of(hit: RankedTurn) -> str:
        turn = context.reading.turn(hit.session, hit.n)
        texts = ((turn.asked, _RERANKED_PROMPT), (turn.answered, _RERANKED_ANSWER)) if turn else ()
        return "\n".join(make_excerpt(text, found.query.words, room)[0] for text, room in texts if text)

    from told.search.vectors.model_folder import rerank  # noqa: PLC0415

    turns = rerank(found.turns, text_of, lambda texts: model.scores(question, texts))
    return replace(found, turns=tuple(turns), sessions=tuple(group_by_session(turns, limit)))
