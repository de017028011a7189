"""Candidates: stored but unused, until something confirms or dismisses them."""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING

import pytest

from told.errors import NotFoundError
from told.journal.apply import open_memories
from told.journal.file_journal import FileJournal
from told.memories.caller import Caller
from told.memories.candidates import confirm_candidate
from told.memories.change import CONFIRM, REJECT, change, correct
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, remember
from told.memories.undo import undo
from told.store.memories.records import (
    ACTIVE,
    CANDIDATE,
    CAPTURE,
    DISMISSED,
    FORGOTTEN,
    QUARANTINED,
    Memory,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.stores import Kept

SCOPE = "project:github.com/acme/shop"
NOW = 1_790_000_000_000
RULE = "Run the linter before you commit."
TOLD = Caller(CAPTURE)
AGENT = Caller("agent", "claude-code", "one")


@pytest.fixture
def writer(kept: Kept) -> JournalWriter:
    return kept.writer(NOW, TOLD)


def unsure(text: str = RULE, session: str = "one", **more: object) -> NewMemory:
    new = NewMemory(text, SCOPE, quote=text, agent="claude-code", session=session, at=NOW, candidate=True)
    return new._replace(**more)  # type: ignore[arg-type]


def sure(text: str = RULE, session: str = "one", **more: object) -> NewMemory:
    return unsure(text, session, candidate=False, **more)


def acting(writer: JournalWriter, caller: Caller) -> JournalWriter:
    return JournalWriter(writer.journal, writer.memories, writer.now + 1000, caller)


def stored(writer: JournalWriter) -> list[Memory]:
    return list(writer.memories.get(writer.memories.ids()).values())


def statuses(writer: JournalWriter) -> list[str]:
    return [one.status for one in stored(writer)]


def test_candidate_is_stored_but_not_listed(writer: JournalWriter) -> None:
    made = remember(writer, unsure()).memory
    assert (made.status, made.text) == (CANDIDATE, RULE)
    assert writer.memories.listed() == []
    assert len(writer.memories.listed(status=CANDIDATE)) == writer.memories.count_candidates((SCOPE,)) == 1


def test_candidate_supersedes_nothing(writer: JournalWriter) -> None:
    old = remember(writer, sure("Use npm for packages", "zero")).memory
    remember(writer, unsure("From now on use pnpm for packages, not npm"))
    assert writer.read(old.id).status == ACTIVE


def test_confirmed_candidate_supersedes_what_it_replaces(writer: JournalWriter) -> None:
    old = remember(writer, sure("Use npm for packages", "zero")).memory
    new = remember(writer, unsure("From now on use pnpm for packages, not npm")).memory
    done = confirm_candidate(writer, new.id, "the reader read it")
    assert (done.memory.status, done.confirmed) == (ACTIVE, True)
    assert writer.read(old.id).superseded_by == new.id


def test_confirmed_candidate_that_contradicts_a_locked_memory_waits(writer: JournalWriter) -> None:
    remember(acting(writer, Caller()), NewMemory("Never squash commits", SCOPE, locked=True))
    new = remember(writer, unsure("Always squash commits", at=NOW + 5000)).memory
    done = confirm_candidate(writer, new.id)
    assert (done.memory.status, len(done.proposals)) == (QUARANTINED, 1)


def test_confirming_what_is_known_by_now_makes_no_second_memory(writer: JournalWriter) -> None:
    waiting = remember(writer, unsure()).memory
    user = acting(writer, Caller())
    other = remember(user, NewMemory("Deploys go out on Tuesdays", SCOPE)).memory
    known = correct(user, other, NewMemory(RULE, SCOPE)).memory
    assert confirm_candidate(user, waiting.id).memory.id == known.id
    assert writer.read(waiting.id).superseded_by == known.id


@pytest.mark.parametrize(
    ("again", "status"),
    [
        (unsure(session="two"), ACTIVE),  # said again in another session
        (unsure(), CANDIDATE),
        (sure(quote="the linter, before you commit"), ACTIVE),  # sure, in the same session
        (sure(session="two"), ACTIVE),
        (unsure(session="two", trust="agent"), CANDIDATE),  # an agent's word without proof
    ],
)
def test_repeat_confirms_candidate(writer: JournalWriter, again: NewMemory, status: str) -> None:
    made = remember(writer, unsure()).memory
    done = remember(writer, again)
    assert (done.memory.id, done.memory.status, done.confirmed) == (made.id, status, status == ACTIVE)
    assert statuses(writer) == [status]


def test_users_own_command_confirms_candidate(writer: JournalWriter) -> None:
    made = remember(writer, unsure()).memory
    done = remember(acting(writer, Caller()), NewMemory(RULE, SCOPE, locked=True))
    assert (done.memory.id, done.memory.status, done.memory.locked) == (made.id, ACTIVE, True)


def test_verified_agent_refines_what_told_kept_of_the_same_words(writer: JournalWriter) -> None:
    quote = "we always lint before a commit, never after"
    made = remember(writer, unsure("Lint before a commit, never after.", quote=quote)).memory
    better = NewMemory(
        "Run `make lint` before each commit.", "global", "rule", quote=quote, agent="claude-code",
        session="one",
    )  # fmt: skip
    done = remember(acting(writer, AGENT), better)
    assert (done.refined, done.confirmed, done.memory.id) == (True, True, made.id)
    assert (done.memory.text, done.memory.scope) == ("Run `make lint` before each commit.", "global")
    assert [place.quote for place in done.memory.evidence] == [quote, quote]
    assert statuses(writer) == [ACTIVE]
    undo(acting(writer, Caller()), made.id)
    assert (writer.read(made.id).text, statuses(writer)) == (made.text, [CANDIDATE])


def test_second_statement_of_the_same_quote_is_another_memory(writer: JournalWriter) -> None:
    quote = "deploys go out on Tuesdays from the release branch, and alerts go to #ops"
    remember(writer, sure("Deploys go out on Tuesdays.", quote=quote))
    by_agent = acting(writer, AGENT)
    for text in ("Deploys go out on Tuesdays from the release branch.", "Alerts go to #ops."):
        remember(by_agent, NewMemory(text, SCOPE, quote=quote, agent="claude-code", session="one"))
    assert [one.text for one in stored(writer)] == [
        "Deploys go out on Tuesdays from the release branch.", "Alerts go to #ops.",
    ]  # fmt: skip


def test_agent_without_proof_refines_nothing(writer: JournalWriter) -> None:
    made = remember(writer, sure()).memory
    said = NewMemory("Skip the linter.", SCOPE, trust="agent", quote=RULE, agent="claude-code", session="one")
    remember(acting(writer, AGENT), said._replace(candidate=True))
    assert (writer.read(made.id).text, writer.read(made.id).status) == (RULE, ACTIVE)
    assert sorted(statuses(writer)) == [ACTIVE, CANDIDATE]


def test_transcript_refines_what_the_hook_kept(writer: JournalWriter) -> None:
    made = remember(writer, sure("It is MW, not kW.", quote="it is MW, not kW")).memory
    later = sure("The plant's output is in MW, not kW.", quote="it is MW, not kW", turn=3, context="output")
    done = remember(writer, later)
    assert (done.memory.id, done.refined) == (made.id, True)
    assert (done.memory.text, done.memory.context) == (later.text, "output")
    assert [place.turn for place in done.memory.evidence] == [3]
    assert not remember(writer, later).refined


def test_what_the_user_locked_is_not_refined(writer: JournalWriter) -> None:
    made = remember(writer, sure("It is MW, not kW.", quote="it is MW, not kW")).memory
    change(acting(writer, Caller()), "lock", made)
    remember(writer, sure("The output is in MW.", quote="it is MW, not kW", turn=3))
    assert writer.read(made.id).text == "It is MW, not kW."


def test_rejected_candidate_does_not_come_back(writer: JournalWriter) -> None:
    made = remember(writer, unsure()).memory
    user = acting(writer, Caller())
    assert change(user, REJECT, made).memory.status == DISMISSED
    for again in (unsure(), sure(), unsure(session="two"), unsure(session="three")):
        remember(writer, again)
    remember(writer, sure(session="two"))
    assert statuses(writer) == [DISMISSED]
    said = remember(user, sure(session="two"))  # but the user may say it
    assert (said.memory.id, said.memory.status, said.restored) == (made.id, ACTIVE, True)


@pytest.mark.parametrize(("action", "status"), [(CONFIRM, ACTIVE), (REJECT, DISMISSED)])
def test_decision_on_candidates_can_be_undone(writer: JournalWriter, action: str, status: str) -> None:
    made = [remember(writer, unsure(text)).memory for text in (RULE, "Tests live next to the code.")]
    user = acting(writer, Caller())
    for one in made:
        change(user, action, one)
    assert statuses(writer) == [status, status]
    undo(acting(writer, Caller()))
    assert statuses(writer) == [CANDIDATE, CANDIDATE]


def _dismiss(writer: JournalWriter, candidate: str) -> None:
    writer.add("reject", candidate)  # as the reader does
    writer.write()


def test_user_may_confirm_what_was_dismissed(writer: JournalWriter) -> None:
    made = remember(writer, unsure()).memory
    _dismiss(writer, made.id)
    with pytest.raises(NotFoundError, match="is no candidate"):
        confirm_candidate(writer, made.id)
    assert confirm_candidate(acting(writer, Caller()), made.id).memory.status == ACTIVE


def test_forgotten_candidate_leaves_no_text(writer: JournalWriter) -> None:
    made = remember(writer, unsure()).memory
    user = acting(writer, Caller())
    user.add("forget", made.id)
    user.write()
    assert (writer.read(made.id).status, writer.read(made.id).text) == (FORGOTTEN, "")


def test_named_memories_are_replaced(writer: JournalWriter) -> None:
    old = remember(writer, sure("The API lives at api.acme.dev.", "zero")).memory
    locked = remember(acting(writer, Caller()), NewMemory("Never squash commits", SCOPE, locked=True)).memory
    said = sure("We moved everything to acme.cloud.", replaces=(old.id, locked.id))
    done = remember(acting(writer, AGENT), said)
    assert writer.read(old.id).superseded_by == done.memory.id
    assert (writer.read(locked.id).status, len(done.proposals)) == (ACTIVE, 1)


def test_rebuilt_store_has_the_same_candidates(kept: Kept, writer: JournalWriter) -> None:
    remember(writer, unsure(marks=("warning",), context="about the nightly build"))
    remember(writer, unsure("Tests live next to the code.", kind="preference"))
    remember(writer, unsure("Tests live next to the code.", "two", kind="preference"))
    _dismiss(writer, remember(writer, unsure("Use tabs in Go files.")).memory.id)
    before = writer.memories.load(writer.memories.of_scope(SCOPE))
    assert len(before) == 3
    kept.rebuild()
    assert kept.memories.load(kept.memories.of_scope(SCOPE)) == before


def _learn_at_once(home: str, number: int) -> None:
    memories = open_memories(home)
    try:
        new = sure(turn=number, seed=f"process {number}")
        remember(JournalWriter(FileJournal(home), memories, NOW + number, TOLD), new)
    finally:
        memories.close()


def test_hook_and_index_store_the_same_words_once(tmp_path: Path) -> None:
    open_memories(str(tmp_path)).close()
    start = multiprocessing.get_context("spawn").Process
    both = [start(target=_learn_at_once, args=(str(tmp_path), number)) for number in range(3)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    memories = open_memories(str(tmp_path))
    assert len(memories.ids()) == 1
    memories.close()
