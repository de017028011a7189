"""`told sync`: exchange memories with your other machines and your teams."""

from __future__ import annotations

import gc
import os
import platform
import time
from contextlib import closing
from dataclasses import replace
from typing import Any

from told.cli.arguments import Arguments
from told.cli.context import Context, MemoryView, count, iso, when
from told.errors import BusyError, MissingError, NotFoundError, ToldError, UsageError
from told.ingest.projects import find_git_root
from told.learning.learn import exclude_projects
from told.memories.sync import SyncStores, sync_space
from told.sync.exchange import Exchange
from told.sync.identity import Identity, load_identity, make_identity, parse_code, set_identity
from told.sync.places import describe_place, forget_token, is_used, open_transport, parse_place
from told.sync.spaces import (
    FOLDER,
    GIT,
    PLACES,
    SERVER,
    SSH,
    Space,
    add_place,
    load_spaces,
    own_space,
    remove_space,
    save_space,
)
from told.sync.state import load_state, save_state

_USAGE = (
    "Use `told sync`, `told sync folder PATH`, `git REMOTE`, `ssh HOST`, `server URL`,"
    " `join CODE [folder PATH …]`, `code`, `status` or `remove PLACE`."
)
_WATCH_SECONDS = 30
_NOTHING = (
    "No places to sync with. `told sync folder PATH`, `git REMOTE`, `ssh HOST` or `server URL` adds one."
)


def sync(context: Context, arguments: Arguments) -> None:
    """Exchange now, or set up with whom."""
    word, *rest = arguments.operands or [""]
    if word in ("", "now"):
        _exchange_all(context, arguments)
    elif word == "status" and not rest:
        _print_status(context)
    elif not context.caller.is_user:
        context.refuse_agent("change what is synced")
    elif word == SERVER and len(rest) == 1:
        _add_server(context, arguments, rest[0])
    elif word in PLACES:
        _add_place(context, arguments, word, rest)
    elif word == "join" and rest:
        _join(context, arguments, rest)
    elif word == "code" and not rest:
        _print_code(context)
    elif word == "remove" and rest:
        _remove_place(context, rest)
    else:
        known = word in ("status", "join", "code", "remove")
        raise UsageError(_USAGE if known else f"`told sync` does not know {word!r}. {_USAGE}")


def _exchange_all(context: Context, arguments: Arguments) -> None:
    own = own_space(context.home)
    if own and context.caller.is_user and (chosen := _choose_parts(own, arguments)) != own:
        save_space(context.home, chosen)
    spaces = [one for one in load_spaces(context.home) if one.places]
    if not spaces:
        if arguments.flag("quiet"):
            return
        raise UsageError(_NOTHING)
    before = ""
    if arguments.flag("watch"):
        gc.enable()  # this process does not end by itself
    while True:
        rows = exchange(context, spaces)
        if context.as_json:
            context.print_json({"places": rows})
        elif not arguments.flag("quiet"):
            print_rows(context, rows)
        if not arguments.flag("watch"):
            return
        if (said := context.take()) != before:  # a place that is up to date is named once
            print(said, end="", flush=True)
        before = said
        time.sleep(_WATCH_SECONDS)
        context.now = time.time_ns() // 1_000_000


def exchange(context: Context, spaces: list[Space]) -> list[dict[str, Any]]:
    """Exchange some spaces at all their places; return a row for each place."""
    rows: list[dict[str, Any]] = []
    with MemoryView(context) as view:
        stores = SyncStores(
            context.home, view.memories, context.connection, context.key, context.redact, context.now,
            exclude_projects(context.connection, context.settings),
        )  # fmt: skip
        for space in spaces:
            rows += [_exchange_place(context, stores, space, place) for place in space.places]
    return rows


def _exchange_place(context: Context, stores: SyncStores, space: Space, place: str) -> dict[str, Any]:
    result, error = Exchange(), ""
    known = load_state(context.home, space).was_at(place)
    try:
        with closing(open_transport(context.home, space, place, context.environ, known=known)) as transport:
            result = sync_space(stores, space, place, transport)
    except (BusyError, MissingError) as problem:
        error = str(problem)
        if context.exit_code != BusyError.exit_code:  # one that passes: the next sync may be enough
            context.exit_code = problem.exit_code
    return {
        "place": describe_place(place), "team": space.name or None, "sent": result.sent,
        "received": result.received, "problems": result.problems, "error": error or None,
        "unsent": result.unsent or None,
        "new": [{"name": context.name(name), "fingerprint": mark} for name, mark in result.met],
        "renewed": result.is_forked,
    }  # fmt: skip


