"""`told team`: share memories of a project with colleagues, without a server."""

from __future__ import annotations

import getpass
import os
import sys
from collections import Counter
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

from told.cli.arguments import Arguments
from told.cli.context import Context, MemoryView, count
from told.cli.moving.sync import exchange, print_rows, read_place
from told.cli.moving.team_members import change_policy, print_members, print_status, revoke_member
from told.errors import MissingError, NotFoundError, UsageError
from told.memories.scopes import validate_scope_name
from told.memories.teams import check_project, disable, enable, leave
from told.settings.endpoints import is_address
from told.store.memories.records import TEAM
from told.sync.heads import BadHeadError, decode_head
from told.sync.identity import derive_key, is_encrypted, make_identity
from told.sync.places import describe_place, list_teams, open_transport
from told.sync.spaces import (
    FOLDER,
    GIT,
    PLACES,
    SERVER,
    Space,
    add_place,
    find_team,
    load_spaces,
    lock_sync,
    save_space,
)
from told.sync.teams import (
    CREATED,
    LEFT,
    Invitation,
    make_code,
    new_team_id,
    parse_invitation,
    say,
    say_returned,
)

_USAGE = (
    "Use `told team`, `create NAME`, `join CODE`, `enable [PATH]`, `disable`, `leave`, `members`, `code`,"
    " `revoke MEMBER` or `policy [accept|decline|none|MEMBER…]`."
)
_PASSPHRASE = "TOLD_TEAM_PASSPHRASE"  # noqa: S105 - the name of a variable
_WHERE = "Say where: --folder PATH, --git REMOTE, --ssh HOST or --server URL."
_MAX_NAME = 40


def team(context: Context, arguments: Arguments) -> None:
    """Create, join, leave or look at a team; share a project with it."""
    word, *rest = arguments.operands or ["status"]
    if (word, rest) == ("status", []):
        print_status(context)
    elif (word, rest) == ("members", []):
        print_members(context, arguments)
    elif not context.caller.is_user:
        context.refuse_agent("change your teams")
    elif word == "create" and len(rest) == 1:
        _create(context, arguments, rest[0])
    elif word == "join" and len(rest) == 1:
        _join(context, arguments, rest[0])
    elif word == "enable" and len(rest) <= 1:
        _enable(context, arguments, "".join(rest))
    elif word == "revoke" and rest:
        revoke_member(context, arguments, " ".join(rest))
    elif word == "policy":
        change_policy(context, arguments, rest)
    elif word in _ALONE and not rest:
        _ALONE[word](context, arguments)
    else:
        known = word in ("create", "join", "enable", "revoke", "status", "members", *_ALONE)
        raise UsageError(_USAGE if known else f"`told team` does not know {word!r}. {_USAGE}")


def _create(context: Context, arguments: Arguments, name: str) -> None:
    space, said = _make_team(context, arguments, name, _given_place(context, arguments))
    rows = exchange(context, [space]) if space.places else []
    code = make_code(space)
    if context.as_json:
        context.print_json({"team": space.name, "code": code, "places": rows})
        return
    context.print(said)
    print_rows(context, rows)
    context.print(f"Colleagues join with:\n  told team join {code} {_describe_where(space)}")
    context.print("Nothing is shared yet. In a project: `told team enable`, then `told share ID`.")


def _describe_where(space: Space) -> str:
    """Return the options that name a team's place to somebody who joins."""
    kind, _, where = space.places[0].partition(":") if space.places else (FOLDER, "", "PATH")
    return f"--{kind} {where.partition(' in ')[0] if kind == GIT else where}"


def _make_team(context: Context, arguments: Arguments, name: str, place: str) -> tuple[Space, str]:
    """Create a team and save it; return it and what to say about it."""
    check_team_name(context, name)
    identity = make_identity(context.home)
    team_id, nonce = new_team_id(identity)
    key = b""
    if arguments.flag("passphrase"):
        key = derive_key(_read_passphrase(context, arguments, twice=True), team_id)
    elif arguments.flag("encrypt"):
        key = os.urandom(32)
    author = _author(context, arguments)
    space = Space(
        team_id, name=name, author=author, key=key.hex(), creator=identity.public,
        has_passphrase=arguments.flag("passphrase"),
    )  # fmt: skip
    space = add_place(space, place) if place else space
    with lock_sync(context.home):
        save_space(context.home, space)
        say(context.home, space, CREATED, context.now, name=name, nonce=nonce)
    kind = "encrypted" if key else "not encrypted"
    return space, f"Created the team {name}, {kind}. Your name in it: {author}."


