"""What each reader takes from a real store of its tool."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.sync.other_stores import items_of, left_out_of, unpack
from told.errors import MissingError, ToldError, UsageError
from told.sync.stores import TOOLS, find_store, read_store
from told.sync.stores.item import Item, LeftOut
from told.sync.stores.literal_pickle import find_payload, read_literals

DAY = 1_780_000_000_000  # 28 May 2026


def test_claude_mem_gives_observations_their_facts_and_what_sessions_learned(tmp_path: Path) -> None:
    path = unpack("claude-mem", "claude-mem.db", tmp_path)
    items = items_of("claude-mem", path)
    assert len(items) == 14
    decision = items["observation/1"]
    assert decision.text.startswith("Charge an order once by its idempotency key. The payment client")
    assert (decision.kind, decision.project, decision.trust) == ("decision", "orders", "agent")
    assert (decision.created, decision.agent, decision.session) == (DAY + 60_000, "codex", "content-2")
    assert decision.entities == ("trade-off", "why-it-exists", "src/payments/client.py")
    fact = items["observation/1/fact/2"]
    assert (fact.text, fact.kind) == ("Keys expire after 24 hours.", "fact")
    assert fact.context == "Charge an order once by its idempotency key"
    assert fact.links == (("about", "observation/1"),)
    assert items["observation/3"].kind == "warning"  # by its concept
    assert items["observation/4"].text == "Added a retry to the importer. Three tries with a pause"
    assert items["observation/10"].text == "Staging reset. The staging database is reset every Sunday night."
    assert items["summary/1/next_steps"].text == "Next steps: Add a test with a slow payment server."
    assert items["summary/1/learned"].kind == "observation"
    assert "observation/9" not in items  # deleted there for good
    left = left_out_of("claude-mem", path)
    assert left["observation/8"] == ("it has no text", 1)
    assert left["user_prompts"] == ("raw prompts: told reads them from the agents' own files", 2)


@pytest.mark.parametrize("name", ["state_store.db", "export.json"])
def test_agentmemory_gives_memories_lessons_and_what_was_consolidated(tmp_path: Path, name: str) -> None:
    path = unpack("agentmemory", name, tmp_path)
    items = items_of("agentmemory", path)
    assert len(items) == 11
    assert items["mem_1"].links == (("supersedes", "mem_2"),)
    assert (items["mem_1"].kind, items["mem_1"].importance) == ("warning", 7.0)
    assert (items["mem_1"].created, items["mem_1"].updated) == (DAY, DAY + 3_600_000)
    statuses = {source: items[source].status for source in ("mem_2", "mem_3", "lsn_1", "lsn_2")}
    assert statuses == {"mem_2": "superseded", "mem_3": "archived", "lsn_1": "active", "lsn_2": "forgotten"}
    assert items["proc_1"].text == "Release (on Mondays): run make release; watch the log"
    assert items["obs_1/fact/1"].links == (("about", "obs_1"),)
    assert items["summary/session-1/decision/1"].kind == "decision"
    assert left_out_of("agentmemory", path)["mem:obs"][1] == 1


def test_agentmemory_without_its_engine_gives_what_its_mcp_server_saved(tmp_path: Path) -> None:
    items = list(items_of("agentmemory", unpack("agentmemory", "standalone.json", tmp_path)).values())
    assert [(one.text, one.kind) for one in items] == [
        ("Prices are stored in cents.", "decision"),
        ("Use pnpm and not npm.", "preference"),
    ]
    assert items[0].entities == ("prices", "money", "src/prices.py")


def test_agentmemory_rrs_keeps_locks_corrections_and_deletions(tmp_path: Path) -> None:
    items = items_of("agentmemory-rrs", unpack("agentmemory-rrs", "memory.db", tmp_path))
    by_text = {one.text: one for one in items.values()}
    assert len(items) == 7
    assert {one.project for one in items.values()} == {"/home/ada/orders"}
    locked = by_text["Never push directly to the main branch."]
    assert (locked.kind, locked.importance, locked.trust) == ("rule", 9.0, "agent")
    new = by_text["Deploy the orders service with make release on Mondays"]
    old = by_text["Deploy the orders service with make deploy on Fridays"]
    assert (new.kind, new.links) == ("correction", (("supersedes", old.source),))
    assert old.status == "superseded"
    assert by_text["The importer reads files in Latin-1."].status == "forgotten"
    assert by_text["We prefer pnpm over npm in this repository."].kind == "preference"
    assert by_text["All prices must be stored in cents."].kind == "rule"


def test_agentmemory_rrs_reads_all_projects_of_its_folder(tmp_path: Path) -> None:
    one = unpack("agentmemory-rrs", "", tmp_path / "new" / "projects")
    assert len(items_of("agentmemory-rrs", tmp_path / "new")) == 7
    assert len(items_of("agentmemory-rrs", tmp_path / "new" / "projects")) == 7
    assert len(items_of("agentmemory-rrs", one)) == 7


def test_sessionmem_keeps_kinds_importance_tags_and_expiry(tmp_path: Path) -> None:
    path = unpack("sessionmem", "memories.db", tmp_path)
    items = items_of("sessionmem", path)
    assert {source: (one.kind, one.importance) for source, one in items.items() if len(source) < 6} == {
        "one": ("decision", 8.0), "two": ("warning", 9.0), "three": ("fact", 5.0),
        "four": ("preference", 6.0), "five": ("fact", 3.0),
    }  # fmt: skip
    assert items["one"].entities == ("prices",)
    assert items["five"].status == "archived"
    assert (items["one"].project, items["one"].agent, items["one"].session) == (
        "orders", "claude-code", "session-1",
    )  # fmt: skip
    assert items["session-1-summary"].kind == "observation"
    assert left_out_of("sessionmem", path)["memory_feedback"] == ("deleted there, with the text", 1)
    exported = items_of("sessionmem", path.with_name("export.json"))
    assert exported["one"] == items["one"]


def test_ocm_gives_what_sessions_decided_did_and_left_to_do(tmp_path: Path) -> None:
    path = unpack("ocm", "memory.db", tmp_path)
    items = items_of("ocm", path)
    assert [(one.text, one.kind) for one in items.values()] == [
        ("To do: Test with a slow payment server", "observation"),
        ("Done: Added the idempotency key", "observation"),
        ("The client retried without a key.", "observation"),
        ("Use the order number as idempotency key", "decision"),
        ("Plan: Payments docs/plan.md", "fact"),
        ("Reference: Idempotency keys https://example.org/keys", "fact"),
        ("Keys expire after 24 hours", "decision"),
        ("Read files of the old shop as Latin-1", "decision"),
    ]
    first = next(iter(items.values()))
    assert (first.project, first.agent, first.session) == ("orders", "claude-code", "session-1")
    assert (first.context, first.entities) == ("Charge each order once", ("client.py",))


def test_ocm_reads_every_registered_project_and_names_those_that_are_gone(tmp_path: Path) -> None:
    path = unpack("ocm", "memory.db", tmp_path)
    home = tmp_path / ".openCodeMemory"
    home.mkdir()
    gone = tmp_path / "gone" / "memory.db"
    (home / "registry.json").write_text(f'[{{"db_path": "{path}"}}, {{"db_path": "{gone}"}}]')
    assert len(items_of("ocm", tmp_path)) == 8
    assert left_out_of("ocm", home) == {str(gone): ("a registered project whose store is gone", 1)}


def test_agent_memory_is_read_from_a_dump_of_postgresql(tmp_path: Path) -> None:
    path = unpack("agent-memory", "dump.sql", tmp_path)
    items = items_of("agent-memory", path)
    assert len(items) == 8
    decision = items["observation/1"]
    assert decision.text == "Charge once. The order number\\key is unique."
    assert (decision.kind, decision.project, decision.agent) == (
        "decision",
        "/home/ada/orders",
        "claude-code",
    )
    assert decision.session == "session-1"
    assert items["observation/1/fact/2"].text == "Keys live 24 hours"
    assert items["observation/2"].kind == "warning"
    lesson = items["lesson/1"]
    assert (lesson.kind, lesson.importance, lesson.links) == ("rule", 9.0, (("about", "observation/1"),))
    assert lesson.context == "Push (before Bash git\\s+push)"
    assert items["lesson/2"].status == "archived"
    assert items["session/session-1"].text == "Orders are charged once."
    assert left_out_of("agent-memory", path)["mem_observation_queue"][1] == 1


def test_agent_memory_is_read_from_saved_answers_of_its_api(tmp_path: Path) -> None:
    path = unpack("agent-memory", "answers.json", tmp_path)
    items, dumped = items_of("agent-memory", path), items_of("agent-memory", path.with_name("dump.sql"))
    assert items.keys() == dumped.keys()
    assert {source: one.text for source, one in items.items()} == {
        source: one.text for source, one in dumped.items()
    }
    assert items["observation/1"].created == dumped["observation/1"].created > DAY


def test_agent_memory_with_a_url_says_why_pg_dump_cannot_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "postgresql://ada:geheim@127.0.0.1:1/agent_memory"
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingError, match="told needs pg_dump"):
        list(read_store("agent-memory", url))
    fake = tmp_path / "pg_dump"
    fake.write_text('#!/bin/sh\necho "$@" "$PGPASSWORD" >&2\nexit 1\n')
    fake.chmod(0o700)
    with pytest.raises(ToldError) as caught:
        list(read_store("agent-memory", url))
    assert "--dbname=postgresql://ada@127.0.0.1:1/agent_memory geheim" in str(caught.value)


def test_mem0_history_has_the_last_text_and_the_deleted_ones(tmp_path: Path) -> None:
    items = items_of("mem0", unpack("mem0", "history.db", tmp_path)).values()
    assert [(one.text, one.status) for one in items] == [
        ("Prices are stored in cents.", "active"),
        ("Deploy with make release.", "active"),
        ("The old shop is still up.", "forgotten"),
    ]
    assert all(one.created <= one.updated for one in items)


@pytest.mark.parametrize("name", ["storage.sqlite", "get_all.json"])
def test_mem0_vector_store_and_export_have_metadata(tmp_path: Path, name: str) -> None:
    prices, deploy = items_of("mem0", unpack("mem0", name, tmp_path)).values()
    assert (prices.text, prices.project, prices.entities) == (
        "Prices are stored in cents.", "orders", ("prices",),
    )  # fmt: skip
    assert (deploy.text, deploy.agent, deploy.session) == (
        "Deploy with make release.", "claude-code", "session-1",
    )  # fmt: skip


class _Attack:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def test_nothing_in_a_pickle_of_mem0_runs(tmp_path: Path) -> None:
    target = tmp_path / "made"
    content = pickle.dumps({"id": 1, "payload": {"data": "text", "attack": _Attack(target)}})
    assert read_literals(content)["payload"]["data"] == "text"
    found = find_payload(pickle.dumps({"id": 1, "payload": {"data": "x"}, "vector": [0.5]}))
    assert found == (1, {"data": "x"})
    assert find_payload(pickle.dumps(_Attack(target))) is None
    assert find_payload(b"\x80\x04}(.") is None
    assert not target.exists()
    pickle.loads(content)
    assert target.exists()  # the attack is a real one


def test_basic_memory_gives_prose_observations_and_relations(tmp_path: Path) -> None:
    items = items_of("basic-memory", unpack("basic-memory", "basic-memory", tmp_path))
    assert len(items) == 7
    note = items["main/payments/charge-once"]
    assert note.text.startswith("Charge once. Each order is charged once. See Importer for the files")
    assert note.entities == ("payments", "decisions")
    assert note.links == (("about", "main/shop/importer"), ("supersedes", "main/payments/charge-twice"))
    observations = {one.text: one for source, one in items.items() if source.startswith(f"{note.source}/")}
    assert {text: one.kind for text, one in observations.items()} == {
        "The order number is the idempotency key (from the review)": "decision",
        "Keys expire after 24 hours": "warning",
        "Ada wants one commit for each change": "preference",
    }
    assert observations["Keys expire after 24 hours"].context == "Charge once"
    assert items["main/shop/index"].text == "Index. lists Importer."


def test_basic_memory_reads_the_projects_of_its_settings(tmp_path: Path) -> None:
    notes = unpack("basic-memory", "basic-memory", tmp_path)
    other = tmp_path / "orders-notes"
    other.mkdir()
    (other / "Plain.md").write_text("Plain notes have no front matter.\n")
    settings = tmp_path / "config.json"
    settings.write_text(
        f'{{"projects": {{"main": {{"path": "{notes}"}}, "orders": "{other}", "old": "/nowhere"}},'
        ' "default_project": "main"}'
    )
    items = items_of("basic-memory", settings)
    assert len(items) == 8
    assert items["main/shop/importer"].project == ""
    assert (items["orders/Plain"].project, items["orders/Plain"].text) == (
        "orders", "Plain notes have no front matter.",
    )  # fmt: skip
    assert left_out_of("basic-memory", settings) == {"old": ("its folder '/nowhere' is not there", 1)}


def test_engram_keeps_scopes_topics_relations_and_deletions(tmp_path: Path) -> None:
    path = unpack("engram", "engram.db", tmp_path)
    items = items_of("engram", path)
    assert {source: (one.kind, one.status, one.project) for source, one in items.items()} == {
        "observation/1": ("decision", "active", "orders"),
        "observation/2": ("fact", "active", "orders"),
        "observation/3": ("fact", "active", ""),  # personal
        "observation/5": ("fact", "forgotten", "orders"),
        "observation/6": ("decision", "superseded", "orders"),
        "session/session-1": ("observation", "active", "orders"),
    }
    first = items["observation/1"]
    assert first.text == "Charge once. What: The order number is the key. Why: Retries charged twice"
    assert (first.links, first.entities) == ((("supersedes", "observation/6"),), ("architecture/payments",))
    assert first.created == DAY
    assert {source: count for source, (_, count) in left_out_of("engram", path).items()} == {
        "observations": 1, "user_prompts": 1,
    }  # fmt: skip


def test_mcp_memory_gives_a_statement_for_each_observation_and_relation(tmp_path: Path) -> None:
    path = unpack("mcp-memory", "memory.jsonl", tmp_path)
    items = items_of("mcp-memory", path).values()
    assert [(one.text, one.kind) for one in items] == [
        ("Ada: Prefers pnpm over npm", "fact"),
        ("Ada: Works on Mondays", "fact"),
        ("Prices in orders are in cents", "fact"),
        ("orders: Deploys with make release", "fact"),
        ("Charge once: The key is the order number", "decision"),
        ("Ada maintains orders.", "fact"),
        ("orders reads files of Old shop.", "fact"),
    ]
    assert left_out_of("mcp-memory", path) == {"entity/Old shop": ("an entity without observations", 1)}


def test_mcp_memory_ids_do_not_depend_on_the_order_of_lines(tmp_path: Path) -> None:
    path = unpack("mcp-memory", "memory.jsonl", tmp_path)
    before = items_of("mcp-memory", path)
    path.write_text("\n".join(reversed(path.read_text().splitlines())))
    assert items_of("mcp-memory", path) == before


def test_claude_memory_gives_topic_files_and_the_bullets_of_others(tmp_path: Path) -> None:
    path = unpack("claude-memory", "projects", tmp_path)
    items = items_of("claude-memory", path)
    assert {one.text: (one.kind, one.context) for one in items.values()} == {
        "Gone — this file was deleted": ("fact", "Memory"),
        "Run `make release` on Mondays. never on Fridays": ("fact", "Memory > Build"),
        "Prices are stored in cents": ("fact", "Memory > Build"),
        "The importer reads files of the old shop as Latin-1.": ("fact", "Memory > Build"),
        "Start the sandbox. Run the tests with one worker # not a heading make sandbox": (
            "fact", "Debugging > Payments",
        ),
        "Do not mock the database in tests. Why: a mocked test passed while the migration failed. "
        "How to apply: use the container in docker-compose.yml.": ("rule", "Tests use a real database"),
    }  # fmt: skip
    assert {one.project for one in items.values()} == {"/home/ada/orders"}
    assert {one.trust for one in items.values()} == {"agent"}
    assert items_of("claude-memory", path / "-home-ada-orders") == items
    assert items_of("claude-memory", path / "-home-ada-orders" / "memory") == items


@pytest.mark.parametrize(
    ("tool", "place"),
    [
        ("claude-mem", ".claude-mem/claude-mem.db"),
        ("agentmemory", ".local/share/agentmemory/state_store.db"),
        ("agentmemory", ".agentmemory/standalone.json"),
        ("agentmemory-rrs", ".agentmemory/projects"),
        ("sessionmem", ".sessionmem/memories.db"),
        ("ocm", ".openCodeMemory"),
        ("mem0", ".mem0/history.db"),
        ("basic-memory", ".basic-memory/config.json"),
        ("basic-memory", "basic-memory"),
        ("engram", ".engram/engram.db"),
        ("mcp-memory", ".npm/_npx/1a2b/node_modules/@modelcontextprotocol/server-memory/dist/memory.jsonl"),
        ("claude-memory", ".claude/projects"),
    ],
)
def test_a_store_is_found_in_its_default_place(tmp_path: Path, tool: str, place: str) -> None:
    environ = {"HOME": str(tmp_path)}
    with pytest.raises(MissingError, match=f"No store of {tool} found in "):
        find_store(tool, environ)
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).touch()
    assert find_store(tool, environ) == str(tmp_path / place)


def test_a_store_is_found_where_the_tool_was_told_to_keep_it(tmp_path: Path) -> None:
    for tool, name in (
        ("sessionmem", "SESSIONMEM_DB_PATH"), ("mcp-memory", "MEMORY_FILE_PATH"),
        ("agentmemory-rrs", "AGENTMEMORY_DB"),
    ):  # fmt: skip
        assert find_store(tool, {"HOME": "/nowhere", name: str(tmp_path)}) == str(tmp_path)


def test_agent_memory_has_no_default_place_and_other_tools_are_refused() -> None:
    with pytest.raises(MissingError, match="Give its URL or a dump: told import --from agent-memory URL"):
        find_store("agent-memory", {"HOME": "/nowhere"})
    with pytest.raises(UsageError, match="Use one of claude-mem, agentmemory"):
        list(read_store("memgpt", "/nowhere"))


def test_every_tool_of_the_table_has_a_reader_and_a_store(tmp_path: Path) -> None:
    for tool in TOOLS:
        found = list(read_store(tool, str(unpack(tool, _ANY[tool], tmp_path))))
        assert any(isinstance(one, Item) for one in found), tool
        assert all(isinstance(one, (Item, LeftOut)) for one in found)


_ANY = {
    "claude-mem": "claude-mem.db", "agentmemory": "", "agentmemory-rrs": "", "sessionmem": "", "ocm": "",
    "agent-memory": "dump.sql", "mem0": "", "basic-memory": "basic-memory", "engram": "", "mcp-memory": "",
    "claude-memory": "",
}  # fmt: skip
