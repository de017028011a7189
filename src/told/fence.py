"""Mark text that told quotes, so that agents can tell who wrote it."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any, NamedTuple

from told.hashing import blake2s
from told.pattern import lazy_pattern
from told.tables import load_table
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
_FENCED = lazy_pattern(r"<(agent|tool|user|team[^<>]{0,80}) ([a-z2-7]{5})>.*?</\1 \2>", re.DOTALL)


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

    def plain(self, text: str) -> str:
        """Put the user's own text on one line, without a fence; only its tags are defused."""
        return self.defuse(" ".join(clean(text).split()))

    def defuse(self, text: str) -> str:
        """Defuse told's tags and those of agents' protocols."""
        return defuse_tags(_defuse_fences(text), own=True)

    def _fence(self, text: str, trust: str, gap: str) -> str:
        body = self.defuse(text)
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

    def plain(self, text: str) -> str:
        """Return text as it is."""
        return text

    def defuse(self, text: str) -> str:
        """Return text as it is."""
        return text

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


def _defuse_fences(text: str) -> str:
    """Replace the bracket of fence tags; no text is removed that could join others."""
    kept = []
    at = 0
    # A tag that the text leaves open must not swallow our closing tag.
    for start, _ in _find_tags(f"{text}</agent {_LETTERS[:_MARK_LENGTH]}>"):
        kept.append(text[at:start])
        at = start + 1
    return _HARMLESS_BRACKET.join(kept)


# A bracket, plain, as an entity, or escaped in JSON or an address; then what may stand before the name.
_BRACKET = r"<|&(?:amp;)*(?:lt|#0*60|#x0*3c);?|%(?:25)*3c|\\u003c|\\u\{0*3c\}|\\x3c|\\0?74"
_TAG = lazy_pattern(
    rf"(?P<bracket>{_BRACKET})(?P<gap>(?:[^\w<&%\u2039]|&(?:\#47|\#x2f|sol);|%2f|%|_){{0,8}}?)(?P<name>[^\W_][\w:.-]{{0,60}})",
    re.IGNORECASE,
)
_PLAIN_GAP = lazy_pattern(r"(?:[\s/\\!?|]|&[^;]*;|%2f)*", re.IGNORECASE)
_CLOSED = lazy_pattern(
    r"[\s/\\?|]{0,8}(?:>|&(?:amp;)*(?:gt|#0*62|#x0*3e)\b|%3e|\\u003e|\\x3e)", re.IGNORECASE
)
_ATTRIBUTE = lazy_pattern(r"\s{1,8}[\w:.-]{1,60}\s{0,8}=|=")
_SECOND_NAME = lazy_pattern(r"[-_]?\s{1,8}(\w[\w-]{0,60})")
# Characters that are not seen, beside those that `clean` removes.
_UNSEEN = frozenset(
    map(chr, (*range(0x300, 0x370), 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0xFE00, 0xFE10)))
)
_SQUARE = r"\[|&(?:#91|#x5b|lbrack|lsqb);"
_MAY_BE_BRACKET = lazy_pattern(f"{_BRACKET}|{_SQUARE}", re.IGNORECASE)
_COMPATIBLE = ((0x24B6, 0x24EA), (0xFE50, 0xFE6C), (0xFF01, 0xFF5F), (0x1D400, 0x1D800))


class _Names(NamedTuple):
    """The names of the tags in `fence.toml`, without - and _."""

    own: frozenset[str]
    long: frozenset[str]  # of several parts: nothing else is called so
    short: frozenset[str]
    prefixes: tuple[str, ...]
    tokens: frozenset[str]  # between <| and |>
    bracketed: re.Pattern[str]


@cache
def _load_names() -> _Names:
    data = load_table(__file__)
    names = [name for table in ("agents", "models") for row in data[table].values() for name in row.split()]
    plain = [name for name in names if name[0] != "|" and name[-1] != "*"]
    long = {name for name in plain if name.lower() != name or "-" in name or "_" in name or name[-1] == "#"}
    bracketed = "|".join(row.replace(" ", "|") for row in data["brackets"].values())
    return _Names(
        frozenset(data["told"]["own"].split()),
        frozenset(map(_join_name, long)),
        frozenset(map(_join_name, set(plain) - long)),
        tuple(name[:-1] for name in names if name[-1] == "*"),
        frozenset(_join_name(name[1:]) for name in names if name[0] == "|"),
        lazy_pattern(rf"(?:{_SQUARE})(?=\s{{0,8}}/?\s{{0,8}}(?:{bracketed})\s{{0,8}}[\]&])|(?<=\])<(?=\])"),
    )


