"""Read changed composers (chats) from Cursor's state databases."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from told.agents.reading import (
    FAILED,
    REFUSED,
    file_path,
    is_failure,
    parse_call,
    read_database,
    workspace_folder,
)
from told.agents.values import (
    as_dict,
    as_millis,
    as_text,
    get_dict,
    get_dicts,
    get_list,
    get_text,
    parse_object,
)
from told.hashing import blake2b
from told.model import (
    AGENT,
    USER,
    Begin,
    Checkpoint,
    Cursor,
    Event,
    Facts,
    Mark,
    Message,
    Problem,
    Source,
    Touch,
)
from told.store.foreign import ForeignDatabase, ForeignError

Json = dict[str, Any]
_FROM_USER, _FROM_AGENT = (1, "user"), (2, "ai", "assistant")
_ENDINGS = {"error": FAILED, "cancelled": REFUSED, "rejected": REFUSED}
_TABLE = "cursorDiskKV"
_BETWEEN = "key >= ? AND key < ?"
# The table can have gigabytes: the time is compared in SQL, so that unchanged composers are not read.
_DOCUMENT = "iif(json_valid(CAST(value AS TEXT)), CAST(value AS TEXT), '{}')"
_TIME = f"coalesce(json_extract({_DOCUMENT}, '$.lastUpdatedAt'), json_extract({_DOCUMENT}, '$.createdAt'), 0)"
_CHANGED = f"{_BETWEEN} AND value IS NOT NULL AND {_TIME} > ?"
_COMPOSERS = ("composerData:", "composerData;")
_CHAT_PANEL = "workbench.panel.aichat.view.aichat.chatdata"


def read_global(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the composers that changed since the cursor, in order."""
    yield from read_database(source.path, lambda database: _read_changed(source, database, cursor.offset))


def _read_changed(source: Source, database: ForeignDatabase, since: int) -> Iterator[Event | Problem]:
    listed = _listed_composers(database, "composer.composerHeaders")
    changed = {key: at for key, entry in listed.items() if (at := _update_time(entry)) > since}
    for row in database.rows(_TABLE, ("key",), _CHANGED, (*_COMPOSERS, since or -1)):
        key = as_text(row["key"]).partition(":")[2]
        composer = _read_value(database, _TABLE, f"composerData:{key}")
        if not composer:
            yield Problem(0, f"composer {key}: not a JSON object")
            continue
        at = max(_update_time(composer), changed.get(key, 0))
        if at > since or since == 0:
            changed[key] = at
    order = sorted(changed, key=lambda key: (changed[key], key))
    folders: dict[str, str] | None = None
    for number, key in enumerate(order):
        try:
            composer = _read_value(database, _TABLE, f"composerData:{key}")
            bubbles = _inline_bubbles(composer) | _read_bubbles(database, key)
        except ForeignError as error:
            yield Problem(0, f"composer {key}: {error}")
            continue
        cwd = _named_folder(composer) or _named_folder(listed.get(key, {}))
        if not cwd and bubbles:
            folders = _folders_of_composers(source) if folders is None else folders
            cwd = folders.get(key, "")
        yield from _parse_composer(key, composer, bubbles, cwd)
        # Composers that changed in the same millisecond share a cursor: only the last may set it.
        if number + 1 == len(order) or changed[order[number + 1]] > changed[key]:
            yield Mark(Cursor(changed[key]))


