"""A ring of the last hundred calls, kept on this machine for `told health` alone."""

from __future__ import annotations

import os

from told.record import record

_KEEP = 100
_TRIM_AT = 16_384


@record
class Call:
    """One call of told."""

    at: int
    command: str
    milliseconds: float
    rows: int
    code: int
    tier: int
    retries: int


def _path(home: str) -> str:
    return os.path.join(home, "calls")


def note(home: str, call: Call) -> None:
    """Add a call; a ring that cannot be written is no reason to fail."""
    line = " ".join(map(str, tuple(call))) + "\n"  # type: ignore[arg-type]
    path = _path(home)
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, line.encode())
            if os.fstat(descriptor).st_size > _TRIM_AT:
                _trim(path)
        finally:
            os.close(descriptor)
    except OSError:
        return


def _trim(path: str) -> None:
    with open(path, "rb") as file:
        kept = file.read().splitlines(keepends=True)[-_KEEP:]
    temporary = f"{path}.{os.getpid()}"
    with os.fdopen(os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb") as file:
        file.writelines(kept)
    os.replace(temporary, path)


def recent(home: str) -> list[Call]:
    """Return the last hundred calls, the oldest first; a damaged line is left out."""
    try:
        with open(_path(home), encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()[-_KEEP:]
    except OSError:
        return []
    calls = []
    for line in lines:
        parts = line.split()
        try:
            at, command, took, rows, code, tier, retries = parts
            calls.append(Call(int(at), command, float(took), int(rows), int(code), int(tier), int(retries)))
        except ValueError:
            continue
    return calls
