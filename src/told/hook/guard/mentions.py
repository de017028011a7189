"""Find the commands and actions that the forbidden part of a rule names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from told.hook.guard import load_table, load_words
from told.hook.guard.actions import Action, load_actions, match_phrase
from told.hook.guard.pattern import read_pattern
from told.hook.guard.script import Command
from told.hook.guard.sentences import COMMAND, OPTION, PATH, WORD, Token, Zone
from told.hook.guard.targets import BRANCH, ENVIRONMENT, find_branches

_OR = frozenset(("or", "and", "nor", "oder", "und", "|"))
_WHILE = frozenset(("when", "while", "whenever"))
_INTERPRETERS = frozenset(("python", "python3", "node", "bash", "sh", "ruby", "php"))
_TASK_RUNNERS = frozenset(("make", "just", "task"))
_NEAR = 3  # words between a program and its subcommand: "apply changes with terraform"


@dataclass(frozen=True, slots=True)
class Mention:
    """A command or an action, with the places of the words that name it."""

    places: frozenset[int]
    action: Action
    program: int = -1  # the place of a program's name; -1 in a phrase
    is_bare: bool = False  # only a program's name


def find_mentions(zone: Zone) -> tuple[list[Mention], frozenset[int]]:
    """Return what a zone names, and the places of all words that name something."""
    phrases = _find_phrases(zone)
    commands = _find_commands(zone, has_phrases=bool(phrases))
    found = _drop_covered(zone, phrases, commands)
    return found, frozenset(at for one in (*phrases, *found) for at in one.places)


def is_limited(zone: Zone, named: frozenset[int]) -> bool:
    """Tell whether words are left that may limit what is forbidden."""
    if zone.is_conditional:
        return True
    known = load_words("words", "fillers") | known_targets() | programs() | _OR
    known |= find_branches([one.text for one in zone.tokens])
    left = [one for at, one in enumerate(zone.tokens) if at not in named and one.kind != PATH]
    return any(
        one.text not in known and one.text.isascii() and one.kind != OPTION and not path_use(one)
        for one in (*left, *zone.around)
    )


def _find_phrases(zone: Zone) -> list[Mention]:
    stems = [one.stem for one in zone.tokens]
    found = []
    late = next((at for at, one in enumerate(zone.tokens) if one.text in _WHILE), len(stems))
    for action in load_actions():
        for phrase in action.says:
            for at in range(len(stems)):
                places = match_phrase(stems, at, phrase)
                if places and min(places) < late:
                    found.append(Mention(places, action))
    named = {at for one in found for at in one.places}
    return [one for one in found if _is_meant(zone, one, named)]


def _is_meant(zone: Zone, found: Mention, named: set[int]) -> bool:
    """Tell whether a phrase is what is forbidden: not "add emojis to commits" or "commit secrets"."""
    known = load_words("words", "fillers") | known_targets() | _OR | programs()
    known |= load_words("words", "reversing")
    first = min(found.places)
    start = max([at + 1 for at in range(first) if zone.tokens[at].text in _OR], default=0)
    before = [
        zone.tokens[at].text for at in range(start, first) if at not in named and zone.tokens[at].kind == WORD
    ]
    if not known.issuperset(word for word in before if word.isascii()):
        return False
    if len([at for at in found.places if zone.tokens[at].text not in load_words("words", "fillers")]) > 1:
        return True
    prepositions = load_words("words", "prepositions")
    for at in range(first + 1, len(zone.tokens)):
        one, following = zone.tokens[at], zone.tokens[at + 1].text if at + 1 < len(zone.tokens) else ""
        if one.text in prepositions or following in ("branch", "branches"):
            return True
        if at not in named and one.text not in known and one.text.isascii():
            return one.kind != WORD
    return True


def _find_commands(zone: Zone, *, has_phrases: bool) -> list[Mention]:
    """Return the commands that the zone names, in backticks or in plain words."""
    found: list[Mention] = []
    for at, token in enumerate(zone.tokens):
        if token.kind == COMMAND and _is_command(zone, at):
            found += _mention(frozenset((at,)), token.raw, at)
        elif token.kind == PATH and at and zone.tokens[at - 1].text in load_words("words", "running"):
            found += _mention(frozenset((at - 1, at)), token.raw, at)
        elif token.kind == WORD and token.text in programs():
            found += _read_command(zone, at, has_phrases=has_phrases)
    options = [at for at, one in enumerate(zone.tokens) if one.kind == OPTION]
    loose = [at for at in options if not any(at in one.places for one in found)]
    if loose and found:  # "git commit with --no-verify"
        last = found[-1]
        text = " ".join([last.action.commands[0], *(zone.tokens[at].raw for at in loose)])
        found[-1:] = _mention(last.places | frozenset(loose), text, last.program)
    return found


def _is_command(zone: Zone, at: int) -> bool:
    """Tell a command in backticks from code: not "never use `any` in TypeScript"."""
    text = zone.tokens[at].text
    if " " in text or text in programs():
        return True
    verb = zone.tokens[at - 1].text if at else ""
    return verb in load_words("words", "running") and (
        verb != "use" or not is_limited(zone, frozenset((at,)))
    )


def _read_command(zone: Zone, at: int, *, has_phrases: bool) -> list[Mention]:
    program, end = zone.tokens[at].text, at + 1
    subcommands = load_words("words", "subcommands")
    is_run = at > 0 and zone.tokens[at - 1].text in load_words("words", "running")
    tasks, no_names = load_words("programs", "task_runners"), load_words("words", "fillers") | _OR
    while end < len(zone.tokens):
        one = zone.tokens[end]
        is_task = program in tasks and (is_run or zone.tokens[end - 1].text == "run")
        is_operand = one.text in subcommands or one.text.isdigit() or one.text == "."
        is_operand = is_operand or (is_task and one.kind == WORD and one.text not in no_names)
        if not (is_operand or one.kind == OPTION or (one.kind == PATH and program in _INTERPRETERS)):
            break
        end += 1
    words = [one.raw or one.text for one in zone.tokens[at:end]]
    found = []
    if end > at + 1:
        found += _mention(frozenset(range(at, end)), " ".join(words), at)
        while (
            end + 1 < len(zone.tokens)
            and zone.tokens[end].text in _OR
            and zone.tokens[end + 1].text in subcommands
        ):
            found += _mention(frozenset((at, end + 1)), f"{program} {zone.tokens[end + 1].text}", at)
            end += 2
        return found
    if has_phrases or _runs_next(zone, at):
        return []
    if _is_bare(zone, at):
        return _mention(frozenset((at,)), program, at)
    fillers = load_words("words", "fillers")
    near = range(max(at - _NEAR, 0), min(at + _NEAR + 1, len(zone.tokens)))
    verbs = [i for i in near if zone.tokens[i].text in subcommands - fillers - programs() - known_targets()]
    if verbs and program not in _INTERPRETERS:  # "apply changes with terraform"
        return _mention(frozenset((at, verbs[0])), f"{program} {zone.tokens[verbs[0]].text}", at)
    return []


def _runs_next(zone: Zone, at: int) -> bool:
    """Tell whether a program only runs the one named after it: `npx prisma`."""
    following = zone.tokens[at + 1].text if at + 1 < len(zone.tokens) else ""
    return following in programs() and zone.tokens[at].text in load_table("programs")["runs_another"]


def _is_bare(zone: Zone, at: int) -> bool:
    """Tell whether a program is forbidden as such: "no npm", "never use git"."""
    light = load_words("words", "using") | _OR | programs()
    before = [one.text for one in zone.tokens[:at] if one.text.isascii()]
    if zone.tokens[at].text in load_words("words", "programs", "bare"):
        return light.issuperset(before)
    after = [one.text for one in zone.tokens[at + 1 :]]
    is_run = bool(before) and before[-1] in load_words("words", "running")
    return is_run and load_words("words", "fillers").issuperset([*before, *after])


def _mention(places: frozenset[int], text: str, program: int) -> list[Mention]:
    pattern = read_pattern(text)
    if pattern is None:
        return []
    target = BRANCH if pattern.call.program in ("git", "gh", "glab") else ENVIRONMENT
    is_bare = not pattern.call.operands and not pattern.call.options
    return [Mention(places, Action((text,), target=target), program, is_bare)]


def _drop_covered(zone: Zone, phrases: list[Mention], commands: list[Mention]) -> list[Mention]:
    """Leave out phrases and commands whose words are part of a longer one."""
    fillers = load_words("words", "fillers")
    weight = {
        one.places: frozenset(at for at in one.places if zone.tokens[at].text not in fillers) or one.places
        for one in phrases
    }
    tasks = {at for one in commands if zone.tokens[one.program].text in _TASK_RUNNERS for at in one.places}
    kept = [
        one
        for one in phrases
        if not any(
            one.places < other.places or weight[one.places] < weight[other.places] for other in phrases
        )
        and not any(one.places < other.places - {other.program} for other in commands)
        and not one.places <= tasks
        and not any(_is_broader(one, other) for other in commands)
    ]
    return kept + [
        one
        for one in commands
        if not any(
            one.places - {one.program} < other.places and not other.places <= one.places for other in kept
        )
    ]


def _is_broader(phrase: Mention, command: Mention) -> bool:
    """Tell whether a command with options is an instance of a phrase: "kill processes with kill -9"."""
    call = command.action.patterns[0].call
    return bool(call.options) and any(
        len(one.call.options) < len(call.options) and one.matches(call, Command(()))
        for one in phrase.action.patterns
    )


def programs() -> frozenset[str]:
    """Return the programs known by their names."""
    return load_words("words", "programs")


def known_targets() -> frozenset[str]:
    """Return the names of branches and environments."""
    return (
        load_words("words", "branches")
        | load_words("words", "environments")
        | load_words("words", "protected_words")
    )


def path_use(token: Token) -> str:
    """Return what a verb does with a path: change, delete, commit, any; empty for other words."""
    return _path_verbs().get(token.stem, "")


@cache
def _path_verbs() -> dict[str, str]:
    uses = load_table("words")["path_verbs"]
    return {Token(word).stem: use for use in reversed(uses) for word in uses[use].split()}
