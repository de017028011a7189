"""OpenAI's responses, as Codex speaks them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from lab.wires.base import (
    ASSISTANT,
    CALL,
    CUSTOM,
    RESULT,
    USER,
    Answer,
    Asked,
    Body,
    Event,
    compact,
    fresh,
    text_of,
)

SUFFIX = "/responses"
SEARCH = "tool_search"  # a tool of the language itself: the agent looks for tools and offers them
_MORE = ("additional_tools", f"{SEARCH}_output")


def read(body: Body, path: str) -> Asked:
    """Return what is asked."""
    del path
    said: list[tuple[str, str]] = []
    system = [str(body.get("instructions") or "")]
    items = body.get("input")
    for item in items if isinstance(items, list) else [{"role": "user", "content": items}]:
        kind, role = str(item.get("type", "message")), item.get("role")
        if kind.endswith("_output"):
            said.append((RESULT, compact(item.get("output") or item.get("tools"))))
        elif kind.endswith("_call"):
            said.append((CALL, _called(item, kind)))
        elif kind == "message" and role in {"system", "developer"}:
            system.append(text_of(item.get("content")))
        elif kind == "message":
            said.append((USER if role == "user" else ASSISTANT, text_of(item.get("content"))))
    wanted = (body.get("text") or {}).get("format") or {}
    return Asked(said, "\n".join(system), _tools(body), wanted.get("schema"))


def _called(item: Body, kind: str) -> str:
    space = f"{item['namespace']}::" if item.get("namespace") else ""
    return space + str(item.get("name", kind.removesuffix("_call")))


def _tools(body: Body) -> dict[str, Any]:
    """Return the schema of each tool; one in a namespace is called `namespace::name`."""
    found: dict[str, Any] = {}
    items = body.get("input")
    more = [item for item in items if item.get("type") in _MORE] if isinstance(items, list) else []
    for tool in [*(body.get("tools") or []), *(tool for item in more for tool in item.get("tools") or [])]:
        inside = tool.get("tools") or [] if tool.get("type") == "namespace" else [tool]
        prefix = f"{tool['name']}::" if tool.get("type") == "namespace" else ""
        for one in inside:
            if one.get("type") == SEARCH:
                found[SEARCH] = one.get("parameters")
            elif "name" in one:
                found[prefix + one["name"]] = CUSTOM if one.get("type") == "custom" else one.get("parameters")
    return found


def whole(answer: Answer, body: Body) -> Body:
    """Return the answer as one document."""
    items: list[Body] = []
    if answer.text:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        items.append(_item("message", "msg_", role="assistant", content=[part]))
    for (name, arguments), number in zip(answer.calls, answer.ids, strict=False):
        space, _, plain = name.rpartition("::")
        named = {"name": plain, "call_id": number} | ({"namespace": space} if space else {})
        if name == SEARCH:
            call = {"call_id": number, "execution": "client", "arguments": arguments}
            items.append(_item(f"{SEARCH}_call", "tsc_", **call))
        elif isinstance(arguments, str):
            items.append(_item("custom_tool_call", "ctc_", input=arguments, **named))
        else:
            items.append(_item("function_call", "fc_", arguments=compact(arguments), **named))
    usage = {
        "input_tokens": answer.tokens, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": answer.spent, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": answer.tokens + answer.spent,
    }  # fmt: skip
    return {
        "id": fresh("resp_"), "object": "response", "created_at": int(time.time()), "status": "completed",
        "model": body.get("model"), "output": items, "usage": usage,
    }  # fmt: skip


def _item(kind: str, prefix: str, **rest: Any) -> Body:
    return {"type": kind, "id": fresh(prefix), "status": "completed", **rest}


def stream(answer: Answer, body: Body) -> Iterator[Event]:
    """Yield the answer as a stream."""
    response = whole(answer, body)
    begun = response | {"status": "in_progress", "output": []}
    begun.pop("usage")
    yield _event("response.created", response=begun)
    for at, item in enumerate(response["output"]):
        yield _event("response.output_item.added", output_index=at, item=item | {"status": "in_progress"})
        if item["type"] == "message":
            text = item["content"][0]["text"]
            place = {"item_id": item["id"], "output_index": at, "content_index": 0}
            yield _event("response.output_text.delta", delta=text, **place)
            yield _event("response.output_text.done", text=text, **place)
        yield _event("response.output_item.done", output_index=at, item=item)
    yield _event("response.completed", response=response)


def _event(name: str, **data: Any) -> Event:
    return name, {"type": name, **data}
