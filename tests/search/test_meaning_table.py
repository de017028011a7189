"""How the table of word pieces is made and read: what is packed is found again, and what it learns from."""

from __future__ import annotations

import zipfile

import pytest

from told.search import meaning
from told.search._meaning_file import DIMENSIONS, opened, place_of
from told.search._meaning_pieces import pieces
from training.table_file import packed
from training.table_pairs import of_text, statements
from training.table_text import pairs_of_packages, pairs_of_source
from training.table_words import frequent, meanings, repeated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

_SOURCE = '''
def get_user(name):
    """Return the user who has this name.

    The directory is asked first; if it has no such person, the old list is read line by line.
    """
    # people leave out the blank between their names
    return directory.lookup(name.replace(" ", ""))


class OpenTokenStore:
    """Keeps the keys of all sessions that are still open."""
'''


def test_a_packed_piece_is_found_with_its_row(tmp_path: Path) -> None:
    rows = [(f"piece{number}", number + 1, bytes([number % 256]) * DIMENSIONS) for number in range(500)]
    path = tmp_path / "table.bin"
    path.write_bytes(packed("small", rows))
    table = opened(str(path))
    assert table is not None
    assert (table.model, table.count, table.is_whole()) == ("small", 500, True)
    for name, weight, values in rows:
        found = table.weighted(table.row_of(name))
        assert found[0] == weight
        assert found[1].to_bytes(4 * DIMENSIONS, "little")[::4] == values
    for unknown in ("", "piece", "piece500", "p" * 30, "日"):
        assert table.row_of(unknown) == -1


def test_pieces_that_share_a_place_are_told_apart(tmp_path: Path) -> None:
    by_place: dict[int, list[str]] = {}
    for number in range(3000):
        by_place.setdefault(place_of(f"w{number}".encode())[0], []).append(f"w{number}")
    names = next(names for names in by_place.values() if len(names) > 1)
    path = tmp_path / "table.bin"
    path.write_bytes(packed("small", [(name, 1, bytes(DIMENSIONS)) for name in names]))
    table = opened(str(path))
    assert table is not None
    assert [table.row_of(name) for name in names] == list(range(len(names)))


def test_a_word_may_mean_something_of_its_own_where_somebody_asks_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def row(number: int) -> bytes:
        return bytes([128] * number + [228] + [128] * (DIMENSIONS - number - 1))

    path = tmp_path / "table.bin"
    path.write_bytes(packed("small", [("add", 9, row(1)), ("page", 9, row(2)), ("?add", 9, row(3))]))
    monkeypatch.setattr(meaning, "PATH", str(path))
    told, asked = meaning.vector("page"), meaning.vector("add", asking=True)
    assert told
    assert asked
    assert meaning.vector("page", asking=True) == told
    assert meaning.vector("add") != asked
    assert [one > 0 for one in asked[1:4]] == [False, False, True]
    assert meaning.vectors(["add", "page"], asking=True) == [asked, told]
    assert meaning.vector("?add") == meaning.vector("add")


def test_a_piece_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        packed("small", [("x" * 25, 1, bytes(DIMENSIONS))])


def test_words_are_cut_into_the_longest_pieces_that_are_known() -> None:
    known = {
        word: at
        for at, word in enumerate(["un", "##know", "##known", "##n", "able", "get", "user", "##s", "token"])
    }

    def cut(text: str) -> list[str]:
        names = list(known)
        return [names[row] for row in pieces(text, lambda piece: known.get(piece, -1))]

    assert cut("Unknown") == ["un", "##known"]
    assert cut("getUsers(token)") == ["get", "user", "##s", "token"]
    assert cut("GETUSERS") == ["get"]
    assert cut("get_user, üser! get/token") == ["get", "user", "user", "get", "token"]
    assert cut("zebra") == []


def test_a_docstring_and_a_comment_give_pairs() -> None:
    assert pairs_of_source(_SOURCE) == [
        (
            "Return the user who has this name.",
            "The directory is asked first; if it has no such person, the old list is read line by line.",
        ),
        ("OpenTokenStore", "Keeps the keys of all sessions that are still open."),
        ("people leave out the blank between their names", 'return directory.lookup(name.replace(" ", ""))'),
    ]


def test_a_file_that_is_not_python_gives_none() -> None:
    assert pairs_of_source("def (") == []
    assert pairs_of_source("\0") == []


def test_packages_give_each_text_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        with zipfile.ZipFile(tmp_path / f"{name}-1-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}/code.py", _SOURCE)
            wheel.writestr(f"{name}/tests/code.py", _SOURCE.replace("user", "guest"))
    (tmp_path / "notes.txt").write_text("no wheel")
    assert pairs_of_packages(str(tmp_path)) == pairs_of_source(_SOURCE)


def test_frequent_words_that_the_teacher_does_not_know_get_rows() -> None:
    pairs = [("kwargs dict", "Kwargs again"), ("a dict", "snake_kwargs"), ("kwargs", "camelCase")]
    assert frequent(pairs, {"the", "again"}, most=2) == ["kwargs", "dict"]


def test_every_word_of_the_trade_has_a_row_of_its_own() -> None:
    table = opened(meaning.PATH)
    assert table is not None
    assert [word for word in meanings() if table.row_of(word) < 0] == []


def test_numpy_gives_the_same_vectors_and_the_same_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numpy")
    texts = [f"{word} {meaning_of} {number}" for number, (word, meaning_of) in enumerate(meanings().items())]
    texts += ["", "!", "a", "getUserToken " * 400, "日本 naïve"]
    plain = [meaning.vector(text) for text in texts]
    asked = [meaning.vector(text, asking=True) for text in texts]
    found = [one for one in plain if one]
    scores = meaning.similarities(found[0], found)
    monkeypatch.setattr(meaning, "_MANY_TEXTS", 1)
    monkeypatch.setattr(meaning, "_MANY_VECTORS", 1)
    assert meaning.vectors(texts) == plain
    assert meaning.vectors(texts, asking=True) == asked
    assert meaning.similarities(found[0], found) == scores


def test_pairs_are_statements_with_what_asks_for_them() -> None:
    text = "= Money is in cents.\nadd a price\n\nsum is off\n\n= Unasked.\n= Ports begin at 4000.\nstart it\n"
    assert list(of_text(text)) == [
        ("Money is in cents.", ["add a price", "sum is off"]),
        ("Ports begin at 4000.", ["start it"]),
    ]


def test_every_statement_that_the_table_learns_from_is_asked_for() -> None:
    for talk in (True, False):
        found = list(statements(talk=talk))
        assert len(found) > 1000
        assert all(said and all(asking) for said, asking in found)


def test_words_that_several_texts_have_get_a_row_of_their_own() -> None:
    texts = [f"rechnung {number} bezahlen" for number in range(5)] + ["rechnung einmal"]
    assert repeated(texts, {"bezahlen"}) == ["rechnung"]
