"""Read foreign logs and databases; describe tool calls and the files they touch."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from told.agents.base import Table
from told.agents.values import as_dict, as_list, as_text, get_dicts, get_list, get_text
from told.jsontext import Line, read_json_file, read_json_lines
from told.model import AGENT, Cursor, Event, Mark, Message, Problem, Touch
from told.pattern import lazy_pattern
from told.search.lookups import shorten_lookup
from told.store.foreign import ForeignDatabase, ForeignError
from told.text import cut_at_word, strip_message

_PATCHED = lazy_pattern(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_PATCH_HOW = {"Add": "create", "Update": "edit", "Delete": "delete"}


def make_message(
    session: str, who: str, words: str, *, at: int = 0, key: str = "", form: str = "text"
) -> Iterator[Message]:
    """Yield a message, unless its text is blank."""
    if message := strip_message(words):
        yield Message(session, who, message, at, key, form)


def patched_files(patch: str) -> list[tuple[str, str]]:
    """Return the files of a `*** Update File:` patch, and how they change."""
    return [(path.strip(), _PATCH_HOW[verb]) for verb, path in _PATCHED.findall(patch)]


def file_size(path: str) -> int:
    """Return a file's size, or 0; call it before reading."""
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0


def read_whole(
    path: str, parse: Callable[[Any], Iterable[Event | Problem]], *, is_object: bool = False
) -> Iterator[Event | Problem]:
    """Yield the events of a JSON document, and how far it was read."""
    size = file_size(path)
    document = read_json_file(path)
    if isinstance(document, Problem):
        yield document
    elif is_object and not isinstance(document, dict):
        yield Problem(0, "not a JSON object")
    else:
        yield from parse(document)
        yield Mark(Cursor(size))


def read_log(
    path: str,
    cursor: Cursor,
    parse_line: Callable[[dict[str, Any]], Iterable[Event]],
    state: Callable[[], str] = str,
    skip: Callable[[bytes], bool] | None = None,
) -> Iterator[Event | Problem]:
    """Yield the events of a JSONL file from a cursor on.

    `state` returns what the next cursor has to remember; `skip` tells from a line's bytes that it has no
    events, which saves parsing it.
    """
    for found in read_json_lines(path, cursor, skip):
        if isinstance(found, Line):
            yield from parse_line(found.value)
        elif isinstance(found, Problem):
            yield found
        else:
            yield Mark(Cursor(found.offset, found.line, state()))


def read_database(
    path: str, read: Callable[[ForeignDatabase], Iterator[Event | Problem]]
) -> Iterator[Event | Problem]:
    """Yield what a function reads from a database."""
    try:
        with ForeignDatabase(path) as database:
            yield from read(database)
    except ForeignError as error:
        yield Problem(0, str(error))


def find_missing_columns(database: ForeignDatabase, tables: Iterable[Table]) -> list[str]:
    """Return the needed columns that a database lacks, as `table.column`."""
    return [
        f"{needed.table}.{column}"
        for needed in tables
        for column in needed.columns
        if column not in database.columns(needed.table)
    ]


def remove_tags(text: str, tags: Iterable[str]) -> str:
    """Remove every `<tag>…</tag>`; keep tags that are not closed."""
    for tag in tags:
        opening, closing = f"<{tag}>", f"</{tag}>"
        rest, at = [], 0
        while (start := text.find(opening, at)) >= 0 and (end := text.find(closing, start)) >= 0:
            rest.append(text[at:start])
            at = end + len(closing)
        text = "".join((*rest, text[at:]))
    return strip_message(text)


def find_tag(text: str, tag: str) -> str:
    """Return the content of the first `<tag>…</tag>`, or nothing."""
    _, opening, rest = text.partition(f"<{tag}>")
    content, closing, _ = rest.partition(f"</{tag}>")
    return content.strip() if opening and closing else ""


PLAN_MARK = "plan: "
OPEN, DOING, DONE, DROPPED = " ", ">", "x", "-"
# Added after a tool call's line if it did not succeed. The tool's output itself is not stored.
FAILED = "(failed)"
REFUSED = "(refused)"  # by the user

_LIST_ARGUMENTS = ("todos", "plan", "todoList", "todo_list")
_ITEM_TEXTS = ("content", "step", "description", "title", "subject", "text")
_STATES = {
    "completed": DONE, "complete": DONE, "done": DONE, "inprogress": DOING, "doing": DOING,
    "cancelled": DROPPED, "canceled": DROPPED, "deleted": DROPPED,
}  # fmt: skip
_BOXES = {"[ ]": OPEN, "[x]": DONE, "[X]": DONE, "[>]": DOING, "[-]": DROPPED, "[~]": DOING}
_BOX_WIDTH = 3
_MAX_ITEM = 160  # characters
_MAX_ITEMS = 30
_SEPARATOR = "; "
_CREATE_TASK, _UPDATE_TASK = "TaskCreate", "TaskUpdate"  # tools that write a list item by item
_MAX_CALL = 200  # characters: enough to recognise a command, too few for tool output
_MAX_RECENT = 8  # calls; agents rarely make more at once
_MAIN_ARGUMENTS = (
    "command", "cmd", "file_path", "filePath", "path", "pattern", "query", "url", "description", "prompt",
)  # fmt: skip


