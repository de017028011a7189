"""Many sessions at once with readers: what is lost, doubled or late, and how long a hook takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from benchmarks import measure
from benchmarks.service import Machine
from told.service import control
from told.service.state import read_counts

HOW = (
    "Sessions of four agents run at once; each calls the installed hook command for its events, with the "
    "agent's own time limit, one after another. Claude Code's prompts are in its transcript, as that agent "
    "writes them. Four readers run commands in a loop. Afterwards `told index` reads the transcripts. lost: "
    "explicit statements that are not active then; doubled: active more than once. ms is the time of one "
    "hook process."
)
AGENTS = ("claude-code", "codex", "gemini-cli", "copilot-cli")
_MODES = {"service": {}, "no-service": {"TOLD_BACKGROUND": "off"}}
_EVENTS = ("start", "prompt", "stop", "compact")
_NAMES = {
    "claude-code": ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact"),
    "codex": ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact"),
    "gemini-cli": ("SessionStart", "BeforeAgent", "AfterAgent", "PreCompress"),
    "copilot-cli": ("sessionStart", "userPromptSubmitted", "sessionEnd", "preCompact"),
}
_QUIET = (
    "Install the dependencies and run the build", "Why does the login test fail?", "thanks, go on",
    "Rename the helper in src/api and run its tests",
)  # fmt: skip
_READERS = (
    ("memories", "--json"), ("search", "deploy with the tool", "--all-projects"),
    ("brief", "--prompt", "Deploy the service with the tool"), ("index",),
)  # fmt: skip
_PAUSE = 0.3  # seconds between two commands of a reader
_SETTLE = 120.0  # seconds for what is finished in the background
_PATIENCE = 300.0


class Event(NamedTuple):
    """One event of a session."""

    name: str
    prompt: str = ""
    teaches: str = ""  # the word that its memory must contain


class Call(NamedTuple):
    """What a hook did."""

    event: str
    agent: str
    ms: float
    problem: str = ""


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--sessions", type=int, default=0, help="sessions at once (32)")
    parser.add_argument("--events", type=int, default=0, help="events of a session (50)")
    parser.add_argument("--only", choices=tuple(_MODES), default="", help="only with, or without the service")


def run(arguments: Namespace) -> dict[str, Any]:
    """Measure with the service and without it."""
    sessions = arguments.sessions or (8 if arguments.quick else 32)
    events = arguments.events or (12 if arguments.quick else 50)
    figures: dict[str, Any] = {"benchmark": "crowd", "machine": measure.machine()}
    for name in [arguments.only] if arguments.only else _MODES:
        with tempfile.TemporaryDirectory(prefix="told-crowd-") as root:
            machine = Machine(root)
            machine.environ |= _MODES[name]
            try:
                figures[name] = measure_crowd(machine, sessions, events)
            finally:
                control.stop(machine.home)
    return figures | {"how": HOW}


def measure_crowd(machine: Machine, sessions: int, events: int) -> dict[str, Any]:
    """Run all sessions and readers; return what became of it."""
    began, load = time.monotonic(), os.getloadavg()[0]
    is_over = threading.Event()
    with ThreadPoolExecutor(sessions + len(_READERS)) as pool:
        readers = [pool.submit(_read, machine, words, is_over) for words in _READERS]
        running = [pool.submit(_talk, machine, number, events) for number in range(sessions)]
        calls = [call for one in running for call in one.result()]
        is_over.set()
        read: Counter[str] = sum((one.result() for one in readers), Counter())
    taught = [one.teaches for n in range(sessions) for one in make_events(n, events) if one.teaches]
    counts = read_counts(machine.home)
    found = _count_kept(machine, taught)
    health = _told(machine, "health", "--deep", "--json")
    problems = Counter(call.problem for call in calls if call.problem)
    return {
        "sessions": sessions, "hooks": len(calls), "taught": len(taught),
        "lost": sum(found[word] == 0 for word in taught), "doubled": sum(found[word] > 1 for word in taught),
        "problems": dict(problems), "late": sum(one.late for one in counts), "reads": dict(read),
        "health": health.returncode, "unhealthy": _list_unhealthy(health.stdout),
        "ms": {event: _percentiles([one.ms for one in calls if event in ("all", one.event)])
               for event in ("all", "start", "prompt", "compact", "stop")},
        "seconds": round(time.monotonic() - began), "load": [round(load, 1), round(os.getloadavg()[0], 1)],
    }  # fmt: skip


def make_events(number: int, count: int) -> Iterator[Event]:
    """Yield the events of a session: a start, prompts of which a third teach, compactions, stops."""
    yield Event("start")
    for at in range(1, count):
        word = f"tool{number}x{at}"
        if at % 12 == 11 or at == count - 1:
            yield Event("stop")
        elif at % 20 == 10:
            yield Event("compact")
        elif at % 6 == 1:
            yield Event("prompt", f"/mem:remember Deploy service{number}x{at} with {word} only", word)
        elif at % 6 == 4:
            yield Event("prompt", f"Remember: always deploy part{number}x{at} with {word}.", word)
        else:
            yield Event("prompt", _QUIET[at % len(_QUIET)])


def _talk(machine: Machine, number: int, count: int) -> list[Call]:
    agent = AGENTS[number % len(AGENTS)]
    session = str(uuid5(NAMESPACE_URL, f"crowd {number}"))
    return [_call(machine, agent, session, event) for event in make_events(number, count)]


def _call(machine: Machine, agent: str, session: str, event: Event) -> Call:
    payload: dict[str, Any] = {
        "cwd": machine.project,
        "hook_event_name": _NAMES[agent][_EVENTS.index(event.name)],
    }
    payload["sessionId" if agent == "copilot-cli" else "session_id"] = session
    if agent == "claude-code":
        payload["transcript_path"] = _write_transcript(machine, session, event)
    more = {
        "start": {"source": "startup"},
        "prompt": {"prompt": event.prompt},
        "compact": {"trigger": "auto"},
    }
    began = time.monotonic()
    done = subprocess.run(
        machine.words(event.name, agent), input=json.dumps(payload | more.get(event.name, {})).encode(),
        env=machine.environ, cwd=machine.project, capture_output=True, timeout=_PATIENCE, check=False,
    )  # fmt: skip
    taken = (time.monotonic() - began) * 1000
    return Call(event.name, agent, taken, _find_problem(done))


def _find_problem(done: subprocess.CompletedProcess[bytes]) -> str:
    if done.returncode:
        return f"exit {done.returncode}"
    if done.stderr:
        return f"said {done.stderr.decode(errors='replace').strip()[-80:]}"
    try:
        json.loads(done.stdout or b"{}")
    except ValueError:
        return "no JSON"
    return ""


def _write_transcript(machine: Machine, session: str, event: Event) -> str:
    """Append a prompt to the session's file, as Claude Code does."""
    folder = os.path.join(machine.environ["HOME"], ".claude", "projects", machine.project.replace("/", "-"))
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"{session}.jsonl")
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    line = {
        "type": "user", "sessionId": session, "cwd": machine.project, "timestamp": now, "version": "2.1.0",
        "uuid": str(uuid5(NAMESPACE_URL, session + now)), "parentUuid": None, "isSidechain": False,
        "userType": "external", "message": {"role": "user", "content": event.prompt},
    }  # fmt: skip
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n" if event.prompt else "")
    return path


