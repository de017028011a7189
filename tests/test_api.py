"""The Python interface: one class, the same behaviour as the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from told.api import Told
from told.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "TOLD_BACKGROUND": "off"}


@pytest.fixture
def told(tmp_path: Path, environ: dict[str, str]) -> Iterator[Told]:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    with Told(str(tmp_path / "told"), folder=str(folder), environ=environ) as opened:
        yield opened


def test_remember_saves_a_statement_with_the_users_trust(told: Told) -> None:
    made = told.remember("Always run the tests with pytest -x", kind="rule").memory
    assert (made.text, made.kind, made.trust, made.status) == (
        "Always run the tests with pytest -x", "rule", "user", "active",
    )  # fmt: skip
    assert [one.id for one in told.memories()] == [made.id]


def test_remember_merges_duplicates(told: Told) -> None:
    first = told.remember("The staging database is called blue")
    again = told.remember("The staging database is called blue")
    assert (again.again, again.memory.id) == (True, first.memory.id)


def test_correct_supersedes_the_old_memory(told: Told) -> None:
    old = told.remember("The API listens on port 8000").memory
    new = told.correct(old.id, "The API listens on port 9000")
    assert [one.text for one in told.memories()] == ["The API listens on port 9000"]
    assert told.memories(status="superseded")[0].superseded_by == new.id


def test_locked_memories_can_be_unlocked(told: Told) -> None:
    made = told.remember("Never push to main", lock=True).memory
    assert made.locked
    assert not told.unlock(made.id).locked
    assert told.lock(made.id).locked


def test_search_finds_memories(told: Told) -> None:
    made = told.remember("Deployments go through the blue pipeline").memory
    answer = told.search("which pipeline do deployments use")
    assert [one.id for one in answer.memories] == [made.id]
    assert answer.sessions == ()


def test_brief_contains_rules_of_the_project(told: Told) -> None:
    told.remember("Always use tabs in Makefiles", kind="rule", lock=True)
    assert "Always use tabs in Makefiles" in told.brief().text
    assert "Always use tabs in Makefiles" in told.brief("Add a target to the Makefile").text


def test_forget_removes_the_memory(told: Told) -> None:
    made = told.remember("The old server is called atlas").memory
    assert [one.id for one in told.forget(made.id)] == [made.id]
    assert told.memories() == []
    with pytest.raises(NotFoundError):
        told.forget(made.id)


def test_checkpoint_is_offered_to_the_next_session(told: Told) -> None:
    saved = told.checkpoint("Move the login to OAuth", done=["Add the client"], pending=["Write tests"])
    with open(saved.path, encoding="utf-8") as file:
        text = file.read()
    assert "Move the login to OAuth" in text
    assert "Write tests" in text


def test_an_agents_process_cannot_forget(tmp_path: Path, told: Told, environ: dict[str, str]) -> None:
    made = told.remember("The staging database is called blue").memory
    with Told(
        str(tmp_path / "told"), folder=str(tmp_path / "shop"), environ=environ | {"CLAUDECODE": "1"}
    ) as agent:
        with pytest.raises(UsageError, match="Only the user"):
            agent.forget(made.id)
        assert agent.remember("The cache lives in Redis").memory.trust == "agent"
