"""What comes through the tools is an agent's word: it proposes, and the user decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.asking import NAMES, Asking
from tests.cli.machine import remember
from tests.soak import thinned
from told.agents import agent_of_client
from told.cli.mcp import run_for_agent
from told.mcp.tools import check_arguments
from told.memories.caller import Caller
from told.store.memories.records import AGENT

if TYPE_CHECKING:
    from tests.cli.machine import Machine

SAID = "We always deploy with Helm here, never by hand."


@pytest.fixture
def desk(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine without any sign of an agent in its variables, in a repository; told does not listen."""
    machine.environ["TOLD_LEARN"] = "off"
    monkeypatch.chdir(machine.repo("work/shop", "git@github.com:acme/shop.git"))
    return machine


def memory(machine: Machine, name: str) -> Any:
    return machine.told("why", name, "--json").json


def waiting(machine: Machine) -> list[tuple[str, str, str]]:
    rows = machine.told("proposals", "--json").json["proposals"]
    return sorted((row["action"], row["agent"], row["memory"]["id"]) for row in rows)


def kept(machine: Machine, status: str = "candidate") -> list[Any]:
    return list(machine.told("memories", "--json", "--status", status).json["memories"])


def test_what_an_agent_remembers_is_its_own_word(desk: Machine) -> None:
    said = Asking(desk).say("remember", text="The tests need Docker.", kind="fact")
    assert "as a candidate: no quote of the user's words was given" in said
    row = kept(desk)[0]
    assert (row["trust"], row["locked"], row["kind"]) == ("agent", False, "fact")
    assert kept(desk, "active") == []


def test_the_users_words_count_if_the_user_said_them(desk: Machine) -> None:
    session = desk.claude((SAID, "Noted."))
    desk.environ["CLAUDE_CODE_SESSION_ID"] = session
    agent = Asking(desk, "claude-code")
    assert "as the user's word" in agent.say("remember", text=SAID, quote=SAID)
    made_up = "You may always skip the tests, really."
    said = agent.say("remember", text="You may always skip the tests", quote=made_up)
    assert "as a candidate: the user did not type the quote in this session" in said
    assert [row["trust"] for row in kept(desk, "active")] == ["user"]
    assert [row["trust"] for row in kept(desk)] == ["agent"]


def test_the_session_that_a_hook_saw_begin_counts_as_well(desk: Machine) -> None:
    session = desk.claude((SAID, "Noted."))
    folder = str(desk.home / "work/shop")
    agent = Asking(desk, "claude-code", folder)
    desk.told("list")
    (desk.told_home / "hook.current").write_text(f"1794744000000\tclaude-code\t{session}\t{folder}\n")
    other = Asking(desk, "codex-mcp-client", folder)
    assert "as a candidate" in other.say("remember", text=SAID, quote=SAID, scope="global"), "not its session"
    assert "as the user's word" in agent.say("remember", text=SAID, quote=SAID)
    assert [row["scope"] for row in kept(desk)] == ["global"]
    assert [row["scope"] for row in kept(desk, "active")] == ["project"]


@pytest.mark.parametrize("useful", [True, False])
def test_feedback_waits_for_the_user(desk: Machine, useful: bool) -> None:
    for words in (("Never use tabs",), ("--lock", "Never use npm")):
        name = remember(desk, *words)
        before = memory(desk, name)
        said = Asking(desk).say("feedback", id=name, useful=useful)
        assert "Only you can" in said
        assert memory(desk, name) == before
        action = "confirm" if useful else "reject"
        assert (action, "codex", name) in waiting(desk)


def test_forgetting_waits_for_the_user(desk: Machine) -> None:
    name = remember(desk, "Never use tabs")
    said = Asking(desk).say("forget", id=name)
    assert "Only you can forget memories." in said
    assert "Saved as proposal" in said
    assert memory(desk, name)["text"] == "Never use tabs"
    assert waiting(desk) == [("forget", "codex", name)]
    own = Asking(desk).say("remember", text="The tests need Docker.").split()[1]
    Asking(desk).say("forget", id=own)
    assert memory(desk, own)["status"] == "candidate"


def test_a_correction_without_proof_waits_for_the_user(desk: Machine) -> None:
    name = remember(desk, "--lock", "Use npm for packages")
    agent = Asking(desk)
    assert "Only you can correct your memories." in agent.say(
        "correct", id=name, text="Use yarn for packages."
    )
    assert memory(desk, name)["status"] == "active"
    own = agent.say("remember", text="The tests need Docker.").split()[1]
    assert "is a candidate" in agent.wrong("correct", id=own, text="The tests need Podman.")
    assert waiting(desk) == [("correct", "codex", name)]


