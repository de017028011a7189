"""VS Code's Copilot Chat: one JSON document or one mutation log for each session."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from told.agents import wiring
from told.agents.base import Agent, Layout, editor_folders
from told.agents.reading import (
    FAILED,
    REFUSED,
    file_path,
    file_size,
    how_touched,
    is_failure,
    parse_call,
    workspace_folder,
)
from told.agents.values import (
    as_dict,
    as_list,
    as_millis,
    as_text,
    get_dict,
    get_list,
    get_text,
    parse_object,
)
from told.agents.wiring import OWN, Change, OwnFile, Place
from told.files import NotReadableError, read_document
from told.jsontext import parse_json, read_json_file
from told.model import AGENT as BY_AGENT
from told.model import USER, Begin, Cursor, Event, Facts, Mark, Message, Problem, Ref, Source, Touch
from told.pattern import lazy_pattern

_INITIAL, _SET, _PUSH, _DELETE = 0, 1, 2, 3
_LINK = lazy_pattern(r"\[([^\]]*)\]\((\S+?)\)")
# Left where the text of an edited file was.
_EMPTY_FENCE = lazy_pattern(r"```[^\n`]*\s*```")
_NOT_CONFIRMED = (0, 5)  # denied, skipped
_PROSE = ("", "markdownContent", "markdownVuln", "inlineReference")


def rebuild_state(path: str) -> tuple[dict[str, Any], list[Problem]]:
    """Return the state after a log's entries, and the bad entries."""
    try:
        content = read_document(path)
    except NotReadableError as error:
        return {}, [Problem(0, str(error))]
    state: dict[str, Any] = {}
    problems: list[Problem] = []
    begun = False
    raw_lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, raw in enumerate(raw_lines, 1):
        if not raw.strip():
            continue
        entry = parse_json(raw)
        if not isinstance(entry, dict):
            if number < len(raw_lines):  # the editor may still be writing the last one
                problems.append(Problem(number, entry if isinstance(entry, str) else "not a JSON object"))
            continue
        if entry.get("kind") == _INITIAL and isinstance(entry.get("v"), dict):
            state, begun = entry["v"], True
            continue
        if not begun:
            problems.append(Problem(number, "a change before the state that it changes"))
            begun = True
        if not _apply(state, entry):
            problems.append(Problem(number, "a change that does not fit the session"))
    return state, problems


def _apply(state: dict[str, Any], entry: dict[str, Any]) -> bool:
    """Apply one entry to the state; return False if it does not fit."""
    kind, path = entry.get("kind"), entry.get("k")
    if kind not in (_SET, _PUSH, _DELETE) or isinstance(kind, bool):
        return False
    if not isinstance(path, list) or not path or not all(isinstance(name, (str, int)) for name in path):
        return False
    container: Any = state
    for name in path[:-1]:
        container = _item(container, name)
    last = path[-1]
    if kind == _PUSH:
        current, length = as_list(_item(container, last)), entry.get("i")
        if isinstance(length, int) and length >= 0:
            current = current[:length]
        return _put(container, last, current + get_list(entry, "v"))
    return _put(container, last, entry.get("v") if kind == _SET else None)


def _item(container: Any, name: str | int) -> Any:
    if isinstance(container, dict):
        return container.get(str(name))
    if isinstance(container, list) and isinstance(name, int) and 0 <= name < len(container):
        return container[name]
    return None


def _put(container: Any, name: str | int, value: Any) -> bool:
    if isinstance(container, dict):
        container[str(name)] = value
        return True
    if isinstance(container, list) and isinstance(name, int) and 0 <= name <= len(container):
        container[name : name + 1] = [value]
        return True
    return False


def parse_session(state: dict[str, Any], session: str, cwd: str) -> Iterator[Event]:
    """Yield a session's facts, then each question with its answer."""
    requests = [request for request in get_list(state, "requests") if isinstance(request, dict)]
    if not requests:
        return
    repository = get_dict(state, "repoData")
    models = [get_text(request, "modelId").removeprefix("copilot/") for request in requests]
    yield Facts(
        session,
        cwd,
        branch=get_text(repository, "localBranch"),
        repository=get_text(repository, "remoteUrl"),
        # By the user or the model; the editor does not say.
        title=get_text(state, "customTitle"),
        started=as_millis(state.get("creationDate")),
        model=next((model for model in reversed(models) if model), ""),
    )
    at = 0
    for request in requests:
        at = max(at, as_millis(request.get("timestamp")))
        yield from _parse_question(request, session, at)
        yield from _parse_answer(request, session, at)


