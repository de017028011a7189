"""Puts a paragraph into a Markdown text between marks; a paragraph that the user changed is the user's."""

from __future__ import annotations

import hashlib
import re

from told.setup._foreign_edit import EDITED, MISSING, THERE, Edit, newline_of, put_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.agents.wiring import Block

VERSION = 1
_BEGIN = re.compile(r"<!-- told:begin (\d+) ([0-9a-f]{8}) -->\r?\n")
_END = "<!-- told:end -->"
_ANY_MARK = re.compile(r"<!-- told:(?:begin\b|end )")
UNEDITED = "unedited"  # told's, as it was written, with an older text


def state(text: str, change: Block) -> str:
    """Tell whether the paragraph is there, missing, told's with another text, or changed by the user."""
    found = _span(text)
    if found is None:
        return EDITED if _ANY_MARK.search(text) else MISSING
    inside, checksum = found[2], found[3]
    if _checksum(inside) != checksum:
        return EDITED
    return THERE if inside == _plain(change.text) else UNEDITED


def insert(text: str, change: Block) -> Edit:
    """Return the text with the paragraph at its end."""
    newline = newline_of(text)
    before = ""
    if text.strip():
        before = newline if text.endswith("\n") else newline * 2
        before = "" if text.endswith(("\n\n", "\n\r\n")) else before
    return put_in(text, [(len(text), before + _written(change, newline) + newline)])


def replace(text: str, change: Block) -> str:
    """Return the text with the new paragraph in the place of the old."""
    found = _span(text)
    if found is None:
        return text
    return text[: found[0]] + _written(change, newline_of(text)) + text[found[1] :]


def strip(text: str) -> str:
    """Return the text without an unedited paragraph, and without the empty line that came with it."""
    found = _span(text)
    if found is None or _checksum(found[2]) != found[3]:
        return text
    before, after = text[: found[0]], text[found[1] :]
    after = after.removeprefix("\r\n") if after.startswith("\r") else after.removeprefix("\n")
    for newline in ("\r\n", "\n"):
        if before.endswith(newline * 2) or before == newline:
            return before.removesuffix(newline) + after
    return before + after


def _written(change: Block, newline: str) -> str:
    inside = _plain(change.text)
    lines = [f"<!-- told:begin {VERSION} {_checksum(inside)} -->", *inside.split("\n"), _END]
    return newline.join(lines)


def _span(text: str) -> tuple[int, int, str, str] | None:
    begin = _BEGIN.search(text)
    if begin is None:
        return None
    end = text.find(_END, begin.end())
    if end < 0:
        return None
    return begin.start(), end + len(_END), _plain(text[begin.end() : end]), begin[2]


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").strip("\n")


def _checksum(inside: str) -> str:
    return hashlib.sha256(inside.encode()).hexdigest()[:8]
