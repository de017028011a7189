"""opencode."""

from __future__ import annotations

from lab.agents.base import RealAgent, Words
from lab.bench import Bench
from lab.npm import Program


def _prepare(bench: Bench) -> None:
    model = {"name": "scripted", "limit": {"context": 200_000, "output": 8_000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible", "name": "lab", "models": {"scripted": model},
        "options": {"baseURL": f"{bench.url}/v1", "apiKey": "none"},
    }  # fmt: skip
    bench.machine.write_json(
        ".config/opencode/opencode.json",
        {
            "$schema": "https://opencode.ai/config.json",
            "model": "lab/scripted",
            "provider": {"lab": provider},
        },
    )


def _variables(bench: Bench) -> dict[str, str]:
    del bench
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    }  # fmt: skip


def _begin(prompt: str) -> Words:
    return ("run", prompt)


def _resume(prompt: str) -> Words:
    return ("run", "-c", prompt)


AGENT = RealAgent(
    "opencode", "opencode", Program("opencode-ai", "1.18.33", "opencode"), _prepare, _variables, _begin,
    _resume,
)  # fmt: skip
