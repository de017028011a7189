"""Reading, searching and deleting sessions: the same on SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.store.session_stores import DAY, MINUTE, NOON, PostgresSessions, SqliteSessions, Told, add_people
from told.checkpoints.from_session import build_from_session
from told.model import CLOSED, OPEN, Checkpoint
from told.search.query import parse_query
from told.search.rank import COLUMN_WEIGHTS
from told.search.sessions import search_sessions
from told.store.fts import match_in, quote_phrase
from told.store.postgres.database import Database
from told.store.sessions.read import Filter, TimelinePosition
from told.store.sessions.schema import project_token

Sessions = SqliteSessions | PostgresSessions
SHOP, BLOG = "github.com/ann/shop", "github.com/ann/blog"
NOTE = Checkpoint(
    "discount", 1, "Cart discounts", "Rounding is half done", NOON + 9 * MINUTE, "rounded the totals",
    next_steps="try the vouchers", status=OPEN,
)  # fmt: skip
HISTORY = (
    Told(
        "discount", (
            ("How do we round the cart discount?", "Half up, in cents: see roundDiscount().",
             "edited cart.py"),
            ("And for vouchers?", "Vouchers are rounded after the discount."),
            ("ok, thanks", ""),
        ), title="Rounding of discounts", branch="main", cwd="/code/shop/api", part="api",
        touches=(("src/cart.py", "edit", NOON), ("README.md", "read", NOON + 1)),
        refs=(("commit", "abc1234", NOON), ("pr", "17", NOON + 5)), checkpoints=(NOTE,),
    ),
    Told(
        "deploy", (
            ("Deploy to staging with the blue pipeline", "Deployed; the health check answers 200."),
            ("why did the health check fail at first?", "The port was 8081, not 8080."),
            ("What is the rollback command?", "run `make rollback ENV=staging`"),
        ), at=NOON + DAY, agent="claude-code", touches=(("src/cart.py", "read", NOON + DAY),),
    ),
    Told("blog", (("写一篇关于数据库的文章", "好的，这是数据库文章。"), ("naïve Straße", "café")),
         at=NOON + 2 * DAY, project=BLOG),
    Told("helper", (("Look for discount code", "found in cart.py"),), at=NOON + MINUTE, kind="subagent"),
    Told("loose", (("what does O'Neil mean by \"blue/green\"?", "two environments: & | ! <-> \\ %s"),),
         at=NOON - 40 * DAY, project="", agent="claude-code"),
    Told("noise", tuple((f"unrelated question {n} about colours", f"answer {n}") for n in range(30)),
         at=NOON - 9 * DAY, project=BLOG),
)  # fmt: skip
QUESTIONS = {
    "round discount": "discount",
    "rounding of vouchers": "discount",
    "roundDiscount": "discount",
    "health check": "deploy",
    '"health check"': "deploy",
    "rollback command for staging": "deploy",
    "which port did we use": "deploy",
    "数据库": "blog",
    "strasse straße": "blog",
    "cafe": "blog",
    "blue/green": "loose",
    "O'Neil": "loose",
    "vouchrs": "discount",
    "pipelne": "deploy",
    "what happened on 5 november 2025": "discount",
    "zebra giraffe": "",
    '"never said so"': "",
    "& | ! <-> ( ) : * ' \" \\ {": "",
    "": "",
}


BOTH = "sqlite", "postgres"


@pytest.fixture(params=BOTH)
def fresh(request: pytest.FixtureRequest) -> Sessions:
    """Return an empty store."""
    return make_store(request, "postgres")


@pytest.fixture
def fresh_ids(fresh: Sessions) -> dict[str, int]:
    """Store the history; return the numbers of its sessions."""
    return fill(fresh)


@pytest.fixture(scope="module", params=BOTH)
def store(request: pytest.FixtureRequest) -> Sessions:
    """Return a store for tests that only read it."""
    return make_store(request, "module_postgres")


@pytest.fixture(scope="module")
def ids(store: Sessions) -> dict[str, int]:
    """Store the history for tests that only read it."""
    return fill(store)


def make_store(request: pytest.FixtureRequest, postgres: str) -> Sessions:
    return SqliteSessions() if request.param == "sqlite" else make_postgres(request, postgres)


def make_postgres(request: pytest.FixtureRequest, name: str = "postgres") -> PostgresSessions:
    database: Database = request.getfixturevalue(name)
    add_people(database)
    return PostgresSessions(database)


def fill(store: Sessions) -> dict[str, int]:
    return {told.native: store.put(told) for told in HISTORY}


def natives(store: Sessions, rows: Sequence[int]) -> list[str]:
    with store.reading() as (reader, _, _):
        return [reader.session(row).native for row in rows]


def test_sessions_are_listed_by_filter(store: Sessions, ids: dict[str, int]) -> None:
    shop = store.project(SHOP)
    cases = {
        Filter(): ["blog", "deploy", "discount", "helper", "noise", "loose"],
        Filter(helpers=False): ["blog", "deploy", "discount", "noise", "loose"],
        Filter(project=shop): ["deploy", "discount", "helper"],
        Filter(agent="claude-code"): ["deploy", "loose"],
        Filter(since=NOON + DAY): ["blog", "deploy"],
        Filter(until=NOON): ["noise", "loose"],
        Filter(project=shop, agent="codex", helpers=False): ["discount"],
        Filter(agent="nobody\0"): [],
    }
    with store.reading() as (reader, _, _):
        for wanted, expected in cases.items():
            assert [row.native for row in reader.sessions(wanted, 100)] == expected
            assert reader.count(wanted) == len(expected)
        assert [row.native for row in reader.sessions(Filter(), 2)] == ["blog", "deploy"]


def test_a_session_has_what_was_stored(store: Sessions, ids: dict[str, int]) -> None:
    with store.reading() as (reader, _, _):
        row = reader.session(ids["discount"])
        assert row._replace(id=0, public="", title_by="", ended=0) == (
            0, "", "codex", "discount", "shop", "api", "main", 3, "How do we round the cart discount?",
            "Rounding of discounts", "", NOON, 0, "", "", "/code/shop/api", 0, "",
        )  # fmt: skip
        assert row.ended == NOON + 2 * MINUTE
        assert [one.native for one in reader.sessions_like(row.public, 5)] == ["discount"]
        assert [one.native for one in reader.sessions_like(row.public[:4], 5)] == ["discount"]
        assert [one.native for one in reader.sessions_like("d", 5)] == ["deploy", "discount"]
        assert reader.sessions_like("nothing", 5) == []
        assert reader.sessions_like("\0'%", 5) == []


def test_turns_are_read_in_order(store: Sessions, ids: dict[str, int]) -> None:
    session = ids["discount"]
    with store.reading() as (reader, _, _):
        turns = reader.turns(session)
        assert [turn.n for turn in turns] == [0, 1, 2]
        assert turns[0].steps == "edited cart.py"
        assert turns[1][1:5] == (
            1,
            NOON + MINUTE,
            "And for vouchers?",
            "Vouchers are rounded after the discount.",
        )
        assert [turn.n for turn in reader.turns(session, 2)] == [0, 1]
        assert [turn.n for turn in reader.turns(session, 2, newest=True)] == [1, 2]
        assert reader.turn(session, 1) == turns[1]
        assert reader.turn(session, 7) is None


def test_turns_can_be_added_and_sent_again(fresh: Sessions, fresh_ids: dict[str, int]) -> None:
    more = Told("discount", (("one more thing: marmalade", "sure"),), first=3, title="Rounding of discounts")
    for _ in range(2):
        assert fresh.put(more) == fresh_ids["discount"]
    with fresh.reading() as (reader, _, index):
        assert [turn.n for turn in reader.turns(fresh_ids["discount"])] == [0, 1, 2, 3]
        assert reader.session(fresh_ids["discount"]).turns == 4
        assert index.frequency(match_in("asked", quote_phrase("marmalade")), 9) == 1
        assert index.frequency(quote_phrase("marmalade"), 9) == 2  # beside the turn before, too


def test_a_timeline_is_read_around_a_position(store: Sessions, ids: dict[str, int]) -> None:
    with store.reading() as (reader, timeline, _):
        if timeline is None:
            return  # the server shows none
        latest = reader.timeline(Filter(helpers=False), 4)
        assert [(turn.session_id, turn.n) for turn in latest] == [
            (ids["blog"], 1), (ids["blog"], 0), (ids["deploy"], 2), (ids["deploy"], 1),
        ]  # fmt: skip
        assert reader.count_prompts(Filter()) == len(reader.timeline(Filter(), -1)) == 40
        here = TimelinePosition(NOON + DAY, reader.session(ids["deploy"]).public, 0)
        shop = Filter(project=store.project(SHOP))
        places = [(turn.session_id, turn.n) for turn in timeline.before(here, shop, 2)]
        assert places == [(ids["discount"], 1), (ids["discount"], 2)]
        places = [(turn.session_id, turn.n) for turn in timeline.after(here, Filter(), 3)]
        assert places == [(ids["deploy"], 1), (ids["deploy"], 2), (ids["blog"], 0)]
        assert timeline.before(TimelinePosition(0), Filter(), 5) == []
        project = timeline.project_of(ids["deploy"])
        assert project is not None
        assert project[1:3] == (SHOP, "shop")
        assert timeline.project_of(ids["loose"]) is None


def test_touched_files_and_refs_are_listed(store: Sessions, ids: dict[str, int]) -> None:
    with store.reading() as (reader, _, _):
        found = [(one.path, one.how, one.at) for one in reader.touches(Filter(), 10)]
        assert found == [("src/cart.py", "read", NOON + DAY), ("README.md", "read", NOON + 1)]
        assert reader.touches(Filter(agent="codex"), 10)[-1].root == "/code/shop"
        assert reader.count_touched(Filter()) == 2
        files = reader.files_of(ids["discount"])
        assert files == [("src/cart.py", "edit", NOON), ("README.md", "read", NOON + 1)]
        refs = reader.refs_of(ids["discount"])
        assert refs == [("commit", "abc1234", NOON), ("pr", "17", NOON + 5)]


def test_checkpoints_are_listed(fresh: Sessions, fresh_ids: dict[str, int]) -> None:
    later = Checkpoint("deploy", 2, "Deployed", "All done", NOON + 2 * DAY, status=CLOSED)
    fresh.put(Told("deploy", (), agent="claude-code", checkpoints=(later,)))
    shop = Filter(project=fresh.project(SHOP))
    with fresh.reading() as (reader, _, _):
        assert [one.title for one in reader.checkpoints(shop, 9)] == ["Deployed", "Cart discounts"]
        assert [one.title for one in reader.checkpoints(shop, 1, status=OPEN)] == ["Cart discounts"]
        assert reader.count_checkpoints(shop) == 2
        only = reader.checkpoints(Filter(), 9, session_id=fresh_ids["discount"])
        assert [(one.next_steps, one.project, one.agent) for one in only] == [
            ("try the vouchers", "shop", "codex")
        ]
        assert reader.checkpoints_like(only[0].public[:5], 2) == only


def test_projects_are_counted(store: Sessions, ids: dict[str, int]) -> None:
    with store.reading() as (reader, _, _):
        found = {row.key: row for row in reader.projects(Filter())}
    assert list(found) == [BLOG, SHOP, ""]
    assert found[BLOG][2:6] == (2, 0, 32, NOON + 2 * DAY + MINUTE)
    assert found[SHOP][2:5] == (2, 1, 6)
    assert sorted(found[SHOP].agents.split(",")) == ["claude-code", "codex"]


def test_search_finds_the_session(store: Sessions, ids: dict[str, int]) -> None:
    best = {}
    for question in QUESTIONS:
        with store.reading() as (_, _, index):
            found = search_sessions(index, question, now=NOON + 3 * DAY)
        best[question] = "".join(natives(store, [group.session for group in found.sessions[:1]]))
    assert best == QUESTIONS


def test_search_keeps_to_a_project_an_agent_and_a_time(store: Sessions, ids: dict[str, int]) -> None:
    now = NOON + 3 * DAY
    shop, blog = (project_token(store.project(key)) for key in (SHOP, BLOG))
    with store.reading() as (_, _, index):
        found = search_sessions(index, "discount", now=now, project=shop)
        assert {group.session for group in found.sessions} == {ids["discount"], ids["helper"]}
        assert not search_sessions(index, "discount", now=now, project=blog, only=True).sessions
        wider = search_sessions(index, "discount", now=now, project=blog)
        assert wider.widened
        assert wider.sessions
        assert not search_sessions(index, "discount", now=now, agent="claude-code").sessions
        assert not search_sessions(index, "discount", now=now, since=NOON + DAY).sessions


def test_typos_are_corrected(store: Sessions, ids: dict[str, int]) -> None:
    with store.reading() as (_, _, index):
        assert index.similar_terms("vouchrs")[0] == "vouchers"
        assert index.similar_terms("zzzzzz") == []
        assert index.similar_terms("ab") == []


def test_a_checkpoint_is_built_from_a_session(store: Sessions, ids: dict[str, int]) -> None:
    with store.reading() as (reader, _, _):
        built = build_from_session(reader, None, reader.session(ids["discount"]), NOON)
    assert built is not None
    assert built.files == ("src/cart.py (edit)",)
    assert built.branch == "main"
    assert "abc1234" in " ".join(built.references)


def test_prompts_are_found_by_phrases(store: Sessions, ids: dict[str, int]) -> None:
    with store.reading() as (_, _, index):
        found = index.find_prompts(["health check", "rollback"], ["数据"])
        assert [row[:2] + row[3:4] for row in found] == [
            ("deploy", 1, SHOP), ("deploy", 2, SHOP), ("blog", 0, BLOG),
        ]  # fmt: skip
        assert index.session_projects()["deploy"] == SHOP
        assert index.find_prompts(["discount code"], ["数据库和"]) == []  # a helper's


def test_both_stores_score_alike(request: pytest.FixtureRequest) -> None:
    stores: list[Sessions] = [SqliteSessions(), make_postgres(request)]
    ids = [fill(store) for store in stores]
    names = [{number: native for native, number in one.items()} for one in ids]
    compared = 0
    for question in QUESTIONS:
        hits = []
        results = []
        for store, own in zip(stores, names, strict=True):
            with store.reading() as (_, _, index):
                found = search_sessions(index, question, now=NOON + 3 * DAY, limit=9)
                results.append([
                    (own[group.session], round(group.score, 9), [turn.n for turn in group.turns])
                    for group in found.sessions
                ])  # fmt: skip
                hits.append([
                    (own[hit[1]], *hit[2:4], round(hit[4], 9))
                    for term in parse_query(question, NOON).terms
                    for hit in index.match(term, COLUMN_WEIGHTS, 99)
                ])  # fmt: skip
                assert index.turn_count() == 42
        assert sorted(hits[0]) == sorted(hits[1]), question
        assert results[0] == results[1], question
        compared += len(hits[0])
    assert compared > 20


def test_deleted_sessions_leave_nothing(fresh: Sessions, fresh_ids: dict[str, int]) -> None:
    words = ("rounddiscount", "voucher", "vouchers", "abc1234", "readme.md", "rounding", "rounded the totals")
    before = fresh.dump().lower()
    assert [word for word in words if word not in before] == []
    with fresh.reading() as (_, _, index):
        others = index.frequency(quote_phrase("discount"), 99) - index.frequency(quote_phrase("helper"), 99)
    assert others > 1
    fresh.delete_session(fresh_ids["discount"])
    fresh.purge()
    after = fresh.dump().lower()
    assert [word for word in words if word in after] == []
    with fresh.reading() as (reader, _, index):
        assert reader.count(Filter()) == 5
        assert reader.checkpoints(Filter(), 9) == []
        assert index.frequency(quote_phrase("voucher"), 99) == 0
        assert index.turn_count() == 37


def test_deleted_checkpoints_leave_nothing(fresh: Sessions, fresh_ids: dict[str, int]) -> None:
    with fresh.reading() as (reader, _, _):
        public = reader.checkpoints(Filter(), 9)[0].public
    fresh.delete_checkpoint(public)
    fresh.purge()
    after = fresh.dump().lower()
    assert "half done" not in after
    assert "totals" not in after
    with fresh.reading() as (reader, _, index):
        assert reader.checkpoints(Filter(), 9) == []
        assert index.turn_count() == 41
        assert reader.count(Filter()) == 6
