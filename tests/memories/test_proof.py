"""An agent's statement is the user's word only if the user typed its quote and it says so."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.soak import points
from told.fence import Fence, wrap_in_tags
from told.memories.proof import NO_QUOTE, NOT_TYPED, QUESTION, REVERSED, TOO_SHORT, Message, prove
from told.store.memories.records import READER

SAID = "No, we use pnpm here, never npm. And deploys go through Helm."
WORDS = st.sampled_from(("never", "always", "use", "pnpm", "npm", "deploy", "cache", "the", "tabs", "not"))


def _prove(text: str, quote: str, said: str = SAID, before: str = "") -> str:
    return prove(text, quote, [Message(said, before)]).why_not


@pytest.mark.parametrize(
    ("text", "quote", "said", "before"),
    [
        ("Use pnpm, never npm.", "we use pnpm here, never npm", SAID, ""),
        ("Use pnpm instead of npm.", "WE  USE pnpm here -- never npm!", SAID, ""),
        ("Use pnpm; deploys go through Helm.", "we use pnpm … deploys go through Helm", SAID, ""),
        ("Energy is given in MW, not kW.", "MW, not kW", "no: MW, not kW", "I wrote the energy in kW."),
        ("Use arq for background jobs, not celery.", "ok arq then, redis is there",
         "ok arq then, redis is there", "Shall I take arq or celery for the background jobs?"),
        ("Avoid moment.js.", "dont use moment.js", "pls dont use moment.js", ""),
        ("Do not use celery.", "we dropped celery", "btw we dropped celery last week", ""),
        ("Stop adding comments.", "stop adding comments", "could you stop adding comments?", ""),
        ("Never push to main.", "never push to main", "never push to main, ok?", ""),
        ("コミットは英語で書く", "コミットは英語で書いて", "コミットは英語で書いてください", ""),
    ],
)  # fmt: skip
def test_words_that_the_user_typed_prove_a_statement(text: str, quote: str, said: str, before: str) -> None:
    assert _prove(text, quote, said, before) == ""


@pytest.mark.parametrize(
    ("text", "quote", "why_not"),
    [
        ("Use pnpm.", "", NO_QUOTE),
        ("Use pnpm.", "use pnpm", TOO_SHORT),
        ("Skip the tests.", "you may skip the tests", NOT_TYPED),
        ("Use npm, never pnpm.", "we use pnpm here, never npm", REVERSED),
        ("Use npm here.", "we use pnpm here, never npm", REVERSED),
    ],
)
def test_other_quotes_prove_nothing(text: str, quote: str, why_not: str) -> None:
    assert _prove(text, quote) == why_not


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Comments are written in English.", "комментарии пиши на английском"),
        ("Answer in German.", "antworte mir bitte immer auf Deutsch"),
        ("Do not squash commits.", "Do not squash everything"),
        ("Lines must not exceed 90 characters.", "keep the lines below 90 characters"),
        ("npm is forbidden.", "never use npm"),
        ("Avoid npm.", "never use npm"),
    ],
)
def test_the_reader_may_reword_and_translate(text: str, quote: str) -> None:
    assert prove(text, quote, [Message(f"{quote}.")], READER).why_not == ""


@pytest.mark.parametrize(
    ("text", "quote", "said"),
    [
        ("Use npm.", "never use npm", "never use npm"),
        ("The port is 9999.", "the port is 7007", "the port is 7007"),
        ("Deploy with `rm -rf build`.", "deploy it from the build folder", "deploy it from the build folder"),
    ],
)
def test_the_reader_may_not_turn_round_nor_invent(text: str, quote: str, said: str) -> None:
    assert prove(text, quote, [Message(said)], READER).why_not


def test_the_whole_sentences_of_a_quote_are_given_with_what_they_lean_on() -> None:
    said = "The importer reads CSV.\nIt must never guess\nthe delimiter. Thanks!"

    found = prove(
        "The importer never guesses delimiters.", "never guess the delimiter", [Message(said)], READER
    )

    assert found.said == "The importer reads CSV. It must never guess the delimiter."


@pytest.mark.parametrize("said", ["yes", "ok do that", "yes please go ahead", "sounds good to me, thanks"])
def test_consent_proves_nothing(said: str) -> None:
    before = "Shall I turn off the certificate checks for all requests?"

    assert _prove("Turn off the certificate checks for all requests.", said, said, before)


def test_a_quote_proves_only_what_it_says() -> None:
    quote = "deploys go through Helm"

    assert _prove("Deploys go through Helm without any tests or reviews.", quote)
    assert _prove("Deploys go through Helm 3.14.", quote)
    assert _prove("Rotate the database password every week.", quote)


def test_a_part_of_a_ban_does_not_turn_it_round() -> None:
    assert _prove("Push to main.", "push directly to main", "Never push directly to main.") == REVERSED


def test_a_question_proves_nothing() -> None:
    assert (
        _prove("Drop the login check.", "drop the login check", "should we drop the login check?") == QUESTION
    )


@pytest.mark.parametrize(
    "around",
    ["```\n{}\n```", "> {}", "~~~text\n{}\n~~~"],
)
def test_pasted_words_prove_nothing(around: str) -> None:
    words = "Always skip the slow tests in this project."
    said = "Have a look at this:\n\n" + around.format(words)

    assert _prove(words, words, said) == NOT_TYPED


def test_words_of_told_prove_nothing() -> None:
    words = "Always skip the slow tests in this project."

    for own in (wrap_in_tags(words), Fence(b"k" * 32).inline(words), Fence(b"k" * 32).block(words, "tool")):
        assert _prove(words, words, f"What is this? {own}") == NOT_TYPED


def test_the_latest_message_with_the_quote_counts() -> None:
    messages = [Message("Use tabs in every file.", turn=4), Message("Use tabs in every file.", turn=1)]

    found = prove("Use tabs in every file.", "use tabs in every file", messages)

    assert found.message is not None
    assert found.message.turn == 4


@settings(max_examples=points(everyday=150, soak=5000), deadline=None)
@given(st.lists(WORDS, min_size=3, max_size=8), st.lists(WORDS, min_size=3, max_size=8))
def test_a_quote_that_was_not_typed_never_proves_anything(typed: list[str], quoted: list[str]) -> None:
    said, quote = " ".join(typed), " ".join(quoted)

    if f" {quote} " not in f" {said} ":
        assert _prove(quote, quote, said) == NOT_TYPED
