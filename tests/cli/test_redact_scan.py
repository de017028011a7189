"""`told redact-scan`: what was stored before a rule knew it is shown, and goes from every file of told."""

from __future__ import annotations

import gc
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.machine import ago
from tests.cli.older_data import (
    BODY,
    NAMED,
    NATIVE,
    OFF,
    PLACEHOLDER,
    SAID,
    SECRET,
    contents,
    desk,
    finished,
    left,
    store,
)
from told.files import write_private
from told.retention.disk import trim_sessions
from told.store.sessions.facts import TrimmedSessions

if TYPE_CHECKING:
    from tests.cli.machine import Answer, Machine
    from told.cli.context import Context

__all__ = ["desk"]


def answers(machine: Machine) -> list[Any]:
    """Return what told says about all it knows, without what says when it was asked."""
    told: list[Answer] = [
        machine.told("list", "--all-projects", "--json"),
        machine.told("memories", "--all-projects", "--all", "--json"),
        machine.told("search", "gateway redis cache", "--all-projects", "--json"),
        machine.told("files", "--all-projects", "--json"),
        machine.told("checkpoints", "--all-projects", "--json"),
        machine.told("show", NATIVE, "--full", "--json"),
    ]
    assert {one.code for one in told} == {0}
    # Which memories a search finds beside the sessions depends on all of their words.
    return [{"results": one.json["results"]} if "query" in one.json else one.json for one in told]


def test_a_scan_shows_the_places_and_never_the_secret(desk: Machine) -> None:
    before = contents(desk)
    answer = desk.told("redact-scan")
    assert (answer.code, answer.err) == (0, "")
    assert BODY not in answer.out
    for line in ("  3 turns", "  2 checkpoints", "  1 touched file", "lines of the journal", "  1 ref",
                 "  1 state of a reader", "  2 logs", "  2 notes", "files of the archive",
                 "1 damaged database"):  # fmt: skip
        assert line in answer.out
    assert PLACEHOLDER in answer.out
    assert "`told redact-scan --apply`" in answer.out
    assert "These still contain it" in answer.out
    found = desk.told("redact-scan", "--json").json
    assert found["applied"] is False
    assert found["count"] == sum(one["count"] for one in found["places"])
    assert {one["kind"] for one in found["texts"]} >= {"turn", "session", "journal", "archive", "log"}
    assert all(PLACEHOLDER in one["text"] for one in found["texts"])
    assert contents(desk) == before


def test_it_is_in_no_file_afterwards_and_a_second_scan_finds_nothing(desk: Machine) -> None:
    assert {"sessions.db", "memory.db", "000001.jsonl"} <= set(left(desk))
    desk.told("index")  # the files of checkpoints are new to it
    before = answers(desk)
    answer = desk.told("redact-scan", "--apply")
    assert (answer.code, answer.err) == (0, "")
    assert BODY not in answer.out
    assert "Nothing of it is left" in answer.out
    assert left(desk) == []
    again = desk.told("redact-scan", "--apply")
    assert (again.code, again.out) == (1, "Stored data has nothing that today's rules would remove.\n")
    assert desk.told("redact-scan", "--json").json["count"] == 0
    assert desk.told("health", "--deep", "--json").json["deep"]["sound"] is True
    # Nothing else was lost: ids and all other texts are as they were; a search ranks by the new texts.
    assert others(answers(desk)) == others(before)


def others(value: Any) -> Any:
    """Leave out each text in which the secret stood, and what is worked out from such a text."""
    if isinstance(value, dict):
        return {name: others(of) for name, of in value.items() if name not in ("score", "confidence", "rank")}
    if isinstance(value, list):
        return sorted((others(one) for one in value), key=str)
    return "…" if isinstance(value, str) and (SECRET in value or PLACEHOLDER in value) else value


def test_neither_a_rebuild_nor_reading_again_brings_it_back(desk: Machine) -> None:
    assert desk.told("redact-scan", "--apply").code == 0
    before = answers(desk)
    assert desk.told("rebuild").code == 0
    assert left(desk) == []
    assert answers(desk) == before
    gc.collect()
    for path in desk.told_home.glob("*.db*"):
        path.unlink()
    assert desk.told("index").code == 0
    assert left(desk) == []
    assert answers(desk) == before
    # Only the archive is left of the sessions.
    shutil.rmtree(desk.home / ".claude")
    shutil.rmtree(desk.home / ".copilot")
    gc.collect()
    for path in desk.told_home.glob("*.db*"):
        path.unlink()
    assert desk.told("rebuild").code == 0
    assert left(desk) == []
    assert desk.told("show", NATIVE, "--full", "--json").json["turns"]


