"""A scratch machine with told in its Claude Code, and what the agent says to the hooks there."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from benchmarks import CannotMeasureError, claude_files, measure, story, tools
from benchmarks.words import Language, rare_words
from told.hook.dispatch import read_last_failure
from told.recall.shown_log import ShownLog
from told.service import control
from told.store.memories.records import PROJECT
from told.store.opening import open_database
from told.store.sessions.checkpoints import Projects

_TURNS = 200
_SHAPE = story.Shape(sentences=(1, 4), calls=(0, 2), compacted=0.0)
_TAUGHT = (
    "Never use {one} for the {area}, use {two} instead.",
    "From now on always run {one} before {two} when the {area} changes.",
    "We use {one} for the {area}, not {two}.",
    "Always keep {one} and {two} out of the {area}.",
)
# What is measured, and the event that it is to Claude Code; every other name is a prompt's.
MOMENTS = {
    "start": "SessionStart", "compact": "PreCompact", "stop, one new turn": "Stop",
    "stop, nothing new": "Stop", "end": "SessionEnd",
}  # fmt: skip
PROMPT = "UserPromptSubmit"
_AREAS = ("payment webhook", "search index", "nightly export", "login page", "invoice archive")


class Bank(NamedTuple):
    """The memories of one size."""

    label: str
    fill: Callable[[str], object]  # writes them into told's folder
    scope: str  # of the project that is asked from
    prompts: Mapping[str, str]  # that teach nothing, by name


def hooks_in(path: str) -> dict[str, list[list[str]]]:
    """Return the commands that a file of Claude Code's form runs, by event, in the order they stand there."""
    try:
        with open(path, encoding="utf-8") as file:
            wired = json.load(file)["hooks"]
    except (OSError, ValueError, KeyError) as error:
        raise CannotMeasureError(f"{path} has no hooks: {error}") from error
    found: dict[str, list[list[str]]] = {}
    for event, groups in wired.items():
        for hook in itertools.chain.from_iterable(group["hooks"] for group in groups):
            if hook.get("type") == "command":
                # Without arguments the agent hands the line to a shell.
                shell = ["/bin/sh", "-c", hook["command"]]
                words = [hook["command"], *hook["args"]] if "args" in hook else shell
                found.setdefault(event, []).append(words)
    return found


