"""The hook client and the local service: what is kept under load and kills, and what a prompt costs."""

from __future__ import annotations

import glob
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import apsw

import told
from benchmarks import measure
from told.agents.wiring import Launch
from told.hook import client
from told.service import control
from told.service.state import read_counts

_PYTHON = os.path.realpath(sys.executable)
_TICK = os.sysconf("SC_CLK_TCK")
_SETTLE = 60.0  # seconds for what is finished in the background
_Call = tuple[tuple[str, ...], bytes]  # the command of a hook and its input
_RULE = "Always run make check before a commit"


class Machine:
    """A scratch home in which hooks run as agents run them."""

    def __init__(self, root: str) -> None:
        self.home, self.project = os.path.join(root, "told"), os.path.join(root, "project")
        user = os.path.join(root, "home")
        for folder in (self.home, self.project, user):
            os.makedirs(folder)
        self.environ = {"HOME": user, "TOLD_HOME": self.home, "PATH": os.environ["PATH"]}
        self._extra = tuple(os.path.dirname(os.path.dirname(str(one.__file__))) for one in (told, apsw))

    def words(self, event: str, agent: str = "claude-code") -> tuple[str, ...]:
        """Return the command of a hook."""
        return Launch(_PYTHON, str(client.__file__), self._extra).words(agent, event)

    def hook(self, event: str, session: str, late: float = 0.0, **more: Any) -> str:
        """Run a hook; return the text that the model reads."""
        name = "SessionStart" if event == "start" else "UserPromptSubmit"
        payload = {"session_id": session, "cwd": self.project, "hook_event_name": name, **more}
        running = subprocess.Popen(
            self.words(event), env=self.environ, cwd=self.project, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        time.sleep(late)
        out, err = running.communicate(json.dumps(payload).encode())
        assert (running.returncode, err) == (0, b"")
        found = json.loads(out) if out else {"additionalContext": ""}
        return str(found.get("hookSpecificOutput", found)["additionalContext"])

    def prompt(self, text: str, session: str = "s", late: float = 0.0) -> str:
        """Type a prompt."""
        return self.hook("prompt", session, late, prompt=text)

    def together(self, prompts: Sequence[str]) -> list[str]:
        """Type prompts at the same moment, each in a session of its own."""
        with ThreadPoolExecutor(len(prompts)) as pool:
            return list(pool.map(self.prompt, prompts, [f"s-{number}" for number in range(len(prompts))]))

    def kept(self, wanted: Sequence[str]) -> int:
        """Return how many of some words are in memories, once all have had the time to be."""
        ends = time.monotonic() + _SETTLE
        while True:
            texts = self._texts()
            found = sum(any(word in text for text in texts) for word in wanted)
            if found == len(wanted) or time.monotonic() > ends:
                return found
            time.sleep(0.2)

    def _texts(self) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-m", "told", "memories", "--json", "--all-projects", "-n", "5000"],
            env=self.environ | {"TOLD_BACKGROUND": "off"}, cwd=self.project, capture_output=True, check=False,
        )  # fmt: skip
        return [one["text"] for one in json.loads(done.stdout)["memories"]] if done.stdout else []

    def start(self) -> control.Pong:
        """Start the service."""
        return control.start(self.home, self.environ)


def run(arguments: Namespace) -> dict[str, Any]:
    """Measure everything; `--quick` takes small sizes."""
    quick = bool(arguments.quick)
    parts: dict[str, Callable[[Machine, bool], dict[str, Any]]] = {
        "cpu": _cpu, "at_once": _at_once, "kills": _kills, "starts": _starts, "late": _late, "busy": _busy,
        "memory": _memory,
    }  # fmt: skip
    figures: dict[str, Any] = {"machine": measure.machine()}
    for name, part in parts.items():
        with tempfile.TemporaryDirectory(prefix="told-") as root:
            machine = Machine(root)
            try:
                figures[name] = part(machine, quick)
            finally:
                control.stop(machine.home)
    figures["how"] = (
        "Hooks run as processes, as an agent runs them, in a scratch home. CPU of a prompt is that of the"
        " hook's process plus that of the service, beside a bare `python -I -S -c pass`."
    )
    return figures


def _at_once(machine: Machine, quick: bool) -> dict[str, Any]:
    teaching, locking = (8, 6) if quick else (32, 24)
    machine.start()
    prompts = [f"No, we use tool{n}x for job{n}x here, never other{n}x." for n in range(teaching)]
    prompts += [f"/mem:lock Always run check{n}x before step{n}x" for n in range(locking)]
    said = machine.together(prompts)
    return {
        "taught": teaching,
        "taught_kept": machine.kept([f"tool{n}x " for n in range(teaching)]),
        "locked": locking,
        "locked_kept": machine.kept([f"check{n}x " for n in range(locking)]),
        "answered_in_time": sum("locked" in text for text in said[teaching:]),
    }


def _kills(machine: Machine, quick: bool) -> dict[str, Any]:
    kills = 10 if quick else 200
    moments = random.Random(1)
    acknowledged: list[str] = []
    killed = round_ = 0
    while killed < kills:
        round_ += 1
        names = [f"check{round_}x{n}y" for n in range(4)]
        prompts = [f"/mem:lock Always run {name} before step{name}" for name in names]
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(machine.together, prompts)
            time.sleep(moments.uniform(0.0, 0.4))
            pid = control.state(machine.home).pid
            if pid:
                os.kill(pid, signal.SIGKILL)
                killed += 1
            said = running.result()
        acknowledged += [f"{name} " for name, text in zip(names, said, strict=True) if "and locked" in text]
    kept = machine.kept(acknowledged)
    works = "remembers" in machine.prompt("/mem:remember It works here")
    return {
        "rounds": round_, "killed": killed, "acknowledged": len(acknowledged),
        "lost": len(acknowledged) - kept, "next_hook_works": works,
    }  # fmt: skip


