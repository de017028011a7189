"""`told sync server`: your machines and your team through a team server."""

from __future__ import annotations

import getpass
import os
import sys
from contextlib import closing
from dataclasses import dataclass, replace

from told.cli.arguments import Arguments
from told.cli.context import Context, MemoryView
from told.cli.moving.sync import describe_code, exchange, exchange_own, has_places, print_rows, read_place
from told.cli.moving.team import check_team_name, describe_enabled, enable_here
from told.errors import MissingError, ToldError, UsageError
from told.files import read_text
from told.memories.teams import check_project
from told.sync.identity import Identity, load_identity, make_identity
from told.sync.places import describe_place
from told.sync.server import TOKEN_VARIABLE, Account, TeamServer, check_token, load_token, save_token
from told.sync.spaces import SERVER, Space, add_place, load_spaces, lock_sync, save_space
from told.sync.teams import CREATED, new_team_id, say, say_returned

_MAX_TOKEN_FILE = 1000  # characters
_MAX_NAME = 40


@dataclass(frozen=True, slots=True)
class Connected:
    """What a connection to a server made."""

    account: Account
    identity: Identity
    team: Space | None  # the team's log; None while no member has connected
    said: str


def add_server(context: Context, arguments: Arguments, where: str, *, joins: bool = False) -> None:
    """Sync the user's machines and the team through a server; share the current project there."""
    place = read_place(context, SERVER, where)
    is_first = not joins and not has_places(context.home)
    found = connect(context, arguments, place)
    account, team = found.account, found.team
    own = [] if account.is_reader else exchange_own(context, arguments, place)
    rows = [*own, *(exchange(context, [replace(team, places=(place,))]) if team else [])]
    enabled = enable_here(context, team) if team and _is_project(context) else None
    if context.as_json:
        context.print_json({
            "places": rows, "team": team.name if team else None, "name": account.name, "role": account.role,
            "project": context.name(enabled.key) if enabled else None,
            "code": found.identity.code if own else None,
        })  # fmt: skip
        return
    context.print(f"Connected to {account.team_name} as {account.name} ({account.role}).")
    print_rows(context, own)
    if is_first and own and not own[0]["error"]:
        context.print(describe_code(found.identity, place))
    context.print(found.said)
    print_rows(context, rows[len(own) :])
    if enabled and team:
        context.print(describe_enabled(context, team, enabled))
    elif team:
        context.print(f"In a project, `told team enable` shares it with {team.name}.")


def connect(context: Context, arguments: Arguments, place: str) -> Connected:
    """Sign in to a server, and take part in the log of its team.

    Raises:
        BusyError: the server does not answer now.
        UsageError: there is no token, or another machine of the user is connected with another key.
        MissingError: the server refuses.
    """
    url = place.partition(":")[2]
    server, account = _sign_in(context, arguments, url)
    with closing(server):
        known = load_identity(context.home)
        if known is None and account.public_key:
            raise UsageError(
                f"{account.name} syncs with this server from another machine already. Run `told sync code`"
                f" there and `told sync join CODE server {url}` here. If that machine is lost, an admin runs"
                f" `told server token forget-key {account.name}` first."
            )
        identity = make_identity(context.home)
        server.connect(account, identity)
        team, said = _join_log(context, arguments, server, account, place)
    return Connected(account, identity, team, said)


def _sign_in(context: Context, arguments: Arguments, url: str) -> tuple[TeamServer, Account]:
    path, saved = arguments.text("token-file"), load_token(context.home, url)
    given = _read_token_file(context, path) if path else context.environ.get(TOKEN_VARIABLE, "").strip()
    token = check_token(given or saved or _ask_token(arguments, url))
    try:
        server, account = _open(url, token)
    except MissingError:
        if given or not saved or not _may_ask(arguments):
            raise
        token = _ask_token(arguments, url)  # the saved one may have been revoked
        server, account = _open(url, token)
    if token != saved and (path or saved or not given):  # one of the environment is not written down
        save_token(context.home, url, token)
    return server, account


def _open(url: str, token: str) -> tuple[TeamServer, Account]:
    server = TeamServer(url, token)
    try:
        return server, server.account()
    except ToldError:
        server.close()
        raise


def _read_token_file(context: Context, path: str) -> str:
    full = os.path.join(context.cwd or os.sep, os.path.expanduser(path))
    try:
        return check_token(read_text(full, _MAX_TOKEN_FILE))
    except OSError as error:
        raise UsageError(
            f"{full} cannot be read ({error.strerror or error}). Name the file with the token."
        ) from None


def _may_ask(arguments: Arguments) -> bool:
    return sys.stdin.isatty() and not arguments.flag("yes")


def _ask_token(arguments: Arguments, url: str) -> str:
    if not _may_ask(arguments):
        raise UsageError(f"Give your token for {url}: --token-file FILE, or the variable {TOKEN_VARIABLE}.")
    return check_token(getpass.getpass(f"Token for {url}: "))


def _join_log(
    context: Context, arguments: Arguments, server: TeamServer, account: Account, place: str
) -> tuple[Space | None, str]:
    """Return the team's log, joined or created if needed, and what to say about it."""
    made = nonce = ""
    space = account.space
    if not space:
        if account.is_reader:
            return None, "The team shares nothing yet: its log starts when the first member connects."
        made, nonce = new_team_id(make_identity(context.home))
        space = server.create_log(made)
    known = next((one for one in load_spaces(context.home) if one.id == space), None)
    if known:
        joined = add_place(known, place)
        save_space(context.home, joined)
        return joined, f"You are in the team {known.name} already."
    bare = "".join(one if one.isalnum() or one in "-_" else "-" for one in account.team_name).strip("-")
    name = arguments.text("name") or bare[:_MAX_NAME] or "team"
    check_team_name(context, name)
    joined = Space(space, (place,), name=name, author=account.name)
    with lock_sync(context.home):
        save_space(context.home, joined)
        if space == made:
            say(context.home, joined, CREATED, context.now, name=name, nonce=nonce)
        else:
            say_returned(context.home, joined, context.now)
    done = "Created the log of the team" if space == made else "Joined the team"
    return joined, f"{done} {name} as {account.name}."


def team_at_server(context: Context, arguments: Arguments, place: str) -> tuple[Space, str]:
    """Return the team of a server, joined if needed, and what to say about it."""
    found = connect(context, arguments, place)
    if found.team is None:
        raise MissingError(f"{describe_place(place)}: {found.said}")
    return found.team, found.said


def _is_project(context: Context) -> bool:
    """Tell whether the current folder belongs to a project that colleagues can have as well."""
    with MemoryView(context) as view:
        try:
            check_project(view.project)
        except UsageError:
            return False
        return True
