"""Which project a folder belongs to: the same for sub-folders, worktrees, clones and moved folders."""

from __future__ import annotations

import os

from told.guard.files import NotReadableError, open_regular
from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from told.store.projects import Project, Projects

_MAX_CONFIG = 1 << 20
_MAX_LOG = 1 << 14  # what happened to the first commit stands at its beginning
_GIT_SECONDS = 2
_HOSTS = ("github.com", "gitlab.com", "bitbucket.org")
# A clone of a clone of a clone …
_MAX_CLONES = 4


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


def own_store_root(folder: str) -> str:
    """Return the nearest folder above (or at) this one that `told init` made a project; never the home."""
    home = os.path.expanduser("~")
    while folder not in (home, os.path.dirname(folder)):
        if is_own_store(os.path.join(folder, ".told")):
            return folder
        folder = os.path.dirname(folder)
    return ""


def is_own_store(path: str) -> bool:
    """Tell whether a folder `.told` is that of a project, and not where told keeps everything."""
    return os.path.isdir(path) and not os.path.islink(path) and not is_home(path)


def is_home(path: str) -> bool:
    """Tell whether a folder is one where told keeps everything: it has what no project's has."""
    return any(os.path.lexists(os.path.join(path, name)) for name in ("machine", "key", "memory.db"))


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
    >>> normal_remote("github.com/acme/demo")
    ('github.com/acme/demo', 'acme/demo')
    """
    host, path = _host_and_path(url.strip())
    parts = [part.strip() for part in path.partition("?")[0].partition("#")[0].split("/")]
    while parts and (not parts[0] or "@" in parts[0]):
        parts[:1] = filter(None, (parts[0].rpartition("@")[2].strip(),))
    path = "/".join(part for part in parts if part)
    while path.endswith(".git"):
        path = path.removesuffix(".git").rstrip("/ ")
    host = _usual_name(host.strip().lower())
    if not path or host[:1] in ("", ".") or not all(letter.isalnum() or letter in "._-" for letter in host):
        return "", ""
    # A short host with a short path would read as `owner/name`.
    gap = ":" if "/" not in path and "." not in host and host != "file" else "/"
    return f"{host}{gap}{path.lower()}", "/".join(path.split("/")[-2:])


def _usual_name(host: str) -> str:
    """Return the name under which a host is known: without the alias for another account or port."""
    for known in _HOSTS:
        if host.startswith(f"{known}-") or host in (f"www.{known}", f"ssh.{known}", f"altssh.{known}"):
            return known
    return host


def _host_and_path(url: str) -> tuple[str, str]:
    if "://" in url:
        scheme, _, rest = url.partition("://")
        if scheme == "file":
            return "file", rest
        authority, _, path = rest.partition("/")
        if "@" in path and ":" in authority and not authority.rpartition(":")[2].isdigit():
            authority, _, path = rest.rpartition("@")[2].partition("/")  # a password with a slash in it
        return authority.rpartition("@")[2].partition(":")[0], path
    head, slash, rest = url.partition("/")
    if head == "file" and rest:
        return head, rest
    if len(head) == 2 and head[1] == ":" and head[0].isalpha() and slash:  # a drive of Windows
        return "file", url
    if ":" in head and "\\" not in head and head[0] not in ".~":
        name, _, path = head.partition(":")
        if "@" in path:  # a password before the host, or an odd name
            name, _, path = head.rpartition("@")[2].partition(":")
        return name.rpartition("@")[2], path + slash + rest
    if head and "@" not in head and not head.startswith((".", "~")):
        if "." in head or "/" in rest:
            return head, rest
        if rest:
            return "github.com", url
    return "file", url


def identify(folder: str, *, ask_git: bool, clones: int = _MAX_CLONES) -> Identity:
    """Say which project an existing folder belongs to.

    A repository without a remote is known by its first commit. With `ask_git` off (where a child process
    would cost too much) git's own log has to tell it; where it does not, the repository is known by its
    folder. A clone of a folder on this machine is what that folder is.
    """
    root = git_root(folder)
    top = root or own_store_root(folder) or folder
    part = os.path.relpath(folder, top).replace(os.sep, "/")
    part = "" if part == "." else part
    if not root:
        return Identity(f"path:{top}", os.path.basename(top) or top, top, part)
    common = common_git_folder(root)
    main = os.path.dirname(common) if os.path.basename(common) == ".git" else root
    remote = remote_of(common)
    if remote.startswith((".", "/", "~")):
        remote = os.path.normpath(os.path.join(main, os.path.expanduser(remote)))
        if clones and remote != main and os.path.lexists(os.path.join(remote, ".git")):
            origin = identify(remote, ask_git=ask_git, clones=clones - 1)
            return Identity(origin.key, origin.name, main, part)
    key, name = normal_remote(remote)
    if key:
        return Identity(key, name, main, part)
    commit = _first_commit(root) if ask_git else _first_logged(common)
    return Identity(f"commit:{commit}" if commit else f"path:{main}", os.path.basename(main), main, part)


def _first_logged(git_folder: str) -> str:
    """Return the first commit of a repository that was made here, as git's log of it has it."""
    first = ""
    for line in _read(os.path.join(git_folder, "logs", "HEAD"), _MAX_LOG).splitlines():
        before, _, rest = line.partition(" ")
        made = rest.partition(" ")[0]
        if not before.strip("0") and "\tcommit (initial)" in line:
            first = first or made
        elif first and before == first and "\tcommit (amend)" in line:
            first = made
    return first


def _first_commit(root: str) -> str:
    import subprocess

    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(  # noqa: S603 - the only argument that varies is a folder that was looked at
            ["git", "-C", root, "rev-list", "--max-parents=0", "HEAD"],  # noqa: S607 - the user's own git
            capture_output=True, text=True, timeout=_GIT_SECONDS, check=False, stdin=subprocess.DEVNULL,
            env={**environ, "GIT_OPTIONAL_LOCKS": "0"},  # a hook's GIT_DIR would name another repository
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
    own = own_store_root(folder)
    if own:
        return projects.at(own)
    above = folder
    while above not in (home, os.path.dirname(above)):
        known = projects.at(above)
        if known is not None:
            return known
        above = os.path.dirname(above)
    # Who worked in the home itself, or in the root, did not work in all that lies below it.
    return projects.at(folder) if above == folder else None


def _read(path: str, most: int = _MAX_CONFIG) -> str:
    try:
        with open_regular(path) as file:
            return file.read(most).decode("utf-8", "replace")
    except (NotReadableError, OSError):
        return ""
