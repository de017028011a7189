"""Meaning: texts about the same are near, whatever their words; and nothing that is typed breaks it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from told.search import meaning
from told.search._meaning_file import HEAD, NAME, RECORD, SLOTS, opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path


def near(one: str, other: str) -> float:
    vectors = meaning.vector(one), meaning.vector(other)
    assert vectors[0] is not None
    assert vectors[1] is not None
    return meaning.similarity(vectors[0], vectors[1])


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
def test_a_text_is_nearer_to_what_means_the_same_than_to_what_does_not(
    text: str, same: str, unrelated: str
) -> None:
    assert near(text, same) > near(text, unrelated) + 0.1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("getUserToken", "get_user_token"), ("HTTPServer", "http server"),
        ("src/auth/loginForm.py", "src auth login form py"),
        ("naïve café", "naive cafe"), ("COMMIT", "commit"), ("PostgreSQL", "postgresql"),
    ],
)  # fmt: skip
def test_the_same_words_written_otherwise_are_near(one: str, other: str) -> None:
    assert near(one, other) > 0.75


def test_a_text_has_the_same_vector_in_every_process() -> None:
    text = "Die Tests brauchen eine venv; see src/app/mainLoop.py – naïve 日本語 tokens"
    code = f"from told.search import meaning; print(meaning.vector({text!r}).hex(), meaning.model_id())"
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
        ).stdout
        for seed in ("1", "2")
    }
    vector = meaning.vector(text)
    assert vector is not None
    assert printed == {f"{vector.hex()} {meaning.model_id()}\n".encode()}


def test_a_vector_is_nearest_to_itself_and_about_as_long_as_every_other() -> None:
    texts = ["a", "commit", "the quick brown fox " * 500, "x = y[0] + 3", "kubernetes " * 3]
    for text in texts:
        assert near(text, text) == pytest.approx(1, abs=0.03)


@given(st.text())
def test_any_text_has_a_vector_or_none(text: str) -> None:
    vector = meaning.vector(text)
    assert vector is None or len(vector) == 256


@pytest.mark.parametrize("text", ["", " \n\t", "!!! ... ???", "\0", "\ud800", "\u200b"])
def test_a_text_without_words_has_no_vector(text: str) -> None:
    assert meaning.vector(text) is None


@pytest.mark.parametrize(
    "unit", ["a", "word ", "é", "汉", "aB", "\u0301", "🙂 ", "x_y/", "\ud800", "qzxjk " * 7, "A" * 63 + " "]
)
def test_what_stands_far_behind_the_start_of_a_text_is_not_read(unit: str) -> None:
    long = unit * (1_000_000 // len(unit))
    assert meaning.vector(long) == meaning.vector(long[:8192])


@settings(max_examples=50)
@given(st.lists(st.text(min_size=1), min_size=1, max_size=20))
def test_many_vectors_are_scored_as_each_of_them_is(texts: list[str]) -> None:
    found = [vector for vector in map(meaning.vector, [*texts, "one word"]) if vector]
    products = [
        sum(a * b for a, b in zip(memoryview(found[0]).cast("b"), memoryview(one).cast("b"), strict=True))
        / 160_000
        for one in found
    ]
    assert meaning.similarities(found[0], found) == products
    assert [meaning.similarity(found[0], one) for one in found] == products


def test_vectors_of_different_models_are_not_compared() -> None:
    with pytest.raises(ValueError, match="same model"):
        meaning.similarities(bytes(256), [bytes(128)])
    assert meaning.similarities(bytes(256), []) == []


def test_the_table_is_what_its_head_says() -> None:
    assert meaning.is_whole()
    model = meaning.model_id()
    table = opened(meaning.PATH)
    assert table is not None
    assert model == f"{table.model}:{table.digest[:12]}"
    assert os.path.getsize(meaning.PATH) < 12_000_000


def _damaged(data: bytes, how: str) -> bytes:
    return {
        "empty": b"",
        "short": data[:1000],
        "cut": data[:-1],
        "longer": data + b"x",
        "other": b"SQLite format 3\0" + data[16:],
        "noise": bytes(range(256)) * 8,
        "count": data[:HEAD].replace(b"pieces=", b"pieces=x") + data[HEAD:],
        "dimensions": data[:HEAD].replace(b"dimensions=256", b"dimensions=128") + data[HEAD:],
    }[how]


@pytest.mark.parametrize("how", ["empty", "short", "cut", "longer", "other", "noise", "count", "dimensions"])
def test_a_damaged_table_gives_no_meaning_and_no_error(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(meaning.PATH, "rb") as file:
        data = file.read()
    damaged = tmp_path / "meaning.bin"
    damaged.write_bytes(_damaged(data, how))
    monkeypatch.setattr(meaning, "PATH", str(damaged))
    assert meaning.vector("commit") is None
    assert meaning.vectors(["commit"]) == [None]
    assert meaning.model_id() is None
    assert not meaning.is_whole()


def test_a_missing_table_gives_no_meaning_and_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (tmp_path / "none.bin", tmp_path):
        monkeypatch.setattr(meaning, "PATH", str(path))
        assert meaning.vector("commit") is None
        assert meaning.model_id() is None


@pytest.mark.parametrize("byte", [b"\0", b"\x01", b"\x7f", b"\xff"])
def test_a_table_with_nothing_but_noise_behind_its_head_raises_nothing(
    byte: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open(meaning.PATH, "rb") as file:
        data = file.read()
    noise = tmp_path / "meaning.bin"
    noise.write_bytes(data[:HEAD] + byte * (len(data) - HEAD))
    monkeypatch.setattr(meaning, "PATH", str(noise))
    assert meaning.vector("commit your work " * 400) is None
    rows = tmp_path / "rows.bin"
    records = HEAD + 4 * SLOTS
    body = bytearray(data)
    body[records + NAME :: RECORD] = byte * len(body[records + NAME :: RECORD])
    body[records + NAME + 1 :: RECORD] = byte * len(body[records + NAME + 1 :: RECORD])
    rows.write_bytes(body)
    monkeypatch.setattr(meaning, "PATH", str(rows))
    vector = meaning.vector("commit your work " * 400)
    assert vector is None if byte == b"\0" else vector is not None


def test_a_changed_byte_is_found_by_the_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = tmp_path / "meaning.bin"
    shutil.copy(meaning.PATH, changed)
    with changed.open("r+b") as file:
        file.seek(-100, os.SEEK_END)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    monkeypatch.setattr(meaning, "PATH", str(changed))
    assert not meaning.is_whole()
    assert meaning.vector("commit") is not None
