"""Tests of splitting text into words and sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from told.words import WORD, find_sentences, split_scripts, split_sentences, split_words, stem

texts = st.text(st.sampled_from("aB1é日本文ภา .!?…。！；;\n\"'”)_-e.g"), max_size=60) | st.text(max_size=60)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Use tabs. Never spaces!", ["Use tabs.", "Never spaces!"]),
        ("Ask first, e.g. in the issue. Then push.", ["Ask first, e.g. in the issue.", "Then push."]),
        ("She said “stop.” He went on.", ["She said “stop.”", "He went on."]),
        ('"Sold out." is what the banner says.', ['"Sold out." is what the banner says.']),
        ("Release 3.12 is out\nUpdate it", ["Release 3.12 is out", "Update it"]),
        ("测试先跑。再提交！", ["测试先跑。", "再提交！"]),
        ("Edit config.toml; then restart.", ["Edit config.toml; then restart."]),
        (" \n ", []),
    ],
)
def test_a_text_is_split_where_a_sentence_ends(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


def test_a_semicolon_ends_a_sentence_if_wanted() -> None:
    assert split_sentences("Edit it; then restart.", semicolons=True) == ["Edit it;", "then restart."]


@given(texts, st.booleans())
def test_sentences_are_the_whole_text_in_order(text: str, semicolons: bool) -> None:
    found = list(find_sentences(text, 0, len(text), semicolons=semicolons))
    ends = [0, *(end for _, end in found)]
    assert all(before <= start < end for before, (start, end) in zip(ends, found, strict=False))
    assert "".join(text.split()) == "".join("".join(text[start:end].split()) for start, end in found)


@given(texts)
def test_words_hold_every_letter_and_digit(text: str) -> None:
    letters = [char for char in text if char.isalnum()]
    assert list("".join(WORD.findall(text))) == letters
    assert "".join(part for _, part in split_scripts(text)) == text


def test_words_keep_paths_and_options_whole() -> None:
    assert split_words("Run `src/app.py`, then (never) --force!") == [
        "run",
        "src/app.py",
        "then",
        "never",
        "force",
    ]


def test_forms_of_a_word_have_one_stem() -> None:
    assert {stem(word) for word in ("deploy", "deploys", "deployed", "deploying", "deployment")} == {"deploy"}
