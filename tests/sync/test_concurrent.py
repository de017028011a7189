"""Two machines change one memory without knowing of each other: one change counts, both stay visible."""

from __future__ import annotations

from tests.sync.machines import Machine, Make, Shelf
from told.journal.file_journal import FileJournal
from told.memories.change import correct
from told.memories.concurrent import find_divergences
from told.memories.remember import NewMemory
from told.memories.review import ReviewItem, dismiss, edit, find_review_items, keep, keep_both


def tick(*machines: Machine) -> None:
    """Let some time pass everywhere."""
    for one in machines:
        one.time += 1000


def exchange(shelf: Shelf, *machines: Machine) -> None:
    for one in (*machines, *machines):
        assert one.sync(shelf).problems == []
    tick(*machines)


def correct_to(machine: Machine, memory: str, text: str) -> str:
    old = machine.memories.get([memory])[memory]
    return correct(machine.writer(), old, NewMemory(text, "global", "rule")).memory.id


def items(machine: Machine) -> list[ReviewItem]:
    return [one for one in find_review_items(machine.memories, FileJournal(machine.home)) if one.sides]


def lost(machine: Machine, memory: str) -> list[str]:
    return [edit.value for one in find_divergences(FileJournal(machine.home), memory) for edit in one.lost]


def diverge(shelf: Shelf, here: Machine, there: Machine) -> str:
    """Let two machines reword one memory, the second one later."""
    name = here.remember("Use make.")
    exchange(shelf, here, there)
    here.change("revise", name, text="Use npm.")
    tick(here, there)
    there.change("revise", name, text="Use pnpm.")
    exchange(shelf, here, there)
    return name


def test_the_same_choice_everywhere_and_the_other_text_is_kept(make: Make) -> None:
    here, there = make(2)
    name = diverge(Shelf(), here, there)
    for one in (here, there):
        assert one.texts() == ["Use pnpm."]
        assert lost(one, name) == ["Use npm."]
        (item,) = items(one)
        assert item.state == "conflict"
        assert item.sides
        assert [side.memory.text for side in (item.sides.kept, *item.sides.others)] == [
            "Use pnpm.",
            "Use npm.",
        ]
        assert item.sides.others[0].edit.machine != item.sides.kept.edit.machine


def test_edits_one_after_the_other_are_no_conflict(make: Make) -> None:
    here, there, third = make(3)
    shelf = Shelf()
    name = here.remember("Use make.")
    for number, one in enumerate((there, third, here, there)):
        exchange(shelf, here, there, third)
        one.change("revise", name, text=f"Use tool {number}.")
    exchange(shelf, here, there, third)
    for one in (here, there, third):
        assert (lost(one, name), items(one)) == ([], [])


def test_a_machine_that_was_away_is_noticed(make: Make) -> None:
    """Its operation is older than others that the later editor had received."""
    here, there, away = make(3)
    shelf = Shelf()
    name = here.remember("Use make.")
    exchange(shelf, here, there, away)
    away.change("revise", name, text="Use npm.")
    tick(here, there, away)
    here.remember("Something later.")
    tick(here, there, away)
    exchange(shelf, here, there)
    there.change("revise", name, text="Use pnpm.")
    exchange(shelf, here, there, away)
    for one in (here, there, away):
        assert lost(one, name) == ["Use npm."]
        assert len(items(one)) == 1


def test_keeping_this_one_ends_the_conflict_on_all_machines(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    name = diverge(shelf, here, there)
    keep(here.writer(), items(here)[0])
    assert items(here) == []
    exchange(shelf, here, there)
    for one in (here, there):
        assert (one.texts(), items(one)) == (["Use pnpm."], [])
        assert lost(one, name) == ["Use npm."]  # `told why` still has it


def test_using_the_other_one_ends_the_conflict_on_all_machines(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    diverge(shelf, here, there)
    dismiss(there.writer(), items(there)[0])
    exchange(shelf, here, there)
    for one in (here, there):
        assert (one.texts(), items(one)) == (["Use npm."], [])


def test_both_may_be_kept_or_a_third_text_written(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    diverge(shelf, here, there)
    keep_both(here.writer(), items(here)[0])
    exchange(shelf, here, there)
    for one in (here, there):
        assert (one.texts(), items(one)) == (["Use npm.", "Use pnpm."], [])
    here.undo()
    assert len(items(here)) == 1
    edit(here.writer(), items(here)[0], "Use pnpm or npm.")
    exchange(shelf, here, there)
    for one in (here, there):
        assert (one.texts(), items(one)) == (["Use pnpm or npm."], [])


def test_two_corrections_of_one_memory_are_offered_as_a_pair(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    name = here.remember("Use make.")
    exchange(shelf, here, there)
    first = correct_to(here, name, "Use npm.")
    tick(here, there)
    second = correct_to(there, name, "Use pnpm.")
    exchange(shelf, here, there)
    for one in (here, there):
        assert one.texts() == ["Use npm.", "Use pnpm."]
        (item,) = items(one)
        assert (item.memory.id, item.other and item.other.id) == (second, first)
    dismiss(here.writer(), items(here)[0])
    exchange(shelf, here, there)
    for one in (here, there):
        assert (one.texts(), items(one)) == (["Use npm."], [])
        assert one.memories.get([name])[name].superseded_by == first


def test_a_corrected_memory_that_was_reworded_elsewhere(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    name = here.remember("Use make.")
    exchange(shelf, here, there)
    correct_to(here, name, "Use npm.")
    tick(here, there)
    there.change("revise", name, text="Use make and gcc.")
    exchange(shelf, here, there)
    for one in (here, there):
        assert one.texts() == ["Use npm."]
        assert [item.other and item.other.text for item in items(one)] == ["Use make and gcc."]
    dismiss(there.writer(), items(there)[0])
    exchange(shelf, here, there)
    for one in (here, there):
        assert (one.texts(), items(one)) == (["Use make and gcc."], [])


def test_equal_edits_and_undone_ones_are_no_conflict(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    one, two = here.remember("Use make."), here.remember("Use tabs.")
    exchange(shelf, here, there)
    for machine in (here, there):
        machine.change("revise", one, text="Use npm.")
    here.change("revise", two, text="Use spaces.")
    here.undo()
    there.change("revise", two, text="Use two spaces.")
    exchange(shelf, here, there)
    for machine in (here, there):
        assert (lost(machine, one), lost(machine, two), items(machine)) == ([], [], [])


def test_a_forgotten_memory_leaves_no_other_side(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    name = diverge(shelf, here, there)
    here.forget(name)
    exchange(shelf, here, there)
    for one in (here, there):
        assert (lost(one, name), items(one)) == ([], [])
        assert b"Use npm" not in one.bytes()


def test_a_machine_alone_writes_nothing_about_others(make: Make) -> None:
    (here,) = make(1)
    here.change("revise", here.remember("Use make."), text="Use npm.")
    assert b'"seen"' not in here.bytes()


def test_opposite_decisions_are_both_told(make: Make) -> None:
    here, there = make(2)
    shelf = Shelf()
    name = here.remember("Use make.")
    exchange(shelf, here, there)
    here.change("lock", name)
    here.change("confirm", name)
    tick(here, there)
    there.change("reject", name)
    exchange(shelf, here, there)
    for one in (here, there):
        assert lost(one, name) == ["confirmed"]
