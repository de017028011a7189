"""What each request gives: the tools, resources and prompts, listed and used."""

from __future__ import annotations

from told.serve.mcp.envelope import INVALID, NO_RESOURCE, STATELESS, RefusedError, folders_first
from told.serve.mcp.protocol import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from told.serve.mcp.protocol import Client, Toolbox

NO_METHOD = -32601
ABILITIES = {
    "tools": {"listChanged": False},
    "resources": {"subscribe": False, "listChanged": False},
    "prompts": {"listChanged": False},
}


class Methods:
    """Does what requests ask for, whoever sends them."""

    def __init__(self, toolbox: Toolbox, noted: Callable[[Exception], None] | None = None) -> None:
        """Take who does the work, and whom to tell of what should not happen."""
        self._toolbox = toolbox
        self._noted = noted

    def done(self, method: str, params: dict[str, Any], client: Client, *, stateless: bool) -> dict[str, Any]:
        """Return the result of a request.

        Raises:
            RefusedError: there is no such method, or it cannot be done as it was asked for.
        """
        if method == "tools/call":
            return self._call(params, client)
        if method == "tools/list":
            from told.serve.mcp.tools import TOOLS, listed

            return _page(params, "tools", [listed(tool) for tool in TOOLS])
        if method == "resources/read":
            return self._read(params, client, INVALID if stateless else NO_RESOURCE)
        if method == "prompts/get":
            return _prompt(params)
        from told.serve.mcp import offers

        if method == "resources/list":
            return _page(params, "resources", list(offers.RESOURCES))
        if method == "resources/templates/list":
            return _page(params, "resourceTemplates", list(offers.TEMPLATES))
        if method == "prompts/list":
            return _page(params, "prompts", list(offers.PROMPTS))
        if method == "server/discover" and stateless:
            told = {"capabilities": ABILITIES, "instructions": offers.INSTRUCTIONS}
            return {"supportedVersions": list(STATELESS), **told}
        if method == "ping" and not stateless:
            return {}
        raise RefusedError(NO_METHOD, "There is no such method.", method[:100])

    def _call(self, params: dict[str, Any], client: Client) -> dict[str, Any]:
        from told.serve.mcp.checks import checked
        from told.serve.mcp.tools import TOOLS, tool_named

        name = params.get("name")
        tool = tool_named(name) if isinstance(name, str) else None
        if tool is None:
            known = ", ".join(one.name for one in TOOLS)
            raise RefusedError(INVALID, f"There is no such tool. There are {known}.")
        arguments, wrong = checked(tool, params.get("arguments"))
        if wrong:
            answer = Answer(wrong, is_error=True)
        elif client.may_be_asked and not arguments.get("project") and not self._toolbox.knows_place():
            return folders_first()
        else:
            answer = self._safely(lambda: self._toolbox.call(tool.name, arguments, client))
        return {"content": [{"type": "text", "text": answer.text}], "isError": answer.is_error}

    def _read(self, params: dict[str, Any], client: Client, none_such: int) -> dict[str, Any]:
        from told.serve.mcp.offers import is_resource

        uri = params.get("uri")
        if not isinstance(uri, str):
            raise RefusedError(INVALID, "`uri` is missing: resources/list has some.")
        if not is_resource(uri):
            sentence = "There is no such resource: resources/list has some."
            raise RefusedError(none_such, sentence, {"uri": uri[:200]})
        if client.may_be_asked and not self._toolbox.knows_place():
            return folders_first()
        answer = self._safely(lambda: self._toolbox.read(uri, client))
        if answer.is_error:
            raise RefusedError(none_such, answer.text, {"uri": uri})
        return {"contents": [{"uri": uri, "mimeType": "text/markdown", "text": answer.text}]}

    def _safely(self, work: Callable[[], Answer]) -> Answer:
        from told.errors import ToldError

        try:
            return work()
        except ToldError as error:
            return Answer(str(error), is_error=True)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong in a call, the next one is answered
            if self._noted is not None:
                self._noted(error)
            return Answer(
                f"told failed at this ({type(error).__name__}). Go on without it; `told health` may say why.",
                is_error=True,
            )


def _page(params: dict[str, Any], name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    if params.get("cursor") is not None:
        raise RefusedError(INVALID, "There is one page only: leave `cursor` out.")
    return {name: rows}


def _prompt(params: dict[str, Any]) -> dict[str, Any]:
    from told.serve.mcp.offers import prompt

    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(name, str):
        raise RefusedError(INVALID, "`name` is missing: prompts/list has some.")
    try:
        text = prompt(name, arguments if isinstance(arguments, dict) else {})
    except ValueError as error:
        raise RefusedError(INVALID, str(error)) from None
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}
