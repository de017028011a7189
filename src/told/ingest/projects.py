"""Identify the project of a folder: the same for sub-folders, worktrees and clones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from told.files import NotReadableError, is_folder, open_regular, read_document, write_private
from told.store.database import make_private_folder
from told.store.sessions.checkpoints import Project, Projects

if TYPE_CHECKING:  # a command that lists sessions does not load what writes
    from told.store.sessions.write import SessionWriter

_MAX_CONFIG = 1 << 20
_MAX_LOG = 1 << 14  # the first commit is at the start of the log
_GIT_SECONDS = 2
_HOSTS = ("github.com", "gitlab.com", "bitbucket.org")
_MAX_CLONES = 4  # of local clones of clones


class Identity(NamedTuple):
    """A folder's project, the same on every machine, and the path in it."""

    key: str
    name: str
    root: str
    part: str


def find_git_root(folder: str) -> str:
    """Return the nearest git work tree at or above a folder; "" if none."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ""
        folder = parent
    return folder


def find_store_root(folder: str) -> str:
    """Return the nearest project of `told init` at or above a folder; "" if none."""
    stores = ((one, os.path.join(one, ".told")) for one in _walk_up(folder))
    return next((one for one, store in stores if is_folder(store) and not is_told_home(store)), "")


def _walk_up(folder: str) -> Iterator[str]:
    """Yield a folder and those above it, up to the home folder or the root."""
    home = os.path.expanduser("~")
    while folder not in (home, os.path.dirname(folder)):
        yield folder
        folder = os.path.dirname(folder)


def is_told_home(path: str) -> bool:
    """Return whether a folder is a told home instead of a project's `.told`."""
    return any(os.path.lexists(os.path.join(path, name)) for name in ("machine", "key", "memory.db"))


def common_git_folder(root: str) -> str:
    """Return the git folder of a work tree; for a linked one, the main one's."""
    path = os.path.join(root, ".git")
    if os.path.isdir(path):
        return path
    pointer = _read(path)
    if not pointer.startswith("gitdir:"):
        return path
    folder = os.path.normpath(os.path.join(root, pointer.removeprefix("gitdir:").strip()))
    common = _read(os.path.join(folder, "commondir")).strip()
    return os.path.normpath(os.path.join(folder, common)) if common else folder


def read_remote(git_folder: str) -> str:
    """Read the URL of `origin`, or of the first remote, from a git config."""
    first = origin = section = ""
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


