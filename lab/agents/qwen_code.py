"""Qwen Code."""

from __future__ import annotations

from lab.agents.base import RealAgent, Words
from lab.bench import Bench
from lab.npm import Program

_HEADLESS = ("--yolo",)


def _prepare(bench: Bench) -> None:
    bench.machine.write_json(
        ".qwen/settings.json",
        {"security": {"auth": {"selectedType": "openai"}}, "general": {"disableAutoUpdate": True}},
    )


def _variables(bench: Bench) -> dict[str, str]:
    return {
        "OPENAI_BASE_URL": f"{bench.url}/v1", "OPENAI_API_KEY": "none", "OPENAI_MODEL": "qwen3-coder-plus",
        "QWEN_TELEMETRY_ENABLED": "false", "NO_BROWSER": "1",
    }  # fmt: skip


def _begin(prompt: str) -> Words:
    return (*_HEADLESS, "-p", prompt)


def _resume(prompt: str) -> Words:
    return (*_HEADLESS, "-c", "-p", prompt)


AGENT = RealAgent(
    "qwen-code", "Qwen Code", Program("@qwen-code/qwen-code", "0.24.4", "qwen", node=22),
    _prepare, _variables, _begin, _resume,
)  # fmt: skip
