"""Answer one question with a GGUF file by xllamacpp; `python -I -m told.reader.gguf_worker`."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

_SMALLEST, _LARGEST = 2048, 16_384  # tokens of context
_CHARACTERS = 2.5  # per token, at least


def answer(question: dict[str, Any]) -> dict[str, Any]:
    """Load the model and return its answer with the tokens that it took."""
    from xllamacpp import CommonParams, Server  # noqa: PLC0415 - an optional dependency

    length = len(question["system"]) + len(question["prompt"])
    room = int(length / _CHARACTERS) + question["max_tokens"] + 256
    params = CommonParams()
    params.model.path = question["file"]
    params.n_ctx = min(_LARGEST, max(_SMALLEST, room))
    params.n_parallel = 1
    params.warmup = False
    params.cpuparams.n_threads = max(1, (os.cpu_count() or 2) // 2)
    found = Server(params).handle_chat_completions({
        "messages": [
            {"role": "system", "content": question["system"]},
            {"role": "user", "content": question["prompt"]},
        ],
        "temperature": 0,
        "max_tokens": question["max_tokens"],
        "response_format": {
            "type": "json_schema", "json_schema": {"name": "answer", "schema": question["schema"]},
        },
    })  # fmt: skip
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
