"""Where the user chose it: reminds a session of a checkpoint after some tool calls, or asks for one.

It can never keep a session from its work: told's own tools and commands pass, whatever told cannot do opens
it, and after three denials it stays open until there is a checkpoint.
"""

from __future__ import annotations

import os

from told.agents.dialects import context, verdict
from told.memory.checkpoint_count import count, deny
from told.settings import ASK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.agents.dialects import Call
    from told.hook.moment import Moment

_MOST = 3  # denials between two checkpoints
_STORE = "sessions.db"
_NAME = "told"
_CHANGING = ("edit", "write", "patch", "replace", "create", "delete")  # in the names of tools
_BEFORE_SERVER = frozenset(("mcp", "plugin", "functions", "tools"))  # in the names of tools of MCP servers
_RUNNERS = frozenset(("uv", "uvx", "pipx", "poetry", "pdm", "rye", "hatch", "pixi", "mise"))
_WORDS_BEFORE = 4  # that a runner may have before the name of a program


def at_gate(moment: Moment) -> dict[str, Any]:
    """Return the answer to a tool call that nothing else speaks against; empty if there is nothing to say."""
    call, settings = moment.call, moment.settings
    after = settings.checkpoint_remind_after
    if not after or not call.session or call.helper or settings.problem or not is_work(call):
        return {}
    session = moment.hidden_session()
    now = count(moment.home, call.agent, session)
    if settings.checkpoint_gate == ASK and now.calls > after and now.denials < _MOST:
        # What is not noted is not denied: else nobody could tell when it is enough.
        if _could_be_written(moment.home) and 0 < deny(moment.home, call.agent, session) <= _MOST:
            return verdict(call, "deny", _asked(now.calls - now.denials - 1))
        return {}
    made = now.calls - now.denials
    return context(call, _reminder(made)) if made > 0 and not made % after else {}


def is_work(call: Call) -> bool:
    """Tell whether a tool call counts: it runs a command or changes a file, and is not told's own."""
    name = call.tool.lower()
    if is_own(name) or name.startswith("mcp"):
        return False
    if any(part in name for part in _CHANGING):  # a patch comes in the place of a command
        return bool(call.file or "patch" in name)
    return bool(call.command) and not (_NAME in call.command and _runs_told(call.command))


def is_own(name: str) -> bool:
    """Tell whether a tool is one of told's, as any agent spells it: `mcp__told__get`, `told-get`."""
    parts = "".join([sign if sign.isalnum() else " " for sign in name.lower()]).split()
    return next((part for part in parts if part not in _BEFORE_SERVER), "") == _NAME


def _runs_told(command: str) -> bool:
    """Tell whether told is run by a command, and not only mentioned in it."""
    from told.hook.shell import simple_commands

    return any(_is_told(words) for words in simple_commands(_without_documents(command)))


def _is_told(words: list[str]) -> bool:
    name = words[0].replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
    if name.startswith("python"):
        return words[1:3] == ["-m", _NAME]
    return name == _NAME or (name in _RUNNERS and _NAME in words[1:_WORDS_BEFORE])


def _without_documents(command: str) -> str:
    """Return a command without the texts that it gives to programs: from `<<END` to `END`."""
    kept: list[str] = []
    ends: list[str] = []
    for line in command.split("\n"):
        if ends:
            if line.strip() == ends[0]:
                ends.pop(0)
            continue
        kept.append(line)
        for behind in line.split("<<")[1:]:
            word = behind.lstrip("-").split()[:1]
            if word and not behind.startswith("<"):
                ends.append(word[0].strip("'\"\\"))
    return "\n".join(kept)


def _could_be_written(home: str) -> bool:
    return os.path.isfile(os.path.join(home, _STORE))


def _reminder(calls: int) -> str:
    return (
        f"told: {calls} tool calls without a checkpoint. When a step is done, call told's tool `checkpoint`"
        " or run `told checkpoint GOAL`."
    )


def _asked(calls: int) -> str:
    return (
        f"told asks for a checkpoint first: {calls} tool calls without one. Call told's MCP tool"
        ' `checkpoint`, or run `told checkpoint --goal "…" --done "…" --pending "…"`; both always pass.'
        " Then make this call again."
    )
