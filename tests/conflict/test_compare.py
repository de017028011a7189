"""What a new statement does to the memories of a project."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks import frames
from benchmarks.supersede_framed import make_groups, make_pairs
from tests.soak import points, sampled, thinned
from told.conflict.compare import compare_statement
from told.memories.change import accept, decide, find_proposal
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, remember
from told.store.memories.records import ACTIVE, GLOBAL, WAS

if TYPE_CHECKING:
    from tests.stores import Kept

SCOPE = "project:github.com/acme/shop"
NOW = 1_790_000_000_000
RULES = (
    "Never commit .env files.",
    "Never commit build output.",
    "Always run the linter before committing.",
    "Always run the tests before committing.",
    "Tests run with pytest.",
    "Tests need a running Docker.",
    "The API runs on port 8000.",
    "The worker runs on port 8001.",
    "Staging is on Hetzner.",
    "Production is on AWS.",
    "Redis is used for caching.",
    "The Redis password is in Vault.",
)


@pytest.fixture
def writer(kept: Kept) -> JournalWriter:
    return kept.writer(NOW)


def say(writer: JournalWriter, *texts: str) -> list[str]:
    """Remember statements; return the texts that are active afterwards."""
    for text in texts:
        remember(writer, NewMemory(text, SCOPE))
    return list_active(writer)


def list_active(writer: JournalWriter) -> list[str]:
    loaded = writer.memories.load(writer.memories.listed(status=ACTIVE))
    return sorted(memory.text for memory in loaded.values())


def test_similar_rules_all_stay_active(writer: JournalWriter) -> None:
    assert say(writer, *RULES) == sorted(RULES)


def test_same_statement_is_a_repetition(writer: JournalWriter) -> None:
    say(writer, *RULES)
    for text in RULES:
        found = compare_statement(writer.memories, text.upper(), SCOPE, NOW)
        assert [one.text for one in found.repeats] == [text]


def test_statement_of_stop_words_is_a_repetition(writer: JournalWriter) -> None:
    remember(writer, NewMemory("Not so, but so.", SCOPE))
    assert len(compare_statement(writer.memories, "not so, but so.", SCOPE, NOW).repeats) == 1


@pytest.mark.parametrize(
    "texts",
    thinned(
        [
            [f"Name branch number{one} with prefix zulu{one}." for one in range(32)],
            ["The checkout timeout is 30 s.", "The search timeout is 60 s."],
            ["Customer 1041 is billed monthly.", "Customer 1042 is billed yearly."],
            ["Issue 12 is fixed in 3.1.", "Issue 13 is fixed in 3.2."],
            ["Release v1 is built with npm.", "Release v2 is built with pnpm."],
            ["app1 uses Postgres.", "app2 uses MySQL.", "app3 is now on MySQL."],
            ["Staging is now on Hetzner.", "Production is now on AWS."],
            ["Variant A shows the long form.", "Variant C now shows no form."],
            ["On HTTP 401 retry twice.", "From now on, on HTTP 403 retry twice."],
            ["Pods in team-a get 256 MiB of memory.", "Pods in team-b now get 512 MiB of memory."],
            ["In src/api use tabs.", "In src/web use spaces."],
            ["Use npm for packages.", "In tools/legacy use yarn for packages."],
            ["Use Redis for sessions.", "We no longer use Redis for caching."],
            ["The Redis password is in Vault.", "Redis is gone."],
            ["Deploys need a ticket.", "Deploys are faster now."],
            ["Format Python files on save.", "Format Go files on save."],
            ["Write the docs in German.", "Write the tests in German."],
            ["Prices are integers.", "Prices are net."],
            ["The search timeout is 30 s.", "The timeout is 60 s now."],
        ],
        4,
    ),
)
def test_different_subjects_never_end_each_other(writer: JournalWriter, texts: list[str]) -> None:
    assert say(writer, *texts) == sorted(texts)


def test_framed_statements_with_different_subjects_stay_active(writer: JournalWriter) -> None:
    for number, (old, new) in enumerate(make_pairs(points(everyday=15, soak=60), seed=3)):
        scope = f"project:example.com/{number}"
        for text in (old, new):
            done = remember(writer, NewMemory(text, scope), sync=False)
            assert not done.superseded, (old, new)
            assert not done.again, (old, new)


_FRAMES = [frame for half in frames.HALVES for frame in frames.load_frames(half)]


@pytest.mark.parametrize("at", sampled(range(len(_FRAMES)), range(0, len(_FRAMES), 50)))
def test_subjects_of_a_frame_are_independent(at: int) -> None:
    for texts in frames.make_groups(_FRAMES[at]).values():
        failures: list[str] = []
        found = frames.check_independent(texts, failures)
        assert (found["ended"], found["merged"]) == (0, 0), failures


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "The {s} service listens on port {v}."),
        ("en", "The topic {s} has {v} partitions."),
        ("en", "The {s} replica is in {v}."),
        ("de", "Der Dienst {s} läuft auf Port {v}."),
        ("nl", "De dienst {s} draait op poort {v}."),
        ("pt", "A fila {s} tem {v} consumidores."),
    ],
)
def test_other_value_of_the_same_subject_replaces(language: str, text: str) -> None:
    frame = next(one for one in frames.load_frames("seen") if (one.language, one.text) == (language, text))
    for texts in frames.make_replacements(frame).values():
        assert frames.check_replaced(texts)["superseded"] == 1, texts


def test_many_statements_of_one_frame_stay_active(writer: JournalWriter) -> None:
    group = make_groups(16)[0]
    assert say(writer, *group) == sorted(group)


@pytest.mark.parametrize(
    ("old", "new"),
    thinned(
        [
            ("We use npm.", "Switched to pnpm."),
            ("Use npm for packages.", "Use bun for packages."),
            ("The API runs on port 8000.", "The API runs on port 9000."),
            ("The API runs on port 8000.", "The API port is 9000 now."),
            ("Line length is 80.", "Line length is 100 from now on."),
            ("Deploys are on Friday.", "Deploys are on Monday."),
            ("The staging server is stage1.acme.io.", "The staging server is stage2.acme.io."),
            ("Unit tests run with jest.", "jest is gone, we use vitest."),
            ("Background jobs run on Celery.", "We no longer use Celery."),
            ("Migrations are run with alembic.", "We got rid of alembic."),
            ("Redis is used for caching.", "We dropped Redis."),
            ("Never force push.", "Force push."),
            ("Fehler gehen an Sentry.", "Sentry ist abgeschaltet."),
            ("Wir nutzen MySQL.", "Wir sind auf Postgres umgestiegen."),
            ("La base est MySQL.", "On a migré vers Postgres."),
            ("Usamos npm.", "Ya no usamos npm."),
            ("Usamos Vue.", "Não usamos mais Vue."),
            ("Мы используем npm.", "Мы перешли на pnpm."),
            ("使用 npm 安装依赖。", "不再使用 npm。"),
            ("テストは jest で実行する。", "jest はもう使わない。"),
        ],
        4,
    ),
)
def test_statement_that_says_so_ends_the_old_one(writer: JournalWriter, old: str, new: str) -> None:
    others = ("Answer in German.", "Tests need a running Docker.", "Never log user emails.")
    assert say(writer, *others, old, new) == sorted((*others, new))


def test_returning_to_the_first_choice_ends_the_second(writer: JournalWriter) -> None:
    for text in ("Use npm for packages.", "Use bun for packages.", "Use npm for packages."):
        assert say(writer, text) == [text]


def test_back_to_a_former_name_ends_its_successor(writer: JournalWriter) -> None:
    say(writer, "The CI server is Concord.", "The CI server is Buildbarn.")
    assert say(writer, "Back to Concord.") == ["Back to Concord."]


def test_bare_switch_ends_nothing_if_two_memories_may_be_meant(writer: JournalWriter) -> None:
    texts = ("The shop uses npm.", "The admin uses npm.", "Switched to pnpm.")
    assert say(writer, *texts) == sorted(texts)


def test_finds_another_choice_among_many_newer_memories(writer: JournalWriter) -> None:
    remember(writer, NewMemory("We use npm.", SCOPE))
    for number in range(points(everyday=15, soak=40)):
        remember(writer, NewMemory(f"Shelf {number} holds the parts of machine {number + 100}.", SCOPE))
    found = compare_statement(writer.memories, "switched to pnpm", SCOPE, NOW)
    assert [old.text for old, _ in found.replaces] == ["We use npm."]


def test_project_statement_does_not_replace_a_global_memory(writer: JournalWriter) -> None:
    remember(writer, NewMemory("Use npm for packages.", GLOBAL))
    found = compare_statement(writer.memories, "Use bun for packages.", SCOPE, NOW)
    assert (found.replaces, [old.text for old, _ in found.blocked]) == ((), ["Use npm for packages."])


def test_locked_memory_is_reported_as_blocked(writer: JournalWriter) -> None:
    remember(writer, NewMemory("The API runs on port 8000.", SCOPE, locked=True))
    found = compare_statement(writer.memories, "The API runs on port 9000 now.", SCOPE, NOW)
    assert (found.replaces, [old.text for old, _ in found.blocked]) == ((), ["The API runs on port 8000."])


def test_likely_replacement_is_proposed_and_marked(writer: JournalWriter) -> None:
    old = remember(writer, NewMemory("Deploys go out from the release branch.", SCOPE)).memory
    done = remember(writer, NewMemory("We deploy straight from trunk now, no release branch.", SCOPE))
    assert not done.superseded
    assert len(done.proposals) == 1
    assert [(edge.kind, edge.target) for edge in done.memory.edges] == [(WAS, old.id)]
    assert len(list_active(writer)) == 2


def test_accepted_proposal_ends_the_old_one(writer: JournalWriter) -> None:
    old = remember(writer, NewMemory("Deploys go out from the release branch.", SCOPE)).memory
    done = remember(writer, NewMemory("We deploy straight from trunk now, no release branch.", SCOPE))
    accept(writer, find_proposal(writer.journal, done.proposals[0]), old)
    assert list_active(writer) == [done.memory.text]


def test_declined_proposal_keeps_both_and_clears_the_mark(writer: JournalWriter) -> None:
    remember(writer, NewMemory("Deploys go out from the release branch.", SCOPE))
    done = remember(writer, NewMemory("We deploy straight from trunk now, no release branch.", SCOPE))
    decide(writer, find_proposal(writer.journal, done.proposals[0]), accept=False)
    writer.write()
    assert writer.read(done.memory.id).edges == ()
    assert len(list_active(writer)) == 2


def test_result_does_not_depend_on_earlier_comparisons(writer: JournalWriter) -> None:
    say(writer, *RULES)
    first = [compare_statement(writer.memories, f"{text} from now on", SCOPE, NOW) for text in RULES]
    again = [
        compare_statement(writer.memories, f"{text} from now on", SCOPE, NOW) for text in reversed(RULES)
    ]
    assert first == again[::-1]
