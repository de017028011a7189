"""Other secret scanners, each installed in an environment of its own, on the same texts."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from benchmarks import measure, tools

_TOO_LONG = 300  # seconds of wall time
_SLOW, _ROUNDS = 3.0, 3  # seconds of CPU after which a run is not repeated, and how often one is
_NAME = "{:06}.txt"
# detect-secrets prints only hashes of what it found, so it is asked from inside.
_DETECT_SECRETS = """
import json, os, sys
from detect_secrets import SecretsCollection
from detect_secrets.settings import default_settings
with default_settings():
    for name in sorted(os.listdir(sys.argv[1])):
        found = SecretsCollection()
        found.scan_file(os.path.join(sys.argv[1], name))
        print(json.dumps([name, [one.secret_value for _, one in found]]))
"""


class Scanner(NamedTuple):
    """A scanner, and how it is asked about all files of a folder."""

    package: str
    version: str
    program: str
    megabytes: float  # what its speed is measured on: it should take some seconds
    words: Callable[[str, str, str], list[str]]  # of its commands, the texts, and where to write
    read: Callable[[str, str], Iterator[tuple[str, str]]]  # what it printed and wrote: a file and a value


def scan(
    scanner: Scanner, rows: Sequence[str], sessions: Sequence[str], cache: str, folder: str
) -> tuple[list[list[str]] | None, float | None, str]:
    """Return what a scanner finds in each text, its speed in MB a second, and its version or why not.

    Args:
        scanner: The one to ask.
        rows: The texts, each asked about by itself.
        sessions: The texts that speed is measured on.
        cache: Where scanners are installed to stay; by default the user's cache.
        folder: A scratch folder for the files.
    """
    peer = tools.install(scanner.package, scanner.version, scanner.program, cache)
    if not peer.folder:
        return None, None, f"not installed; {peer.why}"
    asked = _ask(scanner, peer.folder, rows, os.path.join(folder, "rows"))
    start = _quickest(scanner, peer.folder, ["nothing"], os.path.join(folder, "start"))
    if isinstance(asked, str) or isinstance(start, str):
        return None, None, f"not measured; {asked if isinstance(asked, str) else start}"
    found: list[list[str]] = [[] for _ in rows]
    for name, value in asked.found:
        found[int(os.path.basename(name).partition(".")[0])].append(value)
    part = _part(sessions, int(scanner.megabytes * 1_000_000))
    timed = _quickest(scanner, peer.folder, part, os.path.join(folder, "sessions"))
    if isinstance(timed, str):
        return found, None, f"{scanner.version}; speed not measured: {timed}"
    size = sum(len(text.encode()) for text in part) / 1_000_000
    return found, round(size / max(timed.cpu - start.cpu, 0.01), 3), scanner.version


class _Asked(NamedTuple):
    found: list[tuple[str, str]]
    cpu: float


def _quickest(scanner: Scanner, commands: str, texts: Sequence[str], folder: str) -> _Asked | str:
    """Run a scanner again if it was quick: its start costs more than the texts, and never the same."""
    best = _ask(scanner, commands, texts, folder)
    for again in range(_ROUNDS):
        if isinstance(best, str) or best.cpu > _SLOW:
            return best
        other = _ask(scanner, commands, texts, f"{folder}-{again}")
        if not isinstance(other, str) and other.cpu < best.cpu:
            best = other
    return best


def _ask(scanner: Scanner, commands: str, texts: Sequence[str], folder: str) -> _Asked | str:
    """Run a scanner over texts; what went wrong is a sentence."""
    files, home = os.path.join(folder, "texts"), os.path.join(os.path.dirname(folder), "home")
    os.makedirs(files)
    os.makedirs(
        home, exist_ok=True
    )  # one for all runs: what a scanner keeps there makes its next start cheap
    for number, text in enumerate(texts):
        with open(os.path.join(files, _NAME.format(number)), "w", encoding="utf-8", newline="") as file:
            file.write(text)
    report = os.path.join(folder, "report")
    environ = {"HOME": home, "PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"}
    limited = [sys.executable, "-c", _LIMITED, str(_TOO_LONG), *scanner.words(commands, files, report)]
    ran = measure.once(measure.Command(limited, environ, folder))
    try:
        return _Asked(list(scanner.read(ran.out, report)), ran.cpu)
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        return f"it ended with {ran.code}: {(ran.errors.strip() or str(error))[-200:]}"


# A scanner that does not end is ended, and its CPU time is counted with its parent's.
_LIMITED = """
import subprocess, sys
try:
    sys.exit(subprocess.run(sys.argv[2:], timeout=float(sys.argv[1])).returncode)
except subprocess.TimeoutExpired:
    sys.exit("it took too long")
"""


def _part(texts: Sequence[str], size: int) -> list[str]:
    """Return files of some 20 kB with the first texts, `size` bytes in all."""
    files: list[str] = []
    current: list[str] = []
    length = total = 0
    for text in texts:
        current.append(text)
        length += len(text)
        total += len(text)
        if length > 20_000 or total >= size:
            files.append("\n".join(current))
            current, length = [], 0
        if total >= size:
            break
    return files


def _of_detect_secrets(out: str, _report: str) -> Iterator[tuple[str, str]]:
    for line in out.splitlines():
        name, values = json.loads(line)
        yield from ((name, str(value)) for value in values)


def _of_credsweeper(out: str, report: str) -> Iterator[tuple[str, str]]:
    if "Detected Credentials: 0" in out:  # then it writes no report
        return
    with open(report, encoding="utf-8") as file:
        for found in json.load(file):
            for line in found["line_data_list"]:
                yield line["path"], str(line["value"])


def _of_kingfisher(out: str, _report: str) -> Iterator[tuple[str, str]]:
    for line in out.splitlines():
        finding = json.loads(line).get("finding")
        if finding:
            yield finding["path"], str(finding["snippet"])


SCANNERS = {
    "detect-secrets": Scanner(
        "detect-secrets", "1.5.0", "detect-secrets", 0.5,
        lambda commands, files, _: [os.path.join(commands, "python"), "-c", _DETECT_SECRETS, files],
        _of_detect_secrets,
    ),
    "credsweeper": Scanner(
        "credsweeper", "1.19.5", "credsweeper", 0.5,
        lambda commands, files, report: [
            os.path.join(commands, "credsweeper"), "--path", files, "--save-json", report, "--jobs", "1",
        ],
        _of_credsweeper,
    ),
    "kingfisher": Scanner(
        "kingfisher-bin", "2.14.0", "kingfisher", 10,
        lambda commands, files, _: [
            os.path.join(commands, "kingfisher"), "scan", files, "--format", "jsonl", "--jobs", "1",
            "--no-validate", "--no-dedup", "--no-update-check",
        ],
        _of_kingfisher,
    ),
}  # fmt: skip
