"""What a model gives a tool: what is meant is taken, what is wrong is said in one sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from told.mcp.tools import LONGEST, TOOLS, check_arguments, tool_named

if TYPE_CHECKING:
    from typing import Any


def taken(name: str, **given: Any) -> dict[str, Any]:
    tool = tool_named(name)
    assert tool is not None
    arguments, wrong = check_arguments(tool, given)
    assert wrong == ""
    return arguments


def wrong(name: str, given: Any) -> str:
    tool = tool_named(name)
    assert tool is not None
    return check_arguments(tool, given)[1]


def test_what_is_meant_is_taken() -> None:
    assert taken("search", query=" deploy ", limit="5") == {"query": "deploy", "limit": 5}
    assert taken("search", query=2024, limit=5.0) == {"query": "2024", "limit": 5}
    assert taken("search", query="x", **{"in": "Memories"}) == {"query": "x", "in": "memories"}
    assert taken("get", id=12345678, full="True") == {"id": ["12345678"], "full": True}
    assert taken("feedback", id="x", useful="false") == {"id": "x", "useful": False}
    assert taken("checkpoint", goal="ship", done="a test") == {"goal": "ship", "done": ["a test"]}
    assert taken("checkpoint", goal="ship", done='["a", "b"]')["done"] == ["a", "b"]
    assert taken("checkpoint", goal="ship", done="[x] a test")["done"] == ["[x] a test"]
    assert taken("checkpoint", goal="ship", done=["a", " ", "b "])["done"] == ["a", "b"]


def test_null_and_nothing_are_as_if_not_given() -> None:
    assert taken("search", query="x", limit=None, project="", _meta={"a": 1}) == {"query": "x"}
    assert taken("checkpoint", goal="x", done=[], files=None) == {"goal": "x"}
    assert taken("files") == {}
    assert wrong("files", None) == ""
    assert wrong("search", None) == wrong("search", {"query": None}) == wrong("search", {"query": "  "})


def test_a_project_is_taken_everywhere_though_not_every_tool_says_so() -> None:
    needed = {
        "items": [{"text": "x"}], "ids": ["x"],
        "query": "x", "id": "x", "text": "x", "goal": "x", "topic": "x", "question": "x", "useful": True,
    }  # fmt: skip
    for tool in TOOLS:
        given = {name: needed[name] for name in tool.schema.get("required", ())}
        assert taken(tool.name, **given, project="acme/shop") == {**given, "project": "acme/shop"}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_argument_of_every_tool_says_what_it_must_be(tool: Any) -> None:
    required = tool.schema.get("required", ())
    for name, schema in {**tool.schema["properties"], **tool.more}.items():
        for value in ({"a": 1}, [{"a": 1}], 1.5, [[["x"]]]):
            sentences = wrong(tool.name, {name: value}).split("\n")
            assert len([one for one in sentences if one.startswith(f"`{name}` must be ")]) == 1, schema
            either = {"text": {"items"}, "id": {"ids"}}.get(name, set())  # one may be given without a list
            assert len(sentences) == len({name, *required} - either)


def test_every_mistake_has_its_sentence() -> None:
    assert wrong("search", {"qury": "x"}).split("\n") == [
        "`query` is missing: give words to search for.",
        "`qury` is no argument of search: it takes query, in, project, limit.",
    ]
    assert wrong("search", {"query": "x", "in": "memory"}) == (
        "`in` must be memories, sessions, checkpoints or all."
    )
    for limit in (0, -1, 1.5, "many", "²", True, float("inf"), [5]):
        assert wrong("search", {"query": "x", "limit": limit}) == (
            "`limit` must be a whole number of at least 1."
        )
    assert wrong("feedback", {"id": "x", "useful": 1}) == "`useful` must be true or false."
    assert wrong("checkpoint", {"goal": "x", "done": [1, "a"]}) == "`done` must be a list of texts."
    odd: tuple[Any, ...] = ([], "x", 7, True)
    for given in odd:
        assert wrong("search", given) == "Give search its arguments as an object."


def test_too_much_text_is_refused_with_its_size() -> None:
    assert taken("remember", text="x" * LONGEST)["text"] == "x" * LONGEST
    assert wrong("remember", {"text": "x" * 1_000_000}) == (
        "`text` has 1,000,000 characters: give at most 100,000."
    )
    assert "200,000 characters" in wrong("checkpoint", {"goal": "x", "done": ["y" * 50_000] * 4})
    assert "2,000 items" in wrong("checkpoint", {"goal": "x", "done": ["y"] * 2000})


def test_a_hostile_name_is_cut_and_many_mistakes_are_not_all_told() -> None:
    said = wrong("files", {"`x`\n\ud800" + "y" * 5000: 1, **{f"a{number}": 1 for number in range(50)}})
    assert len(said.split("\n")) == 5
    assert len(said) < 600
    assert said.encode("utf-8")


def test_half_a_character_becomes_one_that_can_be_written() -> None:
    given = taken("checkpoint", goal="\ud83d ship", done=["\udc00"])
    assert given == {"goal": "? ship", "done": ["?"]}


def test_remember_takes_one_statement_or_several() -> None:
    item = {"text": "Use tabs.", "kind": "rule", "quote": "use tabs", "replaces": ["mabcdefg"]}
    assert taken("remember", items=[item]) == {"items": [item]}
    assert taken("remember", items=item) == {"items": [item]}
    assert taken("remember", items='[{"text": "Use tabs."}]') == {"items": [{"text": "Use tabs."}]}
    assert taken("remember", items=["Use tabs."]) == {"items": [{"text": "Use tabs."}]}
    assert taken("remember", items=[{"text": "a b", "replaces": "m1"}]) == {
        "items": [{"text": "a b", "replaces": ["m1"]}]
    }
    assert taken("remember", text="Use tabs.", kind="rule") == {"text": "Use tabs.", "kind": "rule"}
    assert wrong("remember", {}).startswith("`items` is missing")
    assert "`trust` is no argument" in wrong("remember", {"items": [{"text": "x", "trust": "user"}]})
    assert "at most 50" in wrong("remember", {"items": [{"text": "x"}] * 51})
    values: list[list[Any]] = [[], [{}], [{"quote": "x"}], [[]]]
    assert all(wrong("remember", {"items": value}) for value in values)
