"""Run fuzz targets with atheris: `python -m tests.fuzz [--seconds N] [NAME …]`.

Each target runs in a process of its own, guided by the lines that it reaches. What breaks its invariant
is written into its corpus, where `make test` finds it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

_DONE = re.compile(r"stat::number_of_executed_units:\s*(\d+)|#(\d+)\s+DONE")


def main() -> int:
    """Run the named targets, or all; return 1 if one breaks."""
    options = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    options.add_argument("--seconds", type=int, default=60, help="for each target (default 60)")
    options.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options.add_argument("names", nargs="*", metavar="NAME")
    given = options.parse_args()
    if given.inside:
        _fuzz(given.names[0], given.seconds)
    from tests.fuzz.targets import TARGETS

    chosen = given.names or [one.name for one in TARGETS]
    return max([_start(name, given.seconds) for name in chosen], default=0)


def _start(name: str, seconds: int) -> int:
    from tests.fuzz.targets import CORPUS

    words = [sys.executable, "-m", "tests.fuzz", "--inside", "--seconds", str(seconds), name]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
    with suppress(OSError):  # nothing was found
        (CORPUS / name).rmdir()
    found = [one or other for one, other in _DONE.findall(done.stdout + done.stderr)]
    print(
        f"{name:26} {found[-1] if found else '?':>9} runs  {'broken' if done.returncode else 'holds'}",
        flush=True,
    )
    if done.returncode:
        print("\n".join((done.stdout + done.stderr).splitlines()[-30:]), flush=True)
    return int(done.returncode != 0)


def _fuzz(name: str, seconds: int) -> None:
    """Run one target in this process until the time is over or it breaks."""
    import atheris

    with atheris.instrument_imports(include=["told"]):
        from tests.fuzz.targets import CORPUS, named
    target = named(name)
    folder = Path(tempfile.mkdtemp(prefix="told-corpus-"))
    for number, seed in enumerate(target.seeds()):
        (folder / str(number)).write_bytes(seed)
    (CORPUS / name).mkdir(exist_ok=True)
    limits = [f"-max_total_time={seconds}", "-timeout=60", "-rss_limit_mb=4000", "-max_len=60000"]
    found = [f"-artifact_prefix={CORPUS / name}/", "-print_final_stats=1"]
    atheris.Setup([sys.argv[0], *limits, *found, str(folder)], target.run)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
