"""Carry series to another machine by ssh, where told keeps them in a folder."""

from __future__ import annotations

import contextlib
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

from told.errors import BusyError, MissingError, ToldError, UsageError
from told.pattern import lazy_pattern
from told.sync.transports.names import check_space, check_write, is_file, is_series
from told.sync.transports.process import end, read_errors, start
from told.sync.transports.serve import ERRORS, VERSION
from told.sync.transports.wire import BrokenStreamError, receive, send

_GREETED = lazy_pattern(rb"told-sync (\d{1,4})\n")
_MAX_BANNER = 65_536  # bytes that login scripts may print
_HOST = lazy_pattern(r"(?:[A-Za-z0-9_][\w.+-]*@)?[A-Za-z0-9_\[:][\w.:%\[\]-]*", re.ASCII)
_SSH = (
    "ssh", "-Tax", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-o", "ClearAllForwardings=yes",
    "-o", "LogLevel=ERROR",
)  # fmt: skip
_NO_QUESTIONS = {"SSH_ASKPASS_REQUIRE": "never", "SSH_ASKPASS": ""}
_CLOSE_SECONDS = 1.0
_SSH_FAILED, _NOT_FOUND = 255, 127  # exit codes of ssh, and of shells
_REFUSED = lazy_pattern(
    r"permission denied|host key verification|authentication|identification", re.IGNORECASE
)


class SshTransport:
    """Keep each series below `sync/hub` of told's home on another machine.

    One connection serves all calls until `close`; after an error the next call connects again.
    """

    def __init__(
        self,
        host: str,
        space: str,
        *,
        environ: Mapping[str, str],
        command: Sequence[str] | None = None,
        seconds: float = 60.0,
    ) -> None:
        """Name the place; nothing is started yet.

        Args:
            host: A host as ssh takes it: `name`, `user@name` or an alias of ssh's settings.
            space: The id of what is shared.
            environ: The user's environment.
            command: The words to start instead of ssh.
            seconds: How long no byte may move.
        """
        if not _HOST.fullmatch(host):
            raise UsageError(f"{host[:80]!a} is not a host. Use a name as in `ssh name`.")
        self._host = host
        self._words = [*(command or (*_SSH, "--", host, "told", "sync-serve", check_space(space)))]
        self._environ = {**environ, **_NO_QUESTIONS}
        self._seconds = seconds
        self._connection: _Connection | None = None

    def heads(self) -> dict[str, bytes]:
        """Return the head of each series, by its name."""
        header, parts = self._ask({"do": "heads"})
        return {name: head for name, head in self._pair(header, parts).items() if is_series(name)}

    def read(self, series: str, names: Sequence[str]) -> dict[str, bytes]:
        """Return some files of a series; those that are not there are left out."""
        known = [name for name in names if is_file(name)]
        if not is_series(series) or not known:
            return {}
        header, parts = self._ask({"do": "read", "series": series, "names": known})
        found = self._pair(header, parts)
        return {name: found[name] for name in known if name in found}

    def write(
        self, series: str, files: Mapping[str, bytes | None], head: bytes, *, before: bytes | None
    ) -> bool:
        """Write and delete (None) files of a series, then its head; False if that changed."""
        check_write(series, files, head)
        written = {name: data for name, data in files.items() if data is not None}
        request = {
            "do": "write", "series": series, "names": list(written), "has_before": before is not None,
            "deleted": [name for name in files if name not in written],
        }  # fmt: skip
        header, _ = self._ask(request, [head, before or b"", *written.values()])
        return header.get("written") is True

    def close(self) -> None:
        """End the connection."""
        if self._connection:
            self._connection.close()
            self._connection = None

    def _ask(
        self, request: dict[str, Any], parts: Sequence[bytes] = ()
    ) -> tuple[dict[str, Any], list[bytes]]:
        try:
            if self._connection is None:
                self._connection = _Connection(self._host, self._words, self._environ, self._seconds)
            header, answered = self._connection.ask(request, parts)
        except ToldError:
            self.close()
            raise
        if "error" in header:
            kind = ERRORS.get(str(header["error"]), MissingError)
            raise kind(f"{self._host}: {_one_line(str(header.get('message')))}.")
        return header, answered

    def _pair(self, header: dict[str, Any], parts: list[bytes]) -> dict[str, bytes]:
        names = header.get("names")
        if not isinstance(names, list) or len(names) != len(parts):
            self.close()
            raise BusyError(f"{self._host} sent a wrong answer. Update told on both machines, then retry.")
        return dict(zip(map(str, names), parts, strict=True))


