"""Which texts of a turn get a vector of their own."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from told.search.passages import packed, passages, unpacked

LONG = "The port of the gateway is 8443, because 443 belongs to the proxy in front of it. "
OTHER = "Tests run in parallel on every machine that has more than one core, unless somebody says so. "


def test_a_short_text_is_one_passage() -> None:
    found = passages("Where is the port?", "In gateway.toml.")
    assert (found.asked, found.answered) == (("Where is the port?",), ("In gateway.toml.",))
    nothing = passages("", "")
    assert (nothing.asked, nothing.answered) == ((), ())


def test_a_long_text_has_its_sentences_beside_it() -> None:
    found = passages(LONG + OTHER, "")
    assert found.asked == ((LONG + OTHER).strip(), LONG.strip(), OTHER.strip())


def test_short_sentences_go_together() -> None:
    found = passages("Yes. No. Perhaps. Let us see what the others say about it first. " + LONG, "")
    assert found.asked[1].startswith("Yes. No. Perhaps. Let us see")


def test_a_text_without_an_end_is_cut() -> None:
    found = passages("word " * 5000, "x" * 100_000)
    assert len(found.asked) <= 7
    assert all(len(text) <= 1500 for text in (*found.asked, *found.answered))


@given(st.text(max_size=400), st.text(max_size=400))
def test_no_word_of_a_text_that_is_read_is_lost(asked: str, answered: str) -> None:
    found = passages(asked, answered)
    for text, side in ((asked, found.asked), (answered, found.answered)):
        if len(side) > 1 and len(side) < 7:
            assert " ".join(side[1:]).split() == text.split()
        assert bool(side) == bool(text.strip())


vector = st.binary(min_size=8, max_size=8)


@given(st.lists(st.none() | vector, max_size=9), st.lists(st.none() | vector, max_size=9))
def test_packed_vectors_come_back_side_by_side(
    asked: list[bytes | None], answered: list[bytes | None]
) -> None:
    both = unpacked(packed([*asked, *answered], len(asked)))
    assert both == ([one for one in asked if one], [one for one in answered if one])
