"""Packing, reading and training of the built-in table."""

from __future__ import annotations

import zipfile

import pytest

from told.search.vectors import table as vector_table
from told.search.vectors.table import DIMENSIONS, find_pieces, hash_piece, open_table
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


def test_packed_piece_is_found(tmp_path: Path) -> None:
    rows = [(f"piece{number}", number + 1, bytes([number % 256]) * DIMENSIONS) for number in range(500)]
    path = tmp_path / "table.bin"
    path.write_bytes(packed("small", rows))
    table = open_table(str(path))
    assert table is not None
    assert (table.model, table.count, table.is_intact()) == ("small", 500, True)
    for name, weight, values in rows:
        found = table.read_row(table.find_row(name))
        assert found[0] == weight
        assert found[1].to_bytes(4 * DIMENSIONS, "little")[::4] == values
    for unknown in ("", "piece", "piece500", "p" * 30, "日"):
        assert table.find_row(unknown) == -1


def test_colliding_pieces_are_found(tmp_path: Path) -> None:
    by_place: dict[int, list[str]] = {}
    for number in range(3000):
        by_place.setdefault(hash_piece(f"w{number}".encode())[0], []).append(f"w{number}")
    names = next(names for names in by_place.values() if len(names) > 1)
    path = tmp_path / "table.bin"
    path.write_bytes(packed("small", [(name, 1, bytes(DIMENSIONS)) for name in names]))
    table = open_table(str(path))
    assert table is not None
    assert [table.find_row(name) for name in names] == list(range(len(names)))


def test_question_row_replaces_row_in_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def row(number: int) -> bytes:
        return bytes([128] * number + [228] + [128] * (DIMENSIONS - number - 1))

    path = tmp_path / "table.bin"
    path.write_bytes(packed("small", [("add", 9, row(1)), ("page", 9, row(2)), ("?add", 9, row(3))]))
    monkeypatch.setattr(vector_table, "TABLE_PATH", str(path))
    told, asked = vector_table.make_vector("page"), vector_table.make_vector("add", asking=True)
    assert told
    assert asked
    assert vector_table.make_vector("page", asking=True) == told
    assert vector_table.make_vector("add") != asked
    assert [one > 0 for one in asked[1:4]] == [False, False, True]
    assert [vector_table.make_vector(text, asking=True) for text in ("add", "page")] == [asked, told]
    assert vector_table.make_vector("?add") == vector_table.make_vector("add")


def test_too_long_piece_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        packed("small", [("x" * 25, 1, bytes(DIMENSIONS))])


def test_words_are_cut_into_longest_known_pieces() -> None:
    known = {
        word: at
        for at, word in enumerate(["un", "##know", "##known", "##n", "able", "get", "user", "##s", "token"])
    }

    def cut(text: str) -> list[str]:
        names = list(known)
        return [names[row] for row in find_pieces(text, lambda piece: known.get(piece, -1))]

    assert cut("Unknown") == ["un", "##known"]
    assert cut("getUsers(token)") == ["get", "user", "##s", "token"]
    assert cut("GETUSERS") == ["get"]
    assert cut("get_user, üser! get/token") == ["get", "user", "user", "get", "token"]
    assert cut("zebra") == []


def test_docstring_and_comment_give_pairs() -> None:
    assert pairs_of_source(_SOURCE) == [
        (
            "Return the user who has this name.",
            "The directory is asked first; if it has no such person, the old list is read line by line.",
        ),
        ("OpenTokenStore", "Keeps the keys of all sessions that are still open."),
        ("people leave out the blank between their names", 'return directory.lookup(name.replace(" ", ""))'),
    ]


def test_invalid_python_gives_no_pairs() -> None:
    assert pairs_of_source("def (") == []
    assert pairs_of_source("\0") == []


def test_packages_give_each_text_once(tmp_path: Path) -> None:
    for name in ("one", "two"):
        with zipfile.ZipFile(tmp_path / f"{name}-1-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{name}/code.py", _SOURCE)
            wheel.writestr(f"{name}/tests/code.py", _SOURCE.replace("user", "guest"))
    (tmp_path / "notes.txt").write_text("no wheel")
    assert pairs_of_packages(str(tmp_path)) == pairs_of_source(_SOURCE)


def test_frequent_unknown_words_get_rows() -> None:
    pairs = [("kwargs dict", "Kwargs again"), ("a dict", "snake_kwargs"), ("kwargs", "camelCase")]
    assert frequent(pairs, {"the", "again"}, most=2) == ["kwargs", "dict"]


def test_every_technical_word_has_a_row() -> None:
    table = open_table(vector_table.TABLE_PATH)
    assert table is not None
    assert [word for word in meanings() if table.find_row(word) < 0] == []


def test_pairs_are_statements_with_prompts() -> None:
    text = "= Money is in cents.\nadd a price\n\nsum is off\n\n= Unasked.\n= Ports begin at 4000.\nstart it\n"
    assert list(of_text(text)) == [
        ("Money is in cents.", ["add a price", "sum is off"]),
        ("Ports begin at 4000.", ["start it"]),
    ]


def test_every_training_statement_has_prompts() -> None:
    for talk in (True, False):
        found = list(statements(talk=talk))
        assert len(found) > 1000
        assert all(said and all(asking) for said, asking in found)


def test_words_of_several_texts_get_rows() -> None:
    texts = [f"rechnung {number} bezahlen" for number in range(5)] + ["rechnung einmal"]
    assert repeated(texts, {"bezahlen"}) == ["rechnung"]
