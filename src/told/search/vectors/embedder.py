"""Choose and run what embeds texts: the built-in table, a model or an endpoint.

All vectors are signed bytes of a common length. Vectors of different models cannot be compared, so the
model's name is stored with each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from told.errors import BusyError, MissingError
from told.hashing import blake2b
from told.search.vectors.arithmetic import quantize
from told.search.vectors.table import make_vector, table_model_id
from told.settings.keys import OFF

if TYPE_CHECKING:
    from told.settings.endpoints import Endpoint

_BATCH = 64  # texts in a request
_MAX_TEXT = 8_000  # characters: about as many tokens as such models read
_TIMEOUT = 30.0  # seconds


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def model(self) -> str:
        """Name and short hash of the model; stored with every vector."""

    @property
    def is_quick(self) -> bool:
        """Whether a text is cheap enough to be embedded at once."""

    @property
    def floor(self) -> float:
        """Similarity from which a text without a common word is a match."""

    def vectors(self, texts: Sequence[str], *, asking: bool = False) -> list[bytes | None]:
        """Return the vectors of texts in order; None for a text without meaning."""


class TableEmbedder:
    """Embeds with the table that comes with told."""

    is_quick = True
    floor = 0.3

    def __init__(self, model: str) -> None:
        self.model = model

    def vectors(self, texts: Sequence[str], *, asking: bool = False) -> list[bytes | None]:
        """Return the vectors of texts; None for one without a known word."""
        return [make_vector(text, asking=asking) for text in texts]


def load_default_embedder() -> Embedder | None:
    """Return the built-in table; None if it cannot be read."""
    model = table_model_id()
    return TableEmbedder(model) if model else None


def load_embedder(
    setting: str, environ: Mapping[str, str] | None = None, redact: Callable[[str], str] | None = None
) -> Embedder | None:
    """Return the embedder that the user chose; None if there is none.

    `setting` is empty for the table, `off`, a folder, or an address.
    """
    if not setting:
        return load_default_embedder()
    if setting == OFF:
        return None
    from told.settings.endpoints import is_address, parse_endpoint  # noqa: PLC0415 - few have a model

    if is_address(setting):
        return RemoteEmbedder(parse_endpoint(setting), environ or {}, redact)
    from told.search.vectors.model_folder import load_local_embedder  # noqa: PLC0415

    return load_local_embedder(setting)


class RemoteEmbedder:
    """Embeds with an HTTP endpoint."""

    is_quick = False

    def __init__(
        self, endpoint: Endpoint, environ: Mapping[str, str], redact: Callable[[str], str] | None = None
    ) -> None:
        """Set up without connecting."""
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
            raise MissingError(f"The variable {endpoint.key_variable} holds no valid key. Set it again.")
        where = f"{endpoint.address} {endpoint.model} {endpoint.text_prefix}"
        self.model = f"{endpoint.model}:{blake2b(where.encode(), digest_size=16).hexdigest()[:12]}"

    def vectors(self, texts: Sequence[str], *, asking: bool = False) -> list[bytes | None]:
        """Return the vectors of texts; None for an empty one."""
        prefix = self._endpoint.query_prefix if asking else self._endpoint.text_prefix
        found: list[bytes | None] = [None] * len(texts)
        wanted = [at for at, text in enumerate(texts) if text.strip()]
        for start in range(0, len(wanted), _BATCH):
            part = wanted[start : start + _BATCH]
            answers = self._request([f"{prefix}{self._prepare(texts[at])}" for at in part])
            for at, vector in zip(part, answers, strict=True):
                found[at] = quantize(vector)
        return found

    def _prepare(self, text: str) -> str:
        short = text[:_MAX_TEXT].encode("utf-8", "replace").decode()
        return self._redact(short) if self._redact else short

    def _request(self, texts: list[str]) -> list[list[float]]:
        """Request the vectors of texts."""
        from told.endpoint import post_json  # noqa: PLC0415 - few have an endpoint

        body = {"model": self._endpoint.model, "input": texts, "encoding_format": "float"}
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        found = post_json(self._endpoint, body, headers, _TIMEOUT)
        if found.status == 200:
            return self._parse(found.content, len(texts))
        if found.is_refusal:
            raise self._explain_refusal(found.status)
        raise BusyError(f"{self._endpoint.host} gives no vectors now: {found.reason}. Try again later.")

    def _parse(self, content: bytes, count: int) -> list[list[float]]:
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

    def _explain_refusal(self, status: int) -> MissingError:
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
