"""Passages of a turn that are embedded."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from told.search.index_text import split_passages
from told.search.vectors.arithmetic import pack_vectors, unpack_vectors

LONG = "The port of the gateway is 8443, because 443 belongs to the proxy in front of it. "
OTHER = "Tests run in parallel on every machine that has more than one core, unless somebody says so. "


def test_short_text_is_one_passage() -> None:
    found = split_passages("Where is the port?", "In gateway.toml.")
    assert (found.asked, found.answered) == (("Where is the port?",), ("In gateway.toml.",))
    nothing = split_passages("", "")
    assert (nothing.asked, nothing.answered) == ((), ())


def test_long_text_has_sentence_passages() -> None:
    found = split_passages(LONG + OTHER, "")
    assert found.asked == ((LONG + OTHER).strip(), LONG.strip(), OTHER.strip())


def test_short_sentences_are_joined() -> None:
    found = split_passages("Yes. No. Perhaps. Let us see what the others say about it first. " + LONG, "")
    assert found.asked[1].startswith("Yes. No. Perhaps. Let us see")


def test_endless_sentence_is_cut() -> None:
    found = split_passages("word " * 5000, "x" * 100_000)
    assert len(found.asked) <= 7
    assert all(len(text) <= 1500 for text in (*found.asked, *found.answered))


@given(st.text(max_size=400), st.text(max_size=400))
def test_passages_contain_every_word(asked: str, answered: str) -> None:
    found = split_passages(asked, answered)
    for text, side in ((asked, found.asked), (answered, found.answered)):
        if len(side) > 1 and len(side) < 7:
            assert " ".join(side[1:]).split() == text.split()
        assert bool(side) == bool(text.strip())


vector = st.binary(min_size=8, max_size=8)


@given(st.lists(st.none() | vector, max_size=9), st.lists(st.none() | vector, max_size=9))
def test_packed_vectors_round_trip(asked: list[bytes | None], answered: list[bytes | None]) -> None:
    both = unpack_vectors(pack_vectors([*asked, *answered], len(asked)))
    assert both == ([one for one in asked if one], [one for one in answered if one])
