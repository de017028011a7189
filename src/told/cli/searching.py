"""`told search`: what is known and what was said, where it was said, with the words marked."""

from __future__ import annotations

import os

from told.agents.labels import label
from told.cli.checkpoints import all_of
from told.cli.output import count, cut, iso, to_json
from told.cli.sessions import (
    NO_HISTORY,
    about,
    not_searched,
    not_searched_json,
    session_head,
    session_json,
    summary,
    unread,
    widen,
)
from told.cli.understanding import meaning_of, say_words_alone
from told.errors import NotFoundError, UsageError
from told.record import record
from told.search.analyse import analyse
from told.search.excerpt import excerpt, mark
from told.search.sessions import search as find
from told.store.ids import NOTE, TITLE, project_token
from told.store.matching import Matching
from told.store.reading import Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from told.cli.arguments import Arguments
    from told.cli.context import Context, Scope
    from told.cli.searching_memories import Known
    from told.search.rank import Ranked
    from told.search.sessions import Found
    from told.store.reading import CheckpointRow, SessionRow

# Bytes of five hits: 350 tokens.
_SEARCH_BYTES = 1380
_LEAST_EXCERPT = 30
_MOST_EXCERPT = 200
_MEMORIES, _SESSIONS, _CHECKPOINTS, _ALL = PLACES = ("memories", "sessions", "checkpoints", "all")


@record
class _Hit:
    """What is shown of a session."""

    place: str
    who: str
    text: str  # with the words marked
    trust: str = "agent"
    note: CheckpointRow | None = None


def search(context: Context, arguments: Arguments) -> int:
    """Print what answers a question, the best first: memories, then sessions."""
    question = " ".join(arguments.operands)
    place = arguments.text("in") or _ALL
    if place not in PLACES:
        raise UsageError(f"--in takes {', '.join(PLACES)}, not {place!r}.")
    scope = context.scope(arguments)
    deep = _deep(context, place) if arguments.flag("deep") else None
    if place == _MEMORIES:
        return _only_memories(context, arguments, scope, question)
    limit = arguments.number("limit", 5)
    only_here = bool(arguments.text("project"))
    meaning = meaning_of(context, notes=place == _CHECKPOINTS)
    found = find(
        Matching(context.connection, notes=place == _CHECKPOINTS), question, now=context.now,
        project=project_token(scope.project.id) if scope.project else None,
        agent=scope.filter.agent, since=scope.filter.since, limit=limit,
        meaning=meaning,
    )  # fmt: skip
    if meaning is not None and meaning.trouble:
        say_words_alone(meaning.trouble)
    if deep:
        found = deep(found, question, limit)
    known = _memories(context, arguments, scope, found) if place == _ALL else None
    if found.widened and only_here:
        found = type(found)(found.query)
    if found.widened:
        scope = widen(scope)
    context.rows = len(found.sessions)
    if arguments.flag("json"):
        more = {"memories": known.rows(context) if known else []} if place == _ALL else {}
        context.print(to_json(_as_json(context, scope, found, question) | more))
        return 0 if found.sessions or known else 1
    if not found.sessions and not known:
        raise NotFoundError(_nothing(context, scope, question))
    if known:
        known.print(context, question)
    if found.sessions:
        _print(context, scope, found, question, limit)
    else:
        unread(context)
    if less := not_searched(context, scope):
        context.print(less)
    return 0


def _deep(context: Context, place: str) -> Callable[[Found, str, int], Found]:
    if place == _MEMORIES:
        raise UsageError("--deep looks at sessions and checkpoints again, not at memories.")
    from told.cli.searching_deep import looked_at_again, reranker_of

    model = reranker_of(context)
    return lambda found, question, limit: looked_at_again(context, model, found, question, limit)


def _memories(context: Context, arguments: Arguments, scope: Scope, found: Found) -> Known | None:
    """Return the few memories that answer the question as well; None if there is none."""
    if not os.path.exists(os.path.join(context.settings.home, "memory.db")):
        return None
    from told.cli.searching_memories import Asked, beside_sessions  # 2 ms that many do not need

    # A word that no session has may stand in a memory.
    query = analyse(found.query.text, context.now) if found.corrected else found.query
    widened = found.widened and not arguments.text("project")
    return beside_sessions(context, Asked(query, scope, arguments, widened, beside=bool(found.sessions)))


def _only_memories(context: Context, arguments: Arguments, scope: Scope, question: str) -> int:
    from told.cli.searching_memories import Asked, memories_only

    widened = not arguments.text("project")
    query = analyse(question, context.now)
    known = memories_only(context, Asked(query, scope, arguments, widened, alone=True))
    context.rows = len(known.answers) if known else 0
    if arguments.flag("json"):
        head = about(context, scope, bool(known and known.widened)) | {"query": question}
        context.print(to_json(head | {"memories": known.rows(context) if known else []}))
        return 0 if known else 1
    if not known:
        raise NotFoundError(f"No memory has {cut(question, 60)!r}. `told memories` lists them.")
    known.print(context, question)
    return 0


