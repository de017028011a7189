"""SpecStory: Markdown copies of other agents' sessions, kept in the project they are about."""

from __future__ import annotations

import os
import re

from told.agents._specstory_turns import turns
from told.agents.base import Agent, Layout
from told.agents.text import millis
from told.guard.files import NotReadableError, read_document
from told.model import Begin, Cursor, Event, Facts, Mark, Problem, Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADER_LINES = 12
_HEADER_WIDTH = 500
_SESSION = re.compile(r"<!--.*?\bSession ([0-9A-Za-z][0-9A-Za-z_-]{7,63})(?: \(([^)]{10,40})\))?.*-->")
_HEADING = re.compile(r"# (.+?)(?: \((\d{4}-\d\d-\d\d[^)]*)\))?\s*")
_DATE = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d")
_FILE_NAME = re.compile(r"(\d{4}-\d\d-\d\d)_(\d\d)-(\d\d)(?:-(\d\d))?(Z|[+-]\d{4})?.*")


def read(source: Source, _cursor: Cursor) -> Iterator[Event | Problem]:
    """Yield the whole session of a file."""
    try:
        content = read_document(source.path)
    except NotReadableError as error:
        yield Problem(0, str(error))
        return
    markdown = content.decode("utf-8", errors="replace").removeprefix("\ufeff")
    lines = markdown.replace("\r\n", "\n").split("\n")
    known = _facts(source.path, [line[:_HEADER_WIDTH] for line in lines[:_HEADER_LINES]])
    yield Begin(known.session)
    yield known
    yield from turns(known, lines)
    yield Mark(Cursor(len(content)))


def _facts(path: str, header: list[str]) -> Facts:
    name = os.path.basename(path).removesuffix(".md")
    session, started, title = name, 0, ""
    for line in header:
        if line.startswith("_**"):
            break
        if found := _SESSION.search(line):
            session, started = found[1], millis(found[2]) or started
        elif (heading := _HEADING.fullmatch(line)) and not title:
            started = started or millis(heading[2] or heading[1])
            title = "" if _DATE.match(heading[1]) else heading[1].strip()
    folder = os.path.dirname(os.path.dirname(os.path.dirname(path)))
    return Facts(session, cwd=folder, title=title, started=started or _named_time(name))


def _named_time(name: str) -> int:
    found = _FILE_NAME.fullmatch(name)
    return millis(f"{found[1]}T{found[2]}:{found[3]}:{found[4] or '00'}{found[5] or 'Z'}") if found else 0


AGENT = Agent(
    name="specstory",
    title="SpecStory",
    label="specstory",
    read=read,
    in_projects=(Layout(".specstory/history/*.md"),),
    seen_run=False,
    advice="Run specstory sync in a project once; it writes the sessions into .specstory/history.",
)
