"""Erase or redact payloads; the operations and their hash chain stay valid."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from told.files import UNFINISHED, cannot_write, open_regular, write_private
from told.journal.files import (
    CLOCK,
    FORGET,
    FORGET_CHECKPOINT,
    ID_LENGTH,
    IDENTITY,
    SEEN,
    SET,
    TORN_SUFFIX,
    BadLineError,
    Operation,
    SeriesLock,
    erase_payload,
    head_of,
    parse_line,
    read_key,
    redact_payload,
)
from told.journal.registry import Series, list_local_series, list_shared_series, seal_payload
from told.jsontext import dump_json
from told.redact.rescan import Rescanner, changed_texts, find_removed, remove_copies

_SALT, _PART, _PAD = "salt", "part", "pad"
_SESSION, _SCOPE = "session", "scope"
# Payload fields with ids and numbers instead of text.
_NAMES = frozenset((
    IDENTITY, CLOCK, "undone", _SALT, _PART, "act", "agent", _SESSION, "machine", "mark", _SCOPE, "trust",
    "status", "by", "target", "proposal", "action", "memories", SEEN, SET,
))  # fmt: skip


def erase(home: str, memories: Collection[str]) -> int:
    """Erase the payloads of all operations on some memories; return how many.

    Torn and unfinished files may contain the same text and are removed. A `forget` keeps its payload, which
    lists the evidence that must not be imported again, without any text.
    """
    return erase_in(_list_every(home), memories)


def erase_in(every: Iterable[Series], memories: Collection[str]) -> int:
    """Erase the payloads of all operations on some memories in some series only; return how many."""
    # A colleague's memory has a longer id here than in the colleague's series.
    needles = [dump_json(memory[:ID_LENGTH])[:-1].encode() for memory in memories]
    wanted = frozenset(memories)
    return _rewrite_segments(every, lambda path, series: _erase_in_segment(path, series, wanted, needles))


def _list_every(home: str) -> list[Series]:
    return [*list_local_series(home), *list_shared_series(home)]


def _rewrite_segments(every: Iterable[Series], rewrite: Callable[[str, Series], int]) -> int:
    """Rewrite each segment under its lock, and remove leftovers; return how many lines changed.

    If a segment cannot be written, the other series are still done.
    """
    count, failed = 0, None
    for series in every:
        try:
            with SeriesLock(series.folder):
                _remove_leftovers(series.folder)
                for name in series.segments():
                    count += rewrite(os.path.join(series.folder, name), series)
        except OSError as error:
            failed = failed or cannot_write(series.folder, error)
    if failed:
        raise failed
    return count


def _erase_in_segment(path: str, series: Series, memories: frozenset[str], needles: list[bytes]) -> int:
    data = _read(path)
    *lines, torn = data.split(b"\n")
    if not torn and not any(needle in data for needle in needles):
        return 0
    new = [
        _erase_line(line, series, memories) if any(needle in line for needle in needles) else line
        for line in lines
    ]
    count = _count_changes(lines, new)
    if count or torn:
        write_private(path, _join(new))
    return count


def erase_lines(data: bytes, machine: str, memories: Collection[str]) -> bytes:
    """Return the content of a segment without the payloads of all operations on some memories."""
    series, wanted = Series("", machine), frozenset(memories)
    return b"\n".join(_erase_line(line, series, wanted) for line in data.split(b"\n"))


def _erase_line(line: bytes, series: Series, memories: frozenset[str]) -> bytes:
    """Return a line without the payload of one of the memories; b"" if damaged."""
    try:
        found = parse_line(line, series.machine)
    except BadLineError:
        return b""
    name = series.copy.local_id(found.memory) if series.copy else found.memory
    if name not in memories or found.payload is None or found.kind in (FORGET, FORGET_CHECKPOINT):
        return line
    return erase_payload(line, head_of(found))


def erase_operations(home: str, hashes: Collection[str]) -> int:
    """Erase the payloads of some operations by their hashes; return how many."""
    needles = [one.encode() for one in hashes]

    def rewrite(path: str, series: Series) -> int:
        lines = _read(path).split(b"\n")
        new = [
            _erase_by_hash(line, series.machine, hashes) if any(one in line for one in needles) else line
            for line in lines
        ]
        if new != lines:
            write_private(path, b"\n".join(new))
        return _count_changes(lines, new)

    return _rewrite_segments(_list_every(home), rewrite) if needles else 0


def _erase_by_hash(line: bytes, machine: str, hashes: Collection[str]) -> bytes:
    try:
        found = parse_line(line, machine)
    except BadLineError:
        return line
    return erase_payload(line, head_of(found)) if found.hash in hashes else line


@dataclass(frozen=True, slots=True)
class Redacted:
    """A journal line that current rules redact."""

    file: str
    memory: str  # "" if it has none or cannot be read
    old: str  # the text; "" if only a name changes
    new: str
    named: bool = False  # a name changes, too


def find_secrets(home: str, rescanner: Rescanner) -> Iterator[Redacted]:
    """Yield the lines of all journals that current rules redact."""
    for series in _list_every(home):
        for name in [*_list_leftovers(series.folder), *series.segments()]:
            path = os.path.join(series.folder, name)
            try:
                lines = _read(path).split(b"\n")
            except OSError:
                continue  # removed meanwhile
            for line in lines:
                _, found = _redact_line(line, series, rescanner)
                if found:
                    yield Redacted(path, *found)


def redact_journals(home: str, rescanner: Rescanner) -> int:
    """Redact all journals, remove torn and unfinished files; return how many lines changed."""
    return _rewrite_segments(_list_every(home), lambda path, series: _redact_segment(path, series, rescanner))


def redact_lines(data: bytes, machine: str, rescanner: Rescanner) -> bytes:
    """Return the content of a segment of another machine, redacted by current rules."""
    series = Series("", machine)
    return b"\n".join(_redact_line(line, series, rescanner)[0] for line in data.split(b"\n"))


def _redact_segment(path: str, series: Series, rescanner: Rescanner) -> int:
    data = _read(path)
    *lines, torn = data.split(b"\n")
    new = [_redact_line(line, series, rescanner)[0] for line in lines]
    count = _count_changes(lines, new)
    if not count and not torn:
        return 0
    content = _join(new)
    if len(content) == len(data):
        # Readers notice a rewritten segment by its size.
        at = next(at for at, (old, line) in enumerate(zip(lines, new, strict=True)) if old != line)
        new[at] = _redact_line(lines[at], series, rescanner, pad=True)[0]
        content = _join(new)
    write_private(path, content)
    return count


def _redact_line(
    line: bytes, series: Series, rescanner: Rescanner, *, pad: bool = False
) -> tuple[bytes, tuple[str, str, str, bool] | None]:
    """Return the redacted line, and the fields of `Redacted` if it changed."""
    if not line:
        return line, None
    try:
        found = parse_line(line, series.machine)
    except BadLineError:
        text = line.decode("utf-8", "replace")
        new = rescanner.redact_text(text)
        return (b"", ("", text, new, False)) if new != text else (line, None)
    if found.payload is None:
        return line, None
    named, payload = redact_values(found.kind, found.payload, rescanner)
    if payload == found.payload:
        return line, None
    changed = list(changed_texts(named, payload)) or [("", "")]
    rewritten = _rewrite_line(line, found, payload, series, pad=pad)
    return rewritten, (found.memory, *changed[0], named != found.payload)


def redact_values(
    kind: str, payload: dict[str, Any], rescanner: Rescanner
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a payload with redacted names, and one with redacted texts as well."""
    named = _redact_names(payload, rescanner)
    redacted = named if kind == FORGET else rescanner.redact_value(named, _NAMES)
    changed = changed_texts(named, redacted)
    secrets = {secret: marker for old, new in changed for secret, marker in find_removed(old, new).items()}
    return named, remove_copies(redacted, secrets, _NAMES) if secrets else redacted


