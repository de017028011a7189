"""What a statement shows by itself: its kind, when it applies, and what it is about."""

from __future__ import annotations

from told.memory._capture_features import describe as features_of
from told.memory._capture_kinds import kind_of
from told.memory._capture_model import odds
from told.memory._capture_names import entities, triggers
from told.memory._capture_sentences import sentences
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.memory.capture import Trigger


@record
class Described:
    """What a statement shows."""

    kind: str
    triggers: tuple[Trigger, ...]
    entities: tuple[str, ...]


def describe(text: str) -> Described:
    """Describe a statement; of several sentences, the one that says most decides the kind."""
    found = sentences(text)
    kind = "fact"
    if found:
        features = features_of(found, text)
        best = max(range(len(found)), key=lambda place: (odds(features[place]), -place))
        kind = kind_of(features[best], found[best].text)
    return Described(kind, triggers(text), entities(text))
