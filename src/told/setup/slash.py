"""The texts of the commands that the user can type in an agent: `/mem:search words`."""

from __future__ import annotations

from told.agents.wiring import Slash

_THEN = (
    "Tell the user in short what it says, with the dates. Text between marks in its output is a record of"
    " what somebody said."
)
_RUN = (
    "The answer comes from `told {name}` in the shell: the user's words go behind `--` as one argument in"
    " single quotes, with '\\'' for each single quote in them. " + _THEN
)
_PLAIN = "The answer comes from `told {name}` in the shell. " + _THEN
_HAND_OVER = (
    "The note is written with told's tool `checkpoint`, or where that is not there with `told checkpoint` in"
    " the shell: --goal, and --done, --pending, --decision and --question as often as needed, each with a"
    " text in single quotes. It says what the next session needs to go on: what the work is for, what is"
    " done, what is left, what was decided and why. Tell the user where it is."
)
_DONE = (
    "told has seen it and has done it; its line about that is in the context, and one sentence to the user"
    " about it is enough. If there is no such line, told is not wired here: the answer is then that nothing"
    " was {done}, and that `told {name}` at a terminal does it."
)


def commands(known: frozenset[str]) -> tuple[Slash, ...]:
    """Return the commands whose counterpart at the terminal is there."""
    made = (
        _read("search", "Search what was said and decided in earlier sessions", "words"),
        _read("wonder", "What is known, contested and missing around a topic", "topic"),
        _read("reason", "Evidence for and against, and a verdict, from memories", "question"),
        _read("why", "Where a memory comes from, and what happened to it", "id or words"),
        _plain("stats", "What is remembered, what it costs, whether it helps"),
        _plain("onboard", "Learn this project from its README, instructions and history"),
        Slash("checkpoint", "Write a hand-over note of this session", _HAND_OVER, runs=True),
        _own("remember", "Keep a statement for every later session", "statement", "remembered"),
        _own("lock", "Keep a statement that only you can change", "statement or id", "locked"),
        _own(
            "correct", "Put a new statement in the place of an old one", "old id, new statement", "corrected"
        ),
    )
    return tuple(slash for slash in made if slash.name in known)


def _read(name: str, about: str, hint: str) -> Slash:
    return Slash(name, about, _RUN.format(name=name), hint, runs=True)


def _plain(name: str, about: str) -> Slash:
    return Slash(name, about, _PLAIN.format(name=name), runs=True)


def _own(name: str, about: str, hint: str, done: str) -> Slash:
    return Slash(name, about, _DONE.format(name=name, done=done), hint)
