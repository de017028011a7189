"""What a prompt gets where a newer statement took the place of an older one, and nobody ended that."""

from __future__ import annotations

import pytest

from told.store.memory_records import AGENT, TOOL

from .test_recall import asked, bank, memory


def told_of(prompt: str, *texts: str, kind: str = "decision", folder: str = "") -> list[str]:
    """Return what a prompt gets of some statements, the oldest of which is m1."""
    known = [memory(number, text, kind=kind) for number, text in enumerate(texts, 1)]
    return [one for one in asked(bank(*known), prompt, folder) if int(one[1:]) <= len(texts)]


@pytest.mark.parametrize(
    ("prompt", "old", "new"),
    [
        (
            "bash: ./gradlew: No such file or directory",
            "The build moves to Gradle with the Kotlin DSL.",
            "Maven again (./mvnw): our Nexus cannot proxy Gradle plugins.",
        ),
        ("route for listing payouts", "HTTP routing with gin.", "Switched from gin to chi."),
        ("tests for the retry helper", "Tests use testify.", "Table tests with cmp.Diff; no testify."),
        (
            "save the finished sets on the phone",
            "Sets are kept on the phone in Hive boxes.",
            "Local storage is Drift, since Hive lost boxes after an update.",
        ),
        ("test the checkout", "We test with RSpec.", "Minitest everywhere, RSpec was thrown out in March."),
        ("the e2e tests fail", "E2E tests use Cypress.", "Playwright for e2e tests, Cypress was flaky."),
        (
            "les jobs ne partent pas",
            "Les jobs passent à Solid Queue.",
            "Retour à Sidekiq : Solid Queue bloquait la base.",
        ),
        (
            "la pantalla de ajustes está vacía",
            "La pantalla de ajustes pasa a React con wp-scripts.",
            "Volvemos a la Settings API: React rompía en los hostings viejos.",
        ),
        ("die suche ist langsam", "Die Suche läuft über Solr.", "Statt Solr sucht Postgres."),
        ("build the models", "Models are built with dbt 1.5.", "dbt runs in the image tools/dbt:1.8."),
        (
            "find a stop",
            "Visitors find a stop by QR code.",
            "Stops have numbers; QR codes reflected on glass.",
        ),
        ("gameplay code for the bat", "Gameplay code in C#.", "GDScript only; C# cannot be exported."),
    ],
)
def test_what_a_newer_statement_lets_go_of_is_not_said(prompt: str, old: str, new: str) -> None:
    assert told_of(prompt, old) == ["m1"]
    assert told_of(prompt, old, new) == ["m2"]


@pytest.mark.parametrize(
    ("prompt", "old", "new"),
    [
        (
            "the state machine hangs",
            "The picking logic is a YASMIN state machine.",
            "The picking logic is a BehaviorTree.CPP tree, edited in Groot.",
        ),
        (
            "let people register with their mail address",
            "Sign-in by e-mail and password.",
            "Sign-in is Apple and Google only.",
        ),
        (
            "package slam_toolbox not found",
            "Localisation is slam_toolbox.",
            "Localisation is RTK plus wheel odometry.",
        ),
        (
            "connect to localhost:5432 refused, is postgres up",
            "Postgres for development listens on 5432.",
            "Postgres for development runs in docker compose on 5439.",
        ),
        (
            "someone wants messages from january back",
            "Messages are kept for ever.",
            "Messages are kept for 30 days, then the partition goes.",
        ),
    ],
)
def test_another_value_of_the_same_subject_is_said_in_its_stead(prompt: str, old: str, new: str) -> None:
    """Also if the prompt shares its words with the older one alone."""
    assert told_of(prompt, old) == ["m1"]
    assert told_of(prompt, old, new) == ["m2"]


