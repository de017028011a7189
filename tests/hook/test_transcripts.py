"""What told said comes back in the agents' own files, in each in another place: it is never learned from.

The files are those of real runs in which a hook had put a mark before the model at every chance; each of
these marks becomes a brief of told's.
"""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from tests.cli.machine import AGENTS
from tests.hook.desk import TAUGHT, Desk, begun, said_to_model

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_MARK = re.compile(r"MEMO-[A-Za-z-]*CTX")
_RULE = "Always run the deploy with make ship, never by hand."


@pytest.fixture
def brief(desk: Desk) -> str:
    """What told really says at a session's start, on another machine."""
    desk.prompt(_RULE, session="elsewhere")
    handed = said_to_model(desk.ask("claude-code", "start", begun(desk)))
    assert "make ship" in handed
    shutil.rmtree(desk.told_home)
    return handed


def _changed(value: Any, said: str) -> Any:
    """Put what told said in the place of the marks; also in JSON that stands in a text."""
    if isinstance(value, dict):
        return {name: _changed(one, said) for name, one in value.items()}
    if isinstance(value, list):
        return [_changed(one, said) for one in value]
    if not isinstance(value, str) or not _MARK.search(value):
        return value
    if value.startswith(("{", "[")):
        try:
            return json.dumps(_changed(json.loads(value), said))
        except ValueError:
            pass
    return _MARK.sub(lambda _: said, value)


def _rewritten(path: Path, said: str) -> int:
    """Change a file; return how many times told speaks in it."""
    text = path.read_text()
    marks = len(_MARK.findall(text))
    if marks and path.suffix == ".jsonl":
        lines = [
            json.dumps(_changed(json.loads(line), said), ensure_ascii=False) for line in text.splitlines()
        ]
        path.write_text("\n".join(lines) + "\n")
    elif marks:
        path.write_text(json.dumps(_changed(json.loads(text), said), ensure_ascii=False))
    return marks


def _rewritten_database(path: Path, said: str) -> int:
    database = apsw.Connection(str(path))
    marks = 0
    for row, data in database.execute("SELECT rowid, data FROM part").fetchall():
        if _MARK.search(str(data)):
            marks += 1
            changed = json.dumps(_changed(json.loads(str(data)), said))
            database.execute("UPDATE part SET data = ? WHERE rowid = ?", (changed, row))
    database.close()
    return marks


def _placed(desk: Desk, run: str, said: str) -> int:
    shutil.copytree(AGENTS / run, desk.home, dirs_exist_ok=True)
    changes: dict[str, Callable[[Path, str], int]] = {
        ".jsonl": _rewritten, ".json": _rewritten, ".db": _rewritten_database
    }  # fmt: skip
    marks = 0
    for path in sorted(desk.home.rglob("*")):
        if path.is_file() and path.suffix in changes and path.name != "session-store.db":
            marks += changes[path.suffix](path, said)
    return marks


_RUNS = (
    "claude-code/print-mode-with-hooks", "codex/exec-codemode", "gemini-cli/0.61.0", "qwen-code/0.24.4",
    "copilot-cli/run", "opencode/database", "cline/cli",
)  # fmt: skip


@pytest.mark.parametrize("run", _RUNS)
def test_briefs_in_transcripts_are_not_learned(desk: Desk, brief: str, run: str) -> None:
    assert _placed(desk, run, brief) > 1
    assert desk.told("index").code == 0
    texts = desk.texts()
    is_headless = run.startswith(("claude-code/print", "codex/exec"))
    learned = any("secrets" in text or ".env" in text for text in texts)
    assert learned != is_headless, "what the user typed is learned; nobody types a headless run's prompts"
    assert not [text for text in texts if "make ship" in text]
    statuses = ("superseded", "quarantined")
    assert not [
        one for status in statuses for one in desk.memories("--status", status) if "ship" in one["text"]
    ]


@pytest.mark.parametrize("run", _RUNS)
def test_briefs_are_not_part_of_prompts(desk: Desk, brief: str, run: str) -> None:
    _placed(desk, run, brief)
    assert desk.told("index").code == 0
    for session in desk.ids():
        for turn in desk.told("show", session, "--json", "--full", "--turns").json["turns_shown"]:
            assert "make ship" not in turn["asked"]["text"]


def test_statement_beside_a_quoted_brief_is_learned(desk: Desk, brief: str) -> None:
    desk.prompt(f"{TAUGHT}\n\nYou were told:\n{brief}")
    assert desk.texts() == ["We use pnpm here, never npm."]


def test_opening_tag_alone_hides_nothing(desk: Desk) -> None:
    desk.prompt(f"The tag <told> is ours. {TAUGHT}")
    assert any("pnpm" in text for text in desk.texts())
