"""Looks once more at text that was stored before a rule existed: what today's rules would take out of it."""

from __future__ import annotations

from told.guard.names import plain_id, plain_path
from told.guard.text import clean, one_line
from told.guard.together import together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

_TRIES = 4  # what is taken out may let a rule see more of the rest
_OPEN = ("[secret:", "[private]")
_SHORTEST_COPY = 6  # characters of a secret that is looked for where no rule sees it
_SHORTEST_PART = 4
_BEFORE, _SHOWN = 40, 110


class SecondLook:
    """Redacts stored text with the rules of today; text in which they find nothing stays as it is."""

    def __init__(self, redact: Callable[[str], str], key: bytes = b"") -> None:
        """Take what removes secrets, and told's own key."""
        self._redact = redact
        self._key = key

    def text(self, text: str) -> str:
        """Return a text without what a rule finds in it; looking at the result again changes nothing."""
        new = self._redact(text) if text else text
        if new == text or new == clean(text):
            return text
        for _ in range(_TRIES):
            again = self._redact(new)
            if again == new:
                break
            new = again
        return new

    def name(self, name: str) -> str:
        """Return a path or the name of a project as it may be stored."""
        return plain_path(name, self._redact)

    def id(self, name: str) -> str:
        """Return an agent's own id as it may be stored."""
        return plain_id(name, self._redact, lambda: self._key)

    def texts(self, texts: Sequence[str]) -> list[str]:
        """Return texts without what is found in them."""
        parts = together(self.text, texts)
        return [old if part == clean(old) else part for old, part in zip(texts, parts, strict=True)]

    def value(self, value: Any, names: frozenset[str] = frozenset()) -> Any:
        """Return a JSON value with every text in it redacted.

        Args:
            value: Any value.
            names: What is under these names is no text: it stays as it is.
        """
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: of if key in names else self.value(of, names) for key, of in value.items()}
        return [self.value(one, names) for one in value] if isinstance(value, list) else value


def taken_out(text: str, new: str) -> dict[str, str]:
    """Return what was taken out of a text, with the placeholder that stands for it now.

    Nothing is returned where that cannot be told for sure.
    """
    found: dict[str, str] = {}
    old, at, place = clean(text), 0, 0
    while True:
        start, end = _placeholder(new, place)
        if not old.startswith(new[place:start], at):
            return {}  # it was changed in another way, too
        at += start - place
        if start == len(new):
            return found if at == len(old) else {}
        alone, end, following = _run(new, end)
        if old.startswith(new[start:end], at):  # taken out before
            until = at + end - start
        else:
            until = old.find(following, at + 1) if following else len(old)
            if until < 0 or not alone:  # where one of them ends is not known
                return {}
            found[old[at:until]] = new[start:end]
        at, place = until, end


def without_copies(value: Any, secrets: dict[str, str], names: frozenset[str] = frozenset()) -> Any:
    """Return a JSON value without the copies of secrets that no rule sees: a name that was made of one.

    Args:
        value: Any value, redacted.
        secrets: What was taken out of the same value, and what stands for it.
        names: What is under these names is no text.
    """
    if isinstance(value, str):
        return _without(value, secrets)
    if isinstance(value, dict):
        return {key: of if key in names else without_copies(of, secrets, names) for key, of in value.items()}
    return [without_copies(one, secrets, names) for one in value] if isinstance(value, list) else value


def without_end(text: str, secrets: dict[str, str]) -> str:
    """Return a text that was cut in the middle of a secret without the part of it at its end."""
    kept = text.removesuffix("…")
    if kept == text:
        return text
    for secret, marker in secrets.items():
        for size in range(min(len(secret), len(kept)), _SHORTEST_COPY - 1, -1):
            if kept.endswith(secret[:size]):
                return f"{kept[:-size]}{marker}…"
    return text


def changes(old: Any, new: Any) -> Iterator[tuple[str, str]]:
    """Yield the (old, new) texts that differ between two JSON values of the same shape."""
    if isinstance(old, dict):
        for key in old:
            yield from changes(old[key], new[key])
    elif isinstance(old, list):
        for one, other in zip(old, new, strict=True):
            yield from changes(one, other)
    elif isinstance(old, str) and old != new:
        yield old, new


def excerpt(old: str, new: str) -> str:
    """Return the part of a redacted text in which something was taken out, on one line."""
    new = _without(new, taken_out(old, new))  # nor what no rule sees of it
    at = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), 0)
    at = max(new.rfind("[", 0, at + 1), 0) if at else 0
    start = max(0, at - _BEFORE)
    return one_line(("…" if start else "") + new[start : at + _SHOWN], _SHOWN)


def _without(text: str, secrets: dict[str, str]) -> str:
    low = text.lower()
    for secret, marker in secrets.items():
        wanted = secret.lower()
        if len(secret) >= _SHORTEST_COPY and len(low) == len(text):
            at = low.find(wanted)
            while at >= 0:
                text = text[:at] + marker + text[at + len(secret) :]
                low = text.lower()
                at = low.find(wanted, at + len(marker))
        if len(text) >= _SHORTEST_PART and low in wanted:
            return marker
    return without_end(text, secrets)


def _placeholder(text: str, at: int) -> tuple[int, int]:
    """Return where the next placeholder begins and ends; both are the end of the text if there is none."""
    starts = [start for start in (text.find(one, at) for one in _OPEN) if start >= 0]
    end = text.find("]", min(starts)) + 1 if starts else 0
    return (min(starts), end) if end else (len(text), len(text))


def _run(text: str, end: int) -> tuple[bool, int, str]:
    """Return whether a placeholder stands alone, where those behind it end, and the text up to the next."""
    alone = True
    start, next_end = _placeholder(text, end)
    while start == end < len(text):
        alone, end = False, next_end
        start, next_end = _placeholder(text, end)
    return alone, end, text[end:start]