@cache
def _load_signs() -> dict[int, str]:
    """Return which character others look like."""
    import unicodedata  # noqa: PLC0415 - only for text that is not ASCII

    signs: dict[int, str] = {}
    for first, end in _COMPATIBLE:
        signs |= {
            code: plain
            for code in range(first, end)
            if len(plain := unicodedata.normalize("NFKC", chr(code))) == 1
        }
    return signs | {ord(sign): row[0] for row in load_table(__file__)["signs"]["alike"] for sign in row[1:]}


def _join_name(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


def defuse_tags(text: str, *, own: bool = False) -> str:
    """Replace the bracket of every tag of an agent's protocol, with `own` also of told's tags.

    Applied again, it changes nothing. Other markup and code stays as it is.
    """
    seen, places = text, range(len(text))
    if not text.isascii():
        seen = text.translate(_load_signs())
        if not _UNSEEN.isdisjoint(seen):
            places = [place for place, sign in enumerate(seen) if sign not in _UNSEEN]  # type: ignore[assignment]
            seen = "".join(seen[place] for place in places)
    if not _MAY_BE_BRACKET.search(seen):
        return text
    spans = [match.span() for match in _load_names().bracketed.finditer(seen)]
    spans += _find_protocol_tags(seen, own=own)
    kept, at = [], 0
    for start, end in sorted(spans):
        kept.append(text[at : places[start]])
        at = places[end - 1] + 1
    return _HARMLESS_BRACKET.join([*kept, text[at:]])


def defuse_values(value: Any) -> Any:
    """Defuse the tags of agents' protocols in every text of a JSON value."""
    if isinstance(value, str):
        return defuse_tags(value)
    if isinstance(value, dict):
        return {key: defuse_values(item) for key, item in value.items()}
    return [defuse_values(item) for item in value] if isinstance(value, list | tuple) else value


def _find_protocol_tags(text: str, *, own: bool) -> list[tuple[int, int]]:
    """Return the spans of the brackets that open a tag of a protocol."""
    found = []
    match = _TAG.search(text)
    while match:
        if _is_tag(text, match, own=own):
            found.append(match.span("bracket"))
        match = _TAG.search(text, match.end("bracket"))
    return found


def _is_tag(text: str, match: re.Match[str], *, own: bool) -> bool:
    """Tell whether a bracket and a name are a tag of a protocol, or ordinary code."""
    gap, written = match["gap"], match["name"].rstrip(":.-_")
    kinds, end = _classify(written), match.start("name") + len(written)
    if not kinds and "|" not in gap:
        return False
    closes = any(sign in gap.lower() for sign in ("/", "47", "2f", "sol"))
    is_closed = bool(_CLOSED.match(text, end))
    is_in_code = text[max(0, match.start() - 1) : match.start()].isalnum() and not closes
    is_component = written[:1].isupper() and not written.isupper()  # as in JSX
    second = _SECOND_NAME.match(text, end) if "first" in kinds else None
    if "long" in kinds or (second and "long" in _classify(f"{written}-{second[1]}")):
        if is_component and written.isalnum():
            return False
        return closes or is_closed or not (is_in_code or any(map(str.isspace, gap)))
    if not _PLAIN_GAP.fullmatch(gap):
        return False
    if "|" in gap and ("token" in kinds or re.match(r"\s{0,8}\|", text[end : end + 9])):
        return True
    if own and "own" in kinds:
        return closes or (is_closed and not is_in_code and not is_component)
    if "short" not in kinds or is_in_code or is_component:
        return False
    return closes or is_closed or bool(_ATTRIBUTE.match(text, end))


@lru_cache(maxsize=1000)
def _classify(written: str) -> frozenset[str]:
    """Return what a name may be: long, short, own, token, or the first part of a long one."""
    names, name = _load_names(), _join_name(written)
    number = name.lstrip("abcdefghijklmnopqrstuvwxyz")
    is_long = (
        name in names.long
        or (number.isdigit() and f"{name.removesuffix(number)}#" in names.long)
        or written.lower().startswith(names.prefixes)
        or any(_join_name(part) in names.long for part in re.split("[:.]", written))
    )
    kinds = {
        "long": is_long, "short": name in names.short, "own": name in names.own,
        "token": name in names.tokens, "first": any(one.startswith(name) for one in names.long),
    }  # fmt: skip
    return frozenset(kind for kind, holds in kinds.items() if holds)


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
