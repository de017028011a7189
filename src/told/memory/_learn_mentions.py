"""Finds the commands that a sentence names, and whether it asks for them or forbids them."""

from __future__ import annotations

import re

from told.memory._learn_programs import NAMES, SPOKEN, SUBCOMMANDS
from told.memory._observe_shell import commands
from told.memory._observe_words import any_of
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TICKED = re.compile(r"`([^`\n]{1,120})`|\"([^\"\n]{1,120})\"")
_WORD = re.compile(r"[\w.:@/+-]+")
_SCRIPT = re.compile(r"(?:\.{0,2}/)?[\w./-]+\.(?:sh|py|js|ts|rb|ps1)|\./[\w./-]+")

_NO_WORDS = """
never not don't dont do_not doesn't avoid stop no cannot can't mustn't shouldn't without nie niemals
nicht kein keine keinen jamais ne n' pas sans évite éviter nunca não nao sin sem evita evitar evite
instead_of rather_than over in_place_of statt anstatt anstelle au_lieu plutôt_que en_lugar en_vez
em_vez ao_invés
"""
_YES_WORDS = """
use uses using run runs running prefer always must call only stick choose forget install execute
invoke nutze nutzen nutzt verwende verwenden benutze benutzen immer führe ausführen starte laufen
utilise utiliser utilisez utilisons lance lancer toujours exécute exécuter passe usa usar usamos
ejecuta ejecutar siempre corre rode rodar executar sempre prefere prefiere switch_to switched_to
moved_to back_to manager_is paketmanager_ist
"""
# What makes a sentence one about something else than what is to be run.
_OTHERWISE_WORDS = """
no_need not_needed not_necessary need_not don't_need don't_have do_not_need do_not_have used_to skip
skipping only_in only_for only_on only_at nur unless except if when whenever until till optional may
can could sometimes ci pipeline workflow upstream says say readme wenn falls außer sauf lorsque
quand cuando salvo excepto quando exceto
"""
_WITH = re.compile(
    r"\b(?:build|built|check|deploy|format|install|lint|manage|managed|start|test|tests?|bauen|testen?|tester"
    r"|installe[rz]?|instala|teste)\b.*\b(?:with|via|through|by|mit|avec|con|com)\W*$",
    re.IGNORECASE,
)
_COMPLAINS = re.compile(
    r"\b(?:fail\w*|breaks?|broken?|crash\w*|errors?|slow|hangs?|flaky|bugs?|kaputt|échoue|falla|falha)\b",
    re.IGNORECASE,
)


