"""Writes what was learned as modules that load fast."""

from __future__ import annotations

import collections
import math

from told.memory._capture_model import WORDING
from told.memory._capture_plain import spellings
from told.memory._capture_words import CUES
from training.examples import KINDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FIRST = 0.2  # chosen near the highest F1 on repositories that were left out, on the side of precision
FURTHER = 0.5
THRESHOLD = 0.3
_STEP = 4  # hundredths between the weights of wordings
_FAINT = 0.04
_FAINT_CUE = 0.08  # what the gate does not need
_HEADER = '''"""{}. Written by `python -m training.capture`; do not edit."""

# ruff: noqa: E501 - words of many languages, as many on a line as have the same weight
from __future__ import annotations
'''


def weights_module(weights: Mapping[str, float], kinds: Mapping[str, list[float]]) -> str:
    """Return the source of the module with the weights of sentences."""
    cues = {name: one for name, one in weights.items() if name and not name.startswith(WORDING)}
    wordings = {name: one for name, one in weights.items() if name.startswith(WORDING) and abs(one) >= _FAINT}
    lines = [
        _HEADER.format("The weights of what a sentence shows"),
        f"KINDS = {tuple(KINDS.values())!r}".replace("'", '"'),
        f"FIRST = {FIRST}  # the least chance of a statement",
        f"FURTHER = {FURTHER}  # the least chance of another one in the same message",
        f"THRESHOLD = {THRESHOLD}  # the least odds of a sentence that stands alone",
        f"BIAS = {weights['']:.3f}",
        "WEIGHTS = {",
        *(f'    "{name}": {one:.3f},' for name, one in sorted(cues.items()) if abs(one) >= 0.005),
        "}",
        "KIND_WEIGHTS = {",
        *(
            f'    "{name}": ({", ".join(f"{one:.2f}" for one in many)}),'
            for name, many in sorted(kinds.items())
        ),
        "}",
        *_by_weight("WORDINGS", wordings),
    ]
    return "\n".join(lines) + "\n"


def gate_module(gate: Mapping[str, float], passes: float) -> str:
    """Return the source of the module with the weights of the gate, and the phrases of its cues."""
    cues: dict[str, list[str]] = collections.defaultdict(list)
    beginnings = []
    for name, text in CUES.items():
        if abs(gate.get(name, 0.0)) < _FAINT_CUE:
            continue
        for phrase in sorted(set(spellings(text))):
            if phrase.endswith("*"):
                beginnings.append(f'    (" {phrase[:-1]}", "{name}"),')
            else:
                cues[phrase].append(name)
    groups: dict[str, list[str]] = collections.defaultdict(list)
    for phrase, names in sorted(cues.items()):
        groups[" ".join(sorted(names))].append(phrase)
    lines = [
        _HEADER.format("What a glance at a message shows, and its weights in hundredths"),
        f"PASS = {math.floor(passes * 100)}",
        "WEIGHTS = {",
        *(f'    "{name}": {round(one * 100)},' for name, one in sorted(gate.items()) if abs(one) >= 0.01),
        "}",
        "PHRASES = {",
        *(f'    "{names}": "{"|".join(phrases)}",' for names, phrases in sorted(groups.items())),
        "}",
        "BEGINNINGS = (",
        *beginnings,
        ")",
    ]
    return "\n".join(lines) + "\n"


def _by_weight(name: str, weights: Mapping[str, float]) -> list[str]:
    groups: dict[int, list[str]] = collections.defaultdict(list)
    for wording, weight in sorted(weights.items()):
        if '"' not in wording and "\\" not in wording and not any(map(str.isspace, wording)):
            groups[round(weight * 100 / _STEP) * _STEP].append(wording)
    return [
        f"{name} = {{  # hundredths",
        *(f'    {hundredths}: "{" ".join(names)}",' for hundredths, names in sorted(groups.items())),
        "}",
    ]
