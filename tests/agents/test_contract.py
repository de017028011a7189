"""What every agent's reader keeps to, whatever its format: one suite over all agents and their fixtures."""

from __future__ import annotations

import pkgutil
import re
import shutil
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.soak import points
from told import agents
from told.agents import all_agents
from told.agents.base import find_roots, find_sources
from told.model import (
    AGENT,
    USER,
    Begin,
    Checkpoint,
    Cursor,
    Facts,
    Mark,
    Message,
    Problem,
    Ref,
    Source,
    Touch,
)
from told.store import foreign

if TYPE_CHECKING:
    from collections.abc import Iterator

    from told.agents.base import Agent

DATA = Path(__file__).parent.parent / "data" / "agents"
AGENTS = all_agents()

NUMBERS = {"at", "started", "number", "line", "offset"}
CHOICES = {
    (Message, "who"): {USER, AGENT},
    (Message, "form"): {"text", "step"},
    (Touch, "how"): {"read", "edit", "create", "delete"},
    (Ref, "kind"): {"commit", "pr", "issue"},
    (Facts, "title_by"): {USER, AGENT},
    (Facts, "kind"): {"", "subagent"},
}
EVENTS = (Begin, Facts, Message, Touch, Ref, Checkpoint, Mark)

# More than this is read often enough by the tests that read it once.
SMALL = 320 * 1024


def variants(agent: Agent) -> list[Path]:
    folder = DATA / agent.name
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def sources_in(agent: Agent, home: Path) -> list[Source]:
    projects = [str(home / "project")] if (home / "project").is_dir() else []
    found = find_sources(agent, find_roots(agent, {"HOME": str(home)}), projects)
    return [one[0] for one in found if isinstance(one, tuple) and isinstance(one[0], Source)]


HOMES = [
    pytest.param(agent, home, id=f"{agent.name}/{home.name}")
    for agent in AGENTS.values()
    for home in variants(agent)
] + [
    pytest.param(agent, None, id=agent.name, marks=pytest.mark.skip("no fixtures of this agent yet"))
    for agent in AGENTS.values()
    if not variants(agent)
]


