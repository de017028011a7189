"""One memory that told cannot judge never silences the others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli import conftest
from tests.cli.machine import Machine
from tests.cli.test_fences import texts as texts_in
from told.hook.dispatch import answer_hook
from told.jsontext import load_json
from told.recall import layers, recall

RULE = "Never deploy on Fridays with the staging client"
machine = conftest.machine
BAD = 'Use {"client_id":"abc"} for the deploy of the staging client'
PROMPT = "Deploy with the staging client"


def prompt_hook(machine: Machine, prompt: str = PROMPT) -> str:
    call = {"session_id": "s-1", "cwd": str(machine.home), "prompt": prompt}
    said = answer_hook("claude-code", "prompt", call, machine.environ)
    return "\n".join(texts_in(load_json(said))) if said else ""


@pytest.fixture
def taught(machine: Machine) -> Machine:
    for text in (RULE, BAD, "The staging client runs on port 8080"):
        assert machine.told("remember", text).code == 0
    assert machine.told("lock", RULE).code == 0
    return machine


@pytest.mark.parametrize("module", ["layers"])
def test_a_bad_memory_is_left_out_and_named_by_health(
    taught: Machine, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    ways: dict[str, tuple[Any, str, Any]] = {
        "layers": (layers, "score_recency", lambda found, _: " ".join(one.text for one in found.values())),
    }
    place, name, text_of = ways[module]
    original = getattr(place, name)

    def fail_on_bad(*given: Any) -> Any:
        if "client_id" in text_of(*given):
            raise ValueError(given)
        return original(*given)

    monkeypatch.setattr(place, name, fail_on_bad)
    for said in (prompt_hook(taught), taught.told("brief", "--prompt", PROMPT).out):
        assert RULE in said
        assert "port 8080" in said
        assert "client_id" not in said
    bad = next(one["id"] for one in taught.told("memories", "--json").json["memories"] if one["text"] == BAD)
    assert bad in taught.told("health").out
    assert f"cannot be judged: {bad} (ValueError)" in taught.told("explain", PROMPT).out


def test_locked_rules_reach_a_prompt_that_nothing_can_be_found_for(
    taught: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("whatever it is")

    monkeypatch.setattr(recall, "find_candidates", fail)
    said = prompt_hook(taught)
    assert RULE in said
    assert "port 8080" not in said
    for words in (("brief", "--prompt", PROMPT), ("explain", PROMPT)):
        assert RULE in taught.told(*words).out


@pytest.mark.parametrize("text", [BAD, 'say "hi', 'key="v', "NEAR(a b) AND NOT text:", "a\u202eb ^c* -d"])
def test_no_memory_silences_a_locked_rule(taught: Machine, text: str) -> None:
    taught.told("remember", f"{text} for the deploy with the staging client")
    assert RULE in prompt_hook(taught, f"{PROMPT}: {text}")
    for command in ("brief --prompt", "explain", "reason", "wonder", "search", "why"):
        done = taught.told(*command.split(), f"{PROMPT}: {text}")
        assert done.code in (0, 1, 2), done
        assert "bug" not in done.err
