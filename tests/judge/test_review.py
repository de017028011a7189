"""With a judge, told learns what a model found, if the user's own words prove it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.machine import ago

if TYPE_CHECKING:
    from datetime import datetime

    from tests.cli.machine import Machine
    from tests.judge.model_server import ModelServer

IDS = (
    "I looked at the importer again, and the thing is that our customer ids are UUIDs and"
    " not plain integers, whatever the old schema suggests about it."
)
IDS_QUOTE = "our customer ids are UUIDs and not plain integers"
IDS_TEXT = "Customer ids are UUIDs, not integers."
TASK = "add a dark mode toggle to the settings page"


def say(desk: Machine, *prompts: str, at: datetime | None = None, session: str = "") -> str:
    turns = [(prompt, "Done.") for prompt in prompts]
    return desk.claude(*turns, at=at or ago(days=2), cwd=str(desk.home / "work/shop"), session=session)


def item(**more: Any) -> dict[str, Any]:
    return {
        "text": IDS_TEXT, "kind": "fact", "scope": "project", "quote": IDS_QUOTE, "turn": 0, "replaces": [],
    } | more  # fmt: skip


def answers(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"items": list(items), "candidates": [], "summary": None} | more


def texts(desk: Machine) -> list[str]:
    return [one["text"] for one in desk.told("memories", "--json").json["memories"]]


def test_off_by_default(desk: Machine, model: ModelServer) -> None:
    say(desk, IDS)
    desk.told("index")
    assert desk.told("learn", "--json").json["judge"] is None
    assert model.requests == []


def test_a_proven_statement_is_the_users_memory(desk: Machine, endpoint: ModelServer) -> None:
    endpoint.answer = lambda _asked: answers(item())
    session = say(desk, TASK, IDS)
    endpoint.answer = lambda _asked: answers(item(turn=1))
    assert desk.told("index").code == 0
    (found,) = desk.told("memories", "--json").json["memories"]
    assert (found["text"], found["trust"], found["kind"]) == (IDS_TEXT, "user", "fact")
    (place,) = desk.told("why", found["id"], "--json").json["evidence"]
    assert (place["session"], place["turn"], place["quote"]) == (session, 1, IDS_QUOTE)


def test_only_messages_behind_the_gate_are_sent(desk: Machine, endpoint: ModelServer) -> None:
    say(desk, TASK, IDS)
    say(desk, TASK)
    desk.told("index")
    (asked,) = endpoint.asked()
    assert [one["turn"] for one in asked["messages"]] == [1]
    assert asked["messages"][0]["before"] == "Done."


def test_a_session_is_read_once(desk: Machine, endpoint: ModelServer) -> None:
    endpoint.answer = lambda _asked: answers(item())
    session = say(desk, IDS)
    desk.told("index")
    desk.told("index")
    desk.told("rebuild")
    desk.told("learn", "--yes")
    assert len(endpoint.requests) == 1
    more = "I went through the export as well, and it turns out that our order numbers are strings with"
    say(
        desk, IDS, f"{more} leading zeros and not plain integers, whatever the docs suggest.", session=session
    )
    desk.told("learn", "--yes")
    assert [one["turn"] for one in endpoint.asked()[1]["messages"]] == [1]
    assert texts(desk) == [IDS_TEXT]


def test_without_background_a_running_session_waits(desk: Machine, endpoint: ModelServer) -> None:
    say(desk, IDS, at=ago(minutes=5))
    desk.told("index")
    assert endpoint.requests == []


def test_the_background_leaves_old_history_to_the_user(desk: Machine, endpoint: ModelServer) -> None:
    say(desk, IDS, at=ago(days=60))
    desk.told("index")
    assert endpoint.requests == []
    assert desk.told("learn", "--yes", "--since", "2026-11-01").code == 0
    assert endpoint.requests == []
    desk.told("learn", "--yes")
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    "lie",
    [
        item(quote="our customer ids are always integers"),
        item(text="Deploys happen only on Fridays from the release branch."),
        item(quote="ids"),
        item(turn=7),
        item(kind="wish"),
        item(text=""),
        {"text": IDS_TEXT},
        "no object",
    ],
)
def test_a_lie_is_refused(desk: Machine, endpoint: ModelServer, lie: dict[str, Any]) -> None:
    endpoint.answer = lambda _asked: answers(lie)
    say(desk, IDS)
    done = desk.told("learn", "--yes", "--json").json
    assert done["unproven"] + done["invalid"] == 1
    assert texts(desk) == []


@pytest.mark.parametrize("broken", ["no JSON at all", "{}", '{"items": 3}', '{"items": [', "[]"])
def test_a_malformed_answer_changes_nothing(desk: Machine, endpoint: ModelServer, broken: str) -> None:
    endpoint.answer = lambda _asked: broken
    say(desk, "Never push straight to main, always open a pull request.", IDS)
    desk.told("index")
    assert texts(desk) == ["Never push straight to main, always open a pull request."]
    desk.told("index")
    desk.told("index")
    assert len(endpoint.requests) == 2  # it is not asked forever
    assert desk.told("stats", "--json").json["judge"]["failed"] == 2


def test_an_answer_in_a_fence_is_read(desk: Machine, endpoint: ModelServer) -> None:
    endpoint.answer = lambda _asked: f"Here you are:\n```json\n{json.dumps(answers(item()))}\n```\n"
    say(desk, IDS)
    desk.told("learn", "--yes")
    assert texts(desk) == [IDS_TEXT]


def test_a_server_without_schemas_is_asked_again_without(desk: Machine, endpoint: ModelServer) -> None:
    endpoint.refuses_schema = True
    endpoint.answer = lambda _asked: answers(item())
    say(desk, IDS)
    desk.told("learn", "--yes")
    assert texts(desk) == [IDS_TEXT]
    assert ["response_format" in one for one in endpoint.requests] == [True, False]


def test_secrets_are_never_sent(desk: Machine, endpoint: ModelServer) -> None:
    canary = "ghp_" + "Zx81kQ0mVb72LdTnRw5YcHs3JfPa96EuGi4o"
    desk.config(
        f'[judge]\nmode = "endpoint"\nurl = "{endpoint.url}"\nmodel = "toy"\n[redaction]\nenabled = false\n'
    )
    say(
        desk,
        f"{IDS} The token for the staging registry is {canary} and it is valid until March of next year.",
    )
    say(
        desk,
        f"{IDS} And <private>my mother is called Gerda</private> of course, which nobody should know about.",
    )
    desk.told("learn", "--yes")
    assert len(endpoint.requests) == 2
    assert canary not in "".join(endpoint.raw)
    assert "Gerda" not in "".join(endpoint.raw)
    assert "customer ids" in "".join(endpoint.raw)


def test_a_private_memory_is_not_sent(desk: Machine, endpoint: ModelServer) -> None:
    public = "Customer ids are integers in all tables of the importer."
    desk.told("remember", public)
    desk.told("remember", "Customer ids of the heron42 tenant are secret.", "--scope", "private")
    say(desk, IDS, at=ago(hours=2))
    desk.told("learn", "--yes")
    assert "integers in all tables" in "".join(endpoint.raw)
    assert "heron42" not in "".join(endpoint.raw)


def test_replacements_are_proposed_and_not_made(desk: Machine, endpoint: ModelServer) -> None:
    old = "Customer ids are integers in all tables of the importer."
    desk.told("remember", old)

    def answer(asked: dict[str, Any]) -> dict[str, Any]:
        ids = [one["id"] for one in asked["known"] if one["text"] == old]
        return answers(item(replaces=ids))

    endpoint.answer = answer
    say(desk, IDS, at=ago(hours=2))
    done = desk.told("learn", "--yes", "--json").json
    assert done["new"] == 1
    shown = texts(desk)
    assert IDS_TEXT in shown
    if old in shown:  # told itself did not see that it was replaced
        assert done["proposals"] == 1
        (proposal,) = desk.told("proposals", "--json").json["proposals"]
        assert proposal["action"] == "correct"


def test_what_told_kept_from_the_same_words_is_not_doubled(desk: Machine, endpoint: ModelServer) -> None:
    rule = "Never push straight to main, always open a pull request."
    endpoint.answer = lambda _asked: answers(
        item(text="Never push to main; open a pull request.", kind="rule", quote=rule)
    )
    say(desk, f"{IDS} {rule}")
    desk.told("learn", "--yes")
    assert texts(desk) == [rule]


def test_what_was_forgotten_does_not_come_back(desk: Machine, endpoint: ModelServer) -> None:
    endpoint.answer = lambda _asked: answers(item())
    session = say(desk, IDS)
    desk.told("learn", "--yes")
    (found,) = desk.told("memories", "--json").json["memories"]
    assert desk.told("forget", found["id"], "--force").code == 0
    say(desk, IDS, IDS + " Go on.", session=session)
    desk.told("learn", "--yes")
    assert texts(desk) == []


def test_a_project_that_does_not_learn_is_not_sent(desk: Machine, endpoint: ModelServer) -> None:
    desk.write("work/shop/.told/config.toml", "learn = false\n")
    say(desk, IDS)
    desk.told("learn", "--yes")
    assert endpoint.requests == []


def test_a_project_cannot_choose_the_judge(desk: Machine, model: ModelServer) -> None:
    desk.write(
        "work/shop/.told/config.toml",
        f'[judge]\nmode = "endpoint"\nurl = "{model.url}"\nmodel = "toy"\n',
    )
    say(desk, IDS)
    desk.told("index")
    assert model.requests == []


def test_long_sessions_take_several_questions(desk: Machine, endpoint: ModelServer) -> None:
    many = [f"{IDS} This is the remark with the number {number} of today." for number in range(44)]
    say(desk, *many)
    done = desk.told("learn", "--yes", "--json").json
    assert done["calls"] == done["estimate"]["calls"] == 2
    turns = [one["turn"] for asked in endpoint.asked() for one in asked["messages"]]
    assert turns == list(range(44))


def test_the_estimate_sends_nothing(desk: Machine, endpoint: ModelServer) -> None:
    say(desk, IDS)
    said = desk.told("learn", "--dry-run").out
    assert re.match(r"1 session to read; 1 with something to ask\. About \d,?\d+ tokens in 1 call", said)
    assert endpoint.requests == []
    found = desk.told("learn", "--dry-run", "--json").json
    assert (found["dry_run"], found["estimate"]["calls"]) == (True, 1)


def test_stats_show_what_was_spent(desk: Machine, endpoint: ModelServer) -> None:
    say(desk, IDS)
    desk.told("learn", "--yes")
    assert len(endpoint.requests) == 1
    assert "judge: 1 call, 940 tokens; today 940 of 200,000" in desk.told("stats").out.splitlines()
    assert IDS_QUOTE not in (desk.told_home / "judge.jsonl").read_text()


def test_the_budget_ends_the_day(desk: Machine, endpoint: ModelServer) -> None:
    desk.told("config", "set", "judge.daily_tokens", "2500")
    for day in range(4):
        say(desk, f"{IDS} It is the remark of day {day}.", at=ago(days=day + 1))
    done = desk.told("learn", "--yes")
    assert done.code == 3
    assert "The daily budget is used up (2,500 tokens)." in done.out
    spent = len(endpoint.requests)
    assert 1 <= spent < 4
    desk.told("index")
    desk.told("learn", "--yes")
    assert len(endpoint.requests) == spent


def test_a_budget_of_zero_sends_nothing(desk: Machine, endpoint: ModelServer) -> None:
    desk.told("config", "set", "judge.daily_tokens", "0")
    say(desk, IDS)
    desk.told("index")
    desk.told("learn", "--yes")
    assert endpoint.requests == []


def test_an_agent_cannot_run_the_judge(desk: Machine, endpoint: ModelServer) -> None:
    say(desk, IDS)
    desk.environ["CLAUDECODE"] = "1"
    done = desk.told("learn", "--yes")
    assert (done.code, done.err) == (
        2,
        "told: Only you can run the judge. Use `told learn` in your own terminal.\n",
    )
    assert endpoint.requests == []
