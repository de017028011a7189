"""What told is not sure of waits: nobody sees it unasked, and the user decides."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.machine import NOW, ago
from tests.soak import sampled
from told.capture.statements import Statement, capture
from told.hook.dispatch import answer_hook
from told.journal.apply import open_memories
from told.journal.file_journal import FileJournal
from told.memories.caller import Caller
from told.memories.journal_writer import JournalWriter
from told.memories.remember import NewMemory, remember
from told.store.memories.records import CAPTURE

if TYPE_CHECKING:
    from datetime import datetime

    from tests.cli.machine import Machine

UNSURE = "The exporter writes its report to the attic bucket."
SHORT = "no: MW, not kW"
RULE = "Never push straight to main, always open a pull request."
SCOPE = "project:github.com/acme/shop"
# Words that no other text has, so that a leak is seen.
_SYLLABLES = ("zor", "quib", "vex", "plo", "gnar", "wub", "fliz", "drom")


@pytest.fixture
def desk(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine whose current folder is a repository, and a capture that is unsure of one sentence."""
    monkeypatch.chdir(machine.repo("work/shop", "git@github.com:acme/shop.git"))

    def read(message: str, before: str = "", asked: str = "") -> list[Statement]:
        if UNSURE in message:
            return [Statement("fact", UNSURE, UNSURE, certainty=0.3, sure=False)]
        if message == SHORT:
            subject = "The plant's output" if "output" in before else "It"
            return [Statement("fact", SHORT, f"{subject} is in MW, not kW.", certainty=0.9)]
        return [replace(one, marks=("warning",)) for one in capture(message, before)]

    monkeypatch.setattr("told.learning.learn.capture", read)
    monkeypatch.setattr("told.hook.prompt.capture", read)
    machine.environ["TOLD_HOOK_SECONDS"] = "100"
    return machine


def say(desk: Machine, *prompts: str, at: datetime | None = None, session: str = "") -> str:
    turns = [(prompt, "Done.") for prompt in prompts]
    return desk.claude(*turns, at=at or ago(days=2), cwd=str(desk.home / "work/shop"), session=session)


def candidates(desk: Machine, *words: str) -> list[dict[str, Any]]:
    return list(desk.told("memories", "--status", "candidate", "--json", *words).json["memories"])


def test_index_and_stats_count_memories_and_candidates(desk: Machine) -> None:
    say(desk, UNSURE, RULE)
    lines = desk.told("index").out.splitlines()
    assert lines[1] == "Learned 1 statement of yours: `told memories --all-projects`."
    assert lines[2].startswith("Found 1 candidate to confirm: `told memories --status candidate")
    found = desk.told("stats", "--json").json
    assert (found["count"], found["candidates"]) == (1, 1)
    assert "1 candidate to confirm: `told memories --status candidate`." in desk.told("stats").out
    assert desk.told("memories").out.endswith("Not confirmed yet: 1 candidate (--status candidate).\n")


def test_candidate_is_found_only_on_request(desk: Machine) -> None:
    say(desk, UNSURE, RULE)
    rows = desk.told("memories", "--all", "--all-projects", "-n", "5000", "--json").json["memories"]
    assert [(row["text"], row["status"]) for row in rows] == [(RULE, "active")]
    (found,) = candidates(desk)
    assert (found["status"], found["kind"]) == ("candidate", "fact")
    assert candidates(desk, "attic", "bucket") == [found]
    assert candidates(desk, "cellar") == []
    asked = ("search", "--in", "memories", "attic", "bucket", "--json")
    assert desk.told(*asked).json["memories"] == []
    (hit,) = desk.told(*asked, "--status", "candidate").json["memories"]
    assert hit["id"] == found["id"]
    assert desk.told(*asked, "--status", "candidate", "--all-projects").json["memories"] == [hit]
    assert UNSURE in desk.told("memories", "--status", "candidate").out
    assert "Agents do not see it." in desk.told("why", found["id"]).out
    assert desk.told("lock", found["id"]).err.endswith(f"`told confirm {found['id']}` makes it a memory.\n")


def test_search_refuses_a_status_elsewhere(desk: Machine) -> None:
    assert desk.told("search", "attic", "--status", "candidate").code == 2
    assert desk.told("search", "attic", "--in", "memories", "--status", "active").code == 2


