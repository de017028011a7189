"""Keep short notes on running sessions: where they run and their last prompts."""

from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass, replace

from told.errors import ToldError
from told.files import is_timestamp, make_folder, read_table, read_text, write_private, write_table
from told.jsontext import dump_json, load_json
from told.store.database import public_id

CURRENT = "hook.current"  # table of running sessions: time, agent, session, folder
PROMPTS = "prompts"  # folder with one file for each session
_FIELDS = 4
_MOST_ROWS = 100
_LONGEST_ROW = 4000  # characters
_CURRENT_MS = 14 * 86_400_000
_MOST_PROMPTS = 6
_HEAD, _TAIL = 6_000, 2_000  # characters of a long prompt
_LARGEST = 1 << 17  # bytes
KEPT_MS = 7 * 86_400_000  # by then the transcript has been read


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the user typed, redacted."""

    at: int  # in ms since 1970
    text: str


@dataclass(frozen=True, slots=True)
class SessionNotes:
    """The last prompts of a session, and what its agent was told."""

    prompts: tuple[Prompt, ...] = ()
    typed: int = 0  # messages
    briefed: int = 0  # when the session got its start brief, in ms; 0 if unknown
    is_asked: bool = False  # the agent was asked what the session taught

    def begin(self, at: int, *, is_new: bool) -> SessionNotes:
        """Return the notes of a session that gets its start brief.

        Of a session that continues without notes, nobody knows what its agent was asked.
        """
        return replace(self, briefed=at, is_asked=self.is_asked or not (is_new or self.briefed))

    def add_prompt(self, at: int, text: str) -> SessionNotes:
        """Return the notes with one more prompt, without the oldest ones; an empty one only counts."""
        if len(text) > _HEAD + _TAIL:
            text = f"{text[:_HEAD]}\n\n{text[-_TAIL:]}"
        prompts = (*self.prompts, Prompt(at, text))[-_MOST_PROMPTS:] if text else self.prompts
        return replace(self, prompts=prompts, typed=self.typed + 1)


class NotesFile:
    """The notes of one session; a file that cannot be used counts as empty."""

    def __init__(self, home: str, agent: str, session: str) -> None:
        """Take the session's id as it is stored."""
        self._path = os.path.join(home, PROMPTS, public_id("s", agent, session, length=12))

    def read(self) -> SessionNotes:
        """Return the notes."""
        try:
            found = load_json(read_text(self._path, _LARGEST))
            prompts = tuple(Prompt(int(at), str(text)) for at, text in found["prompts"])
            typed, briefed = int(found["typed"]), int(found["briefed"])
            return SessionNotes(prompts, typed, briefed, found["is_asked"] is True)
        except (OSError, ValueError, TypeError, KeyError):
            return SessionNotes()

    def write(self, notes: SessionNotes) -> None:
        """Replace the notes; what cannot be written is dropped."""
        text = dump_json(asdict(notes) | {"prompts": [[one.at, one.text] for one in notes.prompts]})
        try:
            if not os.path.isdir(os.path.dirname(self._path)):
                make_folder(os.path.dirname(self._path), parents=False)
            write_private(self._path, text.encode("utf-8", "replace"), sync=False)
        except (OSError, ToldError):
            return


def list_notes(home: str) -> list[str]:
    """Return the names of the files with notes."""
    folder = os.path.join(home, PROMPTS)
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def remove_notes(home: str, *, before: int = 0) -> None:
    """Delete the notes of all sessions, or of those not written since a time in ms."""
    for name in list_notes(home):
        path = os.path.join(home, PROMPTS, name)
        try:
            if not before or os.stat(path).st_mtime * 1000 < before:
                os.remove(path)
        except FileNotFoundError:
            continue


def note_running(home: str, now: int, agent: str, session: str, folder: str) -> None:
    """Note that a session runs in a folder, for `find_running_session`."""
    row = [str(now), agent, session, folder]
    entry = "\t".join(row)
    if entry.count("\t") != _FIELDS - 1 or "\n" in entry or "\r" in entry or len(entry) > _LONGEST_ROW:
        return
    path = os.path.join(home, CURRENT)
    rows = read_table(path, _FIELDS, _MOST_ROWS * _LONGEST_ROW)
    others = ["\t".join(one) for one in rows if one[1:] != row[1:]]
    write_table(path, [*others[-_MOST_ROWS + 1 :], entry])


def find_running_session(home: str, agent: str, folder: str, user_home: str = "") -> str:
    """Return the agent's id of the session that runs in a folder; empty if unknown.

    The folder itself counts most, then the nearest one above it, then below it; then the latest session. The
    user's home contains unrelated projects.
    """
    if not folder:
        return ""
    folder = os.path.realpath(folder)
    wide = ("/", os.path.realpath(user_home)) if user_home else ("/",)
    best: tuple[int, int, int] | None = None
    found = ""
    oldest = time.time_ns() // 1_000_000 - _CURRENT_MS
    for at, name, session, noted in read_table(
        os.path.join(home, CURRENT), _FIELDS, _MOST_ROWS * _LONGEST_ROW
    ):
        is_current = agent in ("", name) and is_timestamp(at) and int(at) > oldest
        near = _nearness(noted, folder, wide) if is_current else None
        if near is None:
            continue
        rank = (*near, int(at))
        if best is None or rank >= best:
            best, found = rank, session
    return found


def _nearness(noted: str, folder: str, wide: tuple[str, ...]) -> tuple[int, int] | None:
    """Rank how near two folders are; None if neither contains the other, or it is too wide."""
    if noted == folder:
        return 2, 0
    if noted not in wide and folder.startswith(noted.rstrip("/") + "/"):
        return 1, len(noted)
    is_below = folder not in wide and noted.startswith(folder.rstrip("/") + "/")
    return (0, -len(noted)) if is_below else None
