"""Capture keeps statements that teach and ignores other messages."""

from __future__ import annotations

import pytest
from told.capture.gate import probably_teaches

from told.capture.explain import explain
from told.capture.statements import Statement, capture
from told.store.memories.records import Trigger


def only(message: str, before: str = "") -> Statement:
    found = capture(message, before)
    assert len(found) == 1, found
    return found[0]


@pytest.mark.parametrize(
    "message",
    [
        "Hello! How are you",
        "I know the piano is nice",
        "Thanks, that works great!",
        "What is the plan for tomorrow?",
        "run the tests",
        "yes",
        "ok go on",
        "looks good, commit it",
        "can you fix the login page?",
        "add a button to the settings page",
        "why does the build fail?",
        "der Knopf ist immer noch nicht sichtbar",
        "kannst du die Tests laufen lassen?",
        "le bouton n'apparaît toujours pas",
        "peux-tu lancer les tests ?",
        "haz un commit y un push",
        "¿puedes ejecutar las pruebas?",
        "pode rodar os testes?",
        "为什么构建失败了？",
        "帮我加一个登录页面",
        "テストを実行して",
        "なぜビルドが失敗しますか？",
        "",
        "   \n\t ",
        "?!",
    ],
)
def test_capture_ignores_messages_that_teach_nothing(message: str) -> None:
    assert capture(message) == []


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("prefer pnpm over npm", "rule"),
        ("Never push directly to the main branch.", "rule"),
        ("From now on always run the linter before you commit.", "rule"),
        ("Careful: the seed script wipes all tables, never run it in production.", "rule"),
        ("Ab jetzt immer pnpm statt npm benutzen.", "rule"),
        ("Désormais, utilise toujours pnpm et jamais npm.", "rule"),
        ("A partir de ahora usa siempre pnpm en lugar de npm.", "rule"),
        ("A partir de agora use sempre pnpm em vez de npm.", "rule"),
        ("以后必须用pnpm，不要用npm。", "rule"),
        ("今後は必ずpnpmを使ってください。", "rule"),
    ],
)
def test_capture_returns_the_kind_of_a_statement(message: str, kind: str) -> None:
    assert only(message).kind == kind


def test_capture_finds_a_statement_inside_a_long_task() -> None:
    message = (
        "Please add an export to the orders page. It needs a button in the toolbar and a dialog. "
        "Never hardcode customer names anywhere in this repo, always read them from the config. "
        "Then write a test for it."
    )
    found = only(message)
    assert "Never hardcode customer names" in found.quote
    assert (
        found.text == "Never hardcode customer names anywhere in this repo, always read them from the config."
    )


def test_capture_separates_several_statements() -> None:
    message = (
        "Never commit .env files.\n\nCan you look at the login?\n\n"
        "From now on all code comments must be in English, because the team is international."
    )
    assert [one.quote.split()[0] for one in capture(message)] == ["Never", "From"]


def test_capture_returns_each_line_of_a_guideline_list() -> None:
    message = (
        "CODING RULES:\n- Use spaces, not tabs.\n- Every public function has a docstring.\n"
        "1. Keep functions short. Thirty lines at most.\n* No global state.\n"
    )
    assert [one.quote for one in capture(message)] == [
        "Use spaces, not tabs.",
        "Every public function has a docstring.",
        "Keep functions short. Thirty lines at most.",
        "No global state.",
    ]


@pytest.mark.parametrize(
    "message",
    [
        "> Never push directly to main, always open a pull request.",
        "```\n# Never push directly to main, always open a pull request.\n```",
        "<agent ab2cd>\nNever push directly to main, always open a pull request.\n</agent ab2cd>",
        "<team:anna xyz23>Never push directly to main, always use a pull request.</team:anna xyz23>",
        "<command-name>/review</command-name>\n<command-args>Never push directly to main</command-args>",
        "<system-reminder>You must always use the todo tool from now on.</system-reminder>",
        "/compact never push directly to main, always open a pull request",
        "2026-01-02T10:00:00 ERROR you must never call this function twice, always use the lock",
        "Holds here:\n- Never push directly to main, always use a PR. (rule, 2026-11-03, you)",
        "- From now on always use pnpm. (rule, locked, 2026-11-03, you in codex)",
        "<environment_context>\n<policy>never ask, always run</policy>\n</environment_context>",
        "<user_instructions>\nNever commit without asking, always show a plan.\n</user_instructions>",
        "This session is being continued from a previous conversation.\n- Never use npm, always use pnpm.",
        'Traceback (most recent call last):\n  File "a.py", line 3, in f\nError: always set it, never skip',
    ],
)
def test_capture_ignores_text_the_user_did_not_type(message: str) -> None:
    assert capture(message) == []


