"""Name the places where series are exchanged, and open them."""

from __future__ import annotations

import os
from collections.abc import Mapping

from told.errors import UsageError
from told.sync.spaces import FOLDER, GIT, PLACES, SERVER, SSH, Space, load_spaces
from told.sync.state import digest
from told.sync.transports import Transport

_IN = " in "  # between the name of a git remote and its repository


def parse_place(kind: str, where: str, cwd: str, repository: str = "") -> str:
    """Return a place as it is stored, such as `folder:/mnt/team`.

    Args:
        kind: folder, git, ssh or server.
        where: A path, the name or address of a git remote, a host, or the address of a server.
        cwd: The current folder.
        repository: The git repository of the current folder.

    Raises:
        UsageError: it cannot be one.
    """
    if kind not in PLACES:
        raise UsageError(f"Unknown place {kind!r}. Use folder PATH, git REMOTE, ssh HOST or server URL.")
    if not where or any(char < " " for char in where):
        raise UsageError(f"Say where, such as `{kind} {_EXAMPLES[kind]}`.")
    if kind == FOLDER:
        path = os.path.normpath(os.path.join(cwd or os.sep, where))
        if not os.path.isdir(path):
            raise UsageError(f"{path} is no folder. Create it first, or mount its drive.")
        return f"{FOLDER}:{path}"
    if where.startswith("-"):
        raise UsageError(f"{where!r} looks like an option, not like a place.")
    if kind == GIT and where.replace("-", "").replace("_", "").isalnum():  # the name of a remote
        if not repository:
            raise UsageError(f"Go to a repository that has the remote {where!r}, or give its address.")
        return f"{GIT}:{where}{_IN}{repository}"
    if kind == SERVER:
        from told.sync.transports.server import parse_url  # noqa: PLC0415 - as in `open_transport`

        parse_url(where)
        return f"{SERVER}:{where.rstrip('/')}"
    return f"{kind}:{where}"


_EXAMPLES = {FOLDER: "~/Dropbox", GIT: "origin", SSH: "me@desktop", SERVER: "https://told.example.com"}


def describe_place(place: str) -> str:
    """Return a place as people read it: `folder /mnt/team`."""
    kind, _, where = place.partition(":")
    return f"{kind} {where}"


def is_used(place: str, own: str = "") -> bool:
    """Tell whether machines exchange something in a folder already, in spaces other than the user's own."""
    kind, _, where = place.partition(":")
    try:
        names = os.listdir(os.path.join(where, "told-sync")) if kind == FOLDER else []
    except OSError:
        return False
    return own not in names and any(name.startswith("o") for name in names)


def list_teams(place: str) -> list[str]:
    """List the ids of the teams in a folder; other places cannot be listed."""
    kind, _, where = place.partition(":")
    try:
        names = os.listdir(os.path.join(where, "told-sync")) if kind == FOLDER else []
    except OSError:
        return []
    return sorted(one for one in names if one.startswith("t") and one.isascii() and one.isalnum())


def open_transport(
    home: str, space: Space, place: str, environ: Mapping[str, str], *, known: bool = False
) -> Transport:
    """Open a place.

    Args:
        home: told's folder.
        space: What is exchanged there.
        place: Where, as `parse_place` returns it.
        environ: The user's environment.
        known: Series were there before: if all are gone, the drive is away.
    """
    # One of them is needed at a time.
    kind, _, where = place.partition(":")
    if kind == FOLDER:
        from told.sync.transports.folder import FolderTransport  # noqa: PLC0415

        return FolderTransport(where, space.id, known=known)
    if kind == GIT:
        from told.sync.transports.git import GitTransport  # noqa: PLC0415

        remote, _, repository = where.partition(_IN)
        cache = os.path.join(space.folder(home), f"git-{digest(where.encode())[:8]}")
        return GitTransport(remote, space.id, cache, environ=environ, repo=repository or None)
    if kind == SERVER:
        from told.sync.server import find_token  # noqa: PLC0415
        from told.sync.transports.server import ServerTransport  # noqa: PLC0415

        return ServerTransport(where, space.id, find_token(home, where, environ))
    from told.sync.transports.ssh import SshTransport  # noqa: PLC0415

    return SshTransport(where, space.id, environ=environ)


def forget_token(home: str, place: str) -> None:
    """Delete the token for a server that nothing is synced with any more."""
    kind, _, url = place.partition(":")
    if kind == SERVER and all(place not in one.places for one in load_spaces(home)):
        from told.sync.server import save_token  # noqa: PLC0415

        save_token(home, url, "")
