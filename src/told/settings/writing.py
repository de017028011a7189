"""Changes a config file's text: a setting comes or goes, and comments and order stay."""

from __future__ import annotations

from told.errors import MissingError, UsageError
from told.settings import CONFIG
from told.settings.first import literal
from told.settings.reading import parsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any


def with_value(text: str, place: Sequence[str], value: Any) -> str:
    """Return a config file's text with a setting in it; comments and order stay.

    Raises:
        UsageError: the text is not understood.
    """
    wanted = parsed(text, CONFIG)
    _put(wanted, place, value)
    line = f"{place[-1]} = {literal(value)}"
    for attempt in (_with_line(text, place, f"# {place[-1]} = ", line), _with_new_line(text, place, line)):
        if attempt is not None and says(attempt, wanted):
            return attempt

    def change(document: Any) -> None:
        import tomlkit

        inner = document
        for name in place[:-1]:
            if name not in inner:
                inner[name] = tomlkit.table(is_super_table=name != place[-2])
            inner = inner[name]
        inner[place[-1]] = value

    return edited(text, change, wanted)


def without(text: str, place: Sequence[str], usual: str = "") -> str:
    """Return a config file's text without a setting.

    Args:
        text: The file's.
        place: The tables it is in, and its name there.
        usual: What holds then, as TOML has it: a comment shows it. Empty: there is nothing to show.

    Raises:
        UsageError: the text is not understood.
    """
    wanted = parsed(text, CONFIG)
    tables = wanted
    for name in place[:-1]:
        tables = tables.get(name, {})
        if not isinstance(tables, dict):
            return text
    if place[-1] not in tables:
        return text
    del tables[place[-1]]
    commented = _with_line(text, place, f"{place[-1]} = ", f"# {place[-1]} = {usual}") if usual else None
    if commented is not None and says(commented, wanted):
        return commented

    def change(document: Any) -> None:
        for name in place[:-1]:
            document = document[name]
        del document[place[-1]]

    return edited(text, change, wanted)


def edited(text: str, change: Callable[[Any], None], wanted: dict[str, Any]) -> str:
    """Return a text that was changed as a document and says what is wanted, and nothing else.

    Raises:
        MissingError: that cannot be done.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        document = tomlkit.parse(text)
        change(document)
        after: str | None = str(tomlkit.dumps(document))
    except (TOMLKitError, LookupError, TypeError, ValueError, AttributeError):
        after = None
    if after is None or not says(after, wanted):
        raise MissingError("told cannot change that file without changing more. Change that line by hand.")
    return after


def _put(tables: dict[str, Any], place: Sequence[str], value: Any) -> None:
    for name in place[:-1]:
        tables = tables.setdefault(name, {})
        if not isinstance(tables, dict):
            raise UsageError(f"{name} in the file must be a table: [{name}].")
    tables[place[-1]] = value


def _with_line(text: str, place: Sequence[str], beginning: str, instead: str) -> str | None:
    """Put a line in the place of the first of its table that begins so; None if there is none."""
    lines = text.split("\n")
    table = ""
    for at, line in enumerate(lines):
        if line.startswith("["):
            table = line.strip("[] \r")
        elif table == ".".join(place[:-1]) and line.startswith(beginning):
            lines[at] = instead + ("\r" if line.endswith("\r") else "")
            return "\n".join(lines)
    return None


def _with_new_line(text: str, place: Sequence[str], line: str) -> str:
    """Put a line at the beginning of its table, or at the end of what belongs to no table."""
    lines = text.rstrip("\n").split("\n") if text.strip() else []
    ending = "\r" if lines and lines[0].endswith("\r") else ""
    header = f"[{'.'.join(place[:-1])}]"
    if len(place) > 1:
        at = next((at for at, one in enumerate(lines) if one.rstrip() == header), -1)
        if at < 0:
            lines += ([ending] if lines else []) + [header + ending]
            at = len(lines) - 1
        at += 1
    else:
        at = next((at for at, one in enumerate(lines) if one.startswith("[")), len(lines))
        while at and at < len(lines) and lines[at - 1].startswith("#"):
            at -= 1  # a comment of the table below
    return "\n".join([*lines[:at], line + ending, *lines[at:], ""])


def says(text: str, wanted: dict[str, Any]) -> bool:
    """Tell whether a text says what is wanted, and nothing else."""
    try:
        return bool(_plain(parsed(text, CONFIG)) == _plain(wanted))
    except UsageError:
        return False


def _plain(value: Any) -> Any:
    """Return a table without empty tables in it: whether one is there makes no difference."""
    if isinstance(value, dict):
        inner = {name: _plain(below) for name, below in value.items()}
        return {name: below for name, below in inner.items() if below != {}}
    return value
