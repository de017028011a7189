"""How a checkpoint is found, shown, handed out and forgotten."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_checkpoint_command import as_agent, project, read
from told.ingest.checkpoint_markdown import parse_checkpoint
from told.text import count_tokens

if TYPE_CHECKING:
    from tests.cli.machine import Machine

__all__ = ["project"]

WORDS = (
    "checkpoint", "Move the login to OAuth", "--done", "Callback routes", "--pending",
    "Remove the password form", "--pending", "Tests", "--decision", "No passwords: they leak",
    "--question", "Which scopes?",
)  # fmt: skip
CLIPBOARDS = ("pbcopy", "wl-copy", "xclip", "xsel", "clip.exe")


@pytest.fixture
def made(machine: Machine, project: str) -> dict[str, str]:
    """A checkpoint as `told checkpoint --json` tells of it."""
    assert project
    found: dict[str, str] = machine.told(*WORDS, "--json").json
    return found


def fake(machine: Machine, name: str, script: str) -> Path:
    """Put a program on the path; what it is given lands in a file."""
    folder = machine.home / "bin"
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    machine.environ["PATH"] = f"{folder}:/usr/bin:/bin"
    return machine.home / "copied"


# -- The list ---------------------------------------------------------------------------------------


def test_the_list_has_both_kinds_and_a_status_only_where_there_is_one(shop: Machine) -> None:
    made = shop.told(*WORDS, "--json").json
    out = shop.told("checkpoints", "--all-projects").out
    assert f"{made['id']} terminal {made['session']} open Move the login to OAuth\n" in out
    assert "\n  next: Remove the password form; Tests; Open questions: Which scopes?\n" in out
    assert "Alerts deployed\n  next: Tune the threshold" in out
    own, theirs = shop.told("checkpoints", "--all-projects", "--json").json["checkpoints"]
    assert (own["status"], own["path"]) == ("open", made["path"])
    assert not {"status", "path"} & set(theirs)


def test_a_file_that_you_edit_is_as_you_left_it(machine: Machine, made: dict[str, str]) -> None:
    path = Path(made["path"])
    path.write_text(path.read_text().replace("Callback routes", "Everything").replace(": open", ": closed"))
    assert "done: Everything\n" in machine.told("show", made["id"]).out
    (note,) = machine.told("checkpoints", "--json").json["checkpoints"]
    assert note["status"] == "closed"
    assert machine.told("search", "everything").code == 0


# -- One of them ------------------------------------------------------------------------------------


def test_a_short_one_says_all_in_a_few_lines_between_marks(machine: Machine, made: dict[str, str]) -> None:
    head, mark, *lines, end = machine.told("show", made["id"][:5]).out.splitlines()
    assert head.endswith(f"{made['id']} terminal {made['session']} open acme/api")
    assert (mark[:7], end[:8]) == ("<agent ", "</agent ")
    assert lines == [
        "Move the login to OAuth",
        "done: Callback routes",
        "pending: Remove the password form; Tests",
        "decisions: No passwords: they leak",
        "questions: Which scopes?",
        f"path: {made['path']}",
    ]


@pytest.mark.usefixtures("project")
def test_a_long_one_is_short_unless_all_of_it_is_asked_for(machine: Machine) -> None:
    many = [word for n in range(60) for word in ("--done", f"Step {n}: " + "more words about it " * 12)]
    name = machine.told("checkpoint", "OAuth", *many, *("--note", "x " * 3000), "--json").json["id"]
    short = machine.told("show", name).out
    assert count_tokens(short) <= 520
    assert " (+5" in short
    assert "Step 59: more words" in machine.told("show", name, "--full").out


def test_json_has_every_field(machine: Machine, made: dict[str, str]) -> None:
    shown = machine.told("show", made["id"], "--json").json
    assert (shown["status"], shown["path"], shown["by"]) == ("open", made["path"], "user")
    assert "Move the login to OAuth" in shown["goal"]
    assert [text.startswith("<agent ") for text in shown["pending"]] == [True, True]
    for name in ("done", "decisions", "files", "plans", "references", "questions", "notes", "more"):
        assert name in shown


def test_json_keeps_the_lines_of_an_item(machine: Machine) -> None:
    name = machine.told("checkpoint", "OAuth", "--done", "first\n  second", "--json").json["id"]
    (item,) = machine.told("show", name, "--json").json["done"]
    assert "\nfirst\n  second\n" in item


def test_a_session_names_its_checkpoint(machine: Machine, made: dict[str, str]) -> None:
    assert f"checkpoint {made['id']} open: Remove the password form; Tests" in machine.told(
        "show", made["session"]
    ).out  # fmt: skip


def test_one_whose_file_is_gone_is_gone(machine: Machine, made: dict[str, str]) -> None:
    os.remove(made["path"])
    assert machine.told("show", made["id"]).code == 1
    assert machine.told("checkpoints").code == 1


# -- Markdown ---------------------------------------------------------------------------------------


def test_it_is_exported_as_its_file_has_it(machine: Machine, made: dict[str, str]) -> None:
    out = machine.told("checkpoints", "export", made["id"][:6]).out
    assert parse_checkpoint(out) == read(made["path"])


def test_an_agent_is_shown_where_it_begins_and_ends(machine: Machine, made: dict[str, str]) -> None:
    as_agent(machine)
    out = machine.told("checkpoints", "export", made["id"]).out
    assert out.startswith("<agent ")
    assert "# Move the login to OAuth" in out


def test_an_agents_own_note_is_exported_in_the_same_form(shop: Machine) -> None:
    (note,) = shop.told("checkpoints", "--json").json["checkpoints"]
    found = parse_checkpoint(shop.told("checkpoints", "export", note["id"]).out)
    assert (found.title, found.goal) == ("Alerts deployed", "Lag alerts for orders.")
    assert dict(found.more) == {
        "Work done": "Added alerts.yaml.",
        "Next steps": "Tune the threshold after a week of data.",
    }


@pytest.mark.parametrize("program", CLIPBOARDS)
def test_it_goes_to_the_clipboard_with_any_of_these(
    machine: Machine, made: dict[str, str], program: str
) -> None:
    copied = fake(machine, program, f"cat > '{machine.home}/copied'")
    answer = machine.told("checkpoints", "export", made["id"], "--copy")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(f"Copied {made['id']} to the clipboard: ")
    coding = "utf-16-le" if program == "clip.exe" else "utf-8"
    assert parse_checkpoint(copied.read_bytes().decode(coding)) == read(made["path"])
    assert machine.told("checkpoints", "export", made["id"], "--copy", "--json").json["with"] == program


def test_without_such_a_program_one_sentence_says_what_to_install(
    machine: Machine, made: dict[str, str]
) -> None:
    machine.environ["PATH"] = str(machine.home)
    answer = machine.told("checkpoints", "export", made["id"], "--copy")
    assert (answer.code, answer.out, answer.err.count("\n")) == (4, "", 1)
    assert "wl-clipboard, xclip or xsel" in answer.err


def test_a_program_that_cannot_do_it_is_named(machine: Machine, made: dict[str, str]) -> None:
    fake(machine, "xclip", "exit 1")
    answer = machine.told("checkpoints", "export", made["id"], "--copy")
    assert answer.code == 4
    assert answer.err == "told: xclip cannot reach the clipboard from here. Leave out --copy to print it.\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("export",), "Give one id: `told checkpoints export ID`."),
        (("export", "c1", "c2"), "Give one id: `told checkpoints export ID`."),
        (("cabcdefghi", "export"), "`told checkpoints` takes `export ID` or `approve ID`, not 'cabcdefghi'."),
        (("export", "c"), "'c' is too short for an id."),
        (("--copy",), "--copy needs a checkpoint:"),
    ],
)
def test_words_in_the_wrong_order_are_set_right(machine: Machine, words: tuple[str, ...], says: str) -> None:
    answer = machine.told("checkpoints", *words)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"told: {says}")


# -- Searching --------------------------------------------------------------------------------------


def test_it_is_found_by_its_words_with_id_status_and_path(machine: Machine, made: dict[str, str]) -> None:
    out = machine.told("search", "password form").out
    assert f"  {made['id']} open checkpoint: " in out
    assert f" {made['path']}\n" in out
    (found,) = machine.told("search", "password form", "--json").json["results"]
    (hit,) = found["hits"]
    assert (hit["id"], hit["who"], hit["status"]) == (made["id"], "checkpoint", "open")
    assert hit["path"] == made["path"]


def test_a_path_below_home_is_short(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.environ["TOLD_HOME"] = str(machine.home / ".told")
    monkeypatch.chdir(machine.repo("code/api", "git@github.com:acme/api.git"))
    machine.told(*WORDS)
    assert " ~/.told/checkpoints/acme-api-" in machine.told("search", "password form").out


def test_checkpoints_alone_can_be_searched(shop: Machine) -> None:
    made = shop.told("checkpoint", "The cache has to be warm", "--json").json
    everything = shop.told("search", "cache", "--all-projects", "--json").json
    assert len(everything["results"]) > 1
    (only,) = shop.told("search", "cache", "--in", "checkpoints", "--all-projects", "--json").json["results"]
    assert [hit["id"] for hit in only["hits"]] == [made["id"]]


# -- Forgetting -------------------------------------------------------------------------------------


def test_without_force_it_says_what_would_go(machine: Machine, made: dict[str, str]) -> None:
    out = machine.told("forget", made["id"]).out
    assert out.startswith("Would forget 1 checkpoint for good; add --force to do it.\n")
    assert made["path"] in out
    assert Path(made["path"]).exists()


def test_with_force_no_byte_of_it_is_left(machine: Machine, made: dict[str, str]) -> None:
    answer = machine.told("forget", made["id"][:6], "--force")
    assert (answer.code, answer.out) == (0, f"Forgot 1 checkpoint: {made['id']}. This cannot be undone.\n")
    assert machine.told("show", made["id"]).code == 1
    assert machine.told("search", "password form").code == 1
    for folder, _, names in os.walk(machine.told_home):
        for name in names:
            content = Path(folder, name).read_bytes()
            assert b"password form" not in content, name
            assert b"Callback" not in content, name
    assert machine.told("rebuild").code == 0
    assert machine.told("show", made["id"]).code == 1


def test_an_agent_cannot_do_that(machine: Machine, made: dict[str, str]) -> None:
    as_agent(machine)
    answer = machine.told("forget", made["id"], "--force")
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert answer.err.startswith("told: Only you can forget a checkpoint.")
    assert Path(made["path"]).exists()


def test_memories_and_checkpoints_go_one_kind_at_a_time(machine: Machine, made: dict[str, str]) -> None:
    answer = machine.told("forget", made["id"], "mabcdefg", "--force")
    assert (answer.code, answer.out) == (2, "")
    assert Path(made["path"]).exists()


def test_an_agents_own_note_is_not_tolds_to_forget(shop: Machine) -> None:
    (note,) = shop.told("checkpoints", "--json").json["checkpoints"]
    answer = shop.told("forget", note["id"], "--force")
    assert (answer.code, answer.out) == (2, "")
