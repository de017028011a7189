"""Search over sessions."""

from __future__ import annotations

from tests.search.fake_store import DAY, NOON, FakeStore
from told.search.sessions import SearchResult, search_sessions


def store() -> FakeStore:
    filled = FakeStore()
    filled.put(
        1,
        "Let us add a redis cache",
        "The redis cache times out under load",
        project="p1",
        at=NOON - 20 * DAY,
    )
    filled.put(2, "Rename the button", "Make the button blue", project="p1", at=NOON - DAY)
    filled.put(3, "Kafka consumer lag is growing", project="p2", at=NOON - 2 * DAY, agent="codex")
    filled.put(4, "Fix getUserToken in src/auth/token.py", project="p2", at=NOON - 3 * DAY)
    filled.put(5, "東京のサーバーが落ちた", project="p3", at=NOON - 4 * DAY)
    return filled


def ask(question: str, project: str | None = None, agent: str = "", since: int = 0) -> SearchResult:
    return search_sessions(store(), question, now=NOON, project=project, agent=agent, since=since)


def sessions(found: SearchResult) -> list[int]:
    return [group.session for group in found.sessions]


def test_search_finds_session_with_turns() -> None:
    found = ask("why does the Redis cache time out?", "p1")
    assert sessions(found) == [1]
    assert {turn.n for turn in found.sessions[0].turns} == {0, 1}
    assert not found.widened


def test_search_widens_to_all_projects() -> None:
    found = ask("kafka consumer lag", "p1")
    assert sessions(found) == [3]
    assert found.widened


def test_search_widens_if_project_knows_too_few_words() -> None:
    found = ask("button for the kafka consumer lag", "p1")
    assert sessions(found)[0] == 3
    assert found.widened


def test_search_prefers_this_project() -> None:
    filled = store()
    filled.put(6, "redis cache redis cache redis cache", project="p2")
    assert sessions(search_sessions(filled, "redis cache", now=NOON, project="p1")) == [1]
    assert sorted(sessions(search_sessions(filled, "redis cache", now=NOON))) == [1, 6]


def test_search_finds_identifier_and_path_parts() -> None:
    assert sessions(ask("user token")) == [4]
    assert sessions(ask("auth/token.py")) == [4]
    assert sessions(ask("getUserToken")) == [4]


def test_search_finds_unspaced_text() -> None:
    assert sessions(ask("サーバー")) == [5]
    assert sessions(ask("京")) == [5]
    assert sessions(ask('"東京のサーバー"')) == [5]


def test_search_corrects_typo() -> None:
    found = ask("kafak consumer")
    assert sessions(found) == [3]
    assert found.corrected == (("kafak", "kafka"),)
    assert "kafka" in found.query.words


def test_search_requires_quoted_phrase() -> None:
    assert sessions(ask('"button blue" redis cache')) == [2]
    assert not ask('"button blue" redis cache').loosened
    assert sessions(ask('"redis cache" button')) == [1]


def test_search_loosens_unmatched_quotes() -> None:
    found = ask('"cache redis" load', "p1")
    assert sessions(found) == [1]
    assert found.loosened
    assert not found.widened


def test_search_finds_turns_of_a_bare_time() -> None:
    assert sessions(ask("what did we do yesterday?")) == [2]
    assert sessions(ask("in October")) == [1]


def test_search_prefers_turns_of_named_time() -> None:
    filled = FakeStore()
    filled.put(1, "tune the redis pool", at=NOON - 40 * DAY)
    filled.put(2, "tune the redis pool please", at=NOON - 7 * DAY)
    filled.put(3, "tune the redis pool", at=NOON)
    assert sessions(search_sessions(filled, "redis pool last week", now=NOON))[0] == 2


def test_search_filters_by_agent_and_time() -> None:
    assert sessions(ask("redis kafka", agent="codex")) == [3]
    assert sessions(ask("redis kafka", since=NOON - 5 * DAY)) == [3]
    assert sessions(ask("redis", "p1", agent="codex")) == []


def test_search_may_find_nothing() -> None:
    for question in ("", "   ", "???", "zzzzqqqq", "without"):
        assert sessions(ask(question, "p1")) == []


def test_search_ranks_newest_turns_of_common_word() -> None:
    filled = FakeStore()
    with filled.db:
        for session in range(2300):
            filled.put(session, "deploy", at=NOON - (2300 - session) * DAY // 24)
    found = search_sessions(filled, "deploy", now=NOON)
    assert sessions(found) == [2299, 2298, 2297, 2296, 2295]
    # A named time reaches behind them.
    past = search_sessions(filled, "deploy 90 days ago", now=NOON)
    window = past.query.window
    assert window is not None
    assert all(window[0] <= group.turns[0].at < window[1] for group in past.sessions)
    assert len(past.sessions) == 5


def test_search_is_deterministic() -> None:
    assert ask("redis kafka button token") == ask("redis kafka button token")


def test_search_weighs_long_answers_less() -> None:
    filled = FakeStore()
    filled.put(1, "what to wear", answered="a scarf of wool. " + "And something else again. " * 60)
    filled.put(2, "wash the scarf " + "and so on and so forth " * 20, answered="done. " + "More of it. " * 60)
    assert sessions(search_sessions(filled, "scarf", now=NOON)) == [2, 1]


def test_search_finds_speaker_by_name() -> None:
    filled = FakeStore()
    filled.put(1, "Ann: I painted the boat in May", "Ben: I painted the fence in May")
    for name, n in (("Ann", 0), ("Ben", 1)):
        assert search_sessions(filled, f"What did {name} say was painted?", now=NOON).turns[0].n == n


def test_search_ranks_answer_before_question() -> None:
    for mark, best in (("?", 1), (".", 0)):
        filled = FakeStore()
        filled.put(1, f"What is the colour of your boat now{mark}", "A dark green, freshly done.")
        filled.put(2, "We had the old boat out on the lake", "It was cold there.")
        for session in range(3, 9):
            filled.put(session, "Make the button blue", "Rename it")
        first = search_sessions(filled, "colour of the boat", now=NOON).turns[0]
        assert (first.session, first.n) == (1, best)
