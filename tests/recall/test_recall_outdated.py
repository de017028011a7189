"""Recall leaves out memories that a newer one replaced."""

from __future__ import annotations

import pytest

from told.store.memories.records import AGENT, TOOL

from .test_recall import asked, bank, memory

pytestmark = pytest.mark.usefixtures("each_store")


def told_of(prompt: str, *texts: str, kind: str = "decision", folder: str = "") -> list[str]:
    """Return the recalled statements, the oldest of which is m1."""
    known = [memory(number, text, kind=kind) for number, text in enumerate(texts, 1)]
    return [one for one in asked(bank(*known), prompt, folder) if int(one[1:]) <= len(texts)]


@pytest.mark.parametrize(
    ("prompt", "old", "new"),
    [
        (
            "the gradle build fails",
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
        ("gameplay code for the bat", "Gameplay code in C#.", "GDScript only; C# cannot be exported."),
    ],
)
def test_dropped_choice_is_not_recalled(prompt: str, old: str, new: str) -> None:
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
            "someone wants messages from january back",
            "Messages are kept for ever.",
            "Messages are kept for 30 days, then the partition goes.",
        ),
    ],
)
def test_new_value_of_the_same_subject_is_recalled_instead(prompt: str, old: str, new: str) -> None:
    assert told_of(prompt, old) == ["m1"]
    assert told_of(prompt, old, new) == ["m2"]


@pytest.mark.parametrize(
    ("prompt", "old", "new"),
    [
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
def test_similar_newer_choice_is_recalled_instead(prompt: str, old: str, new: str) -> None:
    assert told_of(prompt, old) == ["m1"]
    assert told_of(prompt, old, new) == ["m2"]


def test_return_to_the_first_choice_is_recalled() -> None:
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
def test_newer_statement_about_the_same_thing_hides_nothing(prompt: str, first: str, second: str) -> None:
    assert "m1" in told_of(prompt, first, second)


def test_rule_for_one_folder_hides_none_for_another() -> None:
    everywhere, there = "Styling with Tailwind.", "In emails/ there is no Tailwind."
    assert "m1" in told_of("style the button", everywhere, there, folder="web")


def test_locked_or_foreign_statements_are_not_hidden() -> None:
    prompt = "test the checkout"
    old, new = "We test with RSpec.", "Minitest everywhere, RSpec was thrown out in March."
    for held, by in (({"locked": True}, {}), ({}, {"trust": AGENT}), ({}, {"trust": TOOL})):
        known = memory(1, old, kind="decision", **held), memory(2, new, kind="decision", **by)
        assert "m1" in asked(bank(*known), prompt)
    other = memory(2, new, kind="decision", scope="project:other")
    assert "m1" in asked(bank(memory(1, old, kind="decision"), other), prompt)


def test_expired_statement_hides_nothing() -> None:
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
def test_statement_is_not_recalled_in_a_folder_it_excludes(text: str) -> None:
    assert told_of("which java version", text, kind="fact", folder="booking") == ["m1"]
    assert told_of("which java version", text, kind="fact", folder="legacy-adt") == []
    assert told_of("which java version", text, kind="fact", folder="legacy-adt/src") == []
