"""`told server token` and `told server members`: who may use the server, and what each may do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from told.cli.arguments import Arguments
from told.cli.context import Context
from told.cli.server.team import open_team
from told.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from told.store.postgres.database import Database, Viewer


def members(context: Context, words: Sequence[str], url: str) -> None:
    """List the members of the team, change the role of one, end a membership, or erase what one left."""
    from told.server.people import (  # noqa: PLC0415 - loads psycopg
        change_role,
        end_membership,
        erase_member,
        find_owner,
    )
    from told.store.postgres.people import list_people  # noqa: PLC0415

    word, *rest = words or ["list"]
    if (word, len(rest)) not in (("list", 0), ("role", 2), ("remove", 1), ("erase", 1)):
        raise UsageError(
            "Use `told server members`, `told server members role NAME ROLE`,"
            " `told server members remove NAME` or `told server members erase NAME`."
        )
    with open_team(context.home, url) as (database, team):
        if word == "list":
            with database.owning() as connection:
                people = [one for one in list_people(connection, team.team) if not one.removed]
            text = "\n".join(f"{one.name} · {one.role}" for one in people)
            rows = [{"name": one.name, "role": one.role} for one in people]
            context.report(text or "No members yet.", {"count": len(rows), "members": rows})
            return
        by = find_owner(database, team).viewer
        if word == "role":
            done = change_role(database, team.team, rest[0], rest[1], by)
            context.report(
                f"{done.name} has the role {done.role} now.", {"name": done.name, "role": done.role}
            )
        elif word == "erase":
            done = erase_member(database, team.team, rest[0], by)
            text = f"Erased all that {done.name} had on the server. Colleagues' machines keep their copies."
            context.report(text, {"erased": done.name})
        else:
            done = end_membership(database, team.team, rest[0], by)
            text = f"Removed {done.name} and revoked all tokens. What {done.name} shared stays."
            context.report(text, {"removed": done.name})


def token(context: Context, arguments: Arguments, words: Sequence[str], url: str) -> None:
    """Create, list or revoke tokens."""
    from told.server.people import (  # noqa: PLC0415 - loads psycopg
        create_token,
        find_owner,
        revoke,
        write_token,
    )
    from told.store.postgres.people import list_tokens  # noqa: PLC0415

    word, *rest = words or ["list"]
    if (word, len(rest)) not in (("create", 1), ("list", 0), ("revoke", 1), ("forget-key", 1)):
        raise UsageError(
            "Use `told server token create NAME`, `token list`, `token revoke ID` or `token forget-key NAME`."
        )
    path = arguments.text("token-file")
    if word == "create" and os.path.lexists(path):  # before there is a token that nobody can read
        raise UsageError(f"{path} exists already. Name a new file.")
    with open_team(context.home, url) as (database, team):
        if word == "create":
            make = partial(
                create_token,
                database, team.team, rest[0], role=arguments.text("role"),
                name=context.redact(arguments.text("name")), days=arguments.number("days", 0),
            )  # fmt: skip
            made = write_token(path, make) if path else make()
            shown = f"written to {path}." if path else f"shown only now:\n{made.secret}"
            text = f"Token {made.token} of {rest[0]} ({made.role}), {shown}"
            secret = None if path else made.secret
            context.report(
                text, {"token": made.token, "secret": secret, "person": made.name, "role": made.role}
            )
        elif word == "forget-key":
            _forget_key(context, database, team, rest[0])
        elif word == "revoke":
            revoke(database, team.team, rest[0], find_owner(database, team).viewer)
            context.report(f"Revoked token {rest[0]}.", {"revoked": rest[0]})
        else:
            with database.owning() as connection:
                rows = list_tokens(connection, team.team)
            context.report(
                "\n".join(map(_describe_token, rows)) or "No tokens yet.",
                {"count": len(rows), "tokens": [_token_json(one) for one in rows]},
            )


def _forget_key(context: Context, database: Database, team: Viewer, name: str) -> None:
    from told.server.people import find_owner  # noqa: PLC0415
    from told.store.postgres.people import add_audit, forget_public_key  # noqa: PLC0415

    by = find_owner(database, team).viewer
    with database.owning() as connection:
        if not forget_public_key(connection, team.team, name):
            raise NotFoundError(
                f'No machine of "{name}" has connected. `told server token list` shows names.'
            )
        add_audit(connection, by, "", "sync.forget-key", name)
    context.report(f"{name} can connect with a new key: `told sync server URL`.", {"forgotten": name})


def _describe_token(one: Any) -> str:
    state = "revoked" if one.revoked else f"expires {one.expires:%Y-%m-%d}" if one.expires else "valid"
    used = f"last used {one.last_used:%Y-%m-%d %H:%M}" if one.last_used else "never used"
    return f"{one.token} {one.person_name} {one.role} · {state} · {used}" + (
        f" · {one.name}" * bool(one.name)
    )


def _token_json(one: Any) -> dict[str, Any]:
    times = {
        "created": one.created,
        "expires": one.expires,
        "last_used": one.last_used,
        "revoked": one.revoked,
    }
    return {"token": one.token, "person": one.person_name, "role": one.role, "name": one.name} | {
        name: value.isoformat() if value else None for name, value in times.items()
    }
