"""Google's generateContent, as Gemini CLI speaks it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lab.wires.base import ASSISTANT, CALL, RESULT, USER, Answer, Asked, Body, Event, compact, fresh, text_of

SUFFIX = ":generateContent"
STREAM_SUFFIX = ":streamGenerateContent"


def read(body: Body, path: str) -> Asked:
    """Return what is asked."""
    del path
    said: list[tuple[str, str]] = []
    for message in body.get("contents", []):
        parts = message.get("parts") or []
        text = text_of([part for part in parts if not part.get("thought")])
        results = [part["functionResponse"] for part in parts if "functionResponse" in part]
        if message.get("role") == "model":
            said.append((ASSISTANT, text))
            said += [(CALL, part["functionCall"]["name"]) for part in parts if "functionCall" in part]
        elif results:
            said += [(RESULT, compact(result.get("response"))) for result in results]
        else:
            said.append((USER, text))
    system = body.get("systemInstruction") or {}
    settings = body.get("generationConfig") or {}
    schema = settings.get("responseJsonSchema") or settings.get("responseSchema")
    if schema is None and settings.get("responseMimeType") == "application/json":
        schema = {}
    tools = {
        one["name"]: one.get("parametersJsonSchema") or one.get("parameters")
        for tool in body.get("tools") or []
        for one in tool.get("functionDeclarations") or []
    }
    return Asked(said, system if isinstance(system, str) else text_of(system.get("parts")), tools, schema)


def whole(answer: Answer, body: Body) -> Body:
    """Return the answer as one document."""
    del body
    parts: list[dict[str, Any]] = [{"text": answer.text}] if answer.text else []
    for (name, arguments), number in zip(answer.calls, answer.ids, strict=False):
        parts.append({"functionCall": {"id": number, "name": name, "args": arguments}})
    content = {"role": "model", "parts": parts}
    total = answer.tokens + answer.spent
    usage = {
        "promptTokenCount": answer.tokens, "candidatesTokenCount": answer.spent, "totalTokenCount": total,
    }  # fmt: skip
    return {
        "candidates": [{"content": content, "index": 0, "finishReason": "STOP"}],
        "usageMetadata": usage, "modelVersion": "scripted", "responseId": fresh("r"),
    }  # fmt: skip


def stream(answer: Answer, body: Body) -> Iterator[Event]:
    """Yield the answer as a stream, which is one piece."""
    yield "", whole(answer, body)
