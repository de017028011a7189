"""The scripted model speaks with every agent in its own language and keeps what reached it."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from lab import asking, script
from lab.briefs import briefs, holding, own_words
from lab.model import Model, Request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SHELL = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
_PATHS = {
    "anthropic": "v1/messages",
    "chat": "v1/chat/completions",
    "responses": "v1/responses",
    "gemini": "v1beta/models/gemini-2.5-pro:streamGenerateContent",
}


@pytest.fixture
def model(tmp_path: Path) -> Iterator[Model]:
    with Model(str(tmp_path)) as running:
        yield running


def _body(wire: str, text: str, *, tools: bool = True) -> dict[str, Any]:
    if wire == "gemini":
        declared = [{"functionDeclarations": [{"name": "run_shell_command", "parameters": _SHELL}]}]
        return {"contents": [{"role": "user", "parts": [{"text": text}]}], "tools": declared if tools else []}
    if wire == "responses":
        named = {"type": "function", "name": "exec_command", "parameters": _SHELL}
        message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        return {"stream": True, "input": [message], "tools": [named] if tools else []}
    if wire == "anthropic":
        offered = [{"name": "Bash", "input_schema": _SHELL}] if tools else []
        content = [{"type": "text", "text": text}]
        return {"stream": True, "messages": [{"role": "user", "content": content}], "tools": offered}
    function = {"type": "function", "function": {"name": "bash", "parameters": _SHELL}}
    said = {"role": "user", "content": text}
    return {"stream": True, "messages": [said], "tools": [function] if tools else []}


def _ask(model: Model, wire: str, body: dict[str, Any]) -> str:
    request = urllib.request.Request(
        f"{model.url('agent')}/{_PATHS[wire]}",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.headers["content-type"] == "text/event-stream"
        text: str = answer.read().decode()
    return text


@pytest.mark.parametrize("wire", _PATHS)
def test_every_language_gets_an_answer(model: Model, wire: str) -> None:
    assert "All right, that is done." in _ask(model, wire, _body(wire, "Say hello."))


@pytest.mark.parametrize("wire", _PATHS)
def test_a_prompt_about_files_makes_it_call_the_shell_once(model: Model, wire: str) -> None:
    said = _ask(model, wire, _body(wire, f"<reminder>x</reminder>{script.LIST_FILES} here."))
    assert "ls" in said
    assert any(name in said for name in ("tool_use", "tool_calls", "function_call", "functionCall"))


@pytest.mark.parametrize("wire", _PATHS)
def test_a_compaction_gets_a_summary(model: Model, wire: str) -> None:
    said = _ask(model, wire, _body(wire, "Your task is to create a detailed summary of the conversation."))
    assert "<summary>" in said
    assert model.requests["agent"][0].kind == "summary"


@pytest.mark.parametrize("wire", _PATHS)
def test_a_full_context_is_reported_as_full(model: Model, wire: str) -> None:
    assert str(script.FULL_TOKENS) in _ask(model, wire, _body(wire, f"{script.FULL_CONTEXT}."))


def test_after_a_compaction_it_says_what_is_left_to_do(model: Model) -> None:
    said = _ask(model, "chat", _body("chat", f"Go on. Before: {script.SUMMARY}"))
    assert "Next steps:" in said


@pytest.mark.parametrize("wire", _PATHS)
def test_what_reached_it_is_kept_in_a_file(model: Model, wire: str, tmp_path: Path) -> None:
    body = _body(wire, "<hook_context>added</hook_context>\n\nWhat is this?")
    _ask(model, wire, body)
    request = model.requests["agent"][0]
    assert request.prompt == "What is this?"
    assert request.has("added")
    assert json.loads((tmp_path / "agent" / "0001-turn.json").read_text()) == body


def test_every_request_takes_a_look_at_the_folder_that_is_watched(model: Model, tmp_path: Path) -> None:
    folder = tmp_path / "checkpoints" / "acme"
    model.watched["agent"] = str(folder.parent)
    _ask(model, "chat", _body("chat", "One."))
    folder.mkdir(parents=True)
    (folder / "note.md").write_text("x")
    _ask(model, "chat", _body("chat", "Two."))
    first, second = model.requests["agent"]
    assert first.newest == 0
    assert second.newest == (folder / "note.md").stat().st_mtime_ns


def test_requests_since_a_count_are_those_of_the_last_prompt(model: Model) -> None:
    _ask(model, "chat", _body("chat", "One."))
    before = model.count("agent")
    _ask(model, "chat", _body("chat", "Two."))
    assert [request.prompt for request in model.since("agent", before)] == ["Two."]


def test_a_request_for_a_title_is_no_turn(model: Model) -> None:
    _ask(model, "chat", _body("chat", "Say hello.", tools=False))
    assert model.requests["agent"][0].kind == "title"


def test_briefs_are_found_wherever_they_stand_and_however_they_are_escaped() -> None:
    plain = Request("turn", {"system": ["a <told>\nuse pnpm\n</told> b"]}, "")
    escaped = Request("turn", {"text": "<hook_context>&lt;told&gt;use pnpm&lt;/told&gt;</hook_context>"}, "")
    assert briefs(plain) == ("<told>\nuse pnpm\n</told>",)
    assert briefs(escaped) == ("<told>use pnpm</told>",)
    assert holding([plain], "PNPM")
    assert not holding([Request("turn", {"text": "use pnpm"}, "")], "pnpm")


def test_what_a_brief_quotes_is_not_what_it_says_itself() -> None:
    said = own_words("<told>\n- Last session: <user ps6wf>use pnpm</user ps6wf>\n- Never npm.\n</told>")
    assert "pnpm" not in said
    assert "Never npm." in said


_SEARCH = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
_NAMES = {
    "anthropic": "mcp__told__search",
    "chat": "told_search",
    "responses": "mcp__told::search",
    "gemini": "mcp_told_search",
}


def _asking(wire: str, more: list[Any] | None = None) -> dict[str, Any]:
    """A request of an agent that offers told's search, with what was said after the prompt."""
    body = _body(wire, f"{asking.ASK}.")
    name = _NAMES[wire]
    if wire == "gemini":
        body["tools"][0]["functionDeclarations"].append({"name": name, "parametersJsonSchema": _SEARCH})
        body["contents"] += more or []
    elif wire == "responses":
        inside = {"type": "function", "name": "search", "parameters": _SEARCH}
        body["tools"].append({"type": "namespace", "name": "mcp__told", "tools": [inside]})
        body["input"] += more or []
    else:
        function = {"name": name, "parameters": _SEARCH, "input_schema": _SEARCH}
        body["tools"].append(function if wire == "anthropic" else {"type": "function", "function": function})
        body["messages"] += more or []
    return body


