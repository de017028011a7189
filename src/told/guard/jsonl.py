"""Reads JSON that other programs wrote, a line or a document at a time, within limits.

A line that is too long, too deep or not JSON is a `Problem`; the lines after it are still read.
"""

from __future__ import annotations

import json

from told.guard.files import NotReadableError, open_regular, read_document, reason
from told.model import Cursor, Problem
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

# Agents write tool output and images on one line; nothing a person said is this long.
MAX_LINE = 8 * 1024 * 1024
_MARK_EVERY = 512 * 1024
_LINE_FEED = 10
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@record
class Line:
    """One JSON object and the number of its line."""

    value: dict[str, Any]
    number: int


def json_lines(
    path: str, cursor: Cursor, skip: Callable[[bytes], bool] | None = None
) -> Iterator[Line | Problem | Cursor]:
    """Yield each JSON object of a file from the cursor on.

    Every half megabyte, and at the end, a `Cursor` says how far everything has been yielded.
    `skip` sees a line's raw bytes and may say that it holds nothing of interest, which saves parsing it.
    A last line without its line feed is taken only if it is whole.
    """
    number, marked = cursor.line, cursor.offset
    done = cursor.offset
    for raw, end in _lines(path, cursor.offset, skip):
        if isinstance(raw, Problem):
            if raw.line == 0:  # the file itself
                yield raw
                break
            number += 1
            yield Problem(number, raw.reason)
        elif isinstance(raw, int):  # lines that were skipped
            number += raw
        else:
            complete = raw.endswith(b"\n")
            # A crash can leave zeros where a line was to be written; the next line follows them at once.
            content = raw.strip(b" \t\r\n\0").removeprefix(_UTF8_MARK)
            if content:
                parsed = parse(content)
                if isinstance(parsed, dict):
                    yield Line(parsed, number + 1)
                elif not complete:
                    break  # the agent is still writing it
                else:
                    yield Problem(number + 1, parsed if isinstance(parsed, str) else "not a JSON object")
            number += complete  # a line feed that is still to come ends this line, not one more
        done = end
        if done - marked >= _MARK_EVERY:
            marked = done
            yield Cursor(done, number)
    if done != marked:
        yield Cursor(done, number)


def raw_lines(path: str, offset: int) -> Iterator[tuple[bytes | Problem, int]]:
    """Yield each line's bytes with the offset behind it, or a `Problem` as below."""
    for raw, end in _lines(path, offset, None):
        if not isinstance(raw, int):  # nothing is skipped
            yield raw, end


def _lines(
    path: str, offset: int, skip: Callable[[bytes], bool] | None
) -> Iterator[tuple[bytes | int | Problem, int]]:
    """Yield each line's bytes, or how many lines were skipped, with the offset behind it.

    A line over the limit is a `Problem` on line 1, a file that cannot be read one on line 0.
    """
    try:
        file = open_regular(path)
    except NotReadableError as error:
        yield Problem(0, str(error)), offset
        return
    skipped = skipped_bytes = 0
    with file:
        try:
            file.seek(offset)
            while raw := file.readline(MAX_LINE):
                size = len(raw)
                offset += size
                if skip is not None and raw[-1] == _LINE_FEED and skip(raw):
                    skipped += 1
                    skipped_bytes += size
                    if skipped_bytes >= _MARK_EVERY:
                        yield skipped, offset
                        skipped = skipped_bytes = 0
                    continue
                if skipped:
                    yield skipped, offset - size
                    skipped = skipped_bytes = 0
                if size < MAX_LINE or raw[-1] == _LINE_FEED:
                    yield raw, offset
                    continue
                while rest := file.readline(_MARK_EVERY):
                    offset += len(rest)
                    if rest.endswith(b"\n"):
                        yield Problem(1, f"longer than {MAX_LINE // (1024 * 1024)} MB"), offset
                        break
        except OSError as error:
            yield Problem(0, reason(error)), offset
            return
    if skipped:
        yield skipped, offset


def json_document(path: str) -> Any | Problem:
    """Read a whole JSON file, or say what is wrong with it."""
    try:
        content = read_document(path)
    except NotReadableError as error:
        return Problem(0, str(error))
    if content.startswith(_UTF16_MARKS):
        parsed = parse(content.decode("utf-16", "replace"))
    else:
        parsed = parse(content.removeprefix(_UTF8_MARK))
    return Problem(0, parsed) if isinstance(parsed, str) else parsed


def parse(content: bytes | str) -> Any:
    """Parse JSON; a text in return says why it could not be done (a bare JSON string counts as such)."""
    try:
        if isinstance(content, bytes):  # json would guess the encoding, and wrongly where there are zeros
            content = content.decode("utf-8", "surrogatepass")
        value = json.loads(content)
    except RecursionError:
        return "nested too deep"
    except UnicodeDecodeError:
        return "not UTF-8"
    except ValueError as error:
        if "digits" not in str(error):
            return "not JSON"
        try:  # Python refuses whole numbers of over 4,300 digits; as text they do no harm
            value = json.loads(content, parse_int=str)
        except (ValueError, RecursionError):
            return "not JSON"
    return "not a JSON object" if isinstance(value, str) else value
