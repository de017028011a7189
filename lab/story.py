"""The story that every agent goes through: corrected once, it knows in every later session."""

from __future__ import annotations

import time

from lab import asking, authority, footprint, handover, lateness, leftovers, reading, script
from lab.bench import Bench, Exchange
from lab.briefs import BUDGET, briefs, holding, own_words, tokens
from lab.result import (
    CALLED,
    COLUMNS,
    COMPACTION,
    FILES,
    LISTED,
    OFFERED,
    PROMPT,
    START,
    UNINSTALL,
    WRITTEN,
    Finding,
    Row,
)
from lab.wires.base import SUMMARY

CORRECTION = "No, we use pnpm in this project, never npm."
CORRECTED = "pnpm"
FACT = "The invoice export writes semicolons between its columns."
FACT_WORDS = "semicolons"
QUESTION = "How does the invoice export separate its columns?"
INSTRUCTIONS = "What told remembers"  # the heading of the paragraph that told writes
OTHER = f"{script.LIST_FILES} of this folder."
ASKED = f"{asking.ASK}."
LONG = f"{script.FULL_CONTEXT} of old notes."


def tell(bench: Bench) -> Row:
    """Run the whole story with one agent."""
    agent = bench.agent
    row = Row(agent.name, agent.title, agent.program.version, agent.remark)
    began = time.monotonic()
    bench.machine.variables["TOLD_DEBUG"] = "1"  # so that a hook says when it ran out of time
    bench.begin("Say hello.")  # a first run, so that the agent has written its own files
    before = _home(bench)
    row.also["install"] = _installed_and_back(bench, before)
    bench.machine.told("remember", FACT, "--kind", "fact")
    bench.machine.told("install", "--agent", agent.name, "--yes")
    installed = _home(bench)
    first = bench.begin(CORRECTION)
    row.also["answers"] = _answers(first)
    row.also["instructions"] = _instructed(first)
    second = bench.begin(OTHER)
    third = bench.begin(QUESTION)
    row.findings[START] = _refused(bench, START) or _at_start(second, row)
    row.also["learned by the next session"] = _refused(bench, START) or _learned(second)
    row.findings[PROMPT] = _refused(bench, PROMPT) or _at_prompt(second, third)
    _compact(bench, row)
    _ask(bench, row)
    _teach(bench, row)
    row.also["an agent is not its user"] = authority.told_apart(bench)
    row.also["budget"] = _within_budget(bench, row)
    row.findings[FILES] = _files(bench)
    row.also["not captured again"] = _not_again(bench)
    row.also["no process of told's left"] = _no_process(bench)
    used = _home(bench)
    row.findings[UNINSTALL] = _uninstalled(bench, before, installed, used)
    leftovers.end(bench.machine.home)
    row.figures["seconds"] = round(time.monotonic() - began, 1)
    row.findings = {name: row.findings[name] for name in COLUMNS}
    lateness.note(row, bench.machine.told_home)
    return row


def _home(bench: Bench) -> footprint.Tree:
    """Return all files, with the agent at rest: what it left running must not write meanwhile."""
    leftovers.end(bench.machine.home)
    return footprint.tree(bench.machine.home, bench.machine.told_home)


def _refused(bench: Bench, column: str) -> Finding | None:
    note = bench.agent.refuses.get(column)
    return None if note is None else Finding(None, note)


def _answers(exchange: Exchange) -> Finding:
    return Finding(exchange.answered, "" if exchange.answered else exchange.said.err.strip()[-200:])


def _instructed(exchange: Exchange) -> Finding:
    reached = any(request.has(INSTRUCTIONS) for request in exchange.turns)
    return Finding(reached, "" if reached else "the paragraph about told does not reach the model")


def _installed_and_back(bench: Bench, before: footprint.Tree) -> Finding:
    """Install twice and take it back, with the agent at rest: every byte is as before."""
    for words in (("install",), ("install",), ("uninstall",)):
        done = bench.machine.told(*words, "--agent", bench.agent.name, "--yes")
        if done.code:
            return Finding(False, f"told {words[0]}: {done.err.strip()[-200:]}")
    differ = footprint.changed(before, _home(bench))
    return Finding(not differ, ", ".join(differ))


def _at_start(second: Exchange, row: Row) -> Finding:
    found = holding(second.turns[:1], CORRECTED)
    if not found:
        return Finding(False, "the correction is not in the first request of the next session")
    row.figures["tokens at start"] = tokens(found[0])
    return Finding(True)