@pytest.fixture(autouse=True, scope="module")
def _impatient() -> Iterator[None]:
    """Do not wait for the owner of a database that is damaged on purpose."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(foreign, "BACKOFF", ())
        yield


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Path]:
    """A private copy of every fixture home, so that its files can be damaged."""
    base = tmp_path_factory.mktemp("homes")
    made = {}
    for agent in AGENTS.values():
        for home in variants(agent):
            made[home] = base / agent.name / home.name
            shutil.copytree(home, made[home], copy_function=shutil.copyfile)
    return made


def talk(events: list[Any]) -> list[Any]:
    """Return the events without those that only say how far the reading is."""
    return [event for event in events if not isinstance(event, Mark)]


def news(events: list[Any], before: list[Any]) -> list[Any]:
    """Return the events without marks and without facts that only repeat what was known before them."""
    known: dict[tuple[str, str], object] = {}
    kept = []
    for index, event in enumerate([*before, *events]):
        is_new = not isinstance(event, (Mark, Facts))
        if isinstance(event, Facts):
            for field, value in ((one.name, getattr(event, one.name)) for one in fields(event)):
                if value and field != "title_by" and known.get((event.session, field)) != value:
                    known[event.session, field] = value
                    is_new = True
        if is_new and index >= len(before):
            kept.append(event)
    return kept


def check(event: Any) -> None:
    """Fail unless an event is one that is known, with every field of its declared type."""
    assert type(event) in (*EVENTS, Problem), event
    if type(event) is Mark:
        assert type(event.cursor) is Cursor
        event = event.cursor
    for field, value in ((one.name, getattr(event, one.name)) for one in fields(event)):
        expected = int if field in NUMBERS else bool if field == "archived" else str
        assert type(value) is expected, f"{type(event).__name__}.{field} is {value!r}"
        assert field not in NUMBERS or int(value) >= 0
        assert value in CHOICES.get((type(event), field), {value})
    if hasattr(event, "session"):
        assert event.session
    if isinstance(event, Message):
        assert event.text.strip()
    if isinstance(event, Touch):
        assert event.path


@pytest.mark.parametrize(("agent", "home"), HOMES)
def test_finds_and_reads_every_fixture(agent: Agent, home: Path) -> None:
    sources = sources_in(agent, home)
    assert sources, "nothing in this fixture is found by the agent's layouts"
    said = 0
    for source in sources:
        for event in agent.read(source, Cursor()):
            check(event)
            said += isinstance(event, Message)
    assert said, "nobody says anything in this fixture"


@pytest.mark.parametrize(("agent", "home"), HOMES)
def test_resumes_from_any_mark(agent: Agent, home: Path) -> None:
    for source in sources_in(agent, home):
        full: list[Any] = list(agent.read(source, Cursor()))
        marks = [index for index, event in enumerate(full) if isinstance(event, Mark)]
        assert marks or not any(isinstance(event, Message) for event in full), "read, but never marked"
        for index in [*marks[:: max(1, len(marks) // 20)], *marks[-1:]]:
            again = list(agent.read(source, full[index].cursor))
            is_whole = bool(again) and isinstance(again[0], Begin) and talk(again) == talk(full)
            rest = news(full[index + 1 :], full[: index + 1])
            assert is_whole or news(again, full[: index + 1]) == rest, source.path


def cuts(content: bytes) -> list[int]:
    """Choose where to cut: around line ends, and evenly over the file."""
    if content.startswith(b"SQLite format 3"):
        size = len(content)
        return [0, 1, 16, 99, 100, 1000, size // 3, size // 2 // 4096 * 4096, size - 1]
    lines = [match.end() for match in re.finditer(rb"\n", content)]
    ends = lines[:: max(1, len(lines) // points(everyday=5, soak=13))]
    around = [end + shift for end in ends for shift in (-1, 0, 1)]
    evenly = range(0, len(content), max(1, len(content) // points(everyday=7, soak=20)))
    return sorted({cut for cut in (*around, *evenly, len(content) - 1) if 0 <= cut < len(content)})


@pytest.mark.parametrize(("agent", "home"), HOMES)
def test_reads_truncated_files(agent: Agent, home: Path, copies: dict[Path, Path]) -> None:
    for source in sources_in(agent, copies[home]):
        path = Path(source.path)
        content = path.read_bytes()
        if len(content) > SMALL and not content.startswith(b"SQLite"):
            continue
        full = list(agent.read(source, Cursor()))
        is_whole = any(isinstance(event, Begin) for event in full)
        spoken = [event for event in talk(full) if not isinstance(event, Facts)]
        try:
            for cut in cuts(content):
                path.write_bytes(content[:cut])
                part = list(agent.read(source, Cursor()))
                for event in part:
                    check(event)
                if path.suffix == ".jsonl" and not is_whole:
                    heard = [event for event in talk(part) if not isinstance(event, Facts)]
                    assert heard == spoken[: len(heard)], f"{path.name} cut at {cut}"
        finally:
            path.write_bytes(content)


@pytest.mark.parametrize(("agent", "home"), HOMES)
def test_ignores_text_of_hooks_and_tools(agent: Agent, home: Path) -> None:
    for source in sources_in(agent, home):
        for event in agent.read(source, Cursor()):
            if isinstance(event, Message):
                assert "MEMO-" not in event.text


@pytest.mark.parametrize("agent", AGENTS.values(), ids=AGENTS)
def test_agent_has_a_plain_name_and_a_short_label(agent: Agent) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", agent.name)
    assert 1 <= len(agent.label) <= 9
    assert agent.title


def test_names_and_labels_are_unique() -> None:
    packages = [found.name for found in pkgutil.iter_modules(agents.__path__) if found.ispkg]
    assert len(agents.installed_agents()) == len(packages)
    labels = [agent.label for agent in agents.installed_agents().values()]
    assert len(set(labels)) == len(labels)
