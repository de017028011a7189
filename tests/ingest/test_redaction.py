"""Secrets in agents' files are never written."""

from __future__ import annotations

import gzip
import json
import shutil
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from tests.ingest.box import FIXTURES
from tests.soak import sampled
from told.agents import all_agents
from told.agents.base import find_roots, find_sources
from told.model import Cursor, Message, Source

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.ingest.box import Box

CORE = "b7Kx92LmQz81RtYw0aSdFgHjKlPoIuYtReWq"
SECRET = f"ghp_{CORE}"
# What people and agents say, do and name; not what tells one record from another.
SPOKEN = frozenset((
    "text", "content", "title", "summary", "message", "prompt", "customtitle", "aititle", "gitbranch",
    "branch", "command", "description", "thinking", "reasoning", "reasoningtext", "overview", "history",
    "work_done", "technical_details", "important_files", "next_steps", "user_message", "assistant_response",
    "thread_name", "first_user_message", "preview", "git_branch", "subject", "name_of_chat", "summarycontent",
    "arguments", "input", "old_string", "new_string", "output", "value", "generatedtitle", "customname",
    "request", "response",
))  # fmt: skip
PATHS = frozenset(("file_path", "filepath", "path", "absolute_path", "target_file", "fspath"))
URLS = frozenset(("git_origin_url", "repository_url", "repository"))
HOMES = [
    home
    for home in sorted(FIXTURES.glob("*/*"))
    if home.name != "nitrite"  # a binary store, which cannot be written to from here
]
FIRST = tuple({home.parent: home for home in reversed(HOMES)}.values())  # one of each agent


def tainted(value: Any, key: str = "") -> Any:
    """Put the secret into all that is spoken, done or named."""
    if isinstance(value, dict):
        return {name: tainted(item, name.lower()) for name, item in value.items()}
    if isinstance(value, list):
        return [tainted(item, key) for item in value]
    if not isinstance(value, str) or not value:
        return value
    if value[0] in "{[":
        try:
            return json.dumps(tainted(json.loads(value), key))
        except ValueError:
            pass
    if key in SPOKEN:
        return f"{value} {SECRET}"
    if key in PATHS and "/" in value and "." in value.rpartition("/")[2]:  # a file, not where the agent ran
        return f"{value.rpartition('/')[0]}/{SECRET}/{value.rpartition('/')[2]}"
    if key in URLS and value.startswith("https://"):
        return value.replace("https://", f"https://x:{SECRET}@")
    return value


def taint_file(path: Path) -> None:
    content = path.read_bytes()
    if content.startswith(b"SQLite format 3"):
        taint_database(path)
    elif path.suffix == ".md":
        lines = content.decode().splitlines()
        marks = ("####", "Fix ", "Rename", "Use ", "I'll", "- ", "The ", "Done")
        path.write_text(
            "\n".join(f"{line} {SECRET}" if line.startswith(marks) else line for line in lines) + "\n"
        )
    elif path.suffix == ".json":
        path.write_text(json.dumps(tainted(json.loads(content))))
    elif path.suffix == ".jsonl":
        lines = [
            json.dumps(tainted(json.loads(line)), separators=(",", ":")) for line in content.splitlines()
        ]
        path.write_text("\n".join(lines) + "\n")


def taint_database(path: Path) -> None:
    database = apsw.Connection(str(path))
    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for table in tables:
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        spoken = [
            name
            for name in columns
            if name.lower() in SPOKEN | PATHS | URLS or "json" in name or name == "data"
        ]
        for name in spoken if not table.startswith("sqlite_") else ():
            for row, value in database.execute(f'SELECT rowid, "{name}" FROM "{table}"').fetchall():
                if isinstance(value, str):
                    database.execute(
                        f'UPDATE "{table}" SET "{name}" = ? WHERE rowid = ?',
                        (tainted(value, name.lower()), row),
                    )
    database.close()


