"""What a user of Cursor finds again."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from told.agents.base import Folder, find_roots, find_sources
from told.agents.cursor import AGENT
from told.model import Begin, Checkpoint, Cursor, Event, Facts, Mark, Message, Problem, Source, Touch

if TYPE_CHECKING:
    from typing import Any

DATA = Path(__file__).parents[1] / "data" / "agents" / "cursor"
MAIN = "c0000000-0000-4000-8000-000000000001"
HELPER = "c0000000-0000-4000-8000-000000000002"
TRANSCRIPT = "d0000000-0000-4000-8000-000000000001"


def sources(home: Path) -> list[Source]:
    found = find_sources(AGENT, find_roots(AGENT, {"HOME": str(home)}))
    return [entry[0] for entry in found if not isinstance(entry, Folder)]


def read_home(home: Path) -> list[Event | Problem]:
    return [event for source in sources(home) for event in AGENT.read(source, Cursor())]


def read_global(home: Path, cursor: Cursor) -> list[Event | Problem]:
    (source,) = (one for one in sources(home) if one.layout == "global")
    return list(AGENT.read(source, cursor))


def spoken(events: list[Event | Problem], session: str) -> list[tuple[str, str, str]]:
    return [
        (event.who, event.form, event.text)
        for event in events
        if isinstance(event, Message) and event.session == session
    ]


def known(events: list[Event | Problem], session: str) -> Facts:
    return next(event for event in events if isinstance(event, Facts) and event.session == session)


def change(home: Path, key: str, value: Any) -> None:
    path = home / ".config" / "Cursor" / "User" / "globalStorage" / "state.vscdb"
    connection = apsw.Connection(str(path))
    connection.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, json.dumps(value)))
    connection.close()


def test_reads_a_composer_in_its_own_order() -> None:
    assert spoken(read_home(DATA / "editor"), MAIN) == [
        ("user", "text", "The checkout is broken, fix it"),
        ("agent", "step", "Rounding, probably."),
        ("agent", "step", "[read_file_v2] src/checkout.ts"),
        ("agent", "step", "[edit_file_v2] src/checkout.ts"),
        ("agent", "text", "The checkout works again."),
    ]


def test_reads_facts_of_a_composer() -> None:
    events = read_home(DATA / "editor")
    assert known(events, MAIN) == Facts(
        MAIN,
        cwd="/home/dev/shop",
        branch="fix/checkout",
        title="Fix the checkout",
        started=1777710752243,
        model="claude-4.5-sonnet",
    )
    assert [(event.path, event.how) for event in events if isinstance(event, Touch)] == [
        ("src/checkout.ts", "read"),
        ("src/checkout.ts", "edit"),
    ]
    assert [event.overview for event in events if isinstance(event, Checkpoint)] == [
        "The checkout rounds correctly."
    ]


def test_helper_composer_has_a_parent() -> None:
    helper = known(read_home(DATA / "editor"), HELPER)
    assert (helper.parent, helper.kind, helper.cwd, helper.model) == (MAIN, "subagent", "/home/dev/shop", "")


def test_times_never_decrease() -> None:
    times = [
        event.at
        for event in read_home(DATA / "editor")
        if isinstance(event, Message) and event.session == MAIN
    ]
    assert times == sorted(times)
    assert times[0] == 1777710752293


def test_reads_chats_of_older_versions() -> None:
    events = read_home(DATA / "editor")
    assert spoken(events, "legacy-tab") == [
        ("user", "text", "What is a mutex?"),
        ("agent", "text", "A lock for one."),
    ]
    assert known(events, "legacy-tab").title == "Old chat"


def test_reports_damaged_composers_and_ignores_empty_ones() -> None:
    events = read_home(DATA / "editor")
    assert [event.reason for event in events if isinstance(event, Problem)] == [
        "composer broken: not a JSON object"
    ]
    assert {event.session for event in events if isinstance(event, Begin)} == {MAIN, HELPER, "legacy-tab"}


def test_reads_only_changed_composers_again(tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(DATA / "editor", home)
    last = read_global(home, Cursor())[-1]
    assert isinstance(last, Mark)
    assert read_global(home, last.cursor) == []
    changed = {
        "composerId": "new",
        "lastUpdatedAt": last.cursor.offset + 5,
        "fullConversationHeadersOnly": [{"bubbleId": "n", "type": 1}],
    }
    change(home, "composerData:new", changed)
    change(home, "bubbleId:new:n", {"type": 1, "text": "One more thing"})
    events = read_global(home, last.cursor)
    assert [type(event) for event in events] == [Begin, Facts, Message, Mark]
    assert events[-1] == Mark(Cursor(last.cursor.offset + 5))


def test_reads_composers_again_that_the_list_names_as_changed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(DATA / "editor", home)
    events = read_global(home, Cursor(1777710762000))
    assert spoken(events, HELPER)  # its own record says 1777710760000, the editor's list a later time


def test_reads_typed_text_of_transcripts() -> None:
    events = read_home(DATA / "transcripts")
    assert spoken(events, TRANSCRIPT) == [
        ("user", "text", "Add a health check"),
        ("agent", "text", "I'll add a route."),
        ("agent", "step", "[StrReplace] /home/dev/shop/app.py"),
        ("agent", "step", "[Shell] curl localhost/health"),
        ("agent", "text", "/health answers now."),
    ]
    assert known(events, TRANSCRIPT).cwd == "/home/dev/shop"
    assert all(event.at == 0 for event in events if isinstance(event, Message))


def test_helper_transcript_has_a_parent() -> None:
    helper = known(read_home(DATA / "transcripts"), "e1")
    assert (helper.parent, helper.kind) == (TRANSCRIPT, "subagent")


def test_reads_text_and_json_transcripts() -> None:
    events = read_home(DATA / "transcripts")
    assert spoken(events, "legacy") == [
        ("user", "text", "What failed?\nassistant:\nwas in the log"),
        ("agent", "step", "Check the log."),
        ("agent", "text", "I read the log."),
        ("agent", "step", "[Read] /home/dev/shop/app.log"),
        ("agent", "text", "The disk was full."),
    ]
    assert spoken(events, "older") == [("user", "text", "Name this project"), ("agent", "text", "Shop.")]


def transcript(home: Path, slug: str, session: str) -> Path:
    path = home / ".cursor" / "projects" / slug / "agent-transcripts" / session / f"{session}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(
        json.dumps({"role": "user", "message": {"content": [{"type": "text", "text": "Hi"}]}}) + "\n"
    )
    return path


def test_resolves_the_project_of_a_transcript(tmp_path: Path) -> None:
    project = tmp_path / "my.work" / "web-shop"
    project.mkdir(parents=True)
    slug = re.sub(r"[^A-Za-z0-9]+", "-", str(project)).strip("-")
    transcript(tmp_path, slug, "s")
    assert known(read_home(tmp_path), "s").cwd == str(project)
    (tmp_path / "my.work" / "web" / "shop").mkdir(parents=True)
    assert known(read_home(tmp_path), "s").cwd == ""


def test_ignores_transcripts_that_the_database_has(tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(DATA / "editor", home)
    transcript(home, "home-dev-shop", MAIN)
    assert [text for who, _, text in spoken(read_home(home), MAIN) if who == "user"] == [
        "The checkout is broken, fix it"
    ]
