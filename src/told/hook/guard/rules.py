"""Read what a rule in plain words forbids: commands, actions and paths, and where."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

from told.hook.guard import load_words
from told.hook.guard.actions import Action
from told.hook.guard.mentions import Mention, find_mentions, is_limited, path_use, programs
from told.hook.guard.pattern import Pattern, list_calls
from told.hook.guard.script import parse_script
from told.hook.guard.sentences import PATH, WORD, Zone, find_zones
from told.hook.guard.targets import BRANCH, ENVIRONMENT, find_branches, find_environments


@dataclass(frozen=True, slots=True)
class Prohibition:
    """What a part of a rule forbids."""

    action: Action | None = None
    paths: tuple[str, ...] = ()  # forbidden ones; with an action, the operands that are meant
    use: str = ""  # of forbidden paths: change, delete, commit, any
    branches: frozenset[str] = frozenset()
    environments: frozenset[str] = frozenset()
    is_conditional: bool = False  # allows it under a condition that cannot be checked
    is_direct: bool = False  # only the program as typed, not one that another runs


@lru_cache(maxsize=256)
def read_rule(text: str) -> tuple[Prohibition, ...]:
    """Return what a rule forbids that the guard can act on."""
    zones, others = find_zones(text)
    return tuple(dict.fromkeys(one for zone in zones for one in _read_zone(zone, others)))


def forbids_something(text: str) -> bool:
    """Tell whether a rule reads as if it forbade a command or a path."""
    names = programs() - load_words("words", "spoken")
    for zone in find_zones(text)[0]:
        words = [one.text for one in zone.tokens]
        if not load_words("words", "reversing").isdisjoint(words[:1]):
            continue
        runs = not load_words("words", "command_verbs").isdisjoint(words[:2]) or not names.isdisjoint(
            words[:3]
        )
        changes = any(map(path_use, zone.tokens))
        if runs or (changes and not load_words("words", "file_nouns").isdisjoint(words)):
            return True
    return False


def _read_zone(zone: Zone, others: frozenset[str]) -> list[Prohibition]:
    """Return what a zone forbids; `others` are the words of the rule outside of it."""
    found, named = find_mentions(zone)
    reversing = load_words("words", "reversing")
    end = next((at for at, one in enumerate(zone.tokens) if one.text in reversing), len(zone.tokens))
    found = [one for one in found if end in one.places or max(one.places) < end]  # not "skip pytest"
    used = {at for one in found for at in one.places}  # "run scripts/deploy.sh"
    paths = tuple(one.raw for at, one in enumerate(zone.tokens[:end]) if one.kind == PATH and at not in used)
    verb = next((at for at, one in enumerate(zone.tokens) if one.kind == WORD and path_use(one)), -1)
    if paths and verb >= 0:
        found = [one for one in found if one.program >= 0 and verb not in one.places]
        if not found:
            use = path_use(zone.tokens[verb])
            return [Prohibition(None, paths, use, is_conditional=zone.is_conditional)]
    return [
        _forbid(zone, one, named, paths if verb >= 0 or one.action.target != BRANCH else (), others)
        for one in found
    ]


def _forbid(
    zone: Zone, mention: Mention, named: frozenset[int], paths: tuple[str, ...], others: frozenset[str]
) -> Prohibition:
    """Return the prohibition of an action where a zone says."""
    action = _narrow(zone, mention, others) if mention.program < 0 else mention.action
    every = [one.text for one in (*zone.tokens, *zone.around)]
    free = ["" if at in named and not word.startswith("branch") else word for at, word in enumerate(every)]
    branches, environments = find_branches(free), find_environments(every)
    if action.target == BRANCH:
        environments = frozenset()
    elif environments:
        action, branches = replace(action, target=ENVIRONMENT), frozenset()
    return Prohibition(
        action, paths, "",
        branches if action.target == BRANCH else frozenset(), environments,
        is_limited(zone, named) or (bool(branches) and action.target != BRANCH),
        mention.is_bare and not load_words("words", "directly").isdisjoint(every),
    )  # fmt: skip


def _narrow(zone: Zone, mention: Mention, others: frozenset[str]) -> Action:
    """Leave out what the rule allows, and other programs than the one it names."""
    names = {
        one.text for at, one in enumerate(zone.tokens) if one.text in programs() and at not in mention.places
    }
    names = names if programs().isdisjoint(zone.tokens[at].text for at in mention.places) else set()
    patterns = mention.action.patterns
    kept = [one for one in patterns if one.call.program in names] or patterns
    return replace(mention.action, commands=tuple(one.text for one in kept if not _is_allowed(one, others)))


def _is_allowed(pattern: Pattern, others: frozenset[str]) -> bool:
    """Tell whether a rule names a command outside of what it forbids: "use --force-with-lease"."""
    commands = [one for text in others if " " in text for one in parse_script(text)]
    return (
        any(name in others for name, _ in pattern.call.options)
        or pattern.call.program in others & load_words("words", "programs", "bare")
        or any(pattern.matches(call, one) for one in commands for call in list_calls(one))
    )
