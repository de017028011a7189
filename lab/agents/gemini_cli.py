"""Gemini CLI."""

from __future__ import annotations

from lab.agents.base import RealAgent, Words
from lab.bench import Bench
from lab.npm import Program
from lab.result import WRITTEN

_HEADLESS = ("-m", "gemini-2.5-pro", "--yolo")


def _prepare(bench: Bench) -> None:
    bench.machine.write_json(
        ".gemini/settings.json",
        {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "general": {"disableAutoUpdate": True, "disableUpdateNag": True},
            "privacy": {"usageStatisticsEnabled": False},
        },
    )


def _variables(bench: Bench) -> dict[str, str]:
    return {
        "GOOGLE_GEMINI_BASE_URL": bench.url, "GEMINI_API_KEY": "none", "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_TELEMETRY_ENABLED": "false", "NO_BROWSER": "1",
    }  # fmt: skip


def _begin(prompt: str) -> Words:
    return (*_HEADLESS, "-p", prompt)


def _resume(prompt: str) -> Words:
    return (*_HEADLESS, "-r", "latest", "-p", prompt)


AGENT = RealAgent(
    "gemini-cli", "Gemini CLI", Program("@google/gemini-cli", "0.61.0", "gemini"),
    _prepare, _variables, _begin, _resume,
    refuses={WRITTEN: "no: its hook runs before every turn of the model"},
)  # fmt: skip
