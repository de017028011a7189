"""Reads a message a line, has it answered, and goes on, whatever comes, until whoever asks is gone."""

from __future__ import annotations

import time

from told.serve.mcp.server import NO_JSON, NO_REQUEST, failure
from told.serve.mcp.streams import LONGEST, EndedError, Lines, Overlong, write
from told.store.memory_json import decoded, encoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.serve.mcp.server import Server

_PATIENCE = 0.5  # seconds that a call waits for the client to say where it works
_MOST_WAITING = 16
_OTHER_ENDS = "\x85\u2028\u2029"


def serve(server: Server, source: int, sink: int) -> None:
    """Answer what comes from one descriptor on the other, until there is nothing more."""
    lines = Lines(source, sink)
    waiting: list[Any] = []  # calls that depend on the client's folders, which it was asked for
    until = 0.0
    try:
        while True:
            try:
                line = lines.next(until - time.monotonic() if waiting else None)
            except EndedError:
                _say_all(server, sink, waiting)  # what was asked to the last moment is done
                return
            if line is None:
                server.waits = False  # it had its time, and is not waited for again
            else:
                message = read(line)
                if server.waits and server.needs_place(message):
                    until = until if waiting else time.monotonic() + _PATIENCE
                    waiting.append(message)
                else:
                    _say_all(server, sink, [message])
            if not server.waits or len(waiting) == _MOST_WAITING:
                _say_all(server, sink, waiting)
                waiting.clear()
    except EndedError:
        return


class Unread:
    """A line that is no message, with what to say to it."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.answer = answer


def read(line: bytes) -> Any:
    """Return the message in a line, or an `Unread`."""
    if isinstance(line, Overlong):
        megabytes = LONGEST >> 20
        return Unread(
            failure(_id_in(line), NO_REQUEST, f"A message has at most {megabytes} MB: send less text.")
        )
    try:
        return decoded(line.decode("utf-8").lstrip("\ufeff").strip())
    except ValueError:
        return Unread(failure(None, NO_JSON, "This is no JSON."))


def _say_all(server: Server, sink: int, messages: list[Any]) -> None:
    for message in messages:
        answer = message.answer if isinstance(message, Unread) else server.answer(message)
        for said in (answer, server.question()):
            if said is not None:
                write(sink, written(said))


def written(message: Any) -> bytes:
    """Return a message as one line, also for those who take more characters for the end of one."""
    text = encoded(message)
    for other_end in _OTHER_ENDS:
        if other_end in text:
            text = text.replace(other_end, f"\\u{ord(other_end):04x}")
    # Half a character is written as JSON's escape for it, which is what it came as.
    return text.encode("utf-8", "backslashreplace") + b"\n"


def _id_in(line: Overlong) -> Any:
    """Return the id of a request of which only the ends are left; None where neither has it."""
    head, _, tail = line.decode("utf-8", "replace").partition("\n")
    inner = head.strip().removeprefix("{").partition("{")[0].partition("[")[0]
    outer = tail.strip().removesuffix("}").rpartition("}")[2].rpartition("]")[2]
    for part in (inner.rpartition(",")[0], outer.strip().removeprefix(",")):
        try:
            id_ = decoded("{" + part.strip() + "}").get("id")
        except ValueError:
            continue
        if isinstance(id_, (str, int)) and not isinstance(id_, bool):
            return id_
    return None
