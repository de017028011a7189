"""The simple commands of a shell line, as words: without quotes, assignments, and what only runs others."""

from __future__ import annotations

from itertools import pairwise

_SEPARATORS = frozenset((";", "&&", "||", "|", "&", "|&", "(", ")", ";;", "\n", "{", "}"))
# They run the command behind them; of their options, those in the second column take a word.
_RUNNERS = {
    "sudo": "-u -g -h -p -C -r -t -U", "doas": "-u -C", "env": "-u -C", "command": "", "exec": "-a",
    "time": "-f -o", "timeout": "-s -k", "nice": "-n", "ionice": "-c -n", "watch": "-n", "nohup": "",
    "xargs": "-I -n -P -L -d -E -s -a", "stdbuf": "-i -o -e", "setsid": "", "builtin": "", "then": "",
    "do": "", "else": "", "!": "",
}  # fmt: skip
_FIRST_IS_NUMBER = frozenset(("timeout",))
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "fish"))
_DEPTH = 4


def simple_commands(line: str, depth: int = _DEPTH) -> list[list[str]]:
    """Return the commands that a line runs, each as a list of words; never fails."""
    found = []
    for words in _split(line):
        bare = _without_runners(words)
        if not bare:
            continue
        name = bare[0].rpartition("/")[2]
        script = _script(bare) if depth and name in _SHELLS else ""
        if script:
            found += simple_commands(script, depth - 1)
        elif depth and name == "eval":
            found += simple_commands(" ".join(bare[1:]), depth - 1)
        else:
            found.append(bare)
        for word in bare if depth else ():
            if "$(" in word or "`" in word:
                inner = word.replace("$(", "\n").replace("`", "\n").replace(")", "\n")
                found += simple_commands(inner.partition("\n")[2], depth - 1)
    return found


def _script(words: list[str]) -> str:
    """Return what a shell is told to run on its command line: `sh -lc 'this'`."""
    for word, after in pairwise(words):
        if word.startswith("-") and not word.startswith("--") and "c" in word:
            return after
    return ""


def _split(line: str) -> list[list[str]]:
    """Return the words between separators; what stands in quotes is one word."""
    import shlex

    joined = line.replace("\\\n", " ").replace("\n", " ; ")
    lexer = shlex.shlex(joined, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:  # a quote that nothing closes
        words = joined.split()
    found: list[list[str]] = [[]]
    for word in words:
        if word in _SEPARATORS or set(word) <= set(";&|()"):
            found.append([])
        else:
            found[-1].append(word)
    return [one for one in found if one]


def _without_runners(words: list[str]) -> list[str]:
    """Return a command without assignments and programs before it."""
    rest = list(words)
    while rest:
        name = rest[0].rpartition("/")[2]
        if _is_assignment(rest[0]):
            rest.pop(0)
        elif name in _RUNNERS:
            rest.pop(0)
            takes = _RUNNERS[name].split()
            while rest and rest[0].startswith("-"):
                option = rest.pop(0)
                if option in takes and rest:
                    rest.pop(0)
            if name in _FIRST_IS_NUMBER and rest:
                rest.pop(0)
        else:
            break
    return rest


def _is_assignment(word: str) -> bool:
    name, sign, _ = word.partition("=")
    return bool(sign) and name.replace("_", "a").isalnum() and not name[:1].isdigit()
