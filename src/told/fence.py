"""Mark text that told quotes, so that agents can tell who wrote it."""

from __future__ import annotations

import re

from told.hashing import blake2s
from told.text import clean

_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
_MARK_LENGTH = 5
_TRUST_NAMES = frozenset(("agent", "tool", "user"))
_TEAM = "team"
_NAME_LENGTH = 60
_HARMLESS_BRACKET = "\u2039"
# Around everything that told gives to an agent, to recognise it in the agent's files.
OPENING, CLOSING = "<told>", "</told>"
# Text that looks like these tags, and its bracket.
_LOOK_ALIKES = {b"<told": b"<", b"</told": b"<", b"&lt;told": b"&lt;", b"&lt;/told": b"&lt;"}
_ESCAPED_OPENING, _ESCAPED_CLOSING = "&lt;told&gt;", "&lt;/told&gt;"  # as some agents store them
_FENCED = re.compile(r"<(agent|tool|user|team[^<>]{0,80}) ([a-z2-7]{5})>.*?</\1 \2>", re.DOTALL)


class Fence:
    """Puts text between tags with a mark that cannot be guessed.

    The mark is a keyed hash of the text, so that the output is reproducible.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def block(self, text: str, trust: str = "agent") -> str:
        """Fence text on lines of its own."""
        return self._fence(clean(text).strip("\n"), trust, "\n")

    def inline(self, text: str, trust: str = "agent") -> str:
        """Fence text on one line."""
        return self._fence(" ".join(clean(text).split()), trust, "")

    def _fence(self, text: str, trust: str, gap: str) -> str:
        body = _defuse_tags(text)
        name = _tag_name(trust)
        mark = self._mark(body, 0)
        attempt = 0
        while mark in body:
            attempt += 1
            mark = self._mark(body, attempt)
        return f"<{name} {mark}>{gap}{body}{gap}</{name} {mark}>"

    def _mark(self, body: str, attempt: int) -> str:
        salt = attempt.to_bytes(8, "little")
        number = int.from_bytes(blake2s(body.encode(), key=self._key, salt=salt, digest_size=4).digest())
        return "".join(_LETTERS[number >> shift & 31] for shift in range(0, 5 * _MARK_LENGTH, 5))


class PlainFence(Fence):
    """Leaves text without tags, for a person at a terminal."""

    def __init__(self) -> None:
        super().__init__(b"")

    def _fence(self, text: str, trust: str, gap: str) -> str:  # noqa: ARG002 - as a fence is called
        return text


def wrap_in_tags(text: str) -> str:
    """Put told's own text between its tags; defuse such tags inside of it."""
    data = text.encode("utf-8", "replace")
    for tag, bracket in _LOOK_ALIKES.items():
        at = data.lower().rfind(tag)  # bytes: lower() changes only ASCII and no length
        while at >= 0:
            data = data[:at] + _HARMLESS_BRACKET.encode() + data[at + len(bracket) :]
            at = data.lower().rfind(tag, 0, at)
    return f"{OPENING}\n{data.decode()}\n{CLOSING}"


def remove_fenced(text: str) -> str:
    """Remove what stands between fences."""
    return _FENCED.sub(" ", text)


def remove_between(text: str, opening: str = OPENING, closing: str = CLOSING) -> str:
    """Remove the text between two tags, and the tags; by default told's own.

    An opening tag remove_between its closing tag is left as it is.
    """
    start = text.find(opening)
    while start >= 0:
        end = text.find(closing, start)
        if end < 0:
            break
        text = text[:start] + text[end + len(closing) :]
        start = text.find(opening, start)
    return text


def strip_fenced(text: str) -> str:
    """Remove everything between told's tags and fences.

    An opening tag remove_between its closing tag is left as it is.
    """
    text = remove_between(remove_between(text), _ESCAPED_OPENING, _ESCAPED_CLOSING)
    tags = [(start, end, text[start + 1 : end - 1]) for start, end in _find_tags(text)]
    closing: dict[str, int] = {}
    pairs: dict[int, int] = {}
    for start, end, inner in reversed(tags):
        if inner.startswith("/"):
            closing[inner[1:]] = end
        elif inner in closing:
            pairs[start] = closing[inner]
    kept = []
    at = 0
    for start, end in sorted(pairs.items()):
        if start >= at:
            kept.append(text[at:start])
            at = end
    return "".join(kept) + text[at:]


def _defuse_tags(text: str) -> str:
    """Replace the bracket of fence tags; no text is removed that could join others."""
    kept = []
    at = 0
    # A tag that the text leaves open must not swallow our closing tag.
    for start, _ in _find_tags(f"{text}</agent {_LETTERS[:_MARK_LENGTH]}>"):
        kept.append(text[at:start])
        at = start + 1
    return _HARMLESS_BRACKET.join(kept)


def _find_tags(text: str) -> list[tuple[int, int]]:
    """Return the spans of fence tags and of text that looks like one."""
    found = []
    start = text.find("<")
    end = -1
    while start >= 0:
        if end < start:
            end = text.find(">", start)
            if end < 0:
                break  # no tag is closed from here on
        if _has_mark(text, end) and _has_fence_name(text, start, end):
            found.append((start, end + 1))
        start = text.find("<", start + 1)
    return found


def _has_mark(text: str, end: int) -> bool:
    """Return whether a mark is before the closing bracket."""
    tail = text[max(0, end - 40) : end].rstrip()
    mark = tail[-_MARK_LENGTH:].lower()
    return (
        len(tail) > _MARK_LENGTH
        and tail[-_MARK_LENGTH - 1].isspace()
        and all(letter in _LETTERS for letter in mark)
    )


def _has_fence_name(text: str, start: int, end: int) -> bool:
    """Return whether the tag from `start` to `end` has the name of a fence."""
    words = text[start + 1 : min(end, start + 80)].lower().replace("/", " ", 1).split()
    return words[0].startswith(_TEAM) or (words[0] in _TRUST_NAMES and len(words) == 2)


def _tag_name(trust: str) -> str:
    """Return the name of the tag; names of team members are cleaned."""
    if trust in _TRUST_NAMES:
        return trust
    if not trust.startswith(_TEAM):
        return "tool"
    plain = "".join(letter if letter.isalnum() or letter in "-_.@" else " " for letter in clean(trust))
    return " ".join(plain.split())[:_NAME_LENGTH].rstrip()
