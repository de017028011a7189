"""The head of a series: what it contains, who signed it, and what its machine has seen of others."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field, replace
from typing import Any

from nacl.signing import SigningKey

from told.journal.files import is_machine_id
from told.jsontext import dump_json, load_json
from told.sync.identity import Identity, decrypt, encrypt, is_signed, sign
from told.sync.transports.names import is_file

_VERSION = 1
_MAX_FILES = 20_000
_MAX_NAME = 60
_TEXTS = ("space", "series", "hash", "key", "person", "voucher", "chain", "sessions", "writer", "signature")
MAX_HEAD = 4_000_000  # bytes


class BadHeadError(Exception):
    """A head is not valid; the message says why."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of a series."""

    name: str
    digest: str
    last: int  # the number of its last operation
    size: int  # bytes; the file may have grown before its head arrived


@dataclass(frozen=True, slots=True)
class Head:
    """What a machine says about its series."""

    space: str
    series: str  # the machine
    number: int  # of the last operation
    hash: str  # of the last operation
    files: tuple[FileEntry, ...]
    key: str  # of the machine, public
    person: str  # of its user, public
    voucher: str  # the user's signature of the machine's key
    chain: str = ""  # the machine's signature of number and hash
    name: str = ""  # of the user or machine, for people
    team: str = ""  # name of the team, if the space belongs to one
    seen: dict[str, int] = field(default_factory=dict)  # by series: how far this machine has read
    sessions: str = ""  # the file that lists the sessions it shares
    writer: str = ""  # the machine that wrote these files; another one of the same user after a forget
    signature: str = ""  # the writer's, of everything else


def vouch(identity: Identity, space: str, series: str, key: str) -> str:
    """Let the user vouch for a machine's key."""
    return sign(identity.person, "told machine", space, series, key)


def is_vouched(head: Head) -> bool:
    """Tell whether the user whom a head names vouches for its machine's key."""
    return is_signed(head.person, head.voucher, "told machine", head.space, head.series, head.key)


def sign_chain(head: Head, key: SigningKey) -> Head:
    """Let its own machine sign how far a series goes."""
    return replace(head, chain=sign(key, "told series", *_chain_of(head)))


def sign_head(head: Head, writer: str, key: SigningKey) -> Head:
    """Let the machine that writes a head sign all of it."""
    unsigned = replace(head, writer=writer, signature="")
    return replace(unsigned, signature=sign(key, "told head", _body(unsigned)))


def sign_own(head: Head, identity: Identity, key: SigningKey) -> Head:
    """Let a user vouch for a machine, and the machine sign the head of its own series."""
    voucher = vouch(identity, head.space, head.series, head.key)
    return sign_head(sign_chain(replace(head, voucher=voucher), key), head.series, key)


def encode_head(head: Head, space_key: bytes) -> bytes:
    """Encode a head, encrypted where the space is."""
    text = _encode(head)
    return encrypt(space_key, zlib.compress(text)) if space_key else text


def _encode(head: Head) -> bytes:
    return f"{_body(head)[:-1]},{dump_json({'signature': head.signature})[1:]}\n".encode("utf-8", "replace")


def decode_head(data: bytes, space_key: bytes) -> Head:
    """Decode a head without trusting it.

    Raises:
        BadHeadError: it is damaged, or encrypted with another key.
    """
    plain = decrypt(space_key, data) if len(data) <= MAX_HEAD else None
    if plain is None:
        raise BadHeadError("it is encrypted with another key" if space_key else "it is too large")
    try:
        if space_key:
            inflater = zlib.decompressobj()
            plain = inflater.decompress(plain, MAX_HEAD)
        head = _parse(load_json(plain.decode()))
    except (ValueError, TypeError, KeyError, AttributeError, zlib.error, RecursionError):
        raise BadHeadError("its head is damaged") from None
    if _encode(head) != plain:
        raise BadHeadError("its head is damaged")
    return head


def check_head(head: Head, space: str, series: str, keys: dict[str, str]) -> None:
    """Check a head's signatures.

    Args:
        head: The head.
        space: The space it was found in.
        series: The name it was found by.
        keys: The known keys, by machine, of machines of the same user.

    Raises:
        BadHeadError: somebody else wrote it.
    """
    if (head.space, head.series) != (space, series):
        raise BadHeadError("it belongs to another series")
    if keys.get(series, head.key) != head.key:
        raise BadHeadError("its machine has another key than before")
    if not is_vouched(head):
        raise BadHeadError("no user vouches for its machine")
    if not is_signed(head.key, head.chain, "told series", *_chain_of(head)):
        raise BadHeadError("its machine did not sign it")
    writer = head.key if head.writer == series else keys.get(head.writer, "")
    if not is_signed(writer, head.signature, "told head", _body(replace(head, signature=""))):
        raise BadHeadError("its files were changed by somebody else")


def _chain_of(head: Head) -> tuple[str, str, str, str]:
    return head.space, head.series, str(head.number), head.hash


def _body(head: Head) -> str:
    files = [[one.name, one.digest, one.last, one.size] for one in head.files]
    return dump_json({
        "version": _VERSION, "space": head.space, "series": head.series, "number": head.number,
        "hash": head.hash, "files": files, "key": head.key, "person": head.person, "voucher": head.voucher,
        "chain": head.chain, "name": head.name, "team": head.team,
        "seen": dict(sorted(head.seen.items())), "sessions": head.sessions, "writer": head.writer,
    })  # fmt: skip


def _parse(value: Any) -> Head:
    if value["version"] != _VERSION:
        raise BadHeadError("a newer told wrote it; update told")
    files = tuple(
        FileEntry(str(name), str(digest), _count(last), _count(size))
        for name, digest, last, size in value["files"]
    )
    seen = {str(name): _count(number) for name, number in value["seen"].items() if is_machine_id(name)}
    texts = {name: str(value[name]) for name in _TEXTS}
    if texts["sessions"] and not is_file(texts["sessions"]):
        raise ValueError(texts["sessions"])
    if len(files) > _MAX_FILES:
        raise BadHeadError("it has too many files")
    name, team = (str(value[one])[:_MAX_NAME] for one in ("name", "team"))
    return Head(number=_count(value["number"]), files=files, seen=seen, name=name, team=team, **texts)


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 53:
        raise ValueError(value)
    return value
