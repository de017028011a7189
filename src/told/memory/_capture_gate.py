"""Decides, with string methods alone, that most messages teach nothing and need no closer look."""

# ruff: noqa: RUF001 - words and signs of many languages are the subject
from __future__ import annotations

from told.memory._capture_gate_weights import BEGINNINGS, PASS, PHRASES, WEIGHTS
from told.memory._capture_habits import may_state_habit
from told.memory._capture_plain import is_unspaced, plain
from told.snapshot import kept

_LONG = 1500  # characters; something may hide in a message of this length whatever its words are
_SHORTEST = 6  # characters
_LONGEST_PHRASE = 5  # words
_LENGTHS = (4, 6, 9, 12, 16, 20, 30, 40, 60, 80)  # words of a message
_OPENINGS = (
    " never ", " always ", " actually ", " no actually ", " wrong ", " i meant ", " prefer ",
    " from now on ", " niemals ", " immer ", " eigentlich ", " ich meinte ", " ab jetzt ",
    " ab sofort ", " jamais ", " désormais ", " dorénavant ", " en fait ", " je voulais dire ",
    " nunca ", " siempre ", " en realidad ", " quise decir ", " a partir de ", " sempre ",
    " na verdade ", " 以后", " 从现在", " 其实", " 今後", " 実は", " don't ", " do not ", " dont ",
    " stop adding ", " stop using ", " avoid ", " careful ", " beware ", " please don't ",
    " please do not ", " please never ", " please always ", " please keep ", " i'm a ", " i am a ",
    " achtung ", " vorsicht ", " bitte nie ", " bitte immer ", " ich bin ", " je suis ", " soy ",
    " cuidado ", " ojo ", " 必ず", " 不要", " 注意",
)  # fmt: skip
_ANYWHERE = (
    " lives in ", " live in ", " is deployed ", " are deployed ", " runs on ", " source of truth ",
    " liegt in ", " läuft auf ", " se trouve dans ", " está en ", " fica em ", "必ず", "必须",
)  # fmt: skip


def table(phrases: dict[str, str]) -> dict[str, str]:
    """Return the cues of each phrase."""
    cues: dict[str, str] = {}
    for names, text in phrases.items():
        cues.update(dict.fromkeys(text.split("|"), names))
    return cues


_CUES = kept("told.memory._capture_gate:cues", lambda: table(PHRASES))


def may_teach(message: str) -> bool:
    """Say whether a message could hold a statement worth keeping."""
    if len(message) > _LONG:
        return True
    bare = plain(message)
    if bare.startswith(_OPENINGS) or any(phrase in bare for phrase in _ANYWHERE) or may_state_habit(message):
        return True
    words = bare.split()
    if len(message) < _SHORTEST or not words:
        return False
    weights = [WEIGHTS.get(name, 0) for name in cues_in(bare, words, message)]
    if not any(weight > 0 for weight in weights):
        return False
    return sum(weights) + sum([WEIGHTS.get(name, 0) for name in lengths(message, len(words))]) >= PASS


def cues_in(bare: str, words: list[str], message: str) -> set[str]:
    """Return the cues in a message."""
    said = set(words)
    for count in range(2, _LONGEST_PHRASE + 1):
        said.update(map(" ".join, zip(*(words[first:] for first in range(count)), strict=False)))
    found = set(" ".join([_CUES[phrase] for phrase in said if phrase in _CUES]).split())
    found.update([name for beginning, name in BEGINNINGS if beginning in bare])
    if is_unspaced(message):
        from told.memory._capture_unspaced import CUES

        found.update(name for name, text in CUES.items() if any(phrase in bare for phrase in text.split("|")))
    return found


def lengths(message: str, words: int) -> set[str]:
    """Return how long a message is, and whether it ends in a question."""
    found = {f">{length}" for length in _LENGTHS if words > length}
    if message.rstrip().endswith(("?", "？")):
        found.add("asks?")
    return found
