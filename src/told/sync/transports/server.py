"""Carry series to a team server over HTTP."""

from __future__ import annotations

import contextlib
import io
import json
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, NamedTuple
from urllib.parse import urlencode

from told.errors import BusyError, MissingError, ToldError, UsageError
from told.settings.endpoints import Address, is_local_host, parse_address
from told.sync.state import digest
from told.sync.transports.names import check_space, check_write, is_file, is_series
from told.sync.transports.wire import BrokenStreamError, receive, send

PROTOCOL = 1
_CONNECT_SECONDS, _SECONDS = 10.0, 60.0  # until connected; while no byte moves
_WRITE_BYTES = 16 * 1024 * 1024  # of files in one request
_NAMES = 100  # of files in one request
_WAITS = 3  # times that a server may ask to wait
_MAX_WAIT = 10.0  # seconds
_MAX_ANSWER = 1_000_000  # bytes of JSON
_BINARY, _JSON = "application/octet-stream", "application/json"


class Answer(NamedTuple):
    """What a server answered."""

    status: int
    content: bytes
    wait: float = 0.0  # seconds that it asks to wait

    @property
    def json(self) -> dict[str, Any]:
        """The body as an object; empty if it is none."""
        with contextlib.suppress(ValueError, RecursionError):
            found = json.loads(self.content)
            return found if isinstance(found, dict) else {}
        return {}


def parse_url(url: str) -> Address:
    """Parse the address of a team server.

    Raises:
        UsageError: it is none, or a token would travel unencrypted.
    """
    address = parse_address(url)
    if address is None or "?" in url:
        raise UsageError(
            f"{url[:80]!r} is no address of a server. Write https://HOST or http://127.0.0.1:PORT."
        )
    if not address.secure and not is_local_host(address.host):
        raise UsageError(f"A token goes to another machine over https:// only. Use https://{address.host}.")
    return address


class ServerConnection:
    """One kept connection to a team server; redirects are not followed."""

    def __init__(self, url: str, token: str, *, seconds: float = _SECONDS) -> None:
        """Name the server; nothing is opened yet.

        Args:
            url: Its address.
            token: Who the user is there.
            seconds: How long no byte may move.
        """
        self.url = url
        self._address = parse_url(url)
        self._token = token
        self._seconds = seconds
        self._connection: HTTPConnection | None = None

    def ask(self, method: str, path: str, body: bytes = b"", kind: str = _JSON) -> Answer:
        """Send a request; return the answer, which may be a conflict (409).

        Raises:
            BusyError: the server does not answer now.
            MissingError: it refuses, or is no told server.
        """
        for _ in range(_WAITS):
            found = self._ask(method, path, body, kind)
            if found.status != 429 or found.wait > _MAX_WAIT:
                break
            time.sleep(max(0.1, found.wait))
        self._check(found)
        return found

    def close(self) -> None:
        """End the connection."""
        if self._connection:
            self._connection.close()
            self._connection = None

    def _ask(self, method: str, path: str, body: bytes, kind: str) -> Answer:
        is_kept = self._connection is not None
        try:
            return self._send(method, path, body, kind)
        except ssl.SSLCertVerificationError as error:
            self.close()
            raise MissingError(
                f"The certificate of {self.url} is not trusted ({error.verify_message}). Set SSL_CERT_FILE to"
                " the certificate of its authority if it is your own."
            ) from None
        except (OSError, HTTPException) as error:
            self.close()
            if is_kept:  # the server ends connections that rest; every request can be repeated
                return self._ask(method, path, body, kind)
            raise BusyError(
                f"{self.url} cannot be reached ({_reason(error)}). What is new here is sent later."
            ) from None

    def _send(self, method: str, path: str, body: bytes, kind: str) -> Answer:
        if self._connection is None:
            self._connection = self._connect()
        headers = {
            "Authorization": f"Bearer {self._token}", "Content-Type": kind, "User-Agent": "told",
            "Content-Length": str(len(body)),
        }  # fmt: skip
        self._connection.request(method, self._address.path.rstrip("/") + path, body, headers)
        answer = self._connection.getresponse()
        wait = answer.getheader("Retry-After", "")
        is_message = answer.getheader("Content-Type", "").startswith(_BINARY)
        content = answer.read() if is_message else answer.read(_MAX_ANSWER)
        if answer.will_close:
            self.close()
        return Answer(answer.status, content, float(wait[:6]) if wait.isascii() and wait.isdigit() else 0.0)

    def _connect(self) -> HTTPConnection:
        host, port = self._address.host, self._address.port
        made = (
            HTTPSConnection(host, port, timeout=_CONNECT_SECONDS, context=ssl.create_default_context())
            if self._address.secure
            else HTTPConnection(host, port, timeout=_CONNECT_SECONDS)
        )
        made.connect()
        made.sock.settimeout(self._seconds)
        return made

    def _check(self, answer: Answer) -> None:
        """Raise what an answer means unless it is a result or a conflict."""
        status, said = answer.status, " ".join(str(answer.json.get("detail", "")).split())[:300]
        if status in (200, 201, 409):
            return
        if status == 401:
            raise MissingError(
                f"{self.url} refuses the token: it is wrong, expired or revoked. Ask for a new one, then run"
                f" `told sync server {self.url}`."
            )
        if status in (408, 429) or status >= 500:
            raise BusyError(f"{self.url} answers with {status} ({said or 'no reason given'}). Retry later.")
        if status in (400, 403, 413, 421, 422) and said:
            raise MissingError(f"{self.url} refuses: {said}")
        if 300 <= status < 400:
            raise MissingError(f"{self.url} redirects, which told does not follow. Name the final address.")
        raise MissingError(
            f"{self.url} is no team server of told, or an older one (it answers with {status}). Check the"
            " address, or update told there."
        )