@pytest.mark.parametrize(
    ("prompt", "old", "new"),
    [
        (
            "let people sign in with the company account",
            "Identity provider is Keycloak.",
            "Since the merger everybody signs in through Entra.",
        ),
        (
            "write a query for overdue loans",
            "The ORM is Prisma.",
            "Queries are written with Kysely, types come from the database.",
        ),
        (
            "send the invoice by mail",
            "Mails go out through SendGrid.",
            "All mail is sent by Postmark, with one stream for invoices.",
        ),
        (
            "style the login page",
            "CSS is written with Tailwind.",
            "Styling is vanilla-extract, one file beside each component.",
        ),
    ],
)
def test_what_means_another_choice_for_the_same_thing_is_said_in_its_stead(
    prompt: str, old: str, new: str
) -> None:
    """Also if both have hardly a word in common, and nothing in the newer one speaks of a change."""
    assert told_of(prompt, old) == ["m1"]
    assert told_of(prompt, old, new) == ["m2"]


def test_going_back_brings_what_holds_today() -> None:
    first, second = "The middleware is CycloneDDS.", "The middleware is Fast DDS for shared memory."
    third = "CycloneDDS again, the discovery of Fast DDS flooded the radio link."
    assert told_of("which middleware do we use", first, second) == ["m2"]
    assert told_of("which middleware do we use", first, second, third) == ["m3"]
    assert told_of("shared memory is full", second, third) == ["m2"]


@pytest.mark.parametrize(
    ("prompt", "first", "second"),
    [
        ("put the rates into the cache", "The cache is Redis.", "No Redis in unit tests, use the fake."),
        (
            "half an integer of cents",
            "Prices are integer cents.",
            "Prices are net, VAT is added at checkout.",
        ),
        ("a protobuf message for kafka", "Kafka messages are protobuf.", "Kafka messages are kept 7 days."),
        ("sentry shows no errors", "Errors go to Sentry.", "Errors go to the user in plain language."),
        ("a stripe payment", "Payments go through Stripe.", "Stripe webhooks were lost, so there is a cron."),
    ],
)
def test_what_only_speaks_of_the_same_thing_silences_nothing(prompt: str, first: str, second: str) -> None:
    assert "m1" in told_of(prompt, first, second)


def test_a_rule_for_one_folder_silences_none_for_another() -> None:
    everywhere, there = "Styling with Tailwind.", "In emails/ there is no Tailwind."
    assert "m1" in told_of("style the button", everywhere, there, folder="web")


def test_what_is_locked_or_said_by_others_is_not_silenced() -> None:
    prompt = "test the checkout"
    old, new = "We test with RSpec.", "Minitest everywhere, RSpec was thrown out in March."
    for held, by in (({"locked": True}, {}), ({}, {"trust": AGENT}), ({}, {"trust": TOOL})):
        known = memory(1, old, kind="decision", **held), memory(2, new, kind="decision", **by)
        assert "m1" in asked(bank(*known), prompt)
    other = memory(2, new, kind="decision", scope="project:other")
    assert "m1" in asked(bank(memory(1, old, kind="decision"), other), prompt)


def test_what_no_longer_holds_silences_nothing() -> None:
    old = memory(1, "We test with RSpec.", kind="decision")
    new = memory(2, "Minitest everywhere, RSpec was thrown out in March.", kind="decision", expires=1)
    assert "m1" in asked(bank(old, new), "test the checkout")


@pytest.mark.parametrize(
    "text",
    [
        "All modules but legacy-adt are Java 21.", "Alle Module außer legacy-adt sind Java 21.",
        "Tous les modules sauf legacy-adt sont en Java 21.", "Everything except legacy-adt is Java 21.",
    ],
)  # fmt: skip
def test_what_leaves_a_folder_out_is_not_said_there(text: str) -> None:
    assert told_of("which java version", text, kind="fact", folder="booking") == ["m1"]
    assert told_of("which java version", text, kind="fact", folder="legacy-adt") == []
    assert told_of("which java version", text, kind="fact", folder="legacy-adt/src") == []
