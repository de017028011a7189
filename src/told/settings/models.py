"""What the settings `model` and `reranker` say: nothing, off, a folder with a model, or an address."""

from __future__ import annotations

import os

from told.errors import UsageError
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

OFF = "off"
MUST = "empty, off, the whole path of a folder, or an address that begins with https:// or http://"
_SCHEMES = ("https://", "http://")
_HERE = ("localhost", "127.0.0.1", "::1")
_IN_ADDRESS = ("model", "key", "query_prefix", "text_prefix", "floor")
FLOOR = 0.6  # where nobody says how near texts are that have nothing to do with each other
_LONGEST = 1_000  # characters


@record
class Endpoint:
    """Where vectors are asked for over the network."""

    secure: bool
    host: str
    port: int
    path: str
    model: str
    key_variable: str = ""  # the variable that holds the key; the key itself stands in no file of told's
    query_prefix: str = ""
    text_prefix: str = ""
    floor: float = FLOOR

    @property
    def address(self) -> str:
        """Where it is, as people read it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{_SCHEMES[not self.secure]}{host}:{self.port}{self.path}"


def is_address(value: str) -> bool:
    """Tell whether a model is asked over the network."""
    return value.lower().startswith(_SCHEMES)


def wrong_with_model(value: object) -> str:
    """Return why a value cannot be that of `model`; empty if it can."""
    if not isinstance(value, str) or len(value) > _LONGEST or not value.isprintable():
        return f"must be {MUST}"
    if is_address(value):
        try:
            endpoint_of(value)
        except UsageError as error:
            return f"is an address that told cannot use. {str(error).rstrip('.')}"
        return ""
    return "" if value in ("", OFF) or is_folder_path(value) else f"must be {MUST}"


def is_folder_path(value: object) -> bool:
    """Tell whether a value is the whole path of a folder: it must mean the same wherever told is run."""
    return isinstance(value, str) and value.isprintable() and (value[:1] == "~" or os.path.isabs(value))


def endpoint_of(value: str) -> Endpoint:
    """Return what an address says: `https://host/v1/embeddings#model=NAME&key=VARIABLE`.

    What stands behind the # is for told and is never sent.

    Raises:
        UsageError: it is not understood.
    """
    from urllib.parse import parse_qsl, urlsplit

    try:
        parts = urlsplit(value)
        port = parts.port
        given = parse_qsl(parts.fragment, keep_blank_values=True, strict_parsing=bool(parts.fragment))
    except ValueError:
        raise UsageError("It must look like https://host/v1/embeddings#model=NAME&key=VARIABLE.") from None
    secure = parts.scheme == "https"
    host = parts.hostname or ""
    options = _options(given)
    variable = options.get("key", "")
    if not host or not host.isascii() or any(char.isspace() for char in value):
        raise UsageError("It must name a host, and spaces in it are written as %20.")
    if parts.username is not None or parts.password is not None:
        raise UsageError("It must hold no password. Name the variable that has the key: #key=VARIABLE.")
    if not options.get("model"):
        raise UsageError("It must name the model: add #model=NAME at its end.")
    if variable and not (variable.isascii() and variable.isidentifier()):
        raise UsageError("Behind key= stands the name of the variable that has the key, not the key.")
    if variable and not secure and host not in _HERE:
        raise UsageError("A key goes to another machine over https:// only.")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Endpoint(
        secure, host, port or (443 if secure else 80), path, options["model"], variable,
        options.get("query_prefix", ""), options.get("text_prefix", ""), _share(options.get("floor", "")),
    )  # fmt: skip


def _share(text: str) -> float:
    if not text:
        return FLOOR
    whole, _, part = text.partition(".")
    if whole not in ("0", "1") or not (part or "0").isdecimal() or not text.isascii() or float(text) > 1:
        raise UsageError("Behind floor= stands a number from 0 to 1.")
    return float(text)


def _options(given: Iterable[tuple[str, str]]) -> dict[str, str]:
    found = dict(given)
    unknown = next((name for name in found if name not in _IN_ADDRESS), "")
    if unknown:
        raise UsageError(f"Behind the # told knows {', '.join(_IN_ADDRESS)}, not {unknown[:40]!r}.")
    return found