class ServerTransport:
    """Keep each series on a team server, which only relays what is encrypted."""

    def __init__(self, url: str, space: str, token: str, *, seconds: float = _SECONDS) -> None:
        """Name the place; nothing is opened yet.

        Args:
            url: The address of the server.
            space: The id of what is shared.
            token: Who the user is there.
            seconds: How long no byte may move.
        """
        self._connection = ServerConnection(url, token, seconds=seconds)
        self._path = f"/api/v1/sync/{check_space(space)}"

    def heads(self) -> dict[str, bytes]:
        """Return the head of each series, by its name."""
        return {name: head for name, head in self._get(self._path).items() if is_series(name)}

    def read(self, series: str, names: Sequence[str]) -> dict[str, bytes]:
        """Return some files of a series; those that are not there are left out."""
        wanted = sorted(set(filter(is_file, names)))
        found: dict[str, bytes] = {}
        while is_series(series) and wanted:
            part = wanted[:_NAMES]
            query = urlencode([("name", one) for one in part])
            sent = self._get(f"{self._path}/{series}?{query}")
            found |= {name: data for name, data in sent.items() if name in part}
            last = max(
                sent, default=""
            )  # a large answer ends early; what is missing before its end is not there
            wanted = [one for one in wanted if one > (last or part[-1])]
        return found

    def write(
        self, series: str, files: Mapping[str, bytes | None], head: bytes, *, before: bytes | None
    ) -> bool:
        """Write and delete (None) files of a series, then its head; False if that changed.

        One request is written whole or not at all. Only what is too large for one is sent in several, of
        which the last has the head.
        """
        check_write(series, files, head)
        *first, last = _split(files)
        expected = None if before is None else digest(before)
        return all(self._put(series, part, None, expected) for part in first) and self._put(
            series, last, head, expected
        )

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _put(
        self, series: str, files: Mapping[str, bytes | None], head: bytes | None, before: str | None
    ) -> bool:
        written = {name: data for name, data in files.items() if data is not None}
        header = {
            "names": list(written), "deleted": [name for name in files if name not in written],
            "before": before, "has_head": head is not None,
        }  # fmt: skip
        body = io.BytesIO()
        send(body, header, [*([head] if head is not None else []), *written.values()])
        answer = self._connection.ask("PUT", f"{self._path}/{series}", body.getvalue(), _BINARY)
        if answer.status == 409 and answer.json.get("written") is not False:
            detail = answer.json.get("detail", "no reason given")
            raise MissingError(f"{self._connection.url} refuses: {detail}")
        return answer.status == 200

    def _get(self, path: str) -> dict[str, bytes]:
        with self._understood():
            header, parts = receive(io.BytesIO(self._connection.ask("GET", path).content))
            if header["protocol"] != PROTOCOL:
                versions = f"version {header['protocol']} of the protocol, and this told version {PROTOCOL}"
                raise MissingError(f"{self._connection.url} speaks {versions}. Update the older told.")
            return dict(zip(map(str, header["names"]), parts, strict=True))

    @contextlib.contextmanager
    def _understood(self) -> Iterator[None]:
        try:
            yield
        except ToldError:
            raise
        except (BrokenStreamError, KeyError, ValueError, TypeError) as error:
            self.close()
            raise MissingError(
                f"{self._connection.url} sent what told does not understand ({error}). Update told there."
            ) from None


def _split(files: Mapping[str, bytes | None]) -> list[dict[str, bytes | None]]:
    """Return the files in parts of one request each."""
    parts: list[dict[str, bytes | None]] = [{}]
    size = 0
    for name, data in files.items():
        size += len(data or b"")
        if parts[-1] and size > _WRITE_BYTES:
            parts.append({})
            size = len(data or b"")
        parts[-1][name] = data
    return parts


def _reason(error: Exception) -> str:
    said = str(getattr(error, "strerror", "") or error) or type(error).__name__
    return " ".join(said.split())[:200]
