"""Takes a shell line apart into the commands it runs; what is quoted, echoed or a heredoc's is no command."""

from __future__ import annotations

import re
from functools import lru_cache

from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TOKEN = re.compile(
    r"""(?P<space>\s+)
    |(?P<heredoc><<-?\s*(?P<mark>['"]?)(?P<word>\w+)(?P=mark))
    |(?P<redirect>\d?>>?&?\d?|&>>?|<)
    |(?P<split>&&|\|\|?&?|;|&|\(|\)|(?<!\S)[{}!](?!\S))
    |(?P<single>'[^']*'?)
    |(?P<double>"(?:\\.|[^"\\])*"?)
    |(?P<plain>(?:\\.|\$\(|[^\s'"\\;&|()<>])+)""",
    re.VERBOSE,
)
_LONGEST = 2000
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_SHELLS = ("bash", "sh", "zsh")
_WRAPPERS_WORDS = """
bunx command cross-env do dotenv else env exec if nice nohup npx pnpx stdbuf sudo then time uvx while winpty
xargs
"""
_WRAPPERS = frozenset(_WRAPPERS_WORDS.split())
_RUNNERS_WORDS = """
uv/run poetry/run pipenv/run pdm/run hatch/run rye/run conda/run bundle/exec pnpm/exec pnpm/dlx
yarn/dlx yarn/exec npm/exec bun/x mise/exec direnv/exec doppler/run pixi/run dotenv/run
"""
_RUNNERS = frozenset(_RUNNERS_WORDS.split())
_TAKES_VALUE_WORDS = """
-C --prefix --filter -F --dir --cwd --directory --project -p --workspace -w -n -u --user -c
"""
_TAKES_VALUE = frozenset(_TAKES_VALUE_WORDS.split())
# Of these programs the flags above do not take a value, or mean something else.
_OWN_FLAGS_WORDS = "cargo docker git go grep make pytest python python3 rm ruff sed"
_OWN_FLAGS = frozenset(_OWN_FLAGS_WORDS.split())


@record
class Command:
    """One command: its words, and the folder that a `cd` before it on the line went to."""

    words: tuple[str, ...]
    folder: str = ""
    is_whole: bool = True  # false where the kept line ends within it
    then: str = ""  # what stands between it and the next: && || | ; &

    @property
    def layers(self) -> list[tuple[str, ...]]:
        """The command as it was typed, then without each thing that only runs another program."""
        found = [self.words]
        while (inner := _inner(found[-1])) and len(found) < 5:
            found.append(inner)
        return found


@lru_cache(maxsize=512)  # the same lines are looked at for each memory that was shown
def commands(line: str) -> tuple[Command, ...]:
    """Return the commands of a shell line in their order."""
    return tuple(_commands(line, "", 0))


def _commands(line: str, folder: str, depth: int) -> Iterator[Command]:
    for typed, is_whole, then in _split(line[:_LONGEST]):
        words = _named(typed)
        if not words:
            continue
        if words[0] in ("cd", "pushd") and len(words) > 1:
            folder = words[1]
        script = _script(words)
        if script and depth < 3:
            yield from _commands(script, folder, depth + 1)
        else:
            yield Command(words, folder, is_whole, then)


def _named(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return a command's words without the variables before it, its program without a folder."""
    while words and _ASSIGNMENT.match(words[0]):
        words = words[1:]
    return (words[0].rsplit("/", 1)[-1] or words[0], *words[1:]) if words else ()


def _script(words: tuple[str, ...]) -> str:
    if words[0] not in _SHELLS:
        return ""
    flag = next((at for at, word in enumerate(words) if word in ("-c", "-lc", "-ic", "-lic")), 0)
    return words[flag + 1] if flag and flag + 1 < len(words) else ""


def _split(line: str) -> Iterator[tuple[tuple[str, ...], bool, str]]:
    """Yield the words of each command, whether all of it is there, and what stands behind it."""
    words: list[str] = []
    at, glued, skip_next, is_whole = 0, False, False, True
    while at < len(line):
        token = _TOKEN.match(line, at)
        if token is None:
            at += 1
            continue
        kind, said = token.lastgroup, token.group()
        at = token.end()
        if kind == "split":
            yield tuple(words), True, said
            words, glued, skip_next = [], False, False
            continue
        if token["heredoc"]:
            end = re.compile(rf"(?<!\S){token['word']}(?!\w)").search(line, at)
            is_whole = end is not None
            at = end.end() if end else len(line)
            glued = False
            continue
        if kind == "space":
            glued = False
            continue
        if kind == "redirect":
            skip_next = not said[-1].isdigit()
            glued = False
            continue
        if kind in ("single", "double"):
            is_whole = len(said) > 1 and said[-1] == said[0]
            said = said[1:-1] if is_whole else said[1:]
            if kind == "double":
                said = re.sub(r'\\(["\\$`])', r"\1", said)
        if skip_next:
            skip_next = False
        elif glued:
            words[-1] += said
        else:
            words.append(said)
        glued = bool(words)
    yield tuple(words), is_whole, ""


def _inner(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command that a command only runs; nothing when it does work of its own."""
    if not words:
        return ()
    rest: tuple[str, ...] = ()
    if words[0] == "timeout":
        rest = _after_flags(words[1:])[1:]
    elif words[0] in _WRAPPERS:
        rest = _after_flags(words[1:])
    elif words[0] in ("python", "python3", "py") and "-m" in words[1:3]:
        rest = words[words.index("-m") + 1 :]
    elif len(words) > 1 and f"{words[0]}/{words[1]}" in _RUNNERS:
        rest = _after_flags(words[2:])
    return _named(rest)


def _after_flags(words: tuple[str, ...]) -> tuple[str, ...]:
    while words and words[0].startswith("-") and len(words[0]) > 1:
        words = words[2:] if words[0] in _TAKES_VALUE else words[1:]
    return words


def plain_words(words: tuple[str, ...]) -> list[str]:
    """Return a command's words without its flags and their values."""
    found: list[str] = []
    skip = False
    for at, word in enumerate(words):
        if skip:
            skip = False
        elif at and word.startswith("-") and len(word) > 1:
            takes = word in ("-C", "--prefix") if words[0] in _OWN_FLAGS else word in _TAKES_VALUE
            skip = takes and "=" not in word
        else:
            found.append(word)
    return found
