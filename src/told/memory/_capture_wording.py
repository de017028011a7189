"""How a sentence is put, apart from the names, paths and quotations in it."""

from __future__ import annotations

from itertools import pairwise

from told.memory._capture_openings import TASK_VERBS
from told.snapshot import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_QUOTED = pattern(
    r"“[^”\n]{1,120}”|«[^»\n]{1,120}»|„[^“”\n]{1,120}[“”]|(?<!\w)\"[^\"\n]{1,120}\"|「[^」\n]{1,120}」"
)
_CODE = pattern(
    r"`[^`\n]{1,200}`|https?://\S{1,400}|(?<!\S)@[\w./-]{1,200}|(?<!\S)--?[a-zA-Z][\w-]{0,60}"
    r"|(?<![\w./~-])@?[\w.~-]{0,80}[/\\][\w./\\~-]{1,300}"
)
_ANYTHING = " ° "
_WANTING = frozenset(("want", "wants", "wanted", "need", "needs", "like", "love"))
_OFTEN = frozenset(("never", "always", "nunca", "jamais", "siempre", "toujours", "nie", "immer", "sempre"))
_BEFORE_ORDERS = frozenset(
    (
        "you", "we", "and", "please", "just", "but", "must", "should", "to", "so", "also", "or", "i'll",
        "will", "shall", "can", "vous", "tu", "du", "bitte",
    )
)  # fmt: skip
_MYSELF = pattern(
    r" (?:i|i'll|i'm|i'd|je|yo|ich|eu)\b.{0,80}"
    r" (?:myself|manually|on my own|moi même|mismo|misma|selbst|selber|mesmo)\b"
)
_WHAT_IT_IS = pattern(
    r" (?:this|it|it's|that|that's|project|repo|app|we're|we|c'|das|esto|este|isso)"
    r"(?: (?:is|are|will be|was|est|ist|es|é|have|work|working|in|on|just|only|still|basically|not|really))"
    r"{0,4}"
    r" (?:a|an|my|our|the|un|une|ein|eine|una|um|uma)(?: \S+){0,4}?"
    r" (?:prototype|poc|mvp|monorepo|repo|repository|library|lib|tool|app|application|game|site|website|cli"
    r"|plugin|package|service|demo|project|product|fork|provider|module|team|company|startup|prototyp|projekt"
    r"|projet|proyecto|projeto)\b"
)


def without_code(text: str) -> str:
    """Return the text with a sign in place of each path, address, option and piece of code."""
    return _CODE.sub(_ANYTHING, text)


def without_quotes(text: str) -> str:
    """Return the text with a sign in place of each quotation."""
    return _QUOTED.sub(_ANYTHING, text)


def shapes(bare: str, words: Sequence[str]) -> dict[str, bool]:
    """Return what the order of the words says that none of them says alone."""
    often = [place for place, word in enumerate(words) if word in _OFTEN]
    ordered = [place for place in often if not place or words[place - 1] in _BEFORE_ORDERS]
    return {
        "wants_work": _wants_work(words),
        "orders": bool(ordered),
        "put_off": len(ordered) < len(often),
        "self": bool(_MYSELF.search(bare)),
        "project_is": bool(_WHAT_IT_IS.search(bare)),
    }


def _wants_work(words: Sequence[str]) -> bool:
    """Say whether somebody wants something done: `I want to add`, `let's rename`."""
    return any(
        (word in _WANTING and after == "to" and not TASK_VERBS.isdisjoint(words[place + 2 : place + 3]))
        or (word in {"let's", "lets", "to"} and place < 2 and after in TASK_VERBS)
        for place, (word, after) in enumerate(pairwise(words))
    )
