"""Vectors from an endpoint that speaks as OpenAI's `/v1/embeddings` does. Text leaves the machine for it."""

from __future__ import annotations

import time

from told.errors import BusyError, MissingError
from told.search._vector_bytes import signed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from told.settings.models import Endpoint

_TOGETHER = 64  # texts in a request
_LONGEST = 8_000  # characters of a text: about as many tokens as such models read
_WAIT = 30.0  # seconds
_TRIES = 3
_PAUSE = 0.5  # seconds before the second try, twice as many before the next
_LONGEST_PAUSE = 10.0  # an endpoint that wants more waiting is asked another time
_LARGEST = 64_000_000  # bytes of an answer
_AGAIN = (408, 409, 425, 429, 500, 502, 503, 504)


class Remote:
    """A model somewhere else. It is asked when the first text comes."""

    is_quick = False

    def __init__(
        self, endpoint: Endpoint, environ: Mapping[str, str], redact: Callable[[str], str] | None = None
    ) -> None:
        """Take what is needed to ask.

        Raises:
            MissingError: the variable that should hold the key is not set.
        """
        from _blake2 import blake2b

        self._endpoint = endpoint
        self._redact = redact
        self.floor = endpoint.floor
        self._key = environ.get(endpoint.key_variable, "").strip() if endpoint.key_variable else ""
        if endpoint.key_variable and not self._key:
            raise MissingError(
                f"The variable {endpoint.key_variable}, which should hold the key for {endpoint.host},"
                " is not set. Set it and try again."
            )
        if not (self._key.isascii() and self._key.isprintable()):
            raise MissingError(f"What the variable {endpoint.key_variable} holds is no key. Set it anew.")
        where = f"{endpoint.address} {endpoint.model} {endpoint.text_prefix}"
        self.model = f"{endpoint.model}:{blake2b(where.encode(), digest_size=16).hexdigest()[:12]}"

    def vectors(self, texts: Sequence[str], *, asking: bool = False) -> list[bytes | None]:
        """Return the vectors of texts, in order; None for an empty one.

        Raises:
            BusyError: the endpoint does not answer, or not as it should.
            MissingError: it does not know the model, or the key.
        """
        prefix = self._endpoint.query_prefix if asking else self._endpoint.text_prefix
        found: list[bytes | None] = [None] * len(texts)
        wanted = [at for at, text in enumerate(texts) if text.strip()]
        for start in range(0, len(wanted), _TOGETHER):
            part = wanted[start : start + _TOGETHER]
            answers = self._ask([f"{prefix}{self._sendable(texts[at])}" for at in part])
            for at, vector in zip(part, answers, strict=True):
                found[at] = signed(vector)
        return found

    def _sendable(self, text: str) -> str:
        short = text[:_LONGEST].encode("utf-8", "replace").decode()
        return self._redact(short) if self._redact else short

    def _ask(self, texts: list[str]) -> list[list[float]]:
        """Return an answer's vectors, after a few tries at most."""
        import json

        body = json.dumps(
            {"model": self._endpoint.model, "input": texts, "encoding_format": "float"}
        ).encode()
        pause = _PAUSE
        for left in reversed(range(_TRIES)):
            status, wait, content = self._post(body)
            if status == 200:
                return self._vectors(content, len(texts))
            if status and status not in _AGAIN:
                raise self._refused(status)
            if not left or wait > _LONGEST_PAUSE:
                break
            time.sleep(max(pause, wait))
            pause *= 2
        why = f"it answers with {status}" if status else wait_text(content)
        raise BusyError(f"{self._endpoint.host} gives no vectors now: {why}. Try again later.")

    def _post(self, body: bytes) -> tuple[int, float, bytes]:
        """Return the status of the answer, how many seconds it asks to wait, and what it says.

        The status is 0 if there is no answer; then what it says is why.
        """
        from http.client import HTTPConnection, HTTPException, HTTPSConnection

        kind = HTTPSConnection if self._endpoint.secure else HTTPConnection
        connection = kind(self._endpoint.host, self._endpoint.port, timeout=_WAIT)
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "told"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        try:
            connection.request("POST", self._endpoint.path, body, headers)
            answer = connection.getresponse()
            content = answer.read(_LARGEST)
            return answer.status, _seconds(answer.getheader("Retry-After", "")), content
        except (OSError, HTTPException) as error:
            return 0, 0.0, str(getattr(error, "strerror", "") or error).encode()
        finally:
            connection.close()

    def _vectors(self, content: bytes, count: int) -> list[list[float]]:
        import json

        try:
            rows: list[dict[str, Any]] = json.loads(content)["data"]
            ordered = sorted(enumerate(rows), key=lambda row: row[1].get("index", row[0]))
            found = [[float(value) for value in row["embedding"]] for _, row in ordered]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            found = []
        if len(found) != count or len({len(vector) for vector in found}) != 1 or not found[0]:
            raise BusyError(
                f"{self._endpoint.host} answers, but not with a vector for each text."
                " Check the address: most end in /v1/embeddings."
            )
        return found

    def _refused(self, status: int) -> MissingError:
        where = f"{self._endpoint.host} refuses ({status})"
        if status in (401, 403):
            named = self._endpoint.key_variable
            return MissingError(
                f"{where}: check the key in {named}."
                if named
                else f"{where}: it wants a key. Add &key=VARIABLE."
            )
        if status == 404:
            return MissingError(f"{where}: check the address, and the model {self._endpoint.model!r}.")
        if 300 <= status < 400:
            return MissingError(f"{where}: it wants another address, and told follows none. Set that one.")
        return MissingError(f"{where} what told asks. Check the address and the model's name.")


def wait_text(content: bytes) -> str:
    """Return why there was no answer, on one line."""
    return " ".join(content.decode("utf-8", "replace").split())[:200] or "it does not answer"


def _seconds(text: str) -> float:
    return float(text[:6]) if text.isascii() and text.isdigit() else 0.0