def _redact_names(value: Any, rescanner: Rescanner, name: str = "") -> Any:
    """Redact the session ids and scopes of a payload."""
    if isinstance(value, dict):
        if name == SET:
            return {topic: _redact_notes(notes, rescanner) for topic, notes in value.items()}
        return {key: _redact_names(of, rescanner, key) for key, of in value.items()}
    if isinstance(value, list):
        return [_redact_names(one, rescanner, name) for one in value]
    if isinstance(value, str) and name in (_SESSION, _SCOPE):
        return rescanner.redact_id(value) if name == _SESSION else rescanner.redact_path(value)
    return value


def _redact_notes(notes: Any, rescanner: Rescanner) -> Any:
    """Redact notes, whose keys and values are names of sessions or projects."""
    if not isinstance(notes, dict):
        return rescanner.redact_value(notes)
    return {
        _redact_name(name, rescanner): _redact_name(of, rescanner) if isinstance(of, str) else of
        for name, of in notes.items()
    }


def _redact_name(name: str, rescanner: Rescanner) -> str:
    agent, slash, native = name.partition("/")
    if slash and ":" not in agent:
        return f"{agent}/{rescanner.redact_id(native)}"
    return rescanner.redact_path(name)


def _rewrite_line(
    line: bytes, found: Operation, payload: dict[str, Any], series: Series, *, pad: bool
) -> bytes:
    head = head_of(found)
    body = {key: value for key, value in payload.items() if key not in (_SALT, _PART)}
    body |= {_PAD: os.urandom(4).hex()} if pad else {}
    body |= {_PART: payload[_PART]} if _PART in payload else {}
    raw = dump_json(body | {_SALT: os.urandom(16).hex()}).encode("utf-8", "replace")
    if series.project and series.accept(found, line) is found:  # sealed by this machine
        raw = seal_payload(raw, head, series.machine, read_key(series.project.home))
    return redact_payload(line, head, raw)


def _join(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines if line)


def _count_changes(old: list[bytes], new: list[bytes]) -> int:
    return sum(one != other for one, other in zip(old, new, strict=True))


def _list_leftovers(folder: str) -> list[str]:
    """List what killed writers left."""
    return sorted(name for name in os.listdir(folder) if name.endswith((TORN_SUFFIX, UNFINISHED)))


def _remove_leftovers(folder: str) -> None:
    for name in _list_leftovers(folder):
        os.remove(os.path.join(folder, name))


def _read(path: str) -> bytes:
    with open_regular(path) as file:
        return file.read()
