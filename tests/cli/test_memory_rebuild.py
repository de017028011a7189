"""Both databases can go: `told rebuild` makes them anew, and every answer is what it was, to the byte."""

from __future__ import annotations

import contextlib
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from tests.cli.machine import NOW, Answer, Machine, ago
from tests.cli.test_learning import say
from tests.cli.test_memory_observed import repaired
from tests.soak import points

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from tests.cli.template import Build

SAID = [
    (30, "Never push straight to main, always open a pull request."),
    (29, "Always use npm to install packages in this repo."),
    (28, "Remember: the gateway listens on port 8443."),
    (27, "From now on always use pnpm to install packages in this repo, never npm."),
    (26, "Use sequential thinking for this. Why is the login slow?"),
    (25, "Use sequential thinking for this. Why is the cart slow?"),
    (24, "Use sequential thinking for this. Why is the search slow?"),
    (23, "never push straight to main, always open a pull request"),
    (22, "Always write commit messages in English."),
    (21, "Never deploy on a Friday."),
    (20, "wrong file, look in lib/cart.py"),
]
SESSION = "0f0f0f0f-0000-4000-8000-0000000000dd"
PROMPTS = (
    "push my change to main", "install the date picker", "deploy the shop", "which port has the gateway?",
    "write a commit message", "log the card numbers", "thanks", "run the tests",
)  # fmt: skip
TOPICS = ("gateway", "npm", "deploy", "cart", "cards")
QUESTIONS = ("do we use npm or pnpm?", "do we push to main?", "which port does the gateway use?")


def clock(monkeypatch: pytest.MonkeyPatch, at: datetime) -> None:
    monkeypatch.setattr("time.time_ns", lambda: int(at.timestamp()) * 10**9)


def build_rich(desk: Machine) -> None:
    shop = desk.repo("work/shop", "git@github.com:acme/shop.git")
    with pytest.MonkeyPatch.context() as monkeypatch, contextlib.chdir(shop):
        live(desk, monkeypatch)


