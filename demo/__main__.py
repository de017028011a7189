"""`python -m demo`: told's main job on a made-up history, in a folder that is gone afterwards."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
import time

from demo.history import TALKS
from demo.told import Scratch

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess

_BOLD, _PLAIN = ("\033[1m", "\033[0m") if sys.stdout.isatty() and "NO_COLOR" not in os.environ else ("", "")
_WEBHOOK = "Webhook signature check fails"


class FailedError(Exception):
    """A command of the demo did not do what it should."""


def main() -> int:
    """Show every step; stop at the first that fails."""
    began = time.monotonic()
    agents = len({talk.agent for talk in TALKS})
    _say(
        f"told on a made-up history: {len(TALKS)} sessions of {agents} coding agents over four weeks,\n"
        "in the agents' own file formats and in a temporary folder. Your own history is\n"
        "not read. Text between marks such as <agent k3xq7> was written by others than\n"
        "told: an agent that reads it can tell the two apart."
    )
    with tempfile.TemporaryDirectory(prefix="told-demo-") as folder:
        try:
            _tour(Scratch(folder))
        except FailedError as error:
            print(f"\nThe demo failed: {error}", file=sys.stderr)
            return 1
    _say(f"\nThat was all, in {time.monotonic() - began:.1f} seconds. The temporary folder is gone again.")
    return 0


def _tour(scratch: Scratch) -> None:
    _step(scratch, "Read all history. told also does this by itself, when you ask it something.", "index")
    _step(scratch, "Which agents were found, and where told looked for the others.", "agents")
    _step(
        scratch,
        "The sessions of the project in this folder (~/code/shop), of all agents.",
        "list",
    )
    _step(
        scratch, "Ask in plain words. The best session comes first, with the words found in it.",
        "search", "why were customers charged twice?", expect="charged",
    )  # fmt: skip
    session = _first_id(scratch, "why were customers charged twice?")
    _step(scratch, "One session in short: files, note, the last turns. --full prints all of it.",
          "show", session, expect="src/checkout/order.ts")  # fmt: skip
    _step(scratch, "Which files were worked on, and in which session.", "files")
    _step(scratch, "What you taught the agents in this project. Nobody had to write it down.",
          "memories", expect="profiler")  # fmt: skip
    _step(
        scratch, "Only what a prompt needs is handed to the next agent, whichever it is …",
        "brief", "--prompt", "profile the search page, it is slow", expect="staging",
    )  # fmt: skip
    _step(scratch, "… by itself, once told is wired into your agents. Here that is Claude Code:",
          "install", "--agent", "claude-code", "--yes", expect="hooks")  # fmt: skip
    _step(scratch, "It is taken back byte for byte.", "uninstall", "--yes")
    _step(
        scratch, "Hand the work over: a note for the next session, in a file that you can edit …",
        "checkpoint", "The same key for refunds", "--done", "the table", "--pending", "the form in the shop",
        expect="open",
    )  # fmt: skip
    _step(scratch, "… which is offered at the next start, whichever agent that is.",
          "brief", expect="the form in the shop")  # fmt: skip
    memory = _first_memory(scratch, "profiler")
    _step(scratch, "Every line says where it comes from.", "why", memory, expect="codex")
    _step(scratch, "Lock it, and only you can change it.", "lock", memory, expect="Locked")
    _step(
        scratch, "A typing error, and a session of another project: told looks further.",
        "search", "webhok signature", expect="webhook",
    )  # fmt: skip
    _step(scratch, "A password once got into a prompt. told took it out before it stored the text.",
          "search", "replica for the reports", expect="[secret:")  # fmt: skip
    path = scratch.paths[_WEBHOOK]
    os.remove(path)
    shown = f"~/.claude/projects/…/{os.path.basename(path)}"
    _say(f"\n{_BOLD}Agents delete old sessions. Here one is deleted:{_PLAIN}\n$ rm {shown}")
    _step(scratch, "Even when told's database is made anew …", "rebuild")
    _step(scratch, "… the session is there, from told's own archive.",
          "search", "webhook signature", expect="webhook")  # fmt: skip
    _step(scratch, "Whether everything works.", "health", expect="GREEN")


def _step(scratch: Scratch, says: str, *words: str, expect: str = "") -> None:
    """Say what a command is for, run it, and check that it did it."""
    _say(f"\n{_BOLD}{says}{_PLAIN}\n$ told {shlex.join(words)}")
    if sys.stdout.isatty():
        scratch.told(*words, shown=True)  # told fits its lines to the terminal when it prints to one
    done = scratch.told(*words)
    _check(done, words, expect)
    if not sys.stdout.isatty():
        _say(done.stdout.strip("\n"))


def _first_id(scratch: Scratch, question: str) -> str:
    import json

    done = scratch.told("search", question, "--json")
    _check(done, ("search", question), "")
    return str(json.loads(done.stdout)["results"][0]["id"])


def _first_memory(scratch: Scratch, word: str) -> str:
    import json

    done = scratch.told("memories", word, "--json")
    _check(done, ("memories", word), "")
    return str(json.loads(done.stdout)["memories"][0]["id"])


def _check(done: subprocess.CompletedProcess[str], words: tuple[str, ...], expect: str) -> None:
    if done.returncode != 0:
        raise FailedError(f"`told {shlex.join(words)}` ended with {done.returncode}: {done.stdout.strip()}")
    if expect.lower() not in done.stdout.lower():
        raise FailedError(f"`told {shlex.join(words)}` did not print {expect!r}:\n{done.stdout}")


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