def read_workspace(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the chats that older versions stored in a workspace's own database."""
    folder = workspace_folder(os.path.dirname(source.path))
    try:
        with ForeignDatabase(source.path) as database:
            tabs = _read_value(database, "ItemTable", _CHAT_PANEL)
            listed = _listed_composers(database, "composer.composerData")
    except ForeignError as error:
        yield Problem(0, str(error))
        return
    composers = [_tab_to_composer(as_dict(tab)) for tab in get_list(tabs, "tabs")]
    composers += [entry for entry in listed.values() if get_list(entry, "conversation")]
    digest = blake2b(repr(composers).encode("utf-8", "replace"), digest_size=8).hexdigest()
    if digest == cursor.state:
        return
    for composer in composers:
        if session := get_text(composer, "composerId"):
            yield from _parse_composer(session, composer, _inline_bubbles(composer), folder)
    yield Mark(Cursor(1, 0, digest))


def has_conversation(path: str, composer: str) -> bool:
    """Tell whether a global database has messages of a composer."""
    if not composer.isascii():
        return False  # the editor makes no such ids
    try:
        with ForeignDatabase(path) as database:
            return any(database.rows(_TABLE, ("key",), _BETWEEN, _bubble_keys(composer)))
    except ForeignError:
        return False


def _parse_composer(session: str, composer: Json, bubbles: dict[str, Json], cwd: str) -> Iterator[Event]:
    """Yield a complete session; nothing if it has no messages."""
    headers = get_dicts(composer, "fullConversationHeadersOnly")
    order = [get_text(header, "bubbleId") for header in headers] or list(bubbles)
    at = as_millis(composer.get("createdAt"))
    said: list[Event] = []
    for key in order:
        bubble = bubbles.get(key, {})
        at = max(at, _bubble_time(bubble))
        said.extend(_parse_bubble(session, bubble, key, at))
    if not said:
        return
    folders = (_named_folder(bubble) or _first_uri(bubble) for bubble in bubbles.values())
    parent = get_dict(composer, "subagentInfo")
    model = get_text(composer.get("modelConfig"), "modelName")
    yield Begin(session)
    yield Facts(
        session,
        cwd or _named_folder(composer) or next(filter(None, folders), ""),
        branch=get_text(composer, "createdOnBranch"),
        title=get_text(composer, "name"),
        started=as_millis(composer.get("createdAt")),
        parent=get_text(parent, "parentComposerId"),
        kind="subagent" if parent else "",
        archived=composer.get("isArchived") is True,
        model="" if model == "default" else model,
    )
    yield from said
    summary = get_dict(composer, "latestConversationSummary").get("summary")
    if overview := (as_text(summary) or get_text(summary, "summary")).strip():
        yield Checkpoint(session, 1, get_text(composer, "name"), overview, at)


def _parse_bubble(session: str, bubble: Json, key: str, at: int) -> Iterator[Message | Touch]:
    kind, words = bubble.get("type"), get_text(bubble, "text").strip()
    if words and kind in _FROM_USER:
        yield Message(session, USER, words, at, key)
    if kind not in _FROM_AGENT:
        return
    if thought := get_text(bubble.get("thinking"), "text").strip():
        yield Message(session, AGENT, thought, at, form="step")
    if words:
        yield Message(session, AGENT, words, at, key)
    call = get_dict(bubble, "toolFormerData")
    if tool := get_text(call, "name"):
        given = {**parse_object(call.get("params")), **parse_object(call.get("rawArgs"))}
        ended = _ENDINGS.get(get_text(call, "status"))
        events = parse_call(session, tool, given, at)
        yield from (event for event in events if isinstance(event, Message) or not ended)
        if ended or _has_failed(call):
            yield Message(session, AGENT, ended or FAILED, at, form="step")


def _has_failed(call: Json) -> bool:
    """Tell whether a terminal command ended with a nonzero code."""
    result = parse_object(get_text(call, "result"))
    return is_failure(result.get("exitCodeV2")) or is_failure(result.get("exitCode"))


def _update_time(composer: Json) -> int:
    return max(as_millis(composer.get("lastUpdatedAt")), as_millis(composer.get("createdAt")))


def _bubble_time(bubble: Json) -> int:
    timing = get_dict(bubble, "timingInfo")
    times = [as_millis(timing.get(name)) for name in ("clientRpcSendTime", "clientEndTime")]
    # Some times count from the start of the program; only dates count.
    return as_millis(bubble.get("createdAt")) or max((at for at in times if at > 10**12), default=0)


def _named_folder(composer: Json) -> str:
    """Return the project folder that a composer or bubble names itself."""
    place = get_dict(composer, "workspaceIdentifier")
    return file_path(place.get("uri")) if place.get("uri") else ""


def _first_uri(bubble: Json) -> str:
    uris = map(file_path, get_list(bubble, "workspaceUris"))
    return next(filter(None, uris), "") or get_text(bubble, "workspaceProjectDir")


def _inline_bubbles(composer: Json) -> dict[str, Json]:
    """Return the bubbles that older versions store in the composer itself, by id."""
    stored = get_dicts(composer, "conversation")
    found = {get_text(bubble, "bubbleId") or str(number): bubble for number, bubble in enumerate(stored)}
    for key, bubble in get_dict(composer, "conversationMap").items():
        found.setdefault(key, as_dict(bubble))
    return found


def _tab_to_composer(tab: Json) -> Json:
    """Convert a tab of the older chat panel to a composer."""
    bubbles = get_dicts(tab, "bubbles")
    return {
        "composerId": get_text(tab, "tabId", "id"),
        "name": get_text(tab, "chatTitle", "title"),
        "createdAt": tab.get("createdAt") or tab.get("lastSendTime"),
        "conversation": [
            {
                **bubble,
                "bubbleId": bubble.get("bubbleId") or bubble.get("id"),
                "text": bubble.get("text") or bubble.get("rawText"),
            }
            for bubble in bubbles
        ],
    }


def _bubble_keys(composer: str) -> tuple[str, str]:
    """Return the limits of the keys of a composer's bubbles."""
    return f"bubbleId:{composer}:", f"bubbleId:{composer};"


def _read_bubbles(database: ForeignDatabase, composer: str) -> dict[str, Json]:
    keys = _bubble_keys(composer)
    rows = database.rows(_TABLE, ("key", "value"), _BETWEEN, keys, "rowid")
    return {as_text(row["key"])[len(keys[0]) :]: _parse_value(row["value"]) for row in rows}


def _folders_of_composers(source: Source) -> dict[str, str]:
    """Return the project folder of each composer that some workspace lists."""
    storage = os.path.join(os.path.dirname(os.path.dirname(source.path)), "workspaceStorage")
    found: dict[str, str] = {}
    try:
        names = sorted(os.listdir(storage))
    except OSError:
        return found
    for name in names:
        if folder := workspace_folder(os.path.join(storage, name)):
            try:
                with ForeignDatabase(os.path.join(storage, name, "state.vscdb")) as database:
                    for key in _listed_composers(database, "composer.composerData"):
                        found.setdefault(key, folder)
            except ForeignError:
                continue
    return found


def _listed_composers(database: ForeignDatabase, key: str) -> dict[str, Json]:
    """Return the composers in a list of the editor's own table, by id."""
    entries = get_dicts(_read_value(database, "ItemTable", key), "allComposers")
    named = ((get_text(entry, "composerId"), entry) for entry in entries)
    return {name: entry for name, entry in named if name and name.isascii()}


def _read_value(database: ForeignDatabase, table: str, key: str) -> Json:
    rows = database.rows(table, ("value",), "key = ?", (key,))
    return next((_parse_value(row["value"]) for row in rows), {})


def _parse_value(value: Any) -> Json:
    return parse_object(value) if isinstance(value, (str, bytes)) else {}
