"""How long hooks take as Claude Code itself sees it, by its own word of when one began and ended."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import time
from collections.abc import Sequence
from typing import Any

from lab.bench import Bench

_STREAMS = (
    "--dangerously-skip-permissions", "-p", "--input-format", "stream-json", "--output-format", "stream-json",
    "--verbose", "--include-hook-events",
)  # fmt: skip
_FAILED = ("hook_non_blocking_error", "hook_blocking_error", "hook_error_during_execution")
_SECONDS = 120


def watched(bench: Bench, prompts: Sequence[str]) -> dict[str, dict[str, float]]:
    """Run Claude Code with several prompts in one session and time every hook.

    Returns:
        For each hook event how often it ran, its median and its longest time in milliseconds.
    """
    machine = bench.machine
    running = subprocess.Popen(
        [bench.program, *_STREAMS], cwd=machine.project, env=machine.environ(bench.environ()),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
    )  # fmt: skip
    assert running.stdin is not None
    assert running.stdout is not None
    began: dict[str, float] = {}
    taken: dict[str, list[float]] = {}
    ends = time.monotonic() + _SECONDS
    waiting = list(prompts)
    _say(running.stdin, waiting.pop(0))
    for line in running.stdout:
        now = time.monotonic()
        said = _record(line)
        kind = said.get("subtype")
        if kind == "hook_started":
            began[said["hook_id"]] = now
        elif kind == "hook_response":
            taken.setdefault(said["hook_event"], []).append((now - began.pop(said["hook_id"], now)) * 1000)
        elif said.get("type") == "result" and waiting and now < ends:
            _say(running.stdin, waiting.pop(0))
        elif said.get("type") == "result":
            break
    running.stdin.close()
    try:
        running.wait(_SECONDS)
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()
    running.stdout.close()
    return {
        event: {
            "runs": len(times),
            "median_ms": round(statistics.median(times), 1),
            "longest_ms": round(max(times), 1),
        }
        for event, times in sorted(taken.items())
    }


def _say(stdin: Any, prompt: str) -> None:
    message = {"type": "user", "message": {"role": "user", "content": prompt}}
    stdin.write(json.dumps(message) + "\n")
    stdin.flush()


def _record(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def recorded(home: str) -> dict[str, float]:
    """Return the longest time of each hook in milliseconds, as Claude Code's transcripts have it."""
    longest: dict[str, float] = {}
    for record in _records(home):
        attached = record.get("attachment") or {}
        if attached.get("type") == "hook_success":
            _note(longest, str(attached.get("hookName")), attached.get("durationMs"))
        for one in record.get("hookInfos") or ():
            _note(longest, "Stop", one.get("durationMs"))
    return longest


def _note(longest: dict[str, float], name: str, taken: Any) -> None:
    if isinstance(taken, (int, float)):
        longest[name] = max(longest.get(name, 0.0), float(taken))


def complaints(home: str) -> list[str]:
    """Return what Claude Code's transcripts say about hooks that failed."""
    failed = [one for one in _attached(home) if one.get("type") in _FAILED]
    return [f"{one.get('hookName')}: {str(one.get('stderr') or one['type'])[:200]}" for one in failed]


def given_up(home: str) -> int:
    """Return how many hooks Claude Code did not wait for any longer."""
    return sum(one.get("type") == "hook_cancelled" for one in _attached(home))


def _attached(home: str) -> list[dict[str, Any]]:
    return [record.get("attachment") or {} for record in _records(home)]


def _records(home: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for folder, _, files in os.walk(os.path.join(home, ".claude", "projects")):
        for name in files:
            if name.endswith(".jsonl"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    found += [_record(line) for line in file]
    return found
