"""Exchange the series of a space with one place: fetch what is new there, then publish what is new here."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from told.files import make_folder, write_private
from told.journal.append import find_end
from told.journal.copies import COLLEAGUE, OWN, Copy, list_copies, write_copies
from told.journal.files import (
    FORGET,
    FORGET_CHECKPOINT,
    clock_path,
    get_machine_id,
    is_machine_id,
    read_clock,
    write_seen,
)
from told.redact.rescan import Rescanner
from told.store.memories.names import SHARED, TEAM
from told.sync.heads import (
    BadHeadError,
    Head,
    check_head,
    decode_head,
    encode_head,
    is_vouched,
    sign_head,
    sign_own,
)
from told.sync.identity import Identity, encrypt, fingerprint, load_machine_key
from told.sync.pull import pull_series
from told.sync.session_files import Files, SharedSessions
from told.sync.spaces import Space
from told.sync.state import Known, State, digest, list_files, load_state, place_mark, read_file, save_state
from told.sync.transports import Transport
from told.words import WORD

_NAME_WORDS, _MAX_NAME = 2, 24


@dataclass(slots=True)
class Exchange:
    """What one exchange did."""

    received: int = 0  # operations
    sent: int = 0
    problems: list[str] = field(default_factory=list)  # of series that changed nothing
    forgotten: list[str] = field(default_factory=list)  # memories that the user forgot on another machine
    has_retracted: bool = False  # a colleague has taken something back
    forgotten_checkpoints: list[str] = field(default_factory=list)
    met: list[tuple[str, str]] = field(default_factory=list)  # name and fingerprint of new machines or people
    unsent: str = ""  # why nothing could be published: the place is read-only
    is_forked: bool = False  # another machine writes this machine's series: this home was copied


class Exchanger:
    """One space at one place."""

    def __init__(
        self, home: str, space: Space, place: str, transport: Transport, *, identity: Identity, now: int,
        redact: Callable[[str], str] = str,
    ) -> None:  # fmt: skip
        self.home, self.space, self.place, self.now = home, space, place, now
        self.transport = transport
        self.identity = identity
        self._person = identity.public
        self._rescanner = Rescanner(redact)
        self.machine = get_machine_id(home)
        make_folder(space.folder(home))
        self.state = load_state(home, space)
        self.result = Exchange()
        self._remote: dict[str, tuple[bytes, Head]] = {}

    @property
    def own_heads(self) -> dict[str, Head]:
        """The heads of the user's other machines at the place."""
        return {
            name: head
            for name, (_, head) in self._remote.items()
            if name != self.machine and head.person == self._person
        }

    def pull(self) -> Exchange:
        """Fetch what other machines published since the last time, and what a killed run did not forget."""
        self.result.forgotten = list(self.state.forgetting)
        changed = False
        heads = self._decode(self.transport.heads())
        vouched: list[Head] | None = None  # only looked at if something is new
        for series, (raw, head) in sorted(heads.items()):
            mark, seen = place_mark(self.place, series), digest(raw)
            if any(one.revoked for one in self.state.series.values() if one.person == head.person):
                continue
            try:
                self._check_person(head, series)
                if is_new := self.state.heads.get(mark) != seen:  # otherwise it was accepted before
                    if vouched is None:
                        vouched = [one for _, one in heads.values() if is_vouched(one)]
                    self._check_signatures(head, series, vouched)
                self._remote[series] = raw, head
                if series == self.machine:
                    self.result.is_forked |= self._is_foreign(head)
                elif is_new:
                    changed |= self._pull_series(head)
                self.state.heads[mark] = seen
            except BadHeadError as error:
                self.result.problems.append(f"{self.describe(series)}: {error}.")
        if changed:
            self.state.forgetting = list(self.result.forgotten)
            self.list_copies()
            self.save()
        return self.result

    def _decode(self, raw_heads: dict[str, bytes]) -> dict[str, tuple[bytes, Head]]:
        found = {}
        for series, raw in sorted(raw_heads.items()):
            if is_machine_id(series):
                try:
                    found[series] = raw, decode_head(raw, self.space.secret)
                except BadHeadError as error:
                    self.result.problems.append(f"{self.describe(series)}: {error}.")
        return found

    def _check_person(self, head: Head, series: str) -> None:
        known = self.state.series.get(series)
        if not self.space.is_team and head.person != self._person:
            raise BadHeadError("it belongs to somebody else")
        if known and known.person != head.person:
            raise BadHeadError("its user is another one than before")

    def _check_signatures(self, head: Head, series: str, vouched: Iterable[Head]) -> None:
        """Check who wrote a head; the vouched heads at the place name the keys of new machines."""
        keys = {one.series: one.key for one in vouched if one.person == head.person}
        keys |= {name: one.key for name, one in self.state.series.items() if one.person == head.person}
        if head.person == self._person:
            keys[self.machine] = _public_key(self.home)
        check_head(head, self.space.id, series, keys)

    def _is_foreign(self, head: Head) -> bool:
        """Tell whether another machine continued this machine's series."""
        folder = self.space.series_folder(self.home, self.machine)
        make_folder(folder)
        number, own_hash = find_end(folder, self.machine)
        return head.number > number or (head.number == number and head.hash != own_hash)

    def _pull_series(self, head: Head) -> bool:
        known = self.state.series.get(head.series)
        is_new = known is None
        is_met = any(one.person == head.person for one in self.state.series.values())
        known = known or Known(head.key, head.person, first=self.now)
        # A colleague may have other rules for secrets, or none.
        rescanner = None if head.person == self._person else self._rescanner
        pulled = pull_series(
            self.home, self.space, head, known, self.transport, now=self.now, rescanner=rescanner
        )
        known.seen = head.seen
        if is_new or not self.space.is_team:  # colleagues keep the name they were first known by
            known.name = head.name
        self.state.series[head.series] = known
        if is_new and not self.space.is_team:
            self.result.met.append((head.name, fingerprint(head.key)))
        elif is_new and not is_met and head.person != self._person:  # a member may have several machines
            self.result.met.append((head.name, fingerprint(head.person)))
        if not pulled.changed:
            return is_new
        known.number, known.hash = head.number, head.hash
        known.files = {one.name: one.digest for one in head.files}
        self.result.received += len(pulled.operations)
        forgotten = [one.memory for one in pulled.operations if one.kind == FORGET]
        if self.space.is_team:
            self.result.has_retracted |= bool(forgotten)
        else:
            self.result.forgotten += forgotten
            self.result.forgotten_checkpoints += [
                one.memory for one in pulled.operations if one.kind == FORGET_CHECKPOINT
            ]
            write_seen(self.home, head.series, pulled.latest)
        if pulled.latest > max(read_clock(self.home), self.now):
            write_private(clock_path(self.home), f"{pulled.latest}\n".encode())
        return True

    def list_copies(self) -> None:
        """List the accepted series, so that their operations count."""
        others = [one for one in list_copies(self.home) if not one.folder.startswith(f"{self.space.id}/")]
        write_copies(self.home, [*others, *space_copies(self.home, self.space, self.state, self.identity)])

    def push(self, sessions: SharedSessions | None = None) -> Exchange:
        """Publish this machine's series, and erase in others what the user forgot."""
        remote = self._remote.get(self.machine)
        known = remote[1].sessions if remote else ""
        for listed, files in sessions.steps(remote[1] if remote else None) if sessions else [(known, {})]:
            old = self._remote.get(self.machine)
            head = self._own_head(listed)
            if old and old[1] == head:
                continue
            before = {one.name: one.digest for one in old[1].files} if old else {}
            if not self._write(head, before, old[0] if old else None, files):
                break
            self.state.published = head.number
            self.result.sent += max(0, head.number - (old[1].number if old else 0))
        self._erase_in_others(sessions)
        self.note_synced()
        return self.result

    def _own_head(self, sessions: str) -> Head:
        """Return the head of this machine's series as it should be published."""
        folder = self.space.series_folder(self.home, self.machine)
        make_folder(folder)
        number, own_hash = find_end(folder, self.machine)
        head = Head(
            self.space.id, self.machine, number, own_hash,
            list_files(self.home, self.space, self.machine, self.state), _public_key(self.home), self._person,
            voucher="", name=self.space.author, team=self.space.name,
            seen={name: one.number for name, one in self.state.series.items()}, sessions=sessions,
            writer=self.machine,
        )  # fmt: skip
        old = self._remote.get(self.machine)
        if old and replace(old[1], voucher="", chain="", signature="") == head:
            return old[1]
        return sign_own(head, self.identity, load_machine_key(self.home))

    def _erase_in_others(self, sessions: SharedSessions | None) -> None:
        """Publish erased payloads of the user's other machines, which may be switched off for long."""
        for series, (raw, head) in sorted(self._remote.items()):
            known = self.state.series.get(series)
            is_other = series == self.machine or head.person != self._person
            if is_other or known is None or (head.number and known.hash != head.hash):
                continue
            files = list_files(self.home, self.space, series, self.state)
            before = {one.name: one.digest for one in head.files}
            if len(files) != len(before):
                continue
            listed, more = sessions.edit(head) if sessions else (head.sessions, {})
            if listed == head.sessions and all(before.get(one.name) == one.digest for one in files):
                continue
            key = load_machine_key(self.home)
            changed = sign_head(replace(head, files=files, sessions=listed), self.machine, key)
            if self._write(changed, before, raw, more):
                known.files = {one.name: one.digest for one in files}
                self.state.heads.pop(place_mark(self.place, series), None)

    def _write(self, head: Head, before: dict[str, str], raw: bytes | None, more: Files) -> bool:
        folder = self.space.series_folder(self.home, head.series)
        files: Files = {
            one.name: pack(read_file(os.path.join(folder, one.name)), self.space.secret)
            for one in head.files
            if before.get(one.name) != one.digest
        }
        files |= dict.fromkeys(before.keys() - {one.name for one in head.files})
        encoded = encode_head(head, self.space.secret)
        is_written = self.transport.write(head.series, files | more, encoded, before=raw)
        if is_written:
            self._remote[head.series] = encoded, head
            if head.series == self.machine:  # from now on the place has something
                self.state.heads[place_mark(self.place, self.machine)] = digest(encoded)
        else:
            self.result.problems.append(f"{self.describe(head.series)}: it changed meanwhile; sync again.")
        return is_written

    def describe(self, series: str) -> str:
        """Return a series as problems name it."""
        known = self.state.series.get(series)
        name = "this machine" if series == self.machine else known.name if known and known.name else ""
        return f"Series {series} ({name})" if name else f"Series {series}"

    def note_synced(self) -> None:
        """Save what is known of the space, and that all of it was fetched."""
        self.state.synced = self.now if not self.result.problems else self.state.synced
        self.save()

    def save(self) -> None:
        """Save what is known of the space."""
        save_state(self.home, self.space, self.state)


