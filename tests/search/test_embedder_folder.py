"""Embedding by a local model: graphs, reproducibility, errors."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.search.toy_models import WIDTH, write_embedder
from told.errors import MissingError
from told.search.vectors import model_folder as _model_folder
from told.search.vectors.arithmetic import similarity
from told.search.vectors.embedder import load_embedder

if TYPE_CHECKING:
    from pathlib import Path

    from told.search.vectors.embedder import Embedder


def embedder_in(path: str) -> Embedder:
    found = load_embedder(path)
    assert found is not None
    return found


def vector(embedder: Embedder, text: str, *, asking: bool = False) -> bytes:
    found = embedder.vectors([text], asking=asking)[0]
    assert found is not None
    return found


@pytest.mark.parametrize(
    "shape",
    [
        {}, {"types": False}, {"kind": "INT32"}, {"width": 32}, {"width": 32, "types": False},
        {"pooled": "sentence_embedding"}, {"pooled": "vector"},
    ],
    ids=str,
)  # fmt: skip
def test_common_model_shapes_work(tmp_path: Path, shape: dict[str, Any]) -> None:
    embedder = embedder_in(write_embedder(tmp_path / "toy", **shape))
    undo, revert, colour = (vector(embedder, text) for text in ("undo commit", "git revert", "blue button"))
    assert len(undo) == WIDTH
    assert similarity(undo, revert) > similarity(undo, colour) + 0.3


def test_mean_and_cls_pooling_differ(tmp_path: Path) -> None:
    mean = embedder_in(write_embedder(tmp_path / "mean", {"pool": "mean"}))
    first = embedder_in(write_embedder(tmp_path / "first", {"pool": "cls"}))
    assert vector(mean, "git") != vector(first, "git")
    assert vector(first, "git") == vector(first, "logo")  # what stands first is the same for all


def test_padding_does_not_change_vector(tmp_path: Path) -> None:
    wide = embedder_in(write_embedder(tmp_path / "wide", width=64))
    free = embedder_in(write_embedder(tmp_path / "free"))
    assert vector(wide, "undo the commit") == vector(free, "undo the commit")


def test_questions_and_texts_have_different_prefixes(tmp_path: Path) -> None:
    about = {"query_prefix": "find: ", "text_prefix": "keep: "}
    embedder = embedder_in(write_embedder(tmp_path / "toy", about))
    plain = embedder_in(write_embedder(tmp_path / "plain"))
    assert vector(embedder, "git", asking=True) == vector(plain, "find: git")
    assert vector(embedder, "git") == vector(plain, "keep: git")


def test_vector_does_not_depend_on_batch(tmp_path: Path) -> None:
    embedder = embedder_in(write_embedder(tmp_path / "toy"))
    texts = ["git", "undo the commit " * 20, "", "  \n", "\ud800 blue", "unknown words", "x" * 100_000]
    found = embedder.vectors(texts)
    assert found[2:4] == [None, None]
    assert found == [embedder.vectors([text])[0] for text in texts]
    assert embedder.vectors([]) == []


def test_long_text_is_truncated(tmp_path: Path) -> None:
    embedder = embedder_in(write_embedder(tmp_path / "toy", {"max_len": 8}))
    assert vector(embedder, "git " * 6 + "blue " * 50) == vector(embedder, "git " * 6)


def test_model_id_depends_on_name_and_files(tmp_path: Path) -> None:
    one = embedder_in(write_embedder(tmp_path / "toy"))
    name, _, digest = one.model.partition(":")
    assert (name, len(digest), one.is_quick) == ("toy", 12, False)
    assert embedder_in(write_embedder(tmp_path / "again" / "toy")).model == one.model
    other = embedder_in(write_embedder(tmp_path / "other", {"name": "my model: v1"}))
    assert other.model.startswith("my-model--v1:")
    assert embedder_in(write_embedder(tmp_path / "toy", {"pool": "cls"})).model != one.model
    before = embedder_in(str(tmp_path / "toy")).model
    write_embedder(tmp_path / "toy", {"pool": "cls", "floor": 0.3, "query_prefix": "find: "})
    assert embedder_in(str(tmp_path / "toy")).model == before  # texts have the same vectors
    (tmp_path / "toy" / "model.onnx_data").write_bytes(b"weights")
    assert embedder_in(str(tmp_path / "toy")).model != before


def test_model_is_loaded_once_per_process(tmp_path: Path) -> None:
    path = write_embedder(tmp_path / "toy")
    first = embedder_in(path)
    assert embedder_in(path) is first
    write_embedder(tmp_path / "toy", {"pool": "cls", "name": "changed"})
    again = embedder_in(path)
    assert again is not first
    assert again.model.startswith("changed:")
    (tmp_path / "toy" / "model.onnx").unlink()
    assert "has no model.onnx" in refused(path)


def test_vectors_are_equal_across_processes(tmp_path: Path) -> None:
    path = write_embedder(tmp_path / "toy")
    program = (
        "import sys\nfrom told.search.vectors.embedder import load_embedder\n"
        "found = load_embedder(sys.argv[1])\n"
        "assert 'onnxruntime' not in sys.modules, 'loaded before it is needed'\n"
        "print(found.model, found.vectors(['undo the commit'])[0].hex())\n"
    )
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    embedder = embedder_in(path)
    assert done.stdout.split() == [embedder.model, vector(embedder, "undo the commit").hex()]
    assert done.stderr == ""


def refused(path: str, text: str = "git") -> str:
    with pytest.raises(MissingError) as raised:
        embedder_in(path).vectors([text])
    said = str(raised.value)
    assert raised.value.exit_code == 4
    assert "\n" not in said
    assert path in said
    return said


def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    said = refused(str(tmp_path / "nowhere"))
    assert said.endswith(
        "A model's folder has model.onnx, tokenizer.json and told.json; docs/models.md says more."
    )


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "told.json"])
def test_missing_file_is_an_error(tmp_path: Path, name: str) -> None:
    path = write_embedder(tmp_path / "toy")
    (tmp_path / "toy" / name).unlink()
    assert f"{path} has no {name}. " in refused(path)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
@pytest.mark.parametrize("content", [b"", b"x", b"{}", b"\x08\x09\x12"])
def test_broken_file_is_an_error(tmp_path: Path, name: str, content: bytes) -> None:
    path = write_embedder(tmp_path / "toy")
    (tmp_path / "toy" / name).write_bytes(content)
    assert f"The model in {path} cannot be used: " in refused(path)


@pytest.mark.parametrize(
    ("about", "says"),
    [
        ("{", "is not valid JSON"), ("[]", "must be a JSON object"),
        ('{"pol": "cls"}', "has 'pol', which told"), ('{"max_len": "5"}', "max_len in {} must"),
        ('{"pool": "max"}', 'pool in {} must be "mean" or "cls".'),
        ('{"max_len": true}', "max_len in {} must"), ('{"max_len": 0}', "from 8 to 8192"),
        ('{"query_prefix": 1}', 'query_prefix in {} must be of the kind of "".'),
        ("\xff", "is not valid JSON"), ('{"floor": 2}', "floor in {} must be a number from 0 to 1."),
        ('{"floor": true}', "floor in {} must be a number"),
    ],
)  # fmt: skip
def test_invalid_told_json_is_an_error(tmp_path: Path, about: str, says: str) -> None:
    path = write_embedder(tmp_path / "toy")
    (tmp_path / "toy" / "told.json").write_bytes(about.encode("latin-1"))
    assert says.replace("{}", str(tmp_path / "toy" / "told.json")) in refused(path)


def test_model_with_other_inputs_is_an_error(tmp_path: Path) -> None:
    assert "wants pixel_values, which told does not know" in refused(
        write_embedder(tmp_path / "toy", more="pixel_values")
    )


def test_floor_comes_from_told_json(tmp_path: Path) -> None:
    assert embedder_in(write_embedder(tmp_path / "toy")).floor == 0.6
    assert embedder_in(write_embedder(tmp_path / "toy", {"floor": 0})).floor == 0


def test_missing_extra_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    path = write_embedder(tmp_path / "toy")
    with monkeypatch.context() as patch:
        patch.setattr(_model_folder, "import_module", missing)  # it is there, and broken
        assert refused(path).endswith("pip install 'told[onnx]'.")
    monkeypatch.setattr(_model_folder, "_LIBRARIES", ("numpy", "not_installed_here"))
    assert refused(path).endswith("pip install 'told[onnx]'.")


def test_told_json_matches_docs(tmp_path: Path) -> None:
    path = write_embedder(tmp_path / "toy", _model_folder.DEFAULTS)
    assert json.loads((tmp_path / "toy" / "told.json").read_text()) == _model_folder.DEFAULTS
    assert vector(embedder_in(path), "git")
