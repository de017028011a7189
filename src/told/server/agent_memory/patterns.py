"""Match clients' regular expressions in a process of its own, which is ended if one takes too long."""

from __future__ import annotations

import json
import re
import select
import subprocess
import sys
import threading
from collections.abc import Sequence

from told.errors import UsageError

MAX_PATTERN = 500  # characters
_MAX_TEXT = 10_000
_SECONDS = 0.25  # for one pattern
_START_SECONDS = 5.0  # for a new process
_PROGRAM = """
import json, re, sys
print("ready", flush=True)
for line in sys.stdin:
    pattern, text = json.loads(line)
    print(int(bool(re.search(pattern, text, re.IGNORECASE))), flush=True)
"""


def check_pattern(pattern: str | None) -> None:
    """Check that a pattern is a regular expression of a sensible length.

    Raises:
        UsageError: it is not.
    """
    if not pattern:
        return
    if len(pattern) > MAX_PATTERN:
        raise UsageError(f"trigger_pattern too long (max {MAX_PATTERN})")
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"Invalid trigger_pattern regex: {error}") from None


class PatternMatcher:
    """Matches patterns; one that takes too long does not match."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def find(self, patterns: Sequence[str | None], text: str) -> list[bool]:
        """Tell which patterns are in a text; a missing pattern is in every text."""
        with self._lock:
            return [not one or self._search(one, text[:_MAX_TEXT]) for one in patterns]

    def _search(self, pattern: str, text: str) -> bool:
        process = self._process or self._start()
        assert process.stdin
        try:
            process.stdin.write(json.dumps([pattern, text]).encode() + b"\n")
            process.stdin.flush()
        except OSError:
            self._stop()
            return False
        answer = self._read(process, _SECONDS)
        if not answer:
            self._stop()
        return answer == b"1"

    def _start(self) -> subprocess.Popen[bytes]:
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, a constant program
            (sys.executable, "-I", "-S", "-c", _PROGRAM),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._read(self._process, _START_SECONDS)
        return self._process

    @staticmethod
    def _read(process: subprocess.Popen[bytes], seconds: float) -> bytes:
        """Return the next line of the process; empty if it takes too long or has ended."""
        assert process.stdout
        ready, _, _ = select.select([process.stdout], [], [], seconds)
        return process.stdout.readline().strip() if ready else b""

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process:
            process.kill()
            process.communicate()

    def close(self) -> None:
        """End the process."""
        with self._lock:
            self._stop()
