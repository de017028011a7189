"""The programs that ask other tools: each indexes every corpus with the tool's own code, and asks."""

from __future__ import annotations

# Both of Python's read a job as JSON and write the same shape back.
_AROUND = """
import json, os, sys, time
job = json.load(open(sys.argv[1]))
answers, ms, seconds = [], [], 0.0
for number, corpus in enumerate(job["corpora"]):
    folder = os.path.join(job["scratch"], str(number))
    os.makedirs(folder)
    began = time.perf_counter()
    index = Index(folder, corpus["said"])
    seconds += time.perf_counter() - began
    found = []
    for question, _ in corpus["asked"]:
        began = time.perf_counter()
        found.append(index.answer(question))
        ms.append((time.perf_counter() - began) * 1000)
    answers.append(found)
paths = [os.path.join(at, name) for at, _, names in os.walk(job["scratch"]) for name in names]
size = sum(map(os.path.getsize, paths))
result = {"answers": answers, "ms": ms, "index_seconds": seconds, "index_bytes": size}
json.dump(result, open(sys.argv[2], "w"))
"""

MEM0 = (
    """
import numpy as np, onnxruntime
from tokenizers import Tokenizer
from mem0 import Memory
model = os.environ["TOLD_BENCH_MODEL"]
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(os.path.join(model, "model.onnx"), options)
tokenizer = Tokenizer.from_file(os.path.join(model, "tokenizer.json"))
tokenizer.no_padding()
tokenizer.enable_truncation(256)
class MiniLM:
    config = None
    def embed(self, text, memory_action=None):
        ids = np.array([tokenizer.encode(text).ids], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        vector = session.run(None, given)[0][0].mean(0)
        return (vector / np.linalg.norm(vector)).tolist()
    def embed_batch(self, texts, memory_action="add"):
        return [self.embed(text) for text in texts]
class Index:
    def __init__(self, folder, said):
        self.memory = Memory.from_config({
            "vector_store": {"provider": "qdrant", "config": {
                "path": os.path.join(folder, "qdrant"), "embedding_model_dims": 384, "on_disk": True}},
            "llm": {"provider": "openai", "config": {"api_key": "none"}},
            "embedder": {"provider": "openai", "config": {"api_key": "none", "embedding_dims": 384}},
            "history_db_path": os.path.join(folder, "history.db"),
        })
        self.memory.embedding_model = MiniLM()
        for name, _, _, text in said:
            self.memory.add(text, user_id="bench", metadata={"turn": name}, infer=False)
    def answer(self, question):
        found = self.memory.search(question, filters={"user_id": "bench"}, top_k=50, threshold=0.0)
        return [one["metadata"]["turn"] for one in found["results"]]
""",
    _AROUND,
)

MEMPALACE = (
    """
from mempalace.convo_miner import file_conversation_exchange
from mempalace.palace import get_collection
from mempalace.searcher import search_memories
class Index:
    def __init__(self, folder, said):
        self.folder = folder
        collection = get_collection(folder)
        self.names = {}
        for name, session, at, text in said:
            drawer = file_conversation_exchange(
                collection, wing="bench", room="conversations", text=text, source_file=f"{session}/{name}",
                agent="bench", authored_at=time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(at / 1000)),
            )
            self.names[drawer] = name
    def answer(self, question):
        found = search_memories(question, self.folder, n_results=50)
        if "results" not in found:
            raise SystemExit(str(found))
        drawers = [one.get("drawer_id") for one in found["results"]]
        return [self.names[one] for one in drawers if one in self.names]
""",
    _AROUND,
)

# The class is not exported, so it is taken out of the installed file with the parts that it needs.
AGENTMEMORY = r"""
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
const dist = process.env.TOLD_BENCH_DIST;
const part = (text, name) => {
  const begin = text.indexOf(`//#region src/state/${name}.ts`);
  if (begin < 0) throw new Error(`${name} is not in this version`);
  return text.slice(begin, text.indexOf("//#endregion", begin));
};
const files = fs.readdirSync(dist).filter((name) => name.endsWith(".mjs"));
const texts = files.map((name) => fs.readFileSync(path.join(dist, name), "utf8"));
const main = texts.find((text) => text.includes("//#region src/state/search-index.ts"));
const cjk = texts.find((text) => text.includes("//#region src/state/cjk-segmenter.ts"));
const own = ["stemmer", "synonyms", "search-index"].map((name) => part(main, name));
const parts = [part(cjk, "cjk-segmenter"), ...own];
const cut = path.join(dist, "told-bench.mjs");
const needed = `import { createRequire } from "node:module";\n`;
fs.writeFileSync(cut, needed + parts.join("\n") + "\nexport { SearchIndex };\n");
const { SearchIndex } = await import(pathToFileURL(cut).href);
const job = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const result = { answers: [], ms: [], index_seconds: 0, index_bytes: 0 };
for (const corpus of job.corpora) {
  let began = performance.now();
  const index = new SearchIndex();
  for (const [id, sessionId, , narrative] of corpus.said)
    index.add({ id, sessionId, title: "", narrative, facts: [], concepts: [], files: [], type: "" });
  index.search("warm");
  result.index_seconds += (performance.now() - began) / 1000;
  result.index_bytes += Buffer.byteLength(index.serialize());
  const found = [];
  for (const [question] of corpus.asked) {
    began = performance.now();
    found.push(index.search(question, 50).map((one) => one.obsId));
    result.ms.push(performance.now() - began);
  }
  result.answers.push(found);
}
fs.writeFileSync(process.argv[3], JSON.stringify(result));
"""

ALL = "".join((*MEM0, *MEMPALACE, AGENTMEMORY))


def python(script: tuple[str, str]) -> str:
    """Return a program of Python's."""
    return f"import json, os, sys, time\n{script[0]}\n{script[1]}"
