"""A home that is missing, full, read-only, locked or broken: the hook stays silent and exits 0."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from tests.hook import faults
from tests.hook.desk import (
    ASKED,
    PATIENCE,
    TAUGHT,
    Desk,
    Said,
    begun,
    installed,
    said_to_model,
    typed,
)
from tests.hook.forms import context_of
from tests.soak import SOAK

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_EVENTS = ("start", "prompt", "teach", "lock", "compact", "stop", "helper", "tool")
_SOME_EVENTS = _EVENTS if SOAK else ("start", "prompt", "teach", "tool")  # where each takes long
_FEW_EVENTS = _EVENTS if SOAK else ("start", "teach")  # where each takes even longer


@pytest.fixture
def used(desk: Desk) -> Desk:
    """A machine on which told has been used for a while."""
    desk.prompt(TAUGHT, session="elsewhere")
    assert desk.told("remember", "--lock", "--scope", "global", "Never run `git push --force`.").code == 0
    desk.claude(
        ("Move the cache to Redis", "Moved."),
        cwd=desk.project,
        session="0b5f2c1e-9d4a-4c57-8a30-1a2b3c4d5e6f",
    )
    assert desk.told("index").code == 0
    desk.prompt(ASKED, session="shown")
    return desk


def _payload(desk: Desk, event: str) -> dict[str, Any]:
    path = next(desk.home.glob(".claude/projects/*/*.jsonl"), desk.home)
    common = {"tool_input": {"command": "git push --force"}, "transcript_path": str(path)}
    prompts = {"teach": "Always run the tests with make check.", "lock": "/mem:lock Always use tabs here."}
    return begun(desk, session="new") | typed(desk, prompts.get(event, ASKED), session="new") | common


def _told_word(event: str) -> str:
    return "prompt" if event in ("teach", "lock") else event


def _quiet(said: Said, event: str) -> None:
    """The agent goes on: exit code 0, nothing on standard error, and an answer that it can read or none."""
    if event == "tool":
        assert (said.code, said.err) == (0, "")
        assert not said.out or said.json["hookSpecificOutput"]["permissionDecision"] == "ask"
    else:
        context_of(said, "claude-code", "UserPromptSubmit", prompt=True)


def _survives(desk: Desk, events: tuple[str, ...] = _EVENTS, **environ: str) -> None:
    for event in events:
        _quiet(desk.hurried("claude-code", _told_word(event), _payload(desk, event), **environ), event)


@pytest.mark.parametrize("broken", faults.BROKEN, ids=lambda one: one.__name__)
def test_broken_home_gets_no_output(used: Desk, broken: Callable[[Path], None]) -> None:
    broken(used.told_home)
    if broken is faults.with_pipes:  # each call waits until its time is up
        _survives(used, _FEW_EVENTS, TOLD_DEBUG="1", TOLD_HOOK_SECONDS="1")
    else:
        is_worst = broken in (faults.with_noise, faults.as_file)
        _survives(used, _EVENTS if is_worst else _SOME_EVENTS, TOLD_DEBUG="1")


def test_database_of_another_version_gets_no_output(used: Desk) -> None:
    for name in ("memory.db", "sessions.db"):
        connection = apsw.Connection(str(used.told_home / name))
        connection.execute("PRAGMA user_version=999")
        connection.close()
    _survives(used)


@pytest.mark.soak
def test_locked_databases_are_not_waited_for(used: Desk) -> None:
    with faults.held(used.told_home):
        _survives(used)


def test_exclusively_locked_databases_are_not_waited_for(used: Desk) -> None:
    with faults.held_alone(used.told_home):
        _survives(used)


def test_prompt_is_journaled_while_the_database_is_locked(used: Desk) -> None:
    """The databases can be made again: only the journal counts."""
    connection = apsw.Connection(str(used.told_home / "memory.db"))
    connection.execute("BEGIN IMMEDIATE")
    used.call("claude-code", "prompt", _payload(used, "teach"))
    connection.execute("ROLLBACK")
    connection.close()
    assert any("make check" in text for text in used.texts())


def _full() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def _in_child(desk: Desk, event: str, before: Callable[[], None], **environ: str) -> Said:
    done = subprocess.run(
        installed("claude-code", _told_word(event)), input=json.dumps(_payload(desk, event)).encode(),
        env=desk.environ | environ, cwd=desk.home, capture_output=True, timeout=PATIENCE, check=False,
        preexec_fn=before,
    )  # fmt: skip
    return Said(done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize("fresh", [False, True])
def test_full_disk_gets_no_output(used: Desk, fresh: bool) -> None:
    """Not one byte more can be written to any file; Python ignores the signal for it, and gets an error."""
    if fresh:
        shutil.rmtree(used.told_home)
    for event in _FEW_EVENTS:
        _quiet(_in_child(used, event, _full, TOLD_DEBUG="1"), event)


def _read_only(folder: Path) -> tuple[str, ...]:
    """Make a folder one that can only be read; return what to start a program with so that it holds."""
    if os.geteuid():
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o500 if path.is_dir() else 0o400)
        return ()
    script = (
        'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'  # root may write anything else
    )
    return ("unshare", "-m", "sh", "-c", script, str(folder))


@pytest.mark.parametrize("fresh", [False, True])
def test_read_only_home_still_answers(used: Desk, fresh: bool) -> None:
    if fresh:
        shutil.rmtree(used.told_home)
        used.told_home.mkdir()
    before = _read_only(used.told_home)
    if before and subprocess.run([*before, "true"], capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    answered = []
    for event in _FEW_EVENTS if fresh else _SOME_EVENTS:
        words = (*before, *installed("claude-code", _told_word(event)))
        said = used.start(words, _payload(used, event), TOLD_HOOK_SECONDS="100")
        _quiet(said, event)
        answered += [event] if said.out else []
    for path in (used.told_home, *used.told_home.rglob("*")):
        path.chmod(0o700)
    assert fresh or "pnpm" in said_to_model(used.ask("codex", "start", begun(used, "codex", "later")))
    assert fresh or {"start", "prompt", "tool"} <= set(answered)  # what is there can still be read


def test_missing_home_variables_get_no_output(used: Desk) -> None:
    for name in ("HOME", "TOLD_HOME"):
        used.environ.pop(name)
    _survives(used)


def test_invalid_home_gets_no_output(used: Desk) -> None:
    for home in ("relative/path", "~nobody-of-that-name", "/dev/null", "/proc", "x" * 5000):
        for event in ("start", "teach", "stop") if SOAK else ("start", "teach"):
            _quiet(
                used.hurried("claude-code", _told_word(event), _payload(used, event), TOLD_HOME=home), event
            )


def test_deleted_working_folder_gets_no_output(used: Desk) -> None:
    """A session goes on in a folder that was removed: its payload names it, and the hook starts there."""
    gone = used.folder("code/gone")
    words = installed("claude-code", "prompt")
    for event in _FEW_EVENTS:
        payload = json.dumps(_payload(used, event) | {"cwd": gone}).encode()
        os.makedirs(gone, exist_ok=True)
        script = 'cd "$0" && rmdir "$0" && exec "$@"'
        done = subprocess.run(
            ["sh", "-c", script, gone, *words[:5], _told_word(event), *words[6:]], input=payload,
            env=used.environ,
            capture_output=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        _quiet(Said(done.returncode, done.stdout.decode(), done.stderr.decode()), event)


def test_closed_output_exits_0(used: Desk) -> None:
    """The agent gave up: told's end of the pipe is closed, or there is none."""
    for event in ("start", "prompt") if SOAK else ("prompt",):
        raw = json.dumps(_payload(used, event)).encode()
        words = installed("claude-code", event)
        done = subprocess.run(
            ["sh", "-c", 'exec "$@" >&-', "sh", *words], input=raw, env=used.environ, capture_output=True,
            timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=used.environ
        )
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(raw)
        process.stdin.close()
        assert process.wait(PATIENCE) == 0
        assert process.stderr.read() == b""
        process.stderr.close()


