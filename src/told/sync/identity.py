"""Who this user is on every machine: one secret, from which all keys come, and a key for each machine.

The secret is written once, as a code, to join another machine. It names the space of the user's own machines,
encrypts it, and vouches for each machine's own signing key.
"""

from __future__ import annotations

import base64
import os
from contextlib import suppress
from typing import NamedTuple

from nacl.exceptions import BadSignatureError, CryptoError
from nacl.pwhash import argon2id
from nacl.secret import SecretBox
from nacl.signing import SigningKey, VerifyKey

from told.errors import MissingError, UsageError
from told.files import cannot_write, create_private, make_folder, read_text, write_private
from told.hashing import blake2b, blake2s
from told.journal.copies import sync_folder
from told.store.database import public_id

_SECRET_BYTES = 16
_CHECK_BYTES = 2
_GROUP = 5  # letters of a code between two hyphens
_PREFIX = "told-"
_IDENTITY, _MACHINE_KEY = "identity", "machine.key"
MACHINE_KEY = f"sync/{_MACHINE_KEY}"  # a copied home must not keep it
_SEALED = b"told1"  # before everything that is encrypted


class Identity(NamedTuple):
    """The user, by a secret that all of the user's machines share."""

    secret: bytes

    @property
    def space(self) -> str:
        """The id of the space of the user's own machines."""
        return public_id("o", self._derive(b"space").hex(), length=12)

    @property
    def space_key(self) -> bytes:
        """The key that encrypts that space."""
        return self._derive(b"box")

    @property
    def person(self) -> SigningKey:
        """The key that vouches for the user's machines."""
        return SigningKey(self._derive(b"person"))

    @property
    def public(self) -> str:
        """The public part of that key, in hexadecimal."""
        return self.person.verify_key.encode().hex()

    @property
    def code(self) -> str:
        """The secret as text, to join another machine."""
        raw = self.secret + _checksum(self.secret)
        letters = base64.b32encode(raw).decode().rstrip("=").lower()
        return _PREFIX + "-".join(letters[at : at + _GROUP] for at in range(0, len(letters), _GROUP))

    def _derive(self, use: bytes) -> bytes:
        return blake2b(b"told " + use, key=self.secret, digest_size=32).digest()


def parse_code(code: str) -> Identity:
    """Return the identity that a code stands for.

    Raises:
        UsageError: it is mistyped.
    """
    letters = "".join(code.lower().removeprefix(_PREFIX).split()).replace("-", "")
    try:
        raw = base64.b32decode(letters.upper() + "=" * (-len(letters) % 8))
    except ValueError:
        raw = b""
    secret, check = raw[:_SECRET_BYTES], raw[_SECRET_BYTES:]
    if len(raw) != _SECRET_BYTES + _CHECK_BYTES or check != _checksum(secret):
        raise UsageError("This code is mistyped or incomplete. `told sync code` prints it again.")
    return Identity(secret)


def load_identity(home: str) -> Identity | None:
    """Return the user's identity; None if nothing was ever shared."""
    raw = _read_secret(os.path.join(sync_folder(home), _IDENTITY))
    return Identity(raw) if len(raw) == _SECRET_BYTES else None


def make_identity(home: str) -> Identity:
    """Return the user's identity; create it on first use."""
    path = os.path.join(sync_folder(home), _IDENTITY)
    raw = _read_or_create(path, _SECRET_BYTES)
    if len(raw) != _SECRET_BYTES:
        raise MissingError(f"{path} is damaged. Restore it, or run `told sync join CODE` again.")
    return Identity(raw)


def set_identity(home: str, identity: Identity) -> None:
    """Make this one of the user's machines."""
    path = os.path.join(sync_folder(home), _IDENTITY)
    try:
        make_folder(os.path.dirname(path))
        write_private(path, f"{identity.secret.hex()}\n".encode())
    except OSError as error:
        raise cannot_write(path, error) from None


def load_machine_key(home: str) -> SigningKey:
    """Return this machine's signing key; create it on first use."""
    path = os.path.join(sync_folder(home), _MACHINE_KEY)
    raw = _read_or_create(path, 32)
    if len(raw) != 32:
        raise MissingError(f"{path} is damaged. Delete it; other machines will ask to trust the new key.")
    return SigningKey(raw)


def sign(key: SigningKey, *parts: str) -> str:
    """Sign some texts as one; return the signature in hexadecimal."""
    return key.sign(_join(parts)).signature.hex()


def is_signed(public: str, signature: str, *parts: str) -> bool:
    """Tell whether a key signed some texts."""
    if (public + signature).lower() != public + signature:
        return False  # one signature has one form
    try:
        raw = bytes.fromhex(signature)
        if raw.hex() != signature:  # capitals, for example: every signature has one spelling
            return False
        VerifyKey(bytes.fromhex(public)).verify(_join(parts), raw)
    except (BadSignatureError, ValueError, TypeError, CryptoError):
        return False
    return True


def fingerprint(public: str) -> str:
    """Return the short form of a public key that people compare."""
    letters = base64.b32encode(blake2s(public.encode(), digest_size=10).digest()).decode().lower()
    return "-".join(letters[at : at + 4] for at in range(0, 16, 4))


def derive_key(passphrase: str, space: str) -> bytes:
    """Return the key for a passphrase; slow on purpose."""
    salt = blake2s(space.encode(), digest_size=argon2id.SALTBYTES).digest()
    effort, memory = argon2id.OPSLIMIT_MODERATE, argon2id.MEMLIMIT_MODERATE
    return argon2id.kdf(32, passphrase.encode(), salt, opslimit=effort, memlimit=memory)


def encrypt(key: bytes, data: bytes) -> bytes:
    """Encrypt data; without a key return it as it is."""
    return _SEALED + SecretBox(key).encrypt(data) if key else data


def decrypt(key: bytes, data: bytes) -> bytes | None:
    """Decrypt data; None if it was made with another key."""
    if not key:
        return data
    if not data.startswith(_SEALED):
        return None
    with suppress(CryptoError, ValueError):
        return SecretBox(key).decrypt(data[len(_SEALED) :])
    return None


def is_encrypted(data: bytes) -> bool:
    """Tell whether data was encrypted by told."""
    return data.startswith(_SEALED)


def _join(parts: tuple[str, ...]) -> bytes:
    return "\n".join(parts).encode("utf-8", "replace")


def _checksum(secret: bytes) -> bytes:
    return blake2s(secret, digest_size=_CHECK_BYTES).digest()


def _read_or_create(path: str, size: int) -> bytes:
    if not os.path.exists(path):
        try:
            make_folder(os.path.dirname(path))
            with suppress(FileExistsError):  # another process was faster
                create_private(path, f"{os.urandom(size).hex()}\n".encode())
        except OSError as error:
            raise cannot_write(path, error) from None
    return _read_secret(path)


def _read_secret(path: str) -> bytes:
    try:
        return bytes.fromhex(read_text(path, 200).strip())
    except (OSError, ValueError):
        return b""
