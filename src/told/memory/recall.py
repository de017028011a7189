"""Which few memories a prompt needs: seven layers, fused, filtered, and cut where they become guesses."""

from __future__ import annotations

from told.memory import _recall_layers as layers
from told.memory._recall_candidates import candidates
from told.memory._recall_filters import overruled, reason_against
from told.memory._recall_learned import learned
from told.memory._recall_meaning import near_meaning
from told.memory._recall_newer import newer_than
from told.memory._recall_structure import Structure, structure
from told.record import record, replaced
from told.search.about import about_of
from told.store.memory_records import AGENT, TOOL, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from told.memory._recall_candidates import Near
    from told.memory._recall_newer import Heir
    from told.search.about import About
    from told.store.memories import Memories
    from told.store.memory_records import Memory

# How much each layer says. These and the floors are set by `python -m training.recall`; FLOOR, MEANING_FLOOR
# and NEAR_BEST are above what finds most in its projects, for fewer tokens in vain.
WEIGHTS = layers.WEIGHTS
# A rule that is overlooked does more harm than a fact.
KINDS = {
    "rule": 1.0, "correction": 1.05, "warning": 1.05, "decision": 1.0, "preference": 0.95, "fact": 0.92,
    "observation": 0.7,
}  # fmt: skip
_BY_OTHERS = {AGENT: 0.6, TOOL: 0.6}  # the same statement, if no user said it
_PROVEN = 0.2  # how much more or less a record counts
_IMPORTANT = 0.05
FLOOR = 0.30  # below this, a memory is not worth the tokens
NEAR_BEST = 0.70  # nor is one that fits so much less than the best
LOCKED_FLOOR = 0.20
WORDS_FLOOR = 0.20  # words in common are often a coincidence, if nothing else speaks for it
MEANING_FLOOR = 0.36  # so is nearness in meaning
FAINT = 3.0  # how much better a memory has to fit a prompt that is worded like one that needs nothing
_WEAK_ALONE = {"words", "recent", "shared"}
_MEANING_ALONE = {"meaning", "recent", "shared"}
AGENTS_FLOOR = 0.34  # what an agent said has to fit plainly
MOST = 4
_ALIKE = 2  # of memories that one topic alone speaks for
_TOPIC_ALONE = {"topics"}
_ROUNDS = 2  # how often what comes in the place of outdated memories is looked at itself
_MOST_GAIN = 1.35  # what kind, record, importance and use make of a score, at most


@record
class Ask:
    """A prompt, and from where it is asked."""

    prompt: str
    scopes: tuple[str, ...]  # of the project, the user, and those that it subscribed to
    now: int
    folder: str = ""  # the current folder below the project's root
    tools: bool = False  # whether what tools and pages said is asked for, too


@record
class Recalled:
    """A memory with what each layer said of it."""

    row: int
    memory: Memory
    score: float
    parts: dict[str, float]
    why: tuple[str, ...]  # the topics in common
    against: str = ""  # why it is left out; empty if it is in
    learned: float = 0.0  # by what share the score was moved by how it was used


@record
class Recall:
    """The answer: what is in, the best first, and what was looked at and is out."""

    structure: Structure
    chosen: tuple[Recalled, ...]
    left_out: tuple[Recalled, ...]


def recall(memories: Memories, ask: Ask) -> Recall:
    """Choose the memories that a prompt needs. Same input, same output."""
    prompt = structure(ask.prompt, ask.folder)
    if prompt.quiet:
        return Recall(prompt, (), ())
    near = candidates(memories, prompt, ask)
    meant = layers.by_meaning(near_meaning(memories, prompt.text, ask.scopes, [*near.rows, *near.locked]))
    loaded = memories.load(dict.fromkeys([*near.rows, *_near_enough(meant, near)]))
    about = {one.id: about_of(memories.about(one)) for one in loaded.values()}
    shared = layers.by_topics(prompt, {row: about[one.id].topics for row, one in loaded.items()}, near.rarity)
    parts = {
        "topics": layers.scaled({row: figure for row, (figure, _) in shared.items()}, layers.TOPIC_CEILING),
        "words": layers.scaled(layers.by_words(near.words, loaded), layers.WORD_CEILING),
        "meaning": meant,
        "entities": layers.by_entities(prompt, loaded),
        "triggers": layers.by_triggers(prompt, loaded),
        "recent": layers.by_recency(loaded, ask.now),
        "shared": layers.by_sharing(loaded),
    }
    found = [
        _fused(row, memory, parts, shared.get(row, (0.0, ()))[1]) for row, memory in sorted(loaded.items())
    ]
    found.sort(key=_place)
    return _cut(memories, prompt, found, about, ask)


def _near_enough(meant: dict[int, float], near: Near) -> list[int]:
    """Return the rows that only meaning speaks for and that may pass their floor, the nearest first."""
    needed = MEANING_FLOOR / (WEIGHTS["meaning"] * _MOST_GAIN)
    locked = dict.fromkeys(near.locked, LOCKED_FLOOR / (WEIGHTS["meaning"] * _MOST_GAIN))
    found = [
        (-figure, -row)
        for row, figure in meant.items()
        if row not in near.rows and figure >= locked.get(row, needed)
    ]
    return [-row for _, row in sorted(found)[: 2 * MOST]]


