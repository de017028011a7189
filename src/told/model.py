"""Events that readers yield from agents' conversations.

Times are milliseconds since 1970 (UTC); 0 means unknown. Empty text means unknown.
"""

from __future__ import annotations

from dataclasses import dataclass

# Where a text comes from, most trusted first.
USER = "user"
AGENT = "agent"
TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Source:
    """A file or database with an agent's conversations."""

    agent: str
    path: str
    layout: str = ""  # one of the agent's layouts; private to its reader
    root: str = ""  # the agent's folder in which it was found


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a source has been read."""

    offset: int = 0  # bytes of a file; of a database, the reader's own measure
    line: int = 0  # lines before the offset, for messages
    state: str = ""  # anything else the reader needs to continue


@dataclass(frozen=True, slots=True)
class Begin:
    """The next events replace what this source said about the session."""

    session: str


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts about a session, merged by field; an empty field changes nothing."""

    session: str  # the agent's own id
    cwd: str = ""
    branch: str = ""
    repository: str = ""  # remote URL or owner/name
    title: str = ""
    title_by: str = AGENT  # USER when the user named the session
    started: int = 0
    parent: str = ""  # the session this one was started from
    kind: str = ""  # "subagent" for a helper's session
    archived: bool = False
    model: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the user or the agent; a user's message starts a turn."""

    session: str
    who: str  # USER or AGENT
    text: str
    at: int = 0
    key: str = ""  # an id that copies in other files share
    form: str = "text"  # of an agent: "text", or "step" for a thought or a tool call


@dataclass(frozen=True, slots=True)
class Touch:
    """A file that the session read or changed."""

    session: str
    path: str
    how: str  # "read", "edit", "create" or "delete"
    at: int = 0


@dataclass(frozen=True, slots=True)
class Ref:
    """A commit, pull request or issue that the session names."""

    session: str
    kind: str  # "commit", "pr" or "issue"
    value: str
    at: int = 0


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A hand-over note or compaction summary that the agent wrote."""

    session: str
    number: int
    title: str
    overview: str = ""
    at: int = 0
    work_done: str = ""
    technical_details: str = ""
    important_files: str = ""
    next_steps: str = ""
    history: str = ""
    id: str = ""  # of a note in a file of told
    status: str = ""  # open or closed; empty for agents' own notes
    path: str = ""  # of the file


OPEN, CLOSED = "open", "closed"


@dataclass(frozen=True, slots=True)
class Handover:
    """A checkpoint in a Markdown file: what the next session needs."""

    goal: str
    done: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  # "src/app.py (edit)"
    plans: tuple[str, ...] = ()
    references: tuple[str, ...] = ()  # commits, pull requests, addresses
    questions: tuple[str, ...] = ()
    notes: str = ""
    more: tuple[tuple[str, str], ...] = ()  # other sections of the file: heading, text
    title: str = ""  # one line; made from the goal by default
    status: str = OPEN
    id: str = ""  # "c" and nine letters
    agent: str = ""
    session: str = ""  # the agent's own id
    project: str = ""  # its key
    folder: str = ""  # working folder of the session
    branch: str = ""
    at: int = 0
    by: str = AGENT  # author: user, agent, or tool if told made it from the transcript


@dataclass(frozen=True, slots=True)
class Mark:
    """All events so far are complete; reading may resume from this cursor."""

    cursor: Cursor


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a reader could not read; it never stops the reading."""

    line: int  # from 1; 0 if it is not about a line
    reason: str


Event = Begin | Facts | Message | Touch | Ref | Checkpoint | Mark
