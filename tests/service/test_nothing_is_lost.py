"""What the user says is kept: at once with many others, late, behind a lock, and around a kill."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.service.house import HURRY, PATIENCE, REAL, House, Said, end, until
from tests.soak import points, sampled
from told.service.state import read_counts

HOLD = (
    "import fcntl,os,sys; d=os.open(sys.argv[1], os.O_CREAT|os.O_RDWR, 0o600);"
    "fcntl.flock(d, fcntl.LOCK_EX); print('held', flush=True); sys.stdin.read()"
)


def taught(number: int) -> str:
    return f"No, we use tool{number} for job{number} here, never other{number}."


def at_once(house: House, prompts: list[str]) -> list[Said]:
    with ThreadPoolExecutor(len(prompts)) as pool:
        return list(pool.map(lambda one: house.prompt(one[1], f"s-{one[0]}"), enumerate(prompts)))


def keeps(house: House, *words: str) -> bool:
    """Tell whether each of some words is in a memory, waiting for what is still being finished."""
    return until(lambda: all(any(word in text for text in house.texts()) for word in words), PATIENCE / 2)


@pytest.mark.parametrize("is_served", [True, False])
def test_many_prompts_at_once_are_all_kept(house: House, is_served: bool) -> None:
    teaching, locking = points(everyday=2, soak=32), points(everyday=2, soak=24)
    if is_served:
        house.serve()
    locks = [f"/mem:lock Always run check{number} before step{number}" for number in range(locking)]
    said = at_once(house, [taught(number) for number in range(teaching)] + locks)
    assert {one.code for one in said} == {0}
    assert {one.err for one in said} == {""}
    for one in said[teaching:]:
        assert "remembers and locked" in one.text
    assert keeps(house, *[f"tool{number} " for number in range(teaching)])
    assert keeps(house, *[f"check{number} " for number in range(locking)])
    assert sum(bool(one["locked"]) for one in house.memories()) == locking


@pytest.mark.parametrize("is_served", sampled([True, False], [False]))  # the first prompt starts it anyway
def test_every_brief_arrives_on_a_busy_machine(house: House, is_served: bool) -> None:
    house.prompt("/mem:lock Always run make check before a commit", "s-0")
    if is_served:
        house.serve()
    busy = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(points(everyday=2, soak=10))
    ]
    try:
        for number in range(points(everyday=1, soak=20)):
            said = [house.start(f"s-{number}", **REAL).text]
            said += [house.prompt("thanks, go on", f"s-{number}", **REAL).text for _ in range(3)]
            assert sum("make check" in text for text in said) == 1, said
    finally:
        for one in busy:
            one.kill()
            one.wait()


def test_nothing_acknowledged_is_lost_when_the_service_is_killed(house: House) -> None:
    """Kill it at random moments under load; every command that said "remembers" is in the journal."""
    moments = random.Random(7)
    acknowledged: list[str] = []
    killed = round_ = 0
    locking, teaching = points(everyday=2, soak=3), points(everyday=1, soak=2)
    house.serve()
    while killed < points(everyday=1, soak=200):
        round_ += 1
        prompts = [f"/mem:lock Always run check{round_}x{n} before step{round_}x{n}" for n in range(locking)]
        prompts += [taught(1000 * round_ + n) for n in range(teaching)]
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(at_once, house, prompts)
            time.sleep(moments.uniform(0.0, 0.4))
            killed += house.kill()
            said = running.result()
        assert {(one.code, one.err) for one in said} == {(0, "")}
        for n in range(locking):
            is_done = "remembers" in said[n].text or "knew already" in said[n].text
            acknowledged += [f"check{round_}x{n} "] if is_done else []
            assert is_done, said[n]
    assert keeps(house, *acknowledged)
    assert "remembers" in house.prompt("/mem:remember We use pnpm in this house").text
    assert house.start("another").code == 0


def test_stopped_service_finishes_what_it_has_received(house: House) -> None:
    house.serve()
    many = points(everyday=4, soak=8)
    prompts = [f"/mem:lock Always run check{number} before step{number}" for number in range(many)]
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(at_once, house, prompts)
        assert until(lambda: running.done() or (found := house.pong()) is None or found.calls > 1)
        house.stop()
        said = running.result()
    assert {(one.code, one.err) for one in said} == {(0, "")}
    assert keeps(house, *[f"check{number} " for number in range(many)])


def test_prompt_that_is_typed_slowly_is_kept(house: House) -> None:
    for is_served in (False, True):
        process = house.begin("prompt")
        time.sleep(points(everyday=1, soak=20) / 2)
        assert process.poll() is None
        text = f"/mem:remember The {'service' if is_served else 'hook'} waits for late input"
        assert "remembers" in end(process, json.dumps(house.typed(text)).encode()).text
        house.serve()
    assert keeps(house, "service waits", "hook waits")


@pytest.mark.parametrize("is_served", sampled([True, False], [True]))
def test_prompt_is_kept_while_another_process_locks_the_journal(house: House, is_served: bool) -> None:
    house.prompt("/mem:remember The journal exists")
    if is_served:
        house.serve()
    else:
        house.stop()
    lock = next((Path(house.home) / "journal").glob("*/lock"))
    words = [sys.executable, "-c", HOLD, str(lock)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        said = house.prompt("/mem:lock Always run make check before a commit", "s-2", **HURRY)
        late = house.prompt(taught(1), "s-3", **HURRY)
        holder.communicate()
    assert (said.code, late.code) == (0, 0)
    assert "Not saved yet" in said.text
    assert keeps(house, "make check before a commit", "tool1 ")
    assert until(lambda: read_counts(str(house.home)))  # counted after it is kept, by a process of its own
    assert [(one.agent, one.event) for one in read_counts(str(house.home))] == [("claude-code", "prompt")]
    # The session hears what became of its command.
    assert until(lambda: "remembers and locked" in house.prompt("thanks, go on", "s-2").text)
    assert "remembers and locked" not in house.prompt("thanks, go on", "s-2").text


@pytest.mark.soak
def test_memory_of_the_service_stays_flat(house: House) -> None:
    house.serve()
    sizes = []
    for round_ in range(points(everyday=2, soak=10)):
        for number in range(points(everyday=20, soak=1000)):
            house.prompt("Install the dependencies and run the build", f"s-{round_}-{number % 50}")
        pong = house.pong()
        assert pong is not None
        sizes.append(pong.rss_mb)
    assert sizes[-1] - sizes[0] < 3
    assert sizes[-1] <= 40
