"""What a user of Qoder finds again, from files written after its documentation: it was never seen to run."""

from __future__ import annotations

import shutil
from pathlib import Path

from told.agents.base import Folder, find_roots, find_sources
from told.agents.qoder import AGENT
from told.model import Cursor, Event, Facts, Message, Problem

HOME = Path(__file__).parents[1] / "data" / "agents" / "qoder" / "documented"


def read_all(environ: dict[str, str]) -> list[Event | Problem]:
    found = [
        entry for entry in find_sources(AGENT, find_roots(AGENT, environ)) if not isinstance(entry, Folder)
    ]
    return [event for source, _ in found for event in AGENT.read(source, Cursor())]


def talk(events: list[Event | Problem]) -> list[tuple[str, str, str]]:
    return [(event.session, event.who, event.text) for event in events if isinstance(event, Message)]


def test_reads_a_session_and_its_helper() -> None:
    events = read_all({"HOME": str(HOME)})
    assert talk(events) == [
        ("s1", "user", "Use tabs"),
        ("s1", "agent", "Done."),
        ("s1/a1", "agent", "Look around"),
        ("s1/a1", "agent", "Nothing to see."),
    ]
    facts = [event for event in events if isinstance(event, Facts)]
    assert "Tabs everywhere" in [event.title for event in facts]
    assert {event.cwd for event in facts} == {"/home/dev/app", ""}


def test_variable_replaces_the_folder(tmp_path: Path) -> None:
    shutil.copytree(HOME / ".qoder", tmp_path / "elsewhere")
    events = read_all({"HOME": str(tmp_path), "QODER_CONFIG_DIR": str(tmp_path / "elsewhere")})
    assert talk(events)[0] == ("s1", "user", "Use tabs")
