"""`told show`: one session, turn or checkpoint, short by default and whole when asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.machine import ago

if TYPE_CHECKING:
    from tests.cli.machine import Machine


def test_a_session_is_shown_short_with_its_files_refs_and_last_turns(shop: Machine) -> None:
    session = shop.ids("--agent", "copilot")[0]
    out = shop.told("show", session).out
    assert "about: Kafka lag alerts\n" in out
    assert "alerts.yaml (create)\n" in out
    assert "refs: pr acme/acme-api#17\n" in out
    assert "Tune the threshold after a week of data.\n" in out
    assert "  you: Set up Kafka lag alerts for the orders topic\n" in out
    assert "  copilot: Alerts fire when the lag exceeds 10000 for 5 min.\n" in out


def test_a_long_session_shows_its_last_turns_and_says_how_many_are_left_out(machine: Machine) -> None:
    machine.claude(*((f"Question number {n}", f"Answer number {n}.") for n in range(8)))
    session = machine.ids()[0]
    out = machine.told("show", session).out
    assert "(5 earlier turns: --turns)" in out
    assert "Question number 7" in out
    assert "Question number 4" not in out
    every = machine.told("show", session, "--turns").out
    assert all(f"Question number {n}\n" in every for n in range(8))


def test_a_long_answer_shows_how_it_began_and_how_it_came_out(machine: Machine) -> None:
    middle = " ".join(f"Step {n} changed something." for n in range(400))
    machine.claude(("Do it", f"I begin with the parser. {middle} In the end all 212 tests pass."))
    session = machine.ids()[0]
    short = machine.told("show", session).out
    assert "I begin with the parser." in short
    assert "In the end all 212 tests pass." in short
    assert "Step 200 changed" not in short
    assert "Step 200 changed" in machine.told("show", session, "--full").out


def test_a_turn_is_shown_whole_and_its_steps_only_with_full(shop: Machine) -> None:
    session = shop.ids("--project", "acme-api")[0]
    turn = shop.told("show", f"{session}.0").out
    assert "We decided on a cache TTL of 300 seconds in Redis." in turn
    assert "[Edit]" not in turn
    assert "[Edit]" in shop.told("show", f"{session}.0", "--full").out


def test_tool_output_is_never_shown(shop: Machine) -> None:
    for session in shop.ids():
        assert "TOOL OUTPUT" not in shop.told("show", session, "--full").out


def test_the_beginning_of_an_id_is_enough_and_so_is_the_agents_own_id(machine: Machine) -> None:
    native = machine.claude(("What is WAL?", "A log."))
    (session,) = machine.ids()
    whole = machine.told("show", session).out
    assert whole.startswith("<agent ")
    for given in (session[:4], session.upper(), native, native[:8]):
        assert machine.told("show", given).out == whole


def test_an_agents_own_id_means_the_session_and_not_its_helpers(machine: Machine) -> None:
    native = machine.claude(("Find the leak", "Found."), helper=("Search in pool.py", "It is in close()."))
    machine.told("index")
    assert "Find the leak" in machine.told("show", native[:8]).out
    helper = machine.told("show", f"{native}/a1b2c3d")
    assert helper.code == 0
    assert "subagent" in helper.out
    assert "It is in close()." in helper.out


def test_json_marks_every_text_with_who_wrote_it(shop: Machine) -> None:
    session = shop.told("show", shop.ids("--agent", "copilot")[0], "--json").json
    (turn,) = session["turns_shown"]
    assert turn["asked"] == {"text": "Set up Kafka lag alerts for the orders topic", "trust": "user"}
    assert turn["answered"]["trust"] == "agent"
    assert turn["answered"]["text"].startswith("<agent ")
    for part in ("files", "refs", "checkpoints"):
        assert [row["trust"] for row in session[part]] == ["agent"]


def test_json_of_a_turn_names_its_session(shop: Machine) -> None:
    session = shop.ids()[0]
    turn = shop.told("show", f"{session}.1", "--json").json
    assert (turn["id"], turn["session"]) == (f"{session}.1", session)
    assert turn["asked"]["text"] == "Fine, and write it down"


def test_a_turn_that_is_not_there_says_how_to_find_those_that_are(shop: Machine) -> None:
    session = shop.ids()[0]
    for number in ("9", "x", "-1", "9" * 20):
        for words in (("show",), ("timeline", "--around")):
            answer = shop.told(*words, f"{session}.{number}")
            assert (answer.code, answer.out) == (1, "")
            assert answer.err == (
                f"told: {session} has no turn '{number}'. `told show {session} --turns` lists them.\n"
            )


def test_a_session_of_another_year_has_its_year(machine: Machine) -> None:
    machine.claude(("Old work", "Done."), at=ago(days=400))
    assert "2025-10-11 12:00 " in machine.told("show", machine.ids()[0]).out
