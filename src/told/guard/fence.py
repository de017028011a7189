"""Fences what others wrote, so that a reading agent can tell it from what told itself says."""

from __future__ import annotations

from _blake2 import blake2s

from told.guard.text import clean

_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
_MARK = 5
_EXACT = frozenset(("agent", "tool", "user"))
_TEAM = "team"
_NAME_LENGTH = 60
_HARMLESS_BRACKET = "\u2039"
# Around all that told hands to an agent, so that it is known again wherever the agent keeps it.
OPENING, CLOSING = "<told>", "</told>"
# What may be taken for these, and the bracket that makes it so.
_LOOK_ALIKES = {b"<told": b"<", b"</told": b"<", b"&lt;told": b"&lt;", b"&lt;/told": b"&lt;"}
_ESCAPED_OPENING, _ESCAPED_CLOSING = "&lt;told&gt;", "&lt;/told&gt;"  # as some agents keep it


class Fence:
    """Puts text between two tags that carry a mark nobody outside can guess.

    The mark is a keyed hash of the text: the same for the same text, so that output stays reproducible.
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
        body = _defanged(text)
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
        return "".join(_LETTERS[number >> shift & 31] for shift in range(0, 5 * _MARK, 5))


def enclosed(text: str) -> str:
    """Return what told says between its own tags; what looks like one of them within it ends nothing."""
    data = text.encode("utf-8", "replace")
    for tag, bracket in _LOOK_ALIKES.items():
        at = data.lower().rfind(tag)  # bytes: only plain letters change, and each stays in its place
        while at >= 0:
            data = data[:at] + _HARMLESS_BRACKET.encode() + data[at + len(bracket) :]
            at = data.lower().rfind(tag, 0, at)
    return f"{OPENING}\n{data.decode()}\n{CLOSING}"


def without(text: str, opening: str = OPENING, closing: str = CLOSING) -> str:
    """Return the text without what stands between two tags, and without these; by default all that told said.

    An opening tag without its closing tag is left as it is.
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
    """Return the text without what stands between told's tags, and without these tags.

    An opening tag without its closing tag is left as it is.
    """
    text = without(without(text), _ESCAPED_OPENING, _ESCAPED_CLOSING)
    tags = [(start, end, text[start + 1 : end - 1]) for start, end in _tags(text)]
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


def _defanged(text: str) -> str:
    """Replace the bracket of all that looks like a tag of ours; nothing is removed, so none can re-form."""
    kept = []
    at = 0
    # Our own closing tag comes next: what the text leaves open must not swallow it.
    for start, _ in _tags(f"{text}</agent {_LETTERS[:_MARK]}>"):
        kept.append(text[at:start])
        at = start + 1
    return _HARMLESS_BRACKET.join(kept)


def _tags(text: str) -> list[tuple[int, int]]:
    """Return where each fence tag, or what a careless reader may take for one, begins and ends."""
    found = []
    start = text.find("<")
    end = -1
    while start >= 0:
        if end < start:
            end = text.find(">", start)
            if end < 0:
                break  # no tag is closed from here on
        if _marked(text, end) and _named(text, start, end):
            found.append((start, end + 1))
        start = text.find("<", start + 1)
    return found


def _marked(text: str, end: int) -> bool:
    """Tell whether a mark stands before the closing bracket."""
    tail = text[max(0, end - 40) : end].rstrip()
    mark = tail[-_MARK:].lower()
    return len(tail) > _MARK and tail[-_MARK - 1].isspace() and all(letter in _LETTERS for letter in mark)


def _named(text: str, start: int, end: int) -> bool:
    """Tell whether the tag from `start` to `end` has the name of a fence."""
    words = text[start + 1 : min(end, start + 80)].lower().replace("/", " ", 1).split()
    return words[0].startswith(_TEAM) or (words[0] in _EXACT and len(words) == 2)


def _tag_name(trust: str) -> str:
    """Return a name for the tag; a team member's name is foreign text as well."""
    if trust in _EXACT:
        return trust
    if not trust.startswith(_TEAM):
        return "tool"
    plain = "".join(letter if letter.isalnum() or letter in "-_.@" else " " for letter in clean(trust))
    return " ".join(plain.split())[:_NAME_LENGTH].rstrip()
