"""Find the commands that a sentence names, and whether it asks for or forbids them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from told.learning import TABLE, load_alternation, load_words
from told.learning import compile_any_case as _compile
from told.learning.shell import Command, parse_commands, plain_words
from told.pattern import lazy_pattern

COMMON_PROGRAMS = load_words("common_programs")
_PROGRAMS, _SPOKEN_PROGRAMS = load_words("program_names"), load_words("spoken_program_names")
_SUBCOMMANDS = load_words("subcommands")
_PARENT_SUBCOMMANDS = {"run", "pip", "compose", "system", "audit"}  # followed by another subcommand
_EXCLUSIVE = [frozenset(names.split()) for names in TABLE["exclusive_programs"]]
_ECOSYSTEMS = {name: ecosystem for ecosystem, names in TABLE["ecosystems"].items() for name in names.split()}
_INSTALLERS, _TASK_RUNNERS = load_words("installers"), load_words("task_runners")
_INSTALL_VERBS = ("install", "add", "i", "ci", "sync", "remove", "uninstall")
_MAX_PATTERN_WORDS = 5

_QUOTED = lazy_pattern(r"`([^`\n]{1,120})`|\"([^\"\n]{1,120})\"")
_WORD = lazy_pattern(r"[\w.:@/+-]+")
_NEXT_WORD = lazy_pattern(r" (?:with )?(--?[\w-]+(?:=\S+)?|[\w:.-]*\w)")
_SCRIPT = lazy_pattern(r"(?:\.{0,2}/)?[\w./-]+\.(?:sh|py|js|ts|rb|ps1)|\./[\w./-]+")
_CLAUSE_END = lazy_pattern("[.;:!?,()]|\\s[\u2013\u2014-]\\s")


def _compile_words(name: str) -> re.Pattern[str]:
    return _compile(rf"(?<![\w']){load_alternation(name)}(?![\w-])")


_NEGATION, _REQUEST = _compile_words("negations"), _compile_words("requests")
_CONDITION = _compile_words("conditions")
_TASK_WITH = _compile(
    r"\b(?:build|built|check|deploy|format|install|lint|manage|managed|start|test|tests?|bauen|testen?|tester"
    r"|installe[rz]?|instala|teste)\b.*\b(?:with|via|through|by|mit|avec|con|com)\W*$"
)
_COMPLAINT = _compile(
    r"\b(?:fail\w*|breaks?|broken?|crash\w*|errors?|slow|hangs?|flaky|bugs?|kaputt|échoue|falla|falha)\b"
)
_IS_AFTER = _compile(r"\s*(?:is|are|was|were|has|does|ist|sind|est|sont|es|está|é)\b")
_NOT_AFTER = _compile(r"\s*(?:nicht|nie|niemals)\b")
_CONJUNCTION = _compile(r"\W*(?:or|and|nor|oder|und|noch|ou|et|ni|o|y|e|nem|,)?\W*")
_FROM = _compile(r"\b(?:from|replaced?|von|ersetze|remplace[rz]?|reemplaza|de)\W*$")
_TO = _compile(r"\W*(?:to|with|by|zu|auf|durch|à|par|por|a|para)\W*")
_PREPOSITION = _compile(r"\W*(?:with|on|for|in|via|through|mit|für|con|com|avec|para|pour)\W*")
_BUT = _compile(r"[,;:]|\b(?:but|sondern|mais|sino|mas)\b")
_DONT_FORGET = _compile(r"\b(?:forget|vergiss|vergessen|oublie\w*|olvides|esqueça)\b")


@dataclass(frozen=True, slots=True)
class Mention:
    """A command that a sentence names."""

    pattern: tuple[str, ...]
    sense: int  # 1 asks for it, -1 forbids it, 0 only mentions it
    start: int
    end: int
    limits: bool = False  # it limits the command forbidden before it: "no --force with `git push`"


def is_same_ecosystem(command: Command, program: str) -> bool:
    """Return whether a command could replace a program: not across languages."""
    ecosystem = _ECOSYSTEMS.get(program)
    return ecosystem is None or _ECOSYSTEMS.get(command.layers[-1][0]) == ecosystem


def exclusive_programs(program: str) -> frozenset[str]:
    """Return the programs of which a project uses one, this one included."""
    return next((names for names in _EXCLUSIVE if program in names), frozenset((program,)))


def does_task(command: Command, task: str) -> bool:
    """Return whether a command plainly tests, lints, formats, builds, checks or installs."""
    return any(_does_task(plain_words(layer), layer, task) for layer in command.layers)


def _does_task(plain: list[str], layer: tuple[str, ...], task: str) -> bool:
    if not plain:
        return False
    program, rest = plain[0], [word for word in plain[1:] if word != "run"]
    if task == "install":
        return program in _INSTALLERS and any(word in _INSTALL_VERBS for word in rest[:2])
    if program == "ruff":
        return task == ("format" if "format" in rest[:1] else "lint")
    words = TABLE["tasks"].get(task, {"programs": "", "verbs": ""})
    if program in words["programs"].split():
        return "--version" not in layer and "--help" not in layer
    return program in _TASK_RUNNERS and any(verb in rest[:1] for verb in words["verbs"].split())


def is_conditional(sentence: str) -> bool:
    """Return whether a sentence applies only at times, or lifts a rule."""
    return _CONDITION.search(sentence) is not None


def find_mentions(sentence: str) -> list[Mention]:
    """Return the commands that a sentence names, in its order."""
    found: list[Mention] = []
    for start, end, pattern in sorted(_find_patterns(sentence)):
        last = found[-1] if found else None
        before = sentence[last.end if last else 0 : start]
        sense = _sense(before, sentence[end:], last)
        if last and _TO.fullmatch(before) and _FROM.search(sentence[: last.start]):
            found[-1] = last = replace(last, sense=-1, limits=False)
            sense = 1
        limits = last is not None and last.sense < 0 and _PREPOSITION.fullmatch(before) is not None
        found.append(Mention(pattern, 0 if limits else sense, start, end, limits))
    return found


def _sense(before: str, after: str, last: Mention | None) -> int:
    """Return whether the text around a command asks for it (1) or forbids it (-1)."""
    if _NOT_AFTER.match(after):
        return -1
    if _IS_AFTER.match(after):
        return 0
    if last is not None and last.sense and _CONJUNCTION.fullmatch(before):
        return last.sense
    clause = _CLAUSE_END.split(before)[-1]
    if _COMPLAINT.search(clause):
        return 0
    forbids = _NEGATION.search(clause)
    if not forbids and not _REQUEST.search(clause) and not _TASK_WITH.search(clause):
        is_alternative = last is not None and last.sense < 0 and _BUT.search(before)
        return 1 if is_alternative else 0
    return -1 if forbids and not _DONT_FORGET.search(clause) else 1


def _find_patterns(sentence: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield the start, end and words of each command in a sentence."""
    quoted: list[tuple[int, int]] = []
    for match in _QUOTED.finditer(sentence):
        quoted.append(match.span())
        if pattern := _parse_pattern(match[1] or match[2]):
            yield *match.span(), pattern
    at = 0
    for word in _WORD.finditer(sentence):
        if word.start() < at or any(start <= word.start() < end for start, end in quoted):
            continue
        name = word.group().rstrip(".:,")
        is_program = name.lower() in _PROGRAMS
        is_path = "/" in name
        is_script = is_path and _SCRIPT.fullmatch(name) is not None
        if not is_program and name.lower() not in _SPOKEN_PROGRAMS and not is_script:
            continue
        words, end = _add_subcommands(sentence, name, word.start() + len(name))
        if is_program or len(words) > 1 or is_path:
            at = end
            yield word.start(), end, words


