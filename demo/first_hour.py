"""`python -m demo.first_hour`: a new user's first hour, at a terminal of 80 columns.

Writes each screen to docs/screens as text, which a test compares, and as a picture.
"""

from __future__ import annotations

import html
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

from demo.told import Scratch, remove_escapes
from told.cli.arguments import all_commands
from told.cli.help import examples_of

SCREENS = Path(__file__).parents[1] / "docs" / "screens"
COLUMNS = 80
_OVERDRAWN = re.compile(r"[^\n]*\r")  # by a progress bar
_FOR_PROGRAMS = re.compile("--json|completion")  # their lines may be long
_TEXT = re.compile(r'(<text [^>]*?x=")([\d.]+)("[^>]*?textLength=")([\d.]+)("[^>]*>)([^<]*)</text>')
_ERASED = re.compile(r"\x1b\[(\d+)A\r\x1b\[J")
_FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)  # rich's pictures load fonts from the network


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the first hour."""

    name: str  # of the screen
    command: str
    typed: tuple[tuple[str, str], ...] = ()  # after which text which keys


STEPS = (
    Step("new-user", "told"),
    Step(
        "install", "told install", (("Write this? [Y/n]", "\n"), ("now? [Y/n]", "\n"), ("now? [Y/n]", "n\n"))
    ),
    Step("home", "told"),
    Step("review", "told review", ((" help", "k"), (" help", "n"), (" help", "q"))),
    Step("list", "told list"),
    Step("search", 'told search "why were customers charged twice?"'),
    Step("show", "told show s7pzao7g"),
    Step("memories", "told memories"),
    Step("why", "told why m3ajb6g3"),
    Step("brief", 'told brief --prompt "the cart is slow, profile it"'),
    Step("remember", 'told remember "Never push to main without a review"'),
    Step("lock", 'told lock "Never force-push to main"'),
    Step("checkpoint", 'told checkpoint "Refunds" --done "the table" --pending "the form"'),
    Step("health", "told health"),
    Step("status", "told status"),
    Step("help", "told help"),
    Step("help-search", "told search --help"),
    Step("uninstall", "told uninstall --yes"),
)


def screens(folder: str) -> Iterator[tuple[Step, str]]:
    """Run the steps one after the other; yield each with what the terminal shows."""
    visitor, user = (Scratch(os.path.join(folder, name)) for name in ("visitor", "user"))
    user.environ["TOLD_HOME"] = os.path.join(user.home, ".told")
    visitor.told("index")  # the page itself imports as much as it can at once
    for step in STEPS:
        scratch = visitor if step.name == "new-user" else user
        scratch.environ["TERM"] = "xterm-256color"  # a dumb one would not redraw
        words = shlex.split(step.command)[1:]
        done = scratch.told_at_terminal(*words, columns=COLUMNS, typed=step.typed, show=False)
        text = _OVERDRAWN.sub("", _last_screen(done.stdout.replace(scratch.home, "~")))
        if done.returncode:
            raise SystemExit(f"`{step.command}` exited with {done.returncode}:\n{remove_escapes(text)}")
        yield step, text


def _last_screen(text: str) -> str:
    """Return what a command that redraws showed before it ended."""
    shown, *redrawn = _ERASED.split(text)
    for lines, added in zip(redrawn[:-2:2], redrawn[1:-2:2], strict=True):
        shown = "".join(shown.splitlines(keepends=True)[: -int(lines)]) + added
    return shown


def picture(title: str, text: str) -> str:
    """Return a terminal's text as SVG."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(f"$ {title}\n{text}"), end="")
    return _TEXT.sub(_split_text, _FONT_FACE.sub("", console.export_svg(title="told", theme=MONOKAI)))


def _split_text(found: re.Match[str]) -> str:
    """Give each part of a line its own place; some viewers drop the blanks before it."""
    head, x, middle, length, end, text = found.groups()
    signs = html.unescape(text)
    width = float(length) / max(1, len(signs))
    return "".join(
        f"{head}{float(x) + part.start() * width:g}{middle}{len(part[0]) * width:g}{end}"
        f"{html.escape(part[0]).replace(chr(160), '&#160;')}</text>"
        for part in re.finditer("[^\xa0]+(?:\xa0[^\xa0]+)*", signs)
    )


def main() -> int:
    """Write the screens, then run every example once."""
    SCREENS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="told-first-hour-") as folder:
        for step, text in screens(folder):
            (SCREENS / f"{step.name}.txt").write_text(f"$ {step.command}\n{remove_escapes(text)}")
            (SCREENS / f"{step.name}.svg").write_text(picture(step.command, text))
            print(f"$ {step.command}\n{text}", flush=True)
    return _run_examples()


def _run_examples() -> int:
    """Run every example at a terminal, those of each command on the history as it was."""
    failed = 0
    with tempfile.TemporaryDirectory(prefix="told-examples-") as folder:
        live, pristine = os.path.join(folder, "live"), os.path.join(folder, "pristine")
        scratch = Scratch(live)
        quiet = scratch.environ
        scratch.told("index")
        shutil.copytree(live, pristine)
        for command in all_commands():
            if command.hidden or command.name in ("hook", "mcp"):  # they read standard input
                continue
            shutil.rmtree(live)
            shutil.copytree(pristine, live)
            is_service = command.name == "service"
            scratch.environ = quiet | ({"TOLD_BACKGROUND": ""} if is_service else {})
            for typed, _ in examples_of(command.name):
                failed += sum(not _works(scratch, one) for one in typed.split(" && "))
    return 1 if failed else 0


def _works(scratch: Scratch, example: str) -> bool:
    """Run an example; tell whether it succeeds in lines that fit."""
    done = scratch.told_at_terminal(*shlex.split(example)[1:], columns=COLUMNS, show=False)
    lines = [line.rpartition("\r")[2] for line in remove_escapes(done.stdout).split("\n")]
    is_wide = not _FOR_PROGRAMS.search(example) and max(map(len, lines)) > COLUMNS
    works = done.returncode in (0, 1) and "Traceback" not in done.stdout and not is_wide
    print(f"{'ok' if works else 'FAILED':7} {done.returncode} $ {example}", flush=True)
    if not works:
        print(remove_escapes(done.stdout))
    return works


if __name__ == "__main__":
    sys.exit(main())
