"""The acceptance tests that need no session or agent, through the policy rooms, on each kind of store.

The others go through commands, hooks and agents' files, which only a home in files has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.search.test_value_key import LOOK_ALIKES
from tests.search.test_value_key import VALUE as COMMON
from told.capture.retractions import find_retractions
from told.fence import Fence
from told.memories.caller import Caller
from told.memories.candidates import confirm_candidate
from told.memories.change import (
    ACCEPTED,
    CONFIRM,
    OPEN,
    REJECT,
    accept,
    change,
    correct,
    find_proposal,
    read_proposals,
)
from told.memories.forget import forget_statements, include_duplicates
from told.memories.history import changes_since, count_memories, find_lineage, read_history
from told.memories.remember import NewMemory, remember
from told.memories.retract import TakenBack, retract
from told.memories.review import find_review_items, keep
from told.memories.scopes import active_scopes, create_scope, find_similar, list_shared_scopes, subscribe
from told.memories.undo import undo
from told.recall.brief import make_prompt_brief
from told.recall.prompt import RecallRequest
from told.recall.recall import recall
from told.recall.search import MemoryQuestion, search_memories
from told.retention import retention
from told.retention.retention import (
    DAY,
    ClockReading,
    archive_unused,
    expire_candidates,
    list_archived,
    read_clock,
    restore,
)
from told.search.query import parse_query
from told.store.memories.records import ACTIVE, CANDIDATE, CAPTURE, DISMISSED, FORGOTTEN, SUPERSEDED
from told.text import count_tokens

if TYPE_CHECKING:
    from tests.stores import Kept
    from told.store.memories.records import Memory

SHOP, PAY = "project:github.com/acme/shop", "project:github.com/acme/pay"
NOW = 1_790_000_000_000
VALUE, OTHER = "Always install packages with pnpm.", "Tag container images with the commit hash."
ASKED = "install a package with pnpm or something"
AGENT, TOLD = Caller("agent", "codex", "s2"), Caller(CAPTURE)


def said(kept: Kept, text: str, scope: str = SHOP, now: int = NOW, caller: Caller | None = None) -> Memory:
    trust = caller.by if caller else "user"
    new = NewMemory(
        text, scope, trust=trust, agent="codex", session="s1", quote=text, at=now
    )  # fmt: skip
    return remember(kept.writer(now, caller), new).memory


def given(kept: Kept, prompt: str = ASKED, scope: str = SHOP, now: int = NOW) -> list[str]:
    scopes = active_scopes(kept.memories, scope)
    return [one.memory.text for one in recall(kept.memories, RecallRequest(prompt, scopes, now)).chosen]


def status(kept: Kept, memory: Memory) -> str:
    return kept.memories.get([memory.id])[memory.id].status


@pytest.mark.atlas("correction.survives_reindex")
def test_a_correction_survives_a_rebuild(kept: Kept) -> None:
    old = said(kept, "The staging host is alder-71.")
    new = said(kept, "The staging host is now birch-72, not alder-71.", now=NOW + 1000)
    for _ in range(2):
        assert status(kept, old) == SUPERSEDED
        assert given(kept, "which host is staging?") == [new.text]
        lineage = find_lineage(kept.memories, [new])
        assert [one.id for one in lineage] == [old.id, new.id]
        kept.rebuild()


@pytest.mark.atlas("correction.retraction_without_replacement")
def test_a_retraction_needs_no_new_value(kept: Kept) -> None:
    old = said(kept, "The Cormorant job runs every night at 02:00.")
    other = said(kept, OTHER)
    (what,) = find_retractions("I misspoke, the Cormorant job does not run every night.")
    done = retract(kept.writer(NOW + DAY, TOLD), TakenBack(what, SHOP, "codex", "s1", 3, NOW + DAY))
    assert [one.id for one in (*done.done, *done.asked)] == [old.id]
    assert status(kept, old) == (DISMISSED if done.done else ACTIVE)
    assert status(kept, other) == ACTIVE


@pytest.mark.atlas("deletion.absent_after_reindex_and_restart")
def test_nothing_of_a_forgotten_memory_is_found(kept: Kept) -> None:
    old, twin, other = said(kept, VALUE), said(kept, VALUE, PAY), said(kept, OTHER)
    writer = kept.writer(NOW + 1000)
    every = include_duplicates(kept.journal, kept.memories, [old])
    assert {one.id for one in every} == {old.id, twin.id}
    forget_statements(writer, every)
    for _ in range(2):
        assert status(kept, old) == status(kept, twin) == FORGOTTEN
        assert "pnpm" not in repr(kept.memories.get(kept.memories.ids()))
        assert "pnpm" not in repr(kept.journal.operations())
        assert kept.memories.frequency('"pnpm"', 9) == 0
        assert given(kept) == []
        assert "pnpm" not in repr(read_history(kept.journal, old.id))
        kept.rebuild()
    assert undo(kept.writer(NOW + 2000)) != ()  # of what else was said; a forget stays
    assert status(kept, old) == FORGOTTEN
    assert other.id in kept.memories.ids() or kept.memories.get([other.id]) == {}


@pytest.mark.atlas("tombstone.laundering_sequence")
def test_a_rejected_value_is_not_walked_back(kept: Kept) -> None:
    rejected = said(kept, VALUE)
    change(kept.writer(NOW + 1000), REJECT, rejected)
    for number, caller in enumerate((AGENT, TOLD), 2):
        assert said(kept, VALUE, now=NOW + 1000 * number, caller=caller).id == rejected.id
        assert (
            correct(kept.writer(NOW + 5000, caller), rejected, NewMemory(VALUE, SHOP)).memory.id
            == rejected.id
        )
    kept.rebuild()
    assert status(kept, rejected) == DISMISSED
    assert given(kept) == []
    assert len([one for one in kept.journal.find_by_kind(("refuse",)) if one.memory == rejected.id]) >= 2
    change(kept.writer(NOW + 9000), CONFIRM, kept.memories.get([rejected.id])[rejected.id])
    assert given(kept) == [VALUE]


@pytest.mark.atlas("tombstone.key_normalization_attack")
@pytest.mark.parametrize("how", ["reject", "forget"])
def test_look_alikes_of_a_value_are_refused(kept: Kept, how: str) -> None:
    made = said(kept, COMMON)
    if how == "forget":
        forget_statements(kept.writer(NOW + 1000), [made])
    else:
        change(kept.writer(NOW + 1000), REJECT, made)
    for name, text in LOOK_ALIKES.items():
        assert said(kept, text, now=NOW + 2000, caller=AGENT).id == made.id, name
    assert kept.memories.listed() == kept.memories.listed(status=CANDIDATE) == []
    paraphrase = "Packages are installed with pnpm and nothing else."
    assert said(kept, paraphrase, now=NOW + 3000, caller=AGENT).id != made.id


@pytest.mark.atlas("tombstone.survives_ttl_and_prune")
def test_a_rejection_outlives_every_expiry(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    rejected, plain = said(kept, VALUE), said(kept, OTHER)
    change(kept.writer(NOW + 1000), REJECT, rejected)
    for days in range(30, 400, 30):
        uptime = days * DAY
        monkeypatch.setattr(retention, "read_uptime", lambda uptime=uptime: uptime)
        writer = kept.writer(NOW + days * DAY, TOLD)
        archive_unused(writer, 30, limit=100)
        expire_candidates(writer, ClockReading(writer.now, read_clock(kept.journal, kept.memories)))
    assert [one.id for one in list_archived(kept.memories)] == [plain.id]
    restore(kept.writer(NOW + 401 * DAY), list_archived(kept.memories))
    assert (status(kept, rejected), status(kept, plain)) == (DISMISSED, ACTIVE)
    assert said(kept, VALUE, now=NOW + 402 * DAY, caller=AGENT).id == rejected.id


@pytest.mark.atlas("tombstone.no_second_memory_unit")
def test_a_value_said_again_makes_no_second_unit(kept: Kept) -> None:
    first = said(kept, VALUE)
    assert said(kept, "Always install packages with pnpm!", now=NOW + 1000).id == first.id
    assert kept.memories.ids() == [first.id]


@pytest.mark.atlas("scope.cross_tenant_absent")
def test_another_project_never_meets_it(kept: Kept) -> None:
    fact = said(kept, "The Quillmere ledger is exported to the bucket osprey-4417.")
    own = said(kept, "The Quillmere ledger of pay is kept for ten years.", PAY)
    secret = said(kept, "The Quillmere ledger has a private mirror.", "private:github.com/acme/shop")
    prompt = "where is the Quillmere ledger exported to, which bucket?"
    assert fact.text not in given(kept, prompt, PAY)
    assert secret.text not in given(kept, prompt, PAY)
    assert fact.text in given(kept, prompt)
    for scope, memory in ((SHOP, fact), (PAY, own)):
        scopes = active_scopes(kept.memories, scope)
        found = search_memories(
            kept.memories, MemoryQuestion(parse_query("Quillmere ledger", NOW), scopes, NOW)
        )
        assert memory.id in [one.memory.id for one in found]
        assert all(one.memory.scope in scopes for one in found)


@pytest.mark.atlas("retrieval.k_is_an_upper_bound")
def test_a_brief_keeps_its_budget(kept: Kept) -> None:
    for number in range(12):
        said(kept, f"Install packages of group {number} with pnpm, registry {number} only.", now=NOW + number)
    assert len(given(kept, "install packages with pnpm from the registry")) <= 8
    ask = RecallRequest("install packages with pnpm from the registry", (SHOP,), NOW + DAY)
    made = make_prompt_brief(kept.memories, ask, Fence(b"key"), budget=60)
    assert 0 < count_tokens(made.text) <= 60


@pytest.mark.atlas("gateway.model_cannot_claim_human_authority")
def test_an_agent_only_proposes(kept: Kept) -> None:
    rule = said(kept, VALUE)
    change(kept.writer(NOW + 1000), "lock", rule)
    asked = change(kept.writer(NOW + 2000, AGENT), "unlock", kept.memories.get([rule.id])[rule.id])
    assert kept.memories.get([rule.id])[rule.id].locked
    (item,) = [one for one in find_review_items(kept.memories, kept.journal) if one.proposal]
    assert item.id == asked.proposal
    accept(kept.writer(NOW + 3000), find_proposal(kept.journal, asked.proposal), rule)
    assert not kept.memories.get([rule.id])[rule.id].locked
    assert [one.decided for one in read_proposals(kept.journal)] == [ACCEPTED]
    undo(kept.writer(NOW + 4000))
    assert [one.decided for one in read_proposals(kept.journal)] == [OPEN]


def test_history_counts_and_undo(kept: Kept) -> None:
    rule = said(kept, VALUE)
    change(kept.writer(NOW + 1000), "lock", rule)
    assert [step.operation.kind for step in read_history(kept.journal, rule.id)] == ["remember", "lock"]
    assert [one.what for one in changes_since(kept.journal, NOW)] == [("new", "locked")]
    counts = count_memories(kept.memories, kept.journal, NOW)
    assert (counts.total, counts.locked, counts.last_locked) == (1, 1, rule.id)
    assert [one.kind for one in undo(kept.writer(NOW + 2000))] == ["lock"]
    assert not kept.memories.get([rule.id])[rule.id].locked
    assert [one.undone for one in read_history(kept.journal, rule.id)][:2] == [False, True]
    assert [one.kind for one in undo(kept.writer(NOW + 3000), rule.id)] == ["remember"]
    assert kept.memories.get([rule.id]) == {}
    kept.rebuild()
    assert kept.memories.ids() == []


def test_scopes_and_review(kept: Kept) -> None:
    writer = kept.writer(NOW)
    create_scope(writer, "design")
    subscribe(writer, "design", SHOP)
    said(kept, "Buttons are green.", "shared:design")
    assert [one.name for one in list_shared_scopes(kept.memories)] == ["design"]
    assert "shared:design" in active_scopes(kept.memories, SHOP)
    assert [
        one.text for one in find_similar(kept.memories, "green buttons", active_scopes(kept.memories, SHOP))
    ]
    unsure = NewMemory(OTHER, SHOP, quote=OTHER, agent="codex", session="s1", at=NOW, candidate=True)
    made = remember(kept.writer(NOW, TOLD), unsure).memory
    (item,) = [one for one in find_review_items(kept.memories, kept.journal) if one.state == CANDIDATE]
    assert keep(kept.writer(NOW + 1000), item).memory.status == ACTIVE
    assert item.memory.id == made.id
    with pytest.raises(Exception, match="candidate"):
        confirm_candidate(kept.writer(NOW + 2000, TOLD), made.id)