def check_team_name(context: Context, name: str) -> None:
    """Raise an error unless the user can call a new team so."""
    try:
        validate_scope_name(name)
    except UsageError as error:
        raise UsageError(str(error).replace("for a scope", "for a team")) from None
    if any(one.name == name for one in load_spaces(context.home)):
        raise UsageError(
            f"You are already in a team called {name}. Choose another name (--name if you join)."
        )
    if context.redact(name) != name:
        raise UsageError("That looks like a secret, which told does not share. Choose another name.")


def _author(context: Context, arguments: Arguments) -> str:
    environ = context.environ
    login = next((environ[one] for one in ("USER", "LOGNAME", "USERNAME") if environ.get(one)), "")
    name = " ".join(arguments.text("as").split()) or login.partition("@")[0] or "member"
    if context.redact(name) != name or not name.isprintable():
        raise UsageError("Colleagues would see this name as it is. Choose another one: --as NAME.")
    return name[:_MAX_NAME]


def _read_passphrase(context: Context, arguments: Arguments, *, twice: bool) -> str:
    given = context.environ.get(_PASSPHRASE, "")
    if given:
        return given
    if not sys.stdin.isatty() or arguments.flag("yes"):
        raise UsageError(f"Type the passphrase at a terminal, or set {_PASSPHRASE}.")
    given = getpass.getpass("Passphrase of the team: ")
    if not given or (twice and getpass.getpass("Again: ") != given):
        raise UsageError("The passphrase is empty, or was typed differently. Try again.")
    return given


def _given_place(context: Context, arguments: Arguments) -> str:
    given = [(kind, arguments.text(kind)) for kind in PLACES if arguments.text(kind)]
    if len(given) > 1:
        raise UsageError("Give one place. `told team join CODE`, run again with another one, adds it.")
    return read_place(context, *given[0]) if given else ""


def _join(context: Context, arguments: Arguments, code: str) -> None:
    place = _given_place(context, arguments)
    if not place:
        raise UsageError(f"A code does not say where the team is. {_WHERE}")
    invitation = parse_invitation(code)
    known = any(one.id == invitation.space for one in load_spaces(context.home))
    space = _join_team(context, arguments, invitation, place)
    rows = exchange(context, [space])
    if context.as_json:
        context.print_json({"team": space.name, "places": rows})
        return
    done = "You are already in" if known else "Joined"
    context.print(f"{done} the team {space.name} as {space.author}.")
    print_rows(context, rows)
    if space.projects:
        return
    context.print("Nothing is shared yet. In a project: `told team enable`, then `told share ID`.")


def _join_team(context: Context, arguments: Arguments, invitation: Invitation, place: str) -> Space:
    known = [one for one in load_spaces(context.home) if one.id == invitation.space]
    if known:
        save_space(context.home, add_place(known[0], place))
        return add_place(known[0], place)
    key = invitation.key
    if invitation.needs_passphrase:
        key = derive_key(_read_passphrase(context, arguments, twice=False), invitation.space)
    secret = invitation.needs_passphrase
    space = Space(invitation.space, (place,), key=key.hex(), has_passphrase=secret)
    with closing(open_transport(context.home, space, place, context.environ)) as transport:
        heads = list(transport.heads().values())
    if not heads:
        raise MissingError(f"This team is not at {describe_place(place)}. Ask a colleague where it is.")
    named: Counter[str] = Counter()
    for raw in heads:
        try:
            named[decode_head(raw, key).team] += 1
        except BadHeadError:
            continue
    if not named:
        why = "Wrong passphrase for this team." if invitation.needs_passphrase else _needs_code(heads[0])
        raise UsageError(why)
    bare = "".join(one for one in named.most_common(1)[0][0] if one.isalnum() or one in "-_")[:_MAX_NAME]
    name = arguments.text("name") or bare or "team"
    check_team_name(context, name)
    joined = replace(space, name=name, author=_author(context, arguments))
    save_space(context.home, joined)
    with lock_sync(context.home):
        say_returned(context.home, joined, context.now)
    return joined


def _needs_code(head: bytes) -> str:
    if is_encrypted(head):
        return "This team is encrypted. A colleague's `told team code` prints the code to join it with."
    return "What is there is damaged. Ask a colleague to run `told sync`."


class Enabled(NamedTuple):
    """A project that is shared with a team."""

    key: str
    is_new: bool
    shown: int  # memories that colleagues share


def _enable(context: Context, arguments: Arguments, path: str) -> None:
    """Share the current project: with the team of a place, a new one there, or the one you are in."""
    place = _read_path(context, path) if path else _given_place(context, arguments)
    with MemoryView(context) as view:
        key = check_project(view.project)
    said = []
    if place:
        space, first = _team_at(context, arguments, place, key)
        said += [first] if first else []
        rows = exchange(context, [replace(space, places=(place,))])  # what is there is shown at once
    else:
        space, rows = find_team(context.home, arguments.text("team")), []
    enabled = enable_here(context, space)
    if context.as_json:
        context.print_json({"team": space.name, "project": context.name(key), "places": rows})
        return
    for line in said:
        context.print(line)
    print_rows(context, rows)
    context.print(describe_enabled(context, space, enabled))