def every_byte(folder: Path) -> dict[str, bytes]:
    """Return the content of all that told wrote, with what is compressed as it reads."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            found[str(path.relative_to(folder))] = (
                gzip.decompress(content) if path.suffix == ".gz" else content
            )
    return found


def assert_clean(box: Box) -> None:
    assert len(every_byte(box.told_home)) >= 3
    for name, content in every_byte(box.told_home).items():
        # The index has words in small letters, and shares the beginnings of neighbours.
        assert CORE[2:-2].lower().encode() not in content.lower(), name
        assert CORE[6:24].encode() not in content, name


@pytest.mark.parametrize("home", sampled(HOMES, FIRST), ids=lambda one: f"{one.parent.name}/{one.name}")
def test_no_secret_of_any_agent_is_written(box: Box, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(home, box.home, dirs_exist_ok=True, copy_function=shutil.copyfile)
    for path in sorted(box.home.rglob("*")):
        if path.is_file():
            taint_file(path)
    if (box.home / "project").is_dir():
        monkeypatch.chdir(box.home / "project")
    said = raw_words(box, home.parent.name)
    assert any(SECRET in text for text in said), "the agent's reader hears the secret"
    box.told("agents")
    keeper = apsw.Connection(str(box.store))  # keeps the log, which would go with the last connection
    keeper.execute("SELECT * FROM sweep").fetchall()
    box.index()
    for words in (("search", SECRET), ("search", "greet"), ("list",), ("show", SECRET), ("timeline",)):
        box.told(*words)
    assert (box.told_home / "sessions.db-wal").stat().st_size > 0
    assert_clean(box)
    keeper.close()
    box.told("rebuild")
    assert_clean(box)
    assert b"[secret:" in b"".join(every_byte(box.told_home).values())
    stored = [row[0] for row in box.rows("SELECT asked || answered || steps FROM turn WHERE n >= 0")]
    assert any("[secret:" in text for text in stored), "the words around it are kept"


def raw_words(box: Box, name: str) -> list[str]:
    agent = all_agents()[name]
    projects = [str(box.home / "project")]
    found = find_sources(agent, find_roots(agent, box.environ), projects)
    sources = [one[0] for one in found if isinstance(one, tuple) and isinstance(one[0], Source)]
    return [
        event.text
        for source in sources
        for event in agent.read(source, Cursor())
        if isinstance(event, Message)
    ]


def test_secrets_are_redacted_in_incremental_reading(box: Box) -> None:
    talk = box.claude("secretive", cwd="/gone/shop")
    talk.branch = f"fix/{SECRET}"
    steps: list[Callable[[], object]] = [
        lambda: talk.title(f"About {SECRET}"),
        lambda: talk.prompt(f"My token is {SECRET}, use it"),
        lambda: talk.tool("Bash", command=f"curl -H 'Authorization: Bearer {SECRET}' example.org"),
        lambda: talk.tool("Edit", file_path=f"/gone/shop/{SECRET}/a.py", new_string=f"token = '{SECRET}'"),
        lambda: talk.answer(f"I used {SECRET} and opened https://github.com/acme/{SECRET}/pull/7"),
        lambda: talk.compacted(f"The token {SECRET} was used."),
        lambda: talk.title(f"Named {SECRET}", by_user=True),
        lambda: talk.prompt("Good").answer(f"Bye {SECRET}"),
    ]
    for step in steps:
        step()
        talk.append()
        box.index()
        assert_clean(box)
    shown = json.dumps(box.told("show", "secretive", "--full", "--json").json)
    assert SECRET not in shown
    assert shown.count("[secret:") >= 8
    known = box.rows("SELECT asked, answered, steps FROM turn ORDER BY n")
    titles = box.rows("SELECT title, branch, summary FROM session")
    box.drop_store()
    box.index()
    assert box.rows("SELECT asked, answered, steps FROM turn ORDER BY n") == known
    assert box.rows("SELECT title, branch, summary FROM session") == titles


@pytest.mark.parametrize("before", [32_000 - 20, 64_000 - 20, 8_000 - 20])
def test_secret_at_the_length_limit_is_not_cut_in_half(box: Box, before: int) -> None:
    talk = box.claude("long")
    filler = "word " * (before // 5)
    talk.prompt(filler + SECRET + " and more").answer(filler + SECRET + " and more")
    talk.tool("Bash", command="echo " + filler + SECRET)
    talk.title(filler[:180] + SECRET)
    talk.prompt("Next").answer("Yes.").write()
    box.index()
    for name, content in every_byte(box.told_home).items():
        assert CORE[:8].encode() not in content, name
        assert CORE[:10].lower().encode() not in content, name


def test_reader_state_is_redacted(box: Box) -> None:
    talk = box.claude("stateful").title(f"About {SECRET}").turn("Hello there", "Hi.")
    talk.branch = f"fix-{SECRET}"
    talk.prompt("Commit it").tool("Bash", command="git commit -m x").write()
    box.index()
    (state,) = [row[0] for row in box.rows("SELECT state FROM source WHERE state != ''")]
    assert SECRET not in state
    assert "[secret:" in state
    assert json.loads(state)["awaited"], "and goes on with the rest of it"


def test_ids_are_not_redacted(box: Box) -> None:
    """What a reader needs to go on must not be mistaken for one."""
    for number, home in enumerate(sorted(FIXTURES.glob("claude-code/*"))):
        shutil.copytree(
            home / ".claude", box.home / ".claude", dirs_exist_ok=True, copy_function=shutil.copyfile
        )
        assert number >= 0
    shutil.copytree(FIXTURES / "codex/tui/.codex", box.home / ".codex", copy_function=shutil.copyfile)
    shutil.copytree(
        FIXTURES / "copilot-cli/run/.copilot", box.home / ".copilot", copy_function=shutil.copyfile
    )
    box.index()
    states = [row[0] for row in box.rows("SELECT state FROM source")]
    assert any(states)
    assert not any("[secret:" in state for state in states)
