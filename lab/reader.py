"""Runs told's reader with real agents and a server: `python -m lab.reader [--scratch DIR] [NAME …]`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from lab import CannotRunError, script
from lab.agents import real_agents
from lab.bench import Bench
from lab.machine import Machine, told_program
from lab.model import Model
from lab.npm import Shelf
from lab.wires.base import Answer, Asked, compact

_AGENTS = ("claude-code", "codex", "gemini-cli")
_QUOTE = "our customer ids are UUIDs and not plain integers"
_TEXT = "Customer ids are UUIDs, not integers."
_MESSAGE = f"I looked at the importer again, and the thing is that {_QUOTE}, whatever the schema says of it."
_LATER_QUOTE = "parcels above 30 kg go by freight and never by post"
_LATER_TEXT = "Parcels above 30 kg go by freight, never by post."
_LATER_MESSAGE = f"one thing about shipping, {_LATER_QUOTE}, the depot refuses them"
_LONGEST_WAIT = 60.0  # seconds
_LIE = "Deploys go out on Fridays only."


def main(words: Sequence[str]) -> int:
    """Run each agent as the reader, then a server, and print what was seen."""
    parser = argparse.ArgumentParser(prog="lab.reader")
    parser.add_argument("--scratch", default=os.path.join(tempfile.gettempdir(), "agents-lab"))
    parser.add_argument("agents", nargs="*", default=[])
    chosen = parser.parse_args(words)
    answer_to = script.answer_to
    script.answer_to = _answer
    works = True
    try:
        with Model(os.path.join(chosen.scratch, "reader-requests")) as model:
            shelf = Shelf(os.path.join(chosen.scratch, "programs"))
            for name in chosen.agents or _AGENTS:
                works &= _run_agent(name, chosen.scratch, model, shelf)
            works &= _run_endpoint(chosen.scratch, model)
    except CannotRunError as error:
        print(error, file=sys.stderr)
        return 1
    finally:
        script.answer_to = answer_to
    return 0 if works else 1


def _answer(asked: Asked) -> Answer:
    """Answer with one statement that the user typed and one that nobody did."""
    item = {
        "text": _TEXT,
        "kind": "fact",
        "scope": "project",
        "quote": _QUOTE,
        "turn": 0,
        "replaces": [],
        "when": ["change the importer"],
        "always": False,
    }
    if any(_LATER_QUOTE in text for _, text in asked.said):
        return Answer(
            compact({"items": [item | {"text": _LATER_TEXT, "quote": _LATER_QUOTE}], "candidates": []})
        )
    lie = item | {"text": _LIE, "quote": _LIE}
    return Answer(compact({"items": [item, lie], "candidates": [], "summary": None}))


def _run_agent(name: str, scratch: str, model: Model, shelf: Shelf) -> bool:
    agent = real_agents()[name]
    machine = Machine(os.path.join(scratch, "machines", f"reader-{name}"))
    bench = Bench(agent, machine, model, shelf)
    machine.variables |= bench.environ()
    machine.variables["PATH"] = os.pathsep.join((os.path.dirname(bench.program), bench.path))
    machine.told("install", "--agent", name, "--yes")
    title = f"{agent.title} {agent.program.version}"
    return _reader(machine, model, bench.label, title, f'mode = "agent"\nagent = "{name}"')


def _run_endpoint(scratch: str, model: Model) -> bool:
    machine = Machine(os.path.join(scratch, "machines", "reader-endpoint"))
    config = f'mode = "endpoint"\nurl = "{model.url("reader-endpoint")}/v1"\nmodel = "scripted"'
    return _reader(machine, model, "reader-endpoint", "a server on loopback", config)


def _reader(machine: Machine, model: Model, label: str, title: str, config: str) -> bool:
    """Let the reader read one session, and print what reached the model and what is remembered."""
    machine.write(os.path.join(machine.told_home, "config.toml"), f"[reader]\n{config}\n")
    _write_session(machine)
    began = time.monotonic()
    said = machine.told("learn", "--yes", "--json")
    seconds = time.monotonic() - began
    try:
        done = json.loads(said.out)
    except ValueError:
        done = {"error": said.err.strip() or said.out[:200]}
    machine.told("index")
    memories = [one["text"] for one in machine.told_json("memories").get("memories", [])]
    sessions = machine.told_json("list", "--all-projects").get("sessions", [])
    reached = model.requests.get(label, [])
    tools = sorted({tool for one in reached for tool in one.tools})
    briefed = any(one.has("<told>") for one in reached)
    waited = _wait_for_memory(machine)
    works = (
        memories == [_TEXT]
        and bool(waited)
        and len(sessions) == 1
        and not briefed
        and done.get("unproven") == 1
    )
    print(
        f"{title}: {'works' if works else 'FAILS'}; {len(reached)} requests, tools {tools or 'none'},"
        f" told in it: {briefed}, remembered {memories}, sessions {len(sessions)},"
        f" tokens {done.get('tokens_in')} + {done.get('tokens_out')}, error {done.get('error')},"
        f" {seconds:.1f} s; from the end of a session to its memory {waited or 0:.1f} s",
        flush=True,
    )
    return works


def _wait_for_memory(machine: Machine) -> float | None:
    """End a session as Claude Code does; return after how many seconds its memory is there."""
    path = _write_session(machine, 2, _LATER_MESSAGE)
    session = os.path.splitext(os.path.basename(path))[0]
    call = {
        "session_id": session,
        "transcript_path": path,
        "cwd": machine.project,
        "reason": "prompt_input_exit",
    }
    began = time.monotonic()
    subprocess.run(
        [*told_program(), "hook", "claude-code", "end"], input=json.dumps(call).encode(), cwd=machine.project,
        env=machine.environ(), capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    while time.monotonic() - began < _LONGEST_WAIT:
        if _LATER_TEXT in [one["text"] for one in machine.told_json("memories").get("memories", [])]:
            return time.monotonic() - began
        time.sleep(0.2)
    return None


def _write_session(machine: Machine, number: int = 1, message: str = _MESSAGE) -> str:
    base = {
        "sessionId": f"5b8a1f6e-0000-4000-8000-{number:012}", "cwd": machine.project, "version": "2.1.0",
    }  # fmt: skip
    asked = {"role": "user", "content": message}
    answered = {"role": "assistant", "id": f"m{number}", "content": [{"type": "text", "text": "Done."}]}
    lines = [
        base | {"type": "user", "uuid": f"u{number}", "timestamp": _stamp(5), "message": asked},
        base | {"type": "assistant", "uuid": f"a{number}", "timestamp": _stamp(0), "message": answered},
    ]
    path = f".claude/projects/-acme/{base['sessionId']}.jsonl"
    return machine.write(path, "".join(json.dumps(line) + "\n" for line in lines))


def _stamp(seconds: int) -> str:
    """Return the time so many seconds ago, as Claude Code writes it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(time.time() - seconds))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