def test_failure_is_logged_and_not_shown_to_the_agent(used: Desk) -> None:
    (used.told_home / "config.toml").write_text("learn = false\nnonsense = 1\n")
    said = used.call("claude-code", "prompt", _payload(used, "teach"))
    assert (said.code, said.err) == (0, "")
    assert "nonsense" not in said.out
    assert "nonsense" in (used.told_home / "hook.trouble").read_text()


def test_damaged_memory_database_is_rebuilt(used: Desk) -> None:
    for number, broken in enumerate((b"noise" * 2000, b"")):
        (used.told_home / "memory.db").write_bytes(broken)
        said = used.call("claude-code", "prompt", typed(used, ASKED, session=f"s{number}"))
        assert "pnpm" in said.out


def test_start_is_answered_with_damaged_sessions(used: Desk) -> None:
    for number, broken in enumerate((b"noise" * 2000, (used.told_home / "sessions.db").read_bytes()[:9000])):
        (used.told_home / "sessions.db").write_bytes(broken)
        said = used.call("claude-code", "start", begun(used, session=f"s{number}"))
        assert "pnpm" in context_of(said, "claude-code", "SessionStart")


def test_start_is_answered_if_nothing_can_be_written(used: Desk) -> None:
    """What the last session was shown cannot be noted in the journal; that is no reason to say nothing."""
    machine = used.told_home / "machine"
    machine.unlink()
    machine.mkdir()
    said = used.call("claude-code", "start", begun(used))
    assert "pnpm" in context_of(said, "claude-code", "SessionStart")
