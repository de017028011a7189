"""Whatever an agent sends: the hook understands it or says nothing, and never says more than it was given."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.hook.desk import AGENTS, PAYLOADS, Desk
from tests.soak import points
from told.agents.dialects import EVENTS, answer_context, parse_call, strip_injected
from told.fence import CLOSING, OPENING, remove_between
from told.hook.dispatch import answer_hook
from told.jsontext import dump_json, load_json

if TYPE_CHECKING:
    from typing import Any

_FIELDS = [
    *sorted({name for path in PAYLOADS.glob("*/*.json") for name in json.loads(path.read_text())}),
    "conversation_id", "workspace_roots", "cursor_version", "toolArgs", "tool_args", "directory", "command",
]  # fmt: skip
_TEXT = st.one_of(
    st.text(),
    st.sampled_from([
        "No, we use pnpm here, never npm.", "/mem:lock Use tabs.", "/mem:correct a -> b",
        "/mem:", "/mem:lock",         "<told>", "</told>", "<hook_context>x</hook_context>",
        "<private>", "../../etc/passwd",
        "\x00", "\ud800",         "compact", "resume", "~", "/", "", "a\tb", "a\nb", "{",
        '{"command": "rm"}', "git push --force",
    ]),
)  # fmt: skip
_JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), _TEXT
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_TEXT, inner, max_size=3)),
    max_leaves=8,
)
_PAYLOAD = st.dictionaries(st.one_of(st.sampled_from(_FIELDS), st.text(max_size=5)), _JSON, max_size=8)
_EVENT = st.one_of(
    st.sampled_from([*EVENTS, "SessionStart", "beforeSubmitPrompt", "Stop"]), st.text(max_size=12)
)
_AGENT = st.one_of(st.sampled_from([*AGENTS, "cline", "windsurf"]), st.text(max_size=8))
_MANY = points(everyday=100, soak=1000)
_QUICK = settings(
    max_examples=points(everyday=40, soak=200), deadline=None, suppress_health_check=list(HealthCheck)
)
_PIECES = st.lists(
    st.one_of(
        st.sampled_from([OPENING, CLOSING, "<hook_context>", "</hook_context>", "<told", ">", "told>", "\n"]),
        st.text(max_size=6),
    ),
    max_size=14,
).map("".join)


@_QUICK
@given(agent=_AGENT, event=_EVENT, payload=_PAYLOAD)
def test_no_payload_makes_the_hook_fail(desk: Desk, agent: str, event: str, payload: dict[str, Any]) -> None:
    said = answer_hook(agent, event, payload, desk.environ)
    assert said == "" or isinstance(json.loads(said), dict)


@_QUICK
@given(agent=_AGENT, event=st.sampled_from(EVENTS), payload=_PAYLOAD, prompt=_TEXT)
def test_no_prompt_makes_the_hook_fail(
    desk: Desk, agent: str, event: str, payload: dict[str, Any], prompt: str
) -> None:
    given_ = payload | {"prompt": prompt, "session_id": "s", "cwd": desk.project}
    said = answer_hook(agent, event, given_, desk.environ)
    assert said == "" or isinstance(json.loads(said), dict)


@settings(max_examples=_MANY, deadline=None)
@given(text=_PIECES)
def test_taking_out_what_told_said_never_adds_anything(text: str) -> None:
    for found in (strip_injected(text), remove_between(text)):
        assert len(found) <= len(text)
        rest = iter(text)
        assert all(letter in rest for letter in found)  # in the same order
    assert OPENING in text or remove_between(text) == text
    assert OPENING in text or CLOSING in text or remove_between(f"a{OPENING}{text}{CLOSING}b") == "ab"


@settings(max_examples=_MANY, deadline=None)
@given(agent=_AGENT, event=_EVENT, payload=_PAYLOAD, text=st.text())
def test_an_answer_is_always_json_that_holds_the_text(
    agent: str, event: str, payload: dict[str, Any], text: str
) -> None:
    call = parse_call(agent, event, payload)
    if call is None:
        return
    for name in (
        "agent",
        "event",
        "name",
        "session",
        "cwd",
        "prompt",
        "transcript",
        "source",
        "tool",
        "command",
    ):
        assert isinstance(getattr(call, name), str)
    made = answer_context(call, text)
    assert json.loads(dump_json(made)) == made
    assert not made or text in json.dumps(made, ensure_ascii=False) or text in _strings(made)


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.values() for text in _strings(one)]
    return [value] if isinstance(value, str) else []


@settings(max_examples=_MANY, deadline=None)
@given(value=_JSON)
def test_json_is_read_and_written_as_the_standard_library_does(value: Any) -> None:
    text = json.dumps(value)
    assert load_json(text) == json.loads(text)
    assert json.loads(dump_json(value)) == json.loads(text)


@settings(max_examples=_MANY, deadline=None)
@given(text=st.text(max_size=40))
def test_what_is_no_json_is_refused_like_there(text: str) -> None:
    text = text.strip()
    try:
        expected = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        with pytest.raises(ValueError):
            load_json(text)
        return
    assert load_json(text) == expected


def _refuse(name: str) -> None:
    raise ValueError(name)


@pytest.fixture(autouse=True)
def _anew(desk: Desk) -> None:
    shutil.rmtree(desk.told_home, ignore_errors=True)
