"""Answer one question with llama-cpp-python; `python -I -m told.judge.gguf_worker`."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

_SMALLEST, _LARGEST = 2048, 16_384  # tokens of context
_CHARACTERS = 2.5  # per token, at least


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Load the model and return its answer with the tokens that it took."""
    from llama_cpp import Llama  # noqa: PLC0415 - an optional dependency

    length = len(question["system"]) + len(question["prompt"])
    room = int(length / _CHARACTERS) + question["max_tokens"] + 256
    model = Llama(
        model_path=question["file"],
        n_ctx=min(_LARGEST, max(_SMALLEST, room)),
        n_threads=max(1, (os.cpu_count() or 2) // 2),
        verbose=False,
    )
    messages = [
        {"role": "system", "content": question["system"]},
        {"role": "user", "content": question["prompt"]},
    ]
    found = model.create_chat_completion(
        messages=messages,
        temperature=0,
        max_tokens=question["max_tokens"],
        response_format={"type": "json_object", "schema": question["schema"]},
    )
    usage = found.get("usage") or {}
    return {
        "text": found["choices"][0]["message"]["content"] or "",
        "tokens_in": usage.get("prompt_tokens") or 0,
        "tokens_out": usage.get("completion_tokens") or 0,
    }


def main() -> None:
    """Read a question from standard input and print the answer as one line of JSON."""
    if hasattr(os, "nice"):
        os.nice(19)
    sys.stdout.write(json.dumps(answer(json.load(sys.stdin))) + "\n")


if __name__ == "__main__":
    main()
