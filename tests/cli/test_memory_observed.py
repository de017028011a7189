"""What agents did is noted as that, never as a rule; and what they were shown and did counts for it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import NAMESPACE_URL, uuid5

import pytest

from tests.cli.machine import NOW, Machine, _Transcript, ago
from tests.cli.test_learning import desk, memories

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["desk"]

COMMIT = 'git commit -m "fix: load the cart before it is read"'
CLOSING = "Fixed the crash: the cart was read before it was loaded. All tests pass now."
SESSION = "0f0f0f0f-0000-4000-8000-0000000000cc"


class Work:
    """A session of Claude Code with the calls of its tools."""

    def __init__(self, machine: Machine, at: datetime, session: str = SESSION) -> None:
        self._machine = machine
        self._session = session
        self._at = at
        self._cwd = str(machine.home / "work/shop")
        self._transcript = _Transcript(session, self._cwd, "main")
        self._calls = 0

    def ask(self, text: str) -> Work:
        self._transcript.talk("user", text, self._at)
        return self

    def run(self, command: str, *, fails: bool = False) -> Work:
        return self._call("Bash", {"command": command}, fails=fails)

    def edit(self, path: str) -> Work:
        return self._call("Edit", {"file_path": f"{self._cwd}/{path}", "old_string": "a", "new_string": "b"})

    def answer(self, text: str) -> Work:
        self._transcript.talk("assistant", [{"type": "text", "text": text}], self._at)
        return self

    def end(self) -> None:
        folder = "".join(c if c.isalnum() else "-" for c in self._cwd)
        self._machine.write(f".claude/projects/{folder}/{self._session}.jsonl", self._transcript.text())

    def _call(self, name: str, given: dict[str, str], *, fails: bool = False) -> Work:
        self._calls += 1
        call = f"toolu_{uuid5(NAMESPACE_URL, f'{self._session} {self._calls}').hex[:20]}"
        use = {"type": "tool_use", "id": call, "name": name, "input": given}
        self._transcript.talk("assistant", [use], self._at)
        content = "Exit code 1\nAssertionError" if fails else "ok"
        result = {"type": "tool_result", "tool_use_id": call, "content": content, "is_error": fails}
        self._transcript.talk(
            "user", [result], self._at, toolUseResult=f"Error: {content}" if fails else content
        )
        self._at += timedelta(seconds=5)
        return self


def repaired(machine: Machine, at: datetime, session: str = SESSION) -> None:
    """A session in which a test failed, a file was changed, the test passed, and it was committed."""
    work = Work(machine, at, session).ask("the cart crashes, please look into it")
    work.run("pytest -q tests/test_cart.py", fails=True).edit("src/cart.py")
    work.run("pytest -q tests/test_cart.py").run(COMMIT).answer(CLOSING).end()


def notes(machine: Machine, *words: str) -> list[dict[str, Any]]:
    return [row for row in memories(machine, "--all", *words) if row["kind"] == "observation"]


def clock(monkeypatch: pytest.MonkeyPatch, at: datetime) -> None:
    monkeypatch.setattr("time.time_ns", lambda: int(at.timestamp()) * 10**9)


def test_a_commit_a_repair_and_the_closing_answer_are_noted_as_the_agents(desk: Machine) -> None:
    repaired(desk, ago(hours=2))
    desk.told("index")
    found = notes(desk)
    said = "\n".join(row["text"] for row in found)
    assert "fix: load the cart before it is read" in said
    assert "`pytest -q tests/test_cart.py` failed, and passed after changes to cart.py" in said
    assert "the cart was read before it was loaded" in said
    assert {(row["trust"], row["kind"], row["locked"]) for row in found} == {("agent", "observation", False)}
    assert all(row["text"].startswith("<agent ") for row in found)
    (place,) = desk.told("why", found[0]["id"], "--json").json["evidence"]
    assert (place["agent"], place["session"]) == ("claude-code", SESSION)


def test_they_are_listed_only_on_request(desk: Machine) -> None:
    repaired(desk, ago(hours=2))
    desk.told("remember", "Never use tabs")
    desk.told("index")
    plain = desk.told("memories")
    assert "Never use tabs" in plain.out
    assert "cart" not in plain.out
    assert f"Not listed: {len(notes(desk))} notes on what agents did (--all)." in plain.out
    assert "cart" in desk.told("memories", "--all").out


def test_in_a_brief_they_are_background_and_fenced_never_something_that_holds(desk: Machine) -> None:
    repaired(desk, ago(hours=2))
    desk.told("remember", "Never read the cart before it is loaded")
    desk.told("index")
    names = {row["id"] for row in notes(desk)}
    seen = set()
    for words in ((), ("--prompt", "fix the crash of the cart"), ("--prompt", "load the cart earlier")):
        for line in desk.told("brief", "--json", *words).json["lines"]:
            seen.add(line["zone"])
            if line["id"] in names:
                assert line["zone"] == "background"
                assert line["text"].startswith("- <agent ")
    assert "standing" in seen


def test_a_session_has_to_be_at_rest_for_half_an_hour(desk: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    repaired(desk, ago(minutes=20))
    desk.told("index")
    assert notes(desk) == []
    clock(monkeypatch, NOW + timedelta(minutes=15))
    desk.told("index")
    assert len(notes(desk)) == 3


def test_at_most_five_things_of_a_session_are_noted_also_when_it_goes_on(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for more, at in ((0, NOW), (6, NOW + timedelta(hours=3))):
        clock(monkeypatch, at)
        work = Work(desk, ago(hours=2)).ask("go on")
        for number in range(4 + more):
            work.edit(f"src/part{number}.py").run(f"git commit -m 'feat: add part {number} of the cart'")
        work.answer(CLOSING if not more else "Added all the parts of the cart, and the tests pass.").end()
        desk.told("index")
        assert 0 < len(notes(desk)) <= 5
    assert len(notes(desk)) == 5


def test_what_was_only_looked_at_is_not_noted(desk: Machine) -> None:
    Work(desk, ago(hours=2)).ask("what is in the cart?").run("cat src/cart.py").answer(
        "A list of items."
    ).end()
    desk.told("index")
    assert notes(desk) == []


def test_what_an_agent_says_in_its_answer_is_never_a_rule(desk: Machine) -> None:
    work = Work(desk, ago(hours=2)).ask("fix the cart").edit("src/cart.py")
    work.answer("From now on always use yarn, never npm. I always push straight to main.").end()
    desk.told("index")
    assert memories(desk) == []
    assert {row["kind"] for row in memories(desk, "--all")} <= {"observation"}


# -- Shown, and then? -------------------------------------------------------------------------------


def shown_and_then(desk: Machine, rule: str, command: str, *, show: bool = True) -> tuple[Any, Any]:
    """Return a memory before and after a session in which a command was run."""
    name = desk.told("remember", "--json", rule).json["id"]
    before = desk.told("why", name, "--json").json
    if show:
        assert desk.told("brief", "--session", SESSION).code == 0
    Work(desk, NOW + timedelta(minutes=1)).ask("add the date picker").run(command).answer("Done.").end()
    return before, name


def later(desk: Machine, monkeypatch: pytest.MonkeyPatch, name: str) -> Any:
    clock(monkeypatch, NOW + timedelta(hours=2))
    desk.told("index")
    return desk.told("why", name, "--json").json


def test_what_was_shown_and_plainly_followed_is_trusted_more(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, name = shown_and_then(desk, "Use pnpm, not npm", "pnpm install date-picker")
    after = later(desk, monkeypatch, name)
    assert after["times_shown"] == 1
    assert after["confidence"] > before["confidence"]
    assert later(desk, monkeypatch, name)["confidence"] == after["confidence"]  # counted once
    desk.told("rebuild")
    assert later(desk, monkeypatch, name)["confidence"] == after["confidence"]


@pytest.mark.parametrize("command", ["ls -la", "git status", "pytest -q"])
def test_where_it_cannot_be_told_nothing_moves(
    desk: Machine, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    before, name = shown_and_then(desk, "Use pnpm, not npm", command)
    after = later(desk, monkeypatch, name)
    assert (after["times_shown"], after["confidence"]) == (1, before["confidence"])


@pytest.mark.parametrize("command", ["pnpm install date-picker", "npm install date-picker"])
def test_what_was_never_shown_never_moves(
    desk: Machine, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    before, name = shown_and_then(desk, "Use pnpm, not npm", command, show=False)
    after = later(desk, monkeypatch, name)
    assert (after["times_shown"], after["confidence"]) == (0, before["confidence"])


def test_what_another_session_was_shown_does_not_count_for_this_one(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, name = shown_and_then(desk, "Use pnpm, not npm", "pnpm install date-picker", show=False)
    desk.told("brief", "--session", "another")
    after = later(desk, monkeypatch, name)
    assert (after["times_shown"], after["confidence"]) == (1, before["confidence"])
