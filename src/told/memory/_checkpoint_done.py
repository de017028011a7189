"""What a session got done, as its tool calls and answers say, and what the agent's own list still has."""

from __future__ import annotations

from told.agents._plans import DOING, MARK, OPEN, items_of, tasks_of
from told.guard.fence import strip_fenced
from told.guard.text import clean, one_line
from told.memory._checkpoint_talk import is_left, sentences
from told.memory._observe_answer import telling
from told.memory._observe_calls import CREATE, EDIT, SHELL, calls
from told.memory.observe import observations
from told.store.writing import TurnText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.store.reading import TurnRow

_MOST = 6
_ANSWERS = 4
_WIDTH = 200
_SHORTEST = 15  # characters: "Done." says nothing
_DEEDS = ("Committed: ", "`")
_FRESH = 3  # turns: a list that nobody touched for longer says nothing any more
_FULL = 7_700  # characters of a turn's steps, of which the later ones are not kept


def done(turns: Sequence[TurnRow], root: str) -> list[str]:
    """Return what was done, the earliest first.

    Args:
        turns: The session's turns in their order.
        root: The project's folder; paths below it are shortened.
    """
    texts = [TurnText(row.n, row.at, "", row.asked, row.answered, row.steps) for row in turns]
    seen = enumerate(observations(texts, root, _MOST))
    found: list[tuple[int, int, str]] = [
        (one.turn, at, said) for at, one in seen if (said := _news(one.text))
    ]
    known = {said for _, _, said in found}
    for turn in reversed([turn for turn in turns if turn.answered and worked(turn)][-_ANSWERS:]):
        said = _said(turn)
        if said and len(found) < _MOST and not any(_same(said, one) for one in known):
            found.append((turn.n, _MOST, said))
            known.add(said)
    return [said for _, _, said in sorted(found)]


def planned(turns: Sequence[TurnRow]) -> list[str]:
    """Return what the agent's own list of what to do still has, what it was at first."""
    for turn in reversed(turns[-_FRESH:]):
        last = turn.steps.rpartition("\n")[2]
        if last.startswith(MARK):
            return _unfinished(items_of(last))
    if any(len(turn.steps) > _FULL for turn in turns):
        return []  # some of what it wrote item by item is not kept
    lines = [line for turn in turns for line in turn.steps.splitlines() if line.startswith("[Task")]
    return (
        _unfinished(tasks_of(lines))
        if lines and any("[Task" in turn.steps for turn in turns[-_FRESH:])
        else []
    )


def worked(turn: TurnRow) -> bool:
    """Tell whether the agent called a tool in a turn."""
    return turn.steps.startswith("[") or "\n[" in turn.steps


def changed_anything(turns: Sequence[TurnRow]) -> bool:
    """Tell whether the agent changed files or ran commands in a session."""
    return any(
        call.kind in (EDIT, CREATE, SHELL) for turn in turns for call in calls(turn.steps.splitlines())
    )


def _said(turn: TurnRow) -> str:
    """Return what the agent says at last of its work in a turn."""
    answer = strip_fenced(turn.answered)
    said = _news(one_line(clean(telling(answer, _WIDTH)), _WIDTH))
    if said or not _changed_files(turn):
        return said
    return _news(one_line(clean(telling(answer, _WIDTH, of_work=True)), _WIDTH))


def _changed_files(turn: TurnRow) -> bool:
    return any(call.kind in (EDIT, CREATE) and not call.ended for call in calls(turn.steps.splitlines()))


def _news(text: str) -> str:
    """Return what a text says was done, without what it says is left undone: that sounds much the same."""
    if text.startswith(_DEEDS):
        return text
    said = " ".join(one for one in sentences(text.replace("**", "")) if not is_left(one))
    return said if len(said) > _SHORTEST else ""


def _unfinished(items: list[tuple[str, str]]) -> list[str]:
    return [words for wanted in (DOING, OPEN) for state, words in items if state == wanted and words]


def _same(one: str, other: str) -> bool:
    head = min(len(one), len(other), 60)
    return one[:head].casefold() == other[:head].casefold()
