"""Recognise forgotten text by its marks and cut it out."""

from __future__ import annotations

import pytest

from told.ingest.forget import Statement, select_sentences
from told.ingest.forgotten import Forgotten, Marker, cut_sentences, find_sentences, split_words
from told.store.memories.records import Evidence
from told.store.sessions.read import TurnText

KEY = b"k" * 32


def place(words: str, turn: int = -1, session: str = "one") -> Evidence:
    mark = Marker(KEY).mark([word.text for word in split_words(words)])
    return Evidence("agent", session, turn, mark=mark.mark, words=mark.words)


def cut(text: str, *forgotten: str) -> str:
    made = Forgotten(KEY, map(place, forgotten))
    return made.cut_text(text, made.marks("agent", "one"))


@pytest.mark.parametrize(
    ("text", "forgotten", "left"),
    [
        ("Fine. The code is 7781. Go on.", "the code is 7781", "Fine. [forgotten]. Go on."),
        ("Fine. THE  `code`\tis 7781!\nGo on.", "the code is 7781", "Fine. [forgotten]!\nGo on."),
        ("- I know that the code is 7781 here\n- next", "The code is 7781", "[forgotten]\n- next"),
        ("The code. Is 7781 good? Yes.", "the code is 7781", "[forgotten]? Yes."),
        ("The code is 77812.", "the code is 7781", "The code is 77812."),
        ("A b c d. A b c d.", "a b c d", "[forgotten]. [forgotten]."),
        ("好的。发布代号是蓝斑马。谢谢。", "发布代号是蓝斑马", "好的。[forgotten]。谢谢。"),
        ("version 1.2.3 uses p@$$w0rd!#x", "uses p@$$w0rd!#x", "[forgotten]"),
        ("", "the code", ""),
    ],
)
def test_sentences_with_forgotten_words_are_cut(text: str, forgotten: str, left: str) -> None:
    assert cut(text, forgotten) == left
    assert cut(left, forgotten) == left


def test_cutting_one_by_one_equals_cutting_at_once() -> None:
    text = "Alpha beta gamma. Delta epsilon zeta! Eta theta iota? Kappa lambda."
    words = ["alpha beta gamma", "delta epsilon zeta", "eta theta iota"]
    one_by_one = text
    for some in reversed(words):
        one_by_one = cut(one_by_one, some)
    assert one_by_one == cut(text, *words) == "[forgotten]. [forgotten]! [forgotten]? Kappa lambda."


def test_marks_of_another_key_match_nothing() -> None:
    made = Forgotten(b"other", [place("the code is 7781")])
    assert made.cut_text("The code is 7781", made.marks("agent", "one")) == "The code is 7781"


def test_turn_without_the_words_is_cut_completely() -> None:
    turns = [TurnText(n, 0, "", f"question {n}", "answer", "step") for n in range(3)]
    made = Forgotten(KEY, [place("the code is 7781", turn=1)])
    left = made.cut_turns("agent", "one", turns, made.marks("agent", "one"))
    assert [turn.asked for turn in left] == ["question 0", "[forgotten]", "question 2"]
    assert left[1].answered == left[1].steps == ""
    # Where they stand in another turn by now, only they go.
    moved = [*turns[:2], TurnText(2, 0, "", "The code is 7781. Go on.", "", "")]
    left = made.cut_turns("agent", "one", moved, made.marks("agent", "one"))
    assert [turn.asked for turn in left] == ["question 0", "question 1", "[forgotten]. Go on."]


def test_marks_belong_to_one_session() -> None:
    made = Forgotten(KEY, [place("the code is 7781", session="two")])
    assert made.marks("agent", "one") == []
    assert made.marks("agent", "two") != []


def test_reader_state_is_cut() -> None:
    made = Forgotten(KEY, [place("the code is 7781")])
    state = '{"held": [{"text": "Well. The code is 7781"}], "leaf": "a-b"}'
    marks = made.marks("agent", "one")
    assert made.cut_state(state, marks) == '{"held": [{"text": "Well. [forgotten]"}], "leaf": "a-b"}'
    assert made.cut_state(state, marks, all_texts=True) == '{"held": [{"text": ""}], "leaf": "a-b"}'


@pytest.mark.parametrize(
    ("sentence", "same"),
    [
        ("I will remember that the launch is called Blue Zebrafish", True),
        ("Noted: 7781-zebrafish.", True),
        ("The launch is on Friday", False),
        ("Blue is a nice colour", False),
        ("We call it zebra", False),
    ],
)
def test_statement_matches_paraphrases(sentence: str, same: bool) -> None:
    statement = Statement("Our launch is called Blue Zebrafish 7781")
    assert statement.is_in([word.text for word in split_words(sentence)]) is same


def test_select_sentences_of_a_quote() -> None:
    quote = "Thanks! We deploy with Kamal from now on. Then run the tests."
    assert select_sentences(quote, "Deploy with Kamal.") == ["We deploy with Kamal from now on"]
    assert select_sentences("Do that always.", "Run the linter before each commit.") == ["Do that always."]


def test_find_sentences_covers_all_words() -> None:
    text = "One. Two e.g. this!\n\n  Three?? v1.2 four\n…"
    assert [text[start:end] for start, end in find_sentences(text)] == [
        "One",
        "Two e.g",
        "this",
        "Three",
        "v1.2 four",
    ]
    assert cut_sentences(text, [(0, len(text))]) == "[forgotten]\n…"
