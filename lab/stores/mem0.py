"""Runs mem0 from PyPI with Qdrant on disk and an embedder that needs no network."""

from __future__ import annotations

import shutil
from pathlib import Path

from lab.stores.run import install_pypi, pack_database, run

PACKAGE = "mem0ai==2.2.1"
_SCRIPT = """
import json, os, sys
os.environ["MEM0_TELEMETRY"] = "False"
os.environ["OPENAI_API_KEY"] = "none"
from mem0 import Memory
from mem0.embeddings.openai import OpenAIEmbedding
OpenAIEmbedding.embed = lambda self, text, *_: [float(len(text) % 7 + 1)] * 8
OpenAIEmbedding.embed_batch = lambda self, texts, *_: [self.embed(text) for text in texts]
home = sys.argv[1]
memory = Memory.from_config({
    "vector_store": {"provider": "qdrant", "config": {
        "path": home + "/qdrant", "embedding_model_dims": 8, "on_disk": True}},
    "embedder": {"provider": "openai", "config": {"embedding_dims": 8}},
    "history_db_path": home + "/history.db",
})
def add(text, **others):
    return memory.add(text, user_id="ada", infer=False, **others)["results"][0]["id"]
add("Prices are stored in cents.", metadata={"project": "orders", "categories": ["prices"]})
changed = add("Deploy with make deploy.", agent_id="claude-code", run_id="session-1")
memory.update(changed, "Deploy with make release.")
deleted = add("The old shop is still up.")
memory.delete(deleted)
with open(home + "/get_all.json", "w") as file:
    json.dump(memory.get_all(filters={"user_id": "ada"}), file, indent=1)
memory.vector_store.client.close()
"""


def make(scratch: Path, target: Path) -> None:
    """Make a history and a vector store with two memories and a deleted one, and their export."""
    programs = install_pypi(scratch, PACKAGE)
    home = scratch / "homes" / "mem0"
    shutil.rmtree(home, ignore_errors=True)
    run([str(programs / "python"), "-c", _SCRIPT, str(home)], home, {"HOME": str(home)})
    pack_database(home / "history.db", target / "history.db.gz")
    pack_database(home / "qdrant" / "collection" / "mem0" / "storage.sqlite", target / "storage.sqlite.gz")
    shutil.copy(home / "get_all.json", target / "get_all.json")
