"""Rules that differ only in their subject: each is kept through every door, and each reaches its prompt."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.cli.asking import Asking

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.hook.desk import Desk

_CUSTOMERS = [
    f"Always send the invoices of customer {number} as a signed PDF by mail."
    for number in (1041, 1042, 1043, 1104)
]
_BRANCHES = [f"Always name branch number{number} with the prefix zulu{number}." for number in range(1, 6)]
_PLANS = [f"Always bill plan {plan} at the end of the month." for plan in "ABI"]
_REPLICAS = [f"Never restart the {place} replica before noon." for place in ("first", "second", "last")]
_RULES = [*_CUSTOMERS, *_BRANCHES, *_PLANS, *_REPLICAS]


def _remember(desk: Desk) -> None:
    for text in _RULES:
        assert desk.told("remember", text).code == 0


def _type_in_one_session(desk: Desk) -> None:
    for text in _RULES:
        desk.prompt(text)


def _type_in_one_prompt(desk: Desk) -> None:
    desk.prompt("\n".join(_RULES))


def _index(desk: Desk) -> None:
    now = datetime.now(UTC)
    desk.claude(*((text, "Understood.") for text in _RULES), at=now, cwd=desk.project)
    assert desk.told("index").code == 0


def _type_and_index(desk: Desk) -> None:
    _type_in_one_session(desk)
    now = datetime.now(UTC)
    desk.claude(*((text, "Understood.") for text in _RULES), at=now, cwd=desk.project, session="s-1")
    assert desk.told("index").code == 0


def _report(desk: Desk) -> None:
    session = desk.claude(*((text, "Understood.") for text in _RULES), at=datetime.now(UTC), cwd=desk.project)
    desk.environ |= {"CLAUDE_CODE_SESSION_ID": session, "TOLD_LEARN": "off"}
    agent = Asking(desk, "claude-code")
    for text in _RULES:
        assert "as the user's word" in agent.say("remember", text=text, quote=text)


@pytest.mark.parametrize(
    "say", [_remember, _type_in_one_session, _type_in_one_prompt, _index, _type_and_index, _report]
)
def test_rules_with_different_subjects_are_all_kept(
    desk: Desk, say: Callable[[Desk], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(desk.project)
    say(desk)
    assert sorted(desk.texts()) == sorted(_RULES)
    assert {one["status"] for one in desk.memories()} == {"active"}


@pytest.mark.parametrize("say", [_remember, _type_in_one_session])
def test_each_rule_reaches_the_prompt_that_names_its_subject(
    desk: Desk, say: Callable[[Desk], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(desk.project)
    say(desk)
    for at, text in enumerate(_CUSTOMERS):
        number = text.split("customer ")[1].split()[0]
        given = desk.prompt(f"Send the invoices of customer {number} by mail.", session=f"later-{at}")
        assert text in given


def test_later_value_of_the_same_session_supersedes_the_first(desk: Desk) -> None:
    for port in (8081, 8082):
        desk.prompt(f"From now on the billing service always runs on port {port}.")
    assert [one["text"].endswith("port 8082.") for one in desk.memories()] == [True]
