"""What an answer costs the agent that reads it, in tokens of four bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.machine import ago
from tests.soak import points

if TYPE_CHECKING:
    from tests.cli.machine import Machine

TASKS = [
    "Investigate why the nightly export to S3 times out for the largest customers and propose a fix",
    "Refactor the authentication middleware so that refresh tokens are rotated on every use",
    "Add pagination to the orders endpoint, keep the old query parameters working until March",
    "The checkout page flickers on Safari when a discount code is applied, please find the cause",
    "Write integration tests for the webhook retry logic, including exponential backoff",
    "Upgrade to Django 5.2 and fix all deprecation warnings in the billing application",
    "Why does the search index rebuild use 12 GB of memory? It used to need two",
    "Document how the feature flags are evaluated, with an example for percentage rollouts",
]
PROJECTS = ["acme-platform/billing-service", "acme-platform/customer-portal", "acme-platform/data-pipeline"]
BRANCHES = ["main", "feature/rotate-refresh-tokens", "fix/export-timeouts-large-customers", "release/2026.11"]


@pytest.fixture
def history(machine: Machine) -> Machine:
    """Forty sessions with names, branches, files and answers as long as real ones."""
    folders = [machine.repo(f"code/{name}", f"git@github.com:{name}.git") for name in PROJECTS]
    for number in range(40):
        task, cwd = TASKS[number % len(TASKS)], folders[number % 3]
        answer = (
            f"I looked at the {task.split()[1]} code first. The cause is in services/module_{number}.py:"
            " the connection is opened once for each row, and every open waits for the pool. I changed it to"
            " open one connection for the whole batch, added a test that fails without the change, and ran"
            " the whole suite. "
        ) * 6
        machine.claude(
            (task, answer),
            *((f"{task}, part {part}", answer) for part in range(2, 6)),
            cwd=cwd, branch=BRANCHES[number % 4], at=ago(hours=3 * number + 1),
            files={f"{cwd}/services/handlers/module_{number}_{part}.py": "Edit" for part in range(9)},
        )  # fmt: skip
    machine.told("index")
    return machine


def cost(machine: Machine, *words: str) -> float:
    answer = machine.told(*words)
    assert answer.code == 0
    assert answer.out.count("<agent ") == 1
    return len(answer.out.encode()) / 4


def test_orientation_five_hits_and_a_session_cost_little(
    history: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for query in (
        "export timeouts",
        "why does the search index use so much memory?",
        "connection pool batch",
    ):
        assert history.told("search", query, "--json").json["count"] == 5
        assert cost(history, "search", query) <= 350
    for session in history.ids("-n", str(points(everyday=2, soak=8))):
        assert cost(history, "show", session) <= 500
    for folder in (history.home, history.home / "code" / PROJECTS[0]):
        monkeypatch.chdir(folder)
        assert cost(history, "files", "--limit", "10") <= 150
        assert cost(history, "list", "--limit", "5") <= 150


def test_a_session_of_unspaced_letters_costs_no_more(machine: Machine) -> None:
    machine.claude(*(("日本語のエラーメッセージを直して" * 40, "修正しました。" * 300) for _ in range(5)))
    machine.told("index")
    (session,) = machine.ids()
    assert cost(machine, "show", session) <= 500
    assert cost(machine, "list", "--limit", "5") <= 150
    assert cost(machine, "search", "エラーメッセージ") <= 350
