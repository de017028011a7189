"""Sync a space: fetch, forget what was forgotten elsewhere, collect what is new here, publish."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from told.errors import MissingError
from told.ingest.forget import SessionForgetter
from told.ingest.forgotten import Tombstones
from told.ingest.leftovers import Forgetting, note_forgetting
from told.journal.apply import catch_up, purge_erased
from told.journal.erase import erase
from told.journal.file_journal import FileJournal
from told.journal.files import get_machine_id
from told.journal.registry import own_series_name, read_registry, register
from told.memories.exports import Source
from told.memories.forget import erase_sessions, forget, plan_forget
from told.memories.journal_writer import JournalWriter
from told.memories.teams import publish
from told.sync.exchange import Exchange, Exchanger
from told.sync.identity import MACHINE_KEY, make_identity
from told.sync.outbox import OwnSelection, collect
from told.sync.session_files import SharedSessions, was_shared
from told.sync.spaces import Space, lock_sync
from told.sync.transports import Transport


@dataclass(frozen=True, slots=True)
class SyncStores(Source):
    """What a sync reads and writes on this machine."""

    is_excluded: Callable[[str], bool] = lambda _: False  # projects whose sessions stay here, by key


def sync_space(stores: SyncStores, space: Space, place: str, transport: Transport) -> Exchange:
    """Exchange a space at one place; problems of single series are in the result.

    Raises:
        BusyError: another sync runs, or the place cannot be reached.
        MissingError: the place cannot be used.
    """
    with lock_sync(stores.home):
        exchanger = _open(stores, space, place, transport)
        if exchanger.pull().is_forked:
            exchanger.save()
            renew_machine(stores.home, space)
            exchanger = _open(stores, space, place, transport)
            exchanger.pull()
        _forget(stores, exchanger.result.forgotten)
        catch_up(stores.home, stores.memories)
        _erase_mentions(stores, exchanger.result.forgotten)
        exchanger.state.forgetting = []
        if exchanger.result.has_retracted:
            purge_erased(stores.home, stores.memories)
        sessions = None
        if space.is_team:
            publish(stores.memories, space, exchanger, stores.redact)
        else:
            _exchange_checkpoints(stores, space, exchanger)
            sessions = _exchange_sessions(stores, space, exchanger)
            collect(stores.home, space, OwnSelection(stores.home, space, stores.memories).select)
        try:
            return exchanger.push(sessions)
        except MissingError as error:  # a clone of somebody who may only read
            exchanger.result.unsent = str(error)
            exchanger.note_synced()
            return exchanger.result


def _open(stores: SyncStores, space: Space, place: str, transport: Transport) -> Exchanger:
    identity = make_identity(stores.home)
    return Exchanger(
        stores.home, space, place, transport, identity=identity, now=stores.now, redact=stores.redact
    )


def _forget(stores: SyncStores, names: list[str]) -> None:
    """Forget on this machine what the user forgot on another one, with its words in sessions here."""
    if not names:
        return
    # The database is still as it was before: it has the words to look for.
    known = [one for one in stores.memories.get(names).values() if one.text]
    if unknown := set(names) - {one.id for one in known}:
        erase(stores.home, unknown)
    if known:
        plan = plan_forget(stores.connection, stores.key, stores.home, known)
        forget(JournalWriter(FileJournal(stores.home), stores.memories, stores.now), stores.connection, plan)
    else:
        purge_erased(stores.home, stores.memories)


def _erase_mentions(stores: SyncStores, names: list[str]) -> None:
    """Erase in sessions here what another machine found in its copies of them."""
    places = [place for one in stores.memories.get(names).values() for place in one.evidence if place.mark]
    sessions = {(place.agent, place.session) for place in places if place.session}
    if not sessions:
        return
    forgetter = SessionForgetter(stores.connection, stores.home, Tombstones(stores.home).current())
    if lost := tuple((one.agent, one.native) for one in forgetter.find_losses(sessions)):
        with note_forgetting(stores.home, Forgetting((), lost)):
            erase_sessions(stores.connection, stores.home, lost)


def _exchange_sessions(stores: SyncStores, space: Space, exchanger: Exchanger) -> SharedSessions | None:
    if not was_shared(stores.home, space):
        return None
    from told.memories.sync_sessions import SessionExchange  # noqa: PLC0415 - only if wanted

    return SessionExchange(stores, space, exchanger).run()


def _exchange_checkpoints(stores: SyncStores, space: Space, exchanger: Exchanger) -> None:
    forgotten = exchanger.result.forgotten_checkpoints
    if space.is_team or not (space.checkpoints or forgotten):
        return
    from told.memories.sync_checkpoints import CheckpointExchange  # noqa: PLC0415 - only if wanted

    exchange = CheckpointExchange(stores.home, space, stores.connection, stores.redact, stores.now)
    exchange.forget(forgotten)
    if space.checkpoints:
        exchange.run({name: one.number for name, one in exchanger.state.series.items()})


def renew_machine(home: str, space: Space) -> str:
    """Give this machine a new id and key, because another one writes its series; return the new id."""
    former = get_machine_id(home)
    for name in ("machine", MACHINE_KEY):
        with suppress(FileNotFoundError):
            os.remove(os.path.join(home, name))
    shutil.rmtree(space.series_folder(home, former), ignore_errors=True)  # fetched again as another machine's
    machine = get_machine_id(home)
    for project in read_registry(home):
        register(project._replace(series=tuple(dict.fromkeys((own_series_name(project), *project.series)))))
    return machine
