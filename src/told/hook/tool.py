"""Answer a tool call: deny what a locked rule forbids, remind of checkpoints.

Only `told install --profile full` adds this hook. A rule forbids what it names in backticks or as a trigger.
"""

from __future__ import annotations

import os
from typing import Any

from told.agents.base import Call
from told.agents.dialects import answer_context, answer_verdict
from told.checkpoints.counter import count_call, count_denial
from told.conflict.reading import EXCEPTING, read_claim
from told.hook.context import HookContext, locate
from told.learning.shell import list_commands
from told.memories.scopes import active_scopes
from told.search.tokens import canonical_stem, tokenize
from told.settings import ASK
from told.store.memories.records import Memory

_MOST_DENIALS = 3  # between two checkpoints
_STORE = "sessions.db"
_NAME = "told"
_CHANGING_TOOLS = ("edit", "write", "patch", "replace", "create", "delete")  # in the names of tools
_SERVER_PREFIXES = frozenset(
    ("mcp", "plugin", "functions", "tools")
)  # before the server's name in a tool's name
_RUNNERS = frozenset(("uv", "uvx", "pipx", "poetry", "pdm", "rye", "hatch", "pixi", "mise"))
_RUNNER_WORDS = 4  # words after a runner among which a program's name may be
_ASK, _DENY, _OFF = "ask", "deny", "off"
_FEWEST_LETTERS = 2
# After "never", these turn the meaning around: "never skip `pytest`".
_REVERSING = frozenset(("skip", "stop", "forget", "omit", "miss", "disable", "bypass", "ignore"))


def answer_tool(context: HookContext) -> dict[str, Any]:
    """Return the answer to a tool call; empty to let it pass."""
    return _find_forbidden(context) or _check_checkpoint(context)


def _find_forbidden(context: HookContext) -> dict[str, Any]:
    """Return the verdict of a locked rule; empty if none applies."""
    call = context.call
    decision = context.settings.guard
    if not (call.command or call.file) or decision == _OFF:
        return {}
    memories = context.open_memories()
    location = locate(context)
    locked = memories.load(memories.locked(active_scopes(memories, location.scope)))
    if not locked:
        return {}
    commands = list_commands(call.command)
    file = call.file.removeprefix(f"{location.root}/") if location.root else call.file
    for memory in locked.values():
        for named in _list_targets(memory):
            matches = (
                _matches_path(named, file)
                if file
                else any(_matches_command(named.split(), one) for one in commands)
            )
            found = _find_denial(memory.text, named) if matches else ""
            if found:
                reason = f"A rule you locked ({memory.id}): {memory.text}"
                return answer_verdict(call, _ASK if found == _ASK else decision, reason)
    return {}


def _list_targets(memory: Memory) -> list[str]:
    """Return the commands and paths that a rule names."""
    ticked = memory.text.split("`")[1::2]
    triggers = [one.value for one in memory.triggers if one.kind in ("command", "path")]
    return [one for one in dict.fromkeys((*ticked, *triggers)) if len(one) >= _FEWEST_LETTERS]


def _matches_path(named: str, file: str) -> bool:
    """Tell whether a file is at or below a path that a rule names."""
    place = named.removeprefix("./").rstrip("*").rstrip("/")
    return bool(place) and " " not in place and f"/{place}/" in f"/{file}/"


def _matches_command(wanted: list[str], words: list[str]) -> bool:
    """Tell whether a command has the same program and words in order."""
    if not wanted or words[0].rpartition("/")[2] != wanted[0]:
        return False
    rest = iter(words[1:])
    return all(word in rest for word in wanted[1:])


def _find_denial(text: str, named: str) -> str:
    """Return "deny", "ask" if a rule denies under a condition, or ""."""
    plain = text.replace("`", " ").lower()
    tokens = tokenize(plain)
    if not _REVERSING.isdisjoint(tokens):
        return ""
    found = read_claim(plain)
    about = {
        canonical_stem(word) for word in (*tokenize(named.lower()), named.lower().rstrip("/"), named.lower())
    }
    if found.unless:  # only the part before the condition counts
        place = next((at for at, token in enumerate(tokens) if token in EXCEPTING), len(tokens))
        return _ASK if about & {canonical_stem(token) for token in tokens[:place]} else ""
    return "deny" if about & found.denied else ""


def _check_checkpoint(context: HookContext) -> dict[str, Any]:
    """Ask for a checkpoint, or remind of it, after some tool calls."""
    call, settings = context.call, context.settings
    after = settings.checkpoint_remind_after
    if not after or not call.session or call.helper or settings.problem or not is_counted(call):
        return {}
    session = context.stored_session()
    now = count_call(context.home, call.agent, session)
    if settings.checkpoint_gate == ASK and now.calls > after and now.denials < _MOST_DENIALS:
        # A denial that cannot be counted is not made: it would never end.
        if _has_store(context.home) and 0 < count_denial(context.home, call.agent, session) <= _MOST_DENIALS:
            return answer_verdict(call, "deny", _format_request(now.calls - now.denials - 1))
        return {}
    made = now.calls - now.denials
    return answer_context(call, _format_reminder(made)) if made > 0 and not made % after else {}


def is_counted(call: Call) -> bool:
    """Tell whether a tool call runs a command or changes a file, and is not told's."""
    name = call.tool.lower()
    if is_own_tool(name) or name.startswith("mcp"):
        return False
    if any(part in name for part in _CHANGING_TOOLS):  # some agents send a patch as the command
        return bool(call.file or "patch" in name)
    return bool(call.command) and not (_NAME in call.command and _runs_told(call.command))


def is_own_tool(name: str) -> bool:
    """Tell whether a tool is told's, in any spelling: `mcp__told__get`, `told-get`."""
    parts = "".join([sign if sign.isalnum() else " " for sign in name.lower()]).split()
    return next((part for part in parts if part not in _SERVER_PREFIXES), "") == _NAME


def _runs_told(command: str) -> bool:
    """Tell whether a command runs told rather than mentions it."""
    return any(_is_told(words) for words in list_commands(_remove_heredocs(command)))


def _is_told(words: list[str]) -> bool:
    name = words[0].replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
    if name.startswith("python"):
        return words[1:3] == ["-m", _NAME]
    return name == _NAME or (name in _RUNNERS and _NAME in words[1:_RUNNER_WORDS])


def _remove_heredocs(command: str) -> str:
    """Return a command without its heredocs."""
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


def _has_store(home: str) -> bool:
    return os.path.isfile(os.path.join(home, _STORE))


def _format_reminder(calls: int) -> str:
    return (
        f"told: {calls} tool calls without a checkpoint. When a step is done, call told's tool `checkpoint`"
        " or run `told checkpoint GOAL`."
    )


def _format_request(calls: int) -> str:
    return (
        f"told asks for a checkpoint first: {calls} tool calls without one. Call told's MCP tool"
        ' `checkpoint`, or run `told checkpoint --goal "…" --done "…" --pending "…"`; both always pass.'
        " Then make this call again."
    )