class _Connection:
    """A running `told sync-serve`."""

    def __init__(self, host: str, words: Sequence[str], environ: Mapping[str, str], seconds: float) -> None:
        self._host = host
        self._seconds = seconds
        self._moved = 0.0  # when bytes moved last
        self._is_late = self._is_greeted = False
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        try:
            self._process = start(words, environ, self._errors)
        except OSError:
            self._errors.close()
            raise MissingError("ssh is not installed. Install it, or sync by a folder.") from None
        assert self._process.stdin
        assert self._process.stdout
        self._input, self._output = self._process.stdin, self._process.stdout
        try:
            self._greet()
        except ToldError:
            self.close()
            raise

    def ask(self, request: dict[str, Any], parts: Sequence[bytes]) -> tuple[dict[str, Any], list[bytes]]:
        """Send a request; return the answer."""
        with self._limited():
            send(self, request, parts)
            return receive(self)

    def read(self, size: int) -> bytes:
        data = self._output.read(size)
        self._moved = time.monotonic()
        return data

    def write(self, data: bytes) -> int:
        count = self._input.write(data)
        self._moved = time.monotonic()
        return count

    def flush(self) -> None:
        self._input.flush()

    def close(self) -> None:
        """End the program, which ends with its input unless it hangs."""
        with contextlib.suppress(OSError):
            self._input.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=0 if self._is_late else _CLOSE_SECONDS)
        end(self._process)
        self._output.close()
        self._errors.close()
        self._process.wait()

    def _greet(self) -> None:
        """Read up to the greeting, past what login scripts print."""
        with self._limited():
            printed = b""
            while not (greeted := _GREETED.fullmatch(line := self._output.readline(_MAX_BANNER))):
                printed += line
                if not line or len(printed) > _MAX_BANNER:
                    raise BrokenStreamError(printed[:1000].decode("utf-8", "replace"))
        if int(greeted[1]) != VERSION:
            versions = f"version {int(greeted[1])} of the protocol, and this told version {VERSION}"
            raise MissingError(f"told on {self._host} speaks {versions}. Update the older told.")
        self._is_greeted = True

    @contextlib.contextmanager
    def _limited(self) -> Iterator[None]:
        """End the program if no byte moves for too long, and say what went wrong."""
        self._moved = time.monotonic()
        done = threading.Event()
        watch = threading.Thread(target=self._watch, args=(done,), daemon=True)
        watch.start()
        try:
            yield
        except (OSError, BrokenStreamError) as error:
            done.set()
            watch.join()
            raise self._explain("" if isinstance(error, OSError) else str(error)) from None
        finally:
            done.set()
            watch.join()

    def _watch(self, done: threading.Event) -> None:
        while not done.wait(max(0.0, self._moved + self._seconds - time.monotonic())):
            if time.monotonic() >= self._moved + self._seconds:
                self._is_late = True
                end(self._process)
                return

    def _explain(self, printed: str) -> ToldError:
        host = self._host
        if self._is_late:
            return BusyError(
                f"{host} did not answer within {self._seconds:g} s. Check the connection, then retry."
            )
        with contextlib.suppress(OSError):
            self._input.close()
        try:
            code = self._process.wait(timeout=_CLOSE_SECONDS)
        except subprocess.TimeoutExpired:
            end(self._process)
            code = 0
        errors = read_errors(self._errors)
        why = _one_line(errors) or _one_line(printed) or f"exit code {code}"
        if self._is_greeted:
            return BusyError(f"The connection to {host} ended early ({why}). Retry.")
        if code == _SSH_FAILED and _REFUSED.search(errors):
            return MissingError(
                f"{host} refuses the connection ({why}). Check that `ssh {host}` works without asking."
            )
        if code == _SSH_FAILED:
            return BusyError(f"{host} cannot be reached ({why}). Check the connection, then retry.")
        if code == _NOT_FOUND:
            return MissingError(
                f"ssh finds no told on {host} ({why}). Install it there, on the PATH of its shell."
            )
        return MissingError(f"told did not start on {host} ({why}). Update told there.")


def _one_line(text: str) -> str:
    """Return the last line that says something, as text for one sentence."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    shown = "".join(letter for letter in lines[-1] if letter.isprintable()) if lines else ""
    return shown.rstrip(".")[:200]
