"""What other memories for agents get wrong: each fault was seen in one of them, and none is in told."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.machine import NOW, ago
from tests.cli.test_learning import desk, memories, texts
from tests.cli.test_learning import say as told_in
from tests.soak import points
from told.journal.apply import open_memories
from told.journal.file_journal import FileJournal
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, add_memory

if TYPE_CHECKING:
    from datetime import datetime

    from tests.cli.machine import Machine

__all__ = ["desk"]

UNRELATED = [
    "Never commit .env files.",
    "Never use tabs for indentation.",
    "Always run the linter before you commit.",
    "Never log the email addresses of users.",
    "Never push the staging branch directly without tests.",
    "Never push directly to the main branch.",
]
SESSION = "0f0f0f0f-0000-4000-8000-0000000000aa"


def say(desk: Machine, *prompts: str, at: datetime | None = None, session: str = "") -> str:
    """Say something in a session, and have all of it heard, however slow the machine is."""
    session = told_in(desk, *prompts, at=at, session=session)
    assert desk.told("index").code == 0
    return session


def brief(desk: Machine, prompt: str, *words: str) -> str:
    return desk.told("brief", "--prompt", prompt, *words).out


def memory(desk: Machine, words: str) -> dict[str, Any]:
    (found,) = memories(desk, words)
    return found


# -- What is kept, and what ends it -----------------------------------------------------------------


@pytest.mark.parametrize("order", [1, -1])
def test_rules_that_have_nothing_to_do_with_each_other_all_stay(desk: Machine, order: int) -> None:
    for number, rule in enumerate(UNRELATED[::order]):
        say(desk, rule, at=ago(days=20 - number))
    assert sorted(texts(desk)) == sorted(UNRELATED)


@pytest.mark.parametrize(
    "sentence",
    [
        "Never push the staging branch directly without tests.",
        "Push it to main now.",
        "From now on push directly to the main branch.",
    ],
)
def test_a_locked_rule_is_ended_by_no_sentence_of_a_session(desk: Machine, sentence: str) -> None:
    desk.told("lock", "Never push directly to the main branch.")
    say(desk, sentence, at=ago(minutes=-1))
    rule = memory(desk, "directly main")
    assert (rule["text"], rule["locked"]) == ("Never push directly to the main branch.", True)


def test_one_can_change_ones_mind_and_change_it_back(desk: Machine) -> None:
    npm, pnpm = "Always use npm to install packages.", "From now on use pnpm to install packages, not npm."
    again = "From now on use npm to install packages again, not pnpm."
    for number, said in enumerate((npm, pnpm, again, pnpm, again)):
        say(desk, said, at=ago(days=20 - number))
    assert texts(desk) == [again]
    assert "use npm" in brief(desk, "install the packages")


@pytest.mark.parametrize("how", [("forget", "--force"), ("reject",)])
def test_what_was_given_up_can_be_said_again(desk: Machine, how: tuple[str, ...]) -> None:
    made = desk.told("remember", "--json", "Use npm to install packages").json["id"]
    assert desk.told(how[0], made, *how[1:]).code == 0
    assert desk.told("remember", "Use npm to install packages").code == 0
    assert texts(desk) == ["Use npm to install packages"]


def test_a_rule_that_is_said_again_counts(desk: Machine) -> None:
    for days in (9, 6, 3):
        say(desk, UNRELATED[0], at=ago(days=days))
    assert memory(desk, "env")["repeated"] == 2
    before = memory(desk, "env")["confidence"]
    desk.told("remember", UNRELATED[0])
    assert memory(desk, "env")["confidence"] > before
    assert len(texts(desk)) == 1


@pytest.mark.parametrize(
    "said",
    [
        "Hello! How are you", "I know the piano is nice", "Thanks, that works great!",
        "What is the plan for tomorrow?", "run the tests",
    ],
)  # fmt: skip
def test_small_talk_questions_and_tasks_are_no_corrections(desk: Machine, said: str) -> None:
    say(desk, "add a footer to the page", said)
    assert memories(desk) == []


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("No, it is src/core, not src/lib.", "src/core"),
        ("We use the staging database, not the local one.", "staging database"),
        ("Benutze immer pnpm statt npm.", "pnpm statt npm"),
        ("Utilise toujours pnpm, jamais npm.", "jamais npm"),
        ("Usa siempre pnpm, nunca npm.", "nunca npm"),
        ("Use sempre pnpm, nunca npm.", "nunca npm"),
        ("以后都用 pnpm，不要用 npm。", "不要用 npm"),
    ],
)
def test_corrections_are_kept_in_the_words_people_use(desk: Machine, said: str, kept: str) -> None:
    say(desk, "where is the parser?", said)
    (text,) = texts(desk)
    assert kept in text


# -- What is brought back ---------------------------------------------------------------------------


@pytest.fixture
def known(desk: Machine) -> Machine:
    """A project with some rules."""
    for number, rule in enumerate(UNRELATED):
        say(desk, rule, at=ago(days=20 - number))
    assert len(texts(desk)) == len(UNRELATED)
    return desk


def test_the_same_prompt_gets_the_same_lines_also_on_a_copy(known: Machine) -> None:
    expected = brief(known, "push my commit to the main branch")
    assert "Never push directly to the main branch." in expected
    kept = known.told_home.with_name("kept")
    shutil.copytree(known.told_home, kept)
    for _ in range(10):
        assert brief(known, "push my commit to the main branch") == expected
        shutil.rmtree(known.told_home)
        shutil.copytree(kept, known.told_home)


def test_what_was_not_shown_is_not_punished_and_what_was_asked_for_is_not_either(known: Machine) -> None:
    before = {row["id"]: row["confidence"] for row in memories(known)}
    for number in range(20):
        known.told("brief", "--prompt", "push my commit to the main branch", "--session", f"s{number}")
        known.told("search", "linter")
        known.told("explain", "push my commit to the main branch")
    after = memories(known)
    assert {row["id"]: row["confidence"] for row in after} == before
    shown = {row["text"] for row in after if row["times_shown"]}
    assert "Never push directly to the main branch." in shown
    assert "Never use tabs for indentation." not in shown


def test_words_in_common_with_the_next_prompt_are_no_success(known: Machine) -> None:
    before = memory(known, "directly main")
    known.told("brief", "--prompt", "push my commit to the main branch", "--session", SESSION)
    say(
        known, "push my commit to the main branch", "is the main branch directly on the server now?",
        at=ago(minutes=-5), session=SESSION,
    )  # fmt: skip
    after = memory(known, "directly main")
    assert (after["times_shown"], after["confidence"]) == (1, before["confidence"])


def test_the_next_command_works_whatever_was_shown_and_to_whom(known: Machine) -> None:
    known.told("remember", "--kind", "observation", "The build takes a minute")
    gone = memory(known, "directly main")["id"]
    for session in (SESSION, "", "nobody's session", "über/日本"):
        known.told("brief", "--session", session)
        known.told("brief", "--prompt", "push to the main branch", "--session", session)
    known.told("forget", gone, "--force")
    assert known.told("brief", "--session", SESSION).err.startswith("told: Nothing new")
    for words in (("stats",), ("memories",), ("health",), ("rebuild",)):
        answer = known.told(*words)
        assert (answer.code, answer.err) == (0, ""), words


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Die Prüfsumme muss über die Größe gehen, nie über den Namen.", "Prüfsumme Größe"),
        ("Toujours écrire les clés en français.", "les clés"),
        ("部署前必须先备份数据库。", "备份数据库"),
        ("デプロイの前に必ずデータベースをバックアップする。", "データベース"),
        ("Всегда запускай тесты перед коммитом.", "тесты"),
    ],
)
def test_a_question_in_any_script_finds_what_was_said_in_it(desk: Machine, said: str, asked: str) -> None:
    desk.told("remember", "Use pnpm to install packages")
    desk.told("remember", said)
    for words in (("search", asked, "--in", "memories", "--json"), ("memories", asked, "--json")):
        found = desk.told(*words).json["memories"]
        assert [row["text"] for row in found] == [said]


def test_what_no_longer_holds_takes_nobodys_place(desk: Machine) -> None:
    made = desk.told("remember", "--json", "The deploy token of the gateway is rotated on day 0").json["id"]
    for day in range(1, 70):
        said = f"The deploy token of the gateway is rotated on day {day}"
        made = desk.told("correct", made, said, "--json").json["id"]
    last = "The deploy token of the gateway is rotated on day 69"
    assert texts(desk) == texts(desk, "deploy token gateway") == [last]
    found = desk.told("search", "deploy token of the gateway", "--in", "memories", "--json").json["memories"]
    assert found[0]["text"] == last
    prompt = "when is the deploy token of the gateway rotated?"
    lines = desk.told("brief", "--prompt", prompt, "--json").json["lines"]
    assert [line["id"] for line in lines] == [made]


@pytest.mark.parametrize(
    ("older", "newer", "prompt"),
    [
        (UNRELATED[-1], UNRELATED[-2], "push my commit to the main branch"),
        (UNRELATED[0], UNRELATED[2], "commit everything, the .env file too"),
        ("Never deploy on a Friday.", "Never deploy without a backup.", "deploy the shop this Friday"),
        ("Always deploy from the release branch.", "Never deploy on a Friday.", "deploy the shop"),
    ],
)  # fmt: skip
def test_a_rule_is_not_hidden_by_a_newer_one_that_shares_a_word(
    desk: Machine, older: str, newer: str, prompt: str
) -> None:
    say(desk, older, at=ago(days=9))
    say(desk, newer, at=ago(days=2))
    assert texts(desk) == [newer, older]
    assert older in brief(desk, prompt)


def test_a_fact_is_not_hidden_by_a_newer_one_that_does_not_answer_the_question(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for days, fact in ((9, "The gateway listens on port 8443"), (2, "The gateway is written in Go")):
        at = int(ago(days=days).timestamp()) * 10**9
        monkeypatch.setattr("time.time_ns", lambda at=at: at)
        assert desk.told("remember", fact, "--kind", "fact").code == 0
    assert "port 8443" in brief(desk, "connect to the port that the gateway listens on")


@pytest.mark.parametrize("days", [30, 100, 400, 1500])
def test_a_rule_holds_however_long_ago_it_was_said(desk: Machine, days: int) -> None:
    say(desk, UNRELATED[0], at=ago(days=days))
    assert UNRELATED[0] in brief(desk, "commit the .env file")
    assert UNRELATED[0] in desk.told("brief").out


def test_what_stands_in_backticks_is_kept_and_brings_it_up(desk: Machine) -> None:
    rule = "Always deploy with `scripts/ship.sh`, never by hand."
    say(desk, rule)
    assert texts(desk) == [rule]
    assert rule in brief(desk, "deploy the hotfix")
    assert rule in brief(desk, "add a retry to scripts/ship.sh")


# -- The order of what is found ---------------------------------------------------------------------

# (what is known, four of its words, a question in other words about it)
FACTS = [
    ("Stripe sends webhook events at least once, so handlers must be idempotent", "webhook events at least",
     "stripe webhook"),
    ("The CI cache key includes the hash of pnpm-lock.yaml", "cache key includes the",
     "why is the CI cache stale"),
    ("Postgres runs on port 5544 on developer machines", "runs on port 5544", "postgres port locally"),
    ("Feature flags live in config/flags.toml", "flags live in config/flags.toml", "where are feature flags"),
    ("Invoices are rounded once at the end to whole cents", "rounded once at the", "rounding of invoices"),
    ("The staging cluster is rebuilt every Sunday night", "staging cluster is rebuilt", "staging on Sunday"),
    ("Uploads above 25 MB go straight to the bucket", "Uploads above 25 MB", "large uploads bucket"),
    ("The search index is refreshed by the nightly worker", "index is refreshed by",
     "nightly refresh of search"),
    ("Refunds need the approval of two people", "need the approval of", "who approves refunds"),
    ("Sessions expire after 40 minutes of inactivity", "expire after 40 minutes", "when do sessions expire"),
    ("The mobile app talks to the gateway over gRPC", "talks to the gateway", "mobile app protocol gRPC"),
    ("Emails are sent through the Mailgun relay in Frankfurt", "sent through the Mailgun", "email relay"),
    ("The pricing service owns the currency table", "service owns the currency", "currency table owner"),
    ("Migrations are named after the ticket that asked for them", "named after the ticket",
     "naming a migration"),
    ("The login page is rendered on the server for old browsers", "rendered on the server",
     "login in old browsers"),
    ("Kafka topics keep their messages for seven days", "keep their messages for",
     "retention of kafka topics"),
    ("The design tokens come from the Figma export", "tokens come from the", "design tokens figma"),
    ("Coverage below 80 percent fails the build", "below 80 percent fails", "build fails coverage"),
    ("The audit log is written before the transaction commits", "audit log is written",
     "audit log transaction"),
    ("Thumbnails are made by libvips and not by ImageMagick", "made by libvips and",
     "which library for thumbnails"),
]  # fmt: skip
FILLERS = 180


def fill(desk: Machine) -> None:
    """Add many newer statements, all more important than a fact, at once."""
    kept = open_memories(str(desk.told_home))
    writer = JournalWriter(FileJournal(str(desk.told_home)), kept, int(NOW.timestamp()) * 1000)
    for number in range(FILLERS):
        thing = ("page", "report", "screen", "form", "menu", "dialog")[number % 6]
        text = f"The {thing} number {number} was looked at by team {number % 7} and is fine"
        add_memory(writer, NewMemory(text, "project:github.com/acme/shop", "warning"))
    writer.write()
    kept.close()


def test_the_memory_that_fits_comes_first_among_two_hundred(desk: Machine) -> None:
    for text, _, _ in FACTS:
        desk.told("remember", text, "--kind", "fact")
    fill(desk)
    assert len(texts(desk, "-n", "500")) == len(FACTS) + FILLERS
    first = {}
    for text, words, question in FACTS[:: points(everyday=3, soak=1)]:
        for asked in (text, words, question):
            rows = desk.told("search", asked, "--in", "memories", "--json").json["memories"]
            first[asked] = bool(rows) and rows[0]["text"] == text
    assert [asked for asked, hit in first.items() if not hit] == []


def test_a_word_that_nobody_used_hides_nothing(desk: Machine) -> None:
    desk.told("remember", FACTS[0][0])
    found = desk.told("search", "stripe webhook zanzibar", "--in", "memories", "--json").json["memories"]
    assert [row["text"] for row in found] == [FACTS[0][0]]


def test_being_shown_often_makes_nothing_more_important(known: Machine) -> None:
    before = memory(known, "directly main")
    order = known.told("search", "push commit branch", "--in", "memories", "--json").json["memories"]
    for number in range(8):
        known.told("brief", "--session", f"s{number}")
    after = memory(known, "directly main")
    assert after["times_shown"] == 8
    assert (after["importance"], after["confidence"]) == (before["importance"], before["confidence"])
    again = known.told("search", "push commit branch", "--in", "memories", "--json").json["memories"]
    assert [row["id"] for row in again] == [row["id"] for row in order]


def test_a_line_of_a_brief_is_what_was_said_and_no_figures(known: Machine) -> None:
    made = known.told("brief", "--prompt", "push my commit to the main branch", "--json").json
    assert made["lines"]
    for line in made["lines"]:
        assert "score" not in line["text"]
        assert "confidence" not in line["text"]
