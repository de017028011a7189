"""Test that no secret gets into told's files, by any input.

Add a new input to the lists in `ways_in`; the last tests fail until then.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from tests.hook.desk import PAYLOADS, Desk
from tests.redact.canary import (
    TEXT,
    TOKEN,
    everywhere,
    leaks,
    named,
    spoken,
    taint,
    told_files,
    variables,
)
from tests.redact.ways_in import (
    CALLERS,
    COMMANDS,
    EVENTS,
    PLACES,
    PRINTING,
    SLASHES,
    TRANSCRIPTS,
    VARIABLES,
)
from tests.service.house import House
from tests.soak import SOAK, sampled
from told.agents import all_agents, installed_agents, wired_agents
from told.agents.base import find_roots, find_sources
from told.agents.dialects import EVENTS as HOOK_EVENTS
from told.cli.arguments import all_commands
from told.hook.dispatch import log_failure, read_last_failure
from told.ingest import sweep
from told.model import Cursor, Message, Source

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLE_AGENTS = ("claude-code", "codex", "cursor")
SAMPLE_COMMANDS = ("remember", "search", "checkpoint", "config", "lock")
AGENT_FILES = Path(__file__).parents[1] / "data" / "agents"
HOMES = [
    home
    for home in sorted(AGENT_FILES.glob("*/*"))
    if home.name != "nitrite"  # a binary store, which cannot be written to from here
]
ONE_OF_EACH = list({home.parent.name: home for home in HOMES}.values())
SAMPLE_HOMES = [home for home in ONE_OF_EACH if home.parent.name in SAMPLE_AGENTS]


def name_of(home: Path) -> str:
    return f"{home.parent.name}/{home.name}"


_OF_AGENTS = (*(name.partition("_")[0] for name in VARIABLES), "XDG_", "TOLD_", "CONTINUE")


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(_OF_AGENTS):
            monkeypatch.delenv(name)


@pytest.fixture
def desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Desk]:
    """A machine with debug logs and with secrets in its variables."""
    made = Desk(tmp_path, capsys)
    made.environ |= {**variables(), "TOLD_DEBUG": "1"}
    for name, value in made.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(made.home)
    yield made
    gc.enable()  # a command does without


def assert_clean(desk: Desk, *projects: str) -> None:
    files = told_files(desk.told_home, *projects)
    assert len(files) >= 3
    assert leaks(files.items()) == []


def assert_prints_nothing(desk: Desk) -> None:
    for words in PRINTING:
        said = desk.told(*words, "--json")
        assert leaks([(" ".join(words), (said.out + said.err).encode())]) == []


def words_of(desk: Desk, name: str) -> list[str]:
    agent = all_agents()[name]
    found = find_sources(agent, find_roots(agent, desk.environ), [str(desk.home / "project")])
    sources = [one[0] for one in found if isinstance(one, tuple) and isinstance(one[0], Source)]
    events = [event for source in sources for event in agent.read(source, Cursor())]
    return [event.text for event in events if isinstance(event, Message)]


@pytest.mark.parametrize("home", sampled(HOMES, ONE_OF_EACH[::3]), ids=name_of)
def test_no_leak_from_transcripts(desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(home, desk.home, dirs_exist_ok=True, copy_function=shutil.copyfile)
    taint(desk.home, spoken)
    if (desk.home / "project").is_dir():
        monkeypatch.chdir(desk.home / "project")
    assert any(TOKEN in text for text in words_of(desk, home.parent.name)), "the reader hears the secrets"
    assert desk.told("index").code == 0
    keeper = apsw.Connection(str(desk.told_home / "sessions.db"))  # keeps the log of the database
    assert_prints_nothing(desk)
    assert_clean(desk)
    kept = keeper.execute("SELECT asked || answered || steps FROM turn").fetchall()
    assert any("[secret:" in str(text) for (text,) in kept), "the words around it are kept"
    keeper.close()
    assert desk.told("rebuild").code == 0
    assert_clean(desk)


@pytest.mark.parametrize("home", sampled(HOMES, SAMPLE_HOMES), ids=name_of)
def test_no_leak_from_names_paths_and_ids(desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(home, desk.home, dirs_exist_ok=True, copy_function=shutil.copyfile)
    taint(desk.home, named)
    if (desk.home / "project").is_dir():
        monkeypatch.chdir(desk.home / "project")
    assert desk.told("index").code == 0
    assert_prints_nothing(desk)
    assert_clean(desk)
    assert desk.told("rebuild").code == 0
    assert_clean(desk)


def test_skip_files_whose_path_contains_a_secret(desk: Desk) -> None:
    desk.claude(("Rename greet to salute", "Done."), session=f"a-{TOKEN}")
    desk.claude(("Never use tabs in this house", "Done."))
    assert desk.told("index").code == 0
    assert len(desk.ids()) == 1
    assert "there is a secret in its path" in desk.told("health").out
    assert desk.told("index").code == 0
    assert_prints_nothing(desk)
    assert_clean(desk)


def test_no_leak_from_project_folder_or_remote(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = desk.folder(f"code/{TOKEN}/shop")
    published = desk.repo("code/web", f"https://ann:{TOKEN}@git.example.org/acme/{TOKEN}/web.git")
    linked = str(desk.home / "link")
    os.symlink(plain, linked)
    for number, folder in enumerate((plain, published, linked)):
        desk.claude((f"Never use tabs, rule {number}", "Noted."), cwd=folder, branch=f"fix/{TOKEN}")
        monkeypatch.chdir(folder)
        (Path(folder) / "Makefile").write_text("build:\n\tdocker build .\n")
        for event in EVENTS:
            desk.ask("claude-code", event, _payload("claude-code", folder, f"Always use pnpm for {number}."))
        assert desk.told("remember", f"The shelf number {number} is green.").code == 0
        assert desk.told("onboard").code == 0
        desk.told("init")
        desk.told("install", "--yes", "--agent", "claude-code", "--scope", "project")
        assert_prints_nothing(desk)
        assert_clean(desk, folder)
        found = desk.told("memories", "--json").json["memories"]
        assert any(f"number {number} is green" in one["text"] for one in found), "it holds in this folder"
    assert "[secret:" in desk.told("repos").out
    assert desk.told("rebuild").code == 0
    assert_clean(desk)


def test_no_leak_from_project_files(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = desk.repo("code/shop", f"https://{TOKEN}@github.com/acme/shop.git")
    files = {
        "README.md": f"# Shop\n\nShop sells tea. {TEXT}\n\n## Test\n\n```sh\nTOKEN={TOKEN} npm test\n```\n",
        "package.json": json.dumps({
            "name": f"shop-{TOKEN}", "description": TEXT, "scripts": {"test": f"curl -u me:{TOKEN} x"},
            "packageManager": f"pnpm@{TOKEN}", "repository": f"https://me:{TOKEN}@github.com/acme/shop",
        }),
        "CLAUDE.md": f"# Rules\n\n- Never use tabs with {TOKEN}\n- {TEXT}\n",
        "compose.yaml": f"services:\n  db-{TOKEN}:\n    image: x\n    environment:\n      - PWD={TOKEN}\n",
        "Makefile": f"test: # {TEXT.splitlines()[0]}\n\techo {TOKEN}\n",
        f"{TOKEN}.py": "print(1)\n",
        "pyproject.toml": f'[project]\nname = "x"\ndescription = "{TOKEN}"\n[tool.x]\npassword = "{TOKEN}"\n',
    }  # fmt: skip
    for name, content in files.items():
        (Path(folder) / name).write_text(content)
    who = {
        f"GIT_{role}_{what}": "x@example.org"
        for role in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    for words in (("add", "-A"), ("commit", "-q", "-m", f"Fix the login {TEXT}"), ("branch", TOKEN)):
        subprocess.run(["git", "-C", folder, *words], check=True, env=os.environ | who, capture_output=True)
    monkeypatch.chdir(folder)
    assert desk.told("onboard").code == 0
    assert desk.told("memories", "--all").out
    assert desk.told("init").code == 0
    assert desk.told("onboard").code == 0
    assert_prints_nothing(desk)
    assert_clean(desk, folder)


def _payload(agent: str, folder: str, prompt: str) -> dict[str, Any]:
    """Return a hook payload with the fields of all agents."""
    return {
        "session_id": "s-1", "sessionId": "s-1", "conversation_id": "s-1", "cwd": folder, "prompt": prompt,
        "user_prompt": prompt, "transcript_path": f"{folder}/none.jsonl", "source": "startup",
        "workspace_roots": [folder], "tool_name": "Bash",
        "tool_input": {"command": "npm i", "file_path": "a.py"},
        "hook_event_name": "UserPromptSubmit", "tool_info": {"user_prompt": prompt}, "reason": "other reason",
        "last_assistant_message": "All is done now.", "agent_type": f"{agent} helper", "taskId": "t-1",
    }  # fmt: skip


def _recorded(agent: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the payloads that a real agent sent, by its names of the events."""
    files = sorted((PAYLOADS / agent).glob("*.json"))
    return [(path.stem.partition("-")[0], json.loads(path.read_text())) for path in files]


