"""Many agents' hooks in the same moment, and one folder of told's: nothing that was said is lost."""

from __future__ import annotations

import json
import subprocess
import time
from datetime import UTC, datetime
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import apsw
import pytest

from tests.hook.desk import PATIENCE, Desk, Said, begun, installed, typed
from tests.hook.forms import context_of
from tests.soak import points

_MANY = 32
_AGENTS = ("claude-code", "codex", "gemini-cli", "copilot-cli")
_NAMES = (
    "amber", "birch", "cedar", "dahlia", "ebony", "fjord", "garnet", "hazel",
    "indigo", "jasper", "koala", "laurel", "maple", "nutmeg", "opal", "poplar",
    "quartz", "raven", "saffron", "topaz", "umber", "violet", "walnut", "xenon",
    "yarrow", "zinnia", "alpaca", "badger", "condor", "dolphin", "ermine", "falcon",
)  # fmt: skip


def _rule(number: int) -> str:
    return f"Always run the {_NAMES[number]} checker before a release."


def _session(number: int) -> str:
    return str(uuid5(NAMESPACE_URL, f"many {number}"))


def _at_once(desk: Desk, calls: list[tuple[str, str, Any]], seconds: str = "100") -> None:
    """Start all, then give each its payload, so that they really run together; each must answer well."""
    running = [
        subprocess.Popen(
            installed(agent, event), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=desk.environ | {"TOLD_HOOK_SECONDS": seconds}, cwd=desk.home,
        )
        for agent, event, _ in calls
    ]  # fmt: skip
    for process, (_, _, payload) in zip(running, calls, strict=True):
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(payload).encode())
            process.stdin.close()
        except BrokenPipeError:
            pass  # its time was up before it was given anything
        process.stdin = None
    for process, (agent, _, payload) in zip(running, calls, strict=True):
        out, err = process.communicate(timeout=120)
        name = payload.get("hook_event_name", "")
        context_of(Said(process.returncode, out.decode(), err.decode()), agent, name, prompt=True)


def _teaching(desk: Desk) -> list[tuple[str, str, Any]]:
    agents = [_AGENTS[number % len(_AGENTS)] for number in range(_MANY)]
    return [(one, "prompt", typed(desk, _rule(n), one, _session(n))) for n, one in enumerate(agents)]


@pytest.mark.soak
@pytest.mark.parametrize("fresh", [True, False])
def test_stores_32_prompts_at_once(desk: Desk, fresh: bool) -> None:
    """Where a machine is fast enough, and where nothing else ever held what was said."""
    if not fresh:
        desk.prompt("We use pnpm here, never npm.")
    _at_once(desk, _teaching(desk))
    texts = desk.texts()
    assert sorted(text for text in texts if "checker" in text) == sorted(map(_rule, range(_MANY)))
    assert desk.told("health").code == 0


def test_late_prompts_are_finished_and_not_learned_again_from_transcripts(desk: Desk) -> None:
    """With the real time limit: late hooks finish in the background."""
    many = points(everyday=5, soak=_MANY)
    calls = [("claude-code", "prompt", typed(desk, _rule(n), session=_session(n))) for n in range(many)]
    _at_once(desk, calls, "")
    ends = time.monotonic() + PATIENCE
    while len(desk.texts()) < many and time.monotonic() < ends:
        time.sleep(0.05)
    now = datetime.now(UTC)
    for number in range(many):
        desk.claude((_rule(number), "Understood."), at=now, cwd=desk.project, session=_session(number))
    assert desk.told("index").code == 0
    assert sorted(desk.texts()) == sorted(map(_rule, range(many)))
    assert {one["repeated"] for one in desk.memories()} == {0}


def test_answers_all_kinds_of_hooks_at_once(desk: Desk) -> None:
    desk.prompt("We use pnpm here, never npm.", session="elsewhere")
    desk.claude(("Move the cache to Redis", "Moved."), cwd=desk.project, session=_session(0))
    path = next(desk.home.glob(".claude/projects/*/*.jsonl"))
    calls = []
    times = points(everyday=1, soak=3)
    for number, event in enumerate(("start", "prompt", "compact", "stop", "end", "helper") * times):
        payload = begun(desk, session=_session(number)) | {"prompt": f"Use npm. {_rule(number)}"}
        calls.append(("claude-code", event, payload | {"transcript_path": str(path)}))
    _at_once(desk, calls)
    asked = sorted(_NAMES[n] for n, (_, event, _) in enumerate(calls) if event == "prompt")
    assert sorted(text.split()[3] for text in desk.texts() if "checker" in text) == asked
    assert desk.told("health").code == 0


def test_stores_all_statements_while_the_database_is_locked(desk: Desk) -> None:
    """The journal is free, the database is not: it is brought up to date later."""
    desk.prompt("We use pnpm here, never npm.", session="elsewhere")
    connection = apsw.Connection(str(desk.told_home / "memory.db"))
    connection.execute("BEGIN IMMEDIATE")
    said = desk.call(
        "claude-code", "prompt",
        typed(
            desk,
            "From now on always use tabs here.\nRemember: I prefer short answers.\n"
            "Remember: the API lives in services/api.",
        ),
    )  # fmt: skip
    connection.execute("ROLLBACK")
    connection.close()
    context_of(said, "claude-code", "UserPromptSubmit", prompt=True)
    assert len(desk.texts()) == 4


def test_answers_a_prompt_while_the_database_is_locked(desk: Desk) -> None:
    desk.prompt("We use pnpm here, never npm.", session="elsewhere")
    assert len(desk.texts()) == 1  # and the database has it
    connection = apsw.Connection(str(desk.told_home / "memory.db"))
    connection.execute("BEGIN IMMEDIATE")
    quiet = desk.call("claude-code", "prompt", typed(desk, "Install it with npm and run the build"))
    teaching = desk.call("codex", "prompt", typed(desk, "Always use tabs. Install it with npm.", "codex"))
    connection.execute("ROLLBACK")
    connection.close()
    assert "pnpm" in context_of(quiet, "claude-code", "UserPromptSubmit", prompt=True)
    assert "pnpm" in context_of(teaching, "codex", "UserPromptSubmit", prompt=True)