def _fused(row: int, memory: Memory, parts: dict[str, dict[int, float]], why: tuple[str, ...]) -> Recalled:
    own = {
        name: round(WEIGHTS[name] * figures[row], 4) for name, figures in parts.items() if figures.get(row)
    }
    score = sum(own.values()) * KINDS.get(memory.kind, 0.9)
    if memory.trust != USER:
        score *= _BY_OTHERS.get(memory.trust, 0.9)
    score *= 1.0 + _PROVEN * (memory.confidence - 0.5)
    if memory.importance:
        score *= 1.0 + _IMPORTANT * (memory.importance - 5.0) / 5.0
    moved = learned(memory)
    return Recalled(row, memory, round(score * (1.0 + moved), 4), own, why, "", moved)


def _cut(
    memories: Memories, prompt: Structure, found: Sequence[Recalled], about: Mapping[str, About], ask: Ask
) -> Recall:
    reasons = {
        one.row: reason_against(one.memory, prompt, ask.scopes, ask.now, tools=ask.tools) for one in found
    }
    fitting = [one for one in found if not reasons[one.row]]
    giving_way = overruled([one.memory for one in fitting], about, prompt)
    for one in fitting:
        if one.memory.id in giving_way:
            reasons[one.row] = "a rule for this folder stands before it"
        elif one.score / (1.0 + max(0.0, one.learned)) < _floor(one, prompt):
            reasons[one.row] = "fits too little"
    fitting = [one for one in fitting if not reasons[one.row]]

    def look(some: Sequence[Recalled]) -> dict[int, Heir]:
        return newer_than(memories, {one.row: one.memory for one in some}, found, about, ask)

    def shows(memory: Memory) -> bool:
        return not reason_against(memory, prompt, ask.scopes, ask.now, tools=ask.tools)

    fitting, chosen, newer = _up_to_date(fitting, found, look, shows)
    judged = {one.row: one for one in (*found, *fitting)}
    reasons |= dict.fromkeys([one.row for one in fitting], "") | newer
    reasons |= {one.row: said for one in fitting if (said := chosen[one.row])}
    every = [
        Recalled(one.row, one.memory, one.score, one.parts, one.why, reasons[one.row], one.learned)
        for one in sorted(judged.values(), key=_place)
    ]
    return Recall(
        prompt, tuple(one for one in every if not one.against), tuple(one for one in every if one.against)
    )


def _up_to_date(
    fitting: list[Recalled], found: Sequence[Recalled],
    look: Callable[[Sequence[Recalled]], dict[int, Heir]], shows: Callable[[Memory], bool],
) -> tuple[list[Recalled], dict[int, str], dict[int, str]]:  # fmt: skip
    """Return what fits and holds, why each of it is left out or not, and why what is outdated is.

    Only what is about to be said is held against what is newer; then others may come in its place.
    """
    looked: set[int] = set()
    outdated: dict[int, str] = {}
    for left in range(_ROUNDS, -1, -1):
        reasons = _enough(fitting)
        some = [one for one in fitting if not reasons[one.row] and one.row not in looked]
        looked.update([one.row for one in some])
        newer = look(some) if some and left else {}
        if not newer:
            break
        outdated |= {row: f"{heir.memory.id} is newer" for row, heir in newer.items()}
        kept = {one.row: one for one in fitting if one.row not in newer}
        for one in some:
            heir = newer.get(one.row)
            if heir is not None and heir.sure and heir.row not in outdated and shows(heir.memory):
                own = _in_place_of(one, heir, found)
                kept[heir.row] = min(kept.get(heir.row, own), own, key=_place)
        fitting = sorted(kept.values(), key=_place)
    return fitting, reasons, outdated


def _in_place_of(old: Recalled, heir: Heir, found: Sequence[Recalled]) -> Recalled:
    """Return what took the place of a memory, fitting no less than that did."""
    own = next((one for one in found if one.row == heir.row), None)
    if own is None:
        return Recalled(heir.row, heir.memory, old.score, old.parts, old.why)
    return replaced(own, score=max(own.score, old.score))


def _enough(fitting: Sequence[Recalled]) -> dict[int, str]:
    """Return of each memory that fits why it is left out, if it is: others fit better, or say enough."""
    reasons: dict[int, str] = {}
    best = fitting[0].score if fitting else 0.0
    said = 0
    # How many have nothing but this one topic in common with the prompt.
    alike: dict[tuple[str, ...], int] = {}
    for place, one in enumerate(fitting):
        reasons[one.row] = ""
        if one.memory.locked:
            said += 1
        elif one.score < NEAR_BEST * best:
            reasons[one.row] = "fits too little"
        elif said >= MOST or place >= 2 * MOST or alike.get(one.why, 0) >= _ALIKE:
            reasons[one.row] = "enough is said"
        else:
            said += 1
            if set(one.parts) == _TOPIC_ALONE and len(one.why) == 1:
                alike[one.why] = alike.get(one.why, 0) + 1
    return reasons


def _place(one: Recalled) -> tuple[float, int, str]:
    return -one.score, -one.memory.created, one.memory.id


def _floor(one: Recalled, prompt: Structure) -> float:
    if one.memory.locked:
        return LOCKED_FLOOR
    if one.memory.trust == AGENT:
        floor = AGENTS_FLOOR
    elif not one.parts.keys() - _MEANING_ALONE:
        floor = MEANING_FLOOR
    else:
        floor = FLOOR if one.parts.keys() - _WEAK_ALONE else WORDS_FLOOR
    return floor * FAINT if prompt.faint else floor
