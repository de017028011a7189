"""Compiles regular expressions when they are first asked for: most texts ask for few of them."""

from __future__ import annotations

from told import snapshot

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from typing import Any, AnyStr

_METHODS = ("match", "search", "findall", "finditer", "sub", "split")


class _Late:
    """A pattern that is not compiled yet; what it can do is set once it is."""

    def __init__(self, text: Any, flags: int) -> None:
        self._made_of = text, flags

    def __getattr__(self, name: str) -> Any:
        compiled = snapshot.pattern(*self._made_of)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a regular expression, to be compiled at its first use; a snapshot has it compiled."""
    snapshot.made_patterns[text, flags] = None
    return _Late(text, flags)  # type: ignore[return-value]
