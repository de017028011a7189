"""Answers one message after the other; reading and writing them is the loop's."""

from __future__ import annotations

from told import __version__
from told.serve.mcp.envelope import (
    GREETED,
    INVALID,
    RefusedError,
    client_of,
    has_envelope,
    opened,
    sealed,
)
from told.serve.mcp.methods import ABILITIES, Methods
from told.serve.mcp.protocol import Client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from told.serve.mcp.protocol import Toolbox

NO_JSON = -32700
NO_REQUEST = -32600
_LARGEST_BATCH = 100
_SELF = {"name": "told", "title": "told", "version": __version__}
_NEEDS_PLACE = ("tools/call", "resources/read")


def failure(id: Any, code: int, sentence: str, data: Any = None) -> dict[str, Any]:  # noqa: A002 - its name there
    """Return the answer to a request that cannot be done."""
    error = {"code": code, "message": sentence}
    return {"jsonrpc": "2.0", "id": id, "error": error if data is None else error | {"data": data}}


class Server:
    """One conversation with one client."""

    def __init__(self, toolbox: Toolbox, noted: Callable[[Exception], None] | None = None) -> None:
        """Take who does the work, and whom to tell of what should not happen."""
        self._methods = Methods(toolbox, noted)
        self._client = Client()
        self._has_roots = False
        self._wants_roots = False
        self._asked = 0
        self.waits = False  # the client was asked for its folders and has not answered yet

    def answer(self, message: Any) -> Any:
        """Return what to say to a message, or to an array of them; None if nothing is to be said."""
        if not isinstance(message, list):
            return self._answer(message)
        if not 0 < len(message) <= _LARGEST_BATCH:
            return failure(None, NO_REQUEST, f"Send 1 to {_LARGEST_BATCH} messages at once.")
        return [answer for answer in map(self._answer, message) if answer is not None] or None

    def question(self) -> dict[str, Any] | None:
        """Return what the client is to be asked now; None if nothing is."""
        if not self._wants_roots:
            return None
        self._wants_roots = False
        self._asked += 1
        self.waits = True
        return {"jsonrpc": "2.0", "id": f"roots-{self._asked}", "method": "roots/list"}

    def needs_place(self, message: Any) -> bool:
        """Return whether the answer to a message depends on the folders of the client."""
        messages = message if isinstance(message, list) else [message]
        return any(isinstance(one, dict) and one.get("method") in _NEEDS_PLACE for one in messages)

    def _answer(self, message: Any) -> dict[str, Any] | None:
        if not isinstance(message, dict):
            return failure(None, NO_REQUEST, "A message is an object.")
        method, id_ = message.get("method"), message.get("id")
        if "method" not in message and ("result" in message or "error" in message):
            self._hear(id_, message.get("result"))
            return None
        if "id" not in message and isinstance(method, str):
            self._take(method)
            return None
        if not _is_id(id_):
            return failure(None, NO_REQUEST, "A request has a text or a number as its id.")
        if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
            return failure(id_, NO_REQUEST, "A request has a method, and 2.0 as its jsonrpc.")
        try:
            return {"jsonrpc": "2.0", "id": id_, "result": self._result(method, message.get("params"))}
        except RefusedError as refused:
            return failure(id_, refused.code, str(refused), refused.data)

    def _hear(self, id_: Any, result: Any) -> None:
        """Take the client's answer to the last question; an earlier one is out of date."""
        if self._asked and id_ == f"roots-{self._asked}":
            from told.serve.mcp.roots import folders

            self.waits = False
            self._client = Client(self._client.name, folders(result), self._client.version)

    def _take(self, notification: str) -> None:
        if notification in ("notifications/initialized", "notifications/roots/list_changed"):
            self._wants_roots = self._has_roots

    def _result(self, method: str, params: Any) -> dict[str, Any]:
        is_object = isinstance(params, dict)
        if is_object and method != "initialize" and has_envelope(params):
            done = self._methods.done(method, params, opened(params), stateless=True)
            return sealed(method, done, _SELF)
        if method == "server/discover":
            raise RefusedError(INVALID, "The protocol version is missing in `_meta`.")
        if params is not None and not is_object:
            raise RefusedError(INVALID, "`params` must be an object.")
        if method == "initialize":
            return self._greet(params or {})
        return self._methods.done(method, params or {}, self._client, stateless=False)

    def _greet(self, params: dict[str, Any]) -> dict[str, Any]:
        from told.serve.mcp.offers import INSTRUCTIONS

        version, abilities = params.get("protocolVersion"), params.get("capabilities")
        self._client = client_of(params.get("clientInfo"))
        self._has_roots = isinstance(abilities, dict) and isinstance(abilities.get("roots"), dict)
        return {
            "protocolVersion": version if version in GREETED else GREETED[-1],
            "capabilities": ABILITIES,
            "serverInfo": _SELF,
            "instructions": INSTRUCTIONS,
        }


def _is_id(value: Any) -> bool:
    if isinstance(value, float):
        return value - value == 0
    return isinstance(value, (str, int)) and not isinstance(value, bool)
