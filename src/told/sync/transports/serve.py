"""Answer another machine that syncs over ssh.

It waits for this program to start, so this module imports little.
"""

from __future__ import annotations

import contextlib
from typing import IO, Any

from told.errors import BusyError, DiskFullError, MissingError, ToldError
from told.files import cannot_write, make_folder
from told.sync.transports.folder import FolderTransport
from told.sync.transports.wire import BrokenStreamError, receive, send

VERSION = 1
# It starts a line of its own, whatever a login script printed before.
_GREETING = b"\ntold-sync %d\n"
ERRORS: dict[str, type[ToldError]] = {
    "full": DiskFullError, "busy": BusyError, "missing": MissingError,
}  # fmt: skip


def serve(stdin: IO[bytes], stdout: IO[bytes], folder: str, space: str) -> None:
    """Answer the requests of one client until it ends.

    Args:
        stdin: Requests.
        stdout: Answers; nothing else may be written to it.
        folder: Where the spaces of this machine are kept; created if missing.
        space: The one space that is served.

    Raises:
        UsageError: the space has no valid name.
    """
    place = FolderTransport(folder, space)
    with contextlib.suppress(BrokenPipeError):
        stdout.write(_GREETING % VERSION)
        stdout.flush()
        while True:
            try:
                request, parts = receive(stdin)
            except BrokenStreamError:
                return  # half a request changes nothing
            header, found = _answer(place, folder, request, parts)
            send(stdout, header, found)


def _answer(
    place: FolderTransport, folder: str, request: dict[str, Any], parts: list[bytes]
) -> tuple[dict[str, Any], list[bytes]]:
    try:
        make_folder(folder)
        return _do(place, request, parts)
    except OSError as error:
        return _describe(cannot_write(folder, error)), []
    except ToldError as error:
        return _describe(error), []
    except (KeyError, ValueError, TypeError):
        return {"error": "missing", "message": "The request was not understood. Update told."}, []


def _do(
    place: FolderTransport, request: dict[str, Any], parts: list[bytes]
) -> tuple[dict[str, Any], list[bytes]]:
    match request["do"]:
        case "heads":
            found = place.heads()
        case "read":
            found = place.read(str(request["series"]), [str(name) for name in request["names"]])
        case "write":
            head, before, *data = parts
            files: dict[str, bytes | None] = dict(zip(map(str, request["names"]), data, strict=True))
            files |= dict.fromkeys(map(str, request["deleted"]))
            expected = before if request["has_before"] else None
            return {"written": place.write(str(request["series"]), files, head, before=expected)}, []
        case _:
            raise ValueError(request["do"])
    return {"names": list(found)}, list(found.values())


def _describe(error: ToldError) -> dict[str, Any]:
    kind = next((name for name, known in ERRORS.items() if isinstance(error, known)), "missing")
    return {"error": kind, "message": str(error)}
