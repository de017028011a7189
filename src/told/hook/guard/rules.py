"""Read what a rule in plain words forbids: commands, actions, paths, and where."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, lru_cache

from told.hook.guard import load_table, load_words
from told.hook.guard.pattern import Pattern, list_calls, read_pattern
from told.hook.guard.script import parse_script
from told.hook.guard.sentences import COMMAND, OPTION, PATH, WORD, Token, Zone, find_zones
from told.hook.guard.targets import BRANCH, ENVIRONMENT, find_branches, find_environments
from told.search.tokens import stem

_GAP = 3  # words that a `*` of a phrase may skip
_OR = frozenset(("or", "and", "nor", "oder", "und", "|"))
_WHILE = frozenset(("when", "while", "whenever"))
_TASK = "@task"
_INTERPRETERS = frozenset(("python", "python3", "node", "bash", "sh", "ruby", "php"))


@dataclass(frozen=True, slots=True)
class Action:
    """A well-known thing that commands do."""

    says: tuple[tuple[str, ...], ...]  # phrases as stems; "*" is a gap
    patterns: tuple[Pattern, ...]
    variables: tuple[str, ...] = ()  # assignments that do it
    sql: str = ""
    target: str = ""


@dataclass(frozen=True, slots=True)
class Prohibition:
    """What a part of a rule forbids."""

    patterns: tuple[Pattern, ...] = ()
    variables: tuple[str, ...] = ()
    sql: str = ""
    paths: tuple[str, ...] = ()  # forbidden ones; with patterns, the operands that are meant
    use: str = ""  # of the paths: change, delete, commit, any
    target: str = ""
    branches: frozenset[str] = frozenset()
    environments: frozenset[str] = frozenset()
    is_conditional: bool = False  # allows it under a condition that cannot be checked
    is_direct: bool = False  # only the program as typed, not one that another runs


@dataclass(frozen=True, slots=True)
class _Found:
    """A command or an action in a zone, with the places of the words that name it."""

    places: frozenset[int]
    action: Action
    program: int = -1  # the place of a program's name; -1 in a phrase
    is_bare: bool = False  # only a program's name


@dataclass(slots=True)
class _Reader:
    """Reads one zone."""

    zone: Zone
    others: frozenset[str]  # words of the rule that are not forbidden
    tokens: tuple[Token, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.tokens = self.zone.tokens

    def read(self) -> list[Prohibition]:
        """Return what the zone forbids."""
        phrases = self._find_phrases()
        literals = self._find_literals(has_phrases=bool(phrases))
        found = self._drop_covered(phrases, literals)
        first_reversing = next(
            (at for at, one in enumerate(self.tokens) if one.text in load_words("words", "reversing")), len(self.tokens)
        )
        is_reversed = first_reversing < len(self.tokens)
        found = [one for one in found if first_reversing in one.places or max(one.places) < first_reversing]
        paths = [at for at, one in enumerate(self.tokens) if one.kind == PATH]
        if is_reversed:
            paths = [at for at in paths if at < first_reversing]
        verb = self._find_path_verb()
        if paths and verb >= 0:
            found = [one for one in found if one.program >= 0 and verb not in one.places]
        named = frozenset(at for one in found for at in one.places)
        return self._build(found, named, paths, verb)

    def _build(self, found: list[_Found], named: frozenset[int], paths: list[int], verb: int) -> list[Prohibition]:
        words = ["" if at in named and not one.text.startswith("branch") else one.text for at, one in enumerate(self.tokens)]
        words += [one.text for one in self.zone.around]
        targets = {one.action.target for one in found}
        places = tuple(self.tokens[at].raw or self.tokens[at].text for at in paths)
        if BRANCH in targets and places and verb < 0:  # `release/*` is a branch
            words, places = [*words, *places], ()
        branches, environments = find_branches(words), find_environments(words)
        built = []
        left = self._is_limited(named, paths)
        if places and not found and verb >= 0:
            use = next(name for name, verbs in _path_verbs().items() if self.tokens[verb].text in verbs)
            return [Prohibition(paths=places, use=use, is_conditional=left)]
        for one in found:
            action = self._narrow(one) if one.program < 0 else one.action
            target = action.target
            if environments and target != BRANCH:
                target = ENVIRONMENT
            unclear = left or (bool(branches) and target != BRANCH and not environments)
            built.append(
                Prohibition(
                    action.patterns, action.variables, action.sql, places, "", target,
                    branches if target == BRANCH else frozenset(),
                    environments if target == ENVIRONMENT else frozenset(), unclear,
                    one.is_bare and not load_words("words", "directly").isdisjoint(words),
                )
            )  # fmt: skip
        return built

    def _narrow(self, found: _Found) -> Action:
        """Leave out what the rule allows, and other programs than the one it names."""
        action = found.action
        named = {one.text for at, one in enumerate(self.tokens) if one.text in _programs() and at not in found.places}
        kept = [one for one in action.patterns if not named or one.call.program in named]
        kept = kept or list(action.patterns)
        allowed = [one for one in kept if not self._is_allowed(one)]
        return Action(action.says, tuple(allowed), action.variables, action.sql, action.target)

    def _is_allowed(self, pattern: Pattern) -> bool:
        options = {name for name, _ in pattern.call.options}
        bare = load_table("words")["programs"]["bare"].split()
        commands = [one for text in self.others if " " in text for one in parse_script(text)]
        return (
            not options.isdisjoint(self.others)
            or (pattern.call.program in self.others and pattern.call.program in bare)
            or any(pattern.matches(call, one) for one in commands for call in list_calls(one))
        )

    def _is_limited(self, named: frozenset[int], paths: list[int]) -> bool:
        """Tell whether words are left that may limit what is forbidden."""
        known = load_words("words", "fillers") | _target_words() | frozenset().union(*_path_verbs().values())
        known |= find_branches([one.text for one in self.tokens])
        words = [one.text for at, one in enumerate(self.tokens) if at not in named and at not in paths]
        around = [one.text for one in self.zone.around]
        return self.zone.is_conditional or any(
            word not in known and word.isascii() and word not in _OR
            and word not in _programs() and not word.startswith("-")
            for word in [*words, *around]
        )  # fmt: skip

    def _find_phrases(self) -> list[_Found]:
        stems = [one.stem for one in self.tokens]
        found = []
        late = next((at for at, one in enumerate(self.tokens) if one.text in _WHILE), len(stems))
        for action in load_actions():
            for phrase in action.says:
                for at in range(len(stems)):
                    places = _match_phrase(stems, at, phrase)
                    if places and min(places) < late:
                        found.append(_Found(places, action))
        named = {at for one in found for at in one.places}
        return [one for one in found if self._is_meant(one, named)]

    def _is_meant(self, found: _Found, named: set[int]) -> bool:
        """Tell whether a phrase is what is forbidden: not "add emojis to commits" or "commit secrets"."""
        known = load_words("words", "fillers") | _target_words() | _OR | _programs() | load_words("words", "reversing")
        first = min(found.places)
        before = [one.text for at, one in enumerate(self.tokens[:first]) if at not in named and one.kind == WORD]
        if not known.issuperset(word for word in before if word.isascii()):
            return False
        if len(found.places) > 1:
            return True
        prepositions = load_words("words", "prepositions")
        for at in range(first + 1, len(self.tokens)):
            one, following = self.tokens[at], self.tokens[at + 1].text if at + 1 < len(self.tokens) else ""
            if at in named or one.text in prepositions or following in ("branch", "branches"):
                return True
            if one.text not in known and one.text.isascii():
                return one.kind != WORD
        return True

    def _find_literals(self, *, has_phrases: bool) -> list[_Found]:
        """Return the commands that the zone names, in backticks or in plain words."""
        found: list[_Found] = []
        for at, token in enumerate(self.tokens):
            if token.kind == COMMAND:
                found += self._literal(frozenset((at,)), token.raw, at)
            elif token.kind == PATH and at and self.tokens[at - 1].text in load_words("words", "running"):
                found += self._literal(frozenset((at - 1, at)), token.raw, at)
            elif token.kind == WORD and token.text in _programs():
                found += self._read_command(at, has_phrases=has_phrases)
        options = [at for at, one in enumerate(self.tokens) if one.kind == OPTION]
        loose = [at for at in options if not any(at in one.places for one in found)]
        if loose and found:  # "git commit with --no-verify"
            last = found[-1]
            text = " ".join([last.action.patterns[0].text, *(self.tokens[at].raw for at in loose)])
            found[-1:] = self._literal(last.places | frozenset(loose), text, last.program)
        return found

    def _read_command(self, at: int, *, has_phrases: bool) -> list[_Found]:
        program, end = self.tokens[at].text, at + 1
        subcommands = frozenset(load_table("words")["programs"]["subcommands"].split())
        is_run = at > 0 and self.tokens[at - 1].text in load_words("words", "running")
        tasks = load_words("programs", "task_runners")
        while end < len(self.tokens):
            one = self.tokens[end]
            is_task = program in tasks and (is_run or self.tokens[end - 1].text == "run")
            is_script = one.kind == PATH and program in _INTERPRETERS
            if not (
                one.kind == OPTION or one.text in subcommands or one.text.isdigit() or one.text == "." or is_script
                or (is_task and one.kind == WORD and one.text not in load_words("words", "fillers") | _OR)
            ):  # fmt: skip
                break
            end += 1
        words = [one.raw or one.text for one in self.tokens[at:end]]
        found = []
        if end > at + 1:
            found += self._literal(frozenset(range(at, end)), " ".join(words), at)
            while end + 1 < len(self.tokens) and self.tokens[end].text in _OR and self.tokens[end + 1].text in subcommands:
                found += self._literal(frozenset((at, end + 1)), f"{program} {self.tokens[end + 1].text}", at)
                end += 2
            return found
        if has_phrases or self._runs_next(at):
            return []
        if self._is_bare(at):
            return self._literal(frozenset((at,)), program, at)
        fillers = load_words("words", "fillers")
        verbs = [i for i, one in enumerate(self.tokens) if one.text in subcommands - fillers - _programs()]
        if verbs:  # "apply changes with terraform"
            return self._literal(frozenset((at, verbs[0])), f"{program} {self.tokens[verbs[0]].text}", at)
        return []

    def _runs_next(self, at: int) -> bool:
        """Tell whether a program only runs the one named after it: `npx prisma`."""
        following = self.tokens[at + 1].text if at + 1 < len(self.tokens) else ""
        return following in _programs() and self.tokens[at].text in load_table("programs")["runs_another"]

    def _is_bare(self, at: int) -> bool:
        """Tell whether a program is forbidden as such: "no npm", "never use git"."""
        light = load_words("words", "using") | _OR | _programs()
        before = [one.text for one in self.tokens[:at] if one.text.isascii()]
        if self.tokens[at].text in load_table("words")["programs"]["bare"].split():
            return light.issuperset(before)
        after = [one.text for one in self.tokens[at + 1 :]]
        is_run = bool(before) and before[-1] in load_words("words", "running")
        return is_run and load_words("words", "fillers").issuperset([*before, *after])

    def _literal(self, places: frozenset[int], text: str, program: int) -> list[_Found]:
        pattern = read_pattern(text)
        if pattern is None:
            return []
        target = BRANCH if pattern.call.program in ("git", "gh", "glab") else ENVIRONMENT
        is_bare = not pattern.call.operands and not pattern.call.options
        return [_Found(places, Action((), (pattern,), target=target), program, is_bare)]

    def _drop_covered(self, phrases: list[_Found], literals: list[_Found]) -> list[_Found]:
        """Leave out phrases and commands whose words are part of a longer one."""
        fillers = load_words("words", "fillers")
        weight = {
            one.places: frozenset(at for at in one.places if self.tokens[at].text not in fillers) or one.places
            for one in phrases
        }
        kept = [
            one
            for one in phrases
            if not any(
                one.places < other.places or weight[one.places] < weight[other.places] for other in phrases
            )
            and not any(one.places < other.places - {other.program} for other in literals)
            and not any(one.places <= other.places and self._is_task(other) for other in literals)
        ]
        return kept + [
            one
            for one in literals
            if not any(
                one.places - {one.program} < other.places and not other.places <= one.places for other in kept
            )
        ]

    def _is_task(self, found: _Found) -> bool:
        return self.tokens[found.program].text in ("make", "just", "task")

    def _find_path_verb(self) -> int:
        verbs = frozenset().union(*_path_verbs().values())
        return next((at for at, one in enumerate(self.tokens) if one.text in verbs and one.kind == WORD), -1)


@lru_cache(maxsize=256)
def read_rule(text: str) -> tuple[Prohibition, ...]:
    """Return what a rule forbids that the guard can act on."""
    zones, others = find_zones(text)
    return tuple(dict.fromkeys(one for zone in zones for one in _Reader(zone, others).read()))


def forbids_something(text: str) -> bool:
    """Tell whether a rule reads as if it forbade a command or a path."""
    zones, _ = find_zones(text)
    verbs, reversing = load_words("words", "command_verbs"), load_words("words", "reversing")
    nouns, changes = load_words("words", "file_nouns"), frozenset().union(*_path_verbs().values())
    for zone in zones:
        words = [one.text for one in zone.tokens]
        if not reversing.isdisjoint(words[:1]):
            continue
        if not verbs.isdisjoint(words[:2]) or (not nouns.isdisjoint(words) and not changes.isdisjoint(words)):
            return True
        if any(one.text in _programs() and at < 3 for at, one in enumerate(zone.tokens)):
            return True
    return False


@cache
def load_actions() -> tuple[Action, ...]:
    """Load the well-known actions."""
    return tuple(
        Action(
            tuple(tuple(_stem_phrase(one)) for one in _items(row["says"])),
            tuple(
                pattern
                for one in (*_items(row.get("commands", "")), *(f"{_TASK} {name}" for name in _items(row.get("tasks", ""))))
                if (pattern := read_pattern(one))
            ),
            tuple(_items(row.get("variables", ""))),
            row.get("sql", ""),
            row.get("target", ""),
        )
        for row in load_table("actions")["action"]
    )  # fmt: skip


def _items(text: str) -> list[str]:
    return [one for part in text.split(",") if (one := " ".join(part.split()))]


def _stem_phrase(phrase: str) -> list[str]:
    return [
        Token(word, OPTION).stem if word.startswith("-") else word if word == "*" else stem(word)
        for word in phrase.split()
    ]


def _match_phrase(stems: list[str], at: int, phrase: tuple[str, ...]) -> frozenset[int]:
    """Return the places of a phrase that starts at a word; empty if it does not."""
    if stems[at] != phrase[0]:
        return frozenset()
    places, place, gap = [at], at + 1, 0
    for word in phrase[1:]:
        if word == "*":
            gap = _GAP
            continue
        end = min(place + gap + 1, len(stems))
        found = next((i for i in range(place, end) if stems[i] == word), -1)
        if found < 0:
            return frozenset()
        places.append(found)
        place, gap = found + 1, 0
    return frozenset(places)


@cache
def _programs() -> frozenset[str]:
    table = load_table("words")["programs"]
    return frozenset(f"{table['bare']} {table['with_subcommand']}".split())


@cache
def _path_verbs() -> dict[str, frozenset[str]]:
    return {name: frozenset(words.split()) for name, words in load_table("words")["path_verbs"].items()}


@cache
def _target_words() -> frozenset[str]:
    table = load_table("words")
    lines = [*table["branches"], *table["environments"], table["protected_words"]]
    return frozenset(word for line in lines for word in line.split())
