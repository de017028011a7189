"""Cline."""

from __future__ import annotations

from lab.agents.base import RealAgent, Words
from lab.bench import Bench
from lab.npm import Program
from lab.result import COMPACTION, OFFERED, PROMPT, START


def _prepare(bench: Bench) -> None:
    words = ("auth", "-p", "openai", "-k", "none", "-m", "scripted", "-b", f"{bench.url}/v1")
    done = bench.machine.run((bench.program, *words), bench.environ())
    assert done.code == 0, done.err


def _variables(bench: Bench) -> dict[str, str]:
    del bench
    return {"CLINE_TELEMETRY_DISABLED": "1", "DO_NOT_TRACK": "1", "CLINE_NO_AUTO_UPDATE": "1"}


def _begin(prompt: str) -> Words:
    return (prompt,)


def _resume(prompt: str) -> Words:
    return (prompt,)


AGENT = RealAgent(
    "cline", "Cline", Program("cline", "3.0.65", "cline"), _prepare, _variables, _begin, _resume,
    refuses={
        START: "no: it hands hooks' words on at tool calls only",
        PROMPT: "no: it has no working prompt hook",
        COMPACTION: "not tried",
        OFFERED: "no: it hands hooks' words on at tool calls only",
    },
)  # fmt: skip