@pytest.fixture
def rich(prepared: Callable[[Build], Machine], monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine on which everything that can happen to a memory has happened."""
    machine = prepared(build_rich)
    monkeypatch.chdir(machine.home / "work/shop")
    return machine


def live(desk: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let everything happen that can happen to a memory."""
    shop, pay = str(desk.home / "work/shop"), desk.repo("work/pay", "git@github.com:acme/pay.git")
    clock(monkeypatch, ago(days=10))
    for days, said in SAID:
        say(desk, "please fix the footer", said, at=ago(days=days))
    desk.claude(("Never log card numbers.", "Fine."), at=ago(days=19), cwd=pay)
    desk.copilot(
        ("Set up alerts", "Alerts fire at 10000."), ("Always page the on-call team, not the list.", "Done."),
        at=ago(days=18), cwd=shop, repository="acme/shop", branch="main", summary="Alerts",
        files={f"{shop}/deploy/alerts.yaml": "create"}, refs={"acme/shop#17": "pr"},
        note={"title": "Alerts deployed", "overview": "Lag alerts.", "next_steps": "Tune the threshold."},
    )  # fmt: skip
    repaired(desk, ago(days=11))
    done(desk, "index")
    clock(monkeypatch, ago(days=9))
    by_hand(desk)
    clock(monkeypatch, ago(days=8))
    with_agents(desk)
    desk.write("work/shop/README.md", "# Shop\n\nThe shop sells books.\n\nRun the tests with `make test`.\n")
    desk.write("work/shop/AGENTS.md", "# Rules\n\n- Never edit generated files by hand.\n")
    done(desk, "onboard")
    done(desk, "wonder", "gateway", "--note", "Perhaps the port is taken from the environment")
    clock(monkeypatch, NOW)
    say(
        desk,
        "push my change to main",
        "and again: never deploy on a Friday!",
        at=ago(hours=2),
        session=SESSION,
    )
    done(desk, "index")


def by_hand(desk: Machine) -> None:
    """Give the commands of a user."""
    for text in ("Use tabs for indentation", "The staging host is stage-3", "The launch is called Bluebird"):
        done(desk, "remember", text)
    done(desk, "correct", "staging host", "The staging host is stage-4")
    done(desk, "correct", "staging host", "The staging host is stage-5")
    done(desk, "lock", "tabs indentation")
    done(desk, "lock", "Never print the deploy token")
    done(desk, "unlock", "deploy token")
    done(desk, "confirm", "gateway port")
    done(desk, "reject", "deploy token")
    done(desk, "forget", named(desk, "Bluebird"), "--force")
    done(desk, "remember", "Use spaces for indentation, never tabs")
    done(desk, "remember", "--scope", "global", "Answer in English")
    done(desk, "remember", "The office is in Hamburg")
    done(desk, "undo")
    done(desk, "scopes", "create", "cards")
    done(desk, "scopes", "subscribe", "cards")
    done(desk, "remember", "--scope", "cards", "Card numbers are masked in every log")
    done(desk, "scopes", "share", named(desk, "staging host"), "cards")
    done(desk, "brief", "--session", SESSION)
    done(desk, "brief", "--prompt", "push my change to main", "--session", SESSION, "--again")


def with_agents(desk: Machine) -> None:
    """Let an agent say and ask for things."""
    with mock.patch.dict(desk.environ, CLAUDECODE="1"):
        for text in ("The tests need Docker", "The worker needs two cores", "The queue is called moth"):
            done(desk, "remember", text)
    done(desk, "confirm", "Docker")
    done(desk, "reject", "two cores")
    desk.environ["CLAUDECODE"] = "1"
    done(desk, "correct", "Docker", "The tests need Podman")
    for words in (("lock", "gateway port"), ("forget", named(desk, "gateway port"), "--force")):
        done(desk, *words)
    done(desk, "unlock", named(desk, "tabs indentation", "--locked"))
    del desk.environ["CLAUDECODE"]
    waiting = desk.told("proposals", "--json").json["proposals"]
    assert len(waiting) > 2
    done(desk, "proposals", "accept", next(one["id"] for one in waiting if one["action"] == "lock"))
    done(desk, "proposals", "decline", next(one["id"] for one in waiting if one["action"] == "unlock"))


def done(desk: Machine, *words: str) -> Answer:
    answer = desk.told(*words)
    assert (answer.code, answer.err) == (0, ""), words
    return answer


def named(desk: Machine, *words: str) -> str:
    (row,) = desk.told("memories", "--json", *words).json["memories"]
    return str(row["id"])


def answers(desk: Machine) -> dict[str, Answer]:
    """Return every answer about everything."""
    return {" ".join(words): desk.told(*words) for words in questions(desk)}


def questions(desk: Machine) -> Iterable[tuple[str, ...]]:
    """Yield every question that can be asked."""
    listings: list[tuple[str, ...]] = []
    ids: list[str] = []
    for status in ("active", "candidate", "dismissed", "superseded", "quarantined", "forgotten"):
        words = ("memories", "--all-projects", "--all", "-n", "500", "--status", status)
        ids += [row["id"] for row in desk.told(*words, "--json").json["memories"]]
        listings += [words, (*words, "--json")]
    yield from listings
    sessions = desk.ids("-n", "500")
    for name in ids[:: points(everyday=5, soak=1)]:
        yield "why", name, "--json"
        yield "evolution", name, "--json"
    for name in sessions[:: points(everyday=3, soak=1)]:
        yield "show", name, "--turns", "--full"
    for word in ("list", "files", "timeline", "checkpoints", "repos"):
        yield (word, "--json") if word == "repos" else (word, "--all-projects", "-n", "500", "--json")
        yield (word,)
    for word in ("memories", "stats", "scopes", "proposals", "brief", "audit"):
        yield (word,)
        yield word, "--json"
    for prompt in PROMPTS:
        yield "brief", "--prompt", prompt
        yield "brief", "--prompt", prompt, "--session", "a new one", "--budget", "1"
        yield "explain", prompt, "--json"
    for topic in TOPICS:
        yield "wonder", topic, "--json"
        yield "search", topic, "--json", "--all-projects"
        yield "evolution", topic, "--json"
    for question in QUESTIONS:
        yield "reason", question, "--json"
    for since in ("2026-10-01", "2026-11-06", "yesterday"):
        yield "diff", since, "--all-projects", "--json"


def differing(before: dict[str, Answer], after: dict[str, Answer]) -> list[Any]:
    return [(words, before[words], after.get(words)) for words in before if after.get(words) != before[words]]


def drop(desk: Machine) -> None:
    for name in ("sessions.db", "memory.db"):
        for path in desk.told_home.glob(f"{name}*"):
            path.unlink()


def has_some_of_everything(rich: Machine) -> None:
    found = rich.told("stats", "--json").json
    assert min(found["by_status"].get(name, 0) for name in ("active", "superseded", "forgotten")) > 0
    assert found["candidates"] > 0
    assert (
        found["by_status"].get("quarantined", 0) + len(rich.told("proposals", "--json").json["proposals"]) > 0
    )
    assert set(found["by_trust"]) == {"user", "agent", "tool"}
    assert set(found["by_scope"]) >= {"project", "global", "cards"}
    assert min(found[name] for name in ("locked", "learned", "briefs", "repeated", "sessions")) > 0
    assert {row["agent"] for row in rich.told("list", "--json").json["sessions"]} >= {
        "claude-code",
        "copilot-cli",
    }


def test_every_answer_is_the_same_after_both_databases_were_lost(rich: Machine) -> None:
    has_some_of_everything(rich)
    before = answers(rich)
    assert sum(1 for answer in before.values() if answer.code == 0) > len(before) * 0.7
    assert not [words for words, answer in before.items() if answer.code > 1]
    assert answers(rich) == before  # asking changes nothing
    drop(rich)
    done(rich, "rebuild")
    assert differing(before, answers(rich)) == []
    done(rich, "health", "--deep")


def test_without_a_rebuild_the_memories_are_the_same(rich: Machine) -> None:
    words = ("memories", "--all-projects", "--all", "-n", "500", "--json")
    before = rich.told(*words)
    drop(rich)
    done(rich, "index")
    assert rich.told(*words) == before


def test_every_answer_is_the_same_after_the_agents_files_went_too(
    rich: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock(monkeypatch, NOW + timedelta(days=2))  # told keeps a copy of sessions that were quiet for a day
    done(rich, "index")
    before = answers(rich)
    for path in (rich.home / ".claude").rglob("*.jsonl"):
        path.unlink()
    drop(rich)
    done(rich, "rebuild")
    assert differing(before, answers(rich)) == []