def normalize_remote(url: str) -> tuple[str, str]:
    """Return key and name of a remote; the same for ssh, https and `owner/name`.

    Such as 'github.com/acme/demo' and 'Acme/Demo' for "git@github.com:Acme/Demo.git".
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
    # Otherwise a short host with a short path would look like `owner/name`.
    gap = ":" if "/" not in path and "." not in host and host != "file" else "/"
    if gap == ":" and "\\" in path:  # a Windows path
        return "", ""
    return f"{host}{gap}{path.lower()}", "/".join(path.split("/")[-2:])


def _usual_name(host: str) -> str:
    """Return a host without an alias for another account or port."""
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
            authority, _, path = rest.rpartition("@")[2].partition("/")  # a password with a slash
        return authority.rpartition("@")[2].partition(":")[0], path
    head, slash, rest = url.partition("/")
    if head == "file" and rest:
        return head, rest
    if len(head) == 2 and head[1] == ":" and head[0].isalpha() and slash:  # a Windows drive
        return "file", url
    if ":" in head and "\\" not in head and head[0] not in ".~":
        name, _, path = head.partition(":")
        if "@" in path:  # a password before the host
            name, _, path = head.rpartition("@")[2].partition(":")
        return name.rpartition("@")[2], path + slash + rest
    if head and "@" not in head and not head.startswith((".", "~")):
        if "." in head or "/" in rest:
            return head, rest
        if rest:
            return "github.com", url
    return "file", url


def identify(folder: str, *, ask_git: bool, clones: int = _MAX_CLONES) -> Identity:
    """Identify the project of an existing folder.

    A repository is identified by its remote, else by its first commit, else by its folder. Without `ask_git`
    the first commit comes from the reflog instead of a git process. A clone of a local folder is the same
    project.
    """
    root = find_git_root(folder)
    top = root or find_store_root(folder) or folder
    part = os.path.relpath(folder, top).replace(os.sep, "/")
    part = "" if part == "." else part
    if not root:
        return Identity(f"path:{top}", os.path.basename(top) or top, top, part)
    common = common_git_folder(root)
    main = os.path.dirname(common) if os.path.basename(common) == ".git" else root
    remote = read_remote(common)
    if remote.startswith((".", "/", "~")):
        remote = os.path.normpath(os.path.join(main, os.path.expanduser(remote)))
        if clones and remote != main and os.path.lexists(os.path.join(remote, ".git")):
            origin = identify(remote, ask_git=ask_git, clones=clones - 1)
            return Identity(origin.key, origin.name, main, part)
    key, name = normalize_remote(remote)
    if key:
        return Identity(key, name, main, part)
    commit = _first_commit(root) if ask_git else _first_logged(common)
    return Identity(f"commit:{commit}" if commit else f"path:{main}", os.path.basename(main), main, part)


def _first_logged(git_folder: str) -> str:
    """Read the first commit of a repository created here from its reflog."""
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
    commits = sorted(_ask_git(root, "rev-list", "--max-parents=0", "HEAD").split())
    return commits[0] if commits else ""


def list_untracked(folder: str) -> frozenset[str]:
    """Return the names of the files in a folder that git does not track; none without git."""
    found = _ask_git(folder, "-c", "core.fsmonitor=false", "ls-files", "-z", "--others", "--", ":(glob)*")
    return frozenset(found.split("\0"))


def _ask_git(root: str, *words: str) -> str:
    """Return what git prints; empty if it fails."""
    import subprocess  # noqa: PLC0415 - most folders need no git process

    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(  # noqa: S603 - told's own words; only the folder varies
            ["git", "-C", root, *words],  # noqa: S607 - the user's own git
            capture_output=True, text=True, timeout=_GIT_SECONDS, check=False, stdin=subprocess.DEVNULL,
            errors="surrogateescape", env={**environ, "GIT_OPTIONAL_LOCKS": "0"},  # without a hook's GIT_DIR
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return "" if done.returncode else done.stdout


def find_project(projects: Projects, folder: str) -> Project | None:
    """Return the known project of a folder, without running git."""
    root = find_git_root(folder)
    if root:
        known = projects.at(root)
        if known is not None:
            return known
        identity = identify(folder, ask_git=False)
        return projects.by_key(identity.key) or projects.at(identity.root)
    own = find_store_root(folder)
    # A session in the home folder itself does not make it a project of the folders in it.
    folders = [own] if own else list(_walk_up(folder)) or [folder]
    return next(filter(None, map(projects.at, folders)), None)


def _read(path: str, most: int = _MAX_CONFIG) -> str:
    try:
        with open_regular(path) as file:
            return file.read(most).decode("utf-8", "replace")
    except (NotReadableError, OSError):
        return ""


class Locator:
    """Resolve working folders to projects; each folder once."""

    def __init__(self, projects: Projects, writer: SessionWriter) -> None:
        self._projects = projects
        self._writer = writer
        self._seen: dict[tuple[str, str], tuple[int, str]] = {}

    def locate(self, cwd: str, repository: str) -> tuple[int, str]:
        """Return project id and path in it; (0, "") if unknown."""
        key = (cwd, repository)
        if key not in self._seen:
            self._seen[key] = self._locate(cwd, repository)
        return self._seen[key]

    def _locate(self, cwd: str, repository: str) -> tuple[int, str]:
        existing = _find_existing(cwd)
        if existing and existing == cwd:
            return self._put(identify(os.path.realpath(cwd), ask_git=True), cwd)
        key, name = normalize_remote(repository) if repository else ("", "")
        if key:
            project = self._projects.put(key, name, cwd)
            if cwd and not self._find_repository_above(cwd):
                self._claim(cwd, project, cwd)
            known, part = self._nearest(cwd)
            return project.id, part if known is not None and known.id == project.id else ""
        if not cwd:
            return 0, ""
        known, part = self._nearest(cwd)
        root = find_git_root(existing)
        place = cwd.removesuffix(part).rstrip("/")
        is_nearer = known is not None and not known.key.startswith("path:") and place.startswith(f"{root}/")
        if root not in ("", os.path.expanduser("~")) and not is_nearer:
            identity = identify(os.path.realpath(existing), ask_git=True)
            part = "/".join(filter(None, (identity.part, os.path.relpath(cwd, existing))))
            return self._put(Identity(identity.key, identity.name, identity.root, part), cwd)
        if known is not None:
            return known.id, part
        project = self._projects.put(f"path:{cwd}", _last_name(cwd), cwd)
        self._projects.place(cwd, project.id)
        return project.id, ""

    def _nearest(self, cwd: str) -> tuple[Project | None, str]:
        """Return the known project of a deleted folder, or the repository above it."""
        known = self._projects.at(cwd)
        if known is not None:
            return known, ""
        above = self._find_repository_above(cwd)
        return (self._projects.at(above), os.path.relpath(cwd, above)) if above else (None, "")

    def _find_repository_above(self, cwd: str) -> str:
        """Return the nearest known repository above a folder; "" if none."""
        for folder in _walk_up(os.path.dirname(cwd)):
            known = self._projects.at(folder)
            if known is not None and not known.key.startswith("path:"):
                return folder
        return ""

    def _put(self, identity: Identity, cwd: str) -> tuple[int, str]:
        """Store a project and its folders; rename one that had a provisional key."""
        folder = cwd.rstrip("/") or cwd
        if identity.part:
            folder = folder.removesuffix(identity.part).rstrip("/")
        places = list(dict.fromkeys((folder, identity.root)))
        if self._projects.by_key(identity.key) is None:
            before = next(filter(None, map(self._projects.at, places)), None)
            if before is not None and _is_provisional(before.key):
                self._projects.rename(before.id, identity.key, identity.name)
            elif identity.key.startswith("commit:"):  # hooks run no git and used the path
                self._projects.follow(f"path:{identity.root}", identity.key)
        project = self._projects.put(identity.key, identity.name, identity.root)
        for place in places:
            self._claim(place, project, identity.root)
        return project.id, identity.part

    def _claim(self, place: str, project: Project, root: str) -> None:
        """Assign a folder to a project; merge projects known only by paths in it."""
        before = self._projects.at(place)
        if before is not None and before.id == project.id:
            return
        if before is not None and _is_provisional(before.key):
            self._merge(before, project, root)
        self._projects.place(place, project.id)
        if project.key.startswith("path:"):
            return
        for below in self._projects.below(place):
            other = self._projects.at(below)
            if (
                other is not None
                and other.key.startswith("path:")
                and find_git_root(_find_existing(below)) in ("", root)
            ):
                self._merge(other, project, root)

    def _merge(self, old: Project, new: Project, root: str) -> None:
        for session_id, cwd, part in self._projects.move(old.id, new.id):
            inside = cwd.startswith(root.rstrip("/") + "/")
            self._writer.place_session(session_id, new.id, os.path.relpath(cwd, root) if inside else part)
        self._projects.drop(old.id)
        self._seen.clear()


def _find_existing(cwd: str) -> str:
    """Return the folder or the nearest existing one above; "" for relative paths."""
    folder = cwd.rstrip("/") or cwd
    if not os.path.isabs(folder):
        return ""
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return cwd if folder == cwd.rstrip("/") else folder


def _last_name(cwd: str) -> str:
    """Return the last part of a path, also of Windows paths."""
    return cwd.replace("\\", "/").rstrip("/").rpartition("/")[2] or cwd


def _is_provisional(key: str) -> bool:
    """Return whether a key is not a remote and may be replaced by one."""
    return key.startswith(("path:", "commit:"))


def places_path(home: str) -> str:
    """Return the path of the list of project folders."""
    return os.path.join(home, "archive", "places.jsonl")


def write_places(projects: Projects, home: str) -> None:
    """Write the list of project folders, if it changed."""
    import json  # noqa: PLC0415 - only a sweep writes the list

    lines = [json.dumps(place, ensure_ascii=False) for place in projects.places()]
    content = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
    path = places_path(home)
    try:
        if not content or read_document(path) == content:
            return
    except NotReadableError:
        pass
    make_private_folder(os.path.dirname(path))
    write_private(path, content)


def load_places(projects: Projects, home: str) -> None:
    """Load the list of project folders into an empty store."""
    from told.agents.values import as_text  # noqa: PLC0415 - only a rebuild needs these
    from told.jsontext import parse_json  # noqa: PLC0415

    if projects.roots():
        return
    try:
        content = read_document(places_path(home))
    except NotReadableError:
        return
    for line in content.splitlines():
        place = parse_json(line)
        if isinstance(place, list) and len(place) == 4 and all(map(as_text, place)):
            path, key, name, root = place
            projects.place(path, projects.put(key, name, root).id)
