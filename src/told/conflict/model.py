"""Judge pairs with a cross-encoder of the user's: the setting `conflict.model`.

It runs in the background and only proposes: what ends a memory is decided without it.
"""

from __future__ import annotations

from math import exp

from told.conflict.change import find_ending
from told.conflict.features import extract_features
from told.conflict.judge import LABELS, REPEATS, Relation, choose_relation, estimate, read_cached
from told.conflict.subjects import find_difference
from told.errors import MissingError
from told.search.vectors.model_folder import LoadedModel, read_model_info

_SHARE = 0.5  # of the model; the rest is told's own estimate


class ConflictModel:
    """A model that names the relation of two statements; loaded on first use."""

    def __init__(self, path: str) -> None:
        """Read the folder.

        Raises:
            MissingError: It is not a folder with a model.
        """
        self._info = read_model_info(path)
        self._loaded: LoadedModel | None = None

    def estimate(self, old: str, new: str) -> dict[str, float]:
        """Return the probability of each relation.

        Raises:
            MissingError: The model cannot be used.
        """
        model = self._loaded = self._loaded or LoadedModel(self._info)
        scores = model.run(model.encode(old, new))[0].reshape(-1).tolist()
        if len(scores) != len(LABELS):
            raise MissingError(
                f"The model in {self._info.path} gives {len(scores)} numbers for a pair, not {len(LABELS)}."
                " Make one with `python -m training.conflict_encoder`."
            )
        parts = [exp(score - max(scores)) for score in scores]
        return {label: part / sum(parts) for label, part in zip(LABELS, parts, strict=True)}


def mix(model: ConflictModel, old: str, new: str, *, older: str = "") -> Relation:
    """Judge a pair by the model and by told's own estimate."""
    before, now = read_cached(old), read_cached(new)
    if before.folded == now.folded:
        return Relation(REPEATS, 1.0, "the same words")
    features = extract_features(before, now, read_cached(older) if older else None)
    own, other = estimate(features), model.estimate(old, new)
    chances = {label: (1 - _SHARE) * own[label] + _SHARE * other[label] for label in LABELS}
    return choose_relation(chances, features, find_ending(before, now), find_difference(before, now))
