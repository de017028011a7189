"""Anthropic's messages, as Claude Code speaks them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lab.wires.base import ASSISTANT, CALL, RESULT, USER, Answer, Asked, Body, Event, compact, fresh, text_of

SUFFIX = "/messages"


def read(body: Body, path: str) -> Asked:
    """Return what is asked."""
    del path
    said: list[tuple[str, str]] = []
    for message in body.get("messages", []):
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        if message.get("role") == "user":
            results = [block for block in blocks if block.get("type") == "tool_result"]
            said += [(RESULT, compact(block.get("content"))) for block in results]
            said.append((USER, text_of(blocks)))
        elif message.get("role") == "assistant":
            said.append((ASSISTANT, text_of(blocks)))
            said += [(CALL, str(block.get("name"))) for block in blocks if block.get("type") == "tool_use"]
    tools = {tool["name"]: tool.get("input_schema") for tool in body.get("tools", []) if "name" in tool}
    wanted = (body.get("output_config") or {}).get("format") or body.get("output_format") or {}
    return Asked(said, text_of(body.get("system")), tools, wanted.get("schema"))


def whole(answer: Answer, body: Body) -> Body:
    """Return the answer as one document."""
    blocks: list[Body] = [{"type": "text", "text": answer.text}] if answer.text else []
    for (name, arguments), number in zip(answer.calls, answer.ids, strict=False):
        blocks.append({"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments})
    return {
        "id": fresh("msg_"), "type": "message", "role": "assistant", "model": body.get("model"),
        "content": blocks, "stop_reason": "tool_use" if answer.calls else "end_turn", "stop_sequence": None,
        "usage": {
            "input_tokens": answer.tokens, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
            "output_tokens": answer.spent,
        },
    }  # fmt: skip


def stream(answer: Answer, body: Body) -> Iterator[Event]:
    """Yield the answer as a stream."""
    message = whole(answer, body)
    yield _event("message_start", message=message | {"content": [], "stop_reason": None})
    for index, block in enumerate(message["content"]):
        text = block["type"] == "text"
        empty: Body = {"text": ""} if text else {"input": {}}
        delta = (
            {"type": "text_delta", "text": block["text"]}
            if text
            else {"type": "input_json_delta", "partial_json": compact(block["input"])}
        )
        yield _event("content_block_start", index=index, content_block=block | empty)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    stopped = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=stopped, usage=message["usage"])
    yield _event("message_stop")


def _event(name: str, **data: Any) -> Event:
    return name, {"type": name, **data}
