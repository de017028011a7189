"""What every agent's file says about it, and how its conversations are found on this machine."""

from __future__ import annotations

import os
import stat
import sys
from fnmatch import fnmatchcase

from told.model import Cursor, Event, Problem, Source
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from told.agents.wiring import Change, Place

# A folder deeper than this below an agent's root is not the agent's.
_MAX_DEPTH = 12


@record
class Layout:
    """Where below a root one kind of file lies: `*` is any one name, `**` any folders."""

    pattern: str
    name: str = ""


@record
class Table:
    """The columns of a foreign database table that its reader cannot do without."""

    layout: str
    table: str
    columns: tuple[str, ...]


def read_nothing(source: Source, cursor: Cursor) -> Iterator[Event | Problem]:  # noqa: ARG001
    """Read the conversations of an agent that keeps none, or none that can be read."""
    return iter(())


@record
class Agent:
    """A coding agent: its names, where it keeps conversations, how they are read, and how it is wired."""

    name: str
    title: str
    label: str  # its name in lists, at most nine letters
    read: Callable[[Source, Cursor], Iterator[Event | Problem]] = read_nothing
    roots: tuple[str, ...] = ()  # folders to look in; `~`, `$NAME` and `$NAME|default` are expanded
    env: str = ""  # the agent's own variable that names its folder instead
    layouts: tuple[Layout, ...] = ()  # the files below a root
    in_projects: tuple[Layout, ...] = ()  # the files below each project's folder
    tables: tuple[Table, ...] = ()
    seen_run: bool = True  # read from files that a real run of the agent wrote
    advice: str = ""  # what to do when its folder is there without conversations
    wire: Callable[[Place], tuple[Change, ...]] | None = None  # what told writes into its files
    programs: tuple[str, ...] = ()  # what it is called on the command line
    present: tuple[str, ...] = ()  # folders that show that it is used; written as the roots are
    hooks: bool = False  # told is called by it, and so briefs it unasked
    limits: str = ""  # what it does not let told do, in a sentence for `told status`
    todo: str = ""  # what the user has to do in the agent itself after it was wired
    done: Callable[[Place], bool] | None = None  # whether that was done, where it can be seen

    @property
    def reads(self) -> bool:
        """Whether its conversations can be read."""
        return self.read is not read_nothing


@record
class Folder:
    """A folder that was looked into, so that a change in it can be noticed."""

    agent: str
    path: str
    changed: int  # nanoseconds; 0 when it does not exist yet


def expand(root: str, environ: Mapping[str, str]) -> str:
    """Expand `~` and a leading `$NAME` or `$NAME|default`; empty when the variable is not set.

    `$XDG_DATA_HOME|~/.local/share:opencode` separates the default from what follows by a colon.
    """
    if root.startswith("$"):
        head, _, rest = root.partition(":" if "|" in root else "/")
        name, _, default = head[1:].partition("|")
        value = environ.get(name, "") or default
        if not value:
            return ""
        root = f"{value}/{rest}" if rest else value
    if root == "~" or root.startswith("~/"):
        home = environ.get("HOME") or environ.get("USERPROFILE") or ""
        if not home:
            return ""
        root = home + root[1:]
    return root


def roots_of(agent: Agent, environ: Mapping[str, str], override: str = "") -> list[str]:
    """Return the folders an agent may keep its conversations in: the user's, its variable's, or the usual."""
    named = override or (environ.get(agent.env, "") if agent.env else "")
    candidates: Iterable[str] = (named,) if named else agent.roots
    expanded = [os.path.abspath(path) for root in candidates if (path := expand(root, environ))]
    return list(dict.fromkeys(expanded))


def find(
    agent: Agent, roots: Iterable[str], projects: Iterable[str] = ()
) -> Iterator[tuple[Source, os.stat_result] | Folder]:
    """Yield the agent's files with their stat, and every folder that was looked into.

    What a pattern names without being there yet is yielded as a `Folder` that never changed.
    """
    for root in roots:
        if not os.path.isdir(root):
            yield Folder(agent.name, root, 0)
            continue
        for layout in agent.layouts:
            yield from _below(agent, root, layout)
    for project in projects:
        for layout in agent.in_projects:
            yield from _below(agent, project, layout)


def _below(agent: Agent, root: str, layout: Layout) -> Iterator[tuple[Source, os.stat_result] | Folder]:
    for path, found in _walk(root, layout.pattern.split("/"), os.path.realpath(root), 0):
        if isinstance(found, int):
            yield Folder(agent.name, path, found)
        else:
            yield Source(agent.name, path, layout.name, root), found


def _walk(
    folder: str, parts: list[str], real_root: str, depth: int
) -> Iterator[tuple[str, int | os.stat_result]]:
    """Yield (path, stat) of each file that matches, and (path, time of change) of each folder on the way."""
    part, rest = parts[0], parts[1:]
    if "*" not in part:
        yield from _named(os.path.join(folder, part), rest, real_root, depth)
        return
    try:
        changed = os.stat(folder).st_mtime_ns
        with os.scandir(folder) as entries:
            listed = sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return
    yield folder, changed
    for entry in listed:
        try:
            is_link, is_folder = entry.is_symlink(), entry.is_dir()
            if is_link and not inside(os.path.realpath(entry.path), real_root):
                continue
            if is_folder:
                if part == "**" and not is_link and depth < _MAX_DEPTH:
                    yield from _walk(entry.path, parts, real_root, depth + 1)
                elif rest and part != "**" and fnmatchcase(entry.name, part):
                    yield from _walk(entry.path, rest, real_root, depth + 1)
            elif fnmatchcase(entry.name, rest[0] if part == "**" else part) and len(rest) == (part == "**"):
                yield entry.path, entry.stat()
        except OSError:
            continue


def _named(
    path: str, rest: list[str], real_root: str, depth: int
) -> Iterator[tuple[str, int | os.stat_result]]:
    try:
        found = os.stat(path)
        if os.path.islink(path) and not inside(os.path.realpath(path), real_root):
            return
    except (OSError, ValueError):
        yield path, 0
        return
    if rest and stat.S_ISDIR(found.st_mode):
        if "*" not in rest[0]:
            yield path, found.st_mtime_ns
        yield from _walk(path, rest, real_root, depth + 1)
    elif not rest and not stat.S_ISDIR(found.st_mode):
        yield path, found


def inside(path: str, root: str) -> bool:
    """Whether a resolved path is the root or below it."""
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def user_data(application: str, *, also: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return where an Electron application keeps its user data, on this kind of system and the others."""
    linux = (f"$XDG_CONFIG_HOME|~/.config:{application}",)
    mac = (f"~/Library/Application Support/{application}",)
    windows = (f"$APPDATA/{application}", f"~/AppData/Roaming/{application}")
    order = {"darwin": (mac, linux, windows), "win32": (windows, linux, mac)}
    return sum(order.get(sys.platform, (linux, mac, windows)), ()) + also
