"""A checkpoint as Markdown: written so that people like to read and edit it, and read back without loss.

What is normal, and stays as it is from then on: no space around a text, an item or a value, no empty items,
titles and values in one line, and of control characters only line feeds and tabs. A line of a text that would
be read as a heading, or as the begin of code that nothing closes, and an item that would be read as a ticked
one, begin with a backslash.
"""

from __future__ import annotations

from told.guard.text import clean, one_line
from told.ingest.checkpoint_fences import fenced, opens
from told.ingest.checkpoint_items import items_in, written_items
from told.ingest.checkpoint_moment import read, storable, written
from told.model import AGENT, CLOSED, OPEN, TOOL, USER, Handover
from told.record import replaced
from told.store.ids import is_checkpoint_id, public_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

TITLE = 80  # characters of a title that is made of the goal
_MARK = "---"
_KEYS = ("agent", "session", "project", "folder", "branch")
_LISTS = {
    "Done": "done", "Pending": "pending", "Decisions": "decisions", "Files": "files", "Plans": "plans",
    "References": "references", "Open questions": "questions",
}  # fmt: skip
_TEXTS = {"Goal": "goal", "Notes": "notes"}
_FIELDS = {name.lower(): field for name, field in (_LISTS | _TEXTS).items()} | {"questions": "questions"}
_ENDED = ("closed", "done", "finished", "resolved")
_OTHER = "More"


def title_of(goal: str) -> str:
    """Return a title for a checkpoint to which nobody gave one."""
    return one_line(goal, TITLE)


def normal(handover: Handover) -> Handover:
    """Return a checkpoint as its file gives it back."""
    values: dict[str, Any] = {
        field: tuple(filter(None, (clean(item).strip() for item in getattr(handover, field))))
        for field in _LISTS.values()
    }
    goal = clean(handover.goal).strip()
    return replaced(
        handover, **values, **{key: _in_one_line(getattr(handover, key)) for key in _KEYS}, goal=goal,
        notes=clean(handover.notes).strip(),
        more=tuple((_in_one_line(name) or _OTHER, clean(text).strip()) for name, text in handover.more),
        title=_in_one_line(handover.title) or title_of(goal), status=_status(handover.status),
        id=handover.id if is_checkpoint_id(handover.id) else "", at=storable(handover.at),
        by=handover.by if handover.by in (USER, AGENT, TOOL) else AGENT,
    )  # fmt: skip


def text_of(handover: Handover) -> str:
    """Return a checkpoint as its file has it."""
    one = normal(handover)
    head = {"id": one.id, "status": one.status, **{key: getattr(one, key) for key in _KEYS}}
    head |= {"at": written(one.at) if one.at else "", "by": one.by}
    lines = [_MARK, *(f"{key}: {value}" for key, value in head.items() if value), _MARK, ""]
    lines += [f"# {one.title}", ""] if one.title else []
    lines += _section("Goal", one.goal) if one.goal else []
    for name, field in _LISTS.items():
        items = getattr(one, field)
        if items:
            lines += [f"## {name}", "", *written_items(items, "[ ] " if field == "pending" else ""), ""]
    lines += _section("Notes", one.notes) if one.notes else []
    for name, text in one.more:
        lines += _section(f"\\{name}" if _is_taken(name) else name, text)
    return "\n".join(lines)


def parsed(text: str, path: str = "", changed: int = 0) -> Handover:
    """Return the checkpoint that a text says, also after somebody edited it; it never fails.

    Args:
        text: Of the whole file.
        path: Of the file; where the text has no id, its name has one.
        changed: When the file was changed, in ms since 1970, for a text that has no time.
    """
    lines = clean(text).split("\n")
    head, at = _front(lines)
    title, sections = _sections(lines[at:])
    lists: dict[str, list[str]] = {field: [] for field in _LISTS.values()}
    texts: dict[str, list[str]] = {"goal": [], "notes": []}
    more = []
    for name, body in sections:
        field = _field(name)
        if field in lists:
            for is_ticked, item in items_in(body):
                lists["done" if field == "pending" and is_ticked else field].append(item)
        elif field:
            texts[field].append(_plain(body))
        elif name or _plain(body):
            more.append((name, _plain(body)))
    stray = [one for one in more if not one[0]]
    if stray:  # stands before the first heading
        more.remove(stray[0])
        texts["notes" if any(texts["goal"]) else "goal"].insert(0, stray[0][1])
    values: dict[str, Any] = {key: head.get(key, "") for key in _KEYS}
    values |= {field: tuple(items) for field, items in lists.items()}
    found = Handover(
        goal=_joined(texts["goal"]), notes=_joined(texts["notes"]), more=tuple(map(_named, more)),
        title=title, status=head.get("status", OPEN), id=_id(head.get("id", ""), path),
        at=read(head.get("at", "")) or changed, by=head.get("by", AGENT), **values,
    )  # fmt: skip
    return normal(found)


