"""With a reader, told learns what a model found, if the user's own words prove it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.machine import ago

if TYPE_CHECKING:
    from datetime import datetime

    from tests.cli.machine import Machine
    from tests.reader.model_server import ModelServer

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
    assert desk.told("learn", "--json").json["reader"] is None
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


def test_everything_that_was_typed_is_sent_oldest_session_first(desk: Machine, endpoint: ModelServer) -> None:
    say(desk, "later", at=ago(days=2))
    say(desk, TASK, IDS, at=ago(days=3))
    desk.told("index")
    (asked,) = endpoint.asked()
    messages = [one for session in asked["sessions"] for one in session["messages"]]
    assert [(one["id"], one["text"]) for one in messages] == [(0, TASK), (1, IDS), (2, "later")]
    assert messages[1]["before"] == "Done."
    assert asked["sessions"][0]["date"] < asked["sessions"][1]["date"]


def test_a_long_paste_is_cut_in_the_middle(desk: Machine, endpoint: ModelServer) -> None:
    say(desk, f"{IDS}\n" + "\n".join(f"line {number}: ok" for number in range(2000)) + "\nfix that")
    desk.told("index")
    (asked,) = endpoint.asked()
    (message,) = asked["messages"]
    assert message["text"].startswith(IDS[:40])
    assert message["text"].endswith("fix that")
    assert len(message["text"]) < 5000


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
    assert [one["text"][:20] for one in endpoint.asked()[1]["messages"]] == [more[:20]]
    assert texts(desk) == [IDS_TEXT]


def test_without_background_a_running_session_waits(desk: Machine, endpoint: ModelServer) -> None:
    say(desk, IDS, at=ago(minutes=5))
    desk.told("index")
    assert endpoint.requests == []


def test_the_background_leaves_old_history_to_the_user(desk: Machine, endpoint: ModelServer) -> None:
    say(desk, IDS, at=ago(days=60))
    desk.told("sweep")
    assert endpoint.requests == []
    assert desk.told("learn", "--yes", "--since", "2026-11-01").code == 0
    assert endpoint.requests == []
    desk.told("learn", "--yes")
    assert len(endpoint.requests) == 1


def test_without_background_the_index_reads_all_history(desk: Machine, endpoint: ModelServer) -> None:
    say(desk, IDS, at=ago(days=60))
    desk.told("index")
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    "lie",
    [
        item(quote="our customer ids are always integers"),
        item(quote="ids"),
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


def test_what_a_quote_does_not_carry_is_kept_in_the_users_words(desk: Machine, endpoint: ModelServer) -> None:
    endpoint.answer = lambda _asked: answers(item(text="Deploys happen on Fridays from the release branch."))
    say(desk, IDS)
    desk.told("learn", "--yes")
    assert [text in IDS for text in texts(desk)] == [True]


@pytest.mark.parametrize("broken", ["no JSON at all", "{}", '{"items": 3}', '{"items": [', "[]"])
def test_a_malformed_answer_changes_nothing(desk: Machine, endpoint: ModelServer, broken: str) -> None:
    endpoint.answer = lambda _asked: broken
    say(desk, "Never push straight to main, always open a pull request.", IDS)
    desk.told("index")
    assert texts(desk) == ["Never push straight to main, always open a pull request."]
    desk.told("index")
    desk.told("index")
    assert len(endpoint.requests) == 2  # it is not asked forever
    assert desk.told("stats", "--json").json["reader"]["failed"] == 2


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
        f'[reader]\nmode = "endpoint"\nurl = "{endpoint.url}"\nmodel = "toy"\n[redaction]\nenabled = false\n'
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
    assert len(endpoint.requests) == 1
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


def test_a_wrong_message_number_does_no_harm(desk: Machine, endpoint: ModelServer) -> None:
    endpoint.answer = lambda _asked: answers(item(turn=7))
    say(desk, TASK, IDS)
    desk.told("learn", "--yes")
    assert texts(desk) == [IDS_TEXT]


def test_what_an_item_replaces_ends(desk: Machine, endpoint: ModelServer) -> None:
    old = "Customer ids are integers in all tables of the importer."
    desk.told("remember", old)

    def answer(asked: dict[str, Any]) -> dict[str, Any]:
        ids = [one["id"] for one in asked["known"] if one["text"] == old]
        return answers(item(replaces=ids))

    endpoint.answer = answer
    say(desk, IDS, at=ago(days=-1))
    done = desk.told("learn", "--yes", "--json").json
    assert (done["new"], done["ended"], done["proposals"]) == (1, 1, 0)
    assert texts(desk) == [IDS_TEXT]
    ended = desk.told("memories", "--status", "superseded", "--json").json["memories"]
    desk.told("undo", "--of", next(one["id"] for one in ended if one["text"] == old))
    assert old in texts(desk)


@pytest.mark.parametrize("how", ["locked", "later", "elsewhere"])
def test_what_an_item_may_not_end_is_asked(desk: Machine, endpoint: ModelServer, how: str) -> None:
    old = "Customer ids are integers in all tables of the importer."
    desk.told("remember", old, *(["--scope", "global"] if how == "elsewhere" else []))
    if how == "locked":
        (kept,) = desk.told("memories", "--json").json["memories"]
        desk.told("lock", kept["id"])

    def answer(asked: dict[str, Any]) -> dict[str, Any]:
        return answers(item(replaces=[one["id"] for one in asked["known"] if one["text"] == old]))

    endpoint.answer = answer
    say(desk, IDS, at=ago(days=2) if how == "later" else ago(days=-1))
    desk.told("learn", "--yes", "--json")
    assert old in texts(desk)
    (proposal,) = desk.told("proposals", "--json").json["proposals"]
    assert proposal["action"] == "correct"


def test_a_later_session_in_the_same_question_replaces_an_earlier(
    desk: Machine, endpoint: ModelServer
) -> None:
    first, then = "Queue jobs go to redis.", "Queue jobs go to postgres."
    quotes = ("our jobs go into redis", "no more redis, jobs go into postgres")
    endpoint.answer = lambda _asked: answers(
        item(text=then, quote=quotes[1], message=1, replaces=[first]),
        item(text=first, quote=quotes[0], message=0),
    )
    say(desk, f"by the way {quotes[0]}", at=ago(days=3))
    say(desk, f"{quotes[1]}, it is simpler", at=ago(days=2))
    desk.told("learn", "--yes")
    assert texts(desk) == [then]
    assert len(endpoint.requests) == 1


def test_the_user_takes_something_back(desk: Machine, endpoint: ModelServer) -> None:
    old = "Customer ids are integers in all tables of the importer."
    desk.told("remember", old)
    quote = "forget about the integers, that was nonsense"

    def answer(asked: dict[str, Any]) -> dict[str, Any]:
        return answers(item(text="", quote=quote, replaces=[one["id"] for one in asked["known"]]))

    endpoint.answer = answer
    say(desk, f"hm, {quote}", at=ago(days=-1))
    assert desk.told("learn", "--yes", "--json").json["ended"] == 1
    assert texts(desk) == []


def test_the_reader_words_what_told_kept(desk: Machine, endpoint: ModelServer) -> None:
    rule = "Never push straight to main, always open a pull request."
    better = "Never push to main; open a pull request."
    endpoint.answer = lambda _asked: answers(
        item(text=better, kind="rule", quote=rule, when=["push my changes"], always=True)
    )
    say(desk, f"{IDS} {rule}")
    desk.told("index")
    assert desk.told("learn", "--yes", "--json").json["reader"] == "endpoint"
    assert texts(desk) == [better]
    desk.told("rebuild")
    assert texts(desk) == [better]


def test_what_the_user_decided_is_not_reworded(desk: Machine, endpoint: ModelServer) -> None:
    rule = "Never push straight to main, always open a pull request."
    say(desk, rule)
    desk.config("")
    desk.told("index")
    (kept,) = desk.told("memories", "--json").json["memories"]
    desk.told("confirm", kept["id"])
    desk.config(f'[reader]\nmode = "endpoint"\nurl = "{endpoint.url}"\nmodel = "toy"\n')
    endpoint.answer = lambda _asked: answers(
        item(text="Never push to main.", kind="rule", quote=rule),
        candidates=[{"id": kept["id"], "keep": False}],
    )
    desk.told("learn", "--yes")
    assert texts(desk) == [rule]


def test_the_reader_drops_what_told_kept(desk: Machine, endpoint: ModelServer) -> None:
    rule = "Never push straight to main, always open a pull request."
    endpoint.answer = lambda asked: answers(
        candidates=[{"id": one["id"], "keep": False} for one in asked["candidates"]]
    )
    say(desk, rule)
    assert desk.told("learn", "--yes", "--json").json["dismissed"] == 1
    assert texts(desk) == []
    say(desk, rule, at=ago(days=1))  # said again, it counts
    endpoint.answer = lambda _asked: answers()
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


def test_a_project_cannot_choose_the_reader(desk: Machine, model: ModelServer) -> None:
    desk.write(
        "work/shop/.told/config.toml",
        f'[reader]\nmode = "endpoint"\nurl = "{model.url}"\nmodel = "toy"\n',
    )
    say(desk, IDS)
    desk.told("index")
    assert model.requests == []


def test_long_sessions_take_several_questions(desk: Machine, endpoint: ModelServer) -> None:
    many = [f"{IDS} This is the remark with the number {number} of today." for number in range(90)]
    say(desk, *many)
    done = desk.told("learn", "--yes", "--json").json
    assert done["calls"] == done["estimate"]["calls"] == 2
    sent = [one["text"] for asked in endpoint.asked() for one in asked["messages"]]
    assert sent == many


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
    line = "reader: 1 call, 940 tokens; today 940 of 200,000; 0 learned"
    assert line in desk.told("stats").out.splitlines()
    assert IDS_QUOTE not in (desk.told_home / "reader.jsonl").read_text()


def test_the_budget_ends_the_day(desk: Machine, endpoint: ModelServer) -> None:
    desk.told("config", "set", "reader.daily_tokens", "4600")
    for day, name in enumerate(("heron", "wren", "kite", "teal", "owl", "swift", "rook", "crane")):
        say(desk, f"About the {name}: {IDS} " + "And so on. " * 300, at=ago(days=day + 1))
    done = desk.told("learn", "--yes")
    assert done.code == 3
    assert "The daily budget is used up (4,600 tokens)." in done.out
    spent = len(endpoint.requests)
    assert 1 <= spent < 4
    desk.told("index")
    desk.told("learn", "--yes")
    assert len(endpoint.requests) == spent


def test_a_budget_of_zero_sends_nothing(desk: Machine, endpoint: ModelServer) -> None:
    desk.told("config", "set", "reader.daily_tokens", "0")
    say(desk, IDS)
    desk.told("index")
    desk.told("learn", "--yes")
    assert endpoint.requests == []


def test_an_agent_cannot_run_the_reader(desk: Machine, endpoint: ModelServer) -> None:
    say(desk, IDS)
    desk.environ["CLAUDECODE"] = "1"
    done = desk.told("learn", "--yes")
    assert (done.code, done.err) == (
        2,
        "told: Only you can run the reader. Use `told learn` in your own terminal.\n",
    )
    assert endpoint.requests == []


def test_review_shows_what_the_reader_ended_and_restores_it(desk: Machine, endpoint: ModelServer) -> None:
    old = "Customer ids are integers in all tables of the importer."
    desk.told("remember", old)
    endpoint.answer = lambda asked: answers(item(replaces=[one["id"] for one in asked["known"]]))
    say(desk, IDS, at=ago(days=-1))
    desk.told("learn", "--yes")
    (found,) = desk.told("review", "--json").json["items"]
    assert (found["memory"]["text"], [one["text"] for one in found["ended"]]) == (IDS_TEXT, [old])
    assert found["quote"]["words"] == IDS_QUOTE
    assert "  replaced: " in desk.told("review").out
    desk.told("review", "dismiss", found["id"])
    assert texts(desk) == [old]
    desk.told("rebuild")
    assert texts(desk) == [old]


def test_a_programs_prompts_are_not_read(desk: Machine, endpoint: ModelServer) -> None:
    for number in range(3):
        say(desk, f"Run the eval {number} and reply with the exact marker only, do not add any explanation.")
    say(desk, IDS)
    desk.told("learn", "--yes")
    (asked,) = endpoint.asked()
    assert "exact marker" not in str(asked)


@pytest.mark.parametrize("text", ["", "Go ahead with the toggle."])
def test_what_was_not_spoken_of_is_not_ended(desk: Machine, endpoint: ModelServer, text: str) -> None:
    old = "Never deploy the billing service on Fridays."
    desk.told("remember", old)
    endpoint.answer = lambda asked: answers(
        item(text=text, quote="go ahead with the toggle", replaces=[one["id"] for one in asked["known"]])
    )
    say(desk, "looks fine, go ahead with the toggle", at=ago(days=-1))
    assert desk.told("learn", "--yes", "--json").json["ended"] == 0
    assert old in texts(desk)
    assert len(desk.told("proposals", "--json").json["proposals"]) == 1