_HEARD: dict[str, list[Any]] = {
    "anthropic": [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "mcp__told__search"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "semicolons"}]},
    ],
    "chat": [
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "told_search"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "semicolons"},
    ],
    "responses": [
        {"type": "function_call", "namespace": "mcp__told", "name": "search", "call_id": "1"},
        {"type": "function_call_output", "call_id": "1", "output": [{"text": "semicolons"}]},
    ],
    "gemini": [
        {"role": "model", "parts": [{"functionCall": {"name": "mcp_told_search"}}]},
        {"role": "user", "parts": [{"functionResponse": {"response": {"output": "semicolons"}}}]},
    ],
}


@pytest.mark.parametrize("wire", _PATHS)
def test_it_asks_told_in_the_words_of_each_agent_and_keeps_the_answer(model: Model, wire: str) -> None:
    said = _ask(model, wire, _asking(wire))
    assert "invoice export" in said
    assert '"name":"search"' in said or f'"name":"{_NAMES[wire]}"' in said
    assert "All right, that is done." in _ask(model, wire, _asking(wire, _HEARD[wire]))
    first, second = model.requests["agent"]
    assert asking.listed([first]).works
    assert not asking.answered([first], "semicolons").works
    assert asking.answered([first, second], "semicolons").works


def test_it_looks_for_a_tool_that_codex_does_not_offer_at_first(model: Model) -> None:
    body = _body("responses", f"{asking.ASK}.")
    body["tools"].append({"type": "tool_search", "parameters": _SEARCH})
    said = _ask(model, "responses", body)
    assert '"type":"tool_search_call"' in said
    inside = {"type": "function", "name": "search", "parameters": _SEARCH}
    found = [{"type": "namespace", "name": "mcp__told", "tools": [inside]}]
    body["input"] += [
        {"type": "tool_search_call", "call_id": "1", "arguments": {"query": "told"}},
        {"type": "tool_search_output", "call_id": "1", "tools": found},
    ]
    said = _ask(model, "responses", body)
    assert '"namespace":"mcp__told"' in said
    finding = asking.listed(model.requests["agent"])
    assert finding.works
    assert "search for tools" in finding.note


def test_it_calls_a_tool_that_qwen_code_keeps_behind_another(model: Model) -> None:
    body = _body("chat", f"{asking.ASK}.")
    body["tools"] += [
        {"type": "function", "function": {"name": name}} for name in ("tool_search", "tool_call")
    ]
    assert '"name":"tool_search"' in _ask(model, "chat", body)
    body["messages"] += [
        {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "tool_search"}}]},
        {
            "role": "tool",
            "tool_call_id": "1",
            "content": '<functions>{"name": "mcp__told__search"}</functions>',
        },
    ]
    said = _ask(model, "chat", body)
    assert '"name":"tool_call"' in said
    assert "mcp__told__search" in said


def test_an_agent_that_shows_no_tool_of_told_lists_none(model: Model) -> None:
    _ask(model, "chat", _body("chat", f"{asking.ASK}."))
    assert asking.listed(model.requests["agent"]).works is False
    assert asking.answered(model.requests["agent"], "semicolons").works is False
