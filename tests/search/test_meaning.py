"""Vectors of the built-in table."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from told.search.vectors import table as vector_table
from told.search.vectors.arithmetic import similarities, similarity
from told.search.vectors.table import HEADER_BYTES, NAME_BYTES, RECORD_BYTES, SLOTS, open_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def near(one: str, other: str) -> float:
    vectors = vector_table.make_vector(one), vector_table.make_vector(other)
    assert vectors[0] is not None
    assert vectors[1] is not None
    return similarity(vectors[0], vectors[1])


@pytest.mark.parametrize(
    ("text", "same", "unrelated"),
    [
        ("commit your work before you switch the branch", "save changes in git first", "the port is 8080"),
        ("ruff reports an unused import", "the linter complains", "the invoice has a wrong address"),
        ("create a venv", "set up the python virtual environment", "the button should be blue"),
        ("the tests are flaky", "pytest fails sometimes", "rename the column"),
        ("push it to production", "deploy the release", "the colour of the header"),
        ("we use postgres", "which database do we have?", "indent with two spaces"),
        ("npm install fails", "the javascript package manager is broken", "the meeting is on friday"),
        ("users cannot sign in", "login is broken", "the chart needs a legend"),
        ("store the password in the vault", "credentials and secrets", "sort the list by date"),
        ("it is too slow", "performance and latency", "the license is MIT"),
        ("undo the last change", "revert the commit", "the logo is too small"),
        ("open a pr", "pull request for review", "the disk is full"),
        ("kubectl get pods", "containers in the kubernetes cluster", "translate the page to French"),
        ("where did we go on holiday", "our trip to the beach in summer", "compile the kernel"),
    ],
)
def test_same_meaning_is_nearer_than_unrelated_text(text: str, same: str, unrelated: str) -> None:
    assert near(text, same) > near(text, unrelated) + 0.1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("getUserToken", "get_user_token"), ("HTTPServer", "http server"),
        ("src/auth/loginForm.py", "src auth login form py"),
        ("naïve café", "naive cafe"), ("COMMIT", "commit"), ("PostgreSQL", "postgresql"),
    ],
)  # fmt: skip
def test_other_spellings_are_near(one: str, other: str) -> None:
    assert near(one, other) > 0.75


def test_vector_is_equal_in_every_process() -> None:
    text = "Die Tests brauchen eine venv; see src/app/mainLoop.py – naïve 日本語 tokens"
    code = (
        "from told.search.vectors.table import make_vector, table_model_id;"
        f"print(make_vector({text!r}).hex(), table_model_id())"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    vector = vector_table.make_vector(text)
    assert vector is not None
    assert printed == {f"{vector.hex()} {vector_table.table_model_id()}\n".encode()}


def test_vectors_have_common_length() -> None:
    texts = ["a", "commit", "the quick brown fox " * 500, "x = y[0] + 3", "kubernetes " * 3]
    for text in texts:
        assert near(text, text) == pytest.approx(1, abs=0.03)


@given(st.text())
def test_any_text_has_valid_vector_or_none(text: str) -> None:
    vector = vector_table.make_vector(text)
    assert vector is None or len(vector) == 256


@pytest.mark.parametrize("text", ["", " \n\t", "!!! ... ???", "\0", "\ud800", "\u200b"])
def test_text_without_words_has_no_vector(text: str) -> None:
    assert vector_table.make_vector(text) is None


@pytest.mark.parametrize(
    "unit", ["a", "word ", "é", "汉", "aB", "\u0301", "🙂 ", "x_y/", "\ud800", "qzxjk " * 7, "A" * 63 + " "]
)
def test_long_text_is_read_up_to_limit(unit: str) -> None:
    long = unit * (1_000_000 // len(unit))
    assert vector_table.make_vector(long) == vector_table.make_vector(long[:8192])


@settings(max_examples=50)
@given(st.lists(st.text(min_size=1), min_size=1, max_size=20))
def test_similarities_equal_single_similarity(texts: list[str]) -> None:
    found = [vector for vector in map(vector_table.make_vector, [*texts, "one word"]) if vector]
    products = [
        sum(a * b for a, b in zip(memoryview(found[0]).cast("b"), memoryview(one).cast("b"), strict=True))
        / 160_000
        for one in found
    ]
    assert similarities(found[0], found) == products
    assert [similarity(found[0], one) for one in found] == products


def test_different_dimensions_are_refused() -> None:
    with pytest.raises(ValueError, match="same model"):
        similarities(bytes(256), [bytes(128)])
    assert similarities(bytes(256), []) == []


def test_table_matches_its_header() -> None:
    assert vector_table.is_intact()
    model = vector_table.table_model_id()
    table = open_table(vector_table.TABLE_PATH)
    assert table is not None
    assert model == f"{table.model}:{table.digest[:12]}"
    assert os.path.getsize(vector_table.TABLE_PATH) < 12_000_000


def _damaged(data: bytes, how: str) -> bytes:
    return {
        "empty": b"",
        "short": data[:1000],
        "cut": data[:-1],
        "longer": data + b"x",
        "other": b"SQLite format 3\0" + data[16:],
        "noise": bytes(range(256)) * 8,
        "count": data[:HEADER_BYTES].replace(b"pieces=", b"pieces=x") + data[HEADER_BYTES:],
        "dimensions": data[:HEADER_BYTES].replace(b"dimensions=256", b"dimensions=128") + data[HEADER_BYTES:],
    }[how]


@pytest.mark.parametrize("how", ["empty", "short", "cut", "longer", "other", "noise", "count", "dimensions"])
def test_damaged_table_gives_no_vector(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open(vector_table.TABLE_PATH, "rb") as file:
        data = file.read()
    damaged = tmp_path / "meaning.bin"
    damaged.write_bytes(_damaged(data, how))
    monkeypatch.setattr(vector_table, "TABLE_PATH", str(damaged))
    assert vector_table.make_vector("commit") is None
    assert vector_table.table_model_id() is None
    assert not vector_table.is_intact()


def test_missing_table_gives_no_vector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (tmp_path / "none.bin", tmp_path):
        monkeypatch.setattr(vector_table, "TABLE_PATH", str(path))
        assert vector_table.make_vector("commit") is None
        assert vector_table.table_model_id() is None


@pytest.mark.parametrize("byte", [b"\0", b"\x01", b"\x7f", b"\xff"])
def test_table_of_noise_raises_nothing(byte: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open(vector_table.TABLE_PATH, "rb") as file:
        data = file.read()
    noise = tmp_path / "meaning.bin"
    noise.write_bytes(data[:HEADER_BYTES] + byte * (len(data) - HEADER_BYTES))
    monkeypatch.setattr(vector_table, "TABLE_PATH", str(noise))
    assert vector_table.make_vector("commit your work " * 400) is None
    rows = tmp_path / "rows.bin"
    records = HEADER_BYTES + 4 * SLOTS
    body = bytearray(data)
    body[records + NAME_BYTES :: RECORD_BYTES] = byte * len(body[records + NAME_BYTES :: RECORD_BYTES])
    body[records + NAME_BYTES + 1 :: RECORD_BYTES] = byte * len(
        body[records + NAME_BYTES + 1 :: RECORD_BYTES]
    )
    rows.write_bytes(body)
    monkeypatch.setattr(vector_table, "TABLE_PATH", str(rows))
    vector = vector_table.make_vector("commit your work " * 400)
    assert vector is None if byte == b"\0" else vector is not None


def test_digest_detects_changed_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = tmp_path / "meaning.bin"
    shutil.copy(vector_table.TABLE_PATH, changed)
    with changed.open("r+b") as file:
        file.seek(-100, os.SEEK_END)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    monkeypatch.setattr(vector_table, "TABLE_PATH", str(changed))
    assert not vector_table.is_intact()
    assert vector_table.make_vector("commit") is not None
