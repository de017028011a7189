"""Tells from the bytes of a tool's output, as Codex keeps it, whether the call failed.

Codex writes a command's exit code before its output, or behind it in an object of its own.
"""

from __future__ import annotations

_BEFORE = (b"Process exited with code ", b'"Exit code: ')
_BEHIND = (b'\\"metadata\\":{\\"exit_code\\":', b'\\"metadata\\": {\\"exit_code\\": ')
_UNSUCCESSFUL = b'"success":false'
_OUTPUT = b"\\nOutput:"
_HEAD, _TAIL = 640, 400


def failed(raw: bytes) -> bool:
    """Whether a line with a tool's output says that the call failed."""
    head = raw[:_HEAD].partition(_OUTPUT)[0]
    tail = raw[-_TAIL:]
    return (
        any(_is_code(head.partition(mark)[2]) for mark in _BEFORE)
        or any(_is_code(tail.rpartition(mark)[2]) for mark in _BEHIND if mark in tail)
        or _UNSUCCESSFUL in tail
    )


def _is_code(rest: bytes) -> bool:
    """Whether this begins with a number other than zero."""
    digits = rest[:4].lstrip(b"-")
    return digits[:1].isdigit() and not digits.startswith(b"0")
