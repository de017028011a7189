"""Claude Code."""

from __future__ import annotations

from lab.agents.base import RealAgent, Words
from lab.bench import Bench
from lab.npm import Program

_HEADLESS = ("--dangerously-skip-permissions", "-p")


def _prepare(bench: Bench) -> None:
    bench.machine.write_json(".claude/settings.json", {"cleanupPeriodDays": 365})


def _variables(bench: Bench) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": bench.url, "ANTHROPIC_API_KEY": "sk-ant-none", "IS_SANDBOX": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
    }  # fmt: skip


def _begin(prompt: str) -> Words:
    return (*_HEADLESS, prompt)


def _resume(prompt: str) -> Words:
    return (*_HEADLESS, prompt, "--continue")


AGENT = RealAgent(
    "claude-code", "Claude Code", Program("@anthropic-ai/claude-code", "2.1.326", "claude"),
    _prepare, _variables, _begin, _resume,
)  # fmt: skip
