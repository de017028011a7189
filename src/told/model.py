"""What readers hand over: the events of agents' conversations, as immutable records.

Times are whole milliseconds since 1970 (UTC); 0 means unknown. Empty text means unknown.
"""

from __future__ import annotations

from told.record import record

# Who a text comes from, from the most to the least trusted.
USER = "user"
AGENT = "agent"
TOOL = "tool"


@record
class Source:
    """One file (or database) in which an agent keeps conversations."""

    agent: str
    path: str
    layout: str = ""  # which of the agent's layouts this is; meaning is private to its reader
    root: str = ""  # the agent's folder it was found in


@record
class Cursor:
    """How far a source has been read: everything before it is known."""

    offset: int = 0  # bytes of a file, or the reader's own measure for a database
    line: int = 0  # lines before the offset, to name a bad one
    state: str = ""  # whatever else the reader needs to go on, as short text of its own


@record
class Begin:
    """What follows for this session replaces all that this source said of it before."""

    session: str


@record
class Facts:
    """What is known about a session. Merged field by field: an empty field changes nothing."""

    session: str  # the agent's own id
    cwd: str = ""
    branch: str = ""
    repository: str = ""  # a remote URL or owner/name, when the agent wrote one down
    title: str = ""
    title_by: str = AGENT  # USER when the user named the session
    started: int = 0
    parent: str = ""  # the session this one was started from
    kind: str = ""  # "subagent" for a helper's session
    archived: bool = False
    model: str = ""


@record
class Said:
    """Something the user or the agent said. A user's text begins a new turn."""

    session: str
    who: str  # USER or AGENT
    text: str
    at: int = 0
    key: str = ""  # an id that stays the same when the agent copies the record into another file
    form: str = "text"  # of an agent: "text", or "step" for a thought or one line about a tool call


@record
class Touch:
    """A file the session read or changed."""

    session: str
    path: str
    how: str  # "read", "edit", "create" or "delete"
    at: int = 0


@record
class Ref:
    """A commit, pull request or issue the session names."""

    session: str
    kind: str  # "commit", "pr" or "issue"
    value: str
    at: int = 0


@record
class Checkpoint:
    """A hand-over note that the agent itself wrote, or the summary it made when compacting."""

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
    id: str = ""  # of one that told keeps as a file
    status: str = ""  # open or closed; agents' own have none
    path: str = ""  # of the file


OPEN, CLOSED = "open", "closed"


@record
class Handover:
    """A checkpoint as its Markdown file has it: what the next session needs to go on."""

    goal: str
    done: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()  # "src/app.py (edit)"
    plans: tuple[str, ...] = ()
    references: tuple[str, ...] = ()  # commits, pull requests, addresses
    questions: tuple[str, ...] = ()
    notes: str = ""
    more: tuple[tuple[str, str], ...] = ()  # sections that somebody added by hand: heading, text
    title: str = ""  # in one line; made of the goal where nobody gave one
    status: str = OPEN
    id: str = ""  # "c" and nine letters
    agent: str = ""
    session: str = ""  # the agent's own id
    project: str = ""  # its key
    folder: str = ""  # where the session worked
    branch: str = ""
    at: int = 0
    by: str = AGENT  # who wrote it: user, agent, or tool for what told made of the transcript


@record
class Mark:
    """All that was yielded so far is complete; reading may go on from this cursor."""

    cursor: Cursor


@record
class Problem:
    """Something a reader could not take in. It never stops the reading."""

    line: int  # counted from 1; 0 when it is not about a line
    reason: str


Event = Begin | Facts | Said | Touch | Ref | Checkpoint | Mark
