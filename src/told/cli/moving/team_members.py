"""Members of a team: who they are, whose key is revoked, and whose rules count."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from told.cli.arguments import Arguments
from told.cli.context import Context, MemoryView, count, iso, when
from told.cli.moving.sync import exchange
from told.errors import NotFoundError, UsageError
from told.memories.teams import find_shared, refresh, revoke
from told.store.memories.records import ACTIVE, TEAM
from told.sync.exchange import author_names
from told.sync.identity import fingerprint, make_identity
from told.sync.places import describe_place
from told.sync.spaces import Space, find_team, load_spaces, lock_sync, save_space
from told.sync.state import load_state, save_state
from told.sync.teams import POLICY, REVOKED, TeamFacts, read_facts, say

_NO_MARKS = {"you": False, "revoked": False}


def _list_members(context: Context, space: Space) -> tuple[list[dict[str, Any]], TeamFacts]:
    """Return a row for each member, the user first, and what they said about the team."""
    state, identity = load_state(context.home, space), make_identity(context.home)
    facts = read_facts(context.home, space, state, identity)
    names = author_names(state)
    people: dict[str, dict[str, Any]] = {
        identity.public: {
            "name": space.author, "first": 0, "machines": 1, "you": True,
            "revoked": identity.public in facts.revoked,
        }
    }  # fmt: skip
    for known in sorted(state.series.values(), key=lambda one: one.first):
        row = people.setdefault(
            known.person,
            {"name": names[known.person], "first": known.first, "machines": 0} | _NO_MARKS,
        )
        row["machines"] += 1
        row["revoked"] |= known.revoked
    return [
        {
            "name": row["name"], "fingerprint": fingerprint(person), "key": person, "you": row["you"],
            "first": row["first"], "first_seen": iso(row["first"]), "machines": row["machines"],
            "creator": person == facts.creator, "revoked": row["revoked"], "left": person in facts.left,
            "rules_count": person in facts.policy,
        }
        for person, row in people.items()
    ], facts  # fmt: skip


def print_members(context: Context, arguments: Arguments) -> None:
    """Print the members of a team with their fingerprints."""
    space = find_team(context.home, arguments.text("team"))
    rows, _ = _list_members(context, space)
    if context.as_json:
        shown = [{name: of for name, of in row.items() if name not in ("key", "first")} for row in rows]
        context.print_json({"team": space.name, "count": len(rows), "members": shown})
        return
    context.print(f"{count(len(rows), 'member')} of {space.name}. Compare fingerprints by phone.")
    for row in rows:
        marks = [word for word in ("you", "creator", "revoked", "left") if row[word]]
        if row["rules_count"] and not row["revoked"]:
            marks.append("rules count for all who accept the policy")
        since = f", since {when(row['first'], context.now)}" if row["first"] else ""
        more = f" ({', '.join(marks)})" if marks else ""
        machines = count(row["machines"], "machine")
        context.print(f"{row['fingerprint']} {context.name(row['name'])}{more}: {machines}{since}")


def print_status(context: Context) -> None:
    """Print the user's teams: places, projects, and how much is shared."""
    teams = [one for one in load_spaces(context.home) if one.is_team]
    rows: list[dict[str, Any]] = []
    with MemoryView(context) as view:
        for space in teams:
            members, facts = _list_members(context, space)
            state = load_state(context.home, space)
            received = [
                one
                for one in view.memories.get(view.memories.ids_with_trust(f"{TEAM}{space.name}/")).values()
                if one.status == ACTIVE
            ]
            rows.append({
                "team": space.name, "you": space.author, "encrypted": bool(space.key),
                "places": [describe_place(one) for one in space.places],
                "projects": [context.name(one) for one in space.projects],
                "members": sum(not row["revoked"] and not row["left"] for row in members),
                "revoked": members[0]["revoked"],
                "shared": len(find_shared(view.memories, space)), "received": len(received),
                "policy": _describe_policy(space, facts), "last": iso(state.synced), "synced": state.synced,
            })  # fmt: skip
    if context.as_json:
        context.print_json({"count": len(rows), "teams": rows}, found=rows)
        return
    if not rows:
        raise NotFoundError("You are in no team. `told team enable PATH` in a project starts one.")
    for row in rows:
        last = f"synced {when(row['synced'], context.now)}" if row["synced"] else "never synced"
        kind = "encrypted" if row["encrypted"] else "not encrypted"
        people = f"{count(row['members'], 'member')}, you as {context.name(row['you'])}"
        context.print(f"{row['team']}: {people}; {last}, {kind}.")
        context.print(f"  you share {count(row['shared'], 'memory')}, colleagues {row['received']:,}")
        for place in row["places"]:
            context.print(f"  {place}")
        context.print(f"  projects: {', '.join(row['projects']) or 'none: `told team enable` adds one'}")
        if row["policy"] != "none":
            context.print(f"  policy: {row['policy']}")
        if row["revoked"]:
            context.print(
                "  your key was revoked: colleagues accept nothing from you. `told team leave` leaves."
            )


