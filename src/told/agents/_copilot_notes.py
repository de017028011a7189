"""The small files beside a Copilot session's events: workspace.yaml, plan.md and its checkpoints."""

from __future__ import annotations

import os
import re

from told.agents.text import millis, text
from told.guard.cutting import whole_words
from told.guard.files import NotReadableError, read_document
from told.guard.jsonl import parse
from told.model import AGENT, USER, Checkpoint, Facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# A note longer than this was not written to be read.
_MAX_NOTE = 1024 * 1024
_MAX_NOTES = 500

_SECTIONS = ("overview", "history", "work_done", "technical_details", "important_files", "next_steps")
_SECTION = re.compile(rf"<({'|'.join(_SECTIONS)})>\s*(.*?)\s*</\1>", re.DOTALL)
_TITLE = re.compile(r"<checkpoint_title>\s*(.*?)\s*</checkpoint_title>", re.DOTALL)
_FILE = re.compile(r"0*(\d{1,6})[-_. ].*\.md$|0*(\d{1,6})\.md$")
_KEY = re.compile(r"([A-Za-z_][\w-]*):(?:\s+(.*))?$")


def workspace(folder: str, session: str) -> Iterator[Facts]:
    """Yield what a session folder's workspace.yaml says of the session."""
    said = flat_yaml(_note(os.path.join(folder, "workspace.yaml")))
    facts = Facts(
        session,
        cwd=said.get("cwd") or said.get("git_root", ""),
        branch=said.get("branch", ""),
        repository=said.get("repository", ""),
        title=said.get("name") or said.get("summary", ""),
        title_by=USER if said.get("user_named") == "true" else AGENT,
        started=millis(said.get("created_at")),
    )
    if facts != Facts(session, title_by=facts.title_by):
        yield facts


def checkpoints(folder: str, session: str) -> Iterator[Checkpoint]:
    """Yield a session folder's plan, as number 0, and its numbered checkpoints."""
    plan = os.path.join(folder, "plan.md")
    if overview := _note(plan).strip():
        yield Checkpoint(session, 0, "Plan", overview, _changed(plan))
    below = os.path.join(folder, "checkpoints")
    titles = _titles(_note(os.path.join(below, "index.md")))
    for number, name in sorted(_numbered(below).items()):
        path = os.path.join(below, name)
        written = checkpoint(session, number, titles.get(number, ""), _note(path), _changed(path))
        if written:
            yield written


def has_checkpoint(folder: str, number: int) -> bool:
    """Whether a session folder holds the checkpoint of that number as a file."""
    return number in _numbered(os.path.join(folder, "checkpoints"))


def checkpoint(session: str, number: int, title: str, content: str, at: int) -> Checkpoint | None:
    """Take a checkpoint's text apart into its sections; text without any is its overview."""
    if not content.strip():
        return None
    sections = {name: body for name, body in _SECTION.findall(content) if body}
    overview = sections.pop("overview", "") or ("" if sections else content.strip())
    named = _TITLE.search(content)
    title = title or (named[1] if named else "") or _first_line(overview)
    return Checkpoint(session, number, title, overview, at, **sections)


def flat_yaml(content: str) -> dict[str, str]:
    """Read the `key: value` lines at the left edge; what is nested below a key is left out."""
    found: dict[str, str] = {}
    block = ""
    for line in content.splitlines():
        if block and (not line.strip() or line[0] in " \t"):
            found[block] = f"{found[block]}\n{line.strip()}".strip("\n")
            continue
        block = ""
        match = _KEY.match(line)
        if not match:
            continue
        key, value = match[1], (match[2] or "").strip()
        if re.fullmatch(r"[|>][-+\d]*", value):
            block, value = key, ""
        found[key] = _scalar(value)
    return {key: value.rstrip() for key, value in found.items()}


def _scalar(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] == "'":
        return value[1:-1].replace("''", "'")
    if len(value) > 1 and value[0] == value[-1] == '"':
        parsed = parse(f"[{value}]")
        return text(parsed[0]) if isinstance(parsed, list) and parsed else value[1:-1]
    value = re.split(r"(?:^|\s)#", value, maxsplit=1)[0].rstrip()
    return "" if value in {"null", "~"} else value


def _titles(index: str) -> dict[int, str]:
    """Read the titles from the rows of the table in checkpoints/index.md."""
    titles = {}
    for line in index.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) >= 2 and cells[0].isascii() and cells[0].isdigit() and len(cells[0]) <= 6:
            titles[int(cells[0])] = cells[1]
    return titles


def _numbered(folder: str) -> dict[int, str]:
    found: dict[int, str] = {}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                match = _FILE.match(entry.name)
                if match and entry.is_file(follow_symlinks=False) and len(found) < _MAX_NOTES:
                    found[int(match[1] or match[2])] = entry.name
    except (OSError, ValueError):
        return {}
    return found


def _note(path: str) -> str:
    if os.path.islink(path):
        return ""
    try:
        return read_document(path, _MAX_NOTE).decode(errors="replace").removeprefix("\ufeff")
    except NotReadableError:
        return ""


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns // 1_000_000
    except OSError:
        return 0


def _first_line(content: str) -> str:
    line = next((line.strip("# \t") for line in content.splitlines() if line.strip("# \t")), "")
    return whole_words(line, 120)
