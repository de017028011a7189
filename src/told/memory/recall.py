"""Which few memories a prompt needs: seven layers, fused, filtered, and cut where they become guesses."""

from __future__ import annotations

from told.memory import _recall_layers as layers
from told.memory._recall_filters import overruled, reason_against
from told.memory._recall_structure import Structure, structure
from told.memory._recall_topics import WORDS
from told.record import record
from told.search.analyse import analyse
from told.search.plan import plan
from told.store.memory_records import AGENT, TOOL, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.memory._recall_layers import Meaning
    from told.store.memories import Memories
    from told.store.memory_records import Memory

# How much each layer says. Without a measure of meaning its share stays unused, so that floors mean the same.
WEIGHTS = {
    "topics": 0.46, "words": 0.30, "meaning": 0.30, "entities": 0.08, "triggers": 0.16, "recent": 0.03,
    "shared": 0.02,
}  # fmt: skip
# A rule that is overlooked does more harm than a fact.
KINDS = {
    "rule": 1.0, "correction": 1.05, "warning": 1.05, "decision": 1.0, "preference": 0.95, "fact": 0.92,
    "observation": 0.7,
}  # fmt: skip
BY_AGENT = 0.6  # the same statement, if no user said it
FLOOR = 0.18  # below this, a memory is not worth the tokens
NEAR_BEST = 0.56  # nor is one that fits so much less than the best
LOCKED_FLOOR = 0.12
MOST = 4
_PER_TOPIC, _SCORED, _MOST_TOPICS, _BY_WORDS, _MOST_LOOKED_AT = 40, 80, 10, 60, 90
_CAP, _SUCCESSORS = 400, 20
_COLUMNS = (1.0, 0.3, 0.4)


@record
class Ask:
    """A prompt, and from where it is asked."""

    prompt: str
    scopes: tuple[str, ...]  # of the project, the user, and those that it subscribed to
    now: int
    folder: str = ""  # the current folder below the project's root


@record
class Recalled:
    """A memory with what each layer said of it."""

    row: int
    memory: Memory
    score: float
    parts: dict[str, float]
    why: tuple[str, ...]  # the topics in common
    against: str = ""  # why it is left out; empty if it is in


@record
class Recall:
    """The answer: what is in, the best first, and what was looked at and is out."""

    structure: Structure
    chosen: tuple[Recalled, ...]
    left_out: tuple[Recalled, ...]


@record
class _Near:
    """What could fit, by its rows."""

    rows: dict[int, None]
    matches: list[tuple[int, float]]  # row and BM25 score; a lower one is better
    frequencies: dict[str, int]  # of the prompt's terms
    rarity: dict[str, float]  # of its topics
    count: int  # of all memories


def recall(memories: Memories, ask: Ask, meaning: Meaning | None = None) -> Recall:
    """Choose the memories that a prompt needs. Same input, same output."""
    prompt = structure(ask.prompt, ask.folder)
    if prompt.quiet:
        return Recall(prompt, (), ())
    near = _candidates(memories, prompt, ask)
    loaded = memories.load(near.rows)
    shared = layers.by_topics(prompt, loaded, near.rarity)
    parts = {
        "topics": layers.scaled({row: figure for row, (figure, _) in shared.items()}, layers.TOPIC_CEILING),
        "words": layers.scaled(
            layers.by_words(near.matches, near.frequencies, loaded, near.count), layers.WORD_CEILING
        ),
        "meaning": layers.by_meaning(prompt, loaded, meaning),
        "entities": layers.by_entities(prompt, loaded),
        "triggers": layers.by_triggers(prompt, loaded),
        "recent": layers.by_recency(loaded, ask.now),
        "shared": layers.by_sharing(loaded),
    }
    found = [
        _fused(row, memory, parts, shared.get(row, (0.0, ()))[1]) for row, memory in sorted(loaded.items())
    ]
    found.sort(key=lambda one: (-one.score, -one.memory.created, one.memory.id))
    return _cut(memories, prompt, found, ask)


