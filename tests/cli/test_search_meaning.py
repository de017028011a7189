"""`told search` finds what was meant, also where no word is shared, and nothing where nothing is near."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

import pytest

from tests.cli.machine import ago
from told.search.vectors import table as vector_table

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.machine import Answer, Machine

QUESTION = "how did we get rid of the e2e spec that only broke sometimes"
TALKS = (
    ("flaky", "sign_in.spec.ts is red on every third run in CI, never here",
     "The browser test clicks before the redirect settled. It waits for the page now; forty runs are green."),
    ("memory", "The nightly import was killed, exit code 137",
     "It read the whole file into memory. It streams five thousand rows at a time now."),
    ("colour", "Make the header blue", "The header is #0044cc now."),
)  # fmt: skip


@pytest.fixture
def library(machine: Machine) -> Machine:
    shop = machine.repo("code/shop", "https://github.com/acme/shop.git")
    for days, (name, asked, answered) in enumerate(TALKS, 1):
        machine.claude((asked, answered), cwd=shop, at=ago(days=days), session=name)
    assert machine.told("index").code == 0
    return machine


def found(answer: Answer) -> list[str]:
    return [row["native_id"] for row in answer.json["results"]]


def test_a_question_in_other_words_finds_it(library: Machine) -> None:
    assert found(library.told("search", QUESTION, "--json"))[:1] == ["flaky"]
    answer = library.told("search", "why did the night job need so much RAM")
    assert answer.out.startswith("1 session in all projects for")
    assert "(in other words)" in answer.out
    assert "import was killed" in answer.out


def test_a_word_that_is_asked_for_has_to_stand_there(library: Machine) -> None:
    assert found(library.told("search", "header", "--json")) == ["colour"]
    assert library.told("search", "playwright", "--in", "sessions").code == 1
    assert found(library.told("search", '"exit code 137"', "--json")) == ["memory"]


def test_a_question_about_something_else_finds_nothing(library: Machine) -> None:
    answer = library.told("search", "which wine goes with grilled salmon and asparagus")
    assert answer.code == 1
    assert "Traceback" not in answer.err


def test_the_same_question_gets_the_same_answer_in_another_process(library: Machine) -> None:
    here = library.told("search", QUESTION, "--json").json["results"]
    for seed in ("0", "77"):
        library.environ["PYTHONHASHSEED"] = seed
        assert library.child("search", QUESTION, "--json").json["results"] == here


def test_a_rebuild_gives_the_same_answer(library: Machine) -> None:
    before = library.told("search", QUESTION, "--json").json["results"]
    assert library.told("rebuild").code == 0
    assert library.told("search", QUESTION, "--json").json["results"] == before


def test_without_the_table_words_are_searched(
    library: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    damaged = tmp_path / "meaning.bin"
    damaged.write_bytes(os.urandom(1000))
    for path in (str(damaged), str(tmp_path / "none")):
        monkeypatch.setattr(vector_table, "TABLE_PATH", path)
        assert found(library.told("search", "why was the import killed", "--json")) == ["memory"]
        assert library.told("search", "which spec broke sometimes and was brittle").code in (0, 1)


def test_who_turns_meaning_off_searches_by_words(library: Machine) -> None:
    library.config('model = "off"\n')
    answer = library.told("search", "the job at night ran out of RAM")
    assert answer.code == 1
    assert answer.err.startswith("told: Nothing found")


def test_what_is_forgotten_leaves_no_vector(library: Machine) -> None:
    def vectors() -> list[bytes]:
        with sqlite3.connect(library.told_home / "sessions.db") as database:
            return [row[0] for row in database.execute("SELECT vectors FROM turn_meaning ORDER BY turn_id")]

    before = vectors()
    session = library.told("search", "import killed", "--json").json["results"][0]["id"]
    assert library.told("forget", "--session", session, "--force").code == 0
    after = vectors()
    gone = [one for one in before if one not in after]
    assert gone
    for path in library.told_home.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not any(one[2:66] in content for one in gone if len(one) > 66), path


def test_checkpoints_alone_can_be_asked_for(library: Machine) -> None:
    library.environ["CODEX_SESSION"] = ""
    made = library.told(
        "checkpoint", "--goal", "Stop the browser test from failing now and then", "--session", "flaky"
    )
    assert made.code == 0, made.err
    answer = library.told(
        "search", "the spec that was brittle in the pipeline", "--in", "checkpoints", "--json"
    )
    assert answer.code in (0, 1)
    assert all(row["native_id"] == "flaky" for row in answer.json["results"])
