"""`told backup` and `told restore`."""

from __future__ import annotations

import os
import time
from typing import Any

from told.cli.arguments import Arguments, command_named, parse
from told.cli.context import Context, confirm_yes, count, iso, may_ask, memory_count, short_home, when
from told.cli.forget import end_service
from told.errors import UsageError
from told.ingest.archive import archive_quiet_sessions
from told.ingest.projects import find_git_root
from told.sync.backup import write_backup
from told.sync.backup_file import BackupReader, Manifest
from told.sync.restore import has_data, restore_backup
from told.text import clean


def backup(context: Context, arguments: Arguments) -> None:
    """Write everything that told cannot derive into one file."""
    path = _choose_path(context, "".join(arguments.operands[:1]))
    if not context.is_read_only:  # sessions that only a database has by now
        archive_quiet_sessions(context.connection, context.home, context.now, everything=True)
    made = write_backup(context.home, path, context.now)
    size = os.path.getsize(path)
    if context.as_json:
        context.print_json({"path": clean(path), "bytes": size} | _describe_json(context, made))
        return
    context.print(f"Wrote and checked {clean(path)} ({_megabytes(size)}): {_describe(made)}.")
    if made.damaged:
        context.print(f"The journal has {count(made.damaged, 'damaged line')}: `told health --deep`.")
    context.print("It has your private memories and told's key, and is not encrypted: keep it to yourself.")
    if find_git_root(os.path.dirname(path)):
        context.print("It is in a git repository: do not commit it.")


def _choose_path(context: Context, given: str) -> str:
    name = time.strftime("told-backup-%Y%m%d-%H%M%S.zip", time.localtime(context.now / 1000))
    home = context.environ.get("HOME") or context.environ.get("USERPROFILE") or context.cwd
    path = os.path.join(context.cwd or os.sep, os.path.expanduser(given)) if given else home
    path = os.path.join(path, name) if os.path.isdir(path) else path
    path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise UsageError(f"There is no folder {clean(folder)}. Create it, or choose another place.")
    if f"{folder}{os.sep}".startswith(f"{os.path.realpath(context.home)}{os.sep}"):
        raise UsageError("A backup inside told's own folder is lost with it. Choose another place.")
    if os.path.lexists(path):
        raise UsageError(f"{clean(path)} exists already. Choose another name.")
    return path


def restore(context: Context, arguments: Arguments) -> None:
    """Replace told's folder with a backup, and keep the old folder."""
    path = os.path.join(context.cwd or os.sep, os.path.expanduser(arguments.operands[0]))
    with BackupReader(path) as reader:
        made = reader.manifest
        found = {"path": clean(path)} | _describe_json(context, made)
        if not context.as_json:
            at = when(made.created, context.now)
            context.print(f"Backup of {at} by told {context.name(made.told)}: {_describe(made)}.")
            if has_data(context.home):
                context.print(f"{short_home(context, context.home)} is moved aside first, not merged.")
        wanted = arguments.flag("yes") or (may_ask(arguments) and confirm_yes(context, "Restore it?"))
        if not wanted:
            reader.check()
            context.report("Nothing was changed. Add --yes to restore it.", found | {"restored": False})
            return
        end_service(context.home)
        done = restore_backup(reader, context.home, context.now)
    _rebuild(context)
    found |= {
        "restored": True, "moved_to": clean(done.aside) or None, "forgotten_since": done.forgotten,
        "projects_elsewhere": done.elsewhere,
    }  # fmt: skip
    said = [f"Restored {context.home} with a new machine id."]
    if done.aside:
        said.append(f"The old folder is {clean(done.aside)}. Delete it when you no longer need it.")
    if done.forgotten:
        said.append(f"Left out {memory_count(done.forgotten)} that you forgot since the backup.")
    if done.elsewhere:
        many = count(done.elsewhere, "project")
        said.append(f"{many} without a folder here: their memories are in told's folder now.")
    context.report("\n".join(said), found)


def _rebuild(context: Context) -> None:
    """Rebuild the databases with the settings and the key of the restored folder."""
    from told.cli.main import run_command  # noqa: PLC0415 - it loads this module

    command = command_named("rebuild")
    assert command is not None
    run_command(command, parse(command, []), context.environ, lambda _: None)


def _describe(made: Manifest) -> str:
    parts = [
        count(made.operations, "operation"), count(made.count("archive"), "archived file"),
        count(made.count("checkpoints"), "checkpoint file"), count(len(made.projects), "project folder"),
    ]  # fmt: skip
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _describe_json(context: Context, made: Manifest) -> dict[str, Any]:
    return {
        "created": iso(made.created), "told": context.name(made.told), "operations": made.operations,
        "damaged": made.damaged, "files": len(made.files), "unpacked_bytes": made.bytes,
        "projects": [context.name(one["root"]) for one in made.projects],
    }  # fmt: skip


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
