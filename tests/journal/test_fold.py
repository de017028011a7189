"""The same operations give the same memories, in whatever order and however often they arrive."""

from __future__ import annotations

from typing import Any  # noqa: TC003 - hypothesis reads the hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from told.journal.fold import Folded, advance, fold, fold_family, in_order
from told.journal.model import Edge, Evidence, Memory, Operation, Trigger
from told.record import replaced

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
@settings(max_examples=60, deadline=None)
def test_order_and_doubling_do_not_matter(operations: list[Operation], rng: Any) -> None:
    expected = fold(operations)
    delivered = [*operations, *rng.sample(operations, len(operations) // 2)]
    rng.shuffle(delivered)
    assert fold(delivered) == expected


@given(histories(), st.integers(0, 20))
@settings(max_examples=80, deadline=None)
def test_two_steps_are_as_good_as_one(operations: list[Operation], cut: int) -> None:
    for memory in MEMORIES:
        touching = [one for one in operations if memory in one.touched]
        ordered = [one for _, one in in_order(touching)]
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


def test_what_comes_before_what_is_known_has_to_be_folded_anew() -> None:
    memory = folded(made(), op(5, "lock"))
    assert advance(memory, [op(3, "confirm")]) is None
    assert advance(memory, [Operation("two", 1, 2, "confirm", "mmmmmmma", "user", {})]) is None
    later = advance(memory, [Operation("two", 1, 6, "confirm", "mmmmmmma", "user", {})])
    assert later is not None
    assert later.memory.alpha == 2


def test_a_clock_set_back_does_not_turn_a_machines_order_round() -> None:
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
def test_nobody_but_the_user_changes_a_locked_memory(kind: str, payload: dict[str, Any], by: str) -> None:
    before = folded(made(), op(2, "lock"))
    after = folded(made(), op(2, "lock"), op(3, kind, "mmmmmmma", by, **payload))
    assert before[:-1] == after[:-1]  # type: ignore[index]
    assert before.locked


def test_the_user_may_change_a_locked_memory() -> None:
    assert folded(made(), op(2, "lock"), op(3, "unlock")).locked is False
    assert folded(made(locked=True), op(3, "supersede")).status == "superseded"
    assert folded(made(locked=True), op(2, "forget")).status == "forgotten"


def test_an_agent_cannot_lock() -> None:
    assert not folded(made(), op(2, "lock", "mmmmmmma", "agent")).locked
    assert not fold([op(1, "remember", "mmmmmmma", "agent", text="x", locked=True)])["mmmmmmma"].locked


def test_being_shown_and_followed_is_counted_even_when_locked() -> None:
    memory = folded(made(locked=True), op(2, "show", "mmmmmmma", "tool"), op(3, "follow", "mmmmmmma", "tool"))
    assert (memory.shown, memory.shown_last, memory.followed, memory.alpha) == (1, 2, 1, 2.0)


def test_confidence_moves_by_what_happened_and_by_nothing_else() -> None:
    before = folded(made())
    assert (before.alpha, before.beta, before.confidence) == (1.0, 1.0, 0.5)
    for kind in KINDS:
        after = folded(made(), op(2, kind))
        moved = (after.alpha, after.beta) != (before.alpha, before.beta)
        assert moved == (kind in ("confirm", "reject", "follow", "repeat")), kind


def test_a_b_a_works() -> None:
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


def test_an_operation_can_be_undone_and_the_undo_undone() -> None:
    ended = Operation("one", 2, 2, "supersede", "mmmmmmma", "user", {"by": "mmmmmmmb"})
    undo = op(3, "undo", machine="one", number=2)
    redo = op(4, "undo", machine="one", number=3)
    assert folded(made(), ended).status == "superseded"
    assert folded(made(), ended, undo).status == "active"
    assert folded(made(), ended, undo, redo).status == "superseded"
    assert fold([made(), op(2, "undo", machine="one", number=1)]) == {}


def test_forgetting_cannot_be_undone_and_leaves_only_the_places() -> None:
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
@settings(max_examples=50, deadline=None)
def test_a_forgotten_memory_is_the_same_after_its_payloads_are_erased(operations: list[Operation]) -> None:
    forget = Operation("one", 99, 99, "forget", "mmmmmmma", "user", {"evidence": [{"session": "s"}]})
    later = [*operations, forget]
    erased = [
        replaced(one, payload=None) if one.memory == "mmmmmmma" and one.kind != "forget" else one
        for one in later
    ]
    assert fold(erased).get("mmmmmmma") == fold(later).get("mmmmmmma")


def test_two_machines_with_the_same_id_lose_nothing() -> None:
    other = Operation("two", 1, 5, "remember", "mmmmmmma", "user", {"text": "Use ruff."})
    found = fold([other, made(), op(6, "lock")])
    assert sorted(memory.text for memory in found.values()) == ["Use ruff.", "Use uv."]
    assert found["mmmmmmma"].text == "Use uv."
    assert [memory.locked for memory in found.values() if memory.text == "Use ruff."] == [False]


def test_everything_a_memory_is_given_is_kept() -> None:
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


def test_sessions_in_which_it_was_shown_are_listed() -> None:
    shown = [
        Operation("one", 2, 2, "show", "", "tool", {"memories": ["mmmmmmma", "mmmmmmmb"], "session": "s"}),
        Operation("one", 3, 3, "show", "", "tool", {"memories": ["mmmmmmma"], "session": "s"}),
    ]
    result = fold_family("mmmmmmma", [made(), *shown])["mmmmmmma"]
    assert isinstance(result, Folded)
    assert result.shown == (("s", 3),)
    assert result.memory.shown == 2