def _parse_question(request: dict[str, Any], session: str, at: int) -> Iterator[Message]:
    # Not typed: a button, or the editor itself.
    if request.get("confirmation") or request.get("isSystemInitiated"):
        return
    message = request.get("message")
    question = (as_text(message) or get_text(message, "text")).strip()
    if question:
        yield Message(session, USER, question, at, get_text(request, "requestId"))


def _parse_answer(request: dict[str, Any], session: str, at: int) -> Iterator[Event]:
    """Yield a response's parts in order, with consecutive prose joined."""
    response = request.get("response")
    parts = response if isinstance(response, list) else [response]
    calls = _arguments_by_id(request)
    reply = get_text(request, "responseId")
    prose: list[str] = []
    seen: set[Touch] = set()
    number = 0
    for raw_part in [*parts, {"kind": "end"}]:
        part = {"value": raw_part} if isinstance(raw_part, str) else as_dict(raw_part)
        kind = get_text(part, "kind")
        if kind in _PROSE:
            prose.append(_parse_prose(part, kind))
            continue
        happened = [event for event in _parse_part(part, kind, session, at, calls) if event not in seen]
        seen.update(event for event in happened if isinstance(event, Touch))
        if any(isinstance(event, Message) for event in happened) or kind == "end":
            said = _EMPTY_FENCE.sub("", "".join(prose)).strip()
            prose.clear()
            if said.strip("`\n "):
                number += 1
                yield Message(session, BY_AGENT, said, at, f"{reply}/{number}" if reply else "")
        yield from happened


def _parse_prose(part: dict[str, Any], kind: str) -> str:
    if kind != "inlineReference":
        return _markdown_text(part.get("value")) or _markdown_text(part.get("content"))
    target = part.get("inlineReference")
    place = as_dict(target)
    symbol = get_text(part, "name") or get_text(place, "name")
    path = file_path(place.get("uri") or get_dict(place, "location").get("uri") or target)
    return f"`{symbol or path.rsplit('/', 1)[-1]}`" if symbol or path else ""


def _parse_part(
    part: dict[str, Any], kind: str, session: str, at: int, calls: dict[str, dict[str, Any]]
) -> Iterator[Message | Touch | Ref]:
    """Yield the events of a part other than prose."""
    if kind == "thinking":
        value = part.get("value")
        thought = "".join(as_text(piece) for piece in value) if isinstance(value, list) else as_text(value)
        if thought.strip():
            yield Message(session, BY_AGENT, thought.strip(), at, form="step")
    elif kind == "toolInvocationSerialized":
        yield from _parse_tool(part, session, at, calls)
    elif kind in ("textEditGroup", "notebookEditGroup") or (kind == "codeblockUri" and part.get("isEdit")):
        path = file_path(part.get("uri"))
        if path:
            yield Touch(session, path, "edit", at)
    elif kind == "workspaceEdit":
        for edit in get_list(part, "edits"):
            for name, how in (("oldResource", "delete"), ("newResource", "create")):
                path = file_path(as_dict(edit).get(name))
                if path:
                    yield Touch(session, path, how, at)
    elif kind == "pullRequest":
        address = part.get("uri")
        url = as_text(address) or get_text(address, "external")
        if url.startswith("https://"):
            yield Ref(session, "pr", url, at)


def _parse_tool(
    part: dict[str, Any], session: str, at: int, calls: dict[str, dict[str, Any]]
) -> Iterator[Message | Touch]:
    tool = get_text(part, "toolId") or "tool"
    told = part.get("pastTenseMessage") or part.get("invocationMessage")
    given = calls.get(get_text(part, "toolCallId")) or _stored_arguments(get_dict(part, "toolSpecificData"))
    targets = (target.partition("#")[0] for _, target in _LINK.findall(_markdown_text(told)))
    links = [file_path(target) for target in targets if target.startswith("file:")]
    how = how_touched(tool)
    events = list(parse_call(session, tool, given or {"description": _strip_links(_markdown_text(told))}, at))
    if how and len(events) == 1:
        events += [Touch(session, path, how, at) for path in dict.fromkeys(links) if path]
    yield from events
    if how := _find_ending(part):
        yield Message(session, BY_AGENT, how, at, form="step")


def _find_ending(part: dict[str, Any]) -> str:
    """Return how a call ended, if it did not succeed."""
    confirmed = part.get("isConfirmed")
    if confirmed is False or as_dict(confirmed).get("type") in _NOT_CONFIRMED:
        return REFUSED
    code = get_dict(part.get("toolSpecificData"), "terminalCommandState").get("exitCode")
    return FAILED if is_failure(code) or get_dict(part, "resultDetails").get("isError") is True else ""


