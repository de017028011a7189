"""Share memories with a team, and take over what colleagues share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace

from told.errors import UsageError
from told.files import is_folder
from told.journal.apply import refold
from told.journal.copies import list_copies, write_copies
from told.journal.file_journal import FileJournal
from told.journal.files import get_machine_id, is_machine_id
from told.journal.fold import family_of
from told.journal.transitions import confirmed_content
from told.memories.journal_writer import JournalWriter
from told.memories.scopes import create_scope, subscribe
from told.redact.rescan import Rescanner
from told.store.memories.protocol import Memories
from told.store.memories.records import (
    ACTIVE,
    CANDIDATE,
    DECISION,
    PROJECT,
    RULE,
    SHARED_WITH,
    TEAM,
    USER,
    Memory,
    is_private,
    project_key,
)
from told.sync.exchange import Exchanger, author_names, space_copies
from told.sync.identity import make_identity
from told.sync.spaces import Space, load_spaces, remove_space, save_space
from told.sync.state import State, load_state, save_state
from told.sync.team_outbox import NAMES, TeamOutbox, make_snapshot
from told.sync.teams import TeamFacts, read_facts

_FILE_KEYS = ("file/", "file:")  # of a remote that is a path of this machine


def check_project(scope: str) -> str:
    """Return the key of a project that colleagues can have as well.

    Raises:
        UsageError: there is none.
    """
    key = project_key(scope)
    if not key:
        raise UsageError("This folder belongs to no project. Go to one of its folders first.")
    if key.startswith(_FILE_KEYS):
        raise UsageError(
            "This project's git remote is a path. Only one with the address of a host is shared."
        )
    if key.startswith("path:"):
        raise UsageError("This project has no git remote and no commit: colleagues cannot have the same one.")
    return key


def is_shared(memory: Memory, space: Space) -> bool:
    """Tell whether the user shares a memory with a team."""
    return any((one.kind, one.target, one.by) == (SHARED_WITH, space.id, USER) for one in memory.edges)


def why_not_shareable(memory: Memory, space: Space, redact: Callable[[str], str]) -> str:
    """Return why a memory cannot be shared with a team; empty if it can."""
    key = project_key(memory.scope)
    if is_private(memory):
        return f"{memory.id} is private. `told scopes share {memory.id} project` makes a public copy first."
    if memory.trust.startswith(TEAM):
        return f"{memory.id} is a colleague's. Only its author shares it."
    if memory.status not in (ACTIVE, CANDIDATE):
        return f"{memory.id} is {memory.status}. Only active memories are shared."
    if memory.status == CANDIDATE or not memory.is_decided_by_user:
        return f"{memory.id} is not your word. `told confirm {memory.id}` makes it yours; then share it."
    if not space.projects:
        return f"Nothing is shared with {space.name} yet. `told team enable` in a project turns it on."
    if key and key not in space.projects:
        return f"{memory.id} belongs to {key}, not to {space.name}. Run `told team enable` there first."
    snapshot = make_snapshot(memory)
    if Rescanner(redact).redact_value(snapshot, NAMES) != snapshot:
        return f"{memory.id} contains a secret, which is never shared. Correct it first."
    return ""


def share(writer: JournalWriter, memory: Memory, space: Space) -> None:
    """Share a memory with a team for the user; it leaves with the next sync."""
    writer.add("edge", memory.id, kind=SHARED_WITH, target=space.id)
    writer.write()


def unshare(writer: JournalWriter, memory: Memory, space: Space) -> None:
    """Take a memory back from a team for the user."""
    writer.add("edge", memory.id, kind=SHARED_WITH, target=space.id, remove=True)
    writer.write()


def find_shareable(
    memories: Memories, space: Space, scope: str, redact: Callable[[str], str]
) -> list[Memory]:
    """Return the user's rules and decisions of a project that its team does not have, newest first."""
    rows = memories.listed(scopes=(scope,), kinds=(RULE, DECISION))
    found = memories.load(rows)
    own = [found[row] for row in rows if row in found and found[row].trust == USER]
    return [one for one in own if not is_shared(one, space) and not why_not_shareable(one, space, redact)]


