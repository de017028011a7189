"""The checkpoints of an agent's sessions: written before a compaction, offered at the next start."""

from __future__ import annotations

from typing import Any

from lab.bench import Bench, Exchange
from lab.briefs import holding
from lab.result import Finding
from lab.wires.base import SUMMARY

_ALL = ("checkpoints", "--limit", "100")


def own(bench: Bench) -> list[dict[str, Any]]:
    """Return the checkpoints of the agent's sessions that told keeps itself, the latest first."""
    known = bench.machine.told_json(*_ALL).get("checkpoints") or []
    return [one for one in known if one.get("path") and one.get("agent") == bench.agent.name]


def written(exchange: Exchange) -> Finding:
    """Tell whether one was written between the prompt of an exchange and what follows its compaction."""
    summaries = [request for request in exchange.requests if request.kind == SUMMARY]
    if not summaries:
        return Finding(False, "it did not compact")
    first, last = exchange.requests[0], (*exchange.after_summary, summaries[-1])[0]
    return Finding(last.newest > first.newest, "" if last.newest > first.newest else "none was written")


def offered(known: list[dict[str, Any]], exchange: Exchange) -> Finding:
    """Tell whether the brief of a new session names one of the checkpoints that were there before it."""
    if not known:
        return Finding(False, "there is none")
    reached = any(holding(exchange.turns[:1], str(one["id"])) for one in known)
    return Finding(reached, "" if reached else "no brief of the first request names it")