def _describe_policy(space: Space, facts: TeamFacts) -> str:
    if not facts.policy:
        return "none"
    return "accepted" if space.policy == facts.policy_hash else "not accepted"


def _find_member(context: Context, space: Space, given: str) -> dict[str, Any]:
    rows = [
        row
        for row in _list_members(context, space)[0]
        if given in (row["name"], row["fingerprint"]) or row["name"].rpartition("-")[0] == given
    ]
    if len(rows) != 1:
        hint = "Give the fingerprint." if rows else "`told team members` lists them."
        raise UsageError(f"{len(rows) or 'No'} members match {given!r}. {hint}")
    return rows[0]


def revoke_member(context: Context, arguments: Arguments, given: str) -> None:
    """Accept nothing of a member any more; for all members if the user created the team."""
    space = find_team(context.home, arguments.text("team"))
    row = _find_member(context, space, given)
    identity = make_identity(context.home)
    if row["you"]:
        raise UsageError("That is you. `told team leave` leaves the team.")
    is_creator = space.creator == identity.public
    with lock_sync(context.home), MemoryView(context) as view:
        state = load_state(context.home, space)
        if revoke(state, {row["key"]}):
            save_state(context.home, space, state)
            refresh(context.home, view.memories, space)
        if is_creator:
            say(context.home, space, REVOKED, context.now, person=row["key"])
    rows = exchange(context, [space]) if is_creator and space.places else []
    whose = "for all members" if is_creator else "on this machine; only the team's creator revokes for all"
    key = " The team's key stays the same: start a new team to lock them out." if space.key else ""
    context.report(
        f"Revoked {context.name(row['name'])} ({row['fingerprint']}) {whose}. What they shared is gone.{key}",
        {"revoked": row["name"], "fingerprint": row["fingerprint"], "for_all": is_creator, "places": rows},
    )


def change_policy(context: Context, arguments: Arguments, words: list[str]) -> None:
    """Show, make, accept or decline the policy of a team."""
    space = find_team(context.home, arguments.text("team"))
    rows, facts = _list_members(context, space)
    names = [context.name(row["name"]) for row in rows if row["rules_count"]]
    if words in (["accept"], ["decline"]):
        if words == ["accept"] and not facts.policy:
            raise NotFoundError(f"{space.name} has no policy. Its creator can make one.")
        accepted = facts.policy_hash if words == ["accept"] else ""
        save_space(context.home, replace(space, policy=accepted))
        said = f"Accepted: rules by {', '.join(names)} count as yours from the next sync on."
        if not accepted:
            said = "Declined: colleagues' rules count when you confirm them. Those already confirmed stay."
        context.report(said, {"team": space.name, "accepted": bool(accepted), "members": names})
    elif words:
        if space.creator != make_identity(context.home).public:
            raise UsageError("Only the creator of a team makes its policy. `told team members` names them.")
        chosen = [] if words == ["none"] else [_find_member(context, space, one) for one in words]
        with lock_sync(context.home):
            say(context.home, space, POLICY, context.now, members=[row["key"] for row in chosen])
        exchange(context, [space])
        named = ", ".join(context.name(row["name"]) for row in chosen) or "nobody"
        context.report(
            f"Policy of {space.name}: rules by {named} count for members who run `told team policy accept`.",
            {"team": space.name, "members": [row["name"] for row in chosen]},
        )
    elif not names:
        raise NotFoundError(f"{space.name} has no policy: colleagues' rules count when you confirm them.")
    else:
        state = _describe_policy(space, facts)
        hint = "" if state == "accepted" else " `told team policy accept` makes them count for you."
        context.report(
            f"{space.name}: rules by {', '.join(names)} count ({state}).{hint}",
            {"team": space.name, "members": names, "accepted": state == "accepted"},
        )