def test_the_agents_own_files_are_named_and_untouched(desk: Machine) -> None:
    path = next(desk.home.rglob(f"{NATIVE}.jsonl"))
    before = path.read_bytes()
    answer = desk.told("redact-scan", "--apply", "--json").json
    assert answer["applied"] is True
    assert str(path) in answer["elsewhere"]
    assert any(one.endswith("session-store.db") for one in answer["elsewhere"])
    assert path.read_bytes() == before


def test_memories_keep_their_ids_locks_and_history(desk: Machine) -> None:
    before = {one["id"]: one for one in desk.told("memories", "--all", "--json").json["memories"]}
    assert desk.told("redact-scan", "--apply").code == 0
    after = {one["id"]: one for one in desk.told("memories", "--all", "--json").json["memories"]}
    assert after.keys() == before.keys()
    (locked,) = [one for one in after.values() if one["locked"]]
    assert locked["text"].startswith(f"Never rotate {PLACEHOLDER}")
    assert BODY not in desk.told("why", *after, "--json").out
    own = next(one for one in after.values() if one["text"].startswith("The shop's own token is"))
    assert own["trust"] == "user"
    assert desk.told("forget", own["id"], "--force").code == 0
    assert desk.told("health", "--deep", "--json").json["deep"]["sound"] is True


def test_nothing_is_learned_twice_afterwards(desk: Machine) -> None:
    assert desk.told("redact-scan", "--apply").code == 0
    before = desk.told("memories", "--all", "--json").json["count"]
    assert desk.told("index").code == 0
    assert desk.told("rebuild").code == 0
    assert desk.told("memories", "--all", "--json").json["count"] == before


def test_a_summary_or_title_that_was_cut_in_the_middle_of_it_goes_too(machine: Machine) -> None:
    machine.config(OFF)
    filler = "please look at the login of the gateway and at all the other things that are slow there, " * 2
    asked = f"{filler.replace(' ', '/')}{SECRET} is it"  # one long word is cut wherever there is no more room
    machine.claude((f"{filler}{SECRET} is it", "Done."), at=ago(days=2), session=NATIVE, title=asked)
    assert machine.told("index").code == 0
    (machine.told_home / "config.toml").unlink()
    assert left(machine, BODY[:12])
    assert machine.told("redact-scan", "--apply").code == 0
    assert left(machine, BODY[:12]) == []


def test_a_name_that_was_made_of_a_secret_goes_with_it(machine: Machine) -> None:
    machine.config(OFF)
    assert machine.told("remember", f"Call `deploy --token {SECRET}` to reach api.{BODY}.example").code == 0
    (machine.told_home / "config.toml").unlink()
    machine.told("redact-scan", "--apply")
    journal = next(machine.told_home.rglob("000001.jsonl")).read_text()
    assert json.loads(journal.splitlines()[0])["payload"]["text"].startswith(
        f"Call `deploy --token {PLACEHOLDER}"
    )
    assert SECRET.lower() not in journal.lower()


def test_a_secret_in_a_name_goes_with_all_that_it_names(machine: Machine) -> None:
    machine.config(OFF)
    folder = machine.folder(f"work/{NAMED}")
    machine.claude(
        (SAID, "Done."), ("What about Kafka?", "It has three brokers."), at=ago(days=2), cwd=folder
    )
    machine.copilot(
        ("Never push to main.", "Fine."),
        at=ago(days=3),
        session=f"s-{NAMED}",
        cwd=machine.folder("work/web"),
    )
    assert machine.told("index").code == 0
    before = machine.told("memories", "--all-projects", "--json").json["count"]
    assert before == 2
    (machine.told_home / "config.toml").unlink()
    answer = machine.told("redact-scan")
    assert NAMED not in answer.out
    assert "names of files, folders, projects or sessions" in answer.out
    answer = machine.told("redact-scan", "--apply", "--json")
    assert NAMED not in answer.out
    assert left(machine, NAMED) == []
    assert machine.told("redact-scan").code == 1
    assert len(machine.ids()) == 2
    assert machine.told("search", "kafka brokers", "--all-projects").code == 0
    assert machine.told("memories", "--all-projects", "--json").json["count"] == before
    assert machine.told("rebuild").code == 0
    assert len(machine.ids()) == 2
    assert machine.told("memories", "--all-projects", "--json").json["count"] == before
    assert left(machine, NAMED) == []
    assert machine.told("health", "--deep", "--json").json["deep"]["sound"] is True


