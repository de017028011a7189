"""A scratch machine with agents' files in their real formats, and told run on it."""

from __future__ import annotations

import gc
import io
import json
import os
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest import mock
from uuid import NAMESPACE_URL, uuid5

import apsw

from told.cli.main import main

if TYPE_CHECKING:
    import pytest

FIXTURES = Path(__file__).parents[1] / "data" / "agents"
LONG_AGO = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
WORDS = (
    "greet function", "rename greet to salute", "never commit .env", "cart discount", "health check",
    "mutex", "cache", "node version", "compaction", "tests", "yesterday", "hello.py", "絶対に",
    "plan the work",
)  # fmt: skip

TURNS = (
    "SELECT s.native, n, at, key, asked, answered, steps, near, extra FROM turn t"
    " JOIN session s ON s.id = t.session_id ORDER BY 1, 2"
)


class Answer(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.out, self.err
        return json.loads(self.out)


class Box:
    """One scratch machine."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.told_home = folder / "told"
        self.home.mkdir(parents=True)
        self.started: list[subprocess.Popen[str]] = []
        self.environ = {
            "HOME": str(self.home),
            "TOLD_HOME": str(self.told_home),
            "TOLD_BACKGROUND": "off",
            "TOLD_LEARN": "off",  # what sessions teach has tests of its own
            "PATH": os.environ.get("PATH", ""),
            "TZ": "UTC",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
        }

    def live_in(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let this process run as if on this machine."""
        for variable, value in self.environ.items():
            monkeypatch.setenv(variable, value)
        monkeypatch.chdir(self.home)

    # -- told -------------------------------------------------------------------------------------

    def told(self, *words: str) -> Answer:
        """Run a command in this process."""
        out, err = io.StringIO(), io.StringIO()
        # Else a sweep makes this process, and all that it starts, slow up to the last of its tests.
        with mock.patch.object(os, "nice", create=True), redirect_stdout(out), redirect_stderr(err):
            code = main(words, self.environ)
        return Answer(code, out.getvalue(), err.getvalue())

    def start(self, *words: str, **environ: str) -> subprocess.Popen[str]:
        """Start a command in a process of its own."""
        process = subprocess.Popen(
            [sys.executable, "-m", "told", *words], env=self.environ | environ, cwd=self.home, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.started.append(process)
        return process

    def finish(self) -> None:
        """Leave no process of this machine behind, and no pipe: a test that failed may not harm the next."""
        for process in self.started:
            process.kill()
            process.communicate()
        self.started.clear()

    def index(self) -> int:
        """Read all that is new; return how many files that were."""
        answer = self.told("index", "--json")
        assert answer.code == 0, answer.err
        return int(answer.json["files_read"])

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Ask the store itself."""
        connection = apsw.Connection(str(self.store), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return connection.execute(sql, values).fetchall()
        finally:
            connection.close()

    @property
    def store(self) -> Path:
        return self.told_home / "sessions.db"

    def drop_store(self) -> None:
        """Delete the database of conversations, as a user may do at any time."""
        gc.collect()  # a command leaves its connection to the end of the process
        for path in self.told_home.glob("sessions.db*"):
            path.unlink()

    def check(self) -> None:
        """Fail unless SQLite finds the store in order and the full-text index agrees with the turns."""
        connection = apsw.Connection(str(self.store), flags=apsw.SQLITE_OPEN_READWRITE)
        connection.set_busy_timeout(10_000)
        try:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            connection.execute("INSERT INTO turn_words(turn_words) VALUES('integrity-check')")
            # With rank 1 the index is also compared with the table its words come from.
            connection.execute("INSERT INTO turn_words(turn_words, rank) VALUES('integrity-check', 1)")
            doubled = connection.execute(
                "SELECT key, count(*) FROM turn WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1"
            ).fetchall()
            assert not doubled
            counts = connection.execute(
                "SELECT s.native, s.turns, count(t.id) FROM session s LEFT JOIN turn t"
                " ON t.session_id = s.id AND t.n >= 0 GROUP BY s.id HAVING s.turns != count(t.id)"
            ).fetchall()
            assert not counts
        finally:
            connection.close()

    # -- what a user sees ---------------------------------------------------------------------------

    def turns(self, native: str) -> list[tuple[str, str]]:
        """Return what was asked and answered in a session, as `told show` has it."""
        shown = self.told("show", native, "--full", "--json").json
        return [
            (turn.get("asked", {}).get("text", ""), _unfenced(turn.get("answered", {}).get("text", "")))
            for turn in shown["turns_shown"]
        ]

    def found(self, *words: str) -> list[str]:
        """Return the sessions that a search finds, by the agent's own ids."""
        answer = self.told("search", *words, "--in", "sessions", "--json", "--all-projects")
        return [row["native_id"] for row in answer.json["results"]]

    def answers(self, words: tuple[str, ...] = WORDS) -> dict[str, Any]:
        """Return everything a user can see, of all sessions."""
        where = ("--json", "--all-projects", "-n", "100000")
        seen: dict[str, Any] = {
            name: self.told(name, *where).json for name in ("list", "files", "timeline", "checkpoints")
        }
        seen["repos"] = self.told("repos", "--json", "-n", "100000").json
        for query in words:
            seen[f"search {query}"] = self.told("search", query, "--in", "sessions", *where).json
        for public, native in self.rows("SELECT public, native FROM session WHERE turns > 0"):
            seen[f"show {native}"] = self.told("show", public, "--full", "--json").json
        return seen

    # -- agents -------------------------------------------------------------------------------------

    def folder(self, name: str) -> str:
        path = self.home / name
        path.mkdir(parents=True, exist_ok=True)
        return str(path)

    def claude(self, session: str = "", *, cwd: str = "/gone/shop", folder: str = "-gone-shop") -> Transcript:
        """Return a transcript of Claude Code that is still to be written."""
        session = session or uuid(f"session {cwd}")
        assert "/" not in session + folder, "a scratch machine's files stay on it"
        return Transcript(self.home / ".claude/projects" / folder / f"{session}.jsonl", session, cwd)

    def use_fixtures(self) -> None:
        """Give this machine all that the tests have of real agents' files, each run in its own place."""
        for home in sorted(FIXTURES.glob("*/*")):
            shutil.copytree(home, self.home, dirs_exist_ok=True, copy_function=shutil.copyfile)

    def git(self, folder: str, *words: str) -> str:
        """Run git as someone whose name does not matter."""
        who = {"GIT_ALLOW_PROTOCOL": "file"} | {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "x"), ("EMAIL", "x@example.org"), ("DATE", "2026-01-01T00:00:00Z"))
        }
        done = subprocess.run(
            ["git", "-C", folder, "-c", "init.defaultBranch=main", *words],
            env=self.environ | who, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.strip()


class Transcript:
    """A session file of Claude Code, written a piece at a time."""

    def __init__(self, path: Path, session: str, cwd: str, at: datetime = LONG_AGO) -> None:
        self.path = path
        self.session = session
        self.cwd = cwd
        self.at = at
        self.lines: list[dict[str, Any]] = []
        self.branch = "main"

    def prompt(self, text: str, **more: Any) -> Transcript:
        return self._line("user", {"role": "user", "content": text}, **more)

    def answer(self, text: str, message: str = "", **more: Any) -> Transcript:
        return self._assistant({"type": "text", "text": text}, message, **more)

    def tool(self, name: str, message: str = "", **given: Any) -> Transcript:
        call = f"toolu_{uuid(f'{self.session} tool {len(self.lines)}')}"
        return self._assistant({"type": "tool_use", "id": call, "name": name, "input": given}, message)

    def turn(self, asked: str, answered: str) -> Transcript:
        return self.prompt(asked).answer(answered)

    def title(self, title: str, by_user: bool = False) -> Transcript:
        kind, field = ("custom-title", "customTitle") if by_user else ("ai-title", "aiTitle")
        self.lines.append({"type": kind, field: title, "sessionId": self.session})
        return self

    def compacted(self, text: str) -> Transcript:
        content = f"This session is being continued from a previous conversation.\n{text}"
        return self._line("user", {"role": "user", "content": content}, isCompactSummary=True)

    def _assistant(self, block: dict[str, Any], message: str, **more: Any) -> Transcript:
        message = message or f"msg_{uuid(f'{self.session} message {len(self.lines)}')[:12]}"
        body = {"id": message, "role": "assistant", "model": "m", "type": "message", "content": [block]}
        return self._line("assistant", body, **more)

    def _line(self, kind: str, message: dict[str, Any], **more: Any) -> Transcript:
        self.at += timedelta(seconds=7)
        self.lines.append({
            "parentUuid": None, "isSidechain": False, "userType": "external", "cwd": self.cwd,
            "sessionId": self.session, "version": "2.1.325", "gitBranch": self.branch, "type": kind,
            "message": message, "uuid": uuid(f"{self.session} line {len(self.lines)}"),
            "timestamp": self.at.isoformat().replace("+00:00", "Z"), **more,
        })  # fmt: skip
        return self

    def text(self) -> str:
        return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in self.lines)

    def write(self, path: Path | None = None) -> Path:
        """Write the whole file anew."""
        path = path or self.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text())
        return path

    def append(self) -> None:
        """Write what came since, as the agent does."""
        written = self.path.stat().st_size if self.path.exists() else 0
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(self.text().encode()[written:])


def uuid(name: str) -> str:
    """Return an id that is the same in every run."""
    return str(uuid5(NAMESPACE_URL, ascii(name)))


def _unfenced(text: str) -> str:
    return "\n".join(text.splitlines()[1:-1]) if text else ""


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Say where two sets of answers differ, shortly enough to read."""
    found = []
    for name in sorted({*before, *after}):
        one, other = json.dumps(before.get(name)), json.dumps(after.get(name))
        if one != other:
            at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
            found.append(
                f"{name}: …{one[max(0, at - 150) : at + 150]}… became …{other[max(0, at - 150) : at + 150]}…"
            )
    return found