@pytest.mark.parametrize(
    "agent",
    sampled(CALLERS, ("claude-code", "cursor")),
)
def test_no_leak_from_hook_payloads(desk: Desk, agent: str) -> None:
    lesson = f"No, never use npm here, always pnpm. {TEXT}"
    home = desk.folder("code/shop")
    desk.told("remember", "--scope", "global", "We use pnpm here, never npm.")
    call = _payload(agent, home, lesson)
    for event in EVENTS:
        desk.ask(agent, event, call)
    for event, sent in (*((event, call) for event in EVENTS), *_recorded(agent)):
        everything = everywhere(everywhere(sent, spoken), named)
        desk.ask(agent, event, everything | {"prompt": lesson})
        desk.ask(agent, event, everything | {"prompt": "Install the missing packages with npm", "cwd": home})
    for word in ("stop", "prompt"):
        assert desk.call(agent, word, everywhere(_payload(agent, home, lesson), named)).code == 0
        assert desk.call(TOKEN, word, _payload(agent, home, lesson)).code == 0
    for slash in SLASHES:
        for given in (f"pnpm {TOKEN}", TEXT, f"pnpm -> {TEXT}"):
            prompt = _payload(agent, home, f"/mem:{slash} {given}")
            desk.ask(agent, "prompt", everywhere(prompt, named) | {"prompt": prompt["prompt"]})
    assert any("pnpm" in text for text in desk.texts())
    assert_prints_nothing(desk)
    assert_clean(desk)
    assert (desk.told_home / "hook.log").exists()


