"""Run `told`: let the service answer a command that only reads, or run it in this process.

Everything else of told is loaded only if the service does not answer, so this imports as little as a hook.
"""

from __future__ import annotations

import os
import sys
import time

from told import __file__ as package
from told import __version__
from told.hook.client import PROTOCOL, WITHHELD, exchange, is_sent

# Commands that only read.
SERVED = frozenset((
    "list", "search", "show", "files", "timeline", "repos", "checkpoints", "memories", "brief", "explain",
    "why", "evolution", "diff",
))  # fmt: skip
_SERVE = "sync-serve"
_SECONDS = 3.0  # for the service's answer; then the command runs in this process
# Values of variables that are no secrets: of these names, with these endings, or one of these words.
_NAMES = ("PATH", "TZ")
_ENDINGS = ("_AGENT", "_SANDBOX", "_SESSION_ID", "_THREAD_ID", "_SHELL_ID")
_WORDS = ("", "0", "1", "on", "off", "yes", "no", "true", "false")


def run() -> None:
    """Run the command line."""
    words = sys.argv[1:]
    try:
        answer = _ask(words) if words and words[0] in SERVED and _is_for_programs(words) else b""
    except (OSError, ValueError):  # no answer in time, or not by a service of told's
        answer = b""
    except KeyboardInterrupt:
        sys.stderr.write("told: Stopped.\n")
        os._exit(130)
    if answer:
        _print(answer.decode())
    if len(words) == 2 and words[0] == _SERVE:
        _serve_sync(words)
    import gc  # noqa: PLC0415

    gc.disable()  # a command makes no garbage worth collecting, nor do its imports
    from told.cli.main import run as run_here  # noqa: PLC0415 - loads the rest of told

    run_here()


def _serve_sync(words: list[str]) -> None:
    """Answer another machine, which waits for this program to start; return if something is wrong."""
    from told.cli.moving.serve import serve_space  # noqa: PLC0415
    from told.errors import ToldError  # noqa: PLC0415

    try:
        os._exit(serve_space(words[1:], os.environ))
    except ToldError:  # described by the command line
        return


def identity() -> str:
    """Return what this told is; only the same one answers for it."""
    return f"{__version__} {os.path.dirname(os.path.abspath(str(package)))}"


def _is_for_programs(words: list[str]) -> bool:
    """Tell whether compact text or JSON is wanted, not tables for a terminal."""
    if any(word.startswith("--color") for word in words) or sys.stdout is None or sys.stderr is None:
        return False
    return "--json" in words or not sys.stdout.isatty()


def _ask(words: list[str]) -> bytes:
    """Return the service's answer; empty if there is none or it declines."""
    try:
        folder = os.getcwd()
    except OSError:
        folder = ""
    sent = [f"{name}={_public(name, value)}" for name, value in os.environ.items()]
    body = os.fsencode("\0".join(words))

    def encode(token: str) -> bytes:
        head = os.fsencode("\0".join([identity(), "", token, "0", folder, *sent]))
        return b"%s command %d %d\n%s%s" % (PROTOCOL, len(head), len(body), head, body)

    return exchange(encode, time.monotonic() + _SECONDS) or b""


def _public(name: str, value: str) -> str:
    is_public = is_sent(name) or name in _NAMES or name.endswith(_ENDINGS) or value.lower() in _WORDS
    return value if is_public else WITHHELD


def _print(answer: str) -> None:
    """Print an answer and exit as the command would have."""
    head, _, text = answer.partition("\n")
    code, size, is_behind = map(int, head.split())
    if text[size:] and sys.stderr.isatty():
        return  # errors are wrapped there
    try:
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
        sys.stdout.write(text[:size])
        sys.stdout.flush()
        sys.stderr.write(text[size:])
    except BrokenPipeError:
        code = 0  # the reader of the output has seen enough
    if is_behind:
        from told.cli.main import start_sweep  # noqa: PLC0415 - once a minute at most
        from told.settings import find_home  # noqa: PLC0415

        start_sweep(find_home(os.environ), os.environ)
    os._exit(code)


if __name__ == "__main__":
    run()
