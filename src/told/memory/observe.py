"""Learns from what an agent did in a session: its commits, what it repaired, its closing answer."""

from __future__ import annotations

from told.agents.text import FAILED
from told.guard.fence import strip_fenced
from told.guard.text import clean, one_line
from told.memory._observe_answer import telling
from told.memory._observe_calls import CREATE, EDIT, SHELL, Call, calls
from told.memory._observe_commits import commit_of
from told.memory._observe_labels import label_of
from told.memory._observe_repairs import Repair, Watch
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from told.store.writing import TurnText

MOST = 5
_WIDTH = 240
_MOST_PATHS = 8
_QUOTE = 400


@record
class Observed:
    """One thing that an agent did, worth knowing later; never a rule."""

    label: str  # bugfix, feature, refactor, discovery, change or decision
    text: str
    quote: str  # the exact words in the turn's steps or answer
    turn: int
    at: int
    paths: tuple[str, ...] = ()


def observations(turns: Sequence[TurnText], root: str = "", most: int = MOST) -> list[Observed]:
    """Return what is worth keeping of what the agent did in a session, in the session's order.

    Args:
        turns: The session's turns in their order.
        root: The project's folder; paths below it are shortened.
        most: How many to return at most: repairs first, then the latest commits, and one closing answer.

    Returns:
        Nothing for a session in which nothing was edited or committed.
    """
    if most < 1 or not any(_worked(turn) for turn in turns):
        return []
    session = _Session(root)
    for turn in turns:
        session.take(turn, is_last=turn is turns[-1])
    return session.chosen(most)


def _worked(turn: TurnText) -> bool:
    return bool(turn.steps) and "[" in turn.steps


class _Session:
    """What was done in a session so far."""

    def __init__(self, root: str) -> None:
        self._root = root.rstrip("/") + "/" if root else ""
        self._commits: list[Observed] = []
        self._repairs: list[Observed] = []
        self._watch = Watch()
        self._edited: dict[str, None] = {}  # since the last commit
        self._closing: tuple[TurnText, tuple[str, ...]] | None = None

    def take(self, turn: TurnText, *, is_last: bool) -> None:
        made = calls(turn.steps.splitlines()) if _worked(turn) else []
        changed: dict[str, None] = {}
        for at, call in enumerate(made):
            # Nothing says yet how the very last call went.
            is_over = at + 1 < len(made) or bool(turn.answered) or not is_last
            if call.kind in (EDIT, CREATE) and not call.ended:
                path = self._short(call.about)
                self._edited[path] = changed[path] = None
                self._watch.edited(path)
            elif call.kind == SHELL and is_over:
                self._shell(turn, call)
        if changed or any(seen.turn == turn.n for seen in self._commits):
            self._closing = turn, tuple(filter(None, changed))

    def _shell(self, turn: TurnText, call: Call) -> None:
        for repair in self._watch.ran(call.about, failed=call.ended == FAILED, passed=not call.ended):
            self._repairs = [seen for seen in self._repairs if not seen.text.startswith(repair.opening)]
            self._repairs.append(_repaired(repair, turn, call))
        found = commit_of(call.about) if not call.ended else None
        if found is None:
            return
        subject, amends = found
        paths = tuple(filter(None, self._edited))
        if amends and self._commits:
            paths = tuple(dict.fromkeys((*self._commits.pop().paths, *paths)))
        text = one_line(clean(f"Committed: {subject}"), _WIDTH)
        label = label_of(subject, is_commit=True)
        self._commits.append(_observed(label, text, call.line, turn, paths))
        self._edited = {}

    def _short(self, path: str) -> str:
        path = clean(path).removeprefix(self._root) if self._root else clean(path)
        return path if len(path) <= _WIDTH and ("/" in path or "." in path) else ""

    def chosen(self, most: int) -> list[Observed]:
        closing = list(self._closed())
        commits = list({seen.text: seen for seen in self._commits}.values())[::-1]
        repairs = self._repairs[::-1]
        if not closing and not commits and not self._closing:
            return []
        room = most - len(closing)
        kept = repairs[: max(room - 1, 0) if commits and room > 1 else room]
        kept += commits[: room - len(kept)]
        return sorted([*kept, *closing], key=lambda seen: (seen.turn, seen.at))

    def _closed(self) -> Iterator[Observed]:
        if self._closing is None:
            return
        turn, paths = self._closing
        quote = telling(strip_fenced(turn.answered), _WIDTH)
        if quote:
            text = one_line(clean(_without_marks(quote)), _WIDTH)
            yield _observed(label_of(text), text, quote, turn, paths)


def _repaired(repair: Repair, turn: TurnText, call: Call) -> Observed:
    return _observed(repair.label, one_line(clean(repair.text), _WIDTH), call.line, turn, repair.paths)


def _observed(label: str, text: str, quote: str, turn: TurnText, paths: tuple[str, ...]) -> Observed:
    return Observed(label, text, quote[:_QUOTE], turn.n, turn.at, paths[-_MOST_PATHS:])


def _without_marks(sentence: str) -> str:
    """Leave out Markdown's marks for bold text; code keeps its own."""
    return sentence.replace("**", "").replace("__", "").strip()
