"""Run another program within a time limit, and end what it started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import IO, NamedTuple

OWN_SESSION = os.name != "nt"  # away from the terminal: nothing it starts can ask there
_MAX_ERRORS = 65_536  # bytes


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
    # Not a pipe for errors: a shared connection that ssh leaves behind may keep it open for long.
    with tempfile.TemporaryFile() as errors, start(words, environ, errors, folder=folder) as process:
        try:
            out, _ = process.communicate(data, timeout=seconds)
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        finally:
            end(process)
        return Done(process.returncode, out, read_errors(errors))


def start(
    words: Sequence[str], environ: Mapping[str, str], errors: IO[bytes], *, folder: str | None = None
) -> subprocess.Popen[bytes]:
    """Start a program with pipes for its input and output."""
    return subprocess.Popen(  # noqa: S603 - git or ssh, no shell; callers check what varies
        words, env=dict(environ), cwd=folder, start_new_session=OWN_SESSION,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
    )  # fmt: skip


def read_errors(errors: IO[bytes]) -> str:
    """Return what a program wrote as errors, without an endless flood."""
    errors.seek(0)
    return errors.read(_MAX_ERRORS).decode("utf-8", "replace")


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a program that still runs, with what it started."""
    if process.poll() is None:
        with contextlib.suppress(OSError):
            if OWN_SESSION:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