def _spoken(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w']){any_of(words)}(?![\w-])", re.IGNORECASE)


_CLAUSE_END = re.compile("[.;:!?,()]|\\s[\u2013\u2014-]\\s")
_NO, _YES, _OTHERWISE = _spoken(_NO_WORDS), _spoken(_YES_WORDS), _spoken(_OTHERWISE_WORDS)
_GO_ON = {"run", "pip", "compose", "system", "audit"}  # what follows these is a subcommand, too
_STATED_BEHIND = re.compile(r"\s*(?:is|are|was|were|has|does|ist|sind|est|sont|es|está|é)\b", re.IGNORECASE)
_NEGATED_BEHIND = re.compile(r"\s*(?:nicht|nie|niemals)\b", re.IGNORECASE)
_ALSO = re.compile(r"\W*(?:or|and|nor|oder|und|noch|ou|et|ni|o|y|e|nem|,)?\W*", re.IGNORECASE)
_FROM = re.compile(r"\b(?:from|replaced?|von|ersetze|remplace[rz]?|reemplaza|de)\W*$", re.IGNORECASE)
_TO = re.compile(r"\W*(?:to|with|by|zu|auf|durch|à|par|por|a|para)\W*", re.IGNORECASE)
_WHERE = re.compile(r"\W*(?:with|on|for|in|via|through|mit|für|con|com|avec|para|pour)\W*", re.IGNORECASE)
_BUT = re.compile(r"[,;:]|\b(?:but|sondern|mais|sino|mas)\b", re.IGNORECASE)
_DONT_FORGET = re.compile(r"\b(?:forget|vergiss|vergessen|oublie\w*|olvides|esqueça)\b", re.IGNORECASE)


@record
class Mention:
    """A command that a sentence names: +1 asks for it, -1 forbids it, 0 only speaks of it."""

    pattern: tuple[str, ...]
    sense: int
    start: int
    end: int
    limits: bool = False  # it says of which commands what was forbidden before is meant


def is_conditional(sentence: str) -> bool:
    """Whether a sentence holds only at times, or takes something back."""
    return _OTHERWISE.search(sentence) is not None


def mentions(sentence: str) -> list[Mention]:
    """Return the commands that a sentence names, in its order."""
    found: list[Mention] = []
    for start, end, pattern in sorted(_named(sentence)):
        before = sentence[found[-1].end if found else 0 : start]
        sense = _sense(before, sentence[end:], found[-1] if found else None)
        if found and _TO.fullmatch(before) and _FROM.search(sentence[: found[-1].start]):
            found[-1] = Mention(found[-1].pattern, -1, found[-1].start, found[-1].end)
            sense = 1
        limits = bool(found) and found[-1].sense < 0 and _WHERE.fullmatch(before) is not None
        found.append(Mention(pattern, 0 if limits else sense, start, end, limits))
    return found


def _sense(before: str, behind: str, last: Mention | None) -> int:
    if _NEGATED_BEHIND.match(behind):
        return -1
    if _STATED_BEHIND.match(behind):
        return 0
    if last is not None and last.sense and _ALSO.fullmatch(before):
        return last.sense
    clause = _CLAUSE_END.split(before)[-1]
    if _COMPLAINS.search(clause):
        return 0
    forbids, asks = _NO.search(clause), _YES.search(clause) or _WITH.search(clause)
    if forbids is None and asks is None:
        turns = last is not None and last.sense < 0 and _BUT.search(before)
        return 1 if turns else 0
    if forbids and not _DONT_FORGET.search(clause):
        return -1
    return 1


def _named(sentence: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    taken: list[tuple[int, int]] = []
    for ticked in _TICKED.finditer(sentence):
        taken.append(ticked.span())
        if pattern := _pattern(ticked[1] or ticked[2]):
            yield *ticked.span(), pattern
    at = 0
    for word in _WORD.finditer(sentence):
        if word.start() < at or any(start <= word.start() < end for start, end in taken):
            continue
        said = word.group().rstrip(".:,")
        end = word.start() + len(said)
        if said.lower() not in NAMES | SPOKEN and not (_SCRIPT.fullmatch(said) and "/" in said):
            continue
        words, end = _with_subcommands(sentence, said, end)
        if said.lower() in NAMES or len(words) > 1 or "/" in said:
            at = end
            yield word.start(), end, words


def _with_subcommands(sentence: str, program: str, end: int) -> tuple[tuple[str, ...], int]:
    words = [program.lower() if "/" not in program else program.rsplit("/", 1)[-1]]
    while len(words) < 5:
        following = re.compile(r" (?:with )?(--?[\w-]+(?:=\S+)?|[\w:.-]*\w)").match(sentence, end)
        if following is None:
            break
        word = following[1]
        is_script = words[-1] == "run" and re.fullmatch(r"[a-z][\w:.-]*", word) is not None
        is_module = words[-1] == "-m"
        known = word in SUBCOMMANDS or word.startswith("-") or ":" in word or is_script or is_module
        if not known or (word in SUBCOMMANDS and len(words) > 1 and words[-1] in SUBCOMMANDS - _GO_ON):
            break
        words.append(word)
        end = following.end()
    return tuple(words), end


def _pattern(code: str) -> tuple[str, ...]:
    """Return a quoted text as a command's words; nothing if it is no command."""
    made = commands(code)
    if len(made) != 1 or made[0].then:
        return ()
    words = made[0].words
    first = words[0]
    if first in NAMES or _SCRIPT.fullmatch(code.split(maxsplit=1)[0]):
        return words
    if first in SPOKEN or (
        len(words) > 1 and re.fullmatch(r"[a-z][a-z0-9._-]*", first) and first != "import"
    ):
        return words if len(words) > 1 or first in SPOKEN else ()
    return words if first == "rm" else ()