def _read_path(context: Context, path: str) -> str:
    where = path.removeprefix(f"{SERVER}:")
    return read_place(context, SERVER if where != path or is_address(path) else FOLDER, where)


def enable_here(context: Context, space: Space) -> Enabled:
    """Share the current project with a team."""
    with lock_sync(context.home), MemoryView(context) as view:
        key = check_project(view.project)
        joined = find_team(context.home, space.id)
        is_new = key not in joined.projects
        if is_new:
            enable(view.writer, joined, view.project)
        return Enabled(key, is_new, len(view.memories.ids_with_trust(f"{TEAM}{space.name}/")))


def describe_enabled(context: Context, space: Space, enabled: Enabled) -> str:
    """Return what is shared in a project from now on, and what is not."""
    again = "" if enabled.is_new else " already"
    lines = [f"{context.name(enabled.key)} is{again} shared with {space.name}."]
    if enabled.shown:
        shown = count(enabled.shown, "memory")
        lines.append(f"Colleagues share {shown} with you: `told memories` lists them.")
    lines.append(
        "Your memories stay here until you share them: `told share` lists what you could. Private ones never"
        " leave."
    )
    return "\n".join(lines)


def _team_at(context: Context, arguments: Arguments, place: str, key: str) -> tuple[Space, str]:
    """Return the team at a place, joined or created if needed, and what to say about that."""
    wanted, kind = arguments.text("team"), place.partition(":")[0]
    own = [one for one in load_spaces(context.home) if one.is_team and wanted in ("", one.name, one.id)]
    there = list_teams(place)
    known = [one for one in own if one.id in there or place in one.places]
    if len(known) == 1:
        joined = add_place(known[0], place)
        save_space(context.home, joined)
        return joined, ""
    strangers = [one for one in there if all(one != other.id for other in own)]
    if len(known) > 1 or (not wanted and len(strangers) > 1):
        raise UsageError(
            f"Several teams are in {describe_place(place)}. Name yours with --team NAME, or join one with its"
            " code: `told team join CODE`."
        )
    if kind == SERVER:
        from told.cli.moving.server import team_at_server  # noqa: PLC0415 - it uses this module

        return team_at_server(context, arguments, place)
    if kind != FOLDER:
        raise UsageError("Create or join a team there first: `told team create NAME` or `join CODE`.")
    if strangers and not wanted:
        space = _join_team(context, arguments, Invitation(strangers[0]), place)
        return space, f"Joined the team {space.name} as {space.author}."
    bare = "".join(one if one.isalnum() or one in "-_" else "-" for one in key.rpartition("/")[2])
    return _make_team(context, arguments, wanted or bare.strip("-")[:_MAX_NAME] or "team", place)


def _disable(context: Context, arguments: Arguments) -> None:
    with lock_sync(context.home), MemoryView(context) as view:
        key = check_project(view.project)
        wanted = arguments.text("team")
        found = [one for one in load_spaces(context.home) if key in one.projects]
        found = [one for one in found if wanted in ("", one.name, one.id)]
        if not found:
            raise NotFoundError(f"{context.name(key)} is not shared with a team.")
        for space in found:
            disable(view.writer, space, view.project)
    names = ", ".join(one.name for one in found)
    context.report(
        f"{context.name(key)} is no longer shared with {names}. What you shared stays with the team;"
        " `told unshare ID` takes it back.",
        {"project": context.name(key), "teams": [one.name for one in found]},
    )


def _leave(context: Context, arguments: Arguments) -> None:
    space = find_team(context.home, arguments.text("team"))
    with lock_sync(context.home):
        say(context.home, space, LEFT, context.now)
    exchange(context, [space])
    with lock_sync(context.home), MemoryView(context) as view:
        leave(context.home, view.memories, space)
    context.exit_code = 0  # also if the place cannot be reached
    context.report(
        f"Left the team {space.name}. What colleagues shared is deleted here; they keep what you shared.",
        {"left": space.name},
    )


def _print_code(context: Context, arguments: Arguments) -> None:
    space = find_team(context.home, arguments.text("team"))
    code = make_code(space)
    secret = bool(space.key) and not space.has_passphrase
    kept = " It contains the key: send it as you would a password." if secret else ""
    joining = f"Colleagues join with `told team join CODE {_describe_where(space)}`."
    context.report(f"{code}\n{joining}{kept}", {"code": code})


_ALONE = {"disable": _disable, "leave": _leave, "code": _print_code}
