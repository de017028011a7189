"""A scratch machine: a home folder with agents' files in their real formats, and told run on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock
from uuid import NAMESPACE_URL, uuid5

import apsw

from told.cli.main import main
from told.journal.apply import open_memories
from told.journal.file_journal import FileJournal
from told.memories.caller import Caller
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, add_memory
from told.store.memories.records import AGENT, PROJECT

if TYPE_CHECKING:
    import pytest

AGENTS = Path(__file__).parent.parent / "data" / "agents"
# A Sunday.
NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


class Answer(NamedTuple):
    """What a command gave back."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The output, read as JSON."""
        return json.loads(self.out)


def ago(**span: float) -> datetime:
    """Return a time before the frozen clock's."""
    return NOW - timedelta(**span)


def stamp(at: datetime) -> str:
    """Write a time as the agents do."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.000Z")


class Machine:
    """A home folder, a folder for told, and builders for what agents leave there."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = root / "home"
        self.told_home = root / "told"
        self.home.mkdir()
        self._capsys = capsys
        self.made = 0
        self.environ = {
            "HOME": str(self.home),
            "TOLD_HOME": str(self.told_home),
            "TOLD_BACKGROUND": "off",
            "TZ": "UTC",
            "PATH": os.environ.get("PATH", ""),
        }

    def move(self, root: Path, made: int = 0) -> None:
        """Go on in another folder, in which so many sessions were made."""
        self.home, self.told_home, self.made = root / "home", root / "told", made
        self.environ |= {"HOME": str(self.home), "TOLD_HOME": str(self.told_home)}

    def told(self, *words: str, **variables: str) -> Answer:
        """Run told in this process, with more variables in its environment."""
        self._capsys.readouterr()
        with mock.patch.object(os, "nice", int, create=True):  # it would last beyond this test
            code = main(words, self.environ | variables)
        out, err = self._capsys.readouterr()
        return Answer(code, out, err)

    def at_terminal(self, *words: str, **variables: str) -> Answer:
        """Run told in this process as at a terminal of 80 columns that nobody types at."""
        variables = {"COLUMNS": "80", "TERM": "xterm"} | variables
        with (
            mock.patch.object(sys.stdout, "isatty", return_value=True),
            mock.patch.object(sys.stdin, "isatty", return_value=False),
        ):
            return self.told(*words, **variables)

    def child(self, *words: str, cwd: str | Path | None = None, drop: tuple[str, ...] = ()) -> Answer:
        """Run told as a process of its own, without some of the environment."""
        environ = {name: value for name, value in self.environ.items() if name not in drop}
        done = subprocess.run(
            [sys.executable, "-m", "told", *words],
            env=environ, cwd=cwd or self.home, capture_output=True, text=True, timeout=120, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return Answer(done.returncode, done.stdout, done.stderr)

    def folder(self, name: str) -> str:
        """Make a plain folder below home."""
        path = self.home / name
        path.mkdir(parents=True, exist_ok=True)
        return str(path)

    def repo(self, name: str, remote: str = "") -> str:
        """Make a git repository below home, with the files that `git init` writes: starting git is slow."""
        path = Path(self.folder(name))
        for part in ("objects/info", "objects/pack", "refs/heads", "refs/tags"):
            (path / ".git" / part).mkdir(parents=True, exist_ok=True)
        (path / ".git/HEAD").write_text("ref: refs/heads/master\n")
        config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
        if remote:
            config += f'[remote "origin"]\n\turl = {remote}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
        (path / ".git/config").write_text(config)
        return str(path)

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file below home."""
        place = self.home / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content.encode() if isinstance(content, str) else content)
        return place

    def config(self, content: str) -> None:
        """Write told's config.toml."""
        self.told_home.mkdir(exist_ok=True)
        (self.told_home / "config.toml").write_text(content)

    def claude(
        self, *turns: tuple[str, str], at: datetime = NOW, cwd: str = "", branch: str = "main",
        session: str = "", files: dict[str, str] | None = None, title: str = "", compacted: str = "",
        helper: tuple[str, str] | None = None,
    ) -> str:  # fmt: skip
        """Write a transcript of Claude Code that ended at a time: (what was asked, the final answer) pairs.

        As in real transcripts each block of an answer is a line of its own: a thought, tool calls, and only
        then the answer.
        """
        self.made += 1
        session = session or str(uuid5(NAMESPACE_URL, f"session {self.made}"))
        cwd = cwd or self.folder("work/shop")
        begin = at - timedelta(minutes=2 * (len(turns) - 1), seconds=30)
        transcript = _Transcript(session, cwd, branch)
        if title:
            transcript.add({"type": "ai-title", "aiTitle": title, "sessionId": session})
        for number, (asked, answered) in enumerate(turns):
            transcript.turn(begin + timedelta(minutes=2 * number), asked, answered, files or {})
            files = {}
        if compacted:
            content = f"This session is being continued from a previous conversation.\n{compacted}"
            transcript.talk("user", content, at, isCompactSummary=True)
        folder = f".claude/projects/{''.join(c if c.isalnum() else '-' for c in cwd)}"
        self.write(f"{folder}/{session}.jsonl", transcript.text())
        if helper:
            of_helper = _Transcript(session, cwd, branch, agentId="a1b2c3d", isSidechain=True)
            of_helper.turn(begin, *helper, {})
            self.write(f"{folder}/{session}/subagents/agent-a1b2c3d.jsonl", of_helper.text())
        return session

    def copilot(
        self, *turns: tuple[str, str], at: datetime = NOW, session: str = "", cwd: str | None = None,
        repository: str | None = None, branch: str | None = None, summary: str | None = None,
        files: dict[str, str] | None = None, refs: dict[str, str] | None = None,
        note: dict[str, str] | None = None,
    ) -> str:  # fmt: skip
        """Add a session to Copilot's store, which is made with the schema of a real one."""
        self.made += 1
        session = session or str(uuid5(NAMESPACE_URL, f"session {self.made}"))
        database = self.copilot_store()
        begin = at - timedelta(minutes=2 * max(0, len(turns) - 1))
        database.execute(
            "INSERT INTO sessions(id, cwd, repository, branch, summary, created_at, updated_at)"
            " VALUES(?, ?, ?, ?, ?, ?, ?)",
            (session, cwd, repository, branch, summary, stamp(begin), stamp(at)),
        )
        for number, (asked, answered) in enumerate(turns):
            database.execute(
                "INSERT INTO turns(session_id, turn_index, user_message, assistant_response, timestamp)"
                " VALUES(?, ?, ?, ?, ?)",
                (session, number, asked, answered, stamp(begin + timedelta(minutes=2 * number))),
            )
        for path, how in (files or {}).items():
            database.execute(
                "INSERT INTO session_files(session_id, file_path, tool_name, turn_index, first_seen_at)"
                " VALUES(?, ?, ?, 0, ?)",
                (session, path, how, stamp(at)),
            )
        for value, kind in (refs or {}).items():
            database.execute(
                "INSERT INTO session_refs(session_id, ref_type, ref_value, turn_index, created_at)"
                " VALUES(?, ?, ?, 0, ?)",
                (session, kind, value, stamp(at)),
            )
        if note:
            columns = ", ".join(note)
            marks = ", ".join("?" for _ in note)
            database.execute(
                f"INSERT INTO checkpoints(session_id, checkpoint_number, created_at, {columns})"
                f" VALUES(?, 1, ?, {marks})",
                (session, stamp(at), *note.values()),
            )
        database.close()
        return session

    def copilot_store(self) -> apsw.Connection:
        """Open Copilot's store, with the tables of a real one."""
        path = self.home / ".copilot" / "session-store.db"
        fresh = not path.exists()
        path.parent.mkdir(exist_ok=True)
        database = apsw.Connection(str(path))
        if fresh:
            real = apsw.Connection(
                str(AGENTS / "copilot-cli" / "run" / ".copilot" / "session-store.db"),
                flags=apsw.SQLITE_OPEN_READONLY,
            )
            tables = ("sessions", "turns", "checkpoints", "session_files", "session_refs", "schema_version")
            for name in tables:
                for (sql,) in real.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (name,)):
                    database.execute(sql)
            real.close()
        return database

    def copilot_events(self, *turns: tuple[str, str], at: datetime = NOW, cwd: str = "") -> str:
        """Write the event file of a Copilot session that its store does not know."""
        self.made += 1
        session = str(uuid5(NAMESPACE_URL, f"session {self.made}"))
        context = {"cwd": cwd or self.folder("work/shop"), "branch": "main"}
        events: list[tuple[str, dict[str, Any]]] = [
            ("session.start", {"sessionId": session, "context": context})
        ]
        for asked, answered in turns:
            events += [("user.message", {"content": asked}), ("assistant.message", {"content": answered})]
        lines = [
            json.dumps(
                {"type": kind, "id": f"{session}-{n}", "timestamp": stamp(at), "parentId": None, "data": data}
            )
            for n, (kind, data) in enumerate(events)
        ]
        self.write(f".copilot/session-state/{session}/events.jsonl", "\n".join(lines) + "\n")
        return session

    def ids(self, *words: str) -> list[str]:
        """Return told's ids of the sessions it lists, the latest first."""
        where = () if "--project" in words else ("--all-projects",)
        return [row["id"] for row in self.told("list", "--json", *where, *words).json["sessions"]]


