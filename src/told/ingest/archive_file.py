"""The file in which the archive keeps one session: compressed, a JSON array on each line.

The first line says what the session is, the others hold its turns, touches, refs and checkpoints.
"""

from __future__ import annotations

import gzip
import json
import os
import zlib

from told.agents.text import mapping, text
from told.ingest.fold import Draft
from told.model import AGENT, Checkpoint, Facts, Ref, Touch
from told.store.database import make_private_folder
from told.store.ids import public_id
from told.store.writing import TurnText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from told.ingest.forgotten import Forgotten

# Longer than any turn that told stores.
_MAX_LINE = 16 * 1024 * 1024
_MAX_TIME = 1 << 53
_MAX_KEY = 1 << 63


def archive_path(home: str, agent: str, native: str) -> str:
    """Return where a session's text is kept."""
    name = public_id("s", agent, native, length=16)
    return os.path.join(home, "archive", agent, name[1:3], f"{name}.jsonl.gz")


def write_lines(path: str, lines: Iterable[list[Any]]) -> None:
    """Write a session's file, whole or not at all."""
    make_private_folder(os.path.dirname(path))
    temporary = f"{path}.{os.getpid()}"
    descriptor = os.open(temporary, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    with (
        os.fdopen(descriptor, "wb") as file,
        gzip.GzipFile(fileobj=file, mode="wb", compresslevel=1, mtime=0) as packed,
    ):
        for line in lines:
            packed.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    os.replace(temporary, path)


def rewrite(path: str, agent: str, forgotten: Forgotten) -> bool:
    """Write a kept session anew without what was forgotten; False if nothing of it may stay."""
    draft = draft_of(path, lambda text: text)
    if draft is None or forgotten.has(agent, draft.native, draft.facts.parent):
        return False
    forgotten.cut(agent, draft)
    write_lines(path, _lines_of(draft))
    return True


def _lines_of(draft: Draft) -> Iterator[list[Any]]:
    facts = draft.facts
    yield ["session", {
        "native": draft.native, "cwd": facts.cwd, "branch": facts.branch, "repository": facts.repository,
        "title": facts.title, "title_by": facts.title_by, "summary": draft.about, "started": facts.started,
        "ended": draft.last_at, "parent": facts.parent, "kind": facts.kind, "archived": int(facts.archived),
        "model": facts.model, "next_n": draft.next_n,
    }]  # fmt: skip
    for turn in draft.turns:
        yield ["turn", turn.n, turn.at, turn.key or None, turn.asked, turn.answered, turn.steps]
    for touch in draft.touches.values():
        yield ["touch", touch.path, touch.how, touch.at]
    for ref in draft.refs.values():
        yield ["ref", ref.kind, ref.value, ref.at]
    for note in draft.notes.values():
        yield [
            "checkpoint", note.number, note.title, note.overview, note.at, note.work_done,
            note.technical_details, note.important_files, note.next_steps, note.history,
        ]  # fmt: skip


def is_whole(path: str) -> bool:
    """Tell whether a file can be read to its end: its own checksum stands there."""
    try:
        with gzip.open(path, "rb") as file:
            while file.read(1 << 20):
                pass
    except (OSError, EOFError, zlib.error):
        return False
    return True


def head(path: str) -> tuple[str, int]:
    """Return a kept session's own id and how many turns it had; ("", 0) if that cannot be read."""
    for kind, *fields in lines_in(path):
        facts = mapping(fields[0]) if fields else {}
        return (text(facts.get("native")), _number(facts.get("next_n"))) if kind == "session" else ("", 0)
    return "", 0


def draft_of(path: str, redact: Callable[[str], str]) -> Draft | None:
    """Return what can be read of a kept session; None if not even which one it is."""
    draft: Draft | None = None
    turns: list[TurnText] = []
    for kind, *fields in lines_in(path):
        if kind == "session" and fields and draft is None:
            draft = _begun(mapping(fields[0]), redact)
        elif draft is None:
            return None
        elif kind == "turn" and len(fields) == 6:
            n, at, key, *texts = fields
            has_key = isinstance(key, int) and not isinstance(key, bool) and -_MAX_KEY <= key < _MAX_KEY
            asked, answered, steps = (redact(text(one)) for one in texts)
            turns.append(TurnText(_number(n), _number(at), key if has_key else "", asked, answered, steps))
        elif kind == "touch" and len(fields) == 3:
            path_touched = redact(text(fields[0]))
            draft.touches[path_touched] = Touch("", path_touched, text(fields[1]), _number(fields[2]))
        elif kind == "ref" and len(fields) == 3:
            named, value = text(fields[0]), redact(text(fields[1]))
            draft.refs[named, value] = Ref("", named, value, _number(fields[2]))
        elif kind == "checkpoint" and len(fields) == 9:
            number, title, overview, at, *notes = fields
            texts = [redact(text(one)) for one in notes]
            draft.notes[_number(number)] = Checkpoint(
                "", _number(number), redact(text(title)), redact(text(overview)), _number(at), *texts
            )
    if draft is not None:
        draft.turns = tuple({turn.n: turn for turn in sorted(turns, key=lambda turn: turn.n)}.values())
        draft.next_n = max(draft.next_n, turns[-1].n + 1 if turns else 0)
    return draft


def _begun(facts: dict[str, Any], redact: Callable[[str], str]) -> Draft | None:
    native = text(facts.get("native"))
    if not native:
        return None
    draft = Draft(native, begin=True)
    names = ("cwd", "branch", "repository", "title")
    given = {name: redact(text(facts.get(name))) for name in names}
    draft.facts = Facts(
        native, **given, title_by=text(facts.get("title_by")) or AGENT, started=_number(facts.get("started")),
        parent=text(facts.get("parent")), kind=text(facts.get("kind")), archived=bool(facts.get("archived")),
        model=redact(text(facts.get("model"))),
    )  # fmt: skip
    draft.place = draft.facts.cwd
    draft.about = redact(text(facts.get("summary")))
    draft.last_at = _number(facts.get("ended"))
    draft.next_n = _number(facts.get("next_n"))
    return draft


def _number(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < _MAX_TIME else 0


def lines_in(path: str) -> Iterator[list[Any]]:
    """Yield the lines of a file as far as it can be read; one that makes no sense is left out."""
    try:
        with gzip.open(path, "rb") as file:
            for raw in iter(lambda: file.readline(_MAX_LINE), b""):
                try:
                    line = json.loads(raw)
                except (ValueError, RecursionError):
                    continue
                if isinstance(line, list) and line:
                    yield line
    except (OSError, EOFError, zlib.error):
        return