def test_confirm_and_reject_take_several_ids(desk: Machine) -> None:
    store(desk, *(f"The {word} service listens on port {n}." for n, word in enumerate("abcd", 7001)))
    one, two, three, four = (row["id"] for row in candidates(desk))
    done = desk.told("confirm", one, two, "--json").json
    assert [row["status"] for row in done["memories"]] == ["active", "active"]
    assert {row["id"] for row in candidates(desk)} == {three, four}
    said = desk.told("reject", three, four).out.splitlines()
    assert [line.split(":")[0] for line in said[:2]] == [f"Dismissed {three}", f"Dismissed {four}"]
    assert said[2:] == [
        "Out of briefs and searches, and never learned again.",
        "`told undo` reverts it.",
    ]
    assert candidates(desk) == []
    assert len(desk.told("memories", "--status", "dismissed", "--json").json["memories"]) == 2
    desk.told("undo")
    assert {row["id"] for row in candidates(desk)} == {three, four}
    assert desk.told("confirm", one, "mzzzzzzz").code != 0


def test_agent_only_proposes_to_confirm(desk: Machine) -> None:
    store(desk, UNSURE)
    (found,) = candidates(desk)
    desk.environ["CLAUDECODE"] = "1"
    assert desk.told("confirm", found["id"]).out.startswith("Only you can confirm memories.")
    del desk.environ["CLAUDECODE"]
    assert candidates(desk) == [found]


def test_said_again_in_another_session_is_a_memory(desk: Machine) -> None:
    say(desk, UNSURE, at=ago(days=4))
    desk.told("index")
    (found,) = candidates(desk)
    say(desk, UNSURE, at=ago(days=2))
    (known,) = desk.told("memories", "--json").json["memories"]
    assert (known["id"], known["status"]) == (found["id"], "active")
    desk.told("rebuild")
    assert desk.told("memories", "--json").json["memories"] == [known]


def test_two_sessions_of_one_import_make_a_memory_and_no_candidate(desk: Machine) -> None:
    say(desk, UNSURE, at=ago(days=4))
    say(desk, UNSURE, at=ago(days=2))
    found = desk.told("index", "--json").json
    assert (found["learned"], found["candidates"]) == (1, 0)


def test_transcript_completes_what_the_prompt_hook_kept(desk: Machine) -> None:
    type_prompt(desk, SHORT, "s-1")
    (before,) = desk.told("memories", "--json").json["memories"]
    assert before["text"] == "It is in MW, not kW."
    turns = (("show the report", "The output is 40 kW."), (SHORT, "Fixed."))
    desk.claude(*turns, at=ago(minutes=5), cwd=str(desk.home / "work/shop"), session="s-1")
    desk.told("index")
    (after,) = desk.told("memories", "--json").json["memories"]
    assert (after["id"], after["text"]) == (before["id"], "The plant's output is in MW, not kW.")
    (place,) = desk.told("why", after["id"], "--json").json["evidence"]
    assert (place["quote"], place["turn"]) == (SHORT, 1)
    desk.told("rebuild")
    assert desk.told("memories", "--json").json["memories"] == [after]


def test_candidates_come_from_the_transcript_not_from_the_prompt_hook(desk: Machine) -> None:
    type_prompt(desk, UNSURE, "s-1")
    assert candidates(desk) == []
    say(desk, UNSURE, session="s-1")
    desk.told("index")
    assert [row["text"] for row in candidates(desk)] == [UNSURE]
    say(desk, UNSURE, session="s-2")
    desk.told("index")
    assert [row["text"] for row in desk.told("memories", "--json").json["memories"]] == [UNSURE]


def test_rejected_candidate_stays_away_when_the_session_goes_on(desk: Machine) -> None:
    session = say(desk, UNSURE)
    (found,) = candidates(desk)
    desk.told("reject", found["id"])
    say(desk, UNSURE, "go on", UNSURE, session=session)
    (desk.told_home / "sessions.db").unlink()
    desk.told("index")
    assert candidates(desk) == []
    assert desk.told("memories", "--json").json["memories"] == []


def test_forgotten_candidate_leaves_no_byte(desk: Machine) -> None:
    store(desk, UNSURE)
    (found,) = candidates(desk)
    assert desk.told("forget", found["id"], "--force").code == 0
    assert all(b"attic" not in path.read_bytes() for path in desk.told_home.rglob("*") if path.is_file())


