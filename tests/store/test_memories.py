"""What both stores of memories do alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.store.test_fts import HOSTILE
from told.search.index_text import make_index_fields
from told.search.rank import plan_query
from told.search.vectors.table import table_model_id
from told.store.fts import match_all, match_any, match_except, match_in, quote_phrase
from told.store.memories.match import pack_vector_signs, unpack_sign_columns
from told.store.memories.protocol import Memories
from told.store.memories.read import SqliteMemories
from told.store.memories.records import Edge, Evidence, IndexFields, Memory, Trigger
from told.store.memories.schema import find_damage

if TYPE_CHECKING:
    from tests.stores import Kept

HERE, EVERYWHERE = "project:acme", "global"
WEIGHTS = (1.0, 0.5, 0.2)
NOW = 1_750_000_000_000


@pytest.fixture
def store(kept: Kept) -> Memories:
    return kept.empty()


def memory(number: int, text: str, **more: Any) -> Memory:
    plain = Memory(f"mmmmmm{number:02}", "machine", number, text, created=NOW + number * 1000, scope=HERE)
    return plain._replace(**more)


def put(store: Memories, *memories: Memory) -> None:
    with store.writer.transaction():
        for one in memories:
            store.writer.put(one, lambda text, *_: IndexFields("extrawords" if "getUser" in text else ""))


def damage(store: Memories) -> list[str]:
    return find_damage(store.connection) if isinstance(store, SqliteMemories) else []


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
    assert damage(store) == []


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
    assert store.by_trigger("command", ["pip"], [HERE]) == []
    assert len(store.by_trigger("command", ["uv"], [HERE])) == 1
    assert damage(store) == []


def test_triggers_link_active_memories_only(store: Memories) -> None:
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
    assert damage(store) == []


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
    assert damage(store) == []


def test_marks_and_context_are_stored(store: Memories) -> None:
    put(store, memory(1, "One.", kind="fact", marks=("correction", "warning"), context="of two"))
    (found,) = store.get(["mmmmmm01"]).values()
    assert (found.marks, found.context) == (("correction", "warning"), "of two")
    assert (found.kind_name, found.leading_kind) == ("fact, correction, warning", "correction")
    assert ids(store, store.listed(scopes=[HERE], kinds=["warning"])) == ["mmmmmm01"]
    assert ids(store, store.listed(scopes=[HERE], kinds=["preference", "fact"])) == ["mmmmmm01"]
    assert store.listed(scopes=[HERE], kinds=["preference"]) == []


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_can_be_stored_and_asked_for(store: Memories, text: str) -> None:
    if isinstance(store, SqliteMemories):
        text = text.encode("utf-8", "replace").decode()  # what the fold makes of a lone surrogate
    put(store, memory(1, "Use client_id abc for the deploy.", entities=("hi",)))
    told = memory(2, f"{text} zebra", context=text[:50], entities=(text[:50] or "x",))
    put(store, told)
    phrase = quote_phrase(text)
    for expression in (
        phrase, quote_phrase(text, prefix=True), match_any((phrase, phrase)), match_all((phrase, phrase)),
        match_except(phrase, phrase), match_in("text extra", match_any((phrase, phrase))), text,
    ):  # fmt: skip
        if expression is text and isinstance(store, SqliteMemories):
            continue  # nobody asks without the builders, whose syntax is all that SQLite takes
        assert len(found(store, expression, HERE)) <= 2
        assert store.frequency(expression, 5, scopes=[HERE]) <= 2
        assert len(store.latest(expression, 5, scopes=[HERE])) <= 2
    store.with_term(phrase, 5, scopes=[text, HERE])
    store.by_trigger(text, [text], [text])
    assert (store.shown_in(text), store.noted(text), store.get([text])) == ({}, {}, {})
    assert found(store, '"zebra"', HERE) == ["mmmmmm02"]


def test_phrases_prefixes_and_columns_match_alike(store: Memories) -> None:
    put(
        store,
        memory(1, "Deploy from the release branch, never on Fridays."),
        memory(2, "The branch of a release is cut on Monday.", context="deploying"),
        memory(3, "Releases are signed.", entities=("branch",)),
    )
    expected = {
        quote_phrase("release branch"): ["mmmmmm01"],
        quote_phrase("branches"): ["mmmmmm01", "mmmmmm02", "mmmmmm03"],
        quote_phrase("rel", prefix=True): ["mmmmmm01", "mmmmmm02", "mmmmmm03"],
        match_in("text", quote_phrase("branch")): ["mmmmmm01", "mmmmmm02"],
        match_in("words", quote_phrase("branch")): ["mmmmmm03"],
        match_except(quote_phrase("release"), quote_phrase("signed")): ["mmmmmm01", "mmmmmm02"],
        match_all((quote_phrase("deploy"), quote_phrase("monday"))): ["mmmmmm02"],
        match_all((quote_phrase("release"), quote_phrase("..."))): [],
        match_any((quote_phrase("fridays"), quote_phrase("..."))): ["mmmmmm01"],
    }
    for expression, names in expected.items():
        for scopes in ((HERE,), ()):
            assert sorted(found(store, expression, *scopes)) == names, expression
            assert sorted(ids(store, store.latest(expression, 9, scopes=scopes))) == names
            assert store.frequency(expression, 9, scopes=scopes) == len(names)


def test_rare_words_and_short_texts_rank_first(store: Memories) -> None:
    common = [memory(number, f"Services log to the queue, see page {number}.") for number in range(1, 30)]
    rare = memory(40, "The queue is drained by a flamingo.")
    long = memory(41, "The flamingo is one of many words, " + "which all say little about it. " * 12)
    put(store, *common, rare, long)
    ranked = found(store, match_any((quote_phrase("queue"), quote_phrase("flamingo"))), HERE)
    assert ranked[:2] == ["mmmmmm40", "mmmmmm41"]
    scores = [score for _, score in store.match('"flamingo"', WEIGHTS, 9, scopes=[HERE])]
    assert scores == sorted(scores)
    assert all(score < 0 for score in scores)


def test_lists_of_what_the_user_decides(store: Memories) -> None:
    mark = "a1b2c3d4e5f6a7b8c9d0e1f2"
    put(
        store,
        memory(1, "One.", trust="user", worded_by="capture", evidence=(Evidence("codex", "s", 1, "one"),)),
        memory(2, "Two.", trust="user", worded_by="user"),
        memory(3, "Three.", trust="user", status="dismissed", was="user"),
        memory(4, "", status="forgotten", evidence=(Evidence(mark=mark),)),
        memory(5, "Five.", trust="agent", label="edit", kind="observation", scope="private:acme"),
        memory(6, "Six.", trust="user", repeated=2, marks=("correction",), shown=1, shown_last=NOW),
    )
    assert ids(store, store.unreviewed([HERE])) == ["mmmmmm06", "mmmmmm01"]
    assert ids(store, store.rejected()) == ids(store, store.rejected([HERE])) == ["mmmmmm03"]
    assert ids(store, store.forgotten_with([mark])) == ["mmmmmm04"]
    assert store.forgotten_with(["f" * 24]) == store.forgotten_with([mark], ["global"]) == []
    assert store.private_scopes() == ["private:acme"]
    assert store.count_observations([]) == store.count_observations(["private:acme"]) == 1
    assert ids(store, store.listed(observations=False)) == ["mmmmmm06", "mmmmmm02", "mmmmmm01"]
    assert ids(store, store.repeated()) == ["mmmmmm06"]
    assert store.count_since("correction", NOW) == (1, 1)
    assert store.count_from_sessions() == 1
    assert store.ids_with_trust("agent") == ["mmmmmm05"]
    assert sum(one[-2] for one in store.counts_by_trust()) == 6
    assert store.span([HERE], 2) == (2, min(store.load_ids(["mmmmmm02", "mmmmmm06"])))


def test_vectors_follow_their_memory(store: Memories) -> None:
    first = memory(1, "Use pnpm, never npm.")
    second = memory(2, "Tickets live in Linear.")
    with store.writer.transaction():
        for one in (first, second):
            store.writer.put(one, make_index_fields)
    model = table_model_id() or ""
    rows = {one.id: row for row, one in store.load_ids([first.id, second.id]).items()}
    expected = {rows[one.id]: make_index_fields(one.text, 0).embedding.vector for one in (first, second)}
    assert store.vectors.vectors(sorted(expected), model) == expected
    ((numbers, columns),) = store.vectors.signs([HERE], model, 10)
    assert numbers.tolist() == sorted(expected)
    assert unpack_sign_columns(numbers.tobytes(), columns)[rows[first.id]] == pack_vector_signs(
        expected[rows[first.id]]
    )
    assert store.vectors.counts() == {model: 2}
    assert (store.vectors.missing(model), len(store.vectors.missing("another"))) == ([], 2)
    with store.writer.transaction():
        store.writer.put(first._replace(status="superseded"), make_index_fields)
    assert list(store.vectors.vectors(sorted(expected), model)) == [rows[second.id]]
