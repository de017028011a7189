"""Other tools' retrieval on the same corpora, each with its own code in an environment of its own."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from hashlib import blake2s
from typing import Any, NamedTuple

from benchmarks import measure, retrieval_peers_scripts
from benchmarks.retrieval import Answer, Corpus
from benchmarks.retrieval_cost import Cost
from benchmarks.retrieval_peers_install import PEERS, Ready

_TOO_LONG = 900  # seconds of wall time

GIVEN = (
    "Peers run their own code and get the bare text of each turn (mempalace its date as well), in one "
    "process each with one thread; their peak_MB is the whole process, and sessions are ranked by "
    "their best turn among "
    "50 results. mem0: add(infer=False), so no model reads the text, and its default vector store in a "
    "folder. mempalace: one drawer a turn, search with its defaults. Both need a model that they would "
    "fetch from the network; they are given all-MiniLM-L6-v2 (int8) out of a package. agentmemory: its "
    "class SearchIndex (BM25), without its daemon. What a peer answered to the same questions before is "
    "taken again, with its cost; --again asks anew."
)


class Ran(NamedTuple):
    """What a tool answered, or why it did not."""

    answers: list[list[Answer]]
    cost: Cost | None
    state: str  # its version, or a sentence that says why it is not measured


def options(parser: argparse.ArgumentParser) -> None:
    """Add what a benchmark with peers takes."""
    parser.add_argument(
        "--peers", action="store_true", help="other tools as well, installed from the registries"
    )
    parser.add_argument("--peer", choices=sorted(PEERS), action="append", help="only this one; repeatable")
    parser.add_argument("--cache", default="", help="where they are installed; by default the user's cache")
    parser.add_argument("--again", action="store_true", help="ask them also what they were asked before")


def chosen(arguments: argparse.Namespace) -> list[str]:
    """Return the names of the tools that were asked for."""
    only = getattr(arguments, "peer", None)
    return only or (list(PEERS) if getattr(arguments, "peers", False) else [])


def asked(
    name: str, corpora: Sequence[Corpus], cache: str = "", *, again: bool = False, limit: int = _TOO_LONG
) -> Ran:
    """Ask one tool all questions of all corpora, unless it was asked the same before."""
    cache = cache or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "told-bench"
    )
    os.makedirs(cache, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        try:
            ready = PEERS[name](cache, folder)
        except (OSError, subprocess.SubprocessError, zipfile.BadZipFile) as error:
            ready = f"it cannot be installed: {_why(error)}"
        if isinstance(ready, str):
            return Ran([], None, f"not measured; {ready}")
        job = _job(corpora)
        key = "\0".join((name, ready.version, retrieval_peers_scripts.ALL, json.dumps(job)))
        kept = os.path.join(cache, f"answers-{name}-{blake2s(key.encode(), digest_size=8).hexdigest()}.json")
        if again or not os.path.exists(kept):
            why = _run(ready, job, folder, kept, limit)
            if why:
                return Ran([], None, f"not measured; {why}")
        with open(kept, encoding="utf-8") as file:
            return _read(json.load(file), corpora, ready.version)


def _job(corpora: Sequence[Corpus]) -> list[dict[str, Any]]:
    return [
        {
            "said": [[*turn[:3], turn.text] for turn in corpus.said],
            "asked": [list(one) for one in corpus.questions],
        }
        for corpus in corpora
    ]


def _run(ready: Ready, corpora: list[dict[str, Any]], folder: str, kept: str, limit: int) -> str:
    """Run a tool and keep what it answered; return why it did not."""
    job, result, home = (os.path.join(folder, name) for name in ("job.json", "result.json", "home"))
    os.makedirs(home, exist_ok=True)
    with open(job, "w", encoding="utf-8") as file:
        json.dump({"corpora": corpora, "scratch": os.path.join(folder, "scratch")}, file)
    environ = {
        "HOME": home, "PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1", **ready.environ,
    }  # fmt: skip
    words = [sys.executable, "-c", _LIMITED, str(limit), *ready.words, job, result]
    ran = measure.heavy(measure.Command(words, environ, folder))
    try:
        with open(result, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return f"it ended with {ran.code}: {ran.errors.strip()[-300:]}"
    with open(kept, "w", encoding="utf-8") as file:
        json.dump({**found, "peak_mb": ran.peak_mb}, file)
    return ""


def _read(found: dict[str, Any], corpora: Sequence[Corpus], version: str) -> Ran:
    answers = []
    for corpus, of_corpus in zip(corpora, found["answers"], strict=True):
        sessions = {turn.id: turn.session for turn in corpus.said}
        answers.append([Answer(ids, list(dict.fromkeys(sessions[one] for one in ids))) for ids in of_corpus])
    cost = Cost(found["ms"], found["index_seconds"], found["index_bytes"], found["peak_mb"])
    return Ran(answers, cost, version)


# A tool that does not end is ended.
_LIMITED = """
import subprocess, sys
try:
    sys.exit(subprocess.run(sys.argv[2:], timeout=float(sys.argv[1])).returncode)
except subprocess.TimeoutExpired:
    sys.exit(f"it took longer than {sys.argv[1]} seconds")
"""


def _why(error: Exception) -> str:
    return str(getattr(error, "stderr", "") or error).strip()[-300:]
