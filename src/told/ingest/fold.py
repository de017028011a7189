"""Folds a reader's events into sessions and turns, cleaned and redacted on the way in."""

from __future__ import annotations

import re

from told.guard.fence import strip_fenced
from told.guard.text import clean, one_line
from told.model import USER, Begin, Checkpoint, Facts, Mark, Problem, Ref, Said, Touch
from told.store.writing import TurnText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from told.model import Cursor, Event

# Longer than anything a person types; pasted logs are cut.
_MAX_ASKED = 32_000
_MAX_ANSWERED = 64_000
_MAX_STEPS = 8_000
_MAX_NOTE = 32_000
_MAX_NAME = 1_000
_SUMMARY = 200

_ISSUE_URL = re.compile(r"https?://[\w.-]+/([\w.-]+/[\w.-]+)/(pull|issues|merge_requests)/(\d{1,9})\b")


class Draft:
    """What one source says of one session, since the cursor."""

    def __init__(self, native: str, *, begin: bool) -> None:
        self.native = native
        self.begin = begin  # it replaces what was known, rather than adding to it
        self.facts = Facts(native)
        self.turns: list[TurnText] = []
        self.open = False  # the first turn in `turns` goes on one that is already stored
        self.next_n = 0
        self.touches: dict[str, Touch] = {}
        self.refs: dict[tuple[str, str], Ref] = {}
        self.notes: dict[int, Checkpoint] = {}
        self.last_at = 0

    @property
    def summary(self) -> str:
        """The first thing the user said that tells what the session is about."""
        asked = [turn.asked for turn in self.turns if turn.asked]
        telling = next((text for text in asked if len(text.split()) > 2 or len(text) > 30), "")
        return one_line(telling or (asked[0] if asked else ""), _SUMMARY)


class Fold:
    """Collects the events of one source; the caller takes the drafts at a mark."""

    def __init__(
        self,
        *,
        fresh: bool,
        redact: Callable[[str], str],
        open_turn: Callable[[str], tuple[int, TurnText | None]],
    ) -> None:
        """Begin.

        Args:
            fresh: the source is read from its start, so every session in it begins anew.
            redact: removes secrets from a text.
            open_turn: for a session that goes on, the number of its next turn and the turn before that
                (None when that turn is a copy that another session holds).
        """
        self._fresh = fresh
        self._redact = redact
        self._open_turn = open_turn
        self.drafts: dict[str, Draft] = {}
        self.problems: list[Problem] = []
        self.cursor: Cursor | None = None
        self.weight = 0  # characters held

    def add(self, event: Event | Problem) -> None:
        """Take one event in."""
        if isinstance(event, Said):
            self._said(event)
        elif isinstance(event, Facts):
            self._facts(event)
        elif isinstance(event, Touch):
            path = clean(event.path)[:_MAX_NAME]
            if path.strip():
                draft = self._draft(event.session)
                known = draft.touches.get(path)
                how = known.how if known is not None and event.how == "read" else event.how
                draft.touches[path] = Touch("", path, how, max(event.at, known.at if known else 0))
                draft.last_at = max(draft.last_at, event.at)
        elif isinstance(event, Ref):
            self._ref(self._draft(event.session), event.kind, self._text(event.value, _MAX_NAME), event.at)
        elif isinstance(event, Checkpoint):
            self._note(event)
        elif isinstance(event, Begin):
            self.drafts[event.session] = Draft(event.session, begin=True)
        elif isinstance(event, Mark):
            self.cursor = event.cursor
        elif isinstance(event, Problem):
            self.problems.append(Problem(event.line, self._text(event.reason, _MAX_NAME)))

    def _draft(self, session: str) -> Draft:
        draft = self.drafts.get(session)
        if draft is None:
            draft = self.drafts[session] = Draft(session, begin=self._fresh)
            if not self._fresh:
                draft.next_n, last = self._open_turn(session)
                draft.open = draft.next_n > 0
                if last is not None:
                    draft.turns.append(last)
        return draft

    def _text(self, text: str, limit: int) -> str:
        if not text:
            return ""
        return self._redact(text[: limit * 2])[:limit]

    def _said(self, said: Said) -> None:
        limit = _MAX_ASKED if said.who == USER else _MAX_ANSWERED
        text = self._text(said.text, limit).strip()
        if said.who == USER:
            text = strip_fenced(text).strip()
        if not text:
            return
        draft = self._draft(said.session)
        draft.last_at = max(draft.last_at, said.at)
        self.weight += len(text)
        if said.who == USER:
            draft.turns.append(TurnText(draft.next_n, said.at, said.key, text, "", ""))
            draft.next_n += 1
            draft.open = False
        else:
            self._answer(draft, said, text)
        if "://" in text:
            for repository, kind, number in _ISSUE_URL.findall(text):
                named = "issue" if kind == "issues" else "pr"
                self._ref(draft, named, f"{repository}#{number}", said.at)

    def _answer(self, draft: Draft, said: Said, text: str) -> None:
        if not draft.turns:
            if draft.open:  # it goes on a turn that is a copy and is kept elsewhere
                return
            draft.turns.append(TurnText(draft.next_n, said.at, said.key, "", "", ""))
            draft.next_n += 1
        turn = draft.turns[-1]
        key, answered, steps = turn.key, turn.answered, turn.steps
        if said.form == "step":
            if len(steps) < _MAX_STEPS:
                steps = f"{steps}\n{text}".strip()[:_MAX_STEPS]
        elif len(answered) < _MAX_ANSWERED:
            if not answered and said.key:
                key = said.key
            answered = f"{answered}\n\n{text}".strip()[:_MAX_ANSWERED]
        draft.turns[-1] = TurnText(turn.n, turn.at or said.at, key, turn.asked, answered, steps)

    def _facts(self, facts: Facts) -> None:
        draft = self._draft(facts.session)
        old = draft.facts
        keeps_title = not facts.title or (old.title_by == USER and old.title and facts.title_by != USER)
        draft.facts = Facts(
            session=facts.session,
            cwd=old.cwd or clean(facts.cwd)[:_MAX_NAME],
            branch=self._text(facts.branch, 200) or old.branch,
            repository=self._text(facts.repository, 400) or old.repository,
            title=old.title if keeps_title else one_line(self._text(facts.title, 400), _SUMMARY),
            title_by=old.title_by if keeps_title else facts.title_by,
            started=min(filter(None, (old.started, facts.started)), default=0),
            parent=facts.parent or old.parent,
            kind=facts.kind or old.kind,
            archived=facts.archived or old.archived,
            model=self._text(facts.model, 100) or old.model,
        )

    def _ref(self, draft: Draft, kind: str, value: str, at: int) -> None:
        if value:
            draft.refs.setdefault((kind, value), Ref("", kind, value, at))

    def _note(self, note: Checkpoint) -> None:
        draft = self._draft(note.session)
        texts = {
            name: self._text(getattr(note, name), _MAX_NOTE).strip()
            for name in (
                "overview",
                "work_done",
                "technical_details",
                "important_files",
                "next_steps",
                "history",
            )
        }
        self.weight += sum(map(len, texts.values()))
        title = one_line(self._text(note.title, _MAX_NAME), _SUMMARY)
        number = max(0, min(note.number, 1_000_000))
        draft.notes[number] = Checkpoint(session="", number=number, title=title, at=note.at, **texts)
        draft.last_at = max(draft.last_at, note.at)