def _starts(machine: Machine, quick: bool) -> dict[str, Any]:
    count = 10 if quick else 100
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(lambda _: control.spawn(machine.home, machine.environ), range(count)))
    machine.start()
    time.sleep(2)
    return {"started": count, "services": len(_services(machine.home))}


def _late(machine: Machine, _: bool) -> dict[str, Any]:
    machine.start()
    machine.prompt("/mem:remember The input came two seconds late", late=2.0)
    (lock,) = glob.glob(os.path.join(machine.home, "journal", "*", "lock"))
    code = (
        "import fcntl,os,sys,time;d=os.open(sys.argv[1],2);fcntl.flock(d,2);print(1,flush=True);time.sleep(2)"
    )
    with subprocess.Popen([sys.executable, "-c", code, lock], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        said = machine.prompt("/mem:remember The journal was locked for two seconds")
    return {
        "late_input_kept": machine.kept(["two seconds late"]),
        "locked_journal_kept": machine.kept(["locked for two seconds"]),
        "answer_while_locked": said.replace("<told>", "").replace("</told>", "").strip(),
    }


def _busy(machine: Machine, quick: bool) -> dict[str, Any]:
    count, loops = (4, 4) if quick else (20, 10)
    machine.prompt(f"/mem:lock {_RULE}")
    control.stop(machine.home)  # the first start finds no service
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    at_start = with_prompt = 0
    walls: dict[str, list[float]] = {"start": [], "prompt": []}
    try:
        time.sleep(1)
        for number in range(count):
            began = time.monotonic()
            at_start += _RULE in machine.hook("start", f"b-{number}", source="startup")
            walls["start"].append(time.monotonic() - began)
            began = time.monotonic()
            with_prompt += _RULE in machine.prompt("thanks, go on", f"b-{number}")
            walls["prompt"].append(time.monotonic() - began)
    finally:
        for one in busy:
            one.kill()
            one.wait()
    return {
        "busy_loops": loops, "sessions": count, "brief_at_start": at_start, "brief_with_prompt": with_prompt,
        "start_wall_max_ms": round(max(walls["start"]) * 1000),
        "prompt_wall_max_ms": round(max(walls["prompt"]) * 1000),
        "late": sum(one.late for one in read_counts(machine.home)),
    }  # fmt: skip


def _memory(machine: Machine, quick: bool) -> dict[str, Any]:
    machine.start()
    calls = 200 if quick else 10_000
    sizes = {}
    for number in range(1, calls + 1):
        text = (
            "Install the dependencies and run the build"
            if number % 20
            else f"We use tool{number} for job{number}."
        )
        machine.prompt(text, f"m-{number % 100}")
        if number in (1, calls // 10, calls // 2, calls):
            pong = control.ping(machine.home)
            sizes[f"after_{number}_mb"] = pong.rss_mb if pong else 0.0
    return sizes


def _cpu(machine: Machine, quick: bool) -> dict[str, Any]:
    count = 20 if quick else 100
    machine.start()
    for number in range(5):
        machine.prompt(f"/mem:remember We deploy with tool{number} in this project", "w")
    bare = _median(lambda _: ((_PYTHON, "-I", "-S", "-c", "pass"), b""), count, machine)[0]
    rows = {"bare": {"hook_ms": bare, "service_ms": 0.0, "ratio": 1.0}}
    texts = {
        "quiet": lambda _: "thanks, go on",
        "task": lambda _: "Which tool do we deploy this project with?",
        "teaches": lambda n: f"No, we use tool{n}z for job{n}z here, never other{n}z.",
    }
    for name, text in texts.items():

        def call(number: int, name: str = name, text: Callable[[int], str] = text) -> _Call:
            said = {"session_id": f"{name}-{number}", "cwd": machine.project, "prompt": text(number)}
            return machine.words("prompt"), json.dumps(said).encode()

        hook, service = _median(call, count, machine)
        rows[name] = {"hook_ms": hook, "service_ms": service, "ratio": round((hook + service) / bare, 2)}
    return rows


def _median(call: Callable[[int], _Call], count: int, machine: Machine) -> tuple[float, float]:
    """Return the median CPU of a process and the mean CPU of the service for it, in ms."""
    before = _service_ms(machine)
    times = []
    for number in range(count):
        words, raw = call(number)
        reader, writer = os.pipe()
        os.write(writer, raw)
        os.close(writer)
        actions = [
            (os.POSIX_SPAWN_DUP2, reader, 0), (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        ]  # fmt: skip
        child = os.posix_spawn(words[0], words, machine.environ, file_actions=actions)
        os.close(reader)
        used = os.wait4(child, 0)[2]
        times.append((used.ru_utime + used.ru_stime) * 1000)
    return round(statistics.median(times), 2), round((_service_ms(machine) - before) / count, 2)


def _service_ms(machine: Machine) -> float:
    pid = control.state(machine.home).pid
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / _TICK


def _services(home: str) -> list[str]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with (
                open(f"/proc/{name}/cmdline", "rb") as words,
                open(f"/proc/{name}/environ", "rb") as variables,
            ):
                is_one = b"told-service" in words.read() and f"TOLD_HOME={home}".encode() in variables.read()
        except OSError:
            continue
        found += [name] if is_one else []
    return found
