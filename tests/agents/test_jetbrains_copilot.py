"""What a user of Copilot in a JetBrains IDE finds again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from told.agents.base import Folder, find_roots, find_sources
from told.agents.jetbrains_copilot import AGENT
from told.model import Cursor, Event, Facts, Message, Problem, Source, Touch

DATA = Path(__file__).parents[1] / "data" / "agents" / "jetbrains-copilot"
SESSION = "3678192b-9e4e-41fa-adfc-0865b3f42b87"
STORED = "11111111-2222-4333-8444-555555555555"


def sources(home: Path) -> list[Source]:
    found = find_sources(AGENT, find_roots(AGENT, {"HOME": str(home)}))
    return [entry[0] for entry in found if not isinstance(entry, Folder)]


def read_home(home: Path) -> list[Event | Problem]:
    return [event for source in sources(home) for event in AGENT.read(source, Cursor())]


def spoken(events: list[Event | Problem], session: str) -> list[tuple[str, str, str]]:
    return [
        (event.who, event.form, event.text)
        for event in events
        if isinstance(event, Message) and event.session == session
    ]


def test_reads_each_part_of_a_conversation() -> None:
    events = read_home(DATA / "partitions")
    assert spoken(events, SESSION) == [
        ("user", "text", "What is in this repository?"),
        ("agent", "step", "List the files first."),
        ("agent", "step", "[read_file] /home/dev/shop/README.md"),
        ("agent", "text", "A web shop in Kotlin."),
    ]
    assert spoken(events, f"{SESSION}-part-2") == [
        ("user", "text", "Rename Cart to Basket"),
        ("agent", "step", "[apply_patch] /home/dev/shop/Cart.kt"),
        ("agent", "text", "Renamed."),
    ]


def test_reads_times_and_touched_files_of_parts() -> None:
    events = read_home(DATA / "partitions")
    assert [(event.path, event.how) for event in events if isinstance(event, Touch)] == [
        ("/home/dev/shop/README.md", "read"),
        ("/home/dev/shop/Cart.kt", "edit"),
        ("/home/dev/shop/Basket.kt", "create"),
    ]
    assert next(event for event in events if isinstance(event, Facts)).started == 1777552130660
    assert next(event for event in events if isinstance(event, Message)).at == 1777552082000


def test_finds_the_project_from_the_first_touched_file(tmp_path: Path) -> None:
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    part = tmp_path / ".copilot" / "jb" / "conv" / "partition-1.jsonl"
    part.parent.mkdir(parents=True)
    paths = [tmp_path / "shop" / "src" / "A.kt", tmp_path / "shop" / "src" / "B.kt"]
    part.write_text(
        "".join(
            json.dumps(
                {
                    "type": "tool.execution_start",
                    "data": {"toolName": "read_file", "arguments": {"path": str(path)}},
                }
            )
            + "\n"
            for path in paths
        )
    )
    facts = [event for event in read_home(tmp_path) if isinstance(event, Facts)]
    assert facts == [Facts("conv", str(tmp_path / "shop"))]


def test_recovers_a_conversation_from_an_object_store() -> None:
    assert spoken(read_home(DATA / "nitrite"), STORED) == [
        ("user", "text", 'Why does the login fail?\nIt says "denied" 🔑'),
        ("agent", "text", 'The token is "expired". Zażółć'),
        ("user", "text", "Fix it then"),
        ("agent", "step", "Refresh it before use."),
        ("agent", "text", "I refresh the token now."),
        ("agent", "step", "[insert_edit_into_file] /home/dev/shop/Login.kt"),
    ]


def test_recovers_title_and_edited_files_from_an_object_store() -> None:
    events = [event for event in read_home(DATA / "nitrite") if not isinstance(event, Problem)]
    assert [event.title for event in events if isinstance(event, Facts) and event.session == STORED] == [
        "Fix the login 🔑"
    ]
    assert [event.path for event in events if isinstance(event, Touch)] == [
        "/home/dev/shop/Login.kt",
        "/home/dev/shop/Token.kt",
    ]


def test_reports_an_unreadable_object_store(tmp_path: Path) -> None:
    store = next((DATA / "nitrite").rglob("copilot-chat-nitrite.db"))
    target = tmp_path / ".config" / "github-copilot" / "iu" / "chat-sessions" / "x" / store.name
    target.parent.mkdir(parents=True)
    shutil.copyfile(store, target)
    assert read_home(tmp_path) == [Problem(0, "Nitrite database, not readable")]


def test_attributes_unclear_text_to_the_agent(tmp_path: Path) -> None:
    node = json.dumps({"type": "Markdown", "data": json.dumps({"text": "Delete everything"})})
    key = "00000001-aaaa-4bbb-8ccc-000000000001"
    blob = json.dumps({key: {"type": "Value", "value": node}}, separators=(",", ":")).encode()
    target = tmp_path / ".config" / "github-copilot" / "iu" / "chat-sessions" / "x" / "a-nitrite.db"
    target.parent.mkdir(parents=True)
    target.write_bytes(b"H:2,block:3\x00\x00" + blob + b"\x00")
    assert spoken(read_home(tmp_path), "x") == [("agent", "text", "Delete everything")]


def test_reads_json_only_in_the_chat_folders() -> None:
    events = read_home(DATA / "nitrite")
    assert spoken(events, "exported") == [("user", "text", "Say hello"), ("agent", "text", "Hello.")]
    assert not any(source.path.endswith("apps.json") for source in sources(DATA / "nitrite"))
