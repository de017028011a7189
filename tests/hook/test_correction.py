"""A prompt that changes what told knows does what `told remember` would do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.hook.desk import Desk


@pytest.fixture(autouse=True)
def _work_in_the_project(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk.project)


@pytest.mark.parametrize(
    ("known", "prompt"),
    [
        ("Use Redis for the job queue", "I changed my mind about redis … use postgres"),
        ("We deploy to Dublin and Frankfurt", "we no longer deploy to Dublin, only to Frankfurt"),
        ("Use Redis for the job queue", "now use postgres for the job queue"),
    ],
)
def test_a_prompt_ends_what_it_changes(desk: Desk, known: str, prompt: str) -> None:
    assert desk.told("remember", known).code == 0
    assert "told saved" in desk.prompt(prompt)
    assert desk.texts() == [prompt]


def test_a_value_without_its_subject_is_asked_about(desk: Desk) -> None:
    assert desk.told("remember", "The API runs on port 8080").code == 0
    assert "told saved" in desk.prompt("actually, port 9090 now")
    assert set(desk.texts()) == {"The API runs on port 8080", "actually, port 9090 now"}
    assert "would replace" in desk.told("review").out


@pytest.mark.parametrize(
    "prompt", ["actually, run the API on port 9090 now", "now run the tests", "is it port 9090 now?"]
)
def test_a_task_or_a_question_changes_nothing(desk: Desk, prompt: str) -> None:
    assert desk.told("remember", "The API runs on port 8080").code == 0
    desk.prompt(prompt)
    assert desk.texts() == ["The API runs on port 8080"]