def test_marks_are_listed_and_filtered(desk: Machine) -> None:
    texts = {
        "rule": "Sign every release tag", "correction": "Prices are in cents",
        "decision": "Billing uses Stripe", "preference": "Short answers please",
        "fact": "The gateway runs on port 8443",
        "warning": "The importer drops tables",
    }  # fmt: skip
    for kind, text in texts.items():
        assert desk.told("remember", "--kind", kind, text).code == 0
    rows = desk.told("memories", "--json").json["memories"]
    assert {row["text"]: (row["kind"], *row["marks"]) for row in rows} == {
        texts["rule"]: ("rule",), texts["correction"]: ("rule", "correction"),
        texts["preference"]: ("rule", "preference"), texts["decision"]: ("decision",),
        texts["fact"]: ("fact",), texts["warning"]: ("fact", "warning"),
    }  # fmt: skip
    (found,) = desk.told("memories", "--kind", "preference", "--json").json["memories"]
    assert found["marks"] == ["preference"]
    assert len(desk.told("memories", "--kind", "rule", "--json").json["memories"]) == 3
    assert " rule, preference project: Short answers" in desk.told("memories", "--kind", "preference").out
    corrected = desk.told("correct", found["id"], "Long answers please", "--json").json
    assert (corrected["kind"], corrected["marks"]) == ("rule", ["preference"])


def type_prompt(desk: Machine, text: str, session: str, event: str = "prompt") -> str:
    """Call the hook of Claude Code; return what the model is given."""
    payload = {
        "hook_event_name": "SessionStart" if event == "start" else "UserPromptSubmit", "prompt": text,
        "session_id": session, "cwd": str(desk.home / "work/shop"), "source": "startup",
        "transcript_path": "",
    }  # fmt: skip
    return answer_hook("claude-code", event, payload, desk.environ)


def store(desk: Machine, *texts: str, sure: bool = False) -> None:
    """Store statements as capture does, without a transcript that search could show."""
    memories = open_memories(str(desk.told_home))
    writer = JournalWriter(
        FileJournal(str(desk.told_home)), memories, int(NOW.timestamp() * 1000) - 60_000, Caller(CAPTURE)
    )
    for number, text in enumerate(texts):
        new = NewMemory(
            text, SCOPE, quote=text, agent="claude-code", session=f"gone-{number}", at=writer.now,
            candidate=not sure, context="" if sure else f"said of {text.split()[1]}",
        )  # fmt: skip
        remember(writer, new)
    memories.close()


@pytest.mark.parametrize("seed", sampled(range(3), (0,)))
def test_no_candidate_is_shown_unasked(desk: Machine, seed: int) -> None:
    """Whatever the words of candidates: no brief, search or answer has them, before and after dismissal."""
    dice = random.Random(seed)
    words = sorted({"".join(dice.choices(_SYLLABLES, k=3)) for _ in range(12)})
    heads = ("Never deploy {} from", "Use {} for", "The {} service runs on", "We decided to drop {} in")
    texts = [f"{dice.choice(heads).format(word)} the {dice.choice(words)} cluster." for word in words]
    store(desk, *texts)
    waiting = candidates(desk, "-n", "100")
    store(desk, RULE, "The gateway service runs on port 8443.", sure=True)
    assert waiting
    desk.told("reject", waiting[0]["id"])
    query = f"deploy the {words[0]} service to the {words[1]} cluster with {words[2]}, never from main"
    commands = (
        ("brief",), ("explain", query), ("search", query), ("search", "--in", "memories", query),
        ("search", "--in", "memories", query, "--all-projects"), ("memories",), ("memories", "--all"),
        ("memories", "--all", "--all-projects", "-n", "5000", "--json"), ("memories", words[0], "cluster"),
        ("memories", "--status", "superseded"), ("memories", "--status", "quarantined"),
        ("memories", "--status", "archived", "--all-projects"), ("reason", query), ("reason", words[0]),
        ("wonder",), ("wonder", words[0]), ("audit",), ("diff", "yesterday"), ("evolution", words[0]),
        ("timeline",), ("stats",), ("retention",), ("retention", "archived"), ("proposals",), ("scopes",),
        ("checkpoints",), ("list",),
    )  # fmt: skip
    for command in commands:
        answer = desk.told(*command)
        shown = (answer.out + answer.err).replace(query, "").replace(words[0], "") if query else ""
        leaked = [row["id"] for row in waiting if row["id"] in shown or row["text"] in shown]
        leaked += [word for word in words[3:] if word in shown]
        assert leaked == [], command
    for event in ("start", "prompt"):
        assert not any(word in type_prompt(desk, query, "s-1", event) for word in words)
