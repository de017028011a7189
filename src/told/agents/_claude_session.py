"""What a reader of Claude Code's transcripts knows of the file's sessions, and keeps in its cursor."""

from __future__ import annotations

import json
import os

from told.agents._calls import Calls
from told.agents.text import items, mapping, text
from told.model import AGENT, USER, Facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

# A command whose output never came must not be looked for in every later line.
_MAX_AWAITED = 16
_WARM_UP = "Warmup"


def is_helper(session: str) -> bool:
    """Whether a session is that of a helper which the agent started."""
    return "/" in session


class Known:
    """The sessions of one transcript so far. Its state as text lets a later read go on from there."""

    def __init__(self, path: str, state: str) -> None:
        folder, name = os.path.split(path)
        stem = os.path.splitext(name)[0]
        self._helper = ""
        self._default = stem
        if os.path.basename(folder) == "subagents" or stem.startswith("agent-"):
            self._helper = stem.removeprefix("agent-")
            if os.path.basename(folder) == "subagents":
                self._default = os.path.basename(os.path.dirname(folder))
        saved = _parse(state)
        self._told: tuple[Any, ...] = ()
        self.awaited = [call for call in items(saved.get("awaited")) if isinstance(call, str)]
        self.calls = Calls(saved.get("calls"))
        self.leaf = text(saved.get("leaf"))  # the last line of talk, which a title may name
        self._head = [title for title in items(saved.get("head")) if isinstance(title, str)]
        self._sessions = {name: mapping(value) for name, value in mapping(saved.get("sessions")).items()}

    def state(self) -> str:
        """Return all of it as text."""
        values = {
            "awaited": self.awaited, "calls": self.calls.saved(), "leaf": self.leaf, "head": self._head,
            "sessions": self._sessions,
        }  # fmt: skip
        return json.dumps({name: value for name, value in values.items() if value})

    def session_of(self, line: dict[str, Any]) -> str:
        """Return the session that a line belongs to."""
        session = text(line.get("sessionId")) or self._default
        if self._helper:
            return f"{session}/{text(line.get('agentId')) or self._helper}"
        if line.get("isSidechain") is True:
            return f"{session}/{text(line.get('agentId')) or 'sidechain'}"
        return session

    def facts(self, session: str, line: dict[str, Any], at: int) -> Iterable[Facts]:
        """Return what a line of talk newly tells about its session."""
        model = text(mapping(line.get("message")).get("model"))
        tells = (session, line.get("cwd"), line.get("gitBranch"), model)
        if tells == self._told:  # nearly every line tells what the line before it told
            return ()
        self._told = tells
        known = self._known(session)
        branch = text(line.get("gitBranch"))
        told = {"cwd": text(line.get("cwd")), "branch": "" if branch == "HEAD" else branch, "model": model}
        new: dict[str, Any] = {
            name: value for name, value in told.items() if value and known.get(name) != value
        }
        known |= new
        if "begun" not in known:
            known["begun"] = 1
            new["started"] = at
            if is_helper(session):
                new |= {"parent": session.partition("/")[0], "kind": "subagent"}
            elif len(self._head) == 1 and not known.get("title"):
                new["title"] = known["title"] = self._head[0]
        return (Facts(session, **new),) if new else ()

    def title(self, session: str, title: str, by: str) -> Iterator[Facts]:
        """Yield a title that is new; one by the agent never takes the place of the user's."""
        known = self._known(session)
        title = title.strip()
        if by == USER:
            new = known.get("named") != title
        else:
            new = "named" not in known and known.get("title") != title
        if title and new:
            known |= {"title": title, "named": title} if by == USER else {"title": title}
            yield Facts(session, title=title, title_by=by)

    def summary(self, session: str, title: str, leaf: str) -> Iterator[Facts]:
        """Yield the title in a `summary` line, if it is this session's: others' are kept in the file too."""
        if self.leaf:
            if leaf == self.leaf:
                yield from self.title(session, title, AGENT)
        elif title not in self._head and len(self._head) < 2:
            self._head.append(title)

    def key(self, session: str, message: str, kind: str) -> str:
        """Return an id for the next block of a message, the same in every copy of the message."""
        known = self._known(session)
        if known.get("message") != message:
            known |= {"message": message, "blocks": {}}
        blocks = known["blocks"] = mapping(known.get("blocks"))
        count = blocks[kind] = int(blocks.get(kind, 0)) + 1
        suffix = kind + (str(count) if count > 1 else "")
        return f"{message}#{suffix}" if suffix else message

    def next_checkpoint(self, session: str) -> int:
        """Count one more checkpoint of a session."""
        known = self._known(session)
        known["checkpoints"] = number = int(known.get("checkpoints", 0)) + 1
        return number

    def await_output(self, call: str) -> None:
        """Remember a tool call whose output is worth reading."""
        if call.isascii() and call:
            self.awaited = [*self.awaited, call][-_MAX_AWAITED:]

    def arrived(self, calls: Iterable[str]) -> bool:
        """Whether one of these calls was awaited; it no longer is."""
        found = [call for call in calls if call in self.awaited]
        self.awaited = [call for call in self.awaited if call not in found]
        return bool(found)

    def warms_up(self, session: str, words: str) -> bool:
        """Whether a helper's session is only there to fill the model's cache, as its first words tell."""
        known = self._known(session)
        if words == _WARM_UP and "begun" not in known:
            known["idle"] = 1
        return "idle" in known

    def is_idle(self, session: str) -> bool:
        """Whether a session was found to be only a warm-up."""
        return "idle" in self._known(session)

    def _known(self, session: str) -> dict[str, Any]:
        return self._sessions.setdefault(session, {})


def _parse(state: str) -> dict[str, Any]:
    try:
        return mapping(json.loads(state)) if state else {}
    except (ValueError, RecursionError):
        return {}
