"""`python -m demo`: show told's main job on a made-up history, in a temporary folder."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time

from demo.history import TALKS
from demo.told import Scratch, remove_escapes

_WEBHOOK = "Webhook signature check fails"


class FailedError(Exception):
    """A command of the demo did not do what it should."""


def main() -> int:
    """Show every step; stop at the first that fails."""
    began = time.monotonic()
    agents = len({talk.agent for talk in TALKS})
    print(
        f"told on a made-up history: {len(TALKS)} sessions of {agents} coding agents over four weeks,\n"
        "in the agents' own file formats, in a temporary folder. Your own history is not read.",
        flush=True,
    )
    if not sys.stdout.isatty():
        print("Text inside <agent …> tags is quoted from a session; told did not write it.", flush=True)
    with tempfile.TemporaryDirectory(prefix="told-demo-") as folder:
        try:
            _tour(Scratch(folder))
        except FailedError as error:
            print(f"\nThe demo failed: {error}", file=sys.stderr)
            return 1
    print(f"\nDone in {time.monotonic() - began:.1f} seconds. The temporary folder is deleted.", flush=True)
    return 0


def _tour(scratch: Scratch) -> None:
    def step(says: str, *words: str, expect: str = "") -> None:
        _step(scratch, says, *words, expect=expect)

    step("Import the history. told also does this on its own when you ask it something.", "index")
    step("List the agents that were found.", "agents")
    step("List the sessions of this project (~/code/shop), from all agents.", "list")
    question = "why were customers charged twice?"
    step("Search all past sessions in plain language.", "search", question, expect="charged")
    session = _first_id(scratch, "results", "search", question)
    step("Show one session: its files, its note, its last turns. --full prints all of it.",
         "show", session, expect="src/checkout/order.ts")  # fmt: skip
    step("List the files that sessions touched.", "files")
    step("List what you taught your agents in this project, captured automatically.",
         "memories", expect="profiler")  # fmt: skip
    step("At each prompt, any agent gets only the lines it needs …",
         "brief", "--prompt", "profile the search page, it is slow", expect="staging")  # fmt: skip
    step("… once told is installed into your agents. Here, Claude Code:",
         "install", "--agent", "claude-code", "--yes", expect="hooks")  # fmt: skip
    step("Uninstall restores every file byte for byte.", "uninstall", "--yes")
    step("Hand work over: write a note for the next session, in a file you can edit …",
         "checkpoint", "The same key for refunds", "--done", "the table", "--pending", "the form in the shop",
         expect="open")  # fmt: skip
    step("… which the next session is offered, whichever agent runs it.",
         "brief", expect="the form in the shop")  # fmt: skip
    memory = _first_id(scratch, "memories", "memories", "profiler")
    step("Every line says where it came from.", "why", memory, expect="codex")
    step("Lock it: only you can change it.", "lock", memory, expect="Locked")
    step("Misspell a word, and ask for a session of another project.",
         "search", "webhok signature", expect="webhook")  # fmt: skip
    step("A password once got into a prompt. told removed it before storing the text.",
         "search", "replica for the reports", expect="[secret:")  # fmt: skip
    path = scratch.paths[_WEBHOOK]
    os.remove(path)
    _say("Agents delete old sessions. Here one is deleted:",
         f"rm ~/.claude/projects/…/{os.path.basename(path)}")  # fmt: skip
    step("Even after a rebuild of told's database …", "rebuild")
    step("… the session is still found, in told's own archive.",
         "search", "webhook signature", expect="webhook")  # fmt: skip
    step("Check that told works.", "health", expect="of 10")


def _step(scratch: Scratch, says: str, *words: str, expect: str) -> None:
    """Say what a command is for, run it once, and check what it printed."""
    _say(says, f"told {shlex.join(words)}")
    if sys.stdout.isatty() and os.name == "posix":
        done = scratch.told_at_terminal(*words)
    else:
        done = scratch.told(*words)
        print(done.stdout.strip("\n"), flush=True)
    _check(done, words, expect)


def _first_id(scratch: Scratch, field: str, *words: str) -> str:
    done = scratch.told(*words, "--json")
    _check(done, words, "")
    return str(json.loads(done.stdout)[field][0]["id"])


def _check(done: subprocess.CompletedProcess[str], words: tuple[str, ...], expect: str) -> None:
    if done.returncode != 0:
        raise FailedError(f"`told {shlex.join(words)}` exited with {done.returncode}: {done.stdout.strip()}")
    said = " ".join(remove_escapes(done.stdout).lower().split())  # a terminal wraps lines
    if expect.lower() not in said:
        raise FailedError(f"`told {shlex.join(words)}` did not print {expect!r}:\n{done.stdout}")


def _say(says: str, command: str) -> None:
    bold, plain = ("\033[1m", "\033[0m") if sys.stdout.isatty() and "NO_COLOR" not in os.environ else ("", "")
    print(f"\n{bold}{says}{plain}\n$ {command}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
