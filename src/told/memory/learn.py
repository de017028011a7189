"""Learns whether a memory that was shown was followed, from the tool calls that came after it."""

from __future__ import annotations

import re

from told.memory import _learn_commands, _learn_git, _learn_places
from told.memory._learn_deeds import Deed, deeds
from told.store.memory_records import OBSERVATION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from told.store.memory_records import Memory

_LONGEST = 600
_SENTENCE_END = re.compile(r"(?<=[.!?;])(?<!e\.g\.)(?<!i\.e\.)\s+(?=\S)|\n+")
_REASON = re.compile(
    r"\s*[,(]?\s*\b(?:because|since|so that|as it|weil|damit|parce que|car|porque|ya que|pois|já que)\b.*",
    re.IGNORECASE,
)
_PATH = re.compile(
    r"(?<![\w/.:@-])(?:[\w.*@+~-]+/)+[\w.*+-]*|(?<![\w/.:@-])[\w*-]*\.(?:lock|env|md|py|pyi|ts|tsx|js|jsx|json|toml"
    r"|ya?ml|sql|go|rs|rb|java|kt|css|html|proto|cfg|ini)\b"
)
_ADDRESS = re.compile(r"\S*://\S*")


def followed(memory: Memory, steps: Sequence[str]) -> bool | None:
    """Return whether a session followed a memory that it was shown.

    Args:
        memory: The memory, as it was when it was shown.
        steps: The lines about the session's tool calls after that, as turns keep them.

    Returns:
        True if the occasion came up and the calls plainly comply, False if they plainly do not, else None.
    """
    if memory.kind == OBSERVATION or not steps:
        return None
    done = deeds(steps)
    if not done:
        return None
    found = {_judged(sentence, done) for sentence in _sentences(memory.text)}
    return False if False in found else True if True in found else None


def _sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(text[:_LONGEST].replace("\u2019", "'")):
        if said := _REASON.sub("", sentence).strip():
            yield said


def _judged(sentence: str, done: Sequence[Deed]) -> bool | None:
    places = [found.rstrip(".,") for found in _PATH.findall(_ADDRESS.sub(" ", sentence))]
    places = [place for place in places if "origin/" not in place]
    verdict = _learn_git.judged(sentence, done)
    if verdict is None:
        verdict = _learn_commands.judged(sentence, done, places)
    return _learn_places.judged(sentence, done, places) if verdict is None else verdict