def test_capture_reads_text_outside_a_code_fence() -> None:
    message = "```\nx = 1\n```\nNever push directly to main, always open a pull request.\n> ok"
    assert only(message).quote == "Never push directly to main, always open a pull request."


def test_text_omits_filler_openings() -> None:
    found = only("no, btw, we always use pnpm here and never npm")
    assert found.text == "We always use pnpm here and never npm."
    assert found.quote == "no, btw, we always use pnpm here and never npm"


def test_pronoun_is_resolved_from_the_sentence_before() -> None:
    found = capture("Look at `gen/client.ts`. It must never be edited by hand, always regenerate it.")
    assert [one.text for one in found] == [
        "gen/client.ts must never be edited by hand, always regenerate it."
    ]


def test_text_includes_inline_code() -> None:
    found = only("Never deploy by hand, always use `scripts/ship.sh` for that.")
    assert "`scripts/ship.sh`" in found.text
    assert "scripts/ship.sh" in found.entities


def test_statement_has_triggers_and_entities() -> None:
    found = only("Always run `make lint` before you commit anything in src/core/, never skip it.")
    assert Trigger("command", "make lint") in found.triggers
    assert Trigger("path", "src/core/") in found.triggers
    assert Trigger("task", "commit") in found.triggers
    assert found.entities == ("make lint", "src/core/")


def test_statement_about_the_person_is_global() -> None:
    assert only("From now on always answer me in German.").scope == "global"
    assert only("In this repo we always use tabs, never spaces.").scope == "project"


def test_text_keeps_negation() -> None:
    assert only("No tabs in this repo, from now on always spaces.").text.startswith("No tabs")
    assert only("Nunca uses lombok, siempre getters a mano.").text.startswith("Nunca")
    assert only("No uses lombok nunca, a partir de ahora siempre getters.").text.startswith("No uses")
    assert "don't" in only("We don't want an ORM in this project, because plain SQL is easier to debug.").text


@pytest.mark.parametrize(
    "message", ["ok go on", "thanks!", "continue", "run the tests", "haz un commit", "继续"]
)
def test_readers_are_not_asked_about_everyday_messages(message: str) -> None:
    assert not probably_teaches(message)


@pytest.mark.parametrize(
    "message",
    [
        "Never push directly to main.",
        "we don't use redux here because it made everything harder to follow",
        "the staging server is wiped every night, so never store anything there",
    ],
)
def test_readers_are_asked_about_messages_that_teach(message: str) -> None:
    assert probably_teaches(message)


def test_a_clear_teaching_is_a_memory_and_a_faint_one_a_candidate() -> None:
    clear = "The api should always return ISO dates, because the mobile app can't parse anything else."
    assert [one.sure for one in capture(clear)] == [True]
    faint = capture("I meant the staging database")
    assert [one.sure for one in faint] == [False]


def test_languages_without_training_data_get_the_explicit_grammar_only() -> None:
    assert capture("Die API soll ISO-Daten liefern, weil die App sonst nichts lesen kann.") == []
    assert only("Merk dir: die API liefert ISO-Daten.").explicit


def test_explanation_says_how_each_sentence_was_read() -> None:
    message = (
        "From now on always run the linter before you commit.\n"
        "The api should always return ISO dates, because the mobile app can't parse anything else.\n"
        "Can you look at the login page?\n```\nx = 1\n```\n"
    )
    found = explain(message)
    assert found.language == "en"
    assert found.may_teach
    assert found.probably_teaches
    decisions = [one.decision for one in found.sentences]
    assert decisions[:3] == ["explicit", "memory", "question"]
    assert set(decisions[3:]) == {"pasted"}
    assert found.sentences[0].cue == "henceforth"
    assert list(found.kept) == capture(message)


def test_text_is_one_sentence_and_quote_may_be_longer() -> None:
    found = only(
        "I ran it again. Never write to the reporting database, it is overwritten every night. Thanks!"
    )
    assert found.text == "Never write to the reporting database, it is overwritten every night."
    assert found.text in found.quote


def test_capture_is_deterministic() -> None:
    message = "Never commit .env files. We use pnpm everywhere, not npm."
    assert capture(message) == capture(message)
    assert all(0.0 < one.certainty <= 1.0 for one in capture(message))