def remember(machine: Machine, *words: str) -> str:
    """Let the user, or the agent that the environment names, remember something; return its id."""
    answer = machine.told("remember", "--json", *words)
    assert (answer.code, answer.err) == (0, "")
    return str(answer.json["id"])


def remember_confirmed(machine: Machine, text: str) -> str:
    """Let an agent remember something without proof, and the user confirm it; return its id."""
    environ, machine.environ = machine.environ, machine.environ | {"CLAUDECODE": "1"}
    made = remember(machine, text)
    machine.environ = environ
    assert machine.told("confirm", made).code == 0
    return made


def note_as_agent(machine: Machine, text: str, project: str) -> str:
    """Store an agent's word that nobody confirmed, active as an observation is; return its id."""
    memories = open_memories(str(machine.told_home))
    writer = JournalWriter(
        FileJournal(str(machine.told_home)), memories, time.time_ns() // 10**6, Caller(AGENT)
    )
    made = add_memory(writer, NewMemory(text, PROJECT + project, trust=AGENT, agent="claude-code"))
    writer.write()
    memories.close()
    return made


class _Transcript:
    """The lines of one transcript of Claude Code."""

    def __init__(self, session: str, cwd: str, branch: str, **more: Any) -> None:
        self._common = {
            "isSidechain": False, "userType": "external", "cwd": cwd, "sessionId": session,
            "version": "2.1.325", "gitBranch": branch, **more,
        }  # fmt: skip
        self._lines: list[dict[str, Any]] = []
        self._parent: str | None = None

    def add(self, line: dict[str, Any]) -> None:
        self._lines.append(line)

    def talk(self, kind: str, content: Any, at: datetime, **more: Any) -> None:
        uuid = str(uuid5(NAMESPACE_URL, f"{self._common} {len(self._lines)}"))
        message: dict[str, Any] = {"role": kind, "content": content}
        if kind == "assistant":
            message |= {"id": f"msg_{uuid[:12]}", "model": "claude-opus-4-8", "type": "message"}
        self.add({
            "parentUuid": self._parent, **self._common, "type": kind, "message": message, "uuid": uuid,
            "timestamp": stamp(at), **more,
        })  # fmt: skip
        self._parent = uuid

    def turn(self, at: datetime, asked: str, answered: str, files: dict[str, str]) -> None:
        self.talk("user", asked, at)
        thought = {"type": "thinking", "thinking": "Let me look at the code first.", "signature": ""}
        self.talk("assistant", [thought], at)
        for number, (path, tool) in enumerate(files.items()):
            call = f"toolu_{self._parent}_{number}"
            used = {"type": "tool_use", "id": call, "name": tool, "input": {"file_path": path}}
            self.talk("assistant", [used], at)
            result = {"type": "tool_result", "tool_use_id": call, "content": "TOOL OUTPUT"}
            self.talk("user", [result], at, toolUseResult={"type": "text"})
        self.talk("assistant", [{"type": "text", "text": answered}], at + timedelta(seconds=30))

    def text(self) -> str:
        return "".join(json.dumps(line) + "\n" for line in self._lines)