def _candidates(memories: Memories, prompt: Structure, ask: Ask) -> _Near:
    """Return rows worth a look, what the index says of their words, and how rare each topic is."""
    count = memories.memory_count()
    terms = analyse(ask.prompt, ask.now).terms
    frequencies = {term: memories.frequency(term, _CAP, scopes=ask.scopes) for term in terms}
    expression = plan(frequencies, count, _CAP)
    matched = (
        memories.match(expression, _COLUMNS, _BY_WORDS, scopes=ask.scopes, newest=_CAP) if expression else []
    )
    worth: dict[int, float] = {row: 2.0 - score for row, score in matched}
    rarity = {}
    plainest = sorted(prompt.topics, key=lambda name: (-prompt.topics[name], name))[:_MOST_TOPICS]
    for name in plainest:
        words = _expression(name)
        frequency = memories.frequency(words, _CAP, scopes=ask.scopes)
        rarity[name] = layers.rarity_of(frequency, count)
        if frequency:
            found = memories.match(words, _COLUMNS, _PER_TOPIC, scopes=ask.scopes, newest=_SCORED)
            told = rarity[name] * prompt.topics[name]
            worth |= {row: worth.get(row, 0.0) + told for row, _ in found}
    rows = dict.fromkeys(sorted(worth, key=lambda row: (-worth[row], -row))[:_MOST_LOOKED_AT])
    rows.update(dict.fromkeys(memories.locked(ask.scopes, _PER_TOPIC)))
    if prompt.folder or prompt.paths:
        places = list(dict.fromkeys(_prefixes(prompt)))
        rows.update(dict.fromkeys(memories.by_trigger("path", places, ask.scopes, _PER_TOPIC)))
    return _Near(rows, matched, frequencies, rarity, count)


def _prefixes(prompt: Structure) -> list[str]:
    found = []
    for path in (prompt.folder, *prompt.paths):
        parts = path.split("/")
        for end in range(1, len(parts) + 1):
            head = "/".join(parts[:end])
            found += [head, f"{head}/"]
    return found


def _expression(topic: str) -> str:
    """Return the words of a topic in the language of the index."""
    words = []
    for word in WORDS[topic]:
        bare = "".join(char if char.isalnum() else " " for char in word.rstrip("*")).strip()
        if bare:
            words.append(f'"{bare}"*' if word.endswith("*") else f'"{bare}"')
    return " OR ".join(words)


def _fused(row: int, memory: Memory, parts: dict[str, dict[int, float]], why: tuple[str, ...]) -> Recalled:
    own = {
        name: round(WEIGHTS[name] * figures[row], 4) for name, figures in parts.items() if figures.get(row)
    }
    score = sum(own.values()) * KINDS.get(memory.kind, 0.9)
    if memory.trust != USER:
        score *= BY_AGENT if memory.trust == AGENT else 0.9
    return Recalled(row, memory, round(score, 4), own, why)


def _cut(memories: Memories, prompt: Structure, found: Sequence[Recalled], ask: Ask) -> Recall:
    reasons = {one.row: reason_against(one.memory, prompt, ask.scopes, ask.now) for one in found}
    fitting = [one for one in found if not reasons[one.row]]
    giving_way = overruled([one.memory for one in fitting], prompt)
    best = max((one.score for one in fitting), default=0.0)
    for one in fitting:
        if one.memory.id in giving_way:
            reasons[one.row] = "a rule for this folder stands before it"
        elif one.score < (LOCKED_FLOOR if one.memory.locked else max(FLOOR, NEAR_BEST * best)):
            reasons[one.row] = "fits too little"
    fitting = [one for one in found if not reasons[one.row]]
    newer = _newer(memories, fitting[: 2 * MOST], found, ask) if fitting else {}
    said = 0
    for place, one in enumerate(fitting):
        if one.memory.id in newer:
            reasons[one.row] = f"{newer[one.memory.id]} is newer"
        elif (said >= MOST or place >= 2 * MOST) and not one.memory.locked:
            reasons[one.row] = "enough is said"
        else:
            said += 1
    judged = [Recalled(one.row, one.memory, one.score, one.parts, one.why, reasons[one.row]) for one in found]
    return Recall(
        prompt, tuple(one for one in judged if not one.against), tuple(one for one in judged if one.against)
    )


def _newer(
    memories: Memories, fitting: Sequence[Recalled], found: Sequence[Recalled], ask: Ask
) -> dict[str, str]:
    """Return which of the fitting memories look outdated, also by what is no candidate itself."""
    from told.memory._recall_outdated import heads, outdated  # most prompts do not come this far

    known = {one.row: one.memory for one in found}
    old = [one.memory for one in fitting]
    for memory in old:
        words = [f'"{word}"*' for word in heads(memory)[:1] if word.isalnum()]
        if words:
            rows = memories.match(
                " OR ".join(words), _COLUMNS, _SUCCESSORS, scopes=ask.scopes, newest=_SCORED
            )
            known |= memories.load([row for row, _ in rows if row not in known])
    return outdated(old, [memory for memory in known.values() if memory.trust != TOOL])
