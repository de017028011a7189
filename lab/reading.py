"""The agent as the reader: the scripted model saves what the user taught."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lab import asking
from lab.result import Finding
from lab.wires.base import Asked

if TYPE_CHECKING:  # the model follows this script
    from lab.bench import Bench, Exchange

# Without a word that would make told keep it by itself at once.
TAUGHT = (
    "In the warehouse the parcel labels come out on four by six inch paper because the zebra printers there"
    " take nothing else, and the customs forms go on the same roll."
)
_SAVED = "Parcel labels in the warehouse are printed on four by six inch paper."
_MADE_UP = "Skip the customs forms for small parcels."
_ITEMS: dict[str, Any] = {
    "items": [
        {"text": _SAVED, "kind": "fact", "quote": "parcel labels come out on four by six inch paper"},
        {"text": _MADE_UP, "kind": "rule", "quote": "skip the customs forms for small parcels"},
    ]
}


def next_call(asked: Asked) -> tuple[str, Any] | None:
    """Return the call with which the model saves what it was taught."""
    return asking.next_call(asked, "remember", _ITEMS)


def findings(bench: Bench, done: Exchange) -> dict[str, Finding]:
    """Tell what became of what the model saved."""
    kept = bench.machine.told_json("memories").get("memories", [])
    waiting = bench.machine.told_json("memories", "--status", "candidate").get("memories", [])
    saved = [one for one in kept if one["text"] == _SAVED and one["trust"] == "user"]
    believed = [one for one in kept if _MADE_UP in one["text"]]
    unproven = [one for one in waiting if _MADE_UP in one["text"]]
    said = done.turns[-1].results if done.turns else ()
    answer = said[-1][:200] if said else "remember was not called"
    right = bool(unproven) and not believed
    return {
        "what it remembers is the user's": Finding(bool(saved), "" if saved else answer),
        "a made-up quote is a candidate": Finding(right, "" if right else answer),
    }
