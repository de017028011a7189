"""Says whether a command that was run is one that a memory names, at the level of words."""

from __future__ import annotations

from told.memory._observe_shell import Command, plain_words

_SAME_FLAG = {
    ("git", "push"): {"-f": "--force"},
    ("git", "commit"): {"-n": "--no-verify", "-s": "--signoff", "-a": "--all"},
}
# These only run another program, and change nothing about it.
_NEUTRAL = frozenset(
    ("sudo", "env", "time", "nohup", "exec", "command", "nice", "timeout", "stdbuf", "do", "then")
)


def runs(command: Command, pattern: tuple[str, ...], *, bare: bool = False) -> bool:
    """Whether a command runs what a pattern names.

    Args:
        command: The command that was run.
        pattern: A program with its first words and flags, such as `git push --force`.
        bare: Only if nothing but `sudo` and the like stands before it: `uv run pytest` is no bare `pytest`.
    """
    layers = command.layers
    if bare:
        typed = next((at for at, layer in enumerate(layers) if layer[0] not in _NEUTRAL), 0)
        layers = layers[typed : typed + 1]
    return any(_fits(layer, pattern) for layer in layers)


def same_work(command: Command, pattern: tuple[str, ...]) -> bool:
    """Whether a command is of the same program and does the same with it, whatever its flags."""
    wanted = plain_words(pattern)
    found = (plain_words(layer) for layer in command.layers)
    return any(plain[:2] == wanted[:2] and len(plain) >= len(wanted) for plain in found)


def has_flag(command: Command, flag: str) -> bool:
    """Whether a command was given a flag."""
    words = command.layers[-1]
    return flag in _flags(words, tuple(plain_words(words)[:2]))


def _fits(words: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    plain, wanted = plain_words(words), plain_words(pattern)
    if plain[: len(wanted)] != wanted:
        return False
    head = (plain[0], plain[1] if len(plain) > 1 else "")
    given, needed = _flags(words, head), _flags(pattern, head)
    if plain[0] == "rm":  # -rf, -fr and -r -f are the same
        return _letters(needed) <= _letters(given)
    return needed <= given


def _flags(words: tuple[str, ...], head: tuple[str, ...]) -> set[str]:
    same = _SAME_FLAG.get((head[0], head[1]), {}) if len(head) > 1 else {}
    flags = {word.partition("=")[0] for word in words[1:] if word.startswith("-") and len(word) > 1}
    if head[:2] == ("git", "commit"):  # -am is -a and -m
        flags |= {f"-{letter}" for flag in flags if not flag.startswith("--") for letter in flag[1:]}
    return {same.get(flag, flag) for flag in flags}


def _letters(flags: set[str]) -> set[str]:
    named = {"--recursive": "r", "--force": "f"}
    return {letter for flag in flags for letter in named.get(flag, flag.lstrip("-")) if letter}