def print_rows(context: Context, rows: list[dict[str, Any]]) -> None:
    """Print what an exchange did at each place."""
    for row in rows:
        name = f"{row['place']} (team {row['team']})" if row["team"] else row["place"]
        if row["error"]:
            context.print(f"{name}: not synced. {row['error']}")
            continue
        done = f"{count(row['sent'], 'change')} sent, {row['received']:,} received"
        context.print(f"{name}: {done if row['sent'] or row['received'] else 'up to date'}.")
        for one in row["new"]:
            who = "New member" if row["team"] else "New machine"
            context.print(f"  {who}: {one['name'] or 'unnamed'} (fingerprint {one['fingerprint']})")
        for problem in row["problems"]:
            context.print(f"  Not accepted: {problem}")
        if row["unsent"]:
            context.print(f"  Not sent: {row['unsent']}")
        if row["renewed"]:
            context.print("  Another machine uses a copy of this folder: this one has a new name now.")


def _add_place(context: Context, arguments: Arguments, kind: str, rest: list[str]) -> None:
    if len(rest) > 1:
        raise UsageError(_USAGE)
    place = read_place(context, kind, "".join(rest))
    is_first, own = not has_places(context.home), own_space(context.home)
    if is_first and not arguments.flag("yes") and is_used(place, own.id if own else ""):
        raise UsageError(
            f"{describe_place(place)} is already used by other machines. If they are yours, run"
            f" `told sync code` there and `told sync join CODE {kind} {rest[0]}` here; else add --yes."
        )
    rows = exchange_own(context, arguments, place)
    identity = make_identity(context.home)
    if context.as_json:
        context.print_json({"places": rows, "space": identity.space, "code": identity.code})
        return
    print_rows(context, rows)
    if is_first and not rows[0]["error"]:
        context.print(describe_code(identity, place, "".join(rest)))


def exchange_own(context: Context, arguments: Arguments, place: str) -> list[dict[str, Any]]:
    """Exchange the user's own machines at a place, which is kept if that works."""
    space = _own_space(context, make_identity(context.home), place, arguments)
    rows = exchange(context, [replace(space, places=(place,))])
    if not rows[0]["error"]:
        save_space(context.home, space)
    return rows


def has_places(home: str) -> bool:
    """Tell whether the user's own machines sync somewhere; an identity may be there for a team only."""
    own = own_space(home)
    return bool(own and own.places)


def describe_code(identity: Identity, place: str, where: str = "") -> str:
    """Return how other machines of the user join at a place."""
    kind, _, known = place.partition(":")
    other = (
        "\nIf another machine syncs there already, join with its code instead." if kind in (GIT, SSH) else ""
    )
    return (
        f"Everything but private memories is synced, encrypted, through {describe_place(place)}.\n"
        f"On your other machines:\n  told sync join {identity.code} {kind} {where or known}\n"
        f"Keep this code like a password. `told sync code` prints it again.{other}"
    )


def _add_server(context: Context, arguments: Arguments, where: str, *, joins: bool = False) -> None:
    from told.cli.moving.server import add_server  # noqa: PLC0415 - it uses this module

    add_server(context, arguments, where, joins=joins)


def read_place(context: Context, kind: str, where: str) -> str:
    """Return a place that the user names, as it is stored."""
    path = os.path.expanduser(where) if kind == FOLDER else where
    place = parse_place(kind, path, context.cwd, find_git_root(context.cwd) or "")
    context.check_path(place)
    return place


def _own_space(context: Context, identity: Identity, place: str, arguments: Arguments) -> Space:
    space = own_space(context.home) or Space(
        identity.space, key=identity.space_key.hex(), author=platform.node().partition(".")[0][:40]
    )
    if place:
        space = add_place(space, place)
    return _choose_parts(space, arguments)


def _choose_parts(space: Space, arguments: Arguments) -> Space:
    """Return a space that exchanges checkpoints and sessions, or not, as options say."""
    for name in ("checkpoints", "sessions"):
        wanted = arguments.flag(name)
        if wanted != arguments.flag(f"no-{name}"):
            is_sessions = name == "sessions"
            space = replace(space, sessions=wanted) if is_sessions else replace(space, checkpoints=wanted)
    return space


