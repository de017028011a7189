"""Regular expressions that are compiled on first use: a command or a hook needs few of told's hundreds."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast

_NAMES = (
    "search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split",
    "pattern", "flags", "groups", "groupindex",
)  # fmt: skip


class _Lazy:
    """Has what `re.Pattern` has."""

    def __init__(self, expression: str | bytes, flags: int) -> None:
        self._expression, self._flags = expression, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _NAMES:
            raise AttributeError(name)
        compiled = re.compile(self._expression, self._flags)
        self.__dict__.update({one: getattr(compiled, one) for one in _NAMES})
        return getattr(compiled, name)


def lazy_pattern(expression: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a regular expression that is compiled on first use."""
    return cast("re.Pattern[AnyStr]", _Lazy(expression, flags))
