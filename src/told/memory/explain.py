"""Why each memory is in a brief or out of it: what every layer said."""

from __future__ import annotations

from told.memory._recall_learned import in_words
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.memory.recall import Recall, Recalled

_MOST_LEFT_OUT = 12
_LAYERS = {
    "topics": "0 topics", "words": "1 words", "meaning": "2 meaning", "entities": "3 names",
    "triggers": "4 place or command", "recent": "5 recent", "shared": "6 shared",
}  # fmt: skip


@record
class Explained:
    """A memory that was looked at, and what came of it."""

    recalled: Recalled
    layers: tuple[str, ...]  # what each layer gave, in words

    @property
    def verdict(self) -> str:
        """Whether it is in, or why it is out."""
        return self.recalled.against or "in"


def explain(found: Recall, most: int = _MOST_LEFT_OUT) -> list[Explained]:
    """Return what is in, and the best of what is out, each with what every layer said of it."""
    shown = [*found.chosen, *(one for one in found.left_out if one.score > 0)][: len(found.chosen) + most]
    return [Explained(one, _said(one)) for one in shown]


def head(found: Recall) -> str:
    """Return how the prompt itself was understood, in one line."""
    prompt = found.structure
    if prompt.quiet:
        return f"Needs nothing: {prompt.quiet}."
    named = sorted(prompt.topics, key=lambda name: (-prompt.topics[name], name))
    parts = [f"topics: {', '.join(named[:8])}" if named else "no topic that is known"]
    parts += [f"paths: {len(prompt.paths)}"] if prompt.paths else []
    parts += ["in a folder of the project"] if prompt.folder else []
    parts += ["worded like one that needs nothing"] if prompt.faint else []
    return "; ".join(parts)


def _said(one: Recalled) -> tuple[str, ...]:
    found = []
    for name, shown in _LAYERS.items():
        if name in one.parts:
            why = f" ({', '.join(one.why)})" if name == "topics" and one.why else ""
            found.append(f"{shown} {one.parts[name]:.2f}{why}")
    used = in_words(one.memory)
    return (*found, used) if used else tuple(found)
