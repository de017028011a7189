"""Run another program within a time limit, and end what it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import IO, NamedTuple

OWN_SESSION = os.name != "nt"  # away from the terminal: nothing it starts can ask there


class Done(NamedTuple):
    """What a program that ended left."""

    code: int
    out: bytes
    err: str


def run(
    words: Sequence[str],
    environ: Mapping[str, str],
    seconds: float,
    *,
    folder: str | None = None,
    data: bytes = b"",
) -> Done:
    """Run a program with some input; return its output.

    Raises:
        TimeoutError: it took too long, and was ended with all that it started.
        OSError: it cannot be started.
    """
    with start(words, environ, stderr=subprocess.PIPE, folder=folder) as process:
        try:
            out, err = process.communicate(data, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        finally:
            end(process)
    return Done(process.returncode, out, err.decode("utf-8", "replace"))


def start(
    words: Sequence[str], environ: Mapping[str, str], *, stderr: int | IO[bytes], folder: str | None = None
) -> subprocess.Popen[bytes]:
    """Start a program with pipes for its input and output."""
    return subprocess.Popen(  # noqa: S603 - git or ssh, no shell; callers check what varies
        words, env=dict(environ), cwd=folder, start_new_session=OWN_SESSION,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
    )  # fmt: skip


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program that still runs, with what it started."""
    if process.poll() is None:
        with contextlib.suppress(OSError):
            if OWN_SESSION:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
