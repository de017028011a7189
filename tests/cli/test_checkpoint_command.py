"""`told checkpoint`: what is written, from flags, from JSON, and from nothing but the transcript."""

from __future__ import annotations

import contextlib
import json
import os
import stat
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.machine import ago
from tests.redact.canary import TEXT, TOKEN, leaks, told_files
from told.cli import checkpoint_write as checkpoint_input
from told.ingest.checkpoint_markdown import parse_checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.cli.machine import Machine
    from told.model import Handover

ASKED = "Move the login to OAuth, please, and keep the old routes working"
ANSWERED = "I moved the login to OAuth. The tests of the old routes still have to be written."


def written(machine: Machine, *words: str) -> Handover:
    """Write a checkpoint, and return what its file says."""
    answer = machine.told("checkpoint", "--json", *words)
    assert (answer.code, answer.err) == (0, "")
    return read(answer.json["path"])


def read(path: str) -> Handover:
    return parse_checkpoint(Path(path).read_text(encoding="utf-8"), path)


def as_agent(machine: Machine, session: str = "") -> None:
    """Let commands from here on be those of Claude Code."""
    machine.environ |= {"CLAUDECODE": "1"}
    if session:
        machine.environ |= {"CLAUDE_CODE_SESSION_ID": session}


@pytest.fixture
def project(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> str:
    """A project in which a session worked, as the current folder."""
    folder = machine.repo("code/api", "git@github.com:acme/api.git")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def session(machine: Machine, project: str) -> str:
    """The session that worked there."""
    return machine.claude(
        (ASKED, ANSWERED), cwd=project, at=ago(hours=1),
        files={f"{project}/src/login.py": "Edit", f"{project}/docs/plan.md": "Write"},
    )  # fmt: skip


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Let standard input be a pipe that holds a text and is closed behind it, or stays open."""
    with contextlib.ExitStack() as opened:

        def hold(text: str, *, ends: bool = True) -> None:
            out, into = os.pipe()
            reader = opened.enter_context(os.fdopen(out))
            writer = opened.enter_context(os.fdopen(into, "w"))
            writer.write(text)
            writer.flush()
            if ends:
                writer.close()
            monkeypatch.setattr(sys, "stdin", reader)

        yield hold


# -- From flags and words ---------------------------------------------------------------------------


@pytest.mark.usefixtures("project")
def test_words_are_the_goal_and_the_answer_is_one_line(machine: Machine) -> None:
    answer = machine.told("checkpoint", "Move", "the", "login", "to", "OAuth")
    assert (answer.code, answer.err) == (0, "")
    (line,) = answer.out.splitlines()
    name, status, path = line.split(" ")
    assert name.startswith("c")
    assert status == "open"
    assert path.startswith(f"{machine.told_home}/checkpoints/")
    assert read(path).goal == "Move the login to OAuth"
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


@pytest.mark.usefixtures("project")
def test_every_flag_has_its_place_in_the_file(machine: Machine) -> None:
    found = written(
        machine, "--goal", "OAuth", "--done", "Routes", "--done", "Forms", "--pending", "Tests",
        "--decision", "No passwords: they leak", "--file", "src/login.py", "--plan", "docs/plan.md",
        "--reference", "acme/api#17", "--question", "Which scopes?", "--note", "Staging is slow.",
        "--title", "The login", "--status", "closed",
    )  # fmt: skip
    assert (found.goal, found.title, found.notes) == ("OAuth", "The login", "Staging is slow.")
    assert (found.done, found.pending) == (("Routes", "Forms"), ("Tests",))
    assert (found.decisions, found.files) == (("No passwords: they leak",), ("src/login.py",))
    assert (found.plans, found.references) == (("docs/plan.md",), ("acme/api#17",))
    assert (found.questions, found.status) == (("Which scopes?",), "closed")
    assert (found.agent, found.by, found.project) == ("terminal", "user", "github.com/acme/api")


@pytest.mark.usefixtures("project")
def test_json_says_what_became_of_it(machine: Machine) -> None:
    first = machine.told("checkpoint", "OAuth", "--session", "mine-1", "--json").json
    assert set(first) == {"id", "path", "status", "agent", "session", "native_id", "again"}
    assert (first["status"], first["native_id"], first["again"]) == ("open", "mine-1", False)
    assert machine.told("show", first["session"]).code == 0
    again = machine.told("checkpoint", "OAuth", "--session", "mine-1", "--json").json
    assert again == first | {"again": True}


@pytest.mark.usefixtures("project")
def test_the_same_words_typed_twice_are_one_checkpoint(machine: Machine) -> None:
    first = machine.told("checkpoint", "OAuth").out
    assert machine.told("checkpoint", "OAuth").out == first.replace("\n", " (already there)\n")
    assert len(machine.told("checkpoints", "--json").json["checkpoints"]) == 1


@pytest.mark.usefixtures("project")
def test_what_you_write_at_a_terminal_does_not_close_what_you_wrote_before(machine: Machine) -> None:
    machine.told("checkpoint", "OAuth")
    machine.told("checkpoint", "Invoices")
    found = machine.told("checkpoints", "--json").json["checkpoints"]
    assert [note["status"] for note in found] == ["open", "open"]


@pytest.mark.usefixtures("project")
def test_the_next_one_of_a_session_closes_the_one_before(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = machine.told("checkpoint", "OAuth", "--session", "mine-1", "--json").json
    later = time.time_ns() + 60 * 10**9
    monkeypatch.setattr(time, "time_ns", lambda: later)
    second = machine.told("checkpoint", "OAuth", "--done", "Routes", "--session", "mine-1", "--json").json
    assert (read(first["path"]).status, read(second["path"]).status) == ("closed", "open")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--status", "opn", "OAuth"), "A checkpoint's status is open or closed, not 'opn'."),
        (("--goal", "a", "b"), "Give the goal as --goal or in words, not both."),
        (("--done",), "--done needs a value: --done TEXT."),
        (("--ferd", "x"), "`told checkpoint` has no option --ferd."),
        (("--close", "c77", "OAuth"), "--close only closes a checkpoint."),
        (("--stdin", "OAuth"), "With --stdin all fields come from there."),
        (("--session", "a\nb", "OAuth"), "That is no session id."),
        (("close", "cabcdefghi"), "Did you mean `told checkpoint --close ID`?"),
        (("list",), "Did you mean `told checkpoints`?"),
    ],
)
def test_what_is_not_understood_is_said_and_nothing_is_written(
    machine: Machine, words: tuple[str, ...], says: str
) -> None:
    answer = machine.told("checkpoint", *words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"told: {says}")
    assert not (machine.told_home / "checkpoints").exists()


def test_where_nothing_ever_happened_it_says_what_to_type(machine: Machine) -> None:
    answer = machine.told("checkpoint")
    assert (answer.code, answer.out) == (2, "")
    assert 'such as `told checkpoint "Move the login to OAuth"' in answer.err
    assert answer.err.count("\n") == 1


def test_outside_of_any_project_it_belongs_to_none(machine: Machine) -> None:
    found = written(machine, "Buy milk")
    assert (found.project, found.goal) == ("", "Buy milk")


@pytest.mark.usefixtures("project")
def test_a_long_goal_with_slashes_and_emoji_is_kept_whole(machine: Machine) -> None:
    goal = "../../🚀 Ship / it: " + "a/b\\c " * 60
    answer = machine.told("checkpoint", goal)
    assert (answer.code, len(answer.out.splitlines())) == (0, 1)
    path = answer.out.split(" ", 2)[2].rstrip("\n")
    assert read(path).goal == goal.strip()
    assert path.startswith(f"{machine.told_home}/checkpoints/acme-api-")


@pytest.mark.usefixtures("project")
def test_a_home_that_cannot_be_written_is_one_sentence(machine: Machine) -> None:
    machine.told_home.mkdir()
    (machine.told_home / "checkpoints").write_text("in the way")
    answer = machine.told("checkpoint", "Invoices")
    assert (answer.code, answer.out, answer.err.count("\n")) == (4, "", 1)


# -- From standard input ----------------------------------------------------------------------------


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("words", [("--stdin",), ("-",), ("--stdin", "-")])
def test_fields_come_as_json_on_standard_input(
    machine: Machine, pipe: Callable[..., None], words: tuple[str, ...]
) -> None:
    fields: dict[str, Any] = {
        "conversation_id": "other-1", "tool": "cursor",
        "checkpoint": {"goal": "OAuth", "work_completed": ["Routes"], "slug": "login"},
    }  # fmt: skip
    pipe(json.dumps(fields))
    found = written(machine, *words)
    assert (found.agent, found.session) == ("cursor", "other-1")
    assert (found.goal, found.done, found.title) == ("OAuth", ("Routes",), "login")


@pytest.mark.parametrize("text", ["", "  \n", "{", "[1]", '{"goal": 1}', '{"goal": "x", "done": "y'])
def test_wrong_json_is_one_sentence_and_nothing_is_written(
    machine: Machine, pipe: Callable[..., None], text: str
) -> None:
    pipe(text)
    answer = machine.told("checkpoint", "--stdin")
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert not (machine.told_home / "checkpoints").exists()


@pytest.mark.usefixtures("project")
def test_a_field_that_is_none_is_named(machine: Machine, pipe: Callable[..., None]) -> None:
    pipe('{"goal": "OAuth", "pendings": ["Tests"]}')
    assert machine.told("checkpoint", "--stdin").out.endswith(" (ignored: pendings)\n")


@pytest.mark.usefixtures("project")
def test_no_field_brings_a_secret_in(machine: Machine, pipe: Callable[..., None]) -> None:
    many = [TEXT, TOKEN, {"path": TOKEN, "title": TEXT}]
    names = ["work_completed", "work_pending", "decisions", "plan_files", "references", "files", "questions"]
    texts = {"goal": TEXT, "slug": f"Use {TOKEN}", "work_summary": TEXT, "session_id": f"s-{TOKEN}"}
    pipe(json.dumps({**texts, **dict.fromkeys(names, many), TOKEN: TOKEN}))
    answer = machine.told("checkpoint", "--stdin")
    assert (answer.code, answer.err) == (0, "")
    assert leaks(told_files(machine.told_home).items()) == []


def test_nobody_is_waited_for_at_a_terminal(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = os.openpty()
    with os.fdopen(theirs) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        answer = machine.told("checkpoint", "--stdin")
    os.close(ours)
    assert answer.code == 2
    assert "There is nothing on standard input." in answer.err


@pytest.mark.parametrize("sent", ["", '{"goal": "OA'])
def test_a_pipe_that_stays_open_is_not_waited_for_without_end(
    machine: Machine, pipe: Callable[..., None], monkeypatch: pytest.MonkeyPatch, sent: str
) -> None:
    monkeypatch.setattr(checkpoint_input, "STDIN_SECONDS", 0.02)
    pipe(sent, ends=False)
    answer = machine.told("checkpoint", "--stdin")
    assert (answer.code, answer.err.count("\n")) == (2, 1)


@pytest.mark.usefixtures("project")
def test_without_the_flag_standard_input_is_left_alone(machine: Machine, pipe: Callable[..., None]) -> None:
    pipe("the next line of a script")
    assert machine.told("checkpoint", "OAuth").code == 0
    assert sys.stdin.read() == "the next line of a script"


# -- From the transcript ----------------------------------------------------------------------------


def test_without_anything_it_is_made_of_the_last_session_in_the_project(
    machine: Machine, session: str
) -> None:
    found = written(machine)
    assert (found.agent, found.session, found.by) == ("claude-code", session, "tool")
    assert found.goal.startswith("Move the login to OAuth")
    assert "src/login.py (edit)" in found.files


def test_an_agent_makes_one_of_its_own_session(machine: Machine, project: str, session: str) -> None:
    machine.claude(("Something else entirely, a new page", "Done: I made the page."), cwd=project)
    as_agent(machine, session)
    found = written(machine)
    assert found.session == session
    assert found.goal.startswith("Move the login to OAuth")


def test_what_is_given_stands_before_what_the_transcript_shows(machine: Machine, session: str) -> None:
    as_agent(machine, session)
    found = written(machine, "The login", "--pending", "Scopes")
    assert (found.goal, found.pending, found.by) == ("The login", ("Scopes",), "agent")
    assert "src/login.py (edit)" in found.files
    assert written(machine, "--done", "All", "--file", "a.py").files == ("a.py",)


def test_files_come_from_git_where_the_transcript_names_none(machine: Machine, project: str) -> None:
    session = machine.claude((ASKED, ANSWERED), cwd=project, at=ago(hours=1))
    Path(project, "made.py").write_text("1\n")
    Path(project, ".told").mkdir()
    Path(project, ".told", "x").write_text("1\n")
    os.utime(Path(project, "made.py"))
    as_agent(machine, session)
    assert written(machine, "The login").files == ("made.py (create)",)


def test_a_session_that_did_nothing_yet_has_nothing_to_hand_over(machine: Machine, project: str) -> None:
    machine.claude(("Hi", "Hello!"), cwd=project)
    answer = machine.told("checkpoint")
    assert (answer.code, answer.out) == (2, "")
    assert "has nothing to hand over yet" in answer.err


# -- Closing ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("project")
def test_one_is_closed_by_the_beginning_of_its_id(machine: Machine) -> None:
    made = machine.told("checkpoint", "OAuth", "--json").json
    answer = machine.told("checkpoint", "--close", made["id"][:5])
    assert (answer.code, answer.out) == (0, f"{made['id']} closed {made['path']}\n")
    assert read(made["path"]).status == "closed"
    assert machine.told("checkpoint", "--close", made["id"]).out.endswith(" (it was already)\n")


@pytest.mark.usefixtures("project")
def test_the_same_again_but_closed_closes_it(machine: Machine) -> None:
    made = machine.told("checkpoint", "OAuth", "--json").json
    closed = machine.told("checkpoint", "OAuth", "--status", "closed", "--session", made["session"], "--json")
    assert closed.json == made | {"status": "closed"}
    assert read(made["path"]).status == "closed"


def test_an_agents_own_note_is_not_tolds_to_close(shop: Machine) -> None:
    (note,) = shop.told("checkpoints", "--json").json["checkpoints"]
    answer = shop.told("checkpoint", "--close", note["id"])
    assert (answer.code, answer.out) == (2, "")
    assert "which told does not change" in answer.err


def test_what_is_not_there_cannot_be_closed(machine: Machine) -> None:
    assert machine.told("checkpoint", "--close", "cnothing22").code == 1
