"""What an agent gets from each tool: ids and one line each, then what was around, then the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.asking import Asking
from tests.cli.machine import ago, remember
from told.text import count_tokens

if TYPE_CHECKING:
    from tests.cli.machine import Machine


@pytest.fixture
def agent(shop: Machine, monkeypatch: pytest.MonkeyPatch) -> Asking:
    """An agent in the project acme-api, which told was not started in."""
    api = str(shop.home / "code/acme-api")
    monkeypatch.chdir(api)
    remember(shop, "Never deploy on Fridays, the cache is cold then")
    remember(shop, "--scope", "global", "Always answer in English")
    monkeypatch.chdir("/")
    return Asking(shop, "codex-mcp-client", api)


def ids(text: str, letter: str) -> list[str]:
    """Return the ids in the rows below an answer's first line, in order."""
    words = (word.strip(".,;:()") for word in text.partition("\n")[2].split())
    return [word for word in words if word[:1] == letter and 8 <= len(word) <= 10 and word[1:].isalnum()]


def test_search_gives_memories_and_sessions_with_their_ids(agent: Asking) -> None:
    found = agent.say("search", query="cache")
    assert "Never deploy on Fridays" in found
    assert "cache TTL" in found or "*cache* TTL" in found
    assert ids(found, "m")
    assert ids(found, "s")
    assert count_tokens(found) < 600


@pytest.mark.parametrize("place", ["memories", "sessions", "checkpoints"])
def test_search_in_one_place(agent: Asking, place: str) -> None:
    words = {"memories": "Fridays", "sessions": "flaky login", "checkpoints": "lag alerts"}
    letters = {"memories": "m", "sessions": "s", "checkpoints": "c"}
    found = agent.say("search", query=words[place], in_=place)
    assert ids(found, letters[place]), found


def test_search_by_agent_and_time(agent: Asking) -> None:
    assert "Kafka" in agent.say("search", query="alerts", agent="copilot", since="last week")
    assert "Kafka" not in agent.say("search", query="alerts", agent="claude-code")


def test_what_was_around_a_turn_and_the_whole_of_it(agent: Asking) -> None:
    session = ids(agent.say("search", query="flaky login test", in_="sessions"), "s")[0]
    around = agent.say("timeline", around=f"{session}.0")
    assert around.startswith("0 turns before and 3 after")
    assert "> " in around
    assert "How long should the cache TTL be?" in around
    whole = agent.say("get", id=f"{session}.0")
    assert "race in TokenStore.refresh: two workers." in whole
    assert "Why is the login test flaky?" in agent.say("get", id=session)


def test_timeline_without_an_id_is_the_latest(agent: Asking) -> None:
    rows = agent.say("timeline", limit=1)
    assert "1 of 4 turns, acme/acme-api" in rows
    assert "Fine, and write it down" in rows


def test_get_gives_a_memory_with_where_it_comes_from(agent: Asking) -> None:
    name = ids(agent.say("search", query="Fridays", in_="memories"), "m")[0]
    whole = agent.say("get", id=name)
    assert "Never deploy on Fridays, the cache is cold then" in whole
    assert "evidence: 11-15 12:00 typed at the terminal" in whole


def test_get_gives_several_at_once_and_says_which_are_unknown(agent: Asking) -> None:
    memory = ids(agent.say("search", query="Fridays", in_="memories"), "m")[0]
    session = ids(agent.say("search", query="flaky login test", in_="sessions"), "s")[0]
    for given in ({"ids": [memory, session]}, {"ids": f"{memory}, {session}"}, {"id": [memory, session]}):
        both = agent.say("get", **given)
        assert "Never deploy on Fridays" in both
        assert "Why is the login test flaky?" in both
    some = agent.say("get", ids=[memory, "mqqqqqqq"])
    assert "Never deploy on Fridays" in some
    assert "mqqqqqqq" in some
    assert "mqqqqqqq" in agent.wrong("get", ids=["mqqqqqqq", "sqqqqqqq"])
    assert "1 to 20" in agent.wrong("get", ids=[f"m{number:07}" for number in range(21)])
    long = agent.say("get", ids=[f"{session}.{n}" for n in range(3)], full=True)
    assert count_tokens(long) < 9_500


def test_get_gives_a_checkpoint_whole(agent: Asking) -> None:
    note = ids(agent.say("search", query="lag alerts", in_="checkpoints"), "c")[0]
    whole = agent.say("get", id=note)
    assert "Tune the threshold after a week of data." in whole
    assert "0 turns before" not in agent.say("timeline", around=note)


