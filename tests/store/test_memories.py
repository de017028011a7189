"""What recall asks of `memory.db`: words, triggers, entities, locks, kinds, scopes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from told.record import replaced
from told.search.plan import plan
from told.store.memories import (
    Edge,
    Evidence,
    Memories,
    Memory,
    Trigger,
    memory_path,
    open_memory_database,
    path_prefixes,
)
from told.store.memory_condition import damaged, dump, purge
from told.store.memory_json import decoded, encoded
from told.store.memory_records import Worked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HERE, EVERYWHERE = "project:acme", "global"
WEIGHTS = (1.0, 0.5, 0.2)
NOW = 1_750_000_000_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Memories]:
    connection = open_memory_database(memory_path(str(tmp_path)))
    assert connection is not None
    memories = Memories(connection)
    yield memories
    memories.close()


def memory(number: int, text: str, **more: object) -> Memory:
    plain = Memory(f"mmmmmm{number:02}", "machine", number, text, created=NOW + number * 1000, scope=HERE)
    return replaced(plain, **more)


def put(store: Memories, *memories: Memory) -> None:
    with store.writer.transaction():
        for one in memories:
            store.writer.put(one, lambda text, _: Worked("extrawords" if "getUser" in text else "", ""))


def ids(store: Memories, rows: list[int]) -> list[str]:
    found = store.load(rows)
    return [found[row].id for row in rows]


def found(store: Memories, expression: str, *scopes: str, ended: bool = False) -> list[str]:
    return ids(store, [row for row, _ in store.match(expression, WEIGHTS, 10, scopes=scopes, ended=ended)])


def test_a_memory_comes_back_as_it_was_stored(store: Memories) -> None:
    whole = memory(
        1, 'Use uv, "never" pip. 用 uv', kind="rule", label="bugfix", status="superseded", locked=True,
        trust="team:red", importance=7.5, alpha=2.25, beta=1.1, updated=5, expires=9,
        superseded_by="mmmmmm02", shown=3, shown_last=4, followed=1, repeated=2, entities=("uv",),
        evidence=(Evidence("codex", "s", 3, "use uv", 8),), triggers=(Trigger("command", "pip"),),
        edges=(Edge("supports", "mmmmmm03", 7, "user"),), last=(5, "m", 6),
    )  # fmt: skip
    put(store, whole)
    assert store.get([whole.id]) == {whole.id: whole}
    assert damaged(store.connection) == []


def test_words_are_found_in_the_scopes_that_are_asked_for(store: Memories) -> None:
    put(
        store,
        memory(1, "Use uv for installing."),
        memory(2, "Use uv everywhere.", scope=EVERYWHERE),
        memory(3, "Use uv elsewhere.", scope="project:other"),
        memory(4, "Use uv no longer.", status="superseded"),
    )
    assert sorted(found(store, '"uv"', HERE, EVERYWHERE)) == ["mmmmmm01", "mmmmmm02"]
    assert sorted(found(store, '"uv"', HERE, ended=True)) == ["mmmmmm01", "mmmmmm04"]
    assert len(found(store, '"uv"')) == 4
    assert store.frequency('"uv"', 10, scopes=(HERE,)) == 1
    assert store.frequency('"uv"', 2) == 2
    assert store.memory_count() == 4
    assert found(store, '"installed"', HERE) == ["mmmmmm01"]


def test_entities_triggers_and_extra_words_are_found_as_words(store: Memories) -> None:
    put(store, memory(1, "Mind getUserToken.", entities=("OAuth",), triggers=(Trigger("path", "src/auth"),)))
    assert found(store, '"oauth"') == found(store, '"auth"') == found(store, '"extrawords"') == ["mmmmmm01"]


def test_the_planner_takes_it_as_it_is(store: Memories) -> None:
    put(store, *(memory(number, f"Common words, rare{number}.") for number in range(30)))
    terms = {term: store.frequency(term, 100) for term in ('"common"', '"rare7"', '"absent"')}
    expression = plan(terms, store.memory_count(), budget=5)
    assert found(store, expression, HERE) == ["mmmmmm07"]
    newest = store.match('"common"', WEIGHTS, 50, newest=3)
    assert sorted(ids(store, [row for row, _ in newest])) == ["mmmmmm27", "mmmmmm28", "mmmmmm29"]


def test_a_changed_memory_is_found_by_its_new_words_only(store: Memories) -> None:
    first = memory(1, "Use pip.", entities=("pip",), triggers=(Trigger("command", "pip"),))
    put(store, first)
    put(store, replaced(first, text="Use uv.", entities=("uv",), triggers=(Trigger("command", "uv"),)))
    assert (found(store, '"pip"'), found(store, '"uv"')) == ([], ["mmmmmm01"])
    assert store.by_entity(["pip"], [HERE]) == store.by_trigger("command", ["pip"], [HERE]) == []
    assert len(store.by_entity(["UV"], [HERE])) == len(store.by_trigger("command", ["uv"], [HERE])) == 1
    assert damaged(store.connection) == []


def test_triggers_and_entities_lead_only_to_active_memories(store: Memories) -> None:
    trigger = (Trigger("path", "src/api/"),)
    put(
        store,
        memory(1, "One.", triggers=trigger, entities=("api",)),
        memory(2, "Two.", triggers=trigger, entities=("api",), status="quarantined"),
        memory(3, "Three.", triggers=trigger, entities=("api",), scope="project:other"),
        memory(4, "Four.", triggers=(Trigger("path", "src/"),)),
    )
    rows = store.by_trigger("path", path_prefixes("src/api/users.py"), [HERE, EVERYWHERE])
    assert ids(store, rows) == ["mmmmmm04", "mmmmmm01"]
    assert ids(store, store.by_entity(["Api"], [HERE])) == ["mmmmmm01"]


def test_a_path_lies_in_all_folders_above_it() -> None:
    assert path_prefixes("src/api/users.py") == ["src/api/users.py", "src/", "src/api/"]
    assert path_prefixes("/etc/hosts") == ["/etc/hosts", "/etc/"]


def test_locks_corrections_and_lists_come_newest_first(store: Memories) -> None:
    put(
        store,
        memory(3, "Three.", kind="correction"),
        memory(1, "One.", kind="correction", locked=True),
        memory(2, "Two.", kind="rule", locked=True),
        memory(4, "Four.", kind="rule", locked=True, scope="project:other"),
        memory(5, "Five.", status="superseded", kind="correction", superseded_by="mmmmmm03"),
    )
    assert ids(store, store.locked([HERE])) == ["mmmmmm02", "mmmmmm01"]
    assert ids(store, store.newest([HERE])) == ["mmmmmm03", "mmmmmm01"]
    assert ids(store, store.newest([HERE], limit=1)) == ["mmmmmm03"]
    assert ids(store, store.listed(kinds=["rule"])) == ["mmmmmm04", "mmmmmm02"]
    assert ids(store, store.listed(status="superseded")) == ["mmmmmm05"]
    assert store.superseded(["mmmmmm03"]) == {"mmmmmm03": ["mmmmmm05"]}
    assert store.ids() == [f"mmmmmm0{number}" for number in range(1, 6)]
    assert store.like("mmmmmm0", 2) == ["mmmmmm01", "mmmmmm02"]
    assert ("superseded", "correction", HERE, 1, 0) in store.counts()


def test_edges_and_sessions_are_found_from_both_ends(store: Memories) -> None:
    put(
        store,
        memory(
            1,
            "One.",
            edges=(Edge("contradicts", "mmmmmm02", 5, "user"),),
            evidence=(Evidence("codex", "s", 1),),
        ),
        memory(2, "Two."),
    )
    edge = ("mmmmmm01", "contradicts", "mmmmmm02", 5, "user")
    assert store.edges(["mmmmmm01"]) == store.edges(["mmmmmm02"]) == [edge]
    assert ids(store, store.of_session("s")) == ["mmmmmm01"]
    with store.writer.transaction():
        store.writer.put_shown("mmmmmm01", [("s", 4), ("t", 5), ("s", 3)])
    assert store.shown_in("s") == {"mmmmmm01": 4}
    assert store.sessions_showing("mmmmmm01") == {"s": 4, "t": 5}


def test_two_memories_of_the_same_moment_both_have_a_place(store: Memories) -> None:
    first, second = memory(1, "One."), replaced(memory(1, "Two."), id="mmmmmm99")
    put(store, first, second)
    put(store, replaced(second, text="Two again."), first)
    assert {one.text for one in store.get(["mmmmmm01", "mmmmmm99"]).values()} == {"One.", "Two again."}
    assert damaged(store.connection) == []


def test_an_error_leaves_rows_and_words_as_they_were(store: Memories) -> None:
    put(store, memory(1, "Use uv."))
    before = dump(store.connection)

    def stop() -> None:
        with store.writer.transaction():
            store.writer.put(memory(2, "Use pip."), lambda _text, _at: Worked("", ""))
            raise KeyError

    with pytest.raises(KeyError):
        stop()
    put(store)
    assert dump(store.connection) == before


def test_a_changed_row_is_named_and_not_recalled(store: Memories) -> None:
    put(store, memory(1, "Use uv."), memory(2, "Use ruff.", entities=("ruff",)))
    store.connection.execute("UPDATE memory SET trust = 'user' WHERE number = 1")
    assert damaged(store.connection) == ["memory mmmmmm01 was changed"]
    assert list(store.get(["mmmmmm01", "mmmmmm02"])) == ["mmmmmm02"]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entity_of SET name = 'other'", "DELETE FROM trigger_of", "UPDATE shown SET at = at + 1",
        "UPDATE edge SET kind = 'supports'", "INSERT INTO memory_words(memory_words) VALUES('delete-all')",
    ],
)  # fmt: skip
def test_what_leads_to_memories_is_checked_as_well(store: Memories, change: str) -> None:
    put(
        store,
        memory(
            1, "Use uv.", entities=("uv",), triggers=(Trigger("task", "x"),), edges=(Edge("about", "m2"),)
        ),
    )
    with store.writer.transaction():
        store.writer.put_shown("mmmmmm01", [("s", 4)])
    assert damaged(store.connection) == []
    store.connection.execute(change)
    assert damaged(store.connection) != []


def test_nothing_is_left_of_a_dropped_memory(store: Memories, tmp_path: Path) -> None:
    put(store, *(memory(number, f"Rule {number}.") for number in range(50)))
    put(store, memory(77, "Xylophonists only.", entities=("xylophon",)))
    with store.writer.transaction():
        store.writer.drop("mmmmmm77")
    purge(store.connection)
    assert not any(b"ylophon" in path.read_bytes() for path in tmp_path.iterdir())
    assert damaged(store.connection) == []


def test_json_is_read_as_it_was_written() -> None:
    value = {"a": [1, -2.5, True, None, 'ü\n"\\\u2028'], "b": {}}
    assert decoded(encoded(value)) == value
    assert encoded((1, float("inf"))) == "[1,null]"
    for wrong in ("", "[1,]", "NaN", "1 2", "[" * 100_000, '"a\nb"'):
        with pytest.raises(ValueError):
            decoded(wrong)
    with pytest.raises(TypeError):
        encoded(object())