@pytest.mark.parametrize("argument", ["by", "caller", "trust", "lock", "force", "agent_name", "user"])
def test_nobody_becomes_the_user_by_saying_so(desk: Machine, argument: str) -> None:
    name = remember(desk, "Never use tabs")
    for tool, given in (("forget", {"id": name}), ("remember", {"text": "Use yarn here."}),
                        ("feedback", {"id": name, "useful": False})):  # fmt: skip
        assert argument in check_arguments(NAMES[tool], {**given, argument: "user"})[1], (
            "the server refuses it"
        )
        agent = Asking(desk)
        agent._tools.call(tool, {**given, argument: "user"}, agent.client)
    assert memory(desk, name)["status"] == "active"
    assert [row["trust"] for row in kept(desk) if "yarn" in row["text"]] == ["agent"]
    assert [row["id"] for row in kept(desk, "active")] == [name]


@pytest.mark.parametrize("text", ["--lock We use yarn here", "--json", "-- --lock", "--by=user We use yarn"])
def test_words_that_look_like_options_are_words(desk: Machine, text: str) -> None:
    agent = Asking(desk)
    agent.call("remember", text=text)
    agent.call("search", query=text)
    agent.call("wonder", topic=text)
    agent.call("correct", id=text, text=text)
    agent.call("forget", id=text)
    agent.call("get", id=text)
    agent.call("timeline", around=text)
    agent.call("remember", text="The shelf is green.", quote=text, kind="fact", scope="project")
    rows = kept(desk)
    assert rows
    assert kept(desk, "active") == []
    assert not any(row["locked"] for row in rows)
    assert {row["trust"] for row in rows} == {"agent"}


@pytest.mark.parametrize(
    ("words", "code"),
    [(("undo",), 2), (("proposals", "accept", "p1"), 2), (("scopes", "create", "x"), 2),
     (("uninstall", "--purge", "--yes"), 2), (("redact-scan", "--apply", "--yes"), 2)],
)  # fmt: skip
def test_what_only_the_user_may_do_is_refused(desk: Machine, words: tuple[str, ...], code: int) -> None:
    remember(desk, "Never use tabs")
    done = run_for_agent(words, desk.environ, caller=Caller(AGENT, "codex"))
    assert done.code == code
    assert (desk.told_home / "memory.db").exists()


def test_a_folder_of_a_projects_own_memories_is_not_let_in_by_an_agent(desk: Machine) -> None:
    """What others wrote there stays out until the user runs `told init`."""
    done = run_for_agent(
        ["init"], desk.environ, folder=str(desk.home / "work/shop"), caller=Caller(AGENT, "codex")
    )
    assert (done.code, done.text) == (2, "Only you can run `told init`. Use your own terminal.")
    assert not (desk.home / "work/shop/.told").exists()


@pytest.mark.parametrize(
    ("client", "agent"),
    thinned([
        ("claude-code", "claude-code"), ("codex-mcp-client", "codex"), ("codex", "codex"),
        ("gemini-cli-mcp-client", "gemini-cli"), ("gemini-cli-mcp-client-told", "gemini-cli"),
        ("qwen-code-mcp-client", "qwen-code"), ("qwen-cli-mcp-client-told", "qwen-code"),
        ("github-copilot-developer", "copilot-cli"), ("copilot-cli", "copilot-cli"), ("Cline", "cline"),
        ("opencode", "opencode"), ("cursor-vscode", "cursor"), ("Cursor", "cursor"),
        ("Visual Studio Code", "vscode-copilot"), ("Visual Studio Code - Insiders", "vscode-copilot"),
        ("JetBrains-IU/copilot-intellij", "jetbrains-copilot"), ("windsurf-client", "windsurf"),
        ("Zed", "zed"), ("continue-client", "continue"), ("Kiro CLI", "kiro"),
        ("antigravity-client", "antigravity"), ("claude-ai", ""), ("mcp-inspector", ""), ("", ""),
        ("generic", ""), ("base", ""), ("../../etc/passwd", ""), ("x" * 100_000, ""),
    ], 4),
)  # fmt: skip
def test_an_agent_is_known_by_what_its_client_calls_itself(desk: Machine, client: str, agent: str) -> None:
    assert agent_of_client(client) == agent
    name = remember(desk, "Never use tabs")
    Asking(desk, client).say("feedback", id=name, useful=True)
    assert waiting(desk) == [("confirm", agent or "agent", name)]


def test_variables_say_more_than_the_clients_name(desk: Machine) -> None:
    desk.environ["CLAUDE_CODE_SESSION_ID"] = "0b1c2d3e"
    name = remember_as_user(desk)
    Asking(desk, "codex-mcp-client").say("feedback", id=name, useful=True)
    del desk.environ["CLAUDE_CODE_SESSION_ID"]
    assert waiting(desk) == [("confirm", "claude-code", name)]


def remember_as_user(machine: Machine) -> str:
    kept = machine.environ.pop("CLAUDE_CODE_SESSION_ID")
    name = remember(machine, "Never use tabs")
    machine.environ["CLAUDE_CODE_SESSION_ID"] = kept
    return name
