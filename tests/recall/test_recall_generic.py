"""Requests that any project gets bring no memory; requests with a subject do."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.recall.test_recall import NOW, SHOP, asked, bank, memory
from told.recall.prompt import RecallRequest
from told.recall.recall import recall

pytestmark = pytest.mark.usefixtures("each_store")

_DATA: dict[str, Any] = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "generic_prompts.toml").read_text(encoding="utf-8")
)
_MOST_NOISE = 11  # prompts; those that run tests get what is known about tests


def test_generic_prompts_bring_nothing_and_others_their_memory() -> None:
    known = bank(*(memory(n, text, kind=kind) for n, (kind, text) in enumerate(_DATA["memories"], 100)))
    ids = {text: f"m{n}" for n, (_, text) in enumerate(_DATA["memories"], 100)}
    noise = [prompt for prompt in _DATA["generic"] if asked(known, prompt)]
    assert len(noise) <= _MOST_NOISE, noise
    assert "List the files of this folder." not in noise
    assert [prompt for prompt, text in _DATA["needed"].items() if ids[text] not in asked(known, prompt)] == []


def test_a_generic_prompt_still_gets_the_rules_of_its_folder() -> None:
    known = bank(
        memory(1, "In legacy/ use tabs and no type hints."), memory(2, "Never force-push.", locked=True)
    )
    assert asked(known, "list the files of this folder") == []
    assert asked(known, "fix the failing line", "legacy") == ["m1"]
    found = recall(known, RecallRequest("show me the file", (SHOP,), NOW))
    assert found.chosen == ()
