"""Questions about what was taught are answered; general ones get nothing."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.recall.test_recall import asked, bank, memory
from told.search.vectors.arithmetic import similarity
from told.search.vectors.language import make_prompt_vector
from told.search.vectors.table import make_vector

_DATA: dict[str, Any] = tomllib.loads(
    (Path(__file__).parents[1] / "data" / "taught_names.toml").read_text(encoding="utf-8")
)
_MOST_NOISE = 4  # general questions of 60 that may get something


@pytest.mark.parametrize("name", _DATA["projects"])
def test_taught_names_are_explained_and_general_questions_get_nothing(name: str) -> None:
    project = _DATA["projects"][name]
    known = bank(*(memory(n, text, kind="fact") for n, text in enumerate(project["taught"], 100)))
    missed = [prompt for prompt, at in project["asked"] if f"m{100 + at}" not in asked(known, prompt)]
    assert missed == []
    noise = [prompt for prompt in _DATA["general"] if asked(known, prompt)]
    assert len(noise) <= _MOST_NOISE, noise


def test_prompt_vector_leaves_out_the_language() -> None:
    prompt = "le menu ne s'ouvre pas sur mobile"
    plain, own = make_vector(prompt, asking=True), make_prompt_vector(prompt)
    unrelated = make_vector("Les exports partent par SFTP vers la trésorerie chaque vendredi.")
    related = make_vector("The navigation menu on phones is a drawer.")
    assert plain
    assert own
    assert unrelated
    assert related
    assert similarity(own, unrelated) < 0.6 * similarity(plain, unrelated)
    assert similarity(own, related) > 0.9 * similarity(plain, related)
    english = "the menu does not open on phones"
    assert make_prompt_vector(english) == make_vector(english, asking=True)
