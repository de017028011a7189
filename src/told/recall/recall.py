"""Choose the few memories that a prompt needs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from told.errors import ToldError
from told.recall.filters import find_newer, find_overruled, find_reason_against, find_reason_hidden
from told.recall.prompt import Prompt, RecallRequest, read_prompt
from told.recall.score import (
    PLACE,
    Matches,
    Scored,
    is_phrased,
    measure_use,
    score_memories,
    sort_key,
)
from told.store.fts import unquote_phrase
from told.store.memories.protocol import Memories
from told.store.memories.records import Memory

# Lowest scores; a locked rule needs less. However clearly a prompt needs something, a memory must fit a bit.
FLOOR, LOCKED_FLOOR, LEAST = 0.13, 0.12, 0.11
FLOOR_PHRASED = 0.33  # of one with phrases of prompts that need it, however the prompt is worded
NEAR_BEST, NEAR_BEST_PHRASED = 0.45, 0.70  # lowest share of the best score
MOST = 8  # lines for a prompt
_LONG = 3  # sentences
MOST_OF_OTHERS = 2  # lines that the user neither said nor confirmed
_MAX_EXPLAINED = 12
TOO_LITTLE, ENOUGH, OVERRULED = "fits too little", "enough is said", "a rule for this folder stands before it"
IS_NEWER = " is newer"  # after the id of the memory that probably replaces another


class Recalled(NamedTuple):
    """A memory with its score, and why it is left out; empty if it is chosen."""

    scored: Scored
    against: str = ""

    @property
    def memory(self) -> Memory:
        """The memory."""
        return self.scored.memory

    @property
    def score(self) -> float:
        """How well it fits."""
        return self.scored.score

    @property
    def parts(self) -> dict[str, float]:
        """The score in each layer."""
        return self.scored.parts


class Recall(NamedTuple):
    """The chosen memories, best first, and the others that were considered."""

    prompt: Prompt
    chosen: tuple[Recalled, ...]
    left_out: tuple[Recalled, ...]
    broken: tuple[str, ...] = ()  # ids of memories that cannot be judged, each with its error


class Explanation(NamedTuple):
    """A memory that was considered, and the share of each layer."""

    recalled: Recalled
    layers: tuple[str, ...]
    verdict: str  # `in`, or why it is left out


def recall(memories: Memories, request: RecallRequest) -> Recall:
    """Choose the memories that a prompt needs; deterministic.

    A memory that cannot be judged is left out. If that does not help, the locked rules are chosen.
    """
    found = _attempt(memories, request, ())
    if isinstance(found, Recall):
        return found
    every = frozenset(memories.listed(scopes=request.scopes))
    is_of_memory = isinstance(_attempt(memories, request, every), Recall)
    broken = _find_broken(memories, request, every, every) if is_of_memory else {}
    rest = _attempt(memories, request, broken) if broken else found
    if not isinstance(rest, Recall):
        return _choose_locked(memories, request, rest)
    named = memories.load(broken)
    return rest._replace(broken=tuple(f"{named[row].id} ({broken[row]})" for row in sorted(named)))


def _attempt(memories: Memories, request: RecallRequest, left_out: Collection[int]) -> Recall | str:
    """Choose without some rows; return the name of the error if that fails."""
    memories.left_out = left_out
    try:
        return _choose(memories, request)
    except memories.QUERY_ERRORS as error:
        return type(error).__name__
    except ToldError:
        raise
    except memories.STORE_ERRORS:
        raise  # the store is damaged, busy or gone
    except Exception as error:  # noqa: BLE001 - one bad memory never costs the others
        return type(error).__name__
    finally:
        memories.left_out = ()


def _find_broken(
    memories: Memories, request: RecallRequest, rows: frozenset[int], every: frozenset[int]
) -> dict[int, str]:
    """Return those rows that make recall fail, with the error, by trying either half of them."""
    found = _attempt(memories, request, every - rows)
    if isinstance(found, Recall):
        return {}
    if len(rows) == 1:
        return dict.fromkeys(rows, found)
    first = frozenset(sorted(rows)[: len(rows) // 2])
    parts = [_find_broken(memories, request, half, every) for half in (first, rows - first)]
    return parts[0] | parts[1]


def _choose_locked(memories: Memories, request: RecallRequest, why: str) -> Recall:
    """Return the locked rules, which no failure may silence."""
    found = memories.load(memories.locked(request.scopes)[:MOST])
    valid = {
        row: one for row, one in found.items() if not find_reason_hidden(one, request.scopes, request.now)
    }
    chosen = tuple(Recalled(Scored(row, one, 1.0, {})) for row, one in valid.items())
    return Recall(Prompt(request.prompt), chosen, (), (f"all ({why})",))


def _choose(memories: Memories, request: RecallRequest) -> Recall:
    prompt = read_prompt(request.prompt, request.folder)
    if request.search:
        prompt = prompt._replace(quiet="", doubt=0.0)
    if prompt.quiet:
        return Recall(prompt, (), ())
    return _Selection(memories, prompt, request, score_memories(memories, prompt, request)).choose()


class _Selection(NamedTuple):
    """Selects from the scored memories of one prompt."""

    memories: Memories
    prompt: Prompt
    request: RecallRequest
    matches: Matches

    def choose(self) -> Recall:
        """Return the memories to show, and why the others are left out."""
        found = self.matches.found
        reasons = {one.row: find_reason_against(one.memory, self.prompt, self.request) for one in found}
        fitting = [one for one in found if not reasons[one.row]]
        overruled = find_overruled(self.memories, {one.row: one.memory for one in fitting}, self.prompt)
        for one in fitting:
            if one.memory.id in overruled:
                reasons[one.row] = OVERRULED
            elif one.score / (1.0 + max(0.0, one.learned)) < self._get_floor(one):
                reasons[one.row] = TOO_LITTLE
        fitting = [one for one in fitting if not reasons[one.row]]
        shown = [one.memory for one in fitting]
        newer = find_newer(self.memories, shown, self.request.scopes, self.request.now)
        reasons |= {
            one.row: f"{newer[one.memory.id].id}{IS_NEWER}" for one in fitting if one.memory.id in newer
        }
        fitting = self._put_newer(fitting, newer)
        reasons |= _limit(fitting, is_long=len(self.prompt.sentences) >= _LONG)
        every = {one.row: one for one in (*found, *fitting)}
        judged = [Recalled(one, reasons[one.row]) for one in sorted(every.values(), key=sort_key)]
        return Recall(
            self.prompt,
            tuple(one for one in judged if not one.against),
            tuple(one for one in judged if one.against),
        )

    def _get_floor(self, one: Scored) -> float:
        """Return the lowest score at which a memory is shown."""
        floor = LOCKED_FLOOR if one.memory.locked else FLOOR
        if PLACE in one.parts or one.row in self.matches.answering:
            return floor  # however the prompt is worded, this is about its folder or answers it
        if is_phrased(one.memory) and not self.request.search:
            return FLOOR_PHRASED
        return max(floor + self.prompt.doubt, LEAST)

    def _put_newer(self, fitting: Sequence[Scored], newer: dict[str, Memory]) -> list[Scored]:
        """Put newer memories in the place of those that they probably replace."""
        if not newer:
            return list(fitting)
        known = {one.memory.id: one for one in self.matches.found}
        rows = {
            one.id: row for row, one in self.memories.load_ids([one.id for one in newer.values()]).items()
        }
        kept: dict[str, Scored] = {}
        for one in fitting:
            new = newer.get(one.memory.id)
            if new and new.id in rows and not find_reason_against(new, self.prompt, self.request):
                own = known.get(new.id) or Scored(rows[new.id], new, one.score, one.parts)
                shown = own._replace(score=max(own.score, one.score))
            elif new:
                continue
            else:
                shown = one
            kept[shown.memory.id] = min(kept.get(shown.memory.id, shown), shown, key=sort_key)
        return sorted(kept.values(), key=sort_key)


def _limit(fitting: Sequence[Scored], *, is_long: bool) -> dict[int, str]:
    """Return why each memory is left out; empty if it is not.

    Locked rules come first, then what the user decided. In a long prompt, each part may need something.
    """
    best = fitting[0].score if fitting else 0.0
    ordered = sorted(
        fitting, key=lambda one: (not one.memory.locked, not one.memory.is_decided_by_user, *sort_key(one))
    )
    reasons = {}
    chosen = others = 0
    for one in ordered:
        near = NEAR_BEST_PHRASED if is_phrased(one.memory) and not is_long else NEAR_BEST
        is_of_others = not one.memory.is_decided_by_user
        reasons[one.row] = ""
        if chosen >= MOST or (is_of_others and others >= MOST_OF_OTHERS):
            reasons[one.row] = ENOUGH
        elif not one.memory.locked and one.score < best * near:
            reasons[one.row] = TOO_LITTLE
        else:
            chosen += 1
            others += is_of_others
    return reasons


def explain(found: Recall, limit: int = _MAX_EXPLAINED) -> list[Explanation]:
    """Explain the chosen memories and the best of the others."""
    shown = [*found.chosen, *(one for one in found.left_out if one.score > 0)]
    return [
        Explanation(one, _describe_layers(one.scored), one.against or "in")
        for one in shown[: len(found.chosen) + limit]
    ]


def describe_prompt(found: Recall) -> str:
    """Describe how the prompt was understood, in one line."""
    prompt = found.prompt
    if prompt.quiet:
        return f"Nothing to look up: {prompt.quiet}."
    named = ", ".join(map(unquote_phrase, prompt.names))
    parts = [f"about: {named}" if named else "no subject"]
    parts += [f"paths: {len(prompt.paths)}"] if prompt.paths else []
    parts += ["in a folder of the project"] if prompt.folder else []
    parts += [f"a memory must score {max(FLOOR + prompt.doubt, LEAST):.2f}"]
    return "; ".join(parts)


def _describe_layers(one: Scored) -> tuple[str, ...]:
    found = [f"{name} {value:.2f}" for name, value in one.parts.items()]
    use = _describe_use(one.memory)
    return (*found, use) if use else tuple(found)


def _describe_use(memory: Memory) -> str:
    """Describe how past use changed a score; empty if it did not."""

    def times(count: int) -> str:
        return "once" if count == 1 else f"{count} times" if count else "never"

    learned = measure_use(memory)
    if not learned:
        return ""
    again = f", said again {times(memory.repeated)}" if memory.repeated else ""
    return f"use {learned:+.0%} (shown {times(memory.shown)}, followed {times(memory.followed)}{again})"
