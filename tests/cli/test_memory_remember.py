"""What a user says once is kept, counts when it is said again, and is ended only by what replaces it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.machine import Machine

AGENT = {"CLAUDECODE": "1"}


@pytest.fixture
def desk(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine whose current folder is a repository."""
    monkeypatch.chdir(machine.repo("work/shop", "git@github.com:acme/shop.git"))
    return machine


def remember(machine: Machine, *words: str) -> Any:
    answer = machine.told("remember", "--json", *words)
    assert (answer.code, answer.err) == (0, "")
    return answer.json


def texts(machine: Machine, *words: str) -> list[str]:
    answer = machine.told("memories", "--json", *words)
    return [row["text"] for row in answer.json["memories"]]


def test_a_statement_is_listed_with_all_that_a_program_needs(desk: Machine) -> None:
    made = remember(desk, "Never", "commit", "`.env`", "files")
    rows = desk.told("memories", "--json").json["memories"]
    assert [row["id"] for row in rows] == [made["id"]]
    assert rows[0] | {"id": "", "importance": 0, "confidence": 0} == {
        "id": "", "text": "Never commit `.env` files", "kind": "rule", "marks": [], "context": None,
        "scope": "project",
        "project": "github.com/acme/shop", "status": "active", "locked": False, "trust": "user",
        "confidence": 0, "importance": 0, "created": "2026-11-15T12:00:00Z",
        "updated": "2026-11-15T12:00:00Z", "superseded_by": None, "times_shown": 0, "repeated": 0,
        "entities": [".env"], "triggers": ["path:.env", "task:commit"],
    }  # fmt: skip


def test_what_was_done_is_said_in_a_line(desk: Machine) -> None:
    answer = desk.told("remember", "Use npm for packages")
    assert answer.code == 0
    assert answer.out.startswith("Remembered m")
    assert answer.out.endswith(" (rule, github.com/acme/shop).\n`told undo` reverts it.\n")


@pytest.mark.parametrize("order", [1, -1])
def test_independent_rules_never_end_each_other(desk: Machine, order: int) -> None:
    rules = [
        "Never commit .env files", "Never use tabs for indentation",
        "Always run the linter before committing", "Do not log user emails",
        "Never push directly to the main branch", "Never push the staging branch directly without tests",
    ]  # fmt: skip
    for rule in rules[::order]:
        assert remember(desk, rule)["supersedes"] == []
    assert sorted(texts(desk)) == sorted(rules)


def test_a_locked_rule_is_not_ended_by_a_later_sentence(desk: Machine) -> None:
    locked = remember(desk, "--lock", "Use npm for packages")
    assert locked["locked"]
    later = remember(desk, "Use pnpm for packages")
    assert later["supersedes"] == []
    assert [row["id"] for row in later["conflicts"]] == [locked["id"]]
    assert set(texts(desk)) == {"Use npm for packages", "Use pnpm for packages"}
    assert "which is locked and stays" in desk.told("remember", "We use yarn now instead of npm").out


def test_a_new_choice_ends_the_old_one_and_the_old_one_can_come_back(desk: Machine) -> None:
    first = remember(desk, "Use npm for packages")
    second = remember(desk, "We use pnpm now instead of npm")
    assert [row["id"] for row in second["supersedes"]] == [first["id"]]
    third = remember(desk, "Use npm for packages")
    assert not third["again"]
    assert [row["id"] for row in third["supersedes"]] == [second["id"]]
    assert texts(desk) == ["Use npm for packages"]
    line = desk.told("evolution", "--json", third["id"]).json["memories"]
    assert [row["id"] for row in line] == [first["id"], second["id"], third["id"]]


def test_the_opposite_takes_its_place(desk: Machine) -> None:
    remember(desk, "Never squash commits")
    remember(desk, "Always squash commits")
    assert texts(desk) == ["Always squash commits"]


@pytest.mark.parametrize("again", ["Never use tabs.", "never use tabs", "Do not use tabs"])
def test_saying_it_again_counts(desk: Machine, again: str) -> None:
    first = remember(desk, "Never use tabs")
    second = remember(desk, again)
    assert (second["id"], second["again"]) == (first["id"], True)
    assert second["confidence"] > first["confidence"]
    assert texts(desk) == ["Never use tabs"]


def test_what_only_looks_like_a_repetition_is_kept(desk: Machine) -> None:
    remember(desk, "Use pnpm, not npm")
    remember(desk, "Use npm, not pnpm")
    assert "Use npm, not pnpm" in texts(desk)


