"""Turns one of Cursor's composers, with its bubbles, into events."""

from __future__ import annotations

from told.agents._vscode_places import file_path
from told.agents._vscode_tools import arguments_of, call_events
from told.agents.text import FAILED, REFUSED, is_failure, items, mapping, millis, text
from told.model import AGENT, USER, Begin, Checkpoint, Event, Facts, Said, Touch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_FROM_USER, _FROM_AGENT = (1, "user"), (2, "ai", "assistant")
_ENDINGS = {"error": FAILED, "cancelled": REFUSED, "rejected": REFUSED}


def updated_at(composer: dict[str, Any]) -> int:
    """Return when a composer was last changed, as far as it says so."""
    return max(millis(composer.get("lastUpdatedAt")), millis(composer.get("createdAt")))


def folder_of(composer: dict[str, Any]) -> str:
    """Return the project folder that a composer names itself."""
    place = mapping(composer.get("workspaceIdentifier"))
    return file_path(place.get("uri")) if place.get("uri") else ""


def inline_bubbles(composer: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the bubbles that older versions keep in the composer itself, by their id."""
    kept = [mapping(bubble) for bubble in items(composer.get("conversation"))]
    found = {text(bubble.get("bubbleId")) or str(number): bubble for number, bubble in enumerate(kept)}
    for key, bubble in mapping(composer.get("conversationMap")).items():
        found.setdefault(key, mapping(bubble))
    return found


def composer_events(
    session: str, composer: dict[str, Any], bubbles: dict[str, dict[str, Any]], cwd: str
) -> Iterator[Event]:
    """Yield a session whole; nothing when nobody has said anything in it."""
    headers = [mapping(header) for header in items(composer.get("fullConversationHeadersOnly"))]
    order = [text(header.get("bubbleId")) for header in headers] or list(bubbles)
    at = millis(composer.get("createdAt"))
    said: list[Event] = []
    for key in order:
        bubble = bubbles.get(key, {})
        at = max(at, _when(bubble))
        said.extend(_bubble_events(session, bubble, key, at))
    if not said:
        return
    named = (folder_of(mapping(bubble)) or _first_uri(bubble) for bubble in bubbles.values())
    parent = mapping(composer.get("subagentInfo"))
    model = text(mapping(composer.get("modelConfig")).get("modelName"))
    yield Begin(session)
    yield Facts(
        session,
        cwd or folder_of(composer) or next((folder for folder in named if folder), ""),
        branch=text(composer.get("createdOnBranch")),
        title=text(composer.get("name")),
        started=millis(composer.get("createdAt")),
        parent=text(parent.get("parentComposerId")),
        kind="subagent" if parent else "",
        archived=composer.get("isArchived") is True,
        model="" if model == "default" else model,
    )
    yield from said
    yield from _summary(session, composer, at)


def _bubble_events(session: str, bubble: dict[str, Any], key: str, at: int) -> Iterator[Said | Touch]:
    kind, words = bubble.get("type"), text(bubble.get("text")).strip()
    if kind in _FROM_USER:
        if words:
            yield Said(session, USER, words, at, key)
        return
    if kind not in _FROM_AGENT:
        return
    thought = text(mapping(bubble.get("thinking")).get("text")).strip()
    if thought:
        yield Said(session, AGENT, thought, at, form="step")
    if words:
        yield Said(session, AGENT, words, at, key)
    call = mapping(bubble.get("toolFormerData"))
    tool = text(call.get("name"))
    if tool:
        given = {**arguments_of(call.get("params")), **arguments_of(call.get("rawArgs"))}
        events = call_events(session, tool, given, at)
        ended = _ENDINGS.get(text(call.get("status")))
        yield from (event for event in events if isinstance(event, Said) or not ended)
        if ended or _exit_code(call):
            yield Said(session, AGENT, ended or FAILED, at, form="step")


def _exit_code(call: dict[str, Any]) -> bool:
    """Whether a command in the terminal ended with a code other than zero."""
    result = text(call.get("result"))
    if "xitCode" not in result:
        return False
    told = arguments_of(result)
    return is_failure(told.get("exitCodeV2")) or is_failure(told.get("exitCode"))


def _first_uri(bubble: dict[str, Any]) -> str:
    folder = text(bubble.get("workspaceProjectDir"))
    uris = (file_path(uri) for uri in items(bubble.get("workspaceUris")))
    return next((uri for uri in uris if uri), "") or folder


def _when(bubble: dict[str, Any]) -> int:
    timing = mapping(bubble.get("timingInfo"))
    # The client's start is counted from the start of the program; only a date is of use.
    return millis(bubble.get("createdAt")) or max(
        (at for name in ("clientRpcSendTime", "clientEndTime") if (at := millis(timing.get(name))) > 10**12),
        default=0,
    )


def _summary(session: str, composer: dict[str, Any], at: int) -> Iterator[Checkpoint]:
    """Yield the summary that Cursor made when the conversation became too long."""
    kept = mapping(composer.get("latestConversationSummary")).get("summary")
    overview = (text(kept) or text(mapping(kept).get("summary"))).strip()
    if overview:
        yield Checkpoint(session, 1, text(composer.get("name")), overview, at)


def legacy_tab(tab: dict[str, Any]) -> dict[str, Any]:
    """Return a tab of the chat panel before composers as the composer it would be."""
    return {
        "composerId": text(tab.get("tabId")) or text(tab.get("id")),
        "name": text(tab.get("chatTitle")) or text(tab.get("title")),
        "createdAt": tab.get("createdAt") or tab.get("lastSendTime"),
        "conversation": [
            {**mapping(bubble), "bubbleId": mapping(bubble).get("bubbleId") or mapping(bubble).get("id"),
             "text": mapping(bubble).get("text") or mapping(bubble).get("rawText")}
            for bubble in items(tab.get("bubbles"))
        ],
    }  # fmt: skip