def _print(context: Context, scope: Scope, found: Found, question: str, limit: int) -> None:
    header = f"{count(len(found.sessions), 'session')} in {scope.name} for {cut(question, 60)!r}"
    if found.widened:
        header += " (too little in this project)"
    if found.loosened:
        header += " (not as quoted)"
    if found.alone:
        header += " (in other words)"
    for typed, used in found.corrected:
        header += f" ({typed} is nowhere; searched {used})"
    rows = [context.reading.session(group.session) for group in found.sessions]
    heads = [f"{session_head(context, row)} {cut(summary(row), 40)}".rstrip() for row in rows]
    room = _MOST_EXCERPT
    hits = _hits(context, found, rows, room)
    if limit <= 5:
        fixed = len(header.encode()) + 40 + sum(len(head.encode()) + 2 for head in heads)
        for _ in range(3):  # marks and letters of several bytes make an excerpt longer than its room
            size = sum(len(hit.encode()) for hit in hits)
            if fixed + size <= _SEARCH_BYTES:
                break
            room = max(_LEAST_EXCERPT, room * max(0, _SEARCH_BYTES - fixed) // size - 2)
            hits = _hits(context, found, rows, room)
    context.print(header)
    lines = [line for pair in zip(heads, hits, strict=True) for line in pair]
    context.print(context.fence.block("\n".join(lines)))
    unread(context)


def _hits(context: Context, found: Found, rows: list[SessionRow], room: int) -> list[str]:
    """Return a line for the best turn of each session."""
    hits = []
    for group, row in zip(found.sessions, rows, strict=True):
        hit = _best(context, row, group.turns[0], found.query.words, room)
        more = f" (+{len(group.turns) - 1})" if len(group.turns) > 1 else ""
        if hit.note is not None and hit.note.path:
            more = f" {_from_home(context, hit.note.path)}{more}"
        hits.append(f"  {hit.place} {hit.who}: {hit.text}{more}")
    return hits


def _best(context: Context, row: SessionRow, hit: Ranked, words: tuple[str, ...], room: int) -> _Hit:
    """Return one of a session's hits as it is shown."""
    turn = context.reading.turn(row.id, hit.n)
    if turn is None:
        return _Hit("", "", "")
    if hit.n == TITLE:
        who = "you" if row.title_by == "user" else label(row.agent)
        return _Hit("title", who, mark(*excerpt(turn.answered, words, room), "*", "*"), row.title_by)
    if hit.n <= NOTE:
        every = context.reading.checkpoints(Filter(), -1, session_id=row.id)
        note = next((one for one in every if one.number == NOTE - hit.n), None)
        who = f"{note.status} checkpoint" if note and note.status else "checkpoint"
        said = all_of(note) if note else turn.answered
        return _Hit(note.public if note else "", who, mark(*excerpt(said, words, room), "*", "*"), note=note)
    texts = [(turn.asked, "agent" if row.kind else "user"), (turn.answered, "agent"), (turn.steps, "agent")]
    shown = [(*excerpt(text, words, room), trust) for text, trust in texts if text]
    part, ranges, trust = max(shown, key=lambda option: len({option[0][a:b].lower() for a, b in option[1]}))
    who = "you" if trust == "user" else label(row.agent)
    return _Hit(f".{hit.n}", who, mark(part, ranges, "*", "*"), trust)


def _from_home(context: Context, path: str) -> str:
    """Return a path as short as a shell understands it."""
    home = context.environ.get("HOME", "").rstrip("/")
    return f"~{path[len(home) :]}" if home and path.startswith(f"{home}/") else path


def _as_json(context: Context, scope: Scope, found: Found, question: str) -> dict[str, Any]:
    rows = []
    for group in found.sessions:
        row = context.reading.session(group.session)
        hits = []
        for turn in group.turns:
            hit = _best(context, row, turn, found.query.words, _MOST_EXCERPT)
            where = f"{row.public}{hit.place}" if hit.place.startswith(".") else row.public
            shown = hit.text if hit.trust == "user" else context.fence.inline(hit.text)
            one = {"id": where, "who": hit.who, "at": iso(turn.at), "excerpt": shown, "trust": hit.trust}
            if hit.note is not None:
                one |= {"id": hit.note.public, "who": "checkpoint"}
                one |= {"status": hit.note.status, "path": hit.note.path} if hit.note.path else {}
            hits.append(one)
        rows.append(session_json(context, row) | {"score": group.score, "hits": hits})
    head = about(context, scope, found.widened) | {"query": question}
    if found.corrected:
        head["corrected"] = dict(found.corrected)
    if found.alone:
        head["in_other_words"] = True
    return head | not_searched_json(context, scope) | {"results": rows}


def _nothing(context: Context, scope: Scope, question: str) -> str:
    if context.left:
        return f"Nothing found yet: {count(context.left, 'file')} of history still being read. Ask again."
    if not context.reading.count(Filter()) and not context.reading.count_checkpoints(Filter()):
        return NO_HISTORY.format(what="Nothing found")
    where = f" in {scope.name}. Try --all-projects" if scope.project is not None else ""
    less = f" {not_searched(context, scope)}".rstrip()
    return f"Nothing found for {cut(question, 60)!r}{where}. Try fewer or other words.{less}"
