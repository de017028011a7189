"""What a user gets from SpecStory's Markdown files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from told.agents.base import find_sources
from told.agents.specstory import AGENT as SPECSTORY
from told.model import AGENT, USER, Cursor, Facts, Message, Source, Touch

if TYPE_CHECKING:
    from typing import Any

PROJECT = Path(__file__).parent.parent / "data" / "agents" / "specstory" / "v2" / "project"
CLAUDE = "5c7d5c23-0691-4467-b98e-0fb865b4a639"


def read(project: Path = PROJECT) -> list[Any]:
    found = find_sources(SPECSTORY, (), [str(project)])
    sources = [one[0] for one in found if isinstance(one, tuple) and isinstance(one[0], Source)]
    return [event for source in sources for event in SPECSTORY.read(source, Cursor())]


def said(session: str, who: str, form: str = "text") -> list[str]:
    return [
        event.text
        for event in read()
        if isinstance(event, Message) and (event.session, event.who, event.form) == (session, who, form)
    ]


def test_keeps_the_original_session_id() -> None:
    facts = [event for event in read() if isinstance(event, Facts) and event.session == CLAUDE]
    assert facts[0].cwd == str(PROJECT)
    assert facts[0].started == 1783950049000
    assert facts[0].title == ""
    assert [fact.model for fact in facts if fact.model] == ["claude-opus-4-8"]


def test_reads_only_user_prompts() -> None:
    assert said(CLAUDE, USER) == [
        "Fix the flaky test in cart.py\n\n---\n\nand keep the API",
        "Never mock the clock globally.",
    ]


def test_reads_thoughts_tool_calls_and_helpers_as_steps() -> None:
    assert said(CLAUDE, AGENT) == [
        "I'll look at the test first.",
        "The clock is frozen now:\n\n```python\nfreeze()\n```",
    ]
    assert said(CLAUDE, AGENT, "step") == [
        "The clock is probably not frozen.",
        "[Bash] pytest tests/ -q",
        "[Read] ./shop/cart.py",
        "[Edit] ./shop/cart.py",
        "The helper found two callers.",
    ]


def test_reads_touched_files() -> None:
    touches = {(event.path, event.how) for event in read() if isinstance(event, Touch)}
    cart, panel = str(PROJECT / "shop" / "cart.py"), str(PROJECT / "src" / "panel.ts")
    assert touches == {(cart, "read"), (cart, "edit"), (panel, "create")}


def test_names_a_session_by_its_file() -> None:
    name = "2026-01-06_14-34Z-rename-the-panel"
    facts = [event for event in read() if isinstance(event, Facts) and event.session == name]
    assert (facts[0].title, facts[0].started) == ("Rename the panel", 1767710040000)
    assert facts[1].model == "claude-4.5-opus-high-thinking"
    assert said(name, USER) == ["Rename the settings panel", "Thanks"]
    assert said(name, AGENT) == ["Renaming it."]
    assert [event.at for event in read() if isinstance(event, Message) and event.text == "Thanks"] == [
        1767710160000
    ]


def test_reads_the_oldest_format() -> None:
    name = "2025-04-01_09-00-old-export"
    assert said(name, USER) == ["Why is the build slow?"]
    assert said(name, AGENT) == ["The cache is off."]


def test_unclosed_fence_ends_with_the_prompt(tmp_path: Path) -> None:
    folder = tmp_path / ".specstory" / "history"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text(
        "_**User**_\n\nSee:\n```\nx = 1\n\n_**Agent (m 2026-01-06 14:34Z)**_\n\nI see.\n"
    )
    talk = [(event.who, event.text) for event in read(tmp_path) if isinstance(event, Message)]
    assert talk == [(USER, "See:\n```\nx = 1"), (AGENT, "I see.")]
