"""Inputs that a recall tool meets every day and that auto-memory is known to fail on, run on both tools."""

from __future__ import annotations

import json
import re
import shlex
import tempfile
from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks import measure, planted, story, tools
from benchmarks.measure import Command, Ran
from benchmarks.tools import Peer

_MAIN, _CLAUDE, _CODEX = "session-recall", "session-recall-cc", "session-recall-codex"
_CLOSE, _OPEN = "<<END-UNTRUSTED-FILE-BACKED-CONTENT>>", "<<UNTRUSTED-FILE-BACKED-CONTENT>>"
_EDITOR_ID = "vscode:…"  # stands for what auto-memory calls the hostile session
_TAG = re.compile(r"<([a-z]+ [a-z2-7]{5})>")  # told's: a name and a mark that cannot be guessed
_MOST = 3_000  # tokens that an answer to a senseless limit may cost


class Fault(NamedTuple):
    """One thing that can go wrong: how each tool is asked, and what must be true of its answer."""

    name: str
    told: tuple[str, ...]
    program: str
    peer: tuple[str, ...]
    wrong: Callable[[Ran], str]  # what is wrong with an answer; empty when nothing is
    piped: str = ""  # the command that the output goes into


def table(peer: Peer, now: int) -> list[dict[str, Any]]:
    """Run every fault on both tools."""
    with tempfile.TemporaryDirectory(prefix="told-bench-") as home:
        planted.plant(home, now)
        tools.index(home)
        folder = f"{home}/src/acme-api"
        names = _names(home)
        rows = []
        for fault in _faults():
            ours = tools.told(home, *fault.told, folder=folder)
            row: dict[str, Any] = {"fault": fault.name, "input": shlex.join(fault.told) + fault.piped}
            row["told"] = _verdict(fault, ours, names)
            if peer.folder:
                words = [planted.editor_id(home) if word == _EDITOR_ID else word for word in fault.peer]
                theirs = tools.peer(peer, home, fault.program, *words, folder=folder, everything=False)
                row[tools.PEER] = _verdict(fault, theirs, {})
            rows.append(row)
    return rows


def _faults() -> list[Fault]:
    return [
        _search("0 nothing special: one word, Copilot", "redis", _has(planted.PUNCTUATION)),
        _claude("0 nothing special: one word, Claude Code", "build", _has(planted.ANSWER)),
        *(
            _search("1 ordinary punctuation and capital words", query, _has(planted.PUNCTUATION))
            for query in ("don't", "user's", "redis OR kafka", "redis AND", "foo, bar; baz")
        ),
        _search("1 a query of one operator", "NOT", lambda _: ""),
        _search("2 a question in plain words", story.QUESTION, _has(planted.DECISION)),
        _search("3 the best match comes first", "quokka", _strongest_first),
        _search("3 one session does not fill the list", "wombat", _four_sessions, "--limit", "5"),
        _claude("4 the answer of a Claude Code session", "pelican", _has(planted.ANSWER)),
        _claude("5 a session of 20 days ago", "marmot", _has(planted.OLD)),
        Fault(
            "6 the sessions of this repository, Claude Code's too",
            ("list", "--project", "acme/acme-api", "--json"),
            _CLAUDE, ("list", "--repo", "acme/acme-api"), _has(planted.HERE),
        ),
        _claude("8 what a helper agent said", "gibbon", _has("drained")),
        _claude("8 the summary of a compacted session", "ibis", _has("holds fast")),
        _search("9 a session that is only in session-state", "narwhal", _has(planted.STATE_ONLY)),
        _search("10 a question asked in VS Code", "ocelot", _has(planted.EDITOR)),
        _search("10 an answer given in VS Code", "axolotl", _has(planted.EDITOR)),
        _search("10 a VS Code session in one JSON file", "lynx", _has(planted.EDITOR_OLD)),
        _search("11 text that closes its own fence", "toucan", _fence_holds),
        Fault(
            "11 a shown session is fenced",
            ("show", planted.HOSTILE, "--full"), _MAIN, ("show", _EDITOR_ID, "--json"), _fence_holds,
        ),
        Fault(
            "12 a limit below zero",
            ("list", "--all-projects", "--limit", "-1"),
            _MAIN, ("list", "--repo", "all", "--json", "--limit", "-1"), _bounded,
        ),
        Fault(
            "12 the last 0 days",
            ("list", "--all-projects", "--days", "0", "--json"),
            _MAIN, ("list", "--repo", "all", "--days", "0", "--json"), _has_not(planted.DECISION),
        ),
        Fault(
            "12 output into a pipe that closes",
            ("list", "--all-projects", "--limit", "700", "--json"),
            _MAIN, ("list", "--repo", "all", "--limit", "700", "--json"), lambda _: "", " | head -n 1",
        ),
        Fault(
            f"12 a repository of {planted.MANY} sessions is counted whole",
            ("repos", "--json"), _MAIN, ("repos", "--json", "--days", "36500"), _has(str(planted.MANY)),
        ),
        Fault(
            "13 a beginning that fits two sessions",
            ("show", planted.TWINS[0][:8]), _MAIN, ("show", planted.TWINS[0][:8], "--json"), _both_twins,
        ),
        Fault(
            "13 a beginning that fits most sessions",
            ("show", "s"), _MAIN, ("show", "0000", "--json"), _refused,
        ),
        Fault(
            "14 a Codex session is searched",
            ("search", "heron", "--all-projects", "--json"), _CODEX, ("search", "heron"), _has(planted.CODEX),
        ),
    ]  # fmt: skip


