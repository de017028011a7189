"""The list of the sessions that a machine shares, and their files at a place.

A head names the list, which names the files of each session. A name is a keyed digest of the content, so a
machine fetches only what is new, and the place learns nothing from it.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from told.hashing import blake2b
from told.jsontext import dump_json, load_json
from told.pattern import lazy_pattern
from told.sync.heads import BadHeadError, Head
from told.sync.identity import decrypt, encrypt
from told.sync.spaces import Space
from told.sync.transports import Transport

Files = dict[str, bytes | None]  # to write, by name; None deletes
Parts = tuple[str, ...]  # the names of the files of a session

_PART_BYTES = 3_000_000  # a transport carries at most 4 MiB
_STEP_BYTES = 32_000_000  # written before the next head
_READ_FILES = 8  # at once
_MAX_LIST = 32_000_000
_MAX_PARTS = 40  # of a session
_MAX_SESSIONS = 20_000
_BOOK = "sessions.json"
_LIST, _PART = ".list", ".session"
_NAME = lazy_pattern(r"[0-9a-f]{32}\.session")


@dataclass(frozen=True, slots=True)
class SessionList:
    """The sessions that a machine shares."""

    parts: dict[str, Parts] = field(default_factory=dict)  # by agent/native id

    @property
    def names(self) -> set[str]:
        """The names of all files."""
        return {name for parts in self.parts.values() for name in parts}


class SessionFiles:
    """The files of sessions in a space, at one place."""

    def __init__(self, space: Space, transport: Transport) -> None:
        self._key = space.secret
        self._transport = transport

    def read_list(self, head: Head) -> SessionList:
        """Read the list that a head names; it is empty if there is none.

        Raises:
            BadHeadError: it is missing or damaged.
        """
        if not head.sessions:
            return SessionList()
        data = self._read(head.series, [head.sessions])[head.sessions]
        try:
            inflater = zlib.decompressobj()
            value = load_json(inflater.decompress(data, _MAX_LIST).decode())
            found = {str(name): tuple(map(str, parts)) for name, parts in value.items()}
        except (ValueError, TypeError, AttributeError, zlib.error, RecursionError):
            raise BadHeadError("its list of sessions is damaged") from None
        if len(found) > _MAX_SESSIONS or not all(map(_is_session, found.values())):
            raise BadHeadError("its list of sessions is damaged")
        return SessionList(found)

    def pack_list(self, listed: SessionList) -> tuple[str, bytes]:
        """Return name and content of the file of a list; no name for an empty one."""
        if not listed.parts:
            return "", b""
        data = zlib.compress(dump_json(dict(sorted(listed.parts.items()))).encode("utf-8", "replace"))
        return self._name(data, _LIST), encrypt(self._key, data)

    def read_session(self, series: str, parts: Parts) -> bytes:
        """Read a session.

        Raises:
            BadHeadError: a file is missing or damaged.
        """
        found = b""
        for at in range(0, len(parts), _READ_FILES):
            some = parts[at : at + _READ_FILES]
            read = self._read(series, some)
            found += b"".join(read[name] for name in some)
        return found

    def split(self, content: bytes) -> dict[str, bytes]:
        """Return the files of a session, by name; none if it is too large."""
        pieces = [content[at : at + _PART_BYTES] for at in range(0, len(content), _PART_BYTES)]
        return {self._name(one, _PART): one for one in pieces} if len(pieces) <= _MAX_PARTS else {}

    def pack(self, piece: bytes) -> bytes:
        """Return the content of a file as it is published; it is compressed already."""
        return encrypt(self._key, piece)

    def _read(self, series: str, names: Sequence[str]) -> dict[str, bytes]:
        found = {}
        raw = self._transport.read(series, names)
        for name in names:
            if name not in raw:
                raise BadHeadError(f"{name} has not arrived yet")
            data = decrypt(self._key, raw[name])
            if data is None or self._name(data, name[name.rindex(".") :]) != name:
                raise BadHeadError(f"{name} is cut off or was changed")
            found[name] = data
        return found

    def _name(self, data: bytes, suffix: str) -> str:
        return blake2b(data, key=self._key, digest_size=16).hexdigest() + suffix


def _is_session(parts: Parts) -> bool:
    return 0 < len(parts) <= _MAX_PARTS and all(map(_NAME.fullmatch, parts))


class SharedSessions:
    """What this machine publishes of sessions at one place."""

    def __init__(
        self, files: SessionFiles, wanted: SessionList, read: Callable[[str], bytes | None],
        replace: Callable[[Head], Mapping[str, bytes | None]],
    ) -> None:  # fmt: skip
        """Say what is shared.

        Args:
            files: The files at the place.
            wanted: This machine's sessions.
            read: Return the present content of one.
            replace: Return what has to change in the list of another machine; None drops a session.
        """
        self._files, self._wanted, self._read, self._replace = files, wanted, read, replace

    def steps(self, head: Head | None) -> Iterator[tuple[str, Files]]:
        """Yield the name of a list and the files that come with it, until all is published.

        There are several steps if there is much to write: a sync that is interrupted then continues.
        """
        name, _ = self._files.pack_list(self._wanted)
        if head and head.sessions == name:
            yield name, {}
            return
        there = self._list_there(head)
        kept = {one: parts for one, parts in there.parts.items() if self._wanted.parts.get(one) == parts}
        last, files, size = head.sessions if head else "", Files(), 0
        for one, parts in sorted(self._wanted.parts.items()):
            if one in kept:
                continue
            pieces = self._files.split(self._read(one) or b"")
            if tuple(pieces) != parts:
                continue  # it changed meanwhile: the next sync has it
            files |= {part: self._files.pack(piece) for part, piece in pieces.items()}
            kept[one] = parts
            size += sum(map(len, pieces.values()))
            if size > _STEP_BYTES:
                last, more = self._change_list(last, SessionList(there.parts | kept))
                yield last, files | more
                files, size = {}, 0
        final = SessionList(kept)
        last, more = self._change_list(last, final)
        yield last, dict.fromkeys(there.names - final.names) | files | more

    def edit(self, head: Head) -> tuple[str, Files]:
        """Return the list of another machine without what was forgotten here, and the files to change."""
        replaced = self._replace(head)
        if not replaced:
            return head.sessions, {}
        there = self._list_there(head)
        parts, files = dict(there.parts), Files()
        for one, content in replaced.items():
            pieces = self._files.split(content or b"")
            parts.pop(one, None)
            if pieces:
                parts[one] = tuple(pieces)
                files |= {part: self._files.pack(piece) for part, piece in pieces.items()}
        changed = SessionList(parts)
        name, more = self._change_list(head.sessions, changed)
        return name, dict.fromkeys(there.names - changed.names) | files | more

    def _list_there(self, head: Head | None) -> SessionList:
        try:
            return self._files.read_list(head) if head else SessionList()
        except BadHeadError:
            return SessionList()

    def _change_list(self, old: str, listed: SessionList) -> tuple[str, Files]:
        """Return the name of a new list, and the files that replace the old one."""
        name, data = self._files.pack_list(listed)
        return name, (({old: None} if old else {}) | ({name: data} if name else {})) if name != old else {}


def was_shared(home: str, space: Space) -> bool:
    """Tell whether sessions are or were exchanged in a space."""
    return space.sessions or os.path.exists(book_path(home, space))


def book_path(home: str, space: Space) -> str:
    """Return the file that says which sessions were exchanged."""
    return os.path.join(space.folder(home), _BOOK)


def group_by_size(listed: Iterable[tuple[str, Parts]], most: int) -> Iterator[list[tuple[str, Parts]]]:
    """Yield sessions in groups of about so many files."""
    group: list[tuple[str, Parts]] = []
    for one in listed:
        group.append(one)
        if sum(len(parts) for _, parts in group) >= most:
            yield group
            group = []
    if group:
        yield group
