"""GitHub Copilot CLI."""

from __future__ import annotations

from lab.agents.base import RealAgent, Words
from lab.bench import Bench
from lab.npm import Program

_HEADLESS = ("--allow-all-tools", "--allow-all-paths", "-s")


def _prepare(bench: Bench) -> None:
    bench.machine.write_json(".copilot/settings.json", {"banner": "never"})


def _variables(bench: Bench) -> dict[str, str]:
    return {
        "COPILOT_OFFLINE": "true", "COPILOT_AUTO_UPDATE": "false", "COPILOT_MODEL": "gpt-4.1",
        "COPILOT_PROVIDER_BASE_URL": f"{bench.url}/v1", "COPILOT_PROVIDER_API_KEY": "none",
    }  # fmt: skip


def _begin(prompt: str) -> Words:
    return (*_HEADLESS, "-p", prompt)


def _resume(prompt: str) -> Words:
    return (*_HEADLESS, "--continue", "-p", prompt)


AGENT = RealAgent(
    "copilot-cli", "GitHub Copilot CLI", Program("@github/copilot", "1.0.102", "copilot"),
    _prepare, _variables, _begin, _resume,
)  # fmt: skip