def _read(machine: Machine, words: tuple[str, ...], is_over: threading.Event) -> Counter[str]:
    """Run a command in a loop; count its runs and failures."""
    found: Counter[str] = Counter()
    while not is_over.wait(_PAUSE):
        code = _told(machine, *words).returncode
        found[f"{words[0]} {'ok' if code in (0, 1) else f'exit {code}'}"] += 1  # 1: nothing found
    return found


def _told(machine: Machine, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "told", *words], env=machine.environ, cwd=machine.project,
        capture_output=True, timeout=_PATIENCE, check=False,
    )  # fmt: skip


def _count_kept(machine: Machine, taught: list[str]) -> Counter[str]:
    """Count how often each word is in an active memory, once all had the time to be."""
    ends = time.monotonic() + _SETTLE
    while True:
        _told(machine, "index")
        listed = _told(machine, "memories", "--json", "--all-projects", "-n", "100000").stdout
        texts = [one["text"] for one in json.loads(listed)["memories"]] if listed else []
        words = Counter(word.strip(".") for text in texts for word in text.split())
        if all(words[word] for word in taught) or time.monotonic() > ends:
            return words
        time.sleep(1)


def _list_unhealthy(out: bytes) -> list[str]:
    found = json.loads(out) if out else {}
    bad = [one for one in found.get("dimensions", ()) if one["zone"] in ("RED", "AMBER")]
    deep = [f"{name}: {some}" for name, some in found.get("deep", {}).items() if some and name != "sound"]
    return [*deep, *(f"{one['name']}: {one['says']}" for one in bad)]


def _percentiles(values: list[float]) -> dict[str, int]:
    ordered = sorted(values) or [0.0]
    return {
        f"p{share}": round(ordered[min(len(ordered) - 1, len(ordered) * share // 100)])
        for share in (50, 95, 99)
    } | {"max": round(ordered[-1])}
