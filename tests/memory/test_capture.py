"""What a user says once is kept, and what teaches nothing is not."""

from __future__ import annotations

import pytest

from told.memory.capture import Statement, Trigger, capture, may_teach


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
def test_what_teaches_nothing_is_not_kept(message: str) -> None:
    assert capture(message) == []


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Actually it lives in src/core", "correction"),
        ("wrong file, look in lib/", "correction"),
        ("I meant the staging database", "correction"),
        ("prefer pnpm over npm", "preference"),
        ("Never push directly to the main branch.", "rule"),
        ("From now on always run the linter before you commit.", "rule"),
        ("Careful: the seed script wipes all tables, never run it in production.", "warning"),
        ("Ab jetzt immer pnpm statt npm benutzen.", "rule"),
        ("Désormais, utilise toujours pnpm et jamais npm.", "rule"),
        ("A partir de ahora usa siempre pnpm en lugar de npm.", "rule"),
        ("A partir de agora use sempre pnpm em vez de npm.", "rule"),
        ("以后必须用pnpm，不要用npm。", "rule"),
        ("今後は必ずpnpmを使ってください。", "rule"),
    ],
)
def test_what_the_user_teaches_is_kept(message: str, kind: str) -> None:
    assert only(message).kind == kind


def test_a_statement_is_found_inside_a_long_task() -> None:
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


def test_several_statements_of_one_message_are_kept_apart() -> None:
    message = (
        "Never commit .env files.\n\nCan you look at the login?\n\n"
        "From now on all code comments must be in English, because the team is international."
    )
    assert [one.quote.split()[0] for one in capture(message)] == ["Never", "From"]


def test_a_list_of_guidelines_gives_a_statement_for_each_line() -> None:
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
def test_what_the_user_did_not_write_is_not_kept(message: str) -> None:
    assert capture(message) == []


def test_words_outside_a_fence_are_still_heard() -> None:
    message = "```\nx = 1\n```\nNever push directly to main, always open a pull request.\n> ok"
    assert only(message).quote == "Never push directly to main, always open a pull request."


def test_openings_are_left_out_of_the_text() -> None:
    found = only("no, btw, we always use pnpm here and never npm")
    assert found.text == "We always use pnpm here and never npm."
    assert found.quote == "no, btw, we always use pnpm here and never npm"


def test_it_is_named_from_the_text_before() -> None:
    found = only("Actually it lives in src/core", "I could not find `Parser` anywhere.")
    assert found.text == "Parser lives in src/core."


def test_it_is_named_from_the_sentence_before() -> None:
    found = capture("Look at `gen/client.ts`. It must never be edited by hand, always regenerate it.")
    assert [one.text for one in found] == [
        "gen/client.ts must never be edited by hand, always regenerate it."
    ]


def test_it_stays_when_two_things_could_be_meant() -> None:
    found = only("Actually it lives in src/core", "I see `Parser` and `Lexer` in the index.")
    assert found.text == "It lives in src/core."


def test_inline_code_is_part_of_the_text() -> None:
    found = only("Never deploy by hand, always use `scripts/ship.sh` for that.")
    assert "`scripts/ship.sh`" in found.text
    assert "scripts/ship.sh" in found.entities


def test_a_statement_says_when_it_applies() -> None:
    found = only("Always run `make lint` before you commit anything in src/core/, never skip it.")
    assert Trigger("command", "make lint") in found.triggers
    assert Trigger("path", "src/core/") in found.triggers
    assert Trigger("task", "commit") in found.triggers
    assert found.entities == ("make lint", "src/core/")


def test_what_is_about_the_person_holds_everywhere() -> None:
    assert only("From now on always answer me in German.").scope == "global"
    assert only("In this repo we always use tabs, never spaces.").scope == "project"


def test_negation_is_kept() -> None:
    assert only("No tabs in this repo, from now on always spaces.").text.startswith("No tabs")
    assert only("Nunca uses lombok, siempre getters a mano.").text.startswith("Nunca")
    assert only("No uses lombok nunca, a partir de ahora siempre getters.").text.startswith("No uses")
    assert "don't" in only("We don't want an ORM in this project, because plain SQL is easier to debug.").text


@pytest.mark.parametrize(
    "message",
    [
        "ok go on",
        "thanks!",
        "continue",
        "run the tests",
        "yes please",
        "haz un commit",
        "mach weiter",
        "继续",
    ],
)
def test_everyday_messages_need_no_closer_look(message: str) -> None:
    assert not may_teach(message)


@pytest.mark.parametrize(
    "message",
    [
        "Never push directly to main.",
        "we don't use redux here because it made everything harder to follow",
        "the staging server is wiped every night, so never store anything there",
        "Réponds-moi toujours en français, même pour les commentaires du code.",
        "Los importes se guardan siempre en céntimos porque con decimales hay errores.",
        "Beträge speichern wir immer als ganze Cent, weil es sonst Rundungsfehler gibt.",
    ],
)
def test_what_may_teach_gets_a_closer_look(message: str) -> None:
    assert may_teach(message)


def test_the_text_is_the_sentence_that_teaches_and_the_quote_may_show_more() -> None:
    found = only(
        "I ran it again. Never write to the reporting database, it is overwritten every night. Thanks!"
    )
    assert found.text == "Never write to the reporting database, it is overwritten every night."
    assert found.text in found.quote


def test_the_same_message_gives_the_same_statements() -> None:
    message = "Never commit .env files. We use pnpm everywhere, not npm."
    assert capture(message) == capture(message)
    assert all(0.0 < one.certainty <= 1.0 for one in capture(message))
