"""Takes secrets out of payloads that were written before a rule knew them: each becomes its redacted form.

The chain of hashes needs only the hash of the first payload. With that payload its salt goes, so nothing can
be told from the hash. The new payload is covered by a hash without a key: every machine that has the file can
check it, and who can write to a journal could always write a whole one.
"""

from __future__ import annotations

import os

from told.guard.second_look import changes, taken_out, without_copies
from told.journal.files import (
    TORN,
    UNFINISHED,
    SeriesLock,
    cannot_write,
    every_series,
    journal_folder,
    write_whole,
)  # fmt: skip
from told.journal.line import head_of, redacted_line
from told.journal.model import SET
from told.journal.read import BadLineError, operation, taken
from told.record import record
from told.store.memory_json import encoded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from told.guard.second_look import SecondLook
    from told.journal.files import Series
    from told.journal.model import Operation

_FORGET = "forget"  # says where something was said, and none of the words
_SALT, _PART, _PAD = "salt", "part", "pad"
_SESSION, _SCOPE = "session", "scope"
# What an operation is about, who did it and what it leads to: names and numbers, no text.
_NAMES = frozenset((
    _SALT, _PART, "act", "agent", _SESSION, "machine", "mark", _SCOPE, "trust", "status", "by", "target",
    "proposal", "action", "memories", SET,
))  # fmt: skip


@record
class Redacted:
    """Something in the journal that today's rules would take out, or have taken out."""

    file: str
    memory: str  # the one it is about; empty if it is about none, or cannot be read
    old: str  # the text; empty if only a name is changed
    new: str
    named: bool = False  # a name in it changes, too


def in_journals(home: str, look: SecondLook) -> Iterator[Redacted]:
    """Yield what would be taken out of the journals of all machines and projects."""
    for series in every_series(journal_folder(home)):
        for name in [*_left_behind(series.folder), *series.segments()]:
            path = os.path.join(series.folder, name)
            try:
                lines = _content(path).split(b"\n")
            except OSError:
                continue  # it was removed just now
            for line in lines:
                _, found = _second(line, series, look)
                if found:
                    yield Redacted(path, *found)


def redact_journals(home: str, look: SecondLook) -> int:
    """Take it out, a segment in one step; what was cut off or left behind, and may say it, is removed.

    Returns:
        How many lines were changed.

    Raises:
        MissingError: a segment cannot be written; all others are done.
        BusyError: another writer took too long.
    """
    count = 0
    failed = None
    for series in every_series(journal_folder(home)):
        try:
            with SeriesLock(series.folder):
                for name in _left_behind(series.folder):
                    os.remove(os.path.join(series.folder, name))
                for name in series.segments():
                    count += _redact_segment(os.path.join(series.folder, name), series, look)
        except OSError as error:
            failed = failed or cannot_write(series.folder, error)
    if failed:
        raise failed
    return count


def _redact_segment(path: str, series: Series, look: SecondLook) -> int:
    data = _content(path)
    *lines, torn = data.split(b"\n")
    new = [_second(line, series, look)[0] for line in lines]
    count = sum(one != other for one, other in zip(lines, new, strict=True))
    if not count and not torn:
        return 0
    content = _joined(new)
    if len(content) == len(data):
        # Who has applied the segment only sees by its size that it was rewritten.
        at = next(at for at, (one, other) in enumerate(zip(lines, new, strict=True)) if one != other)
        new[at] = _second(lines[at], series, look, pad=True)[0]
        content = _joined(new)
    write_whole(path, content)
    return count


def _second(
    line: bytes, series: Series, look: SecondLook, *, pad: bool = False
) -> tuple[bytes, tuple[str, str, str, bool] | None]:
    """Return a line as today's rules want it, and the rest of `Redacted` if that is not as it was."""
    if not line:
        return line, None
    try:
        found = operation(line, series.machine)
    except BadLineError:
        text = line.decode("utf-8", "replace")
        new = look.text(text)
        return (b"", ("", text, new, False)) if new != text else (line, None)
    if found.payload is None:
        return line, None
    named = _named(found.payload, look)
    payload = named if found.kind == _FORGET else look.value(named, _NAMES)
    if payload == found.payload:
        return line, None
    changed = list(changes(named, payload)) or [("", "")]
    secrets = {secret: marker for old, new in changed for secret, marker in taken_out(old, new).items()}
    payload = without_copies(payload, secrets, _NAMES)
    return _rewritten(line, found, payload, series, pad=pad), (
        found.memory,
        *changed[0],
        named != found.payload,
    )


def _named(value: Any, look: SecondLook, name: str = "") -> Any:
    """Return a payload with the names in it as they may be stored."""
    if isinstance(value, dict):
        if name == SET:
            return {topic: _noted(notes, look) for topic, notes in value.items()}
        return {key: _named(of, look, key) for key, of in value.items()}
    if isinstance(value, list):
        return [_named(one, look, name) for one in value]
    if isinstance(value, str) and name in (_SESSION, _SCOPE):
        return look.id(value) if name == _SESSION else look.name(value)
    return value


def _noted(notes: Any, look: SecondLook) -> Any:
    """Return notes about sessions, projects and the like: names on both sides."""
    if not isinstance(notes, dict):
        return look.value(notes)
    return {
        _noted_name(name, look): _noted_name(of, look) if isinstance(of, str) else of
        for name, of in notes.items()
    }


def _noted_name(name: str, look: SecondLook) -> str:
    agent, slash, native = name.partition("/")
    if slash and ":" not in agent:
        return f"{agent}/{look.id(native)}"
    return look.name(name)


def _rewritten(line: bytes, found: Operation, payload: dict[str, Any], series: Series, *, pad: bool) -> bytes:
    head = head_of(found.number, found.at, found.kind, found.memory, found.by)
    body = {key: value for key, value in payload.items() if key not in (_SALT, _PART)}
    body |= {_PAD: os.urandom(4).hex()} if pad else {}
    body |= {_PART: payload[_PART]} if _PART in payload else {}
    raw = encoded(body | {_SALT: os.urandom(16).hex()}).encode("utf-8", "replace")
    if series.place and taken(found, line, series) is found:  # this machine's own word stays its own
        from told.journal.origin import key_of, sealed

        raw = sealed(raw, head, series.machine, key_of(series.place.home))
    return redacted_line(line, head, raw)


def _joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines if line)


def _left_behind(folder: str) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.endswith((TORN, UNFINISHED)))


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