class Machine:
    """A user with one project, whose Claude Code has told's hooks."""

    def __init__(self, root: str, bank: Bank) -> None:
        """Store the memories, install told, and let it read a session of two hundred turns."""
        self.bank = bank
        self.home = root
        self.told = os.path.join(root, ".told")
        self.project = os.path.realpath(os.path.join(root, "shop"))
        self.taught: list[str] = []
        self._teaching = os.path.join(root, "told-that-learns")
        self._words = rare_words()
        self._count = itertools.count()
        for folder in (self.told, self.project, os.path.join(root, ".claude")):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        bank.fill(self.told)
        self._told("install", "--agent", "claude-code", "--yes")
        self.hooks = hooks_in(os.path.join(root, ".claude", "settings.json"))
        self._own_project()
        language, self._chance = Language(3, sentences=2_000), random.Random(3)
        self._resting, self._growing = (self._session(language) for _ in range(2))
        tools.learn(root)
        self._write_payload("start")
        measure.once(self.command("start"))  # it notes where the project is
        shutil.copytree(self.told, self._teaching)

    def command(self, name: str, *, teaching: bool = False, served: bool = False) -> measure.Command:
        """Return what Claude Code runs for an event; `prepare` writes what it reads.

        Args:
            name: One of `MOMENTS`, or any other for a prompt.
            teaching: On the copy of the store that learns.
            served: The service answers, if it is running.
        """
        environ = {
            "HOME": self.home, "PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8",
            "TOLD_HOME": self._home(teaching=teaching), "TOLD_HOOK_SECONDS": "60",
            **({} if served else {"TOLD_BACKGROUND": "off"}),
        }  # fmt: skip
        (words,) = self.hooks[MOMENTS.get(name, PROMPT)]
        return measure.Command(words, environ, self.project, self.payload_path(name))

    def serve(self) -> None:
        """Start a service for both stores."""
        for teaching in (False, True):
            environ = dict(self.command(PROMPT, served=True).environ)
            control.start(self._home(teaching=teaching), environ)

    def ping(self, *, teaching: bool = False) -> control.Pong:
        """Return what a service says about itself."""
        found = control.ping(self._home(teaching=teaching))
        if found is None:
            raise CannotMeasureError("The service does not answer.")
        return found

    def stop(self) -> None:
        """Stop both services."""
        for teaching in (False, True):
            control.stop(self._home(teaching=teaching))

    def _home(self, *, teaching: bool) -> str:
        return self._teaching if teaching else self.told

    def prepare(self, name: str) -> None:
        """Make everything as it is when an agent calls: another session, or one more turn, each time."""
        for folder in (self.told, self._teaching):  # what other sessions were shown is theirs to write down
            shutil.rmtree(os.path.join(folder, "shown"), ignore_errors=True)
        self._write_payload(name)

    def payload_path(self, name: str) -> str:
        """Return where what the agent says at a moment is written."""
        return os.path.join(self.home, f"{''.join(filter(str.isalnum, name))}.json")

    def kept(self, told: str = "") -> float:
        """Return the share of the statements so far that are in the journal of a store."""
        written = ""
        for folder, _, names in os.walk(os.path.join(told or self._teaching, "journal")):
            for name in names:
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                    written += file.read()
        return sum(word in written for word in self.taught) / max(1, len(self.taught))

    def trouble(self) -> str:
        """Return the last thing that went wrong in a hook, as told noted it."""
        return read_last_failure(self.told)[1] or read_last_failure(self._teaching)[1] or "none"

    def _write_payload(self, name: str) -> None:
        known = {
            "stop, one new turn": self._growing, "compact": self._growing,
            "stop, nothing new": self._resting, "end": self._resting,
        }.get(name)  # fmt: skip
        session = known.id if known else f"bench-{next(self._count):06d}"
        transcript = claude_files.path_of(self.home, known or self._resting._replace(id=session))
        given: dict[str, Any] = {
            "session_id": session, "transcript_path": transcript, "cwd": self.project,
            "hook_event_name": MOMENTS.get(name, PROMPT),
        }  # fmt: skip
        if name in ("stop, one new turn", "compact"):
            self._grow(transcript)
        if known:
            given |= {"trigger": "auto", "reason": "other"}
            self._show(session)
        elif name == "start":
            given["source"] = "startup"
        else:
            given["prompt"] = self.bank.prompts.get(name) or self._statement()
        with open(self.payload_path(name), "w", encoding="utf-8") as file:
            json.dump(given, file)

    def _told(self, *words: str) -> None:
        ran = measure.once(tools.told(self.home, *words, folder=self.project))
        if ran.code:
            raise CannotMeasureError(f"told {words[0]} ended with {ran.code}: {ran.errors.strip()[-300:]}")

    def _own_project(self) -> None:
        """Let told know the folder as the project that most memories are about."""
        connection = open_database(os.path.join(self.told, "sessions.db"), create=False)
        projects = Projects(connection)
        own = projects.put(self.bank.scope.removeprefix(PROJECT), "shop", self.project)
        projects.place(self.project, own.id)
        connection.close()

    def _session(self, language: Language) -> story.Session:
        ended = int(time.time() * 1000) - 60_000
        made = story.session(language, self._chance, self.home, _TURNS, ended=ended, shape=_SHAPE)
        made = made._replace(folder=self.project)
        claude_files.write(self.home, made, self._chance)
        return made

    def _grow(self, transcript: str) -> None:
        asked = f"look at {next(self._words)} once more and run the tests"
        turn = story.Turn(int(time.time() * 1000), asked, "Done, all of them pass.")
        with open(transcript, "a", encoding="utf-8") as file:
            file.write(claude_files.turn_lines(self._growing, turn, self._chance))

    def _statement(self) -> str:
        number, one, two = next(self._count), next(self._words), next(self._words)
        self.taught.append(one)
        area = _AREAS[number // len(_TAUGHT) % len(_AREAS)]
        return _TAUGHT[number % len(_TAUGHT)].format(one=one, two=two, area=area)

    def _show(self, session: str) -> None:
        """Note that a prompt of the session was answered, as the hook does."""
        log = ShownLog(self.told, "claude-code", session, session)
        log.add(int(time.time() * 1000), ["m0000001", "m0000002"], 80)
