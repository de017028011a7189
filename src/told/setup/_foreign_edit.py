"""Changes to a text as places and pieces, so that they can be undone without knowing the rest of it."""

from __future__ import annotations

from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

THERE, MISSING, EDITED, FOREIGN = "there", "missing", "edited", "foreign"


@record
class Edit:
    """A text with pieces put in."""

    text: str
    pieces: tuple[tuple[int, str], ...]  # where each stands in the new text, and what it says
    made: tuple[tuple[str, ...], ...] = ()  # the objects and lists that had to be made, by their keys


def put_in(text: str, pieces: Iterable[tuple[int, str]], made: Iterable[tuple[str, ...]] = ()) -> Edit:
    """Return a text with pieces put in at places of the old one, in ascending order."""
    out: list[str] = []
    placed: list[tuple[int, str]] = []
    done = length = 0
    for at, piece in pieces:
        out += [text[done:at], piece]
        length += at - done
        placed.append((length, piece))
        length += len(piece)
        done = at
    return Edit("".join([*out, text[done:]]), tuple(placed), tuple(made))


def take_out(text: str, pieces: Iterable[tuple[int, str]]) -> str | None:
    """Return a text as it was before pieces were put in; None if they are not where they were put."""
    for at, piece in sorted(pieces, reverse=True):
        if text[at : at + len(piece)] != piece:
            return None
        text = text[:at] + text[at + len(piece) :]
    return text


def cut(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return a text without some spans, which may overlap."""
    out: list[str] = []
    done = 0
    for start, end in sorted(spans):
        out.append(text[done : max(start, done)])
        done = max(done, end)
    return "".join([*out, text[done:]])


def newline_of(text: str) -> str:
    """Return how the lines of a text end."""
    return "\r\n" if "\r\n" in text else "\n"


def line_start(text: str, at: int) -> int:
    """Return where the line of a place starts."""
    return text.rfind("\n", 0, at) + 1


def indent_at(text: str, at: int) -> str:
    """Return the spaces and tabs that the line of a place starts with."""
    start = line_start(text, at)
    end = start
    while end < at and text[end] in " \t":
        end += 1
    return text[start:end]


def starts_line(text: str, at: int) -> bool:
    """Tell whether only spaces stand before a place in its line, and it is not the first line."""
    start = line_start(text, at)
    return start > 0 and not text[start:at].strip(" \t")
