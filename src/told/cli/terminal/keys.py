"""Read single keys at a terminal; lines where a terminal cannot give keys."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Self

try:
    import termios
    import tty
except ImportError:  # Windows
    termios = tty = None  # type: ignore[assignment]

END = "\x04"  # Ctrl-D, or nothing more to read
ESCAPE = "\x1b"
_SIGNAL_SECONDS = 0.5
_ESCAPE_SECONDS = 0.05  # until the rest of an arrow key's sequence arrives


class Keyboard:
    """Gives keys while it is entered; the terminal is as before after that, whatever happens."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._is_dumb = environ.get("TERM", "") in ("", "dumb") and sys.platform != "win32"
        self._before: list[Any] | None = None
        self._is_asking = False
        self._handlers: dict[int, Any] = {}

    @property
    def gives_keys(self) -> bool:
        """Return whether a key arrives without Return."""
        return not self._is_dumb and (sys.platform == "win32" or termios is not None)

    def __enter__(self) -> Self:
        if self.gives_keys and termios is not None:
            self._before = termios.tcgetattr(sys.stdin.fileno())
            self._handle("SIGTERM", signal.default_int_handler)  # else it would stay without echo
            self._handle("SIGCONT", lambda _number, _frame: self._set_keys())
            self._set_keys()
        return self

    def __exit__(self, *_: object) -> None:
        """Restore the terminal and the signal handlers."""
        self._restore()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _handle(self, name: str, handler: Callable[[int, FrameType | None], Any]) -> None:
        number = getattr(signal, name)
        self._handlers[number] = signal.signal(number, handler)

    def _set_keys(self) -> None:
        if self._before is not None and not self._is_asking:
            tty.setcbreak(sys.stdin.fileno(), termios.TCSADRAIN)

    def _restore(self) -> None:
        if self._before is not None:
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, self._before)

    def read(self) -> str:
        """Return the next key in lower case; "" for one without a letter."""
        if not self.gives_keys:
            sys.stdout.write("> ")
            sys.stdout.flush()
            line = sys.stdin.readline()
            return line.strip()[:1].lower() if line else END
        return (_read_windows_key() if sys.platform == "win32" else _read_key()).lower()

    def ask(self, question: str, text: str = "") -> str | None:
        """Return a line that the user types or edits; None if it was cancelled."""
        with self._lines():
            try:
                return _read_line(question, text)
            except (EOFError, KeyboardInterrupt):
                sys.stdout.write("\n")
                return None

    @contextmanager
    def _lines(self) -> Iterator[None]:
        self._is_asking = True
        self._restore()
        try:
            yield
        finally:
            self._is_asking = False
            self._set_keys()


def _read_key() -> str:
    number = sys.stdin.fileno()
    while not select.select([number], [], [], _SIGNAL_SECONDS)[0]:
        pass  # a signal that came just before the wait is handled now
    first = os.read(number, 1)
    if not first:
        return END
    if first == b"\x1b" and select.select([number], [], [], _ESCAPE_SECONDS)[0]:
        first = os.read(number, 1)
        if first in (b"[", b"O"):  # an arrow or a function key, up to its last letter
            while (byte := os.read(number, 1)) and not b"@" <= byte <= b"~":
                pass
            return ""
    if first[0] >= 0xC0:  # the rest of a letter such as é
        os.read(number, 3 if first[0] >= 0xF0 else 2 if first[0] >= 0xE0 else 1)
        return ""
    return first.decode("ascii", "ignore")


def _read_windows_key() -> str:
    import msvcrt  # noqa: PLC0415 - only on Windows

    key: str = msvcrt.getwch()  # type: ignore[attr-defined]
    if key == "\x03":
        raise KeyboardInterrupt
    if key in "\x00\xe0":  # an arrow or a function key
        msvcrt.getwch()  # type: ignore[attr-defined]
        return ""
    return END if key == "\x1a" else key


def _read_line(question: str, text: str) -> str:
    with suppress(ImportError):
        import readline  # noqa: PLC0415 - not everywhere

        readline.set_startup_hook(lambda: readline.insert_text(text))
        try:
            return input(question)
        finally:
            readline.set_startup_hook(None)
    return input(question)