def describe_call(tool: str, arguments: Any) -> str:
    """Describe a tool call by its main argument or to-do list."""
    given = as_dict(arguments)
    if plan := format_plan(tool, given):
        return f"[{tool}] {plan}"
    main: Any = next((given[name] for name in _MAIN_ARGUMENTS if given.get(name)), "")
    if isinstance(main, list):
        main = " ".join(str(part) for part in main)
    line = f"[{tool}] {' '.join(_remove_commit_body(str(main)).split())}"
    # What told is asked would be found in place of the answer.
    return cut_at_word(shorten_lookup(line), _MAX_CALL).rstrip()


def is_failure(code: Any) -> bool:
    """Tell whether this is the exit code of a command that failed."""
    return isinstance(code, (int, float)) and not isinstance(code, bool) and code != 0


def format_plan(tool: str, given: dict[str, Any]) -> str:
    """Return the to-do list that a tool call writes, or ""."""
    if tool == _CREATE_TASK and isinstance(given.get("subject"), str):
        return _format_item(OPEN, given["subject"])
    if tool == _UPDATE_TASK and isinstance(given.get("status"), str):
        number = str(given.get("taskId", ""))
        return f"#{number} [{_parse_state(given['status'])}]" if number.isdigit() else ""
    found = next((given[name] for name in _LIST_ARGUMENTS if given.get(name)), None)
    if isinstance(found, str):
        return _SEPARATOR.join(_parse_checkboxes(found)[:_MAX_ITEMS])
    boxes = []
    for one in map(as_dict, as_list(found)[:_MAX_ITEMS]):
        words = next((one[name] for name in _ITEM_TEXTS if one.get(name)), "")
        if not as_text(words).strip() or not isinstance(one.get("status"), str):
            return ""  # an argument of the same name that is no to-do list
        boxes.append(_format_item(_parse_state(one["status"]), words))
    return _SEPARATOR.join(boxes)


def split_plan(line: str) -> tuple[str, str]:
    """Split a tool call's line from the to-do list it writes."""
    tool, bracket, rest = line.partition("] ")
    if not bracket or not tool.startswith("[") or tool == f"[{_CREATE_TASK}" or _parse_box(rest) is None:
        return line, ""
    return (f"{tool}]", PLAN_MARK + rest) if " " not in tool and "\n" not in line else (line, "")


def parse_plan(line: str) -> list[tuple[str, str]]:
    """Return the (state, words) of each item of a to-do list."""
    found: list[tuple[str, str]] = []
    for part in line.removeprefix(PLAN_MARK).split(_SEPARATOR):
        state = _parse_box(part)
        if state is not None:
            found.append((state, part[_BOX_WIDTH:].strip()))
        elif found:  # the item's own words contain the separator
            found[-1] = found[-1][0], f"{found[-1][1]}{_SEPARATOR}{part}"
    return found


def parse_tasks(lines: list[str]) -> list[tuple[str, str]]:
    """Return the (state, words) of a list written item by item."""
    found: list[tuple[str, str]] = []
    for line in lines:
        if line.startswith(f"[{_CREATE_TASK}] "):
            found += parse_plan(line.partition(" ")[2])[:1]
        elif line.startswith(f"[{_UPDATE_TASK}] #"):
            number, _, box = line.partition("#")[2].partition(" ")
            at, state = int(number) - 1 if number.isdigit() else -1, _parse_box(box)
            if 0 <= at < len(found) and state is not None:
                found[at] = state, found[at][1]
    return found


class RecentCalls:
    """The last tool calls of a reader, by id.

    Only ids are stored: a cursor must not contain what was said.
    """

    def __init__(self, saved: Any = None) -> None:
        """Continue from what `saved` returned."""
        pairs = (as_list(pair) for pair in as_list(saved))
        self._calls = [[as_text(pair[0]), as_text(pair[1])] for pair in pairs if len(pair) == 2][
            -_MAX_RECENT:
        ]

    def saved(self) -> list[list[str]]:
        """Return the calls as JSON."""
        return self._calls

    def add(self, session: str, call: str) -> None:
        """Add a call."""
        self._calls = [*self._calls, [session, call]][-_MAX_RECENT:]

    def end(self, session: str, call: str, at: int, how: str = FAILED) -> Iterator[Message]:
        """Yield how a call ended, and how many calls followed it."""
        own = [made for of, made in self._calls if of == session]
        if call and call in own:
            back = own[::-1].index(call)
            yield Message(session, AGENT, f"{how} {back} back" if back else how, at, form="step")


