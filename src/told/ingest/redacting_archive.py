"""Takes out of the archive what was kept before a rule knew it; each file is replaced in one step."""

from __future__ import annotations

import json
import os

from told.guard.files import NotReadableError, read_document
from told.guard.jsonl import parse
from told.guard.second_look import changes, excerpt, without_end
from told.ingest.archive import kept_files
from told.ingest.archive_file import archive_path, lines_in, write_lines
from told.ingest.redacting import Found, secrets_in, summary_of
from told.journal.files import write_whole
from told.store.erasing import Erasing
from told.store.redacting import Redacting
from told.store.trimming import Trimmed, print_of
from told.store.writing import TurnText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    import apsw

    from told.guard.second_look import SecondLook

_TURN, _SESSION, _NOTE = "turn", "session", "checkpoint"
_PLACES = "places.jsonl"  # which folder belongs to which project
_TURN_FIELDS = 7  # kind, number, time, key, and three texts
# Of a session: its ids, and where it was. What was said is under the other names.
_NAMES = frozenset(("native", "cwd", "parent", "kind", "title_by", "summary"))


def in_archive(home: str, look: SecondLook) -> Iterator[Found]:
    """Yield the files that would change."""
    for _, path in kept_files(os.path.join(home, "archive")):
        lines = list(lines_in(path))
        new = _looked_at(lines, look)
        if new != lines:
            changed = next(changes(lines, new), ("", ""))
            yield Found("archive", os.path.relpath(path, home), excerpt(*changed))
    if _places(home, look):
        yield Found("archive", os.path.join("archive", _PLACES), "")


def redact_archive(connection: apsw.Connection, home: str, look: SecondLook) -> None:
    """Write the files anew that today's rules would change."""
    written = False
    for agent, path in kept_files(os.path.join(home, "archive")):
        lines = list(lines_in(path))
        new = _looked_at(lines, look)
        if new != lines:
            place = _place(home, agent, path, lines, new)
            write_lines(place, new)
            if place != path:
                os.remove(path)
            _note_print(connection, agent, new)
            written = True
    redact_places(home, look)
    if written and hasattr(os, "sync"):
        os.sync()


def redact_places(home: str, look: SecondLook) -> None:
    """Take secrets out of the names of folders and projects that are written down."""
    places = _places(home, look)
    if places:
        write_whole(os.path.join(home, "archive", _PLACES), places)


def _looked_at(lines: list[list[Any]], look: SecondLook) -> list[list[Any]]:
    new = [_line(line, look) for line in lines]
    before, after = _turns(lines), _turns(new)
    secrets = secrets_in(before, after)
    fields: dict[str, Callable[[str], str]] = {
        "native": look.id,
        "parent": look.id,
        "cwd": look.name,
        "title": lambda title: without_end(title, secrets),
        "summary": lambda summary: summary_of(summary, before, after, look),
    }
    for line in new:
        if line[0] == _NOTE:
            line[1:] = [without_end(one, secrets) if isinstance(one, str) else one for one in line[1:]]
        elif line[0] == _SESSION and isinstance(line[-1], dict):
            facts = line[-1]
            facts |= {
                name: of(facts[name]) for name, of in fields.items() if isinstance(facts.get(name), str)
            }
    return new


def _line(line: list[Any], look: SecondLook) -> list[Any]:
    if _is_turn(line):
        return [*line[:4], *look.texts(line[4:])]
    return [line[0], *look.value(line[1:], _NAMES)]


def _turns(lines: list[list[Any]]) -> list[TurnText]:
    return [TurnText(line[1], line[2], "", *line[4:]) for line in lines if _is_turn(line)]


def _is_turn(line: list[Any]) -> bool:
    return line[0] == _TURN and len(line) == _TURN_FIELDS and all(isinstance(one, str) for one in line[4:])


def _native(lines: list[list[Any]]) -> str:
    found = (line[-1].get("native") for line in lines if line[0] == _SESSION and isinstance(line[-1], dict))
    return next((native for native in found if isinstance(native, str)), "")


def _place(home: str, agent: str, path: str, old: list[list[Any]], new: list[list[Any]]) -> str:
    """Return where a file belongs: its name is made from the session's own id."""
    native = _native(new)
    return path if native in ("", _native(old)) else archive_path(home, agent, native)


def _note_print(connection: apsw.Connection, agent: str, lines: list[list[Any]]) -> None:
    """Let a session whose texts were taken out to make room be known again by its new texts."""
    session_id = Erasing(connection).find(agent, _native(lines))
    trimmed = Trimmed(connection)
    if session_id and trimmed.has(session_id):
        own = Redacting(connection).numbers(session_id)
        texts = ((one.n, one.asked, one.answered, one.steps) for one in _turns(lines) if one.n in own)
        trimmed.add(session_id, print_of(texts))


def _places(home: str, look: SecondLook) -> bytes:
    """Return what the list of places should say; nothing if it says just that."""
    try:
        content = read_document(os.path.join(home, "archive", _PLACES))
    except NotReadableError:
        return b""
    new = b"".join(_place_line(line, look) + b"\n" for line in content.splitlines())
    return new if new != content else b""


def _place_line(line: bytes, look: SecondLook) -> bytes:
    place = parse(line)
    if not isinstance(place, list):
        return line
    named = [look.name(one) if isinstance(one, str) else one for one in place]
    return json.dumps(named, ensure_ascii=False).encode("utf-8", "replace") if named != place else line
