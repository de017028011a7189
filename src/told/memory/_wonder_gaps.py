"""What is missing around a topic: names nobody noted, questions nobody answered, weak memories."""

# ruff: noqa: RUF001 - signs of many languages are the subject
from __future__ import annotations

from told.memory._capture_names import entities
from told.record import record
from told.search.analyse import analyse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from told.memory._graph_turns import Spoken, Turn
    from told.memory._graph_walk import Node
    from told.store.memories import Memories
    from told.store.memory_records import Memory
    from told.store.reading import Reading

_MOST_TEXT = 3000
_NEAR = 160  # characters between a name and the topic
_NAMES_LOOKED_UP = 16
_LEAST_TURNS = 2
_SAME_QUESTION = 0.6  # share of its words
_LONGEST_QUESTION = 200
_DAY = 86_400_000
_OLD = 180 * _DAY
_UNSURE = 0.5  # confidence
_ENDS = "?？"
_STOPS = ".!?。！？\n"
# With one of these an answer says that it is none.
_DEFERS = (
    "not sure", "don't know", "do not know", "unclear", "can't tell", "cannot tell", "couldn't find",
    "could not find", "couldn't determine", "no idea", "need to check", "have to check", "to be decided",
    "open question", "remains open", "still open", "up to you", "which do you prefer", "weiß nicht",
    "weiss nicht", "unklar", "nicht sicher", "noch offen", "je ne sais pas", "pas sûr", "no sé",
    "no estoy seguro", "não sei", "不确定", "不清楚", "わかりません",
)  # fmt: skip
_SHORT = 200  # characters: a short answer that ends with a question only asks back


@record
class Name:
    """Something that sessions speak of and no memory names."""

    name: str
    turns: tuple[str, ...]


@record
class Open:
    """A question of the user's that nothing later answers."""

    text: str
    place: str
    at: int


@record
class Weak:
    """A memory that stands on little."""

    memory: Memory
    why: str


def unknown_names(memories: Memories, spoken: Spoken, scopes: Sequence[str], now: int) -> list[Name]:
    """Return names that turns about the topic have and no memory, the most telling first."""
    worth: dict[str, float] = {}
    places: dict[str, dict[str, None]] = {}
    as_said: dict[str, str] = {}
    for turn in spoken.turns:
        seen: dict[str, float] = {}
        for text, weight in ((turn.asked, 1.5 if turn.by_user else 1.0), (turn.answered, 1.0)):
            for name in entities(text[:_MOST_TEXT]):
                key = name.lower()
                as_said.setdefault(key, name)
                near = 2.0 if _stands_near(text, name, spoken.words) else 1.0
                seen[key] = max(seen.get(key, 0.0), weight * near)
        for key, weight in seen.items():
            worth[key] = worth.get(key, 0.0) + weight
            places.setdefault(key, {})[turn.place] = None
    own = set(spoken.words)
    ordered = sorted(worth, key=lambda key: (-worth[key], key))
    telling = [key for key in ordered if len(places[key]) >= _LEAST_TURNS or worth[key] >= _LEAST_TURNS]
    return [
        Name(as_said[key], tuple(places[key]))
        for key in telling[:_NAMES_LOOKED_UP]
        if key not in own and not _is_known(memories, key, scopes, now)
    ]


def _stands_near(text: str, name: str, words: Sequence[str]) -> bool:
    at = text.find(name)
    near = text[max(0, at - _NEAR) : at + len(name) + _NEAR].lower()
    return at >= 0 and any(word in near for word in words)


def _is_known(memories: Memories, name: str, scopes: Sequence[str], now: int) -> bool:
    if memories.by_entity([name], scopes, 1):
        return True
    terms = analyse(name, now).terms
    return bool(terms) and memories.frequency(terms[0], 1, scopes=scopes) > 0


def open_questions(reading: Reading, spoken: Spoken, known: Sequence[Node]) -> list[Open]:
    """Return what the user asked about the topic and nothing later answers, the newest first."""
    found = {}
    for turn in spoken.turns:
        question = _question(turn.asked, spoken.words) if turn.by_user else ""
        if question and _is_open(turn) and not _answered_later(reading, turn, question, spoken, known):
            found[question.lower()] = Open(question, turn.place, turn.at)
    return sorted(found.values(), key=lambda one: (-one.at, one.place))


def _question(asked: str, words: Sequence[str]) -> str:
    """Return the first question of a text that has a word of the topic."""
    for end, sign in enumerate(asked[:_MOST_TEXT]):
        if sign in _ENDS:
            start = max(asked.rfind(stop, 0, end) for stop in _STOPS) + 1
            question = " ".join(asked[start : end + 1].split())
            if 1 < len(question) <= _LONGEST_QUESTION and any(word in question.lower() for word in words):
                return question
    return ""


def _is_open(turn: Turn) -> bool:
    return not turn.answered.strip() or _defers(turn.answered)


def _defers(answer: str) -> bool:
    text = answer[-_MOST_TEXT:].lower().replace("’", "'")
    asks_back = len(text) < _SHORT and text.rstrip().endswith(tuple(_ENDS))
    return asks_back or any(cue in text for cue in _DEFERS)


def _answered_later(
    reading: Reading, turn: Turn, question: str, spoken: Spoken, known: Sequence[Node]
) -> bool:
    words = analyse(question, turn.at).words
    following = reading.turn(turn.row, turn.n + 1)
    texts = [one.answered for one in spoken.turns if one.at > turn.at]
    if following is not None:
        texts.append(following.answered)
    if any(text and not _defers(text) and _covers(text, words) for text in texts):
        return True
    return any(one.memory.created > turn.at and _covers(one.memory.text, words) for one in known)


def _covers(text: str, words: Sequence[str]) -> bool:
    lower = text.lower()
    return sum(word[: max(3, len(word) - 2)] in lower for word in words) >= _SAME_QUESTION * len(words)


def weak_memories(known: Sequence[Node], now: int) -> list[Weak]:
    """Return memories that hold on weak or old evidence, the most doubtful first."""
    found = []
    for one in known:
        memory = one.memory
        last = max([memory.created, *(place.at for place in memory.evidence)])
        if memory.locked:
            continue
        if memory.confidence < _UNSURE:
            found.append((0, Weak(memory, f"confidence {memory.confidence:.2f}")))
        elif memory.trust != "user":
            who = {"agent": "an agent's", "tool": "a tool's"}.get(memory.trust, "a colleague's")
            found.append((1, Weak(memory, f"only {who} word")))
        elif now - last > _OLD and not memory.followed:
            found.append((2, Weak(memory, f"last said {(now - last) // _DAY} days ago")))
    found.sort(key=lambda pair: pair[0])
    return [one for _, one in found]