def _stored_arguments(data: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that the editor stored for a call."""
    line = get_dict(data, "commandLine")
    command = next(
        (as_text(line[name]) for name in ("userEdited", "toolEdited", "original") if line.get(name)), ""
    )
    if command or data.get("command"):
        return {"command": command or get_text(data, "command")}
    if data.get("rawInput"):
        return parse_object(data["rawInput"])
    return {name: data[name] for name in ("description", "prompt") if isinstance(data.get(name), str)}


def _arguments_by_id(request: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the arguments of the model's calls by id."""
    metadata = get_dict(request.get("result"), "metadata")
    return {
        get_text(call, "id"): parse_object(as_dict(call).get("arguments"))
        for turn in get_list(metadata, "toolCallRounds")
        for call in get_list(turn, "toolCalls")
    }


def _strip_links(message: str) -> str:
    """Write `[](file:///a/b.py)` as `b.py`, and any other link as its text."""

    def shown(link: re.Match[str]) -> str:
        return link[1] or file_path(link[2].partition("#")[0]).rsplit("/", 1)[-1]

    return _LINK.sub(shown, message)


def _markdown_text(value: Any) -> str:
    """Return a plain text or the value of a Markdown string."""
    return as_text(value) or get_text(value, "value")


_EDITORS = ("Code", "Code - Insiders", "VSCodium")


def read(source: Source, _cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield a complete session: both formats describe its present state."""
    size = file_size(source.path)
    problems: list[Problem] = []
    stem, extension = os.path.splitext(os.path.basename(source.path))
    if extension == ".jsonl":
        state, problems = rebuild_state(source.path)
        if not state:
            yield from problems
            return  # keep what was read before
    elif os.path.exists(source.path + "l"):
        state = {}  # replaced by the log beside it
    else:
        document = read_json_file(source.path)
        if isinstance(document, Problem):
            yield document
            return
        state = as_dict(document)
    session = get_text(state, "sessionId") or stem
    folder = os.path.dirname(source.path)
    is_in_workspace = os.path.basename(folder) == "chatSessions"
    yield Begin(session)
    yield from problems
    yield from parse_session(
        state, session, workspace_folder(os.path.dirname(folder)) if is_in_workspace else ""
    )
    yield Mark(Cursor(size))


def wire(place: Place) -> tuple[Change, ...]:
    """Return what told writes into VS Code's and its siblings' files."""
    if place.is_project:
        path = place.in_project(".vscode", "mcp.json")
        return (
            *wiring.mcp_entry(place, path, ("servers",), type="stdio"),
            *wiring.github_instructions(place),
        )
    made: list[Change] = []
    for number, editor in enumerate(_EDITORS):
        folder = _data_folder(place, editor)
        if number == 0 or os.path.isdir(folder):
            path = place.join(folder, "User", "mcp.json")
            made += wiring.mcp_entry(place, path, ("servers",), type="stdio")
            head = f"---\n# {OWN}\nname: told\ndescription: what told remembers\napplyTo: '**'\n---\n\n"
            path = place.join(folder, "User", "prompts", "told.instructions.md")
            made.append(OwnFile(path, head + place.guide + "\n"))
    return tuple(made)


def _data_folder(place: Place, editor: str) -> str:
    if place.is_windows:
        return place.in_app_data(editor)
    if place.system == "darwin":
        return place.in_home("Library", "Application Support", editor)
    return place.in_config(editor)


AGENT = Agent(
    name="vscode-copilot",
    title="VS Code Copilot Chat",
    label="vscode",
    aliases=("vs-code", "code"),
    read=read,
    roots=(
        *(root for editor in _EDITORS for root in editor_folders(editor)),
        "~/.vscode-server/data",
        "~/.vscode-server-insiders/data",
        "~/.vscode-remote/data",
        "~/.var/app/com.visualstudio.code/config/Code",
        "~/.var/app/com.visualstudio.code.insiders/config/Code - Insiders",
        "~/.var/app/com.vscodium.codium/config/VSCodium",
        "~/snap/code/current/.config/Code",
        "~/snap/code-insiders/current/.config/Code - Insiders",
        "~/snap/codium/current/.config/VSCodium",
        "$VSCODE_PORTABLE/user-data",
    ),
    layouts=tuple(
        Layout(f"User/{folder}/*.{extension}", extension)
        for folder in ("workspaceStorage/*/chatSessions", "globalStorage/emptyWindowChatSessions")
        for extension in ("json", "jsonl")
    ),
    verified=False,
    wire=wire,
    install_signs=tuple(
        f"{root}/User/globalStorage/github.copilot-chat"
        for editor in _EDITORS
        for root in editor_folders(editor)
    ),
    limits="told has no hooks in it: it asks told because its instructions say so.",
    tool_prefix="copilot",
    client_words=("vscode", "visual"),
)
