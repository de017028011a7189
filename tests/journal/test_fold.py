"""The same operations give the same memories, in whatever order and however often they arrive."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.journal.writing import fold
from tests.soak import points
from told.journal.files import Operation
from told.journal.fold import Folded, advance, fold_family, sort_operations
from told.store.memories.records import Edge, Evidence, Memory, Trigger

KINDS = (
    "lock", "unlock", "confirm", "reject", "supersede", "quarantine", "release", "forget", "show", "follow",
    "repeat", "edge", "share", "expire", "revise", "undo", "archive", "restore", "mystery",
)  # fmt: skip
MEMORIES = ("mmmmmmma", "mmmmmmmb")


def op(
    number: int, kind: str, memory: str = "mmmmmmma", by: str = "user", at: int = 0, /, **payload: Any
) -> Operation:
    return Operation("one", number, at or number, kind, memory, by, payload)


def folded(*operations: Operation) -> Memory:
    return fold(operations)["mmmmmmma"]


def made(**payload: Any) -> Operation:
    return op(1, "remember", text="Use uv.", **payload)


@pytest.mark.parametrize("kind", ["share", "revise", "move", "expire", "confirm", "restore"])
@pytest.mark.parametrize("by", ["user", "agent", "capture", "team:ann"])
@pytest.mark.parametrize("scope", ["global", "project:shop", "shared:style"])
def test_no_operation_makes_a_private_memory_public(kind: str, by: str, scope: str) -> None:
    for private in ("private", "private:shop"):
        changed = folded(made(scope=private), op(2, kind, "mmmmmmma", by, scope=scope, text="Use pip."))
        assert changed.scope == private


def test_only_the_user_makes_a_memory_private() -> None:
    for by, scope in (
        ("user", "private"),
        ("agent", "global"),
        ("capture", "global"),
        ("team:ann", "global"),
    ):
        changed = folded(made(scope="global"), op(2, "share", "mmmmmmma", by, scope="private"))
        assert changed.scope == scope
    moved = folded(made(scope="private:old"), op(2, "move", scope="private:new"))
    assert moved.scope == "private:new"
    assert folded(made(scope="private:")).scope == "global"


@st.composite
def histories(draw: st.DrawFn) -> list[Operation]:
    """Operations of two machines with clocks that go back and forth."""
    operations = []
    for machine in ("one", "two"):
        for number in range(1, draw(st.integers(0, 9)) + 1):
            kind = draw(st.sampled_from(("remember", "remember", *KINDS)))
            operations.append(
                Operation(
                    machine,
                    number,
                    draw(st.integers(1, 12)),
                    kind,
                    "" if kind == "show" else draw(st.sampled_from(MEMORIES)),
                    draw(st.sampled_from(("user", "agent"))),
                    draw(st.none() | payloads()),
                )
            )
    return operations


def payloads() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {},
        optional={
            "text": st.sampled_from(("Use uv.", "Use pip.", "Use \ud800.")),
            "by": st.sampled_from(MEMORIES),
            "kind": st.sampled_from(("rule", "supports", 5)),
            "target": st.sampled_from(MEMORIES),
            "scope": st.sampled_from(("global", "project:x", "nowhere")),
            "machine": st.sampled_from(("one", "two")),
            "number": st.integers(1, 9),
            "memories": st.lists(st.sampled_from(MEMORIES)),
            "session": st.sampled_from(("s1", "s2")),
            "weight": st.sampled_from((0.1, 0.7, 2, -1, "x", 1e300)),
            "evidence": st.sampled_from(({"session": "s1", "quote": "uv"}, [{"turn": 2}], 7, [8])),
            "triggers": st.sampled_from(([["command", "git push"]], [{"kind": "path", "value": "src/"}], 3)),
            "entities": st.sampled_from((["uv", "uv", 3], "uv")),
            "expires": st.sampled_from((5, -5, "never")),
            "known": st.integers(1, 12).map(lambda updated: [updated, 0, 0, 0, 0]),
        },
    )


@given(histories(), st.randoms())
@settings(max_examples=points(everyday=20, soak=200), deadline=None)
def test_fold_ignores_order_and_duplicates(operations: list[Operation], rng: Any) -> None:
    expected = fold(operations)
    delivered = [*operations, *rng.sample(operations, len(operations) // 2)]
    rng.shuffle(delivered)
    assert fold(delivered) == expected


@given(histories(), st.integers(0, 20))
@settings(max_examples=points(everyday=20, soak=200), deadline=None)
def test_advance_equals_fold(operations: list[Operation], cut: int) -> None:
    for memory in MEMORIES:
        touching = [one for one in operations if memory in one.touched]
        ordered = [one for _, one in sort_operations(touching)]
        first = fold_family(memory, ordered[:cut]).get(memory)
        if first is None:
            continue
        second = advance(first.memory, ordered[cut:])
        whole = fold_family(memory, ordered).get(memory)
        if second is None:
            assert any(one.kind in ("undo", "remember") for one in ordered[cut:])
        else:
            assert whole is not None
            assert second.memory == whole.memory


def test_advance_refuses_earlier_operations() -> None:
    memory = folded(made(), op(5, "lock"))
    assert advance(memory, [op(3, "confirm")]) is None
    assert advance(memory, [Operation("two", 1, 2, "confirm", "mmmmmmma", "user", {})]) is None
    later = advance(memory, [Operation("two", 1, 6, "confirm", "mmmmmmma", "user", {})])
    assert later is not None
    assert later.memory.alpha == 2


def test_clock_set_back_keeps_machine_order() -> None:
    assert not folded(
        made(), op(2, "lock", "mmmmmmma", "user", 900), op(3, "unlock", "mmmmmmma", "user", 5)
    ).locked


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("supersede", {"by": "mmmmmmmb"}), ("quarantine", {}), ("forget", {}), ("unlock", {}), ("reject", {}),
        ("revise", {"text": "Use pip."}), ("share", {"scope": "shared:x"}), ("expire", {"expires": 9}),
        ("edge", {"kind": "contradicts", "target": "mmmmmmmb"}), ("undo", {"machine": "one", "number": 2}),
        ("confirm", {}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("by", ["agent", "tool", "team:red", "", "User"])
def test_only_the_user_changes_a_locked_memory(kind: str, payload: dict[str, Any], by: str) -> None:
    before = folded(made(), op(2, "lock"))
    after = folded(made(), op(2, "lock"), op(3, kind, "mmmmmmma", by, **payload))
    assert before._replace(last=after.last) == after
    assert before.locked


def test_user_changes_a_locked_memory() -> None:
    assert folded(made(), op(2, "lock"), op(3, "unlock")).locked is False
    assert folded(made(locked=True), op(3, "supersede")).status == "superseded"
    assert folded(made(locked=True), op(2, "forget")).status == "forgotten"


def test_agent_cannot_lock() -> None:
    assert not folded(made(), op(2, "lock", "mmmmmmma", "agent")).locked
    assert not fold([op(1, "remember", "mmmmmmma", "agent", text="x", locked=True)])["mmmmmmma"].locked


def test_locked_memory_counts_show_and_follow() -> None:
    memory = folded(made(locked=True), op(2, "show", "mmmmmmma", "tool"), op(3, "follow", "mmmmmmma", "tool"))
    assert (memory.shown, memory.shown_last, memory.followed, memory.alpha) == (1, 2, 1, 2.0)


def test_confidence_follows_confirm_follow_and_repeat() -> None:
    before = folded(made())
    assert (before.alpha, before.beta, before.confidence) == (1.0, 1.0, 0.5)
    for kind in KINDS:
        after = folded(made(), op(2, kind))
        moved = (after.alpha, after.beta) != (before.alpha, before.beta)
        assert moved == (kind in ("confirm", "follow", "repeat")), kind


def test_reject_of_an_older_version_only_lowers_the_confidence() -> None:
    after = folded(made(), Operation("one", 2, 2, "reject", "mmmmmmma", "user", {"weight": 2.0}))
    assert (after.status, after.beta) == ("active", 3.0)
    assert folded(made(), Operation("one", 2, 2, "reject", "mmmmmmma", "user", {})).status == "dismissed"


def test_supersede_there_and_back() -> None:
    operations = [
        op(1, "remember", "mmmmmmma", text="Use tabs."),
        op(2, "remember", "mmmmmmmb", text="Use spaces."),
        Operation("one", 3, 3, "supersede", "mmmmmmma", "user", {"by": "mmmmmmmb"}),
        op(4, "remember", "mmmmmmmc", text="Use tabs."),
        Operation("one", 5, 5, "supersede", "mmmmmmmb", "user", {"by": "mmmmmmmc"}),
    ]
    found = fold(operations)
    assert {name: memory.status for name, memory in found.items()} == {
        "mmmmmmma": "superseded", "mmmmmmmb": "superseded", "mmmmmmmc": "active",
    }  # fmt: skip
    assert (found["mmmmmmma"].superseded_by, found["mmmmmmmb"].superseded_by) == ("mmmmmmmb", "mmmmmmmc")


def test_undo_and_undo_of_undo() -> None:
    ended = Operation("one", 2, 2, "supersede", "mmmmmmma", "user", {"by": "mmmmmmmb"})
    undo = op(3, "undo", machine="one", number=2)
    redo = op(4, "undo", machine="one", number=3)
    assert folded(made(), ended).status == "superseded"
    assert folded(made(), ended, undo).status == "active"
    assert folded(made(), ended, undo, redo).status == "superseded"
    assert fold([made(), op(2, "undo", machine="one", number=1)]) == {}


def test_forget_cannot_be_undone_and_keeps_only_evidence() -> None:
    places = [{"agent": "codex", "session": "s", "turn": 3, "quote": "secret", "at": 7}]
    memory = folded(
        made(evidence=places, triggers=[["command", "uv"]]),
        op(2, "forget", evidence=places),
        op(3, "undo", machine="one", number=2),
        op(4, "undo", machine="one", number=1),
        op(5, "confirm"),
        op(6, "revise", text="Use uv after all."),
    )
    assert memory.status == "forgotten"
    assert memory.evidence == (Evidence("codex", "s", 3, "", 7),)
    assert (memory.text, memory.triggers, memory.alpha) == ("", (), 1.0)


@given(histories())
@settings(max_examples=points(everyday=15, soak=200), deadline=None)
def test_erasing_payloads_does_not_change_a_forgotten_memory(operations: list[Operation]) -> None:
    forget = Operation("one", 99, 99, "forget", "mmmmmmma", "user", {"evidence": [{"session": "s"}]})
    later = [*operations, forget]
    erased = [
        one._replace(payload=None) if one.memory == "mmmmmmma" and one.kind != "forget" else one
        for one in later
    ]
    assert fold(erased).get("mmmmmmma") == fold(later).get("mmmmmmma")


def test_same_id_on_two_machines_loses_nothing() -> None:
    other = Operation("two", 1, 5, "remember", "mmmmmmma", "user", {"text": "Use ruff."})
    found = fold([other, made(), op(6, "lock")])
    assert sorted(memory.text for memory in found.values()) == ["Use ruff.", "Use uv."]
    assert found["mmmmmmma"].text == "Use uv."
    assert [memory.locked for memory in found.values() if memory.text == "Use ruff."] == [False]


def test_fold_keeps_all_fields() -> None:
    memory = folded(
        made(
            kind="rule", label="bugfix", scope="project:acme", importance=8, trust="agent", created=77,
            expires=99, entities=["uv"], triggers=[["command", "pip install"]],
            evidence={"agent": "codex", "session": "s", "turn": 2, "quote": "use uv", "at": 76},
        ),
        op(2, "edge", kind="supports", target="mmmmmmmb"),
        op(3, "repeat", evidence={"agent": "codex", "session": "t", "turn": 1, "quote": "uv!", "at": 90}),
    )  # fmt: skip
    assert (memory.kind, memory.label, memory.scope, memory.importance) == (
        "rule",
        "bugfix",
        "project:acme",
        8.0,
    )
    assert (memory.trust, memory.created, memory.updated, memory.expires) == ("agent", 77, 1, 99)
    assert (memory.triggers, memory.entities) == ((Trigger("command", "pip install"),), ("uv",))
    assert memory.edges == (Edge("supports", "mmmmmmmb", 2, "user"),)
    assert [one.session for one in memory.evidence] == ["s", "t"]
    assert (memory.repeated, memory.beta) == (1, 2.0)


def test_fold_lists_sessions_of_shows() -> None:
    shown = [
        Operation("one", 2, 2, "show", "", "tool", {"memories": ["mmmmmmma", "mmmmmmmb"], "session": "s"}),
        Operation("one", 3, 3, "show", "", "tool", {"memories": ["mmmmmmma"], "session": "s"}),
    ]
    result = fold_family("mmmmmmma", [made(), *shown])["mmmmmmma"]
    assert isinstance(result, Folded)
    assert result.shown == (("s", 3),)
    assert result.memory.shown == 2


@pytest.mark.parametrize(
    ("name", "kind", "marks"),
    [
        ("rule", "rule", ()), ("correction", "rule", ("correction",)),
        ("preference", "rule", ("preference",)), ("decision", "decision", ()),
        ("fact", "fact", ()), ("warning", "fact", ("warning",)),
        ("observation", "observation", ()), ("mystery", "observation", ()),
    ],
)  # fmt: skip
def test_old_kinds_become_kinds_with_marks(name: str, kind: str, marks: tuple[str, ...]) -> None:
    memory = folded(made(kind=name))
    assert (memory.kind, memory.marks) == (kind, marks)


def test_marks_are_taken_from_the_payload() -> None:
    memory = folded(made(kind="fact", marks=["warning", "shouting", 3], context=" said of\nthe build "))
    assert (memory.marks, memory.context) == (("warning",), "said of the build")
    assert folded(made(kind="fact", marks="warning", context=7)).marks == ()


@pytest.mark.parametrize(
    ("kind", "payload", "status"),
    [
        ("confirm", {}, "active"), ("reject", {}, "dismissed"), ("supersede", {"by": "m2"}, "superseded"),
        ("quarantine", {}, "candidate"), ("release", {}, "candidate"), ("show", {}, "candidate"),
        ("repeat", {}, "candidate"), ("restore", {}, "candidate"), ("forget", {}, "forgotten"),
        ("archive", {"known": [1, 0, 0, 0, 0]}, "candidate"),
    ],
)  # fmt: skip
def test_only_a_confirmation_makes_a_candidate_active(
    kind: str, payload: dict[str, Any], status: str
) -> None:
    assert folded(made(status="candidate"), op(2, kind, **payload)).status == status


def test_decisions_on_a_candidate_can_be_undone() -> None:
    for kind in ("confirm", "reject"):
        history = (made(status="candidate"), op(2, kind), op(3, "undo", machine="one", number=2))
        assert folded(*history).status == "candidate"


def test_revision_takes_the_evidence_and_its_author() -> None:
    hook = {"agent": "codex", "session": "s", "turn": 0, "quote": "use uv", "at": 1}
    first = op(1, "remember", "mmmmmmma", "capture", text="Use uv.", evidence=[hook])
    read = hook | {"turn": 4, "at": 2}
    memory = folded(first, op(2, "revise", "mmmmmmma", "agent", text="Use uv, not pip.", evidence=[read]))
    assert (memory.text, memory.worded_by) == ("Use uv, not pip.", "agent")
    assert [place.turn for place in memory.evidence] == [4]
    assert folded(first).worded_by == "capture"
