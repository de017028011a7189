"""What a made-up session is told by, before an agent's writer puts it into that agent's format."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime

HOUR = 3_600_000
DAY = 24 * HOUR
MINUTE = 60_000


@dataclass(frozen=True)
class Project:
    """A code base below the home folder; with a remote if it is published somewhere."""

    folder: str  # relative to the home folder
    remote: str = ""

    @property
    def repository(self) -> str:
        """`owner/name` of the remote, as Copilot CLI notes it."""
        return "/".join(self.remote.removesuffix(".git").replace(":", "/").split("/")[-2:])


@dataclass(frozen=True)
class Call:
    """One tool call: `read`, `edit` or `create` a file of the project, or `run` a command."""

    tool: str
    target: str
    output: str = ""


@dataclass(frozen=True)
class Turn:
    """What the user typed, what the agent did, and what it answered."""

    asked: str
    answered: str
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Talk:
    """One session, as many days ago as it was held."""

    agent: str
    project: Project
    days_ago: float
    title: str
    turns: tuple[Turn, ...]
    branch: str = "main"
    key: str = ""  # what its id is made of, instead of the title
    note: str = ""  # the hand-over note that the agent wrote at the end

    @property
    def id(self) -> str:
        """The session's id in its agent: always the same for the same talk."""
        return uuid(self.agent, self.key or self.title)

    def times(self, now: int) -> list[int]:
        """Return when each turn was asked, in milliseconds."""
        start = now - int(self.days_ago * DAY)
        return [start + number * 7 * MINUTE for number in range(len(self.turns))]


def uuid(*parts: str) -> str:
    """Return an id in the form of a UUID, made from the parts."""
    digits = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}"


def iso(at: int) -> str:
    """Write a time in milliseconds as agents do: ISO 8601 in UTC."""
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at % 1000:03}Z"
