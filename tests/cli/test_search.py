"""`told search`: whatever people type or paste, it finds what was said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.machine import ago

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.cli.machine import Answer, Machine
    from tests.cli.template import Build

TRACE = """Traceback (most recent call last):
  File "/home/dev/shop/src/checkout.py", line 88, in pay
    charge = gateway.charge(order.total_cents)
stripe.error.CardError: Your card was declined: insufficient_funds
"""


def build_library(machine: Machine) -> None:
    api = machine.repo("code/acme-api", "https://github.com/acme/acme-api.git")
    web = machine.folder("work/web-shop")
    turns: list[tuple[str, str, str, float]] = [
        ("ttl", "How long should the cache TTL be?", "We settled on 300 seconds for the Redis cache.", 1),
        ("token", "Where is the token refreshed?", "In getUserToken, called by refresh_session.", 2),
        ("path", "What does src/auth/login_handler.py do?", "It checks the password hash.", 3),
        ("trace", TRACE, "The test card number is one that Stripe always declines.", 4),
        ("japanese", "日本語のエラーメッセージを直して", "エラーメッセージを修正しました。", 5),
        ("accents", "Ajoute un café à la fixture", "Le café est dans la fixture déjà.", 6),
        ("database", "Move the database to Postgres", "The database runs on Postgres 17 now.", 7),
        ("quotes", "Say exactly: the build must never be flaky", "Never flaky it is.", 8),
        ("october", "Bump the base image", "The image is alpine 3.20 now.", 35),
    ]
    for name, asked, answered, days in turns:
        machine.claude((asked, answered), cwd=api, at=ago(days=days), session=name)
    machine.claude(("Style the login button", "It is green."), cwd=web, at=ago(hours=1), session="button")
    machine.copilot(
        ("Explain the cache headers of the CDN", "Cache-Control is set to one hour."),
        at=ago(hours=5),
        cwd=web,
        session="headers",
    )
    assert machine.told("index").code == 0


@pytest.fixture
def library(prepared: Callable[[Build], Machine]) -> Machine:
    """A machine with things to find, each in a session of its own."""
    return prepared(build_library)


def found(answer: Answer) -> list[str]:
    return [row["native_id"] for row in answer.json["results"]]


@pytest.mark.parametrize(
    ("query", "session"),
    [
        ("what did we decide about the cache TTL?", "ttl"),
        ("how long is the cache TTL", "ttl"),
        ("caching ttl", "ttl"),
        ("getUserToken", "token"),
        ("user token", "token"),
        ("refresh_session", "token"),
        ("refresh session", "token"),
        ("src/auth/login_handler.py", "path"),
        ("login_handler.py", "path"),
        ("login handler", "path"),
        (TRACE, "trace"),
        ("stripe.error.CardError: Your card was declined", "trace"),
        ("insufficient_funds", "trace"),
        ("エラーメッセージ", "japanese"),
        ("日本語", "japanese"),
        ("cafe", "accents"),
        ("café déjà", "accents"),
        ("postgres database", "database"),
        ("databases", "database"),
        ('"never be flaky"', "quotes"),
        ("“never be flaky”", "quotes"),
    ],
)
def test_people_find_it_as_they_type_it(library: Machine, query: str, session: str) -> None:
    answer = library.told("search", query, "--json")
    assert answer.code == 0
    assert found(answer)[0] == session


def test_the_question_needs_no_quotes_around_it(library: Machine) -> None:
    answer = library.told("search", "what", "about", "the", "cache", "TTL?", "--json")
    assert found(answer)[0] == "ttl"
    assert answer.json["query"] == "what about the cache TTL?"


@pytest.mark.parametrize(
    ("typed", "meant", "session"),
    [("postgras", "postgr", "database"), ("alpnie", "alpin", "october"), ("passwrod", "password", "path")],
)
def test_one_wrong_letter_is_forgiven_and_said(
    library: Machine, typed: str, meant: str, session: str
) -> None:
    answer = library.told("search", typed)
    assert f" for '{typed}' ({typed} not found; searched {meant}" in answer.out
    as_json = library.told("search", typed, "--json")
    assert found(as_json)[0] == session
    assert as_json.json["corrected"][typed].startswith(meant)


def test_one_wrong_letter_in_a_word_whose_stem_has_a_stem_is_forgiven(library: Machine) -> None:
    assert found(library.told("search", "databse", "--json")) == ["database"]


def test_words_in_quotes_must_stand_just_so_or_it_is_said_that_they_do_not(library: Machine) -> None:
    assert found(library.told("search", '"login button"', "--json")) == ["button"]
    loose = library.told("search", '"button login"')
    assert loose.code == 0
    assert "(not as quoted)" in loose.out


@pytest.mark.parametrize(
    ("query", "sessions"),
    [
        ("what did we do yesterday", {"ttl"}),
        ("in October", {"october"}),
        ("image in October", {"october"}),
        ("what happened on 2026-11-11", {"trace"}),
    ],
)
def test_a_time_in_the_question_is_understood(library: Machine, query: str, sessions: set[str]) -> None:
    answer = library.told("search", query, "--json")
    assert sessions <= set(found(answer))
    assert found(answer)[0] in sessions


def test_last_week_means_the_sessions_of_last_week(library: Machine) -> None:
    # The clock stands at Sunday, 15 November: last week is that of the 2nd to the 8th.
    assert {"database", "quotes"} <= set(found(library.told("search", "last week", "--json")))
    assert "october" not in found(library.told("search", "last week", "--json", "-n", "20"))


def test_the_current_project_is_looked_into_first(library: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(library.home / "work" / "web-shop")
    answer = library.told("search", "cache")
    assert answer.out.startswith("1 session in web-shop for 'cache'\n")
    assert found(library.told("search", "cache", "--json")) == ["headers"]
    assert set(found(library.told("search", "cache", "--all-projects", "--json"))) == {"headers", "ttl"}


def test_what_the_current_project_lacks_is_found_elsewhere_and_that_is_said(
    library: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(library.home / "work" / "web-shop")
    answer = library.told("search", "postgres")
    assert answer.out.startswith("1 session in all projects for 'postgres' (too little in this project)\n")
    assert library.told("search", "postgres", "--json").json["widened"] is True


@pytest.mark.parametrize("name", ["acme/acme-api", "acme-api", "ACME/acme-api", "~/code/acme-api", "{path}"])
def test_a_project_can_be_named_in_many_ways(library: Machine, name: str) -> None:
    named = name.format(path=library.home / "code" / "acme-api")
    answer = library.told("search", "cache", "--project", named, "--json")
    assert answer.json["project"] == "acme/acme-api"
    assert found(answer) == ["ttl"]


def test_a_named_project_is_not_left(library: Machine) -> None:
    answer = library.told("search", "postgres", "--project", "web-shop")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("told: Nothing found for 'postgres' in web-shop. Try --all-projects.")


def test_only_one_agent(library: Machine) -> None:
    assert found(library.told("search", "cache", "--agent", "copilot", "--json")) == ["headers"]
    assert found(library.told("search", "cache", "--agent", "claude", "--json")) == ["ttl"]


def test_only_one_time(library: Machine) -> None:
    assert set(found(library.told("search", "cache", "--days", "2", "--json"))) == {"headers", "ttl"}
    assert found(library.told("search", "cache", "--days", "1", "--json")) == ["headers"]
    assert found(library.told("search", "image", "--days", "10", "--json")) == []
    assert found(library.told("search", "cache", "--since", "today", "--json")) == ["headers"]


def test_the_words_are_marked_where_they_stand(library: Machine) -> None:
    out = library.told("search", "redis cache").out
    assert "*Redis* *cache*" in out


def test_a_long_answer_is_shown_where_the_words_are(machine: Machine) -> None:
    filler = " ".join(f"Sentence {n} is about something else." for n in range(300))
    machine.claude(("Report", f"{filler} The quota of the staging bucket is 40 GB. {filler}"))
    out = machine.told("search", "quota of the staging bucket").out
    assert "*quota* of the *staging* *bucket* is 40 GB" in out
    assert len(out) < 600


def test_several_fitting_turns_of_a_session_take_one_place(machine: Machine) -> None:
    machine.claude(*((f"Question {n} about webhooks", "The webhook is signed.") for n in range(6)))
    machine.claude(("Webhooks again", "Retried."), at=ago(days=3))
    answer = machine.told("search", "webhooks", "--json")
    assert len(answer.json["results"]) == 2
    assert "(+2)" in machine.told("search", "webhooks").out


def test_json_says_what_was_found_where_and_who_said_it(library: Machine) -> None:
    answer = library.told("search", "redis", "--json").json
    assert (answer["project"], answer["count"], answer["query"]) == (None, 1, "redis")
    (result,) = answer["results"]
    (hit,) = result["hits"]
    assert hit["id"] == f"{result['id']}.0"
    assert (hit["who"], hit["trust"]) == ("claude", "agent")
    assert hit["excerpt"].startswith("<agent ")
    assert "*Redis*" in hit["excerpt"]
    own = library.told("search", "postgres", "move", "--json").json["results"][0]["hits"][0]
    assert (own["who"], own["trust"], own["excerpt"]) == ("you", "user", "*Move* the database to *Postgres*")


def test_titles_and_checkpoints_are_searched_too(machine: Machine) -> None:
    machine.claude(("Go on", "Done."), title="Zeppelin renderer", session="titled")
    machine.copilot(
        ("Work", "Worked."),
        session="noted",
        at=ago(days=1),
        note={"title": "Stop", "next_steps": "Rotate the grafana password."},
    )
    machine.told("index")
    assert found(machine.told("search", "zeppelin", "--json")) == ["titled"]
    result = machine.told("search", "grafana", "--json").json["results"][0]
    assert result["native_id"] == "noted"
    assert "grafana" in machine.told("show", result["hits"][0]["id"]).out


def test_nothing_found_says_what_to_try(library: Machine) -> None:
    answer = library.told("search", "xylophone quasar")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "told: Nothing found for 'xylophone quasar'. Try fewer or other words.\n"
    as_json = library.told("search", "xylophone quasar", "--json")
    assert (as_json.code, as_json.json["results"]) == (1, [])


@pytest.mark.parametrize(
    "query",
    [
        "'",
        '"',
        "*",
        "()",
        "a OR",
        "NEAR(a b)",
        "col:x",
        "^x",
        "-x",
        "x AND NOT",
        "{",
        "\\",
        "%",
        ";--",
        "\x00",
    ],
)
def test_nothing_that_is_typed_is_an_error(library: Machine, query: str) -> None:
    answer = library.told("search", "--", query)
    assert answer.code in (0, 1)
    assert answer.err == "" or answer.err.startswith("told: Nothing found for ")


def test_the_same_question_gets_the_same_bytes(library: Machine) -> None:
    assert library.told("search", "cache").out == library.told("search", "cache").out
    assert library.told("search", "cache", "--json").out == library.told("search", "cache", "--json").out
