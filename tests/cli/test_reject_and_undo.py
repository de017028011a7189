"""`told reject` keeps a memory away until the user wants it back; `told undo` reverts every change."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.cli.machine import NOW, ago
from tests.cli.test_learning import RULE, desk, memories, say
from tests.soak import points
from told.hook.dispatch import answer_hook

if TYPE_CHECKING:
    from tests.cli.machine import Answer, Machine

__all__ = ["desk"]

SAME = "Always open a pull request, never push straight to main."
UNDO = "`told undo` reverts it."


def do(desk: Machine, *words: str) -> Answer:
    answer = desk.told(*words)
    assert (answer.code, answer.err) == (0, "")
    return answer


def is_recalled(desk: Machine, memory: str) -> bool:
    """Tell whether a list, a search, an answer or a brief has a memory."""
    commands = (
        ("memories", "--all", "--json"), ("search", "--in", "memories", "--json", "push to main"),
        ("search", "--json", "push to main"), ("wonder", "--json", "main"),
        ("brief", "--start", "--json"), ("brief", "--json", "--prompt", "push this to main"),
    )  # fmt: skip
    found = [memory in desk.told(*command).out for command in commands]
    assert all(found) or not any(found), found
    return all(found)


def prompt(desk: Machine, text: str, session: str = "live-1") -> str:
    payload = {
        "hook_event_name": "UserPromptSubmit", "prompt": text, "session_id": session,
        "cwd": str(desk.home / "work/shop"), "transcript_path": "",
    }  # fmt: skip
    return answer_hook("claude-code", "prompt", payload, desk.environ)


@pytest.mark.parametrize("verb", ["reject", "dismiss"])
def test_a_rejected_memory_is_out_at_once_and_back_after_undo(desk: Machine, verb: str) -> None:
    say(desk, RULE)
    (made,) = memories(desk)
    assert is_recalled(desk, made["id"])
    assert do(desk, verb, made["id"]).out == (
        f"Dismissed {made['id']}: {RULE}\nOut of briefs and searches, and never learned again.\n{UNDO}\n"
    )
    assert not is_recalled(desk, made["id"])
    assert [row["id"] for row in memories(desk, "--status", "dismissed")] == [made["id"]]
    assert desk.told(verb, made["id"]).err == (
        f"told: {made['id']} is dismissed. `told confirm {made['id']}` restores it.\n"
    )
    assert do(desk, "undo").out == f"Undone: rejected {made['id']}: {RULE}\n"
    assert memories(desk) == [made]
    assert is_recalled(desk, made["id"])


def test_no_session_file_or_agent_teaches_a_rejected_memory_again(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = say(desk, RULE)
    (made,) = memories(desk)
    do(desk, "reject", made["id"])
    monkeypatch.setattr("time.time_ns", lambda: int((NOW + timedelta(days=1)).timestamp()) * 10**9)
    say(desk, RULE, "go on, please", session=session)
    say(desk, RULE, at=NOW + timedelta(hours=2))
    say(desk, SAME, at=NOW + timedelta(hours=3))
    prompt(desk, SAME)
    desk.write("work/shop/DECISIONS.md", f"# Decisions\n\n- {RULE}\n")
    desk.environ["CLAUDECODE"] = "1"
    said = do(desk, "remember", RULE)
    assert said.out == f"Not saved: the user rejected {made['id']}. Only the user can restore it.\n"
    del desk.environ["CLAUDECODE"]
    do(desk, "index")
    assert "1 left out that you forgot, rejected or corrected" in do(desk, "onboard").out
    do(desk, "rebuild")
    for name in ("sessions.db", "memory.db"):
        (desk.told_home / name).unlink()
    assert [row["text"] for row in memories(desk, "--all") if "main" in row["text"]] == []
    assert memories(desk, "--status", "candidate") == []
    assert len(memories(desk, "--status", "dismissed")) == 1


@pytest.mark.parametrize("way", ["remember", "prompt", "command", "confirm"])
def test_the_user_can_want_it_back(desk: Machine, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    say(desk, RULE)
    (made,) = memories(desk)
    do(desk, "reject", made["id"])
    monkeypatch.setattr("time.time_ns", lambda: int((NOW + timedelta(hours=1)).timestamp()) * 10**9)
    if way == "remember":
        lines = do(desk, "remember", SAME).out.splitlines()
        assert (lines[0].partition(":")[0], lines[-1]) == ("Restored", UNDO)
    elif way == "prompt":
        prompt(desk, f"Remember: {SAME}")
    elif way == "command":
        assert "told restored" in prompt(desk, f"/mem:remember {SAME}")
    else:
        assert do(desk, "confirm", made["id"]).out == f"Restored {made['id']}: {RULE}\n{UNDO}\n"
    (back,) = memories(desk)
    assert (back["id"], back["status"]) == (made["id"], "active")


def test_a_locked_memory_is_unlocked_first_and_an_agent_only_proposes(desk: Machine) -> None:
    made = do(desk, "lock", "--json", RULE).json["id"]
    answer = desk.told("reject", made)
    assert (answer.code, answer.err) == (
        2, f"told: {made} is locked. Unlock it first: `told unlock {made}`.\n"
    )  # fmt: skip
    do(desk, "unlock", made)
    desk.environ["CLAUDECODE"] = "1"
    assert do(desk, "reject", made).out.startswith("Only you can reject memories. Saved as proposal p")
    del desk.environ["CLAUDECODE"]
    assert [row["id"] for row in memories(desk)] == [made]
    (proposal,) = do(desk, "proposals", "--json").json["proposals"]
    assert do(desk, "proposals", "accept", proposal["id"]).out.endswith(f"\n{UNDO}\n")
    assert memories(desk) == []
    assert f"accepted the proposal {proposal['id']}" in do(desk, "undo").out
    assert [row["id"] for row in memories(desk)] == [made]
    assert do(desk, "proposals", "--json").json["count"] == 1
    do(desk, "proposals", "decline", proposal["id"])
    assert do(desk, "undo").out == f"Undone: declined the proposal {proposal['id']}\n"
    assert do(desk, "proposals", "--json").json["count"] == 1


def state(desk: Machine) -> tuple[object, ...]:
    """Return what the user sees of memories and scopes."""
    rows = [
        {name: row[name] for name in ("id", "text", "status", "locked", "scope", "confidence")}
        for status in ("active", "superseded", "archived", "dismissed", "quarantined")
        for row in memories(desk, "--status", status, "--all-projects")
    ]
    return rows, desk.told("scopes", "--json").out


def test_every_change_names_undo_and_undo_reverts_it(desk: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write("work/shop/AGENTS.md", "# Rules\n\n- Keep every function below forty lines\n")
    tabs = do(desk, "remember", "--json", "Never use tabs").json["id"]
    npm = do(desk, "remember", "--json", "Use npm for packages").json["id"]
    changes: list[tuple[tuple[str, ...], str]] = [
        (("remember", "Answer in English"), "remembered m"),
        (("remember", "We use pnpm now instead of npm"), f"Active again: {npm}: Use npm for packages"),
        (("remember", "Never use tabs"), f"confirmed {tabs}: Never use tabs"),
        (("lock", tabs), f"locked {tabs}: Never use tabs"),
        (("lock", "Never push to main"), "remembered m"),
        (("confirm", tabs), f"confirmed {tabs}: Never use tabs"),
        (("reject", tabs, npm), f"rejected {npm}: Use npm for packages"),
        (("correct", tabs, "Use tabs in Makefiles only"), f"Active again: {tabs}: Never use tabs"),
        (("scopes", "create", "web"), "created the shared scope web"),
        (("onboard",), "remembered m"),
        (("wonder", "npm", "--note", "Perhaps yarn is faster"), "remembered m"),
    ]
    for words, undone in changes[:: points(everyday=2, soak=1)]:
        before = state(desk)
        assert do(desk, *words).out.rstrip().endswith(UNDO), words
        assert state(desk) != before or words[0] == "wonder", words
        assert undone in do(desk, "undo").out, words
        assert state(desk) == before, words
    do(desk, "scopes", "create", "web")
    do(desk, "lock", tabs)
    monkeypatch.setattr("time.time_ns", lambda: int(ago(days=-400).timestamp()) * 10**9)
    for words, undone in (
        (("scopes", "subscribe", "web"), "applied the scope web to github.com/acme/shop"),
        (("scopes", "share", npm, "web"), f"shared {npm}: Use npm for packages"),
        (("unlock", tabs), f"unlocked {tabs}: Never use tabs"),
    ):
        before = state(desk)
        assert do(desk, *words).out.rstrip().endswith(UNDO), words
        assert state(desk) != before, words
        assert undone in do(desk, "undo").out, words
        assert state(desk) == before, words
    assert "This cannot be undone." in do(desk, "forget", npm, "--force").out


def test_a_typing_error_gets_suggestions(desk: Machine) -> None:
    tabs = do(desk, "remember", "--json", "Never use tabs in Python files").json["id"]
    wrong = tabs[:-1] + ("a" if tabs[-1] != "a" else "b")
    for words in (("lock", wrong), ("confirm", wrong), ("reject", tabs, wrong), ("correct", wrong, "Use two"),
                  ("unlock", "Pyhton")):  # fmt: skip
        answer = desk.told(*words)
        assert (answer.code, answer.out) == (1, "")
        given = wrong if wrong in words else "Pyhton"
        row = f"11-15 12:00 {tabs} rule project: Never use tabs in Python files"
        assert answer.err == f"told: No memory matches {given!r}. Did you mean:\n{row}\n"
    assert desk.told("lock", "mzzzzzzz").err == (
        "told: No memory matches 'mzzzzzzz'. `told memories` lists them.\n"
    )
    assert [row["id"] for row in memories(desk)] == [tabs]