def _search(name: str, query: str, wrong: Callable[[Ran], str], *more: str) -> Fault:
    ours = ("search", query, "--all-projects", "--json", *more)
    return Fault(name, ours, _MAIN, ("search", query, "--repo", "all", "--json", *more), wrong)


def _claude(name: str, query: str, wrong: Callable[[Ran], str]) -> Fault:
    return Fault(name, ("search", query, "--all-projects", "--json"), _CLAUDE, ("search", query), wrong)


def _names(home: str) -> dict[str, str]:
    """Return the agent's own id for each of told's short ones, so that both tools' answers read alike."""
    listed = measure.once(tools.told(home, "list", "--all-projects", "--json", "--limit", "2000"))
    try:
        return {str(row["id"]): str(row.get("native_id", "")) for row in json.loads(listed.out)["sessions"]}
    except (ValueError, KeyError, TypeError):
        return {}


def _verdict(fault: Fault, command: Command, names: dict[str, str]) -> dict[str, Any]:
    if fault.piped:
        command = command._replace(words=["/bin/sh", "-c", shlex.join(command.words) + fault.piped])
    ran = measure.once(command)
    ran = ran._replace(out=re.sub(r"\bs\w+", lambda word: names.get(word[0], word[0]), ran.out))
    what = ""
    if "Traceback (most recent call last)" in ran.errors:
        what = f"traceback: {ran.errors.strip().splitlines()[-1][:100]}"
    elif not 0 <= ran.code <= 4:
        what = f"ended with {ran.code}"
    else:
        what = fault.wrong(ran)
        if what and ran.code and ran.errors.strip():
            what += f" ({ran.errors.strip().splitlines()[-1][:100]})"
    return {"ok": not what, "code": ran.code, "what": what}


def _has(wanted: str) -> Callable[[Ran], str]:
    return lambda ran: "" if wanted in ran.out else "not found"


def _has_not(unwanted: str) -> Callable[[Ran], str]:
    return lambda ran: f"shows a session that is older: {unwanted}" if unwanted in ran.out else ""


def _strongest_first(ran: Ran) -> str:
    places = [ran.out.find(f"3333000{number}") for number in range(5)]
    if places[0] < 0:
        return "not found"
    return "" if places[0] == min(place for place in places if place >= 0) else "the best match is not first"


def _four_sessions(ran: Ran) -> str:
    shown = sum(f"4444000{number}" in ran.out for number in range(4))
    return "" if shown == 4 else f"{shown} of 4 sessions shown"


def _fence_holds(ran: Ran) -> str:
    """A fence must be open where the hostile line stands, in whichever way the tool marks one."""
    before, found, after = ran.out.partition("obey this line")
    if not found:
        return "not found"
    if _OPEN in before:
        return "" if before.count(_OPEN) > before.count(_CLOSE) else "the text closed the fence"
    opened = {mark for mark in _TAG.findall(before) if f"</{mark}>" not in before}
    return "" if any(f"</{mark}>" in after for mark in opened) else "no fence"


def _bounded(ran: Ran) -> str:
    cost = measure.tokens(ran.out)
    return "" if cost <= _MOST else f"printed {cost:,} tokens"


def _both_twins(ran: Ran) -> str:
    if ran.code == 0 and not all(twin in ran.out + ran.errors for twin in planted.TWINS):
        return "showed one of the two without a word"
    return ""


def _refused(ran: Ran) -> str:
    return "" if ran.code else "showed one of many without a word"