def test_an_own_rule_takes_out_what_was_stored_before_it_was_made(machine: Machine) -> None:
    own = "KST-482913"
    machine.claude(
        (f"Never mention {own} to customers.", f"Fine, not {own}."), at=ago(days=2), session=NATIVE
    )
    assert machine.told("index").code == 0
    assert machine.told("remember", f"The account is {own}, and {own} alone").code == 0
    assert machine.told("redact-scan").code == 1
    machine.config(
        '[[redaction.rules]]\nname = "cost-centre"\npattern = "KST-[0-9]{6}"\nexample = "KST-123456"\n'
    )
    answer = machine.told("redact-scan")
    assert answer.code == 0
    assert own not in answer.out
    assert "[secret:cost-centre:" in answer.out
    assert machine.told("redact-scan", "--apply").code == 0
    assert left(machine, "482913") == []
    assert machine.told("redact-scan").code == 1
    assert machine.told("rebuild").code == 0
    assert left(machine, "482913") == []
    assert "The account is [secret:cost-centre:" in machine.told("memories", "--all-projects").out


def test_a_session_that_was_trimmed_to_make_room_loses_it_in_the_archive(machine: Machine) -> None:
    machine.config(OFF)
    machine.claude((f"use {SECRET} here", "The cache lives in Redis."), at=ago(days=40), session=NATIVE)
    for number in range(11):
        machine.claude((f"question {number}", "An answer."), at=ago(days=number + 2))
    assert machine.told("index").code == 0
    connection = store(machine)
    assert trim_sessions(connection, str(machine.told_home), 1, learned=False) == 1
    connection.close()
    (machine.told_home / "config.toml").unlink()
    assert machine.told("redact-scan", "--apply").code == 0
    assert left(machine) == []
    assert machine.told("redact-scan").code == 1
    shown = machine.told("show", NATIVE, "--full").out
    assert f"use {PLACEHOLDER}" in shown
    assert "The cache lives in Redis." in shown
    next(machine.home.rglob(f"{NATIVE}.jsonl")).touch()
    assert machine.told("index").code == 0
    assert left(machine) == []
    connection = store(machine)
    assert len(TrimmedSessions(connection).all()) == 1  # it reads as before, so it stays out
    connection.close()


@pytest.mark.parametrize("yes", [True, False])
def test_at_a_terminal_it_asks_first(desk: Machine, monkeypatch: pytest.MonkeyPatch, yes: bool) -> None:
    asked: list[str] = []

    def ask(context: Context, question: str) -> bool:
        asked.append(context.take() + question)
        return yes

    monkeypatch.setattr("told.cli.forget.may_ask", lambda arguments: not arguments.flag("yes"))
    monkeypatch.setattr("told.cli.forget.confirm_yes", ask)
    answer = desk.told("redact-scan", "--apply")
    assert answer.code == 0
    assert PLACEHOLDER in asked[0]
    assert asked[0].endswith("This cannot be undone.")
    assert (left(desk) == []) is yes
    assert (answer.out == "Nothing was changed.\n") is not yes
    assert desk.told("redact-scan", "--apply", "--yes").code == (1 if yes else 0)
    assert len(asked) == 1


def test_in_an_agents_shell_it_only_looks(desk: Machine) -> None:
    desk.environ["CLAUDECODE"] = "1"
    before = contents(desk)
    assert desk.told("redact-scan").code == 0
    answer = desk.told("redact-scan", "--apply", "--yes")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("told: Only you can remove stored text")
    assert contents(desk) == before


def test_where_redaction_is_off_it_says_so(machine: Machine) -> None:
    machine.config(OFF)
    answer = machine.told("redact-scan")
    assert answer.code == 2
    assert "redaction.enabled" in answer.err


def test_a_project_that_is_not_there_is_named(desk: Machine) -> None:
    shop = desk.home / "work/shop"
    (shop / ".told").rename(shop / "away")
    answer = desk.told("redact-scan", "--apply", "--json").json
    assert answer["absent"] == [str(shop)]
    assert left(desk) == []
    (shop / "away").rename(shop / ".told")
    assert [one["kind"] for one in desk.told("redact-scan", "--json").json["places"]] == ["journal", "note"]
    assert desk.told("redact-scan", "--apply").code == 0
    assert left(desk) == []
    assert "The shop's own token is" in desk.told("memories").out


def test_a_project_that_cannot_be_written_does_not_save_the_rest(
    desk: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str, content: bytes) -> None:
        if ".told" in path:
            raise OSError(30, "Read-only file system")
        write_private(path, content)

    with monkeypatch.context() as context:
        context.setattr("told.journal.erase.write_private", refuse)
        answer = desk.told("redact-scan", "--apply")
    assert answer.code == 4
    assert ".told/journal" in answer.err
    assert set(left(desk)) == {"000001.jsonl", "memory.db"}  # which is made from that journal
    assert "interrupted" in desk.told("redact-scan").out
    finished(desk)


def test_an_empty_store_has_nothing_to_lose(machine: Machine) -> None:
    assert machine.told("redact-scan").code == 1
    assert machine.told("redact-scan", "--apply", "--json").json == {
        "count": 0, "applied": False, "unfinished": False, "places": [], "texts": [], "elsewhere": [],
        "absent": [],
    }  # fmt: skip
