"""An agent's own list of what to do: a line about the call that wrote it, and at the end of a turn's steps.

`[TodoWrite] [x] Read the code; [>] Write the fix; [ ] Run the tests` and
`plan: [x] Read the code; [>] Write the fix; [ ] Run the tests`.
"""

from __future__ import annotations

from told.guard.cutting import whole_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MARK = "plan: "
OPEN, DOING, DONE, DROPPED = " ", ">", "x", "-"
_LISTS = ("todos", "plan", "todoList", "todo_list")
_TEXTS = ("content", "step", "description", "title", "subject", "text")
_STATES = {
    "completed": DONE, "complete": DONE, "done": DONE, "inprogress": DOING, "doing": DOING,
    "cancelled": DROPPED, "canceled": DROPPED, "deleted": DROPPED,
}  # fmt: skip
_BOXES = {"[ ]": OPEN, "[x]": DONE, "[X]": DONE, "[>]": DOING, "[-]": DROPPED, "[~]": DOING}
_BOX = 3  # characters
_ITEM = 160
_MOST = 30  # items
_BETWEEN = "; "
_NEW_TASK, _SAME_TASK = "TaskCreate", "TaskUpdate"  # a list that is written item by item


def plan_of(tool: str, given: dict[str, Any]) -> str:
    """Return the list that a tool call writes, on one line; nothing if it writes none."""
    if tool == _NEW_TASK and isinstance(given.get("subject"), str):
        return _box(OPEN, given["subject"])
    if tool == _SAME_TASK and isinstance(given.get("status"), str):
        number = str(given.get("taskId", ""))
        return f"#{number} [{_state(given['status'])}]" if number.isdigit() else ""
    found = next((given[name] for name in _LISTS if given.get(name)), None)
    if isinstance(found, str):
        return _BETWEEN.join(_ticked(found)[:_MOST])
    if not isinstance(found, list):
        return ""
    boxes = []
    for one in found[:_MOST]:
        words = next((one[name] for name in _TEXTS if one.get(name)), "") if isinstance(one, dict) else ""
        if not isinstance(words, str) or not words.strip() or not isinstance(one.get("status"), str):
            return ""  # something else that is called so
        boxes.append(_box(_state(one["status"]), words))
    return _BETWEEN.join(boxes)


def apart(line: str) -> tuple[str, str]:
    """Return a line about a tool call without the list that it writes, and that list as a line of its own."""
    tool, bracket, rest = line.partition("] ")
    if not bracket or not tool.startswith("[") or tool == f"[{_NEW_TASK}" or _box_of(rest) is None:
        return line, ""
    return (f"{tool}]", MARK + rest) if " " not in tool and "\n" not in line else (line, "")


def items_of(line: str) -> list[tuple[str, str]]:
    """Return the (state, words) of each item of a list."""
    found: list[tuple[str, str]] = []
    for part in line.removeprefix(MARK).split(_BETWEEN):
        state = _box_of(part)
        if state is not None:
            found.append((state, part[_BOX:].strip()))
        elif found:  # the words themselves have what stands between items
            found[-1] = found[-1][0], f"{found[-1][1]}{_BETWEEN}{part}"
    return found


def tasks_of(lines: list[str]) -> list[tuple[str, str]]:
    """Return the (state, words) of a list that was written item by item; they are counted from 1."""
    found: list[tuple[str, str]] = []
    for line in lines:
        if line.startswith(f"[{_NEW_TASK}] "):
            found += items_of(line.partition(" ")[2])[:1]
        elif line.startswith(f"[{_SAME_TASK}] #"):
            number, _, box = line.partition("#")[2].partition(" ")
            at, state = int(number) - 1 if number.isdigit() else -1, _box_of(box)
            if 0 <= at < len(found) and state is not None:
                found[at] = state, found[at][1]
    return found


def _state(status: str) -> str:
    return _STATES.get("".join(filter(str.isalpha, status.lower())), OPEN)


def _box(state: str, words: str) -> str:
    return f"[{state}] {whole_words(' '.join(words.split()), _ITEM).rstrip()}"


def _box_of(text: str) -> str | None:
    return _BOXES.get(text[:_BOX])


def _ticked(text: str) -> list[str]:
    """Return the items of a list in Markdown with boxes to tick."""
    lines = (line.strip().lstrip("-*+ ") for line in text.splitlines())
    return [_box(state, line[_BOX:]) for line in lines if (state := _box_of(line)) is not None]
