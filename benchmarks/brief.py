"""What a prompt waits for: the memories it needs, found by a fresh process among few and among many."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from typing import Any

import apsw

import told
from benchmarks import banks, measure

_SIZES = (1_000, 10_000, 100_000)
PROMPTS = {
    "rare word": "why does zatapemu fail in src/billing/webhook.py",
    "a task": "deploy the payment webhook again, customers were charged twice",
    "common words": "run the tests and fix what is slow in the search index",
    "no shared word": "ship it now and tell me when people can log in again",
    "long": (
        "The report export times out for large tenants since yesterday. Look at src/reports/export.py, find "
        "out whether the stream or the database migration is to blame, add a test with a fixture, keep the "
        "CSV format as it is, and open a pull request once the pipeline is green."
    ),
    "thanks": "thanks, looks good",
}
_SCRIPT = """
import sys
sys.path[:0] = {places!r}
from told.fence import Fence
from told.journal.apply import open_memories
from told.recall.brief import make_prompt_brief
from told.recall.prompt import RecallRequest
memories = open_memories({home!r}, hurry=True)
ask = RecallRequest({prompt!r}, ({scope!r}, "global"), {now}, "src")
print(make_prompt_brief(memories, ask, Fence(b"k" * 32), session="s").text)
"""

HOW = (
    "Stores are generated: 40 % of the memories in the project that is asked about, 3 % for everywhere, the "
    "rest spread over 60 projects; words as rare as in a language. Each call is a fresh process that opens "
    "the memories in a hurry, recalls for one prompt and prints the brief. Calls for every size and prompt, "
    "and bare Pythons, come in shuffled rounds; figures are the medians of each prompt, and their mean for a "
    "size. Multiples are of python -I -S -c pass in the same rounds."
)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=0, help="how often each call is made")
    parser.add_argument("--sizes", default="", help="numbers of memories, with commas between them")


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure a prompt's recall at each size."""
    given = [int(size) for size in arguments.sizes.split(",") if size]
    sizes = given or list(_SIZES[:2] if arguments.quick else _SIZES)
    with tempfile.TemporaryDirectory() as folder:
        commands: dict[tuple[int, str], measure.Command] = {}
        for size in sizes:
            home = os.path.join(folder, str(size))
            banks.build(home, size).close()
            commands |= {(size, name): command(home, folder, prompt) for name, prompt in PROMPTS.items()}
        count = arguments.rounds or (5 if arguments.quick else 15)
        timings = measure.rounds({f"{size} {name}": one for (size, name), one in commands.items()}, count)
    bare = timings[measure.BARE_ISOLATED]
    by_size = {size: [timings[f"{size} {name}"] for name in PROMPTS] for size in sizes}
    cpu = {size: _mean([one.cpu_ms for one in found]) for size, found in by_size.items()}
    wall = {size: _mean([one.wall_ms for one in found]) for size, found in by_size.items()}
    return {
        "benchmark": "brief",
        "machine": measure.machine(),
        "rounds": count,
        "bare_python": {"cpu_ms": round(bare.cpu_ms, 2), "wall_ms": round(bare.wall_ms, 2)},
        "sizes": {
            f"{size:,} memories": {
                "cpu_ms": round(cpu[size], 2),
                "wall_ms": round(wall[size], 2),
                "cpu_x_bare": round(cpu[size] / bare.cpu_ms, 2),
                "wall_x_bare": round(wall[size] / bare.wall_ms, 2),
                "cpu_x_first": round(cpu[size] / cpu[sizes[0]], 2),
                "wall_x_first": round(wall[size] / wall[sizes[0]], 2),
            }
            for size in sizes
        },
        "prompts": {
            name: {
                f"{size:,}_wall_ms": round(timings[f"{size} {name}"].wall_ms, 2) for size in sizes
            } for name in PROMPTS
        },
        "how": HOW,
    }  # fmt: skip


def command(home: str, folder: str, prompt: str) -> measure.Command:
    """Return the call that an agent's prompt would wait for."""
    places = [os.path.dirname(os.path.dirname(module.__file__ or "")) for module in (told, apsw)]
    script = _SCRIPT.format(places=places, home=home, prompt=prompt, scope=banks.LARGE, now=banks.NOW)
    # Compiled modules are kept, as they are where told is installed.
    kept = f"pycache_prefix={os.path.join(folder, 'compiled')}"
    return measure.Command([sys.executable, "-I", "-S", "-X", kept, "-c", script], dict(os.environ), folder)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