def _add_subcommands(sentence: str, program: str, end: int) -> tuple[tuple[str, ...], int]:
    """Return a program with the flags and subcommands that follow it, and their end."""
    words = [program.lower() if "/" not in program else program.rsplit("/", 1)[-1]]
    while len(words) < _MAX_PATTERN_WORDS and (following := _NEXT_WORD.match(sentence, end)):
        word, last = following[1], words[-1]
        is_script = last == "run" and re.fullmatch(r"[a-z][\w:.-]*", word) is not None
        is_known = word in _SUBCOMMANDS or word.startswith("-") or ":" in word or is_script or last == "-m"
        is_second = word in _SUBCOMMANDS and len(words) > 1 and last in _SUBCOMMANDS - _PARENT_SUBCOMMANDS
        if not is_known or is_second:
            break
        words.append(word)
        end = following.end()
    return tuple(words), end


def _parse_pattern(code: str) -> tuple[str, ...]:
    """Return a quoted text as a command's words; empty if it is no command."""
    commands = parse_commands(code)
    if len(commands) != 1 or commands[0].then:
        return ()
    words = commands[0].words
    first = words[0]
    if first in _PROGRAMS or first in _SPOKEN_PROGRAMS or first == "rm":
        return words
    if _SCRIPT.fullmatch(code.split(maxsplit=1)[0]):
        return words
    is_command = len(words) > 1 and re.fullmatch(r"[a-z][a-z0-9._-]*", first) and first != "import"
    return words if is_command else ()
