"""Parse addresses of models and servers on the network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

from told.errors import UsageError
from told.settings.keys import MODEL_FORMS, OFF, is_folder_path

_SCHEMES = ("https://", "http://")
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
_OPTIONS = ("model", "key", "query_prefix", "text_prefix", "floor")
FLOOR = 0.6  # default similarity of unrelated texts
_MAX_LENGTH = 1_000


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is."""

    secure: bool
    host: str
    port: int
    path: str


@dataclass(frozen=True, slots=True)
class Endpoint(Address):
    """An embeddings endpoint on the network."""

    model: str
    key_variable: str = ""  # environment variable with the key; no file of told contains the key
    query_prefix: str = ""
    text_prefix: str = ""
    floor: float = FLOOR

    @property
    def address(self) -> str:
        """The URL without options."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{_SCHEMES[not self.secure]}{host}:{self.port}{self.path}"


def is_address(value: str) -> bool:
    """Return whether a model is an address on the network."""
    return value.lower().startswith(_SCHEMES)


def find_model_problem(value: object) -> str:
    """Return why a value of `model` is not valid, or ""."""
    if not isinstance(value, str) or len(value) > _MAX_LENGTH or not value.isprintable():
        return f"must be {MODEL_FORMS}"
    if is_address(value):
        try:
            parse_endpoint(value)
        except UsageError as error:
            return f"is an address that told cannot use. {str(error).rstrip('.')}"
        return ""
    return "" if value in ("", OFF) or is_folder_path(value) else f"must be {MODEL_FORMS}"


def parse_endpoint(value: str) -> Endpoint:
    """Parse an address: `https://host/v1/embeddings#model=NAME&key=VARIABLE`.

    The part behind the # is never sent.
    """
    try:
        parts = urlsplit(value)
        port = parts.port
        given = parse_qsl(parts.fragment, keep_blank_values=True, strict_parsing=bool(parts.fragment))
    except ValueError:
        raise UsageError("It must look like https://host/v1/embeddings#model=NAME&key=VARIABLE.") from None
    secure = parts.scheme == "https"
    host = parts.hostname or ""
    options = _check_options(given)
    variable = options.get("key", "")
    if not host or not host.isascii() or any(char.isspace() for char in value):
        raise UsageError("It must name a host, and spaces in it are written as %20.")
    if parts.username is not None or parts.password is not None:
        raise UsageError("It must hold no password. Name the variable that has the key: #key=VARIABLE.")
    if not options.get("model"):
        raise UsageError("It must name the model: add #model=NAME at its end.")
    if variable and not (variable.isascii() and variable.isidentifier()):
        raise UsageError("Set key= to the name of the variable that has the key, not to the key.")
    if variable and not secure and host not in _LOCAL_HOSTS:
        raise UsageError("A key goes to another machine over https:// only.")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Endpoint(
        secure,
        host,
        port or (443 if secure else 80),
        path,
        options["model"],
        variable,
        options.get("query_prefix", ""),
        options.get("text_prefix", ""),
        _parse_floor(options.get("floor", "")),
    )


def parse_address(value: str) -> Address | None:
    """Parse the address of a server; None if it is not valid."""
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        return None
    host = parts.hostname or ""
    is_plain = value.isascii() and value.isprintable() and len(value) <= _MAX_LENGTH and " " not in value
    if not is_address(value) or not is_plain or not host or parts.fragment:
        return None
    if parts.username is not None or parts.password is not None:
        return None
    secure = parts.scheme == "https"
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    return Address(secure, host, port or (443 if secure else 80), path)


def is_local_host(host: str) -> bool:
    """Tell whether a host is this machine."""
    return host in _LOCAL_HOSTS


def _parse_floor(text: str) -> float:
    if not text:
        return FLOOR
    whole, _, part = text.partition(".")
    if whole not in ("0", "1") or not (part or "0").isdecimal() or not text.isascii() or float(text) > 1:
        raise UsageError("Set floor= to a number from 0 to 1.")
    return float(text)


def _check_options(given: Iterable[tuple[str, str]]) -> dict[str, str]:
    found = dict(given)
    unknown = next((name for name in found if name not in _OPTIONS), "")
    if unknown:
        raise UsageError(f"Behind the # told knows {', '.join(_OPTIONS)}, not {unknown[:40]!r}.")
    return found
