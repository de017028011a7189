"""What was forgotten is known again by its marks, and cut out wherever it stands."""

from __future__ import annotations

import pytest

from told.ingest.echoes import Statement, pieces_of
from told.ingest.forgotten import Forgotten
from told.ingest.spans import Marker, sentences_of, without, words_of
from told.store.memory_records import Evidence
from told.store.writing import TurnText

KEY = b"k" * 32


def place(words: str, turn: int = -1, session: str = "one") -> Evidence:
    mark = Marker(KEY).mark([word.text for word in words_of(words)])
    return Evidence("agent", session, turn, mark=mark.mark, words=mark.words)


def cut(text: str, *forgotten: str) -> str:
    made = Forgotten(KEY, map(place, forgotten))
    return made.text(text, made.marks("agent", "one"))


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
def test_the_sentences_that_have_the_words_go(text: str, forgotten: str, left: str) -> None:
    assert cut(text, forgotten) == left
    assert cut(left, forgotten) == left


def test_what_is_cut_one_after_the_other_is_what_is_cut_at_once() -> None:
    text = "Alpha beta gamma. Delta epsilon zeta! Eta theta iota? Kappa lambda."
    words = ["alpha beta gamma", "delta epsilon zeta", "eta theta iota"]
    one_by_one = text
    for some in reversed(words):
        one_by_one = cut(one_by_one, some)
    assert one_by_one == cut(text, *words) == "[forgotten]. [forgotten]! [forgotten]? Kappa lambda."


def test_another_key_knows_nothing() -> None:
    made = Forgotten(b"other", [place("the code is 7781")])
    assert made.text("The code is 7781", made.marks("agent", "one")) == "The code is 7781"


def test_a_turn_in_which_the_words_are_not_found_is_left_out() -> None:
    turns = [TurnText(n, 0, "", f"question {n}", "answer", "step") for n in range(3)]
    made = Forgotten(KEY, [place("the code is 7781", turn=1)])
    left = made.turns("agent", "one", turns, made.marks("agent", "one"))
    assert [turn.asked for turn in left] == ["question 0", "[forgotten]", "question 2"]
    assert left[1].answered == left[1].steps == ""
    # Where they stand in another turn by now, only they go.
    moved = [*turns[:2], TurnText(2, 0, "", "The code is 7781. Go on.", "", "")]
    left = made.turns("agent", "one", moved, made.marks("agent", "one"))
    assert [turn.asked for turn in left] == ["question 0", "question 1", "[forgotten]. Go on."]


def test_only_the_session_itself_is_looked_at() -> None:
    made = Forgotten(KEY, [place("the code is 7781", session="two")])
    assert made.marks("agent", "one") == []
    assert made.marks("agent", "two") != []


def test_what_a_reader_keeps_is_cut_as_well() -> None:
    made = Forgotten(KEY, [place("the code is 7781")])
    state = '{"held": [{"text": "Well. The code is 7781"}], "leaf": "a-b"}'
    marks = made.marks("agent", "one")
    assert made.state(state, marks) == '{"held": [{"text": "Well. [forgotten]"}], "leaf": "a-b"}'
    assert made.state(state, marks, all_of_it=True) == '{"held": [{"text": ""}], "leaf": "a-b"}'


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
def test_what_says_the_same_in_other_words(sentence: str, same: bool) -> None:
    statement = Statement("Our launch is called Blue Zebrafish 7781")
    assert statement.is_in([word.text for word in words_of(sentence)]) is same


def test_of_a_quote_only_the_sentences_that_the_memory_is_about() -> None:
    quote = "Thanks! We deploy with Kamal from now on. Then run the tests."
    assert pieces_of(quote, "Deploy with Kamal.") == ["We deploy with Kamal from now on"]
    assert pieces_of("Do that always.", "Run the linter before each commit.") == ["Do that always."]


def test_sentences_cover_all_that_is_said() -> None:
    text = "One. Two e.g. this!\n\n  Three?? v1.2 four\n…"
    assert [text[start:end] for start, end in sentences_of(text)] == [
        "One",
        "Two e.g",
        "this",
        "Three",
        "v1.2 four",
    ]
    assert without(text, [(0, len(text))]) == "[forgotten]\n…"
