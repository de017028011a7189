"""`told export` and `told import`: what is written, what is refused, what one undo takes back."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import jsonschema  # type: ignore[import-untyped]
import portable_ai_memory
import pytest

from told.journal.append import append
from told.journal.files import Draft
from told.sync import stores
from told.sync.stores.item import Item, LeftOut

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.machine import Machine

_NOW = 1_794_744_000_000  # ms

_ODD = (
    '{"format": "told-export", "version": 1, "series": [0], "operations": [3, {"kind": []}], "key": 5,'
    ' "checkpoints": [{"folder": "../x", "name": "a.md", "text": "b"}], "sessions": [1]}'
)


def _read(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text())
    return value


def _memories(machine: Machine, *words: str) -> dict[str, dict[str, Any]]:
    found = machine.told("memories", "--all-projects", "--all", "--json", *words)
    return {one["id"]: one for one in found.json["memories"]}


def _add_private(machine: Machine) -> str:
    """Write a private memory with a history, a supersession and a link to public ones."""
    home = str(machine.told_home)
    public = machine.told("remember", "Deploys go out on Tuesdays", "--scope", "global", "--json").json["id"]
    payload = {"text": "The canary is called Plover", "kind": "fact", "scope": "private", "trust": "user"}
    private = append(home, [Draft("remember", "user", payload)], now=_NOW)[0].memory
    append(home, [Draft("edge", "user", {"kind": "about", "target": private}, public)], now=_NOW)
    append(home, [Draft("show", "capture", {"session": "x", "memories": [private, public]})], now=_NOW)
    append(home, [Draft("revise", "user", {"text": "Plover moved to Ravenna"}, private)], now=_NOW)
    return private


def test_an_export_has_the_documented_shape_and_is_private_on_disk(shop: Machine, tmp_path: Path) -> None:
    shop.told("remember", "Use pnpm, never npm", "--lock")
    path = tmp_path / "out.json"
    said = shop.told("export", str(path), "--include-private", "--sessions")
    assert (said.code, said.err) == (0, "")
    assert path.stat().st_mode & 0o777 == 0o600
    schema = json.loads((files("told.sync.formats") / "export.schema.json").read_text())
    jsonschema.validate(_read(path), schema)
    jsonschema.validate(json.loads(shop.told("export").out), schema)
    before = path.read_text()
    again = shop.told("export", str(path))
    assert (again.code, path.read_text()) == (2, before)
    assert "--yes" in again.err
    assert shop.told("export", str(path), "--yes").code == 0
    assert "sessions" not in _read(path)


def test_nothing_private_is_in_any_export_unless_asked_for(machine: Machine, tmp_path: Path) -> None:
    machine.told("checkpoint", "--goal", "Ask where the canary is called Plover", "--done", "Nothing else")
    machine.claude(("The canary is called Plover, keep that to yourself", "I will."), ("Go on", "Done."))
    machine.told("index")
    private = _add_private(machine)
    block = machine.told("export", "--format", "agents-md").out
    assert "Tuesdays" in block
    assert "plover" not in block.lower()
    assert (
        machine.told("export", str(tmp_path / "AGENTS.md"), "--format", "agents-md").code == 1
    )  # no project
    for words in (["told", "--sessions"], ["markdown"], ["mcp-memory"], ["pam"]):
        path = tmp_path / f"{words[0]}-out"
        done = machine.told("export", str(path), "--format", *words)
        assert done.code == 0, done.err
        every = [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
        assert every
        found = "".join(f"{one.name} {one.read_text()}" for one in every)
        canaries = ("plover", "ravenna", private, '"scope":"private"')
        assert [one for one in canaries if one in found.lower()] == [], words
    plain = _read(tmp_path / "told-out")
    assert [one["payload"] for one in plain["operations"] if one["kind"] == "edge"] == []
    assert all(
        set(one["payload"]) & {"salt", "part"} == set() for one in plain["operations"] if one["payload"]
    )
    machine.told("export", str(tmp_path / "all"), "--include-private")
    assert "Ravenna" in (tmp_path / "all").read_text()
    assert machine.told("export", "--include-private", CLAUDECODE="1").code == 2


def test_what_was_private_once_stays_out(machine: Machine) -> None:
    private = _add_private(machine)
    payload = {"text": "Ask for the bird", "scope": "global", "kind": "fact"}
    append(str(machine.told_home), [Draft("share", "user", payload, private)], now=_NOW + 5)
    out = machine.told("export").out
    assert "bird" not in out
    assert "Plover" not in out


def test_secrets_of_older_rules_are_removed_on_the_way_out_and_in(machine: Machine, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    payload = {"text": f"The token is {token}", "kind": "fact", "scope": "global", "trust": "user"}
    machine.told("remember", "Deploys go out on Tuesdays", "--scope", "global")
    append(str(machine.told_home), [Draft("remember", "user", payload)], now=_NOW)
    for name in ("told", "pam", "mcp-memory"):
        assert token not in machine.told("export", "--format", name).out
    path = tmp_path / "graph.jsonl"
    entity = {"type": "entity", "name": "mabcdefg", "entityType": "fact", "observations": [payload["text"]]}
    path.write_text(json.dumps(entity) + "\n")
    assert machine.told("import", str(path)).code == 0
    written = "".join(one.read_text() for one in machine.told_home.rglob("*.jsonl"))
    assert written.count(token) == 1  # only where the test put it


def test_an_import_never_brings_back_what_was_forgotten_rejected_or_locked(
    machine: Machine, tmp_path: Path
) -> None:
    said = ("The fridge code is nine", "Log in JSON", "Use tabs here", "Money is in cents")
    ids = [machine.told("remember", text, "--json").json["id"] for text in said]
    path = tmp_path / "old.json"
    machine.told("export", str(path))
    machine.told("forget", "--force", ids[0])
    machine.told("reject", ids[1])
    machine.told("lock", ids[2])
    machine.told("undo", "--of", ids[3])
    before = _memories(machine)
    for words in ([], ["--merge"], ["--mine", "--merge"]):
        done = machine.told("import", str(path), *words)
        assert done.code == 0, done.err
        assert _memories(machine) == before
    assert "fridge" not in "".join(one.read_text() for one in machine.told_home.rglob("*.jsonl"))
    dry = machine.told("import", str(path), "--dry-run", "--json").json
    assert dry["imported"] is False
    assert dry["counts"]["new"] == 0


def test_a_strangers_export_is_an_agents_word_and_never_locked(machine: Machine, tmp_path: Path) -> None:
    machine.told("remember", "Push straight to main", "--scope", "global", "--lock")
    path = tmp_path / "theirs.json"
    machine.told("export", str(path))
    machine.told_home.rename(tmp_path / "their-home")
    machine.told("remember", "Use pnpm here")
    assert machine.told("import", str(path)).code == 0
    (theirs,) = (one for one in _memories(machine).values() if "Push" in one["text"])
    assert (theirs["trust"], theirs["locked"]) == ("agent", False)
    assert machine.told("undo").code == 0
    assert machine.told("import", str(path), "--mine").code == 0
    (mine,) = (one for one in _memories(machine).values() if "Push" in one["text"])
    assert (mine["trust"], mine["locked"]) == ("user", True)


@pytest.mark.parametrize("name", ["markdown", "mcp-memory", "pam"])
def test_formats_of_others_come_back(machine: Machine, tmp_path: Path, name: str) -> None:
    api = machine.repo("code/acme-api", "git@github.com:acme/acme-api.git")
    machine.told("remember", "Use pnpm #tabs, never npm [really] (in CI): 100 %", "--scope", "global")
    machine.told("index")
    home = str(machine.told_home)
    payload = {"text": 'Ümläute – und "Zitate"', "kind": "correction", "context": "of the API",
               "trust": "user", "entities": ["C++", "acme-api"],
               "scope": "project:github.com/acme/acme-api"}  # fmt: skip
    append(home, [Draft("remember", "user", payload)], now=_NOW)
    before = _memories(machine)
    path = tmp_path / "out"
    assert machine.told("export", str(path), "--format", name).code == 0
    machine.told_home.rename(tmp_path / "old-home")
    assert machine.told("import", str(path)).code == 0
    after = _memories(machine)
    fields = ("kind", "marks", "project", "scope", "created", "status")
    assert {one: [row[name] for name in fields] for one, row in after.items()} == {
        one: [row[name] for name in fields] for one, row in before.items()
    }
    shown = " ".join(one["text"] + str(one["context"]) for one in after.values())
    assert all(row["text"] in shown and (row["context"] or "") in shown for row in before.values())
    assert {row["trust"] for row in after.values()} == {"agent"}
    assert api
    assert machine.told("import", str(path), "--json").json["counts"]["same"] == 2
    assert _memories(machine) == after
    assert machine.told("forget", "--source", "import:told", "--force").code == 0
    assert machine.told("import", str(path), "--json").json["counts"]["refused"] == 2


def test_pams_own_package_accepts_an_export(shop: Machine, tmp_path: Path) -> None:
    shop.told("remember", "Release on Tuesdays", "--kind", "decision", "--scope", "global")
    shop.told("remember", "Release on Thursdays now, not on Tuesdays", "--scope", "global")
    shop.told("remember", "Always Ünïcode: 日本語, tabs\tand \u2028 breaks", "--scope", "global")
    path = tmp_path / "out.pam.json"
    assert shop.told("export", str(path), "--format", "pam").code == 0
    store = portable_ai_memory.load_memory_store(path)
    assert [str(one) for one in portable_ai_memory.validate(store).issues] == []
    assert {str(one.status) for one in store.memories} == {"active", "superseded"}
    assert [one.type for one in store.relations] == ["supersedes"]


def test_agents_md_gets_one_block_that_is_replaced(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(machine.repo("code/acme-api", "git@github.com:acme/acme-api.git"))
    machine.told("remember", "Use pnpm here")
    machine.told("remember", "Answer in English", "--scope", "global")
    machine.told("remember", "The cache lives in Redis", CLAUDECODE="1")
    path = machine.write("code/acme-api/AGENTS.md", "# Ours\n\nKeep this.\n")
    assert machine.told("export", "AGENTS.md", "--format", "agents-md").code == 0
    machine.told("remember", "Never push on Fridays")
    monkeypatch.chdir(machine.home)
    assert machine.told("export", str(path), "--format", "agents-md").code == 0
    text = path.read_text()
    assert text.startswith("# Ours\n\nKeep this.\n")
    assert text.count("told-memories:begin") == text.count("- Use pnpm here") == 1
    assert "- Never push on Fridays" in text
    assert "Redis" not in text
    assert "English" not in text  # the user's own, of all projects


def _fake(tool: str, path: str) -> list[Item | LeftOut]:
    assert (tool, path[-5:]) == ("notes", "store")
    return [
        Item("a", "The API uses tabs", "rule", "acme/acme-api", _NOW - 10, importance=7.0),
        Item("b", "Cache entries live for 300 seconds", "decision", "", _NOW - 9, links=(("supports", "a"),)),
        Item("c", "Cache entries live for 60 seconds", "decision", created=_NOW - 99, status="superseded"),
        Item("d", "The old host was called wren", status="forgotten"),
        Item("e", "Backups run at noon", status="archived", project="/gone/place"),
        Item("f", "Ships on Fridays", "fact", "no-such-project", agent="claude-code", session="s9"),
        LeftOut("g", "it is a summary"),
        Item("h", "  "),
    ]  # fmt: skip


def test_another_tools_store_is_imported_once_and_undone_at_once(
    shop: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "TOOLS", {"notes": "Notes"})
    monkeypatch.setattr(stores, "read_store", _fake)
    path = tmp_path / "store"
    path.write_text("")
    before = _memories(shop)
    dry = shop.told("import", str(path), "--from", "notes", "--dry-run")
    assert "Would import 5 memories; 3 refused." in dry.out
    assert "it was deleted there" in dry.out
    assert _memories(shop) == before
    assert shop.told("import", str(path), "--from", "notes").code == 0
    new = {row["text"]: row for one, row in _memories(shop).items() if one not in before}
    rows = {text.partition(">")[2].partition("<")[0] or text: row for text, row in new.items()}
    assert rows["The API uses tabs"]["project"] == "github.com/acme/acme-api"
    assert rows["The API uses tabs"]["trust"] == "agent"
    assert rows["Ships on Fridays"]["project"] == "name:no-such-project"
    assert "Backups run at noon" not in rows
    assert len(_memories(shop, "--status", "archived")) == 1
    assert len(_memories(shop, "--status", "superseded")) == 1
    counts = shop.told("import", str(path), "--from", "notes", "--json").json["counts"]
    assert counts == {"new": 0, "same": 5, "conflicting": 0, "refused": 3}
    why = shop.told("why", rows["Cache entries live for 300 seconds"]["id"]).out
    assert "import:notes" in why
    assert shop.told("undo").code == 0
    assert _memories(shop) == before
    assert shop.told("memories", "--status", "archived", "--all-projects").code == 1
    assert shop.told("import", str(path), "--from", "notes").code == 0
    assert len(_memories(shop)) == len(before) + 3
    assert shop.told("forget", "--source", "import:notes", "--force").code == 0
    assert _memories(shop) == before
    assert shop.told("import", str(path), "--from", "notes", "--json").json["counts"]["new"] == 0


def test_conflicts_are_shown_and_never_change_what_the_user_said(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "TOOLS", {"notes": "Notes"})
    item = Item("a", "Never use pnpm here", "rule")
    monkeypatch.setattr(stores, "read_store", lambda *_: [item, Item("b", "The API is in Go")])
    machine.told("remember", "Always use pnpm here", "--scope", "global")
    before = _memories(machine)
    refused = machine.told("import", str(tmp_path), "--from", "notes")
    assert refused.code == 2
    assert "1 of 2 conflict" in refused.err
    assert _memories(machine) == before
    assert machine.told("import", str(tmp_path), "--from", "notes", "--merge").code == 0
    assert len(_memories(machine)) == 2
    (candidate,) = _memories(machine, "--status", "candidate").values()
    assert "Never use pnpm here" in candidate["text"]
    assert _memories(machine)[next(iter(before))]["status"] == "active"


def test_a_tools_store_is_found_in_its_default_place(machine: Machine) -> None:
    notes = machine.home / ".claude" / "projects" / "-work-shop" / "memory"
    notes.mkdir(parents=True)
    notes.joinpath("MEMORY.md").write_text("- Prices are stored in cents\n")
    done = machine.told("import", "--from", "claude-memory")
    assert (done.code, done.err) == (0, "")
    assert "Imported 1 memory." in done.out
    assert "Memories keep these as their projects." in done.out
    assert "cents" in machine.told("memories", "--source", "import:claude-memory", "--all-projects").out
    assert machine.told("import").code == machine.told("import", "--from", "note").code == 2
    assert machine.told("import", "--from", "mem0").code == 4
    away = machine.told("import", "--from", "agent-memory", "postgresql://ada:secret@127.0.0.1:1/none")
    assert away.code == 4
    assert "secret" not in away.err


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ('{"format": "told-export", "version": 2}', 2),
        ('{"format": "told-export", "mem', 2), ('{"a": 1}', 2), ("rubbish", 2), ("", 2), ("[[[[", 2),
        (_ODD, 0),
    ],
)  # fmt: skip
def test_bad_files_are_refused_in_one_sentence(
    machine: Machine, tmp_path: Path, content: str, code: int
) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    answer = machine.told("import", str(path))
    assert answer.code == code
    assert answer.err.count("\n") == (1 if code else 0)
    assert "bug in told" not in answer.err
    assert ("damaged export" in answer.err) == ("told-exp" in content and "version" not in content)
    assert machine.told("import", str(tmp_path / "none")).code == 1
    assert machine.told("import", str(path), CLAUDECODE="1").code == 2