def space_copies(home: str, space: Space, state: State, identity: Identity) -> list[Copy]:
    """Return the accepted series of a space, with the trust that each gets."""
    found = []
    names = author_names(state)
    for machine, known in sorted(state.series.items()):
        folder = f"{space.id}/{machine}"
        if not space.is_team:
            found.append(Copy(home, folder, machine, OWN))
        elif known.person != identity.public and not known.revoked:
            trust = f"{TEAM}{space.name}/{names[known.person]}"
            found.append(Copy(home, folder, machine, COLLEAGUE, trust, SHARED + space.name, space.projects))
    return found


def author_names(state: State) -> dict[str, str]:
    """Return the names of colleagues by their keys, with the start of the fingerprint: two may have one name.

    Somebody can make a key with the same start: the one who was first keeps the short name.
    """
    found: dict[str, str] = {}
    for known in sorted(state.series.values(), key=lambda one: (one.first, one.person)):
        if known.person not in found:
            words = WORD.findall(known.name)
            bare = "-".join(words[:_NAME_WORDS])[:_MAX_NAME]  # agents read it: too short for a sentence
            name, mark = bare or "somebody", fingerprint(known.person)
            short = f"{name}-{mark[:4]}"
            found[known.person] = f"{name}-{mark}" if short in found.values() else short
    return found


def pack(data: bytes, key: bytes) -> bytes:
    """Return the content of a file as it is published."""
    return encrypt(key, zlib.compress(data)) if key else data


def _public_key(home: str) -> str:
    return load_machine_key(home).verify_key.encode().hex()