def find_shared(memories: Memories, space: Space) -> list[Memory]:
    """Return the memories that the user shares with a team."""
    sources = [source for source, kind, *_ in memories.edges([space.id]) if kind == SHARED_WITH]
    return [one for one in memories.get(sources).values() if one.status == ACTIVE and is_shared(one, space)]


def teams_of(home: str, scope: str) -> list[Space]:
    """Return the teams that a project is shared with."""
    key = project_key(scope)
    return [one for one in load_spaces(home) if one.is_team and key and key in one.projects]


def enable(writer: JournalWriter, space: Space, scope: str) -> Space:
    """Share a project with a team from now on: single memories still need `told share`."""
    key = check_project(scope)
    create_scope(writer, space.name)
    subscribe(writer, space.name, PROJECT + key)
    return _set_projects(writer, space, (*space.projects, key))


def disable(writer: JournalWriter, space: Space, scope: str) -> Space:
    """Neither share nor show a team's memories in a project any more."""
    key = check_project(scope)
    subscribe(writer, space.name, PROJECT + key, on=False)
    return _set_projects(writer, space, [one for one in space.projects if one != key])


def _set_projects(writer: JournalWriter, space: Space, projects: Sequence[str]) -> Space:
    changed = replace(space, projects=tuple(dict.fromkeys(projects)))
    save_space(writer.home, changed)
    refresh(writer.home, writer.memories, changed)
    return changed


def refresh(home: str, memories: Memories, space: Space, state: State | None = None) -> None:
    """Read the copies of a team again, because what is accepted of them has changed."""
    others = [one for one in list_copies(home) if not one.folder.startswith(f"{space.id}/")]
    is_member = any(one.id == space.id for one in load_spaces(home))
    known = state or load_state(home, space)
    own = space_copies(home, space, known, make_identity(home)) if is_member else []
    write_copies(home, [*others, *own])
    ids = memories.ids_with_trust(f"{TEAM}{space.name}/")
    refold(home, memories, f"@sync/{space.id}/", {family_of(one) for one in ids})


def publish(memories: Memories, space: Space, exchanger: Exchanger, redact: Callable[[str], str]) -> None:
    """Take over what members said about the team, then collect what the user shares."""
    home, now = exchanger.home, exchanger.now
    state, identity = exchanger.state, exchanger.identity
    facts = read_facts(home, space, state, identity)
    if facts.creator != space.creator and facts.creator:
        space = replace(space, creator=facts.creator)
        save_space(home, space)
    if revoke(state, facts.revoked):
        exchanger.save()
        refresh(home, memories, space, state)
    if space.policy and space.policy == facts.policy_hash:
        _apply_policy(JournalWriter(FileJournal(home), memories, now), space, state, facts)
    outbox = TeamOutbox(home, space, memories, state=state, identity=identity, now=now, redact=redact)
    outbox.collect()
    exchanger.result.problems += outbox.problems


def revoke(state: State, people: set[str]) -> bool:
    """Accept nothing any more that was signed by some people; return whether that is new."""
    found = [one for one in state.series.values() if one.person in people and not one.revoked]
    for one in found:
        one.revoked = True
    return bool(found)


def _apply_policy(writer: JournalWriter, space: Space, state: State, facts: TeamFacts) -> None:
    """Confirm new rules of the members that the accepted policy names."""
    names = author_names(state)
    trusted = {f"{TEAM}{space.name}/{names[person]}" for person in facts.policy if person in names}
    ids = writer.memories.ids_with_trust(f"{TEAM}{space.name}/")
    for one in writer.memories.get(ids).values():
        is_new = one.trust in trusted and one.kind == RULE and one.status == ACTIVE and not one.confirmed
        if is_new:
            writer.add("confirm", one.id, policy=space.policy, **confirmed_content(one))
    writer.write()


def leave(home: str, memories: Memories, space: Space) -> None:
    """Take part in a team no longer: what colleagues shared is deleted here, what you shared stays there."""
    remove_space(home, space)
    refresh(home, memories, space)
    own = get_machine_id(home)
    folder = space.folder(home)
    for name in os.listdir(folder) if is_folder(folder) else ():
        if is_machine_id(name) and name != own:
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
    state = load_state(home, space)
    state.heads = {}  # everything is fetched again after a return
    for known in state.series.values():
        known.files, known.number, known.hash = {}, 0, ""
        known.revoked = False  # who is revoked for all is revoked again after a return
    save_state(home, space, state)
