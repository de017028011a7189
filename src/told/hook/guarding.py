"""Where the user chose it: a tool call that a locked prohibition names is asked about, or denied.

Only what stands in backticks in a locked rule, or is its trigger, can match, and only if the rule denies it.
"""

from __future__ import annotations

from told.agents.dialects import verdict
from told.hook.gate import at_gate
from told.hook.places import here
from told.hook.shell import simple_commands
from told.memory.scopes import holding_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from told.hook.moment import Moment
    from told.store.memory_records import Memory

_ASK, _OFF = "ask", "off"
_FEWEST = 2  # letters
# Denied themselves, they turn what follows round: "never skip `pytest`".
_TURNING = frozenset(("skip", "stop", "forget", "omit", "miss", "disable", "bypass", "ignore"))


def at_tool(moment: Moment) -> dict[str, Any]:
    """Return the answer to a tool call; empty if there is nothing to say about it."""
    return _forbidden(moment) or at_gate(moment)


def _forbidden(moment: Moment) -> dict[str, Any]:
    """Return what a call meets that a locked rule denies; empty if none does."""
    call, home = moment.call, moment.home
    decision = moment.settings.guard
    if not (call.command or call.file) or decision == _OFF:
        return {}
    memories = moment.memories()
    place = here(home, call.cwd, moment.hide)
    locked = memories.load(memories.locked(holding_in(memories, place.scope)))
    if not locked:
        return {}
    commands = simple_commands(call.command)
    file = call.file.removeprefix(f"{place.root}/") if place.root else call.file
    for memory in locked.values():
        for named in _named(memory):
            matches = _is_at(named, file) if file else any(_runs(named.split(), one) for one in commands)
            found = _denied(memory.text, named) if matches else ""
            if found:
                reason = f"A rule you locked ({memory.id}): {memory.text}"
                return verdict(call, _ASK if found == _ASK else decision, reason)
    return {}


def _named(memory: Memory) -> list[str]:
    """Return the commands and paths that a rule is about."""
    ticked = memory.text.split("`")[1::2]
    triggers = [one.value for one in memory.triggers if one.kind in ("command", "path")]
    return [one for one in dict.fromkeys((*ticked, *triggers)) if len(one) >= _FEWEST]


def _is_at(named: str, file: str) -> bool:
    """Tell whether a file is the one, or in the folder, that a rule names."""
    place = named.removeprefix("./").rstrip("*").rstrip("/")
    return bool(place) and " " not in place and f"/{place}/" in f"/{file}/"


def _runs(wanted: list[str], words: list[str]) -> bool:
    """Tell whether a command is the wanted one: the same program, and all its words in their order."""
    if not wanted or words[0].rpartition("/")[2] != wanted[0]:
        return False
    rest = iter(words[1:])
    return all(word in rest for word in wanted[1:])


def _denied(text: str, named: str) -> str:
    """Return whether a rule denies what it names: "deny", "ask" if only under a condition, or nothing."""
    from told.memory._graph_polarity import EXCEPTING, claim
    from told.search.tokens import key_of, tokens_of

    plain = text.replace("`", " ").lower()
    tokens = tokens_of(plain)
    if not _TURNING.isdisjoint(tokens):
        return ""
    found = claim(plain)
    about = {key_of(word) for word in (*tokens_of(named.lower()), named.lower().rstrip("/"), named.lower())}
    if found.unless:  # what stands before the condition is meant
        place = next((at for at, token in enumerate(tokens) if token in EXCEPTING), len(tokens))
        return _ASK if about & {key_of(token) for token in tokens[:place]} else ""
    return "deny" if about & found.denied else ""
