"""Redact stored text again with today's rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from told.redact.engine import redact_all
from told.redact.names import redact_id, redact_path
from told.text import clean, shorten

_MAX_ROUNDS = 4  # a replacement may let a rule see more of the rest
_PLACEHOLDER_STARTS = ("[secret:", "[private]")
_MIN_COPY = 6  # characters of a secret whose copies are removed
_MIN_PART = 4
_BEFORE, _EXCERPT = 40, 110


class Rescanner:
    """Redacts stored text; keeps text without secrets byte for byte."""

    def __init__(self, redact: Callable[[str], str], key: bytes = b"") -> None:
        """Take the function that removes secrets, and told's own key."""
        self._redact = redact
        self._key = key

    def redact_text(self, text: str) -> str:
        """Redact a text until no rule finds more."""
        new = self._redact(text) if text else text
        if new == text or new == clean(text):
            return text
        for _ in range(_MAX_ROUNDS):
            again = self._redact(new)
            if again == new:
                break
            new = again
        return new

    def redact_path(self, name: str) -> str:
        """Redact a path or the name of a project."""
        return redact_path(name, self._redact)

    def redact_id(self, name: str) -> str:
        """Redact an agent's own id."""
        return redact_id(name, self._redact, lambda: self._key)

    def redact_texts(self, texts: Sequence[str]) -> list[str]:
        """Redact several texts together."""
        parts = redact_all(self.redact_text, texts)
        return [old if part == clean(old) else part for old, part in zip(texts, parts, strict=True)]

    def redact_value(self, value: Any, names: frozenset[str] = frozenset()) -> Any:
        """Redact every text of a JSON value, except under the keys `names`."""
        if isinstance(value, str):
            return self.redact_text(value)
        if isinstance(value, dict):
            return {key: of if key in names else self.redact_value(of, names) for key, of in value.items()}
        return [self.redact_value(one, names) for one in value] if isinstance(value, list) else value


def find_removed(text: str, new: str) -> dict[str, str]:
    """Return the secrets that were replaced, with their placeholders.

    The result is empty where that is not certain.
    """
    found: dict[str, str] = {}
    old, at, place = clean(text), 0, 0
    while True:
        start, end = _next_placeholder(new, place)
        if not old.startswith(new[place:start], at):
            return {}  # something else changed, too
        at += start - place
        if start == len(new):
            return found if at == len(old) else {}
        alone, end, following = _skip_placeholders(new, end)
        if old.startswith(new[start:end], at):  # replaced before
            until = at + end - start
        else:
            until = old.find(following, at + 1) if following else len(old)
            if until < 0 or not alone:  # the end of the secret is unknown
                return {}
            found[old[at:until]] = new[start:end]
        at, place = until, end


def remove_copies(value: Any, secrets: dict[str, str], names: frozenset[str] = frozenset()) -> Any:
    """Remove copies of secrets that no rule finds, such as names made of one."""
    if isinstance(value, str):
        return _remove_copies_in_text(value, secrets)
    if isinstance(value, dict):
        return {key: of if key in names else remove_copies(of, secrets, names) for key, of in value.items()}
    return [remove_copies(one, secrets, names) for one in value] if isinstance(value, list) else value


def remove_cut_secret(text: str, secrets: dict[str, str]) -> str:
    """Remove the start of a secret at the end of a text that was cut."""
    kept = text.removesuffix("…")
    if kept == text:
        return text
    for secret, marker in secrets.items():
        for size in range(min(len(secret), len(kept)), _MIN_COPY - 1, -1):
            if kept.endswith(secret[:size]):
                return f"{kept[:-size]}{marker}…"
    return text


def changed_texts(old: Any, new: Any) -> Iterator[tuple[str, str]]:
    """Yield (old, new) texts that differ in two JSON values of one shape."""
    if isinstance(old, dict):
        for key in old:
            yield from changed_texts(old[key], new[key])
    elif isinstance(old, list):
        for one, other in zip(old, new, strict=True):
            yield from changed_texts(one, other)
    elif isinstance(old, str) and old != new:
        yield old, new


def make_excerpt(old: str, new: str) -> str:
    """Show the place of the first replacement on one line."""
    new = _remove_copies_in_text(new, find_removed(old, new))
    at = next((at for at, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), 0)
    at = max(new.rfind("[", 0, at + 1), 0) if at else 0
    start = max(0, at - _BEFORE)
    return shorten(("…" if start else "") + new[start : at + _EXCERPT], _EXCERPT)


def _remove_copies_in_text(text: str, secrets: dict[str, str]) -> str:
    low = text.lower()
    for secret, marker in secrets.items():
        wanted = secret.lower()
        if len(secret) >= _MIN_COPY and len(low) == len(text):
            at = low.find(wanted)
            while at >= 0:
                text = text[:at] + marker + text[at + len(secret) :]
                low = text.lower()
                at = low.find(wanted, at + len(marker))
        if len(text) >= _MIN_PART and low in wanted:
            return marker
    return remove_cut_secret(text, secrets)


def _next_placeholder(text: str, at: int) -> tuple[int, int]:
    """Return the span of the next placeholder; an empty one at the end if none."""
    starts = [start for start in (text.find(one, at) for one in _PLACEHOLDER_STARTS) if start >= 0]
    end = text.find("]", min(starts)) + 1 if starts else 0
    return (min(starts), end) if end else (len(text), len(text))


def _skip_placeholders(text: str, end: int) -> tuple[bool, int, str]:
    """Skip adjacent placeholders; return if there are none, the end, the next text."""
    alone = True
    start, next_end = _next_placeholder(text, end)
    while start == end < len(text):
        alone, end = False, next_end
        start, next_end = _next_placeholder(text, end)
    return alone, end, text[end:start]
