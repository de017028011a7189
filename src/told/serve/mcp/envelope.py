"""The two ways a request says who asks: once at the beginning, or, since 2026-07-28, in every request."""

from __future__ import annotations

from told.record import replaced
from told.serve.mcp.protocol import Client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

GREETED = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # these begin with `initialize`
STATELESS = ("2026-07-28",)
INVALID = -32602
NO_RESOURCE = -32002  # until 2026-07-28
UNSUPPORTED = -32022

_PREFIX = "io.modelcontextprotocol/"
_VERSION = _PREFIX + "protocolVersion"
_CLIENT = _PREFIX + "clientInfo"
_CAPABILITIES = _PREFIX + "clientCapabilities"
_SERVER = _PREFIX + "serverInfo"
_ROOTS = "roots"
_COMPLETE = "complete"
_MINUTES = 5 * 60_000
# How long a client may keep an answer, in milliseconds; what told is asked for is never the same for long.
_KEPT = {
    "server/discover": _MINUTES,
    "tools/list": _MINUTES,
    "prompts/list": _MINUTES,
    "resources/list": _MINUTES,
    "resources/templates/list": _MINUTES,
    "resources/read": 0,
}
_LONGEST_NAME = 100


class RefusedError(Exception):
    """A request that cannot be answered, with the code that says why."""

    def __init__(self, code: int, sentence: str, data: Any = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.data = data


def has_envelope(params: dict[str, Any]) -> bool:
    """Return whether a request says itself which revision it follows."""
    meta = params.get("_meta")
    return isinstance(meta, dict) and _VERSION in meta


def opened(params: dict[str, Any]) -> Client:
    """Return who sends a request that carries its envelope.

    Raises:
        RefusedError: the envelope is not whole, or of a revision that told does not speak.
    """
    meta = params["_meta"]
    version = meta[_VERSION]
    if not isinstance(version, str):
        raise RefusedError(INVALID, f"`{_VERSION}` must be a text.")
    if version not in STATELESS:
        known = [*GREETED, *STATELESS]
        raise RefusedError(
            UNSUPPORTED, "Unsupported protocol version", {"supported": known, "requested": version}
        )
    abilities = meta.get(_CAPABILITIES)
    if not isinstance(abilities, dict):
        raise RefusedError(INVALID, f"`{_CAPABILITIES}` is missing in `_meta`.")
    client = client_of(meta.get(_CLIENT))
    if not isinstance(abilities.get(_ROOTS), dict):
        return client
    said = params.get("inputResponses")
    if not isinstance(said, dict):
        return replaced(client, may_be_asked=True)
    from told.serve.mcp.roots import folders

    return replaced(client, roots=folders(said.get(_ROOTS)))


def folders_first() -> dict[str, Any]:
    """Return what is said in the place of an answer: the client is to ask again, with its folders."""
    return {"resultType": "input_required", "inputRequests": {_ROOTS: {"method": "roots/list"}}}


def client_of(info: Any) -> Client:
    """Return what a client says of itself."""
    said = info if isinstance(info, dict) else {}
    name, version = said.get("name"), said.get("version")
    return Client(
        name[:_LONGEST_NAME] if isinstance(name, str) else "",
        version=version[:_LONGEST_NAME] if isinstance(version, str) else "",
    )


def sealed(method: str, result: dict[str, Any], server: dict[str, Any]) -> dict[str, Any]:
    """Return an answer with what the stateless revision wants to read in it."""
    sealed = {"resultType": _COMPLETE, **result, "_meta": {_SERVER: server}}
    if method in _KEPT and sealed["resultType"] == _COMPLETE:
        sealed |= {"ttlMs": _KEPT[method], "cacheScope": "public" if _KEPT[method] else "private"}
    return sealed