def _remove_commit_body(command: str) -> str:
    """Cut the body of a commit message, not the commands after it."""
    start = command.find("git commit")
    if start < 0:
        return command
    head, blank, body = command[start:].partition("\n\n")
    if not blank or not ("<<" in head or head.count('"') % 2 or head.count("'") % 2):
        return command
    end = max(body.rfind("\nEOF"), body.rfind('"'), body.rfind("'"))
    return f"{command[:start]}{head} ... {body[end:] if end >= 0 else ''}"


def _parse_state(status: str) -> str:
    return _STATES.get("".join(filter(str.isalpha, status.lower())), OPEN)


def _format_item(state: str, words: str) -> str:
    return f"[{state}] {cut_at_word(' '.join(words.split()), _MAX_ITEM).rstrip()}"


def _parse_box(text: str) -> str | None:
    return _BOXES.get(text[:_BOX_WIDTH])


def _parse_checkboxes(text: str) -> list[str]:
    """Return the items of a Markdown list with checkboxes."""
    lines = (line.strip().lstrip("-*+ ") for line in text.splitlines())
    return [
        _format_item(state, line[_BOX_WIDTH:]) for line in lines if (state := _parse_box(line)) is not None
    ]


_FILE_SCHEMES = ("file", "vscode-remote", "vscode-notebook-cell")
_TOOLS = {
    "read": "readfile read view viewfile readnotebook",
    "create": "createfile create write writefile writetofile createnewjupyternotebook",
    "delete": "deletefile delete deletepath removefile",
    "edit": """edit editfile insertedit inserteditintofile replacestring replacestringinfile
        multireplacestring multireplacestringinfile applypatch editnotebook editnotebookfile editfiles
        searchreplace strreplace strreplaceeditor multiedit multistrreplace replaceinfile insert insertline
        reapply applyagentdiff""",
}
_HOW = {name: how for how, names in _TOOLS.items() for name in names.split()}
_PATHS = (
    "filePath", "file_path", "path", "targetFile", "target_file", "relativeWorkspacePath", "uri",
    "target_notebook", "notebook_path", "filepath", "file", "rel_path", "abs_path",
)  # fmt: skip


def file_path(uri: Any) -> str:
    """Return the path of a file URI, or ""."""
    if isinstance(uri, dict):
        if get_text(uri, "scheme") not in ("", *_FILE_SCHEMES):
            return ""
        path = get_text(uri, "path", "fsPath")
        return _strip_slash(path) if path else file_path(get_text(uri, "external"))
    if not isinstance(uri, str) or "\n" in uri:
        return ""
    scheme, separator, _ = uri.partition("://")
    if not separator:
        return uri
    try:
        return _strip_slash(unquote(urlsplit(uri).path)) if scheme in _FILE_SCHEMES else ""
    except ValueError:
        return ""


def _strip_slash(path: str) -> str:
    """Turn `/c:/work`, as URIs write it, into `c:/work`."""
    return path[1:] if path[0:1] == "/" and path[2:3] == ":" else path


def workspace_folder(folder: str) -> str:
    """Return the project folder that `workspace.json` in an editor's storage folder names."""
    place = as_dict(read_json_file(os.path.join(folder, "workspace.json")))
    single = file_path(get_text(place, "folder"))
    if single:
        return single
    workspace = file_path(get_text(place, "workspace", "configuration"))
    return _first_folder(workspace) if workspace else ""


def _first_folder(workspace: str) -> str:
    """Return the first folder of a workspace file."""
    home = os.path.dirname(workspace)
    document = read_json_file(workspace)
    if isinstance(document, Problem):
        return home if workspace.endswith(".code-workspace") else ""
    for entry in get_dicts(document, "folders"):
        if path := get_text(entry, "path") or file_path(get_text(entry, "uri")):
            return os.path.normpath(os.path.join(home, path))
    return ""


def how_touched(tool: str) -> str:
    """Return "read", "edit", "create", "delete" or "" for a tool."""
    name = re.sub(r"[^a-z]", "", re.sub(r"_?v\d+$", "", tool.lower()))
    return _HOW.get(re.sub(r"^(?:copilot)?(?:vscode)?", "", name), "")


def parse_call(session: str, tool: str, arguments: Any, at: int, key: str = "") -> Iterator[Message | Touch]:
    """Yield one line about a tool call, then the files it touched."""
    files = _find_touched(tool, arguments)
    line = describe_call(tool, arguments)
    if files and line == f"[{tool}]":
        line = describe_call(tool, {"path": files[0][0]})
    yield Message(session, AGENT, line, at, key, "step")
    for path, how in files:
        yield Touch(session, path, how, at)


def _find_touched(tool: str, arguments: Any) -> list[tuple[str, str]]:
    given = as_dict(arguments)
    how = how_touched(tool)
    if not how:
        return []
    patch = next((given[name] for name in ("input", "patch") if isinstance(given.get(name), str)), "")
    if "*** " in patch:
        return patched_files(patch)
    calls = [given, *(as_dict(entry) for entry in get_list(given, "replacements"))]
    paths = (next((path for name in _PATHS if (path := file_path(call.get(name)))), "") for call in calls)
    return [(path, how) for path in dict.fromkeys(paths) if path]