def _join(context: Context, arguments: Arguments, rest: list[str]) -> None:
    identity = parse_code(rest[0])
    known = load_identity(context.home)
    is_other = known is not None and known != identity
    used = {place: None for one in load_spaces(context.home) for place in one.places}
    if is_other and used:
        raise UsageError(
            "This machine already syncs under another code. Run"
            f" {' and '.join(f'`told sync remove {describe_place(place)}`' for place in used)}; then join."
            " A team's place comes back with `told team enable PATH` or `join`."
        )
    if len(rest) not in (1, 3):
        raise UsageError(
            "Say where: `told sync join CODE folder PATH`, `git REMOTE`, `ssh HOST` or `server URL`."
        )
    place = read_place(context, rest[1], rest[2]) if len(rest) == 3 else ""
    former = own_space(context.home)
    if is_other and former:
        remove_space(context.home, former)
    set_identity(context.home, identity)
    if place.startswith(f"{SERVER}:"):
        _add_server(context, arguments, rest[2], joins=True)
        return
    space = _own_space(context, identity, place, arguments)
    save_space(context.home, space)
    rows = exchange(context, [space]) if space.places else []
    if context.as_json:
        context.print_json({"places": rows, "space": space.id})
        return
    print_rows(context, rows)
    hint = "" if rows else f" {_NOTHING}"
    if any(row["error"] for row in rows):
        hint = " Your memories arrive with the next `told sync` that works."
    context.print(f"This machine has joined.{hint}")


def _print_code(context: Context) -> None:
    identity = load_identity(context.home)
    if identity is None:
        raise UsageError(_NOTHING)
    context.report(
        f"{identity.code}\nKeep it like a password: anyone who has it can read and write your memories.",
        {"code": identity.code},
    )


def _remove_place(context: Context, rest: list[str]) -> None:
    given = " ".join(rest)
    here = f"{given} in {find_git_root(context.cwd)}"  # `git origin` means the repository you are in
    removed = ""
    for space in load_spaces(context.home):
        for place in space.places:
            named = describe_place(place)
            if given in (place, named, place.partition(":")[2]) or here == named:
                left = tuple(one for one in space.places if one != place)
                save_space(context.home, replace(space, places=left))
                state = load_state(context.home, space)
                state.forget_place(place)
                save_state(context.home, space, state)
                removed = place
    if not removed:
        raise UsageError(f"Unknown place {given!r}. `told sync status` lists them.")
    forget_token(context.home, removed)
    context.report(
        f"No longer synced through {describe_place(removed)}. What is there stays there.",
        {"removed": describe_place(removed)},
    )


def _print_status(context: Context) -> None:
    rows: list[dict[str, Any]] = []
    for space in load_spaces(context.home):
        state = load_state(context.home, space)
        machines = [
            {"machine": name, "name": context.name(one.name), "operations": one.number}
            for name, one in sorted(state.series.items())
        ]
        rows.append({
            "team": space.name or None, "places": [describe_place(one) for one in space.places],
            "encrypted": bool(space.key), "checkpoints": space.checkpoints,
            "sessions": space.sessions, "machines": machines,
            "last": iso(state.synced), "last_ms": state.synced,
        })  # fmt: skip
    if context.as_json:
        context.print_json({"spaces": rows}, found=rows)
        return
    if not rows:
        raise NotFoundError(_NOTHING)
    for row in rows:
        name = f"Team {row['team']}" if row["team"] else "Your machines"
        last = f"synced {when(row['last_ms'], context.now)}" if row["last_ms"] else "never synced"
        kind = "encrypted" if row["encrypted"] else "not encrypted"
        context.print(f"{name}: {last}, {kind}, {count(len(row['machines']), 'other machine')}.")
        for place in row["places"]:
            context.print(f"  {place}")
        for one in row["machines"]:
            context.print(f"  {one['machine']} {one['name']}, {count(one['operations'], 'change')}")


def sync_quietly(context: Context) -> None:
    """Sync everything once; problems wait for the next time."""
    spaces = [one for one in load_spaces(context.home) if one.places]
    if spaces:
        before = context.exit_code
        try:
            exchange(context, spaces)
        except ToldError:
            return
        finally:
            context.exit_code = before
