"""What models cost: the table that comes with told, and real ones in folders, each in a fresh process."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from typing import Any

from benchmarks import CannotMeasureError, measure, model_folders

_TABLE = "table"
_QUESTIONS = (
    "how do I undo the last commit", "why does the import fail in march", "which database do we use",
    "where is the token refreshed", "what did we decide about the cache", "who broke the release branch",
)  # fmt: skip
_TEXTS = 100
_WORDS = 50  # in a text

HOW = (
    "Each model is loaded in a fresh process, on one thread. load_ms is until its first vector; "
    "query_ms is the median of the questions behind the first one; texts_per_s counts texts of "
    f"{_WORDS} words, by CPU time, so that others who use the machine count less; reranker: query_ms is one "
    "question with 20 texts. peak_mb is the most memory that the process ever had. The models "
    "are int8, from the packages that `benchmarks/model_folders.py` names."
)
_PROGRAM = """
import json, resource, sys, time
about = json.load(sys.stdin)
began, cpu = time.perf_counter(), time.process_time()
from told.search.vectors.embedder import chosen
from told.search.vectors.model_folder import FIRST, Reranker
if about["name"] == "reranker":
    model = Reranker(about["folder"])
    def ask(question): return model.scores(question, [])
    def read(texts): return model.scores(about["questions"][0], texts)
    name = ""
else:
    model = chosen(about["folder"])
    def ask(question): return model.vectors([question], asking=True)
    def read(texts): return model.vectors(texts)
    name = model.model
first = ask(about["questions"][0]) if name else read(about["texts"][:1])
load, load_cpu = time.perf_counter() - began, time.process_time() - cpu
times = []
for question in about["questions"][1:]:
    began = time.process_time()
    ask(question) if name else model.scores(question, about["texts"][:FIRST])
    times.append(time.process_time() - began)
began = time.process_time()
read(about["texts"])
took = time.process_time() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([name, load, load_cpu, times, len(about["texts"]) / took, peak]))
"""


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure the table, and every model that can be had."""
    figures: dict[str, Any] = {"benchmark": "models"}
    for name in (_TABLE, *model_folders.MODELS):
        try:
            folder = "" if name == _TABLE else model_folders.folder_of(name, arguments.data)
        except (OSError, subprocess.SubprocessError, IndexError) as error:
            figures[name] = {"why_not": f"cannot be had: {error}"}
            continue
        figures[name] = _measured(name, folder, 20 if arguments.quick else _TEXTS)
    figures["machine"] = measure.machine()
    figures["how"] = HOW
    return figures


def _measured(name: str, folder: str, count: int) -> dict[str, Any]:
    given = {"name": name, "folder": folder, "questions": _QUESTIONS, "texts": _texts(count)}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], input=json.dumps(given), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise CannotMeasureError(f"{name} failed: {done.stderr.strip()[-300:]}")
    model, load, load_cpu, times, per_second, peak = json.loads(done.stdout)
    size = sum(entry.stat().st_size for entry in os.scandir(folder)) if folder else 0
    return {
        "model": model, "size_mb": round(size / 1e6, 1), "load_ms": round(load * 1000),
        "load_cpu_ms": round(load_cpu * 1000), "query_ms": round(statistics.median(times) * 1000, 1),
        "texts_per_s": round(per_second, 1),
        "peak_mb": round(peak / (1e6 if sys.platform == "darwin" else 1e3)),
    }  # fmt: skip


def _texts(count: int) -> list[str]:
    """Return texts as people write them, none like the other."""
    words = " ".join(_QUESTIONS).split()
    return [
        " ".join(words[(at * 7 + step * (at + 1)) % len(words)] for step in range(_WORDS))
        for at in range(count)
    ]