def test_a_long_session_is_cut_and_a_turn_of_it_is_not(shop: Machine) -> None:
    answer = "It was the cache. " * 400
    shop.claude(*[(f"What was it in run {n}?", answer) for n in range(60)], at=ago(minutes=1),
                cwd=str(shop.home / "code/acme-api"))  # fmt: skip
    agent = Asking(shop, "codex", str(shop.home / "code/acme-api"))
    session = ids(agent.say("sessions", limit=1), "s")[0]
    for full, most in ((False, 4_100), (True, 9_500)):
        shown = agent.say("get", id=session, full=full)
        assert "Cut here." in shown
        assert count_tokens(shown) < most
        opening = shown[: shown.index("\n")]
        assert shown.count(opening[1:-1]) == 2, "the fence is closed"
    assert "ID.3" in shown
    assert answer.strip() in agent.say("get", id=f"{session}.7")


def test_sessions_and_files(agent: Asking) -> None:
    sessions = agent.say("sessions")
    assert len(ids(sessions, "s")) == 3
    assert "tax rounding" not in sessions
    assert "tax rounding" in agent.say("sessions", project="*")
    files = agent.say("files")
    assert "src/cache.py" in files
    assert "deploy/alerts.yaml" in agent.say("files", agent="copilot-cli")
    for text in (sessions, files):
        assert count_tokens(text) < 300


def test_wonder_and_reason(agent: Asking) -> None:
    assert "Never deploy on Fridays" in agent.say("wonder", topic="deploy cache")
    assert "Fridays" in agent.say("reason", question="Do we deploy on Fridays?")


def test_nothing_found_is_an_answer_that_says_what_to_try(agent: Asking) -> None:
    assert "Try" in agent.say("search", query="zebra crossing giraffe")
    assert "Try" in agent.say("search", query="zebra giraffe", project="acme-api")
    assert "`search` finds them" in agent.say("search", query="zebra", in_="memories")
    assert "`project`" in agent.say("sessions", project="no-such-thing")
    assert "zebra" in agent.say("wonder", topic="zebra")
    assert "zebra" in agent.say("reason", question="Do we need a zebra?")


def test_an_id_that_nothing_has_is_a_mistake(agent: Asking) -> None:
    assert "`search`" in agent.wrong("get", id="sqqqqqqq")
    assert "has no turn" in agent.wrong("get", id=f"{ids(agent.say('sessions'), 's')[0]}.99")
    assert "`search` finds them" in agent.wrong("feedback", id="mqqqqqqq", useful=True)
    assert "mqqqqqqq" in agent.wrong("forget", id="mqqqqqqq")
    assert "mqqqqqqq" in agent.wrong("correct", id="mqqqqqqq", text="We use pnpm here.")
    assert "told --" not in agent.wrong("timeline", around="cqqqqqqq")


def test_a_checkpoint_is_written_found_and_read(agent: Asking) -> None:
    written = agent.say(
        "checkpoint", goal="Move the login to OAuth", done=["Read the code"],
        pending=["-- Tests", "--close=x"], decisions=["PKCE, because the app is public"],
        files=["src/login.py"], plans=["docs/plan.md"], references=["acme/acme-api#17"],
        questions=["Which scopes?"], notes="Ask Ann.",
    )  # fmt: skip
    note = written.split()[0]
    assert note in agent.say("search", query="OAuth login", in_="checkpoints")
    whole = agent.say("get", id=note)
    for text in ("Move the login to OAuth", "Read the code", "-- Tests", "--close=x", "PKCE", "src/login.py",
                 "docs/plan.md", "acme/acme-api#17", "Which scopes?", "Ask Ann."):  # fmt: skip
        assert text in whole


def test_resources(agent: Asking, shop: Machine) -> None:
    assert "Always answer in English" in agent.read("told://brief").text
    memories = agent.read("told://memories").text
    assert "Never deploy on Fridays" in memories
    assert "evidence:" in agent.read(f"told://show/{ids(memories, 'm')[0]}").text
    assert agent.read("told://show/zzzzzzz").is_error
    assert agent.read("told://nothing").is_error
    empty = Asking(shop, "x", shop.folder("work/new"))
    assert not empty.read("told://brief").is_error


def test_on_a_machine_where_nothing_ever_happened(machine: Machine) -> None:
    agent = Asking(machine, "codex", machine.folder("work/new"))
    for tool, arguments in (
        ("search", {"query": "cache"}),
        ("timeline", {}),
        ("sessions", {}),
        ("files", {}),
    ):
        assert "told agents" in agent.say(tool, **arguments)
    assert agent.read("told://brief").text == (
        "No memories yet. `remember` adds one; after `told install`, sessions add more."
    )


def test_settings_that_nobody_understands_are_said(agent: Asking, shop: Machine) -> None:
    shop.config("learn = 7\n")
    assert "config.toml" in agent.wrong("search", query="cache")
    assert agent.read("told://brief").is_error


def test_a_damaged_store_is_made_anew(agent: Asking, shop: Machine) -> None:
    for name in ("sessions.db", "memory.db"):
        (shop.told_home / name).write_bytes(b"SQLite format 3\0" + b"garbage" * 2000)
    assert "Never deploy on Fridays" in agent.say("search", query="Fridays", in_="memories")
    shop.told("index")
    assert ids(agent.say("search", query="flaky login"), "s")
