"""What people of a team see of each other's memories, and the journal that it is derived from."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.stores import add_team
from told.conflict.compare import compare_statement
from told.errors import BusyError, UsageError
from told.journal.postgres_journal import PostgresJournal
from told.memories.caller import Caller
from told.memories.change import LOCK, REJECT, change
from told.memories.forget import forget_statements
from told.memories.history import read_history
from told.memories.journal_writer import JournalWriter
from told.memories.lookup import find_forgotten
from told.memories.remember import NewMemory, remember
from told.recall.prompt import RecallRequest
from told.recall.recall import recall
from told.search.index_text import make_index_fields
from told.search.rank import plan_query
from told.search.vectors.table import table_model_id
from told.store.fts import match_any, quote_phrase
from told.store.memories.records import ACTIVE, FORGOTTEN, SHARED_WITH, Memory
from told.store.postgres.memories.read import PostgresMemories
from told.store.postgres.memories.search import MemorySearch, Vector
from told.store.postgres.memories.vectors import (
    EmbeddingModel,
    register_model,
    write_missing_vectors,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from told.store.postgres.database import Connection, Database, Viewer

SHOP, NOW = "project:github.com/acme/shop", 1_790_000_000_000
SAID = "Never deploy the flamingo service on a Friday."
TABLES = (
    "memory", "memory_own", "word_of", "trigger_of", "meaning_of", "evidence_of",
    "edge", "shown", "noted", "orphan", "memory_vector", "operation", "operation_of", "series",
)  # fmt: skip


class Person:
    """One person with an open transaction."""

    def __init__(self, connection: Connection, viewer: Viewer) -> None:
        self.connection, self.viewer = connection, viewer
        self.journal = PostgresJournal(connection, viewer)
        self.memories = PostgresMemories(connection, viewer)
        self.writer = JournalWriter(self.journal, self.memories, NOW)

    def says(self, text: str, scope: str = SHOP, **more: object) -> str:
        new = NewMemory(text, scope, quote=text, agent="codex", session="s1")
        return remember(self.writer, new._replace(**more)).memory.id  # type: ignore[arg-type]

    def shares(self, memory: str) -> None:
        self.writer.add("edge", memory, kind=SHARED_WITH, target=self.viewer.team)
        self.writer.write()

    def sees(self, memory: str) -> Memory | None:
        return self.memories.get([memory]).get(memory)

    def finds(self, text: str) -> list[str]:
        rows = self.memories.match(match_any(map(quote_phrase, text.split())), (1, 1, 1), 9, scopes=[SHOP])
        return [one.id for one in self.memories.load([row for row, _ in rows]).values()]


class Team:
    """Opens a new transaction for each step, as requests do."""

    def __init__(self, database: Database, *names: str) -> None:
        self.database = database
        self.people = {one.person_name: one for one in add_team(database, *names)}

    def open(self, name: str, stack: ExitStack) -> Person:
        viewer = self.people[name]
        return Person(stack.enter_context(self.database.viewing(viewer)), viewer)

    def says(self, name: str, text: str, scope: str = SHOP, *, share: bool = False, **more: object) -> str:
        with ExitStack() as stack:
            person = self.open(name, stack)
            made = person.says(text, scope, **more)
            if share:
                person.shares(made)
            return made

    def own(self, statement: str) -> list[tuple[object, ...]]:
        with self.database.owning() as connection:
            return connection.execute(statement, (next(iter(self.people.values())).team,)).fetchall()


@pytest.fixture
def team(teams: Database) -> Team:
    return Team(teams, "ann", "bob")


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def test_nobody_sees_what_a_colleague_keeps(team: Team, stack: ExitStack) -> None:
    made = team.says("ann", SAID)
    bob = team.open("bob", stack)
    absent = "mzzzzzzz"
    for name in (made, absent):
        assert bob.sees(name) is None
        assert bob.memories.ids_with_prefix(name) == []
    assert bob.finds("flamingo") == []
    assert (bob.memories.listed(), bob.memories.counts(), bob.memories.of_session("s1")) == ([], [], [])
    assert bob.memories.frequency(quote_phrase("flamingo service"), 9) == bob.memories.memory_count() == 0
    assert list(bob.journal.find_by_memory([made])) == bob.journal.operations() == []
    assert recall(bob.memories, RecallRequest("deploy the flamingo", (SHOP,), NOW)).chosen == ()
    for table in TABLES:  # whatever the query, also one without any condition
        assert bob.connection.execute(f"SELECT * FROM {table}").fetchall() == [], table
    assert bob.connection.execute("SELECT * FROM word_rows('flamingo', 0, 9)").fetchall() == []


def test_shared_memory_reads_as_a_colleagues(team: Team, stack: ExitStack) -> None:
    made = team.says("ann", SAID, locked=True, share=True)
    bob = team.open("bob", stack)
    seen = bob.sees(made)
    assert seen is not None
    trust = f"team:{bob.viewer.team_name}/ann"
    assert (seen.text, seen.trust, seen.locked, seen.confirmed) == (SAID, trust, False, 0)
    assert (seen.evidence, seen.edges) == ((), ())
    assert bob.finds("flamingo") == [made]
    assert bob.memories.locked([SHOP]) == bob.memories.unreviewed() == []
    assert bob.memories.ids_with_trust("team:") == [made]
    assert [one[3] for one in bob.memories.counts_by_trust()] == [trust]
    (chosen,) = recall(bob.memories, RecallRequest("deploy the flamingo service", (SHOP,), NOW)).chosen
    assert chosen.memory == seen
    rows = bob.connection.execute("SELECT id, trust, locked FROM memories").fetchall()
    assert rows == [(made, trust, False)]
    assert bob.connection.execute("SELECT * FROM memory_own").fetchall() == []
    ann = team.open("ann", stack)
    own = ann.sees(made)
    assert own is not None
    assert (own.trust, own.locked, own.evidence[0].quote) == ("user", True, SAID)


def test_taking_back_hides_it_again(team: Team) -> None:
    made = team.says("ann", SAID, share=True)
    for step in ("unshare", "share", "forget"):
        with ExitStack() as stack:
            ann = team.open("ann", stack)
            if step == "forget":
                forget_statements(ann.writer, list(ann.memories.get([made]).values()))
            else:
                removing = {"remove": True} if step == "unshare" else {}
                ann.writer.add("edge", made, kind=SHARED_WITH, target=ann.viewer.team, **removing)
                ann.writer.write()
        with ExitStack() as stack:
            bob = team.open("bob", stack)
            assert (bob.sees(made) is not None) is (step == "share")
            assert bob.finds("flamingo") == ([made] if step == "share" else [])
    for table, column in (("memory", "text || tokens::text"), ("operation", "coalesce(payload, '')")):
        found = team.own(f"SELECT 1 FROM {table} WHERE team = %s AND {column} LIKE '%%flamingo%%'")
        assert found == [], table


@pytest.mark.parametrize(
    ("scope", "visible"),
    [("shared:design", True), ("private", False), ("private:github.com/acme/shop", False)],
)
def test_scope_says_who_sees_it(team: Team, stack: ExitStack, scope: str, visible: bool) -> None:
    made = team.says("ann", SAID, scope, share=True)
    assert (team.open("bob", stack).sees(made) is not None) is visible


def test_only_the_users_word_is_shared(team: Team, stack: ExitStack) -> None:
    with ExitStack() as writing:
        ann = team.open("ann", writing)
        ann.writer.caller = Caller("agent", "codex", "s1")
        made = ann.says(SAID, "shared:design", trust="agent")
    assert team.open("bob", stack).sees(made) is None


def test_colleague_cannot_change_it(team: Team, stack: ExitStack) -> None:
    made = team.says("ann", SAID, share=True)
    bob = team.open("bob", stack)
    seen = bob.sees(made)
    assert seen is not None
    with pytest.raises(UsageError, match="colleague"):
        change(bob.writer, REJECT, seen)
    bob.writer = JournalWriter(bob.journal, bob.memories, NOW)
    copy = change(bob.writer, LOCK, seen).memory
    assert (copy.id != made, copy.locked, copy.trust) == (True, True, "user")
    again = bob.sees(made)
    assert again is not None
    assert again.status == ACTIVE
    for statement in (
        "UPDATE memory SET text = 'x'", "DELETE FROM memory", "DELETE FROM word_of", "DELETE FROM meaning_of",
    ):  # fmt: skip
        with bob.connection.transaction(force_rollback=True):
            bob.connection.execute(statement)
            left = bob.connection.execute("SELECT text FROM memory WHERE id = %s", (made,)).fetchall()
            assert left == [(SAID,)]
            assert bob.connection.execute("SELECT 1 FROM word_of WHERE word = 'flamingo'").fetchall() != []
    series = (bob.viewer.team, bob.journal.machine)
    for person, memory in (("u1", ""), ("u2", made)):  # as somebody else, and on what is somebody else's
        with pytest.raises(psycopg.errors.InsufficientPrivilege), bob.connection.transaction():
            bob.connection.execute(
                "INSERT INTO operation VALUES(%s, %s, 99, 0, 'revise', %s, 'user', %s, '{}', '', '', '')",
                (*series, memory, person),
            )


def test_same_id_of_two_people_stays_apart(team: Team, stack: ExitStack) -> None:
    for name, text in (("ann", "Ann's words."), ("bob", "Bob's words.")):
        with ExitStack() as writing:
            person = team.open(name, writing)
            person.writer.add("remember", "msamesam", text=text, kind="rule", scope=SHOP, trust="user")
            person.writer.write()
            person.shares("msamesam")
    for name, text in (("ann", "Ann's words."), ("bob", "Bob's words.")):
        seen = team.open(name, stack).sees("msamesam")
        assert seen is not None
        assert seen.text == text


def test_teams_share_nothing(team: Team, teams: Database, stack: ExitStack) -> None:
    made = team.says("ann", SAID, share=True)
    other = Team(teams, "ann").open("ann", stack)
    assert other.sees(made) is None
    assert (other.finds("flamingo"), other.memories.listed()) == ([], [])


def test_journal_is_a_chain_that_survives_erasing(team: Team, stack: ExitStack) -> None:
    ann = team.open("ann", stack)
    names = [ann.says(f"The {word} service logs to disk.") for word in ("heron", "puffin", "stork")]
    assert ann.journal.verify() == []
    numbers = [one.number for one in ann.journal.operations()]
    assert numbers == list(range(1, len(numbers) + 1))
    found = ann.sees(names[1])
    assert found is not None
    forget_statements(ann.writer, [found])
    assert ann.journal.verify() == []
    assert (ann.sees(names[1]) or found).status == FORGOTTEN
    assert find_forgotten(ann.memories, found.text, SHOP, ann.journal.key) is not None
    assert "puffin" not in repr(ann.journal.operations())
    assert [step.operation.kind for step in read_history(ann.journal, names[1])] == ["remember", "forget"]
    stack.close()
    team.own("UPDATE operation SET at = at + 1 WHERE team = %s AND number = 1 RETURNING 1")
    assert [one.what for one in team.open("ann", stack).journal.verify()] == ["wrong hash"]


def test_everything_else_is_derived(team: Team) -> None:
    with ExitStack() as stack:
        ann = team.open("ann", stack)
        shared = ann.says(SAID, locked=True)
        ann.shares(shared)
        ann.says("Use `pnpm` in src/web, never npm.", quote="")
        ann.writer.add("show", "", memories=[shared], session="s9", tokens=9)
        ann.writer.write()
    dumps = []
    for _ in range(2):
        dumps.append(
            {name: sorted(team.own(f"SELECT t::text FROM {name} t WHERE team = %s")) for name in TABLES}
        )
        with ExitStack() as stack:
            team.open("ann", stack).journal.rebuild()
    assert dumps[0] == dumps[1]
    assert dumps[0]["shown"] != []


def test_writers_of_one_person_come_one_after_another(team: Team) -> None:
    errors: list[Exception] = []

    def say(number: int) -> None:
        try:
            team.says("ann", f"Service {number} of the {number}th heron listens on port {4000 + number}.")
        except Exception as error:  # noqa: BLE001 - shown below
            errors.append(error)

    threads = [threading.Thread(target=say, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with ExitStack() as stack:
        ann = team.open("ann", stack)
        assert ann.journal.verify() == []
        assert len(ann.memories.listed()) == 6


def test_a_lock_that_is_held_too_long_is_named(
    team: Team, stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("told.store.postgres.operations._WAIT_MS", 50)
    team.says("ann", SAID)
    stack.enter_context(team.open("ann", stack).journal.lock())
    with pytest.raises(BusyError):
        team.says("ann", "Tickets live in Linear.")


def test_nothing_of_a_failed_transaction_remains(team: Team, stack: ExitStack) -> None:
    def fail() -> None:
        with ExitStack() as writing:
            team.open("ann", writing).says(SAID)
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    ann = team.open("ann", stack)
    assert (ann.journal.operations(), ann.memories.ids()) == ([], [])
    assert compare_statement(ann.memories, SAID, SHOP, NOW).repeats == ()


def embed(texts: Sequence[str]) -> list[list[float]]:
    return [[value - 128.0 for value in vector(text)] for text in texts]


def vector(text: str) -> bytes:
    return make_index_fields(text, 0).embedding.vector


def test_hybrid_search_fuses_words_and_meaning(team: Team, stack: ExitStack) -> None:
    model = EmbeddingModel(f"{table_model_id()} 'x' %", 256)
    register_model(team.database, model)
    register_model(team.database, model)
    with pytest.raises(UsageError, match="another name"):
        register_model(team.database, model._replace(dimensions=8))
    said = {text: team.says("ann", text) for text in (
        "Feed the penguins at noon.", "Tickets live in Linear.", "Install packages with pnpm.",
    )}  # fmt: skip
    shared = team.says("bob", "Penguins are fed by two people.", share=True)
    hidden = team.says("bob", "The penguin keeper is called Rico.")
    assert (
        write_missing_vectors(team.database, next(iter(team.people.values())).team, model.model, embed) == 5
    )
    assert (
        write_missing_vectors(team.database, next(iter(team.people.values())).team, model.model, embed) == 0
    )
    ann = team.open("ann", stack)
    search = MemorySearch(ann.connection, ann.viewer)
    terms = [quote_phrase(word) for word in ("feed", "penguins", "zzz")]
    counts = {term: search.frequency(term, 100, scopes=[SHOP]) for term in terms}
    assert list(counts.values()) == [1, 2, 0]
    expression = plan_query(counts, search.memory_count(), 100)
    about = Vector(model.model, embed(["who feeds the sea birds?"])[0])
    for scopes in ((SHOP,), ()):
        found = [name for name, _ in search.search(expression, about, scopes=scopes, limit=3)]
        assert set(found[:2]) == {said["Feed the penguins at noon."], shared}
        assert hidden not in found
        by_words = [name for name, _ in search.search(expression, None, scopes=scopes)]
        assert set(by_words) == {said["Feed the penguins at noon."], shared}
        near = [name for name, _ in search.search("", about, scopes=scopes)]
        assert near[0] in by_words
    assert search.search("", None) == search.search(quote_phrase("'; DROP TABLE"), None, scopes=["x"]) == []
    plan = ann.connection.execute(
        "EXPLAIN SELECT row FROM memory_vector WHERE model = '{}' ORDER BY vector::halfvec(256)"
        " <=> '{}'::halfvec(256) LIMIT 5".format(model.model.replace("'", "''"), about.values)
    ).fetchall()
    assert "memory_vector_" in repr(plan)
    stack.close()