def _learned(second: Exchange) -> Finding:
    """Tell whether it stands there as something that holds, not only as what was said last time."""
    learned = any(CORRECTED in own_words(brief) for brief in holding(second.turns[:1], CORRECTED))
    return Finding(learned, "" if learned else "only the last session is quoted, or nothing")


def _at_prompt(second: Exchange, third: Exchange) -> Finding:
    if not holding(third.turns[:1], FACT_WORDS):
        return Finding(False, "what the prompt needs is not in its request")
    unasked = holding(second.turns, FACT_WORDS)
    return Finding(not unasked, "it was there unasked" if unasked else "")


def _compact(bench: Bench, row: Row) -> None:
    """Fill the context until the agent compacts by itself."""
    refused = _refused(bench, COMPACTION)
    if refused is not None:
        row.findings |= {COMPACTION: refused, WRITTEN: _refused(bench, WRITTEN) or refused}
        return
    done = bench.resume(LONG)
    row.findings[WRITTEN] = _refused(bench, WRITTEN) or handover.written(done)
    row.findings[COMPACTION] = _compacted(bench, done)


def _compacted(bench: Bench, done: Exchange) -> Finding:
    """Tell whether the request after a compaction holds the correction."""
    if all(request.kind != SUMMARY for request in done.requests):
        return Finding(
            False, f"it did not compact ({done.said.err.strip()[-80:] or 'no summary was asked for'})"
        )
    if holding(done.after_summary[:1], CORRECTED):
        return Finding(True)
    again = bench.resume(OTHER)
    if holding(again.turns[:1], CORRECTED):
        return Finding(True, "once it is resumed")
    return Finding(False, "the correction is gone after it")


def _ask(bench: Bench, row: Row) -> None:
    """Start a session that is offered the last one's checkpoint, and let the model ask told in it."""
    known = handover.own(bench)
    done = bench.begin(ASKED)
    row.findings[OFFERED] = _refused(bench, OFFERED) or handover.offered(known, done)
    row.findings[LISTED] = _refused(bench, LISTED) or asking.listed(done.turns)
    row.findings[CALLED] = _refused(bench, CALLED) or asking.answered(done.turns, FACT_WORDS)


def _teach(bench: Bench, row: Row) -> None:
    """Teach something in a new session, and let the model save it."""
    if bench.agent.refuses.get(PROMPT) is None and bench.agent.refuses.get(CALLED) is None:
        row.also |= reading.findings(bench, bench.begin(reading.TAUGHT))


def _within_budget(bench: Bench, row: Row) -> Finding:
    sizes = [tokens(brief) for request in bench.model.since(bench.label, 0) for brief in briefs(request)]
    row.figures["largest brief"] = max(sizes, default=0)
    return Finding(max(sizes, default=0) <= BUDGET)


def _files(bench: Bench) -> Finding:
    listed = bench.machine.told_json("list", "--all-projects")
    mine = [one for one in listed.get("sessions", []) if one.get("agent") == bench.agent.name]
    return Finding(len(mine) >= 3, "" if len(mine) >= 3 else f"{len(mine)} of its sessions are listed")


def _not_again(bench: Bench) -> Finding:
    """Read everything that the agent kept: it must teach told nothing that told said itself."""
    bench.machine.told("index")
    known = [one["text"] for one in bench.machine.told_json("memories").get("memories", [])]
    corrections = [text for text in known if CORRECTED in text]
    facts = [text for text in known if FACT_WORDS in text]
    right = len(corrections) == 1 and len(facts) == 1
    return Finding(right, "" if right else f"{len(corrections)} corrections and {len(facts)} facts are kept")


def _no_process(bench: Bench) -> Finding:
    """Stop the service, which stays for a while by design, and look for what else is running."""
    bench.machine.told("service", "stop")
    lines = leftovers.lasting(bench.machine.home, "told")
    return Finding(not lines, ", ".join(line[:80] for line in lines))


def _uninstalled(
    bench: Bench, before: footprint.Tree, installed: footprint.Tree, used: footprint.Tree
) -> Finding:
    done = bench.machine.told("uninstall", "--agent", bench.agent.name, "--yes")
    if done.code:
        return Finding(False, done.err.strip()[-200:])
    problems = footprint.left_behind(before, installed, used, _home(bench))
    return Finding(not problems, ", ".join(problems))
