"""Queries of `memory.db`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.journal.writing import dump_tables
from told.jsontext import dump_json, load_json
from told.search.rank import plan_query
from told.store.memories.read import Memories, memory_path, open_memory_database
from told.store.memories.records import Edge, Evidence, IndexFields, Memory, Trigger
from told.store.memories.schema import find_damage, purge_memories

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


def memory(number: int, text: str, **more: Any) -> Memory:
    plain = Memory(f"mmmmmm{number:02}", "machine", number, text, created=NOW + number * 1000, scope=HERE)
    return plain._replace(**more)


def put(store: Memories, *memories: Memory) -> None:
    with store.writer.transaction():
        for one in memories:
            store.writer.put(one, lambda text, _: IndexFields("extrawords" if "getUser" in text else "", ""))


def ids(store: Memories, rows: list[int]) -> list[str]:
    found = store.load(rows)
    return [found[row].id for row in rows]


def found(store: Memories, expression: str, *scopes: str, ended: bool = False) -> list[str]:
    return ids(store, [row for row, _ in store.match(expression, WEIGHTS, 10, scopes=scopes, ended=ended)])


def test_memory_round_trips(store: Memories) -> None:
    whole = memory(
        1, 'Use uv, "never" pip. 用 uv', kind="rule", label="bugfix", status="superseded", locked=True,
        trust="team:red", importance=7.5, alpha=2.25, beta=1.1, updated=5, expires=9,
        superseded_by="mmmmmm02", shown=3, shown_last=4, followed=1, repeated=2, entities=("uv",),
        evidence=(Evidence("codex", "s", 3, "use uv", 8),), triggers=(Trigger("command", "pip"),),
        edges=(Edge("supports", "mmmmmm03", 7, "user"),), last=(5, "m", 6),
    )  # fmt: skip
    put(store, whole)
    assert store.get([whole.id]) == {whole.id: whole}
    assert find_damage(store.connection) == []


def test_match_restricts_to_scopes(store: Memories) -> None:
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


def test_match_finds_entities_triggers_and_extra_words(store: Memories) -> None:
    put(store, memory(1, "Mind getUserToken.", entities=("OAuth",), triggers=(Trigger("path", "src/auth"),)))
    assert found(store, '"oauth"') == found(store, '"auth"') == found(store, '"extrawords"') == ["mmmmmm01"]


def test_planned_query_matches_memories(store: Memories) -> None:
    put(store, *(memory(number, f"Common words, rare{number}.") for number in range(30)))
    terms = {term: store.frequency(term, 100) for term in ('"common"', '"rare7"', '"absent"')}
    expression = plan_query(terms, store.memory_count(), budget=5)
    assert found(store, expression, HERE) == ["mmmmmm07"]
    newest = store.match('"common"', WEIGHTS, 50, newest=3)
    assert sorted(ids(store, [row for row, _ in newest])) == ["mmmmmm27", "mmmmmm28", "mmmmmm29"]


def test_changed_memory_matches_new_words_only(store: Memories) -> None:
    first = memory(1, "Use pip.", entities=("pip",), triggers=(Trigger("command", "pip"),))
    put(store, first)
    put(store, first._replace(text="Use uv.", entities=("uv",), triggers=(Trigger("command", "uv"),)))
    assert (found(store, '"pip"'), found(store, '"uv"')) == ([], ["mmmmmm01"])
    assert store.by_entity(["pip"], [HERE]) == store.by_trigger("command", ["pip"], [HERE]) == []
    assert len(store.by_entity(["UV"], [HERE])) == len(store.by_trigger("command", ["uv"], [HERE])) == 1
    assert find_damage(store.connection) == []


def test_triggers_and_entities_link_active_memories_only(store: Memories) -> None:
    trigger = (Trigger("path", "src/api/"),)
    put(
        store,
        memory(1, "One.", triggers=trigger, entities=("api",)),
        memory(2, "Two.", triggers=trigger, entities=("api",), status="quarantined"),
        memory(3, "Three.", triggers=trigger, entities=("api",), scope="project:other"),
        memory(4, "Four.", triggers=(Trigger("path", "src/"),)),
    )
    rows = store.by_trigger("path", ["src/api/users.py", "src/", "src/api/"], [HERE, EVERYWHERE])
    assert ids(store, rows) == ["mmmmmm04", "mmmmmm01"]
    assert ids(store, store.by_entity(["Api"], [HERE])) == ["mmmmmm01"]


def test_lists_are_newest_first(store: Memories) -> None:
    put(
        store,
        memory(3, "Three.", kind="rule", marks=("correction",)),
        memory(1, "One.", kind="rule", marks=("correction",), locked=True),
        memory(2, "Two.", kind="rule", locked=True),
        memory(4, "Four.", kind="rule", locked=True, scope="project:other"),
        memory(5, "Five.", status="superseded", kind="rule", marks=("correction",), superseded_by="mmmmmm03"),
    )
    assert ids(store, store.locked([HERE])) == ["mmmmmm02", "mmmmmm01"]
    assert ids(store, store.listed(scopes=[HERE], kinds=["correction"])) == ["mmmmmm03", "mmmmmm01"]
    assert ids(store, store.listed(scopes=[HERE], kinds=["correction"], limit=1)) == ["mmmmmm03"]
    assert ids(store, store.listed(kinds=["rule"])) == ["mmmmmm04", "mmmmmm03", "mmmmmm02", "mmmmmm01"]
    assert ids(store, store.listed(status="superseded")) == ["mmmmmm05"]
    assert store.superseded(["mmmmmm03"]) == {"mmmmmm03": ["mmmmmm05"]}
    assert store.ids() == [f"mmmmmm0{number}" for number in range(1, 6)]
    assert store.ids_with_prefix("mmmmmm0", 2) == ["mmmmmm01", "mmmmmm02"]
    assert ("superseded", "rule", HERE, 1, 0) in store.counts()


def test_edges_are_found_from_both_ends(store: Memories) -> None:
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


def test_memories_of_same_time_get_different_rows(store: Memories) -> None:
    first, second = memory(1, "One."), memory(1, "Two.")._replace(id="mmmmmm99")
    put(store, first, second)
    put(store, second._replace(text="Two again."), first)
    assert {one.text for one in store.get(["mmmmmm01", "mmmmmm99"]).values()} == {"One.", "Two again."}
    assert find_damage(store.connection) == []


def test_failed_transaction_changes_nothing(store: Memories) -> None:
    put(store, memory(1, "Use uv."))
    before = dump_tables(store.connection)

    def stop() -> None:
        with store.writer.transaction():
            store.writer.put(memory(2, "Use pip."), lambda _text, _at: IndexFields("", ""))
            raise KeyError

    with pytest.raises(KeyError):
        stop()
    put(store)
    assert dump_tables(store.connection) == before


def test_tampered_row_is_reported_and_skipped(store: Memories) -> None:
    put(store, memory(1, "Use uv."), memory(2, "Use ruff.", entities=("ruff",)))
    store.connection.execute("UPDATE memory SET trust = 'user' WHERE number = 1")
    assert find_damage(store.connection) == ["memory mmmmmm01 was changed"]
    assert list(store.get(["mmmmmm01", "mmmmmm02"])) == ["mmmmmm02"]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE entity_of SET name = 'other'", "DELETE FROM trigger_of", "UPDATE shown SET at = at + 1",
        "UPDATE edge SET kind = 'supports'", "INSERT INTO memory_words(memory_words) VALUES('delete-all')",
    ],
)  # fmt: skip
def test_tampered_links_are_reported(store: Memories, change: str) -> None:
    put(
        store,
        memory(
            1, "Use uv.", entities=("uv",), triggers=(Trigger("task", "x"),), edges=(Edge("about", "m2"),)
        ),
    )
    with store.writer.transaction():
        store.writer.put_shown("mmmmmm01", [("s", 4)])
    assert find_damage(store.connection) == []
    store.connection.execute(change)
    assert find_damage(store.connection) != []


def test_dropped_memory_leaves_nothing(store: Memories, tmp_path: Path) -> None:
    put(store, *(memory(number, f"Rule {number}.") for number in range(50)))
    put(store, memory(77, "Xylophonists only.", entities=("xylophon",)))
    with store.writer.transaction():
        store.writer.drop("mmmmmm77")
    purge_memories(store.connection)
    assert not any(b"ylophon" in path.read_bytes() for path in tmp_path.iterdir())
    assert find_damage(store.connection) == []


def test_json_round_trips() -> None:
    value = {"a": [1, -2.5, True, None, 'ü\n"\\\u2028'], "b": {}}
    assert load_json(dump_json(value)) == value
    assert dump_json((1, float("inf"))) == "[1,null]"
    for wrong in ("", "[1,]", "NaN", "1 2", "[" * 100_000, '"a\nb"'):
        with pytest.raises(ValueError):
            load_json(wrong)
    with pytest.raises(TypeError):
        dump_json(object())


def test_candidates_are_only_matched_on_request(store: Memories) -> None:
    put(
        store,
        memory(1, "Use uv for packages."),
        memory(2, "Use pip for packages.", status="candidate", context="said of the old images"),
        memory(3, "Use poetry for packages.", status="dismissed"),
        memory(4, "Use conda for packages.", status="archived", was="active"),
    )
    weights = (1.0, 1.0, 1.0)

    def found(scopes: tuple[str, ...], **how: Any) -> set[str]:
        return set(
            ids(store, [row for row, _ in store.match('"packages"', weights, 9, scopes=scopes, **how)])
        )

    for scopes in ((HERE,), ()):
        assert found(scopes, archived=False, ended=True) == {"mmmmmm01"}
        assert found(scopes, archived=True) == {"mmmmmm04"}
        assert found(scopes, status="candidate") == {"mmmmmm02"}
        assert found(scopes, status="dismissed") == {"mmmmmm03"}
    assert store.match('"images"', weights, 9, status="candidate")
    assert store.frequency('"packages"', 9, scopes=[HERE]) == 1
    assert ids(store, store.listed()) == ["mmmmmm01"]
    assert (store.count_candidates(), store.count_candidates(["project:other"])) == (1, 0)
    assert [one.id for one in store.idle(1 << 62)] == ["mmmmmm01"]
    assert [one.id for one in store.idle_candidates(1 << 62)] == ["mmmmmm02"]
    assert find_damage(store.connection) == []


def test_marks_and_context_are_stored(store: Memories) -> None:
    put(store, memory(1, "One.", kind="fact", marks=("correction", "warning"), context="of two"))
    (found,) = store.get(["mmmmmm01"]).values()
    assert (found.marks, found.context) == (("correction", "warning"), "of two")
    assert (found.kind_name, found.leading_kind) == ("fact, correction, warning", "correction")
    assert ids(store, store.listed(scopes=[HERE], kinds=["warning"])) == ["mmmmmm01"]
    assert ids(store, store.listed(scopes=[HERE], kinds=["preference", "fact"])) == ["mmmmmm01"]
    assert store.listed(scopes=[HERE], kinds=["preference"]) == []
