"""Render blocks with rich, and show long output in a pager."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterable, Mapping

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text
from rich.theme import Theme

from told.cli.terminal.blocks import Block, Cell, Diff, Heading, Paragraph, Span, Table, spans
from told.pattern import lazy_pattern

_STYLES = {
    "heading": "bold", "id": "cyan", "project": "blue", "good": "green", "warn": "yellow", "bad": "bold red",
    "hit": "bold yellow", "command": "cyan", "kind.rule": "magenta", "kind.preference": "magenta",
    "kind.decision": "blue", "kind.fact": "green", "kind.observation": "dim", "kind.correction": "yellow",
    "kind.warning": "yellow",
}  # fmt: skip
_AGENT_COLOURS = (
    "yellow",
    "green",
    "blue",
    "magenta",
    "red",
    "bright_blue",
    "bright_green",
    "bright_magenta",
)
_NARROWEST, _WIDEST = 40, 200
_INDENT = lazy_pattern(r" *(?:- |-> )?")
_COPIED = lazy_pattern(r"  told [a-z].*|\S+")  # a command on a line of its own, or one word
_COMMANDS = lazy_pattern(r"`[^`\n]+`")
_BLANK_ENDS = lazy_pattern(r" +((?:\x1b\[[0-9;]*m)*) *$", re.MULTILINE)
_PAGER = "less -FRX"


class Screen:
    """Renders for one width, with or without colour."""

    def __init__(self, width: int, *, colour: bool) -> None:
        self.width = self.clamp(width)
        self._console = Console(
            file=io.StringIO(), width=self.width, force_terminal=colour, no_color=not colour,
            color_system="standard" if colour else None, highlight=False, markup=False, emoji=False,
            theme=Theme(_STYLES), legacy_windows=False,
        )  # fmt: skip

    @staticmethod
    def clamp(width: int) -> int:
        """Return the width that is rendered for a terminal's."""
        return max(_NARROWEST, min(_WIDEST, width))

    def render(self, blocks: Iterable[Block]) -> str:
        """Return the text of some blocks, without blanks at line ends."""
        with self._console.capture() as captured:
            for block in blocks:
                self._console.print(self._renderable(block), soft_wrap=isinstance(block, (Diff, str)))
        return _BLANK_ENDS.sub(r"\1", captured.get()).lstrip("\n")

    def _renderable(self, block: Block) -> RenderableType:
        if isinstance(block, Table):
            return self._table(block)
        if isinstance(block, Heading):
            note = [Span("  "), Span(block.note, "dim")] if block.note else []
            return Padding(self._text([Span(block.text, "heading"), *note]), (1, 0, 0, 0))
        if isinstance(block, Paragraph):
            return self._wrapped(self._text(block.cell), block.indent, block.hanging)
        if isinstance(block, Diff):
            return Text("\n").join(Text(line, _diff_style(line)) for line in block.text.split("\n"))
        lines = [self._plain_line(line) for line in block.split("\n")]
        return lines[0] if len(lines) == 1 else Text("\n").join(lines)

    def _plain_line(self, line: str) -> Text:
        """Wrap one line by words; later lines keep its indent."""
        indent = len(_INDENT.match(line)[0])  # type: ignore[index]  # it matches everywhere
        text = Text(line)
        text.highlight_regex(_COMMANDS, "command")
        if _COPIED.fullmatch(line):  # the terminal wraps it, and a copy of it still works
            return text
        return self._wrapped(text, 0, min(indent, self.width // 3))

    def _wrapped(self, text: Text, indent: int, hanging: int) -> Text:
        lines = Text(overflow="fold")
        room = self.width - indent
        first, *rest = text.wrap(self._console, room) or [Text()]
        if rest and hanging:  # the rest again, in less room
            left = text[len(first.plain.rstrip()) :]
            left = left[len(left.plain) - len(left.plain.lstrip(" ")) :]
            rest = list(left.wrap(self._console, max(10, room - hanging)))
        for number, line in enumerate([first, *rest]):
            line.rstrip()
            lines.append(("\n" if number else "") + " " * (indent + (hanging if number else 0)))
            lines.append_text(line)
        return lines

    def _table(self, table: Table) -> RichTable:
        shown = [place for place, column in enumerate(table.columns) if column.least <= self.width]
        rich = RichTable(
            box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim",
            show_header=any(table.columns[place].name for place in shown),
        )  # fmt: skip
        for place in shown:
            column = table.columns[place]
            rich.add_column(
                column.name, style=column.style, no_wrap=not column.wraps,
                overflow="fold" if column.wraps else "ellipsis",
                justify="right" if column.right else "left",
                min_width=min(16, self.width // 3) if column.wraps else None,
            )  # fmt: skip
        for row in table.rows:
            rich.add_row(*(self._text(row[place]) for place in shown))
        return rich

    def _text(self, cell: Cell) -> Text:
        text = Text(overflow="fold")
        for span in spans(cell):
            text.append(span.text, _style(span.style))
        return text


def _style(name: str) -> str:
    """Return the style of a span; agents have colours of their own as far as these last."""
    if name.startswith("agent."):
        return _AGENT_COLOURS[int(name.removeprefix("agent.")) % len(_AGENT_COLOURS)]
    return name if name in _STYLES or not name.startswith("kind.") else ""


def _diff_style(line: str) -> str:
    if line.startswith(("---", "+++")):
        return "bold"
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "")


def write_paged(text: str, environ: Mapping[str, str]) -> None:
    """Write text to the terminal, through a pager if it is longer than the screen."""
    import shlex  # noqa: PLC0415 - most output fits the screen
    import shutil  # noqa: PLC0415

    command = environ.get("TOLD_PAGER", environ.get("PAGER", _PAGER))
    is_long = text.count("\n") >= shutil.get_terminal_size().lines
    words = shlex.split(command) if is_long and sys.stdin.isatty() else []
    program = shutil.which(words[0], path=environ.get("PATH")) if words else None
    if program is None or words[0] == "cat":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    import subprocess  # noqa: PLC0415

    shown = {"LESS": "FRX", "LESSCHARSET": "utf-8"} | dict(environ)
    with subprocess.Popen([program, *words[1:]], stdin=subprocess.PIPE, env=shown) as pager:  # noqa: S603 - the user's own pager
        try:
            pager.communicate(text.encode("utf-8", "replace"))
        except (BrokenPipeError, KeyboardInterrupt):
            pager.wait()


def wants_colour(choice: str, environ: Mapping[str, str]) -> bool:
    """Tell whether to use colour: --color, then NO_COLOR and TERM."""
    if choice in ("always", "never"):
        return choice == "always"
    return not environ.get("NO_COLOR") and environ.get("TERM", "") not in ("", "dumb")


def terminal_width(environ: Mapping[str, str]) -> int:
    """Return the columns of the terminal, or as COLUMNS says."""
    given = environ.get("COLUMNS", "")
    if given.isascii() and given.isdigit() and int(given[:5]) > 0:
        return int(given[:5])
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError, AttributeError):
        return 80
