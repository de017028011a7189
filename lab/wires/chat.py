"""OpenAI's chat completions, as opencode, Copilot CLI, Qwen Code and Cline speak them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from lab.wires.base import ASSISTANT, CALL, RESULT, USER, Answer, Asked, Body, Event, compact, fresh, text_of

SUFFIX = "/chat/completions"


def read(body: Body, path: str) -> Asked:
    """Return what is asked."""
    del path
    said: list[tuple[str, str]] = []
    system: list[str] = []
    for message in body.get("messages", []):
        role, text = message.get("role"), text_of(message.get("content"))
        if role in {"system", "developer"}:
            system.append(text)
        elif role == "user":
            said.append((USER, text))
        elif role == "tool":
            said.append((RESULT, text))
        else:
            said.append((ASSISTANT, text))
            said += [(CALL, call["function"]["name"]) for call in message.get("tool_calls") or []]
    tools = {
        tool["function"]["name"]: tool["function"].get("parameters")
        for tool in body.get("tools") or []
        if tool.get("type") == "function"
    }
    wanted = body.get("response_format") or {}
    schema = (wanted.get("json_schema") or {}).get("schema")
    return Asked(
        said, "\n".join(system), tools, schema or ({} if wanted.get("type") == "json_object" else None)
    )


def whole(answer: Answer, body: Body) -> Body:
    """Return the answer as one document."""
    message: Body = {"role": "assistant", "content": answer.text or None}
    if answer.calls:
        message["tool_calls"] = _calls(answer)
    choice = {"index": 0, "message": message, "finish_reason": _reason(answer)}
    return _head(body) | {"object": "chat.completion", "choices": [choice], "usage": _usage(answer)}


def stream(answer: Answer, body: Body) -> Iterator[Event]:
    """Yield the answer as a stream."""
    head = _head(body) | {"object": "chat.completion.chunk"}

    def chunk(delta: Body, reason: str | None = None) -> Event:
        return "", head | {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}

    yield chunk({"role": "assistant", "content": ""})
    if answer.text:
        yield chunk({"content": answer.text})
    if answer.calls:
        calls = [{"index": at, **call} for at, call in enumerate(_calls(answer))]
        yield chunk({"tool_calls": calls})
    yield chunk({}, _reason(answer))
    yield "", head | {"choices": [], "usage": _usage(answer)}
    yield "", "[DONE]"


def _calls(answer: Answer) -> list[Body]:
    return [
        {"id": number, "type": "function", "function": {"name": name, "arguments": compact(arguments)}}
        for (name, arguments), number in zip(answer.calls, answer.ids, strict=False)
    ]


def _head(body: Body) -> Body:
    return {"id": fresh("chatcmpl-"), "created": int(time.time()), "model": body.get("model")}


def _reason(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"


def _usage(answer: Answer) -> dict[str, Any]:
    total = answer.tokens + answer.spent
    return {"prompt_tokens": answer.tokens, "completion_tokens": answer.spent, "total_tokens": total}