def id_in_name(path: str) -> str:
    """Return the id at the end of a file's name; empty if there is none."""
    found = path.replace("\\", "/").rpartition("/")[2].removesuffix(".md").rpartition("-")[2]
    return found if is_checkpoint_id(found) else ""


def front_lines(lines: list[str]) -> tuple[int, int]:
    """Return the first and the last but one of the lines that say what the file is; (0, 0) if none do."""
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if not lines or lines[first].rstrip() != _MARK:
        return 0, 0
    for at in range(first + 1, len(lines)):
        if lines[at].rstrip() == _MARK:
            return first + 1, at
        if not _key(lines[at]) and lines[at].strip():
            break  # the mark that ends them was taken away
    else:
        at = len(lines)
    return first + 1, at


def _front(lines: list[str]) -> tuple[dict[str, str], int]:
    """Return what stands before the text, by name, and where the text begins."""
    begin, end = front_lines(lines)
    found: dict[str, str] = {}
    for line in lines[begin:end]:
        name, _, value = line.partition(":")
        found.setdefault(name.strip().lower(), value.strip())
    closed = end < len(lines) and bool(begin) and lines[end].rstrip() == _MARK
    return found, end + closed


def _key(line: str) -> str:
    name, colon, _ = line.partition(":")
    return name if colon and name.strip().replace("_", "").replace("-", "").isalnum() else ""


def _sections(lines: list[str]) -> tuple[str, list[tuple[str, list[str]]]]:
    """Return the title, and the headings with the lines below them; what stands before has no heading."""
    title = ""
    sections: list[tuple[str, list[str]]] = [("", [])]
    for line, is_code in zip(lines, fenced(lines, _is_own_heading), strict=True):
        if _is_own_heading(line) or (not is_code and _is_heading(line)):
            sections.append((line[2:].strip(), []))
        elif not title and len(sections) == 1 and line.startswith("# "):
            title = line[2:].strip()
        else:
            sections[-1][1].append(line)
    return title, sections


def _is_heading(line: str) -> bool:
    return line.startswith("##") and line[2:3] in ("", " ", "\t")


def _is_own_heading(line: str) -> bool:
    """Tell whether a line is a heading of told's, which ends everything before it."""
    return _is_heading(line) and bool(_field(line[2:].strip()))


def _field(name: str) -> str:
    return _FIELDS.get(name.rstrip("# \t:").lower(), "")


def _is_taken(name: str) -> bool:
    """Tell whether a heading of somebody's own would be read as one of told's."""
    return bool(_field(name)) or name.startswith("\\")


def _named(section: tuple[str, str]) -> tuple[str, str]:
    name, text = section
    return (name[1:] if name.startswith("\\") and _is_taken(name[1:]) else name), text


def _section(name: str, text: str) -> list[str]:
    return [f"## {name}", "", *(_escaped(text.split("\n"))), ""] if text else [f"## {name}", ""]


def _escaped(lines: list[str]) -> Iterator[str]:
    """Yield lines that are read as text."""
    for line, is_code in zip(lines, fenced(lines), strict=True):
        yield f"\\{line}" if _would_mislead(line.lstrip("\\"), is_code) else line


def _plain(lines: list[str]) -> str:
    """Return the text that some lines say."""
    found = [
        line[1:] if line.startswith("\\") and _would_mislead(line.lstrip("\\"), is_code) else line
        for line, is_code in zip(lines, fenced(lines), strict=True)
    ]
    return "\n".join(found).strip()


def _would_mislead(line: str, is_code: bool) -> bool:
    return _is_own_heading(line) if is_code else _is_heading(line) or bool(opens(line))


def _joined(texts: Iterable[str]) -> str:
    return "\n\n".join(filter(None, texts))


def _in_one_line(text: str) -> str:
    return " ".join(filter(None, (line.strip() for line in clean(text).split("\n"))))


def _status(status: str) -> str:
    return CLOSED if status.strip(" \t\"'.").lower() in _ENDED else OPEN


def _id(given: str, path: str) -> str:
    """Return a file's id: it says so itself, or its name does, or it is made of its name."""
    given = given.strip("\"'")
    if is_checkpoint_id(given) or not path:
        return given
    return id_in_name(path) or public_id("c", path.replace("\\", "/").rpartition("/")[2], length=9)
