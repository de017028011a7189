"""Teams: their ids and invitation codes, and what members say about the team itself.

A team's id is a hash of its creator's key and a random text, which the creator's series contains. So
everybody can tell who created it, and nobody else can say who is no longer a member or whose rules count.
"""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from told.errors import UsageError
from told.files import make_folder
from told.hashing import blake2s
from told.journal.append import append_copies
from told.journal.files import IDENTITY, Operation, SeriesLock, get_machine_id
from told.journal.read import find_in_series
from told.journal.registry import Series
from told.jsontext import dump_json
from told.store.database import public_id
from told.sync.identity import Identity, make_identity
from told.sync.outbox import SEGMENT_BYTES
from told.sync.spaces import Space
from told.sync.state import State

CREATED, MEMBER, LEFT, REVOKED, POLICY = "team", "member", "leave", "revoke", "policy"  # operations
_KINDS = (CREATED, MEMBER, LEFT, REVOKED, POLICY)
_PREFIX = "team-"
_PLAIN, _KEY, _PASSPHRASE = "p", "k", "s"  # first letter of a code
_ID_LETTERS, _KEY_LETTERS, _CHECK_LETTERS, _GROUP = 12, 52, 4, 5
_MAX_POLICY = 200  # members


class Invitation(NamedTuple):
    """What a code says of a team."""

    space: str
    key: bytes = b""
    needs_passphrase: bool = False


@dataclass(slots=True)
class TeamFacts:
    """What members have said about the team."""

    creator: str = ""  # public key; empty if the creator's series has not arrived
    name: str = ""
    revoked: set[str] = field(default_factory=set)  # public keys
    left: set[str] = field(default_factory=set)
    policy: tuple[str, ...] = ()  # public keys of members whose rules count

    @property
    def policy_hash(self) -> str:
        """The name of the policy that a user accepts; empty if there is none."""
        return blake2s(dump_json(self.policy).encode(), digest_size=8).hexdigest() if self.policy else ""


def new_team_id(identity: Identity) -> tuple[str, str]:
    """Return the id of a new team, and the text that proves who created it."""
    nonce = os.urandom(16).hex()
    return _make_id(identity.public, nonce), nonce


def _make_id(creator: str, nonce: str) -> str:
    return public_id("t", creator, nonce, length=_ID_LETTERS)


def make_code(space: Space) -> str:
    """Return the code that invites to a team; it contains the key unless that is made of a passphrase."""
    mode = _PLAIN if not space.key else _PASSPHRASE if space.has_passphrase else _KEY
    key = base64.b32encode(space.secret).decode().rstrip("=").lower() if mode == _KEY else ""
    letters = mode + space.id[1:] + key
    letters += _check_letters(letters)
    return _PREFIX + "-".join(letters[at : at + _GROUP] for at in range(0, len(letters), _GROUP))


def parse_invitation(code: str) -> Invitation:
    """Return what a code says.

    Raises:
        UsageError: it is mistyped.
    """
    letters = "".join(code.lower().removeprefix(_PREFIX).split()).replace("-", "")
    body, check = letters[:-_CHECK_LETTERS], letters[-_CHECK_LETTERS:]
    mode, name, key = body[:1], body[1 : 1 + _ID_LETTERS], body[1 + _ID_LETTERS :]
    is_whole = len(name) == _ID_LETTERS and len(key) == (_KEY_LETTERS if mode == _KEY else 0)
    if not is_whole or mode not in (_PLAIN, _KEY, _PASSPHRASE) or check != _check_letters(body):
        raise UsageError("This code is mistyped or incomplete. `told team code` prints it for a member.")
    try:
        raw = base64.b32decode(key.upper() + "=" * (-len(key) % 8))
    except ValueError:
        raise UsageError("This code is mistyped. `told team code` prints it for a member.") from None
    return Invitation("t" + name, raw, mode == _PASSPHRASE)


def _check_letters(letters: str) -> str:
    return public_id("", "told team", letters, length=_CHECK_LETTERS)


def say(home: str, space: Space, kind: str, now: int, **payload: Any) -> None:
    """Append an operation on the team itself to this machine's series."""
    machine = get_machine_id(home)
    folder = space.series_folder(home, machine)
    make_folder(folder)
    said = Operation(machine, 0, now, kind, "", "user", {**payload, IDENTITY: os.urandom(8).hex()})
    with SeriesLock(folder):
        append_copies(folder, machine, [said], SEGMENT_BYTES)


def person_series(home: str, space: Space, state: State, identity: Identity) -> list[tuple[str, Series]]:
    """Return every series of a team on this machine, with its user's public key."""
    own = get_machine_id(home)
    people = {own: identity.public} | {name: one.person for name, one in state.series.items() if name != own}
    return [
        (person, Series(space.series_folder(home, machine), machine))
        for machine, person in sorted(people.items())
    ]


def read_facts(home: str, space: Space, state: State, identity: Identity) -> TeamFacts:
    """Read what members have said about the team; only its creator's word counts for others."""
    needles = [f'"kind":{dump_json(kind)},'.encode() for kind in _KINDS]
    said: list[tuple[int, str, int, str, str, dict[str, Any]]] = []
    for person, series in person_series(home, space, state, identity):
        for one in find_in_series(series, needles, lambda one: one.kind in _KINDS and not one.memory):
            said.append((one.at, one.machine, one.number, person, one.kind, one.payload or {}))  # noqa: PERF401
    facts = TeamFacts()
    for *_, person, kind, payload in said:
        nonce = payload.get("nonce")
        if kind == CREATED and isinstance(nonce, str) and _make_id(person, nonce) == space.id:
            facts.creator, facts.name = person, str(payload.get("name", ""))
    for *_, person, kind, payload in sorted(said, key=lambda one: one[:3]):
        if kind in (MEMBER, LEFT):
            (facts.left.add if kind == LEFT else facts.left.discard)(person)
        elif person == facts.creator and kind == REVOKED:
            facts.revoked.add(str(payload.get("person", "")))
        elif person == facts.creator and kind == POLICY:
            given = payload.get("members")
            members = [one for one in given if isinstance(one, str)] if isinstance(given, list) else []
            facts.policy = tuple(sorted(members[:_MAX_POLICY]))
    facts.revoked.discard(facts.creator)
    return facts


def say_returned(home: str, space: Space, now: int) -> None:
    """Say that this user is a member again, if they had left."""
    if has_said(home, space, LEFT):
        say(home, space, MEMBER, now, name=space.author, person=make_identity(home).public)


def has_said(home: str, space: Space, kind: str) -> bool:
    """Tell whether this machine's series has an operation of a kind on the team itself."""
    machine = get_machine_id(home)
    series = Series(space.series_folder(home, machine), machine)
    needle = f'"kind":{dump_json(kind)},'.encode()
    return next(find_in_series(series, [needle], lambda one: one.kind == kind), None) is not None
