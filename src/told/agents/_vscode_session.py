"""Turns a VS Code chat session's requests and response parts into events."""

from __future__ import annotations

import re

from told.agents._vscode_places import file_path
from told.agents._vscode_tools import arguments_of, call_events, how_touched, plain
from told.agents.text import FAILED, REFUSED, is_failure, items, mapping, millis, text
from told.model import AGENT, USER, Event, Facts, Ref, Said, Touch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_LINK = re.compile(r"\[([^\]]*)\]\((\S+?)\)")
# An edited file's text goes to the file, and leaves an empty fence where it was.
_EMPTY_FENCE = re.compile(r"```[^\n`]*\s*```")
_NOT_CONFIRMED = (0, 5)  # denied, skipped
_PROSE = ("", "markdownContent", "markdownVuln", "inlineReference")


def session_events(state: dict[str, Any], session: str, cwd: str) -> Iterator[Event]:
    """Yield what a session's state says: facts, then each question with its answer."""
    requests = [request for request in items(state.get("requests")) if isinstance(request, dict)]
    if not requests:
        return
    repository = mapping(state.get("repoData"))
    models = [text(request.get("modelId")).removeprefix("copilot/") for request in requests]
    yield Facts(
        session,
        cwd,
        branch=text(repository.get("localBranch")),
        repository=text(repository.get("remoteUrl")),
        # The editor puts the title that the model made in the same place as one that the user gave.
        title=text(state.get("customTitle")),
        started=millis(state.get("creationDate")),
        model=next((model for model in reversed(models) if model), ""),
    )
    at = 0
    for request in requests:
        at = max(at, millis(request.get("timestamp")))
        yield from _question(request, session, at)
        yield from _answer(request, session, at)


def _question(request: dict[str, Any], session: str, at: int) -> Iterator[Said]:
    # A button that was pressed, or the editor itself, asks on the user's behalf.
    if request.get("confirmation") or request.get("isSystemInitiated"):
        return
    message = request.get("message")
    question = (text(message) or text(mapping(message).get("text"))).strip()
    if question:
        yield Said(session, USER, question, at, text(request.get("requestId")))


def _answer(request: dict[str, Any], session: str, at: int) -> Iterator[Event]:
    """Yield a response's parts in order, its pieces of prose joined to whole texts."""
    response = request.get("response")
    parts = response if isinstance(response, list) else [response]
    calls = _calls_by_id(request)
    reply = text(request.get("responseId"))
    prose: list[str] = []
    seen: set[Touch] = set()
    number = 0
    for raw_part in [*parts, {"kind": "end"}]:
        part = {"value": raw_part} if isinstance(raw_part, str) else mapping(raw_part)
        kind = text(part.get("kind"))
        if kind in _PROSE:
            prose.append(_prose(part, kind))
            continue
        happened = [event for event in _happened(part, kind, session, at, calls) if event not in seen]
        seen.update(event for event in happened if isinstance(event, Touch))
        if any(isinstance(event, Said) for event in happened) or kind == "end":
            said = _EMPTY_FENCE.sub("", "".join(prose)).strip()
            prose.clear()
            if said.strip("`\n "):
                number += 1
                yield Said(session, AGENT, said, at, f"{reply}/{number}" if reply else "")
        yield from happened


def _prose(part: dict[str, Any], kind: str) -> str:
    if kind != "inlineReference":
        return plain(part.get("value")) or plain(part.get("content"))
    target = part.get("inlineReference")
    place = mapping(target)
    symbol = text(part.get("name")) or text(place.get("name"))
    path = file_path(place.get("uri") or mapping(place.get("location")).get("uri") or target)
    return f"`{symbol or path.rsplit('/', 1)[-1]}`" if symbol or path else ""


def _happened(
    part: dict[str, Any], kind: str, session: str, at: int, calls: dict[str, dict[str, Any]]
) -> Iterator[Said | Touch | Ref]:
    """Yield what a part other than prose says."""
    if kind == "thinking":
        value = part.get("value")
        thought = "".join(text(piece) for piece in value) if isinstance(value, list) else text(value)
        if thought.strip():
            yield Said(session, AGENT, thought.strip(), at, form="step")
    elif kind == "toolInvocationSerialized":
        yield from _tool(part, session, at, calls)
    elif kind in ("textEditGroup", "notebookEditGroup") or (kind == "codeblockUri" and part.get("isEdit")):
        path = file_path(part.get("uri"))
        if path:
            yield Touch(session, path, "edit", at)
    elif kind == "workspaceEdit":
        for edit in items(part.get("edits")):
            for name, how in (("oldResource", "delete"), ("newResource", "create")):
                path = file_path(mapping(edit).get(name))
                if path:
                    yield Touch(session, path, how, at)
    elif kind == "pullRequest":
        address = part.get("uri")
        url = text(address) or text(mapping(address).get("external"))
        if url.startswith("https://"):
            yield Ref(session, "pr", url, at)


def _tool(
    part: dict[str, Any], session: str, at: int, calls: dict[str, dict[str, Any]]
) -> Iterator[Said | Touch]:
    tool = text(part.get("toolId")) or "tool"
    told = part.get("pastTenseMessage") or part.get("invocationMessage")
    given = calls.get(text(part.get("toolCallId"))) or _specific(mapping(part.get("toolSpecificData")))
    targets = (target.partition("#")[0] for _, target in _LINK.findall(plain(told)))
    links = [file_path(target) for target in targets if target.startswith("file:")]
    how = how_touched(tool)
    events = list(call_events(session, tool, given or {"description": _unlinked(plain(told))}, at))
    if how and len(events) == 1:
        events += [Touch(session, path, how, at) for path in dict.fromkeys(links) if path]
    yield from events
    if how := _ending(part):
        yield Said(session, AGENT, how, at, form="step")


def _ending(part: dict[str, Any]) -> str:
    """Return how a call ended, if not well."""
    confirmed = part.get("isConfirmed")
    if confirmed is False or mapping(confirmed).get("type") in _NOT_CONFIRMED:
        return REFUSED
    code = mapping(mapping(part.get("toolSpecificData")).get("terminalCommandState")).get("exitCode")
    return FAILED if is_failure(code) or mapping(part.get("resultDetails")).get("isError") is True else ""


def _specific(data: dict[str, Any]) -> dict[str, Any]:
    """Return what the editor kept of a call's arguments."""
    line = mapping(data.get("commandLine"))
    command = next(
        (text(line[name]) for name in ("userEdited", "toolEdited", "original") if line.get(name)), ""
    )
    if command or data.get("command"):
        return {"command": command or text(data.get("command"))}
    if data.get("rawInput"):
        return arguments_of(data["rawInput"])
    return {name: data[name] for name in ("description", "prompt") if isinstance(data.get(name), str)}


def _calls_by_id(request: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the arguments of the calls that the model's side of the record keeps, by their id."""
    metadata = mapping(mapping(request.get("result")).get("metadata"))
    return {
        text(mapping(call).get("id")): arguments_of(mapping(call).get("arguments"))
        for turn in items(metadata.get("toolCallRounds"))
        for call in items(mapping(turn).get("toolCalls"))
    }


def _unlinked(message: str) -> str:
    """Write `[](file:///a/b.py)` as `b.py`, and another link as its text."""

    def shown(link: re.Match[str]) -> str:
        return link[1] or file_path(link[2].partition("#")[0]).rsplit("/", 1)[-1]

    return _LINK.sub(shown, message)
