"""Codex."""

from __future__ import annotations

from lab.agents.base import RealAgent, Words
from lab.bench import Bench
from lab.npm import Program

_HEADLESS = ("exec", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust")


def _prepare(bench: Bench) -> None:
    bench.machine.write(
        ".codex/config.toml",
        f"""# The model of the lab
model = "gpt-5.5"
model_provider = "lab"

[model_providers.lab]
name = "lab"
base_url = "{bench.url}/v1"
env_key = "LAB_KEY"
wire_api = "responses"
""",
    )


def _variables(bench: Bench) -> dict[str, str]:
    del bench
    return {"LAB_KEY": "none"}


def _begin(prompt: str) -> Words:
    return (*_HEADLESS, prompt)


def _resume(prompt: str) -> Words:
    return (*_HEADLESS, "resume", "--last", prompt)


AGENT = RealAgent(
    "codex", "Codex", Program("@openai/codex", "0.169.0", "codex"), _prepare, _variables, _begin, _resume,
    "Codex was run with its option for hooks that nobody has reviewed; without it Codex asks once.",
)  # fmt: skip
