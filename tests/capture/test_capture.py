"""Capture keeps statements that teach and ignores other messages."""

from __future__ import annotations

import pytest

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


def test_text_keeps_negation() -> None:
    assert only("No tabs in this repo, from now on always spaces.").text.startswith("No tabs")
    assert only("Nunca uses lombok, siempre getters a mano.").text.startswith("Nunca")
    assert only("No uses lombok nunca, a partir de ahora siempre getters.").text.startswith("No uses")
    assert "don't" in only("We don't use an ORM in this project, because plain SQL is easier to debug.").text


@pytest.mark.parametrize(
    "message",
    [
        "The api should return ISO dates, because the mobile app can't parse anything else.",
        "I meant the staging database",
        "we don't have enough space in the header",
    ],
)
def test_what_is_not_taught_explicitly_is_not_kept(message: str) -> None:
    assert capture(message) == []


def test_explanation_says_how_each_sentence_was_read() -> None:
    message = (
        "From now on always run the linter before you commit.\n"
        "The api should return ISO dates.\n"
        "Should we always use UTC?\n```\nx = 1\n```\n"
    )
    found = explain(message)
    read = [(one.decision, one.cue, one.guard) for one in found.sentences]
    assert read[:3] == [("explicit", "henceforth", ""), ("no cue", "", ""), ("no cue", "", "")]
    assert {one for one, _, _ in read[3:]} == {"pasted"}
    assert list(found.kept) == capture(message)


def test_explanation_names_the_guard() -> None:
    (one,) = explain("For now, never use the cache.").sentences
    assert (one.decision, one.cue, one.guard) == ("stopped", "order", "one_off")


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
