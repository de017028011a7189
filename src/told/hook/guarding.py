"""Where the user chose it: a tool call that a locked prohibition names is asked about, or denied.

Only what stands in backticks in a locked rule, or is its trigger, can match, and only if the rule denies it.
"""

from __future__ import annotations

from told.agents.dialects import verdict
from told.hook.places import here
from told.journal.apply import open_memories
from told.memory.scopes import holding_in
from told.settings import guard_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.hook.moment import Moment
    from told.store.memory_records import Memory

_ASK = "ask"
_PARTS = ("&&", "||", ";", "|", "\n", "&", "$(", "`", "(", ")", "{", "}")
_BEFORE = frozenset(("sudo", "env", "command", "exec", "nohup", "time", "then", "do", "else", "!"))
_FEWEST = 2  # letters


def at_tool(moment: Moment) -> dict[str, Any]:
    """Return the answer to a tool call; empty if nothing speaks against it."""
    call, home = moment.call, moment.home
    decision = guard_of(home, moment.environ)
    if not call.command or not decision:
        return {}
    memories = open_memories(home, hurry=True)
    place = here(home, call.cwd)
    locked = memories.load(memories.locked(holding_in(memories, place.scope)))
    for memory in locked.values():
        for named in _named(memory):
            if _matches(named, call.command, place.root) and (found := _denied(memory.text, named)):
                reason = f"A rule you locked ({memory.id}): {memory.text}"
                return verdict(call, _ASK if found == _ASK else decision, reason)
    return {}


def _named(memory: Memory) -> list[str]:
    """Return the commands and paths that a rule is about."""
    ticked = memory.text.split("`")[1::2]
    triggers = [one.value for one in memory.triggers if one.kind in ("command", "path")]
    return [one for one in dict.fromkeys((*ticked, *triggers)) if len(one) >= _FEWEST]


def _matches(named: str, command: str, root: str) -> bool:
    """Tell whether a tool call runs a command, or touches a path, that a rule names."""
    if "/" in named and " " not in named:
        touched = command.removeprefix(f"{root}/") if root else command
        place = named.removeprefix("./").rstrip("*")
        return touched.startswith(place) or f"/{place}" in touched
    wanted = named.split()
    return any(_runs(wanted, part) for part in _simple(command))


def _simple(command: str) -> list[list[str]]:
    """Return the simple commands of a shell line, as words, without what only stands before them."""
    for part in _PARTS:
        command = command.replace(part, "\n")
    found = []
    for line in command.splitlines():
        words = [word.strip("\"'") for word in line.split()]
        while words and (words[0] in _BEFORE or ("=" in words[0] and not words[0].startswith("-"))):
            words.pop(0)
        found += [words] if words else []
    return found


def _runs(wanted: list[str], words: list[str]) -> bool:
    """Tell whether a command is the wanted one: the same program, and all its words in their order."""
    if words[0].rpartition("/")[2] != wanted[0]:
        return False
    rest = iter(words[1:])
    return all(word in rest for word in wanted[1:])


def _denied(text: str, named: str) -> str:
    """Return whether a rule denies what it names: "deny", "ask" if only under a condition, or nothing."""
    from told.memory._graph_polarity import claim
    from told.search.tokens import key_of

    found = claim(text.replace("`", " "))
    about = {key_of(word) for word in named.replace("/", " ").lower().split()}
    if not about & found.denied and not found.unless:
        return ""
    return _ASK if found.unless else "deny"
