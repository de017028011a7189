"""Read JSON lines and documents of other programs; write compact JSON.

A line that is too long, too deep or not JSON is a `Problem`; reading continues behind it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from told.files import NotReadableError, describe_error, open_regular, read_document

if TYPE_CHECKING:  # most of told only parses and writes JSON
    from told.model import Cursor, Problem

# Agents write tool output and images on one line; no message is this long.
MAX_LINE = 8 * 1024 * 1024
_MARK_EVERY = 512 * 1024
_LINE_FEED = 10
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Line(NamedTuple):
    """One JSON object and the number of its line."""

    value: dict[str, Any]
    number: int


def read_json_lines(
    path: str, cursor: Cursor, skip: Callable[[bytes], bool] | None = None
) -> Iterator[Line | Problem | Cursor]:
    """Yield the JSON objects of a file, starting at the cursor.

    Every half megabyte and at the end, a `Cursor` says how far the file has been read.
    `skip` gets a line's bytes and returns True if parsing it is not needed.
    A last line without a line feed counts only if it is complete.
    """
    from told.model import Cursor, Problem  # noqa: PLC0415

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
            # A crash can leave zeros in place of a line; the next line follows directly.
            content = raw.strip(b" \t\r\n\0").removeprefix(_UTF8_MARK)
            if content:
                parsed = parse_json(content)
                if isinstance(parsed, dict):
                    yield Line(parsed, number + 1)
                elif not complete:
                    break  # the agent is still writing it
                else:
                    yield Problem(number + 1, parsed if isinstance(parsed, str) else "not a JSON object")
            number += complete  # a later line feed ends this line
        done = end
        if done - marked >= _MARK_EVERY:
            marked = done
            yield Cursor(done, number)
    if done != marked:
        yield Cursor(done, number)


def read_raw_lines(path: str, offset: int) -> Iterator[tuple[bytes | Problem, int]]:
    """Yield each line, or a `Problem`, with the offset behind it."""
    for raw, end in _lines(path, offset, None):
        if not isinstance(raw, int):  # nothing is skipped
            yield raw, end


def _lines(
    path: str, offset: int, skip: Callable[[bytes], bool] | None
) -> Iterator[tuple[bytes | int | Problem, int]]:
    """Yield a line, or the number of skipped lines, with the offset behind it.

    A line over the limit is a `Problem` on line 1, a file that cannot be read one on line 0.
    """
    from told.model import Problem  # noqa: PLC0415

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
            yield Problem(0, describe_error(error)), offset
            return
    if skipped:
        yield skipped, offset


def read_json_file(path: str) -> Any | Problem:
    """Read a JSON file; return a `Problem` if that fails."""
    from told.model import Problem  # noqa: PLC0415

    try:
        content = read_document(path)
    except NotReadableError as error:
        return Problem(0, str(error))
    if content.startswith(_UTF16_MARKS):
        parsed = parse_json(content.decode("utf-16", "replace"))
    else:
        parsed = parse_json(content.removeprefix(_UTF8_MARK))
    return Problem(0, parsed) if isinstance(parsed, str) else parsed


def parse_json(content: bytes | str) -> Any:
    """Parse JSON; a returned string is an error message, even for a JSON string."""
    try:
        if isinstance(content, bytes):  # json guesses the encoding, wrongly if there are zeros
            content = content.decode("utf-8", "surrogatepass")
        value = json.loads(content)
    except RecursionError:
        return "nested too deep"
    except UnicodeDecodeError:
        return "not UTF-8"
    except ValueError as error:
        if "digits" not in str(error):
            return "not JSON"
        try:  # Python refuses integers of over 4,300 digits
            value = json.loads(content, parse_int=str)
        except (ValueError, RecursionError):
            return "not JSON"
    return "not a JSON object" if isinstance(value, str) else value


def as_text(value: Any) -> str:
    """Return a value if it is text, else an empty text."""
    return value if isinstance(value, str) else ""


def as_dict(value: Any) -> dict[str, Any]:
    """Return a value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Return a value if it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []


def as_millis(value: Any) -> int:
    """Parse ISO text, seconds, milliseconds or microseconds; return 0 for others."""
    if isinstance(value, bool):
        return 0
    if isinstance(value, (int, float)):
        if not 0 < value < 1e17:  # also false for NaN
            return 0
        if value < 1e11:
            return int(value * 1000)
        return int(value) if value < 1e14 else int(value / 1000)
    if not isinstance(value, str) or not 10 <= len(value) <= 40:
        return 0
    from datetime import UTC, datetime  # noqa: PLC0415 - most of told only parses and writes JSON

    try:
        parsed = datetime.fromisoformat(value)
        if parsed.tzinfo is None:
            parsed = parsed.replace(tzinfo=UTC)
        return max(0, int(parsed.timestamp() * 1000))
    except (OverflowError, ValueError):
        return 0


def dump_json(value: Any) -> str:
    """Format a value as compact JSON; NaN and infinity become null."""
    try:
        return _ENCODER.encode(value)
    except ValueError:
        return json.dumps(_without_nan(value), ensure_ascii=False, separators=(",", ":"))


def load_json(text: str) -> Any:
    """Parse a JSON text; raise ValueError if it is not valid or has NaN."""
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _without_nan(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_nan(item) for item in value]
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


# `json.dumps` and `json.loads` would make new ones for each call.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