def test_no_leak_from_hook_errors(desk: Desk) -> None:
    for config in (f'learn = "{TOKEN}"\n', f"{TOKEN} = 1\n", f"[agents.{TOKEN}]\nenabled = false\n"):
        desk.config(config)
        assert desk.call("claude-code", "prompt", _payload("claude-code", str(desk.home), TEXT)).code == 0
        desk.told("health")
        assert_only_in_config(desk, config)
    (desk.told_home / "config.toml").unlink()
    assert desk.call("claude-code", "start", b'{"prompt": "' + TOKEN.encode()).code == 0
    log_failure(ValueError(f"it cannot be: {TEXT}"), desk.environ)
    assert "it cannot be" in read_last_failure(str(desk.told_home))[1]
    assert leaks(told_files(desk.told_home).items()) == []


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(SAMPLE_COMMANDS, id="sample"),
        pytest.param(tuple(COMMANDS), id="all", marks=pytest.mark.soak),
    ],
)
def test_no_leak_from_command_arguments(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    folder = desk.repo("code/shop", f"https://me:{TOKEN}@github.com/acme/shop.git")
    monkeypatch.chdir(folder)
    assert desk.told("remember", "We use pnpm here, never npm.").code == 0
    for variable in ({}, {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": f"s-{TOKEN}"}):
        desk.environ |= variable
        for command in (one for one in all_commands() if one.name in names):
            for number, words in enumerate(COMMANDS[command.name]):
                desk.told(command.name, *words)
                texts = [one for one in command.options if one.value and not one.number]
                for option in texts if not command.standalone and (SOAK or not number) else ():
                    if f"--{option.name}" not in words:
                        desk.told(command.name, *words, f"--{option.name}", TOKEN)
                        desk.told(command.name, *words, f"--{option.name}", f"Use this: {TEXT}")
            assert_only_in_config(desk, command.name)
    desk.environ.pop("CLAUDECODE")
    assert_prints_nothing(desk)
    assert_clean(desk, folder)


def assert_only_in_config(desk: Desk, why: str) -> None:
    """Assert that secrets are only in the config that the user wrote."""
    files = told_files(desk.told_home, str(desk.home / "code/shop"))
    own = [name for name in files if name.endswith(("/config.toml", "/settings"))]
    assert leaks((name, content) for name, content in files.items() if name not in own) == [], why


def test_no_leak_from_agent_variables(desk: Desk) -> None:
    for name in VARIABLES:
        desk.environ[name] = f"1-{TOKEN}"
        desk.told("remember", "--quote", f"Use {TOKEN}", f"We keep the shelf of {name} green.")
        desk.told("lock", "shelf")
        desk.ask("claude-code", "prompt", _payload("x", str(desk.home), "Always use tabs."))
        del desk.environ[name]
    candidates = desk.told("memories", "--status", "candidate", "--json").json["memories"]
    assert len(candidates) > 3, "what an agent cannot prove is kept as a candidate"
    assert len(desk.texts()) > 1
    assert_prints_nothing(desk)
    assert_clean(desk)


def test_no_leak_from_path_variables(desk: Desk) -> None:
    desk.claude(("Never use tabs in this house", "Done."))
    (desk.home / ".claude").rename(desk.home / TOKEN)
    for name in PLACES:
        desk.environ[name] = str(desk.home / TOKEN)
    assert desk.told("index").code == 0
    desk.told("agents")
    assert_clean(desk)


def test_no_leak_from_edited_files(desk: Desk) -> None:
    settings = {"env": {"ANTHROPIC_API_KEY": TOKEN}, "hooks": {"Stop": [{"hooks": [{"command": TEXT}]}]}}
    desk.write(".claude/settings.json", json.dumps(settings, indent=2))
    desk.write(".claude/CLAUDE.md", f"# Mine\n{TEXT}\n")
    desk.write(".codex/config.toml", f'[mcp_servers.x.env]\nTOKEN = "{TOKEN}"\n')
    desk.write(".codex/AGENTS.md", f"# Mine\n{TEXT}\n")
    desk.write(".gemini/settings.json", json.dumps({"apiKey": TOKEN}))
    desk.write(".config/opencode/opencode.json", json.dumps({"provider": {"key": TOKEN}}))
    for words in (("install", "--yes"), ("install", "--yes", "--profile", "full")):
        assert desk.told(*words).code == 0
        assert_clean(desk)
    assert desk.told("uninstall", "--yes").code == 0
    assert_clean(desk)


def test_no_leak_from_service_requests(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.environ |= {**variables(), "TOLD_DEBUG": "1"}
    house.serve()
    lesson = f"No, never use npm here, always pnpm. {TEXT}"
    call = _payload("claude-code", str(house.project), lesson)
    changed = everywhere(everywhere(call, spoken), named)
    for body in (call, changed, changed | {"prompt": lesson}, changed | {"prompt": f"/mem:lock {TEXT}"}):
        for event in HOOK_EVENTS:
            house.call(event, body)
            if SOAK or body is changed:
                house.call(event, body, f"sk-ant-{TOKEN[4:30]}")
    house.call("prompt", TEXT.encode())
    house.stop()
    assert any("pnpm" in text for text in house.texts())
    assert leaks([(str(path), path.read_bytes()) for path in house.home.rglob("*") if path.is_file()]) == []


# Every input must be listed in `ways_in`.


def test_every_agent_is_listed() -> None:
    assert sorted(all_agents()) == sorted(TRANSCRIPTS)
    assert sorted(wired_agents()) == sorted(CALLERS)
    assert {home.parent.name for home in AGENT_FILES.glob("*/*")} == set(TRANSCRIPTS)


def test_every_hook_event_is_listed() -> None:
    assert HOOK_EVENTS == EVENTS


def test_every_command_is_listed() -> None:
    assert sorted(COMMANDS) == sorted(command.name for command in all_commands())


def test_every_variable_is_listed() -> None:
    signs = [sign for agent in installed_agents().values() for sign in agent.shell_signs]
    assert sorted({one for sign in signs for one in (sign.variable, sign.session_variable) if one}) == sorted(
        VARIABLES
    )
    roots = {agent.root_variable for agent in all_agents().values() if agent.root_variable}
    assert sorted((sweep._ROOT_VARIABLES | roots) - {"HOME"}) == sorted(PLACES)
