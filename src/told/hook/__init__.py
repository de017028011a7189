"""What an agent runs at every prompt: reads its JSON, answers in its form, and always exits 0, in time."""

# Without the usual import from __future__: it has a file of its own, which every prompt would wait for.
import gc
import os
import sys
import time
from _thread import start_new_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn

    from told.hook.moment import Serving

SECONDS = 0.26  # from here; an agent that waits 300 ms has waited for the interpreter as well
LONGEST = 4.0  # where the machine is too busy to run it in that time, and something may still have to be kept
_MOST = 4_000_000  # bytes of a call; a longer one is no prompt
_unsettled: list[str] = []  # prompts of which it is not known yet whether they teach anything


def run() -> "NoReturn":
    """Answer the call on standard input, and leave, in time, with exit code 0, whatever happens."""
    gc.disable()  # nothing lives long enough here to be looked for
    if sys.argv[2:] == ["prompt"]:
        _unsettled.append("prompt")
    start_new_thread(_leave, (time.monotonic(),))
    try:
        _use_snapshot()
        text = _answer(sys.argv[1:], os.environ)
        if text:
            os.write(1, text.encode("utf-8", "replace"))
    except BaseException as error:  # noqa: BLE001 - nothing that goes wrong here may reach the agent
        _note_failure(error)
    os._exit(0)


def answer(
    agent: str, event: str, payload: "Mapping[str, Any]", environ: "Mapping[str, str]",
    serving: "Serving | None" = None,
) -> str:  # fmt: skip
    """Return what to print for a call; nothing where there is nothing to say.

    Args:
        agent: Whose hook it is.
        event: The moment, in told's words or in the agent's own.
        payload: What the agent says about it.
        environ: The variables that the agent runs with.
        serving: What a service brings along that answers in the place of a process of its own.
    """
    from told.agents.dialects import is_second_hand, understood
    from told.guard.names import is_plain
    from told.store.memory_json import encoded

    call = understood(agent, event, payload)
    if call is None or not is_plain(agent):
        return ""
    if is_second_hand(agent, payload, environ):
        from told.hook.sharing import answers_itself

        if answers_itself(call, environ):
            return ""
    from told.hook.moments import answer_to

    found = answer_to(call, environ, serving)
    return encoded(found) if found else ""


def _answer(words: list[str], environ: "Mapping[str, str]") -> str:
    from told.store.memory_json import decoded

    raw = _read()
    try:
        payload = decoded(raw.decode("utf-8", "replace").lstrip("\ufeff").strip())
    except ValueError:
        payload = None
    if not isinstance(payload, dict) or len(words) < 2:
        return ""
    began = time.perf_counter()
    said = ""
    try:
        said = answer(words[0], words[1], payload, environ)
    finally:
        if _is_debugging():
            from told.hook.debugging import log

            log(words, payload, said, (time.perf_counter() - began) * 1000, environ)
    return said


def _use_snapshot() -> None:
    compiled = next((place for place in sys.path if place.endswith("lib-dynload")), "")
    if compiled:  # nearly all that is not in the snapshot lies there: look there first
        sys.path.remove(compiled)
        sys.path.insert(0, compiled)
    from told.snapshot import LOOK, path_in, ready, use

    use(path_in(_home()))
    ready(LOOK)


def _home() -> str:
    return os.environ.get("TOLD_HOME") or f"{os.environ.get('HOME', '')}/.told"


def _read() -> bytes:
    parts = []
    size = 0
    while (part := os.read(0, 1 << 16)) and size <= _MOST:
        parts.append(part)
        size += len(part)
    return b"".join(parts) if size <= _MOST else b""


def settled() -> None:
    """Say that what a prompt teaches is on disk, or that it teaches nothing."""
    _unsettled.clear()


def _leave(began: float) -> None:
    """End the process when its time is up, however deep in a file system or a lock it is.

    While something may have to be kept, time in which others had the processor does not count.
    """
    time.sleep(max(0.0, began + SECONDS - time.monotonic()))
    while _unsettled and time.monotonic() < began + min(LONGEST, SECONDS + _kept_waiting()):
        time.sleep(0.02)
    if _is_debugging():
        _log_late()
    os._exit(0)


def _is_debugging() -> bool:
    return os.environ.get("TOLD_DEBUG", "") not in ("", "0")


def _log_late() -> None:
    """Say in the log that there was no time for more; nothing may be imported here."""
    words = ",".join(f'"{word}"' for word in sys.argv[1:3] if _is_name(word))
    line = f'{{"at":"{time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}","hook":[{words}],"late":true}}\n'
    try:
        # Whatever stands there, this must not wait: nobody else ends the process.
        flags = os.O_CREAT | os.O_WRONLY | os.O_APPEND | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(f"{_home()}/hook.log", flags, 0o600)
        os.write(descriptor, line.encode("utf-8", "replace"))
    except OSError:
        return


def _is_name(word: str) -> bool:
    return len(word) < 20 and word.replace("-", "").isalnum()


def _kept_waiting() -> float:
    """Return for how many seconds this process could have run and was not let; 0 where nobody knows."""
    try:
        with open("/proc/self/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


def _note_failure(error: BaseException) -> None:
    from told.hook.trouble import note

    note(error, os.environ)
