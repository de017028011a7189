"""Recall leaves out memories that an edge says a newer one replaced."""

from __future__ import annotations

import pytest

from told.recall.prompt import RecallRequest
from told.recall.recall import recall
from told.store.memories.records import AGENT, CANDIDATE, GLOBAL, WAS, Edge

from .test_recall import DAY, NOW, SHOP, asked, bank, memory

pytestmark = pytest.mark.usefixtures("each_store")


def told_of(prompt: str, *texts: str, kind: str = "decision", folder: str = "") -> list[str]:
    """Return the recalled statements, the oldest of which is m1."""
    known = [memory(number, text, kind=kind) for number, text in enumerate(texts, 1)]
    return [one for one in asked(bank(*known), prompt, folder) if int(one[1:]) <= len(texts)]


OLD, NEW = "The checkout is tested with RSpec.", "Minitest everywhere, RSpec was thrown out in March."
PROMPT = "test the checkout"


def test_probable_replacement_is_shown_instead() -> None:
    known = bank(memory(1, OLD), memory(2, NEW, edges=(Edge(WAS, "m1"),)))
    assert asked(known, PROMPT)[0] == "m2"
    assert "m1" not in asked(known, PROMPT)
    found = {
        one.memory.id: one.against for one in recall(known, RecallRequest(PROMPT, (SHOP,), NOW)).left_out
    }
    assert found["m1"] == "m2 is newer"


def test_chain_of_replacements_ends_with_the_last() -> None:
    third = memory(3, "The checkout is tested by hand until autumn.", edges=(Edge(WAS, "m2", NOW),))
    second = memory(2, NEW, edges=(Edge(WAS, "m1", NOW - DAY),))
    found = asked(bank(memory(1, OLD), second, third), PROMPT)
    assert "m3" in found
    assert not {"m1", "m2"}.intersection(found)
    again = memory(1, OLD, edges=(Edge(WAS, "m2", NOW),))  # A, B, A
    found = asked(bank(again, second), PROMPT)
    assert "m1" in found
    assert "m2" not in found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"locked": True}, {}), ({}, {"trust": AGENT}), ({}, {"scope": "project:other"}),
        ({}, {"expires": 1}), ({}, {"status": CANDIDATE}), ({}, {"scope": GLOBAL}),
    ],
)  # fmt: skip
def test_edge_of_a_memory_that_may_not_replace_hides_nothing(
    old: dict[str, object], new: dict[str, object]
) -> None:
    known = memory(1, OLD, **old), memory(2, NEW, **{"edges": (Edge(WAS, "m1"),), **new})
    assert "m1" in asked(bank(*known), PROMPT)


def test_nothing_is_judged_when_a_brief_is_made() -> None:
    assert "m1" in told_of(PROMPT, OLD, NEW)


@pytest.mark.parametrize(
    "text",
    [
        "All modules but legacy-adt are Java 21.", "Alle Module außer legacy-adt sind Java 21.",
        "Tous les modules sauf legacy-adt sont en Java 21.", "Everything except legacy-adt is Java 21.",
    ],
)  # fmt: skip
def test_statement_is_not_recalled_in_a_folder_it_excludes(text: str) -> None:
    assert told_of("which java version", text, kind="fact", folder="booking") == ["m1"]
    assert told_of("which java version", text, kind="fact", folder="legacy-adt") == []
    assert told_of("which java version", text, kind="fact", folder="legacy-adt/src") == []
