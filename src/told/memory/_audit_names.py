"""Holds the paths, commands, programs and hosts that a memory names against the project as it is."""

from __future__ import annotations

import re
from shlex import quote

from told.memory._audit_finding import COMMAND, GONE, HOST, PROGRAM, Finding, erase
from told.memory._capture_names import triggers
from told.store.memory_records import USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.memory._audit_ground import Ground
    from told.store.memory_records import Memory

# It says itself that something is no longer there, or never should be.
_SAYS_GONE = re.compile(
    r"\b(?:deleted|removed|renamed|moved|replaced|obsolete|deprecated|dropped|retired|no longer|used to|gone"
    r"|instead of|don'?t (?:re)?create|do not (?:re)?create|never (?:re)?create|gelöscht|entfernt|supprimé"
    r"|eliminado|removido)\b|不再|删除|削除",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"\b(?:e\.g|for example|for instance|such as|like|new|create|add|generate|example|z\.B|par exemple)\b",
    re.IGNORECASE,
)
_MADE_UP = re.compile(r"(?i)(?:^|/)(?:path/to|foo|bar|baz|your|my|xxx|some|example|name)(?:[-_./]|$)")
_DENIES = re.compile(r"(?i)\b(?:never|not|don'?t|avoid|without|instead|nicht|kein|jamais|nunca|não)\b")
_SAYS_WHERE = re.compile(
    r"(?i)\b(?:lives?|is|are|sits?|stands?|kept|stored|defined|found|located|reads?|loads?|liegt|liegen|ist|sind"
    r"|est|sont|está|están|fica)\b"
)
_A_HOST = re.compile(
    r"(?<![\w@/.-])(?:https?://)?((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,6}"
    r"(?:com|org|net|io|dev|app|ai|co|cloud|internal|local|lan|corp|edu|gov|de|fr|es|uk|eu|us|info|tech))"
    r"(?![\w-]|\.\w)",
    re.IGNORECASE,
)
_RUN = re.compile(r"\b(?:npm|pnpm|yarn|bun)\s+run\s+([A-Za-z][\w:.-]*)|\bnpm\s+(test|start)\b")
_PIECES = re.compile(r"\s*(?:&&|\|\||;|\|)\s*")
_RUNNERS = {"make": "make", "just": "just", "task": "task", "poe": "poe"}
_BY_OPTION = {"tox": ("tox -e", "-e"), "nox": ("nox -s", "-s")}


def names_gone(memory: Memory, ground: Ground) -> Iterator[Finding]:
    """Yield what a memory names that is not there any more; where that can't be told, nothing."""
    named = [(one.kind, one.value) for one in triggers(memory.text)]
    named += [(one.kind, one.value) for one in memory.triggers]
    paths = dict.fromkeys(value for kind, value in named if kind == "path")
    commands = dict.fromkeys(value for kind, value in named if kind == "command")
    if not _SAYS_GONE.search(memory.text):
        yield from _paths(memory, list(paths), ground)
        yield from _hosts(memory, ground)
    yield from _commands(memory, list(commands), ground)


def _paths(memory: Memory, paths: list[str], ground: Ground) -> Iterator[Finding]:
    for given in paths:
        path = _in_project(given, ground)
        if not path or ground.has(path):
            continue
        how = ground.had(path)
        if how:
            yield Finding(GONE, memory, f"{{}} {how}.", given, do=_instead(memory, given, ground.moved(path)))
        elif _is_a_claim(memory.text, path):
            moved = ground.moved(path)
            why = "{} is not in this project, and never was as far as told knows."
            yield Finding(GONE, memory, why, given, do=_instead(memory, given, moved), sure=False)


def _in_project(given: str, ground: Ground) -> str:
    """Return a path that can be looked for; empty for a pattern, an example, or a place elsewhere."""
    if any(sign in given for sign in "*<>{}$%…|") or given.startswith("~") or ".." in given.split("/"):
        return ""
    path = ground.inside(given.rstrip(".,:;/"))
    first = path.partition("/")[0]
    if not path or _MADE_UP.search(path) or ("/" in path and _A_HOST.fullmatch(first)):
        return ""
    return path


def _is_a_claim(text: str, path: str) -> bool:
    name = path.rpartition("/")[2]
    plain = "/" in path and "." in name.strip(".") and bool(_SAYS_WHERE.search(text))
    return plain and not _EXAMPLE.search(text) and not _DENIES.search(text)


def _instead(memory: Memory, old: str, new: str) -> tuple[str, ...]:
    """Return what to do about a name: put the new one in its place, if the words are the user's own."""
    if not new or memory.trust != USER or new in memory.text:
        return (erase(memory),)
    changed = memory.text.replace(old, new)
    return (f"told correct {memory.id} {quote(changed)}",) if changed != memory.text else (erase(memory),)


def _commands(memory: Memory, commands: list[str], ground: Ground) -> Iterator[Finding]:
    told: set[tuple[str, str]] = set()
    for runner, name, whole in _called(memory.text, commands):
        if (runner, name) not in told and ground.defines(runner, name) is False:
            told.add((runner, name))
            yield Finding(COMMAND, memory, "{} is not defined in this project (any more).", whole,
                          do=(erase(memory),))  # fmt: skip
    if _DENIES.search(memory.text):
        return
    for command in commands:
        program = next((word for word in command.split() if "=" not in word), "")
        if program.isalnum() and ("", program) not in told and not ground.runs(program):
            told.add(("", program))
            why = "{} is neither on this machine's PATH nor in the project."
            yield Finding(PROGRAM, memory, why, program, do=(erase(memory),), sure=False)


def _called(text: str, commands: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (runner, name, the words) of every script or target that is called."""
    for match in _RUN.finditer(text):
        yield "run", match.group(1) or match.group(2), match.group()
    for command in commands:
        for piece in _PIECES.split(command):
            words = piece.split()
            runner = _RUNNERS.get(words[0], "") if words else ""
            if runner and not any(word.startswith("-") for word in words):
                names = [word for word in words[1:] if "=" not in word]
                # Only make takes several; what follows a recipe's name is its own.
                names = names if runner == "make" else names[:1]
                yield from ((runner, name, f"{runner} {name}") for name in names)
            elif words and words[0] in _BY_OPTION and len(words) > 2 and words[1] == _BY_OPTION[words[0]][1]:
                yield _BY_OPTION[words[0]][0], words[2], " ".join(words[:3])


def _hosts(memory: Memory, ground: Ground) -> Iterator[Finding]:
    found = dict.fromkeys(match.group(1).lower() for match in _A_HOST.finditer(memory.text))
    for host in found:
        if not host.startswith("example.") and ".example." not in host and ground.lost_host(host):
            yield Finding(HOST, memory, "{} stood in files of the project once; it stands in none now.", host,
                          do=(erase(memory),))  # fmt: skip
