"""`told checkpoints export ID`: prints a checkpoint as Markdown, or puts it on the clipboard."""

from __future__ import annotations

import os

from told.cli.checkpoint_naming import checkpoint_named
from told.cli.checkpoint_showing import handover_in
from told.cli.output import count, to_json
from told.errors import MissingError
from told.ingest.checkpoint_text import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from told.cli.arguments import Arguments
    from told.cli.context import Context

# Programs that take what they are given to the clipboard.
PROGRAMS = (
    ("pbcopy",),
    ("wl-copy",),
    ("xclip", "-selection", "clipboard"),
    ("xsel", "--clipboard", "--input"),
    ("clip.exe",),
)
_WINDOWS = "clip.exe"
_SECONDS = 5.0
_NO_CLIPBOARD = "There is no way to the clipboard: install wl-clipboard, xclip or xsel, or leave out --copy."


def export(context: Context, arguments: Arguments, given: str) -> int:
    """Print one checkpoint as Markdown; with --copy, put it on the clipboard instead."""
    note = checkpoint_named(context, given)
    text = text_of(handover_in(context, note))
    context.rows = 1
    shown = {"id": note.public, "status": note.status or None, "path": note.path or None}
    if arguments.flag("copy"):
        program = copied(text, context.environ)
        if arguments.flag("json"):
            context.print(to_json(shown | {"copied": True, "with": program}))
        else:
            context.print(f"{note.public} is on the clipboard: {count(len(text), 'character')}.")
    elif arguments.flag("json"):
        context.print(to_json(shown | {"markdown": context.fence.block(text), "trust": "agent"}))
    else:
        # A person gets the file as it is; an agent must see where somebody else's words begin and end.
        context.print(text.rstrip("\n") if context.caller.is_user else context.fence.block(text))
    return 0


def copied(text: str, environ: Mapping[str, str]) -> str:
    """Put a text on the clipboard, and return the program that did it.

    Raises:
        MissingError: there is no such program, or none of them works.
    """
    import subprocess

    failed = ""
    for name, *words in PROGRAMS:
        path = _on_path(name, environ.get("PATH", ""))
        if not path:
            continue
        content = text.encode("utf-16-le") if name == _WINDOWS else text.encode("utf-8", "replace")
        try:
            done = subprocess.run(  # noqa: S603 - one of the programs above; the text goes to its input
                [path, *words], input=content, env=dict(environ), timeout=_SECONDS, check=False,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            failed = failed or name
            continue
        if done.returncode == 0:
            return name
        failed = failed or name
    if failed:
        raise MissingError(f"{failed} cannot reach the clipboard from here. Leave out --copy to print it.")
    raise MissingError(_NO_CLIPBOARD)


def _on_path(name: str, folders: str) -> str:
    for folder in folders.split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""
