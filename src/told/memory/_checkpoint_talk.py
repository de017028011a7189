"""What the end of a conversation leaves open: what the agent says is next or missing, and what it asked."""

# ruff: noqa: RUF001 - words and signs of many languages are the subject
from __future__ import annotations

from told.guard.fence import strip_fenced
from told.guard.text import clean
from told.memory._checkpoint_words import HEADING, LEFT, NARRATION, NOTHING_LEFT, OFFER, SMALL_TALK
from told.memory._recall_quiet import quiet
from told.search.topics import spoken
from told.snapshot import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TAIL = 12_000  # characters of an answer that are looked at: its end says what is left
_LONGEST = 2_000  # characters of a line
_LAST = 3  # paragraphs in which a question is one that waits for the user
_MARKS = pattern(r"^\s*(?:#{1,6}\s+|(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX>~-]\]\s*)?|>\s*)+")
_LISTED = pattern(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_TICKED = pattern(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[xX]\]|✅|✔|☑)")
_FENCE = pattern(r"^\s*(?:```|~~~)")
_SENTENCE = pattern(
    r"[^.!?。！？]*(?:[.!?](?!\s|$|[)\"'*_])[^.!?。！？]*)*(?:[.!?]+[)\"'*_]*(?=\s|$)|[。！？]+|$)"
)
_SHORTEST = 12  # bytes
_TELLING = 30  # characters
_QUESTION = ("?", "\uff1f")
_COLON = (":", "\uff1a")


def is_telling(asked: str) -> bool:
    """Tell whether a prompt says what is wanted, rather than "hi", "go on" or a command of the agent's."""
    words = asked.split(None, 3)
    if not words or (words[0].startswith("/") and "/" not in words[0][1:] and len(words) < 3):
        return False
    return (len(asked) > _TELLING or len(words) > 2) and quiet(asked, spoken(asked)) != "talk"


def left_open(answer: str) -> list[str]:
    """Return the exact words of an answer's end that say what is next, missing or could not be done."""
    found: list[str] = []
    under = False
    for line, words in _after_work(answer):
        listed = _LISTED.match(line) is not None
        behind = _heading(words)
        if behind is not None:
            under = not behind
            found += [behind] if behind else []
        elif under and listed:
            if not _TICKED.match(line) and len(words.encode()) > _SHORTEST:
                found.append(words)
        else:
            said = sentences(words)
            ends_so = _plain(said[-1]).endswith(_COLON) and _heading(said[-1]) == ""
            under = (under and listed) or ends_so
            found += [one for one in (said[:-1] if ends_so else said) if is_left(one)]
    return list(dict.fromkeys(_plain(one) for one in found))


def questions(answer: str) -> list[str]:
    """Return what the agent asked at the end of its last answer, and nobody answered."""
    paragraphs = [words for _, words in _lines(answer) if words][-_LAST:]
    found = [
        one for words in paragraphs for one in sentences(words) if one.rstrip("*_\"') ").endswith(_QUESTION)
    ]
    return [
        _plain(one)
        for one in found
        if not SMALL_TALK.fullmatch(_straight(one)) and len(one.encode()) > _SHORTEST
    ]


def about_to(answer: str) -> str:
    """Return what the agent said last if that says what it does next; empty if it says something else."""
    last = [words for _, words in _lines(answer) if words][-1:]
    said = [one for words in last for one in sentences(words)][-1:]
    return next((_plain(one) for one in said if _narrates(one)), "")


def is_left(sentence: str) -> bool:
    """Tell whether a sentence says that something is left to do."""
    straight = _straight(sentence)
    return (
        len(sentence.encode()) > _SHORTEST
        and not straight.rstrip("*_\"') ").endswith(_QUESTION)
        and LEFT.search(straight) is not None
        and not NOTHING_LEFT.search(straight)
        and not OFFER.match(straight)
    )


def sentences(words: str) -> list[str]:
    """Return the sentences of a line."""
    return [one for found in _SENTENCE.finditer(words[:_LONGEST]) if (one := found.group().strip())] or [
        words
    ]


def _after_work(answer: str) -> list[tuple[str, str]]:
    """Return the lines that have words, behind the last one that says what the agent does next."""
    lines = [(line, words) for line, words in _lines(answer) if words]
    last = -1
    for at, (line, words) in enumerate(lines):
        if not _LISTED.match(line) and (_narrates(words) or _narrates(sentences(words)[-1])):
            last = at
    return lines[last + 1 :]


def _narrates(words: str) -> bool:
    straight = _straight(words)
    return NARRATION.match(straight) is not None and not OFFER.match(straight)


def _lines(answer: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of an answer's end, as they stand and as plain words; no code and no tables."""
    in_code = False
    lines = clean(strip_fenced(answer)).splitlines()
    room, first = _TAIL, len(lines)
    while first and room > 0:
        first -= 1
        room -= len(lines[first]) + 1
    for at, line in enumerate(lines):
        if _FENCE.match(line):
            in_code = not in_code
        elif at >= first and not in_code and not line.lstrip().startswith("|"):
            yield line, _MARKS.sub("", line).strip()


def _heading(words: str) -> str | None:
    """Return what stands behind the heading of what is left, "" if it stands alone; None if it is none."""
    bare = words.replace("**", "").replace("__", "").strip("*_ ")
    found = HEADING.match(_straight(bare))
    if found is None:
        return None
    rest = bare[found.end() :]
    behind = rest.lstrip(" *_")
    if not behind.strip("".join(_COLON)):
        return ""
    if not behind.startswith(_COLON) or NOTHING_LEFT.search(_straight(bare)) or "none" in behind[:8].lower():
        return None
    return behind.lstrip("".join((*_COLON, " "))).strip()


def _straight(text: str) -> str:
    return text.replace("\u2019", "'")


def _plain(words: str) -> str:
    """Leave out Markdown's marks for bold text; code keeps its own."""
    return words.replace("**", "").replace("__", "").strip()
