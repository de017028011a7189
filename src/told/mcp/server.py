"""Answer MCP messages; the loop reads and writes them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from told import __version__
from told.errors import ToldError
from told.mcp import tools
from told.mcp.tools import Answer, Client, Toolbox

SESSION_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # begin with `initialize`
STATELESS_VERSIONS = ("2026-07-28",)
INVALID = -32602
NO_RESOURCE = -32002  # until 2026-07-28
UNSUPPORTED = -32022
NO_JSON, NO_REQUEST, NO_METHOD = -32700, -32600, -32601

_PREFIX = "io.modelcontextprotocol/"
_VERSION = _PREFIX + "protocolVersion"
_CLIENT = _PREFIX + "clientInfo"
_CAPABILITIES = _PREFIX + "clientCapabilities"
_SERVER = _PREFIX + "serverInfo"
_ROOTS = "roots"
_COMPLETE = "complete"
_MINUTES = 5 * 60_000
# How long a client may cache an answer, in milliseconds.
_CACHED = ("server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list")
_CACHE_MS = {**dict.fromkeys(_CACHED, _MINUTES), "resources/read": 0}
_LONGEST_NAME = 100


class RefusedError(Exception):
    """A request that cannot be answered, with its error code."""

    def __init__(self, code: int, sentence: str, data: Any = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.data = data


def _has_envelope(params: dict[str, Any]) -> bool:
    meta = params.get("_meta")
    return isinstance(meta, dict) and _VERSION in meta


def _read_envelope(params: dict[str, Any]) -> Client:
    meta = params["_meta"]
    version = meta[_VERSION]
    if not isinstance(version, str):
        raise RefusedError(INVALID, f"`{_VERSION}` must be text.")
    if version not in STATELESS_VERSIONS:
        known = [*SESSION_VERSIONS, *STATELESS_VERSIONS]
        raise RefusedError(
            UNSUPPORTED, "Unsupported protocol version", {"supported": known, "requested": version}
        )
    abilities = meta.get(_CAPABILITIES)
    if not isinstance(abilities, dict):
        raise RefusedError(INVALID, f"`{_CAPABILITIES}` is missing in `_meta`.")
    client = _read_client(meta.get(_CLIENT))
    if not isinstance(abilities.get(_ROOTS), dict):
        return client
    said = params.get("inputResponses")
    if not isinstance(said, dict):
        return replace(client, may_be_asked=True)
    return replace(client, roots=read_roots(said.get(_ROOTS)))


def _ask_for_folders() -> dict[str, Any]:
    return {"resultType": "input_required", "inputRequests": {_ROOTS: {"method": "roots/list"}}}


def _read_client(info: Any) -> Client:
    name = info.get("name") if isinstance(info, dict) else None
    return Client(name[:_LONGEST_NAME] if isinstance(name, str) else "")


def _wrap_result(method: str, result: dict[str, Any], server: dict[str, Any]) -> dict[str, Any]:
    wrapped = {"resultType": _COMPLETE, **result, "_meta": {_SERVER: server}}
    if method in _CACHE_MS and wrapped["resultType"] == _COMPLETE:
        wrapped |= {"ttlMs": _CACHE_MS[method], "cacheScope": "public" if _CACHE_MS[method] else "private"}
    return wrapped


_MOST_ROOTS = 32
_LONGEST_URI = 4096
_FILE = "file://"


def read_roots(result: Any) -> tuple[str, ...]:
    """Return the folders in an answer to `roots/list`."""
    roots = result.get("roots") if isinstance(result, dict) else None
    if not isinstance(roots, list):
        return ()
    found = []
    for root in roots[:_MOST_ROOTS]:
        uri = root.get("uri") if isinstance(root, dict) else root
        folder = folder_of_uri(uri) if isinstance(uri, str) and len(uri) <= _LONGEST_URI else ""
        if folder and folder not in found:
            found.append(folder)
    return tuple(found)


def folder_of_uri(uri: str) -> str:
    """Return the local folder of a file URI, if it is one."""
    if uri[: len(_FILE)].lower() != _FILE:
        return uri if os.path.isabs(uri) and "\0" not in uri else ""
    host, slash, rest = uri[len(_FILE) :].partition("/")
    path = slash + unquote(rest.partition("?")[0].partition("#")[0], errors="replace")
    if "\0" in path:
        return ""
    if path[2:3] == ":" and path[1:2].isalpha():
        return path[1:]  # /C:/Users is a drive of Windows
    if host.lower() not in ("", "localhost", "127.0.0.1"):
        return f"//{host}{path}" if os.name == "nt" else ""
    return path if len(path) > 1 else ""


CAPABILITIES = {
    "tools": {"listChanged": False},
    "resources": {"subscribe": False, "listChanged": False},
    "prompts": {"listChanged": False},
}
_LISTS = {
    "tools/list": ("tools", [tools.describe_tool(tool) for tool in tools.TOOLS]),
    "resources/list": ("resources", tools.RESOURCES),
    "resources/templates/list": ("resourceTemplates", tools.TEMPLATES),
    "prompts/list": ("prompts", tools.PROMPTS),
}
_LARGEST_BATCH = 100
_SERVER_INFO = {"name": "told", "title": "told", "version": __version__}
_NEEDS_FOLDER = ("tools/call", "resources/read")


def failure(id: Any, code: int, sentence: str, data: Any = None) -> dict[str, Any]:  # noqa: A002 - its name there
    """Return an error answer."""
    error = {"code": code, "message": sentence}
    return {"jsonrpc": "2.0", "id": id, "error": error if data is None else error | {"data": data}}


class Server:
    """One conversation with one client."""

    def __init__(self, toolbox: Toolbox, log_error: Callable[[Exception], None] | None = None) -> None:
        self._toolbox = toolbox
        self._log_error = log_error
        self._client = Client()
        self._has_roots = False
        self._wants_roots = False
        self._asked = 0
        self.waits = False  # for the client's folders

    def answer(self, message: Any) -> Any:
        """Return the answer to a message or batch, if any."""
        if not isinstance(message, list):
            return self._answer(message)
        if not 0 < len(message) <= _LARGEST_BATCH:
            return failure(None, NO_REQUEST, f"Send 1 to {_LARGEST_BATCH} messages at once.")
        return [answer for answer in map(self._answer, message) if answer is not None] or None

    def question(self) -> dict[str, Any] | None:
        """Return what to ask the client now; None if nothing."""
        if not self._wants_roots:
            return None
        self._wants_roots = False
        self._asked += 1
        self.waits = True
        return {"jsonrpc": "2.0", "id": f"roots-{self._asked}", "method": "roots/list"}

    def needs_place(self, message: Any) -> bool:
        """Tell whether the answer depends on the client's folders."""
        messages = message if isinstance(message, list) else [message]
        return any(isinstance(one, dict) and one.get("method") in _NEEDS_FOLDER for one in messages)

    def _answer(self, message: Any) -> dict[str, Any] | None:
        if not isinstance(message, dict):
            return failure(None, NO_REQUEST, "A message must be an object.")
        method, id_ = message.get("method"), message.get("id")
        if "method" not in message and ("result" in message or "error" in message):
            if self._asked and id_ == f"roots-{self._asked}":
                self.waits = False
                self._client = Client(self._client.name, read_roots(message.get("result")))
            return None
        if "id" not in message and isinstance(method, str):
            if method in ("notifications/initialized", "notifications/roots/list_changed"):
                self._wants_roots = self._has_roots
            return None
        if not _is_id(id_):
            return failure(None, NO_REQUEST, "A request's id must be text or a number.")
        if message.get("jsonrpc") != "2.0" or not isinstance(method, str):
            return failure(id_, NO_REQUEST, "A request needs a method and jsonrpc 2.0.")
        try:
            return {"jsonrpc": "2.0", "id": id_, "result": self._result(method, message.get("params"))}
        except RefusedError as refused:
            return failure(id_, refused.code, str(refused), refused.data)

    def _result(self, method: str, params: Any) -> dict[str, Any]:
        is_object = isinstance(params, dict)
        if is_object and method != "initialize" and _has_envelope(params):
            done = self._run(method, params, _read_envelope(params), stateless=True)
            return _wrap_result(method, done, _SERVER_INFO)
        if method == "server/discover":
            raise RefusedError(INVALID, "The protocol version is missing in `_meta`.")
        if params is not None and not is_object:
            raise RefusedError(INVALID, "`params` must be an object.")
        if method == "initialize":
            return self._initialize(params or {})
        return self._run(method, params or {}, self._client, stateless=False)

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        version, capabilities = params.get("protocolVersion"), params.get("capabilities")
        self._client = _read_client(params.get("clientInfo"))
        self._has_roots = isinstance(capabilities, dict) and isinstance(capabilities.get("roots"), dict)
        return {
            "protocolVersion": version if version in SESSION_VERSIONS else SESSION_VERSIONS[-1],
            "capabilities": CAPABILITIES,
            "serverInfo": _SERVER_INFO,
            "instructions": tools.INSTRUCTIONS,
        }

    def _run(self, method: str, params: dict[str, Any], client: Client, *, stateless: bool) -> dict[str, Any]:
        if method == "tools/call":
            return self._call(params, client)
        if method in _LISTS:
            if params.get("cursor") is not None:
                raise RefusedError(INVALID, "There is only one page: leave out `cursor`.")
            name, rows = _LISTS[method]
            return {name: rows}
        if method == "resources/read":
            return self._read(params, client, INVALID if stateless else NO_RESOURCE)
        if method == "prompts/get":
            return _prompt(params)
        if method == "server/discover" and stateless:
            told = {"capabilities": CAPABILITIES, "instructions": tools.INSTRUCTIONS}
            return {"supportedVersions": list(STATELESS_VERSIONS), **told}
        if method == "ping" and not stateless:
            return {}
        raise RefusedError(NO_METHOD, "Unknown method.", method[:100])

    def _call(self, params: dict[str, Any], client: Client) -> dict[str, Any]:
        name = params.get("name")
        tool = tools.tool_named(name) if isinstance(name, str) else None
        if tool is None:
            known = ", ".join(one.name for one in tools.TOOLS)
            raise RefusedError(INVALID, f"Unknown tool. Use one of: {known}.")
        arguments, wrong = tools.check_arguments(tool, params.get("arguments"))
        if wrong:
            answer = Answer(wrong, is_error=True)
        elif client.may_be_asked and not arguments.get("project") and not self._toolbox.knows_place():
            return _ask_for_folders()
        else:
            answer = self._safely(lambda: self._toolbox.call(tool.name, arguments, client))
        return {"content": [{"type": "text", "text": answer.text}], "isError": answer.is_error}

    def _read(self, params: dict[str, Any], client: Client, error_code: int) -> dict[str, Any]:
        uri = params.get("uri")
        if not isinstance(uri, str):
            raise RefusedError(INVALID, "`uri` is missing: see resources/list.")
        if not tools.is_resource(uri):
            sentence = "Unknown resource: see resources/list."
            raise RefusedError(error_code, sentence, {"uri": uri[:200]})
        if client.may_be_asked and not self._toolbox.knows_place():
            return _ask_for_folders()
        answer = self._safely(lambda: self._toolbox.read(uri, client))
        if answer.is_error:
            raise RefusedError(error_code, answer.text, {"uri": uri})
        return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": answer.text}]}

    def _safely(self, work: Callable[[], Answer]) -> Answer:
        try:
            return work()
        except ToldError as error:
            return Answer(str(error), is_error=True)
        except Exception as error:  # noqa: BLE001 - the next call must still be answered
            if self._log_error is not None:
                self._log_error(error)
            return Answer(
                f"told failed ({type(error).__name__}). Continue without it; `told health` may say why.",
                is_error=True,
            )


def _prompt(params: dict[str, Any]) -> dict[str, Any]:
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str):
        raise RefusedError(INVALID, "`name` is missing: see prompts/list.")
    try:
        text = tools.prompt_text(name, arguments if isinstance(arguments, dict) else {})
    except ValueError as error:
        raise RefusedError(INVALID, str(error)) from None
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


def _is_id(value: Any) -> bool:
    if isinstance(value, float):
        return value - value == 0
    return isinstance(value, (str, int)) and not isinstance(value, bool)