def test_a_project_keeps_its_own_and_shares_what_is_global(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(desk, "Deploy with `scripts/ship.sh`")
    remember(desk, "--scope", "global", "Answer in English")
    monkeypatch.chdir(desk.repo("work/other", "git@github.com:acme/other.git"))
    assert texts(desk) == ["Answer in English"]
    assert set(texts(desk, "--all-projects")) == {"Answer in English", "Deploy with `scripts/ship.sh`"}
    assert remember(desk, "Never deploy with `scripts/ship.sh`")["supersedes"] == []


def test_a_memory_of_another_scope_stays(desk: Machine) -> None:
    everywhere = remember(desk, "--scope", "global", "Use npm for packages")
    here = remember(desk, "Use pnpm for packages")
    assert here["supersedes"] == []
    assert [row["id"] for row in here["conflicts"]] == [everywhere["id"]]
    assert len(texts(desk)) == 2


def test_the_home_folder_is_no_project(machine: Machine) -> None:
    assert remember(machine, "Answer in English")["scope"] == "global"


def test_a_sub_folder_is_the_same_project(desk: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(desk, "Never use tabs")
    monkeypatch.chdir(desk.folder("work/shop/src/api"))
    assert texts(desk) == ["Never use tabs"]


def test_memories_are_filtered(desk: Machine) -> None:
    remember(desk, "Never use tabs")
    remember(desk, "--kind", "fact", "--lock", "The API lives in src/core")
    desk.told("scopes", "create", "design")
    remember(desk, "--scope", "design", "Buttons are round")
    assert texts(desk, "--kind", "fact") == ["The API lives in src/core"]
    assert texts(desk, "--locked") == ["The API lives in src/core"]
    assert texts(desk, "--scope", "design") == ["Buttons are round"]
    assert texts(desk, "tabs") == ["Never use tabs"]
    assert texts(desk, "--limit", "1") == ["The API lives in src/core"]
    head = "1 of 2 memories (use --limit to see more)\n"
    assert desk.told("memories", "-n", "1").out.startswith(head)
    assert desk.told("memories", "-n", "1", "--source", "terminal").out.startswith(head)
    assert desk.told("memories", "-n", "2").out.startswith("2 memories\n")
    assert [desk.told("memories", "-n", n, "--json").json["total"] for n in "12"] == [2, 2]
    assert texts(desk, "--status", "superseded") == []
    assert texts(desk, "--source", "codex") == []
    assert len(texts(desk, "--source", "terminal")) == 2


def test_a_secret_is_taken_out_before_the_first_byte_is_stored(desk: Machine) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    remember(desk, f"The deploy token is {secret}")
    assert "[secret:github-token:" in texts(desk)[0]
    for path in desk.told_home.rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["remember", "!!!"], "nothing to remember"),
        (["remember", "x" * 5000], "too long to remember"),
        (["remember", "--kind", "law", "Never use tabs"], "There is no kind 'law'"),
        (["remember", "--scope", "a b", "Never use tabs"], "no name for a scope"),
        (["memories", "--status", "dead"], "Unknown status 'dead'"),
        (["memories", "--kind", "law"], "There is no kind 'law'"),
        (["correct", "m2222222"], "the old and the new one"),
        (["forget"], "Say what to forget"),
        (["forget", "m2222222", "--since", "today"], "Say what to forget"),
        (["diff", "whenever"], "Unknown time"),
        (["proposals", "accept"], "Decide one"),
    ],
)
def test_what_is_not_understood_is_one_sentence(desk: Machine, words: list[str], said: str) -> None:
    answer = desk.told(*words)
    assert (answer.code, answer.out) == (2, "")
    assert said in answer.err
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["memories"], ["memories", "tabs"], ["lock", "tabs"], ["unlock", "m2222222"], ["why", "m2222222"],
        ["confirm", "m2222222"], ["reject", "m2222222"], ["correct", "tabs", "Never use tabs"], ["undo"],
        ["forget", "m2222222"], ["forget", "--since", "today"], ["evolution", "tabs"], ["diff", "today"],
        ["proposals"], ["proposals", "accept", "p2222222"],
    ],
)  # fmt: skip
def test_nothing_found_ends_with_1(desk: Machine, words: list[str]) -> None:
    answer = desk.told(*words)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("told: ")


def test_both_databases_can_be_made_anew(desk: Machine) -> None:
    remember(desk, "Use npm for packages")
    remember(desk, "--lock", "Never use tabs")
    made = remember(desk, "We use pnpm now instead of npm")
    asked = [
        ("memories", "--json"), ("memories", "pnpm"), ("why", made["id"], "--json"), ("stats", "--json"),
        ("evolution", "npm"), ("diff", "today"), ("memories", "--status", "superseded", "--json"),
    ]  # fmt: skip
    before = [desk.told(*words) for words in asked]
    assert all(answer.code == 0 for answer in before)
    for path in desk.told_home.glob("*.db*"):
        path.unlink()
    assert desk.told("rebuild").code == 0
    assert [desk.told(*words) for words in asked] == before


def test_rebuild_restores_damaged_memories(desk: Machine) -> None:
    remember(desk, "Never use tabs")
    (desk.told_home / "memory.db").write_bytes(b"no database" * 1000)
    assert desk.told("rebuild").code == 0
    assert texts(desk) == ["Never use tabs"]
