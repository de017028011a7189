"""Which project a folder belongs to: the same for sub-folders, worktrees, clones and moved folders."""

from __future__ import annotations

import os

from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.store.projects import Project, Projects

_MAX_CONFIG = 1 << 20
_GIT_SECONDS = 2


@record
class Identity:
    """What makes a folder's project the same on every machine, and the folder's place in it."""

    key: str
    name: str
    root: str
    part: str


def git_root(folder: str) -> str:
    """Return the nearest folder above (or at) this one that is a git work tree; empty if none is."""
    while True:
        if os.path.lexists(os.path.join(folder, ".git")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent


def common_git_folder(root: str) -> str:
    """Return the folder with a work tree's git config: for a linked work tree, that of the main one."""
    path = os.path.join(root, ".git")
    if os.path.isdir(path):
        return path
    pointer = _read(path)
    if not pointer.startswith("gitdir:"):
        return path
    folder = os.path.normpath(os.path.join(root, pointer.removeprefix("gitdir:").strip()))
    common = _read(os.path.join(folder, "commondir")).strip()
    return os.path.normpath(os.path.join(folder, common)) if common else folder


def remote_of(git_folder: str) -> str:
    """Return the URL of `origin` from a git config, else of the first remote."""
    first = origin = ""
    section = ""
    for line in _read(os.path.join(git_folder, "config")).splitlines():
        stripped = line.strip()
        if stripped.startswith("["):
            section = stripped.lower()
        elif section.startswith("[remote ") and stripped.lower().startswith("url"):
            name, _, url = stripped.partition("=")
            if name.strip().lower() == "url":
                first = first or url.strip().strip('"')
                if section == '[remote "origin"]':
                    origin = origin or url.strip().strip('"')
    return origin or first


def normal_remote(url: str) -> tuple[str, str]:
    """Return (key, name) of a remote: the same for ssh, https and `owner/name`; empty if it is none of them.

    >>> normal_remote("git@github.com:Acme/Demo.git")
    ('github.com/acme/demo', 'Acme/Demo')
    >>> normal_remote("https://user:secret@github.com/Acme/Demo/")
    ('github.com/acme/demo', 'Acme/Demo')
    >>> normal_remote("acme/demo")
    ('github.com/acme/demo', 'acme/demo')
    """
    url = url.strip()
    if "://" in url:
        scheme, _, rest = url.partition("://")
        authority, _, path = rest.partition("/")
        host = authority.rpartition("@")[2].partition(":")[0]
        if scheme == "file":
            host = "file"
    elif ":" in url and not url.startswith(("/", ".")) and "/" not in url.partition(":")[0]:
        authority, _, path = url.partition(":")
        host = authority.rpartition("@")[2]
    elif url.count("/") == 1 and not url.startswith((".", "/", "~")):
        host, path = "github.com", url
    else:
        host, path = "file", url
    path = path.strip("/").removesuffix(".git").strip("/")
    if not host or not path:
        return "", ""
    host = host.lower()
    if host.startswith("github.com-"):  # the usual ssh alias for a second account
        host = "github.com"
    return f"{host}/{path.lower()}", "/".join(path.split("/")[-2:])


def identify(folder: str, *, ask_git: bool) -> Identity:
    """Say which project an existing folder belongs to.

    A repository without a remote is known by its first commit, which only git can tell; with `ask_git` off
    (where a child process would cost too much) it is known by its folder.
    """
    root = git_root(folder)
    if not root:
        return Identity(f"path:{folder}", os.path.basename(folder) or folder, folder, "")
    part = os.path.relpath(folder, root).replace(os.sep, "/")
    part = "" if part == "." else part
    common = common_git_folder(root)
    main = os.path.dirname(common) if os.path.basename(common) == ".git" else root
    key, name = normal_remote(remote_of(common))
    if key:
        return Identity(key, name, main, part)
    commit = _first_commit(root) if ask_git else ""
    return Identity(f"commit:{commit}" if commit else f"path:{main}", os.path.basename(main), main, part)


def _first_commit(root: str) -> str:
    import subprocess

    try:
        done = subprocess.run(  # noqa: S603 - the only argument that varies is a folder that was looked at
            ["git", "-C", root, "rev-list", "--max-parents=0", "HEAD"],  # noqa: S607 - the user's own git
            capture_output=True, text=True, timeout=_GIT_SECONDS, check=False, stdin=subprocess.DEVNULL,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    commits = sorted(done.stdout.split())
    return commits[0] if done.returncode == 0 and commits else ""


def project_at(projects: Projects, folder: str) -> Project | None:
    """Return the known project of a folder, without asking git and without writing anything."""
    root = git_root(folder)
    if root:
        known = projects.at(root)
        if known is not None:
            return known
        identity = identify(folder, ask_git=False)
        return projects.by_key(identity.key) or projects.at(identity.root)
    home = os.path.expanduser("~")
    while folder not in (home, os.path.dirname(folder)):
        known = projects.at(folder)
        if known is not None:
            return known
        folder = os.path.dirname(folder)
    return projects.at(folder)


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(_MAX_CONFIG)
    except OSError:
        return ""
