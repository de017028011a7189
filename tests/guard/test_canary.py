"""A secret that comes in by any way is in no byte of what told writes.

Who gives told a new way in adds it to the lists in `ways_in`; the last tests fail until that is done.
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

from tests.guard.canary import (
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
from tests.guard.ways_in import (
    CALLERS,
    COMMANDS,
    EVENTS,
    PLACES,
    PRINTING,
    SERVED,
    SLASHES,
    TRANSCRIPTS,
    VARIABLES,
)
from tests.hook.desk import PAYLOADS, Desk
from tests.serve.house import House
from told.agents import all_agents, wired_agents
from told.agents.base import find, roots_of
from told.agents.dialects import EVENTS as MOMENTS
from told.cli.commands import COMMANDS as TABLE
from told.hook import trouble
from told.ingest import sweep
from told.memory import authority
from told.model import Cursor, Said, Source
from told.serve import guarding

if TYPE_CHECKING:
    from collections.abc import Iterator

AGENT_FILES = Path(__file__).parents[1] / "data" / "agents"
HOMES = [
    pytest.param(home, id=f"{home.parent.name}/{home.name}")
    for home in sorted(AGENT_FILES.glob("*/*"))
    if home.name != "nitrite"  # a binary store, which cannot be written to from here
]
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
    """A machine that logs all it can, and whose variables hold secrets."""
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
    found = find(agent, roots_of(agent, desk.environ), [str(desk.home / "project")])
    sources = [one[0] for one in found if isinstance(one, tuple) and isinstance(one[0], Source)]
    return [
        event.text for source in sources for event in agent.read(source, Cursor()) if isinstance(event, Said)
    ]


@pytest.mark.parametrize("home", HOMES)
def test_what_is_said_in_any_agents_files(desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("home", HOMES)
def test_names_paths_and_ids_in_any_agents_files(
    desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(home, desk.home, dirs_exist_ok=True, copy_function=shutil.copyfile)
    taint(desk.home, named)
    if (desk.home / "project").is_dir():
        monkeypatch.chdir(desk.home / "project")
    assert desk.told("index").code == 0
    assert_prints_nothing(desk)
    assert_clean(desk)
    assert desk.told("rebuild").code == 0
    assert_clean(desk)


def test_a_file_with_a_secret_in_its_path_is_not_read(desk: Desk) -> None:
    desk.claude(("Rename greet to salute", "Done."), session=f"a-{TOKEN}")
    desk.claude(("Never use tabs in this house", "Done."))
    assert desk.told("index").code == 0
    assert len(desk.ids()) == 1
    assert "there is a secret in its path" in desk.told("health").out
    assert desk.told("index").code == 0
    assert_prints_nothing(desk)
    assert_clean(desk)


def test_a_project_whose_folder_or_remote_tells_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = desk.folder(f"code/{TOKEN}/shop")
    published = desk.repo("code/web", f"https://ann:{TOKEN}@git.example.org/acme/{TOKEN}/web.git")
    linked = str(desk.home / "link")
    os.symlink(plain, linked)
    for number, folder in enumerate((plain, published, linked)):
        desk.claude((f"Never use tabs, rule {number}", "Noted."), cwd=folder, branch=f"fix/{TOKEN}")
        monkeypatch.chdir(folder)
        (Path(folder) / "README.md").write_text("# Shop\n\nShop sells tea to people in small towns.\n")
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


def test_what_a_project_says_of_itself(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
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
    """Return a call with all that agents are known to say, by all names that they have for it."""
    return {
        "session_id": "s-1", "sessionId": "s-1", "conversation_id": "s-1", "cwd": folder, "prompt": prompt,
        "user_prompt": prompt, "transcript_path": f"{folder}/none.jsonl", "source": "startup",
        "workspace_roots": [folder], "tool_name": "Bash",
        "tool_input": {"command": "npm i", "file_path": "a.py"},
        "hook_event_name": "UserPromptSubmit", "tool_info": {"user_prompt": prompt}, "reason": "other reason",
        "last_assistant_message": "All is done now.", "agent_type": f"{agent} helper", "taskId": "t-1",
    }  # fmt: skip


def _recorded(agent: str) -> list[tuple[str, dict[str, Any]]]:
    """Return what a real agent sent, with its own names for the moments."""
    files = sorted((PAYLOADS / agent).glob("*.json"))
    return [(path.stem.partition("-")[0], json.loads(path.read_text())) for path in files]


@pytest.mark.parametrize("agent", CALLERS)
def test_all_that_any_hook_is_told(desk: Desk, agent: str) -> None:
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


def test_what_goes_wrong_in_a_hook(desk: Desk) -> None:
    for config in (f'learn = "{TOKEN}"\n', f"{TOKEN} = 1\n", f"[agents.{TOKEN}]\nenabled = false\n"):
        desk.config(config)
        assert desk.call("claude-code", "prompt", _payload("claude-code", str(desk.home), TEXT)).code == 0
        desk.told("health")
        _but_config(desk, config)
    (desk.told_home / "config.toml").unlink()
    (desk.told_home / "settings").unlink()
    assert desk.call("claude-code", "start", b'{"prompt": "' + TOKEN.encode()).code == 0
    trouble.note(ValueError(f"it cannot be: {TEXT}"), desk.environ)
    assert "it cannot be" in trouble.last(str(desk.told_home))[1]
    assert leaks(told_files(desk.told_home).items()) == []


def test_every_command_with_secrets_in_all_that_it_takes(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = desk.repo("code/shop", f"https://me:{TOKEN}@github.com/acme/shop.git")
    monkeypatch.chdir(folder)
    assert desk.told("remember", "We use pnpm here, never npm.").code == 0
    for variable in ({}, {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": f"s-{TOKEN}"}):
        desk.environ |= variable
        for command in TABLE:
            for words in COMMANDS[command.name]:
                desk.told(command.name, *words)
                texts = [one for one in command.options if one.value and not one.number]
                for option in texts if not command.bare else ():
                    if f"--{option.name}" not in words:
                        desk.told(command.name, *words, f"--{option.name}", TOKEN)
                        desk.told(command.name, *words, f"--{option.name}", f"Use this: {TEXT}")
            _but_config(desk, command.name)
    desk.environ.pop("CLAUDECODE")
    assert_prints_nothing(desk)
    assert_clean(desk, folder)


def _but_config(desk: Desk, why: str) -> None:
    """What the user wrote into the config stays there, and in what is kept of it; nowhere else."""
    files = told_files(desk.told_home, str(desk.home / "code/shop"))
    own = [name for name in files if name.endswith(("/config.toml", "/settings"))]
    assert leaks((name, content) for name, content in files.items() if name not in own) == [], why


def test_what_agents_say_of_themselves_in_their_variables(desk: Desk) -> None:
    for name in VARIABLES:
        desk.environ[name] = f"1-{TOKEN}"
        desk.told("remember", "--quote", f"Use {TOKEN}", f"We keep the shelf of {name} green.")
        desk.told("lock", "shelf")
        desk.ask("claude-code", "prompt", _payload("x", str(desk.home), "Always use tabs."))
        del desk.environ[name]
    assert len(desk.texts()) > 3
    assert_prints_nothing(desk)
    assert_clean(desk)


def test_where_variables_say_that_agents_keep_their_files(desk: Desk) -> None:
    desk.claude(("Never use tabs in this house", "Done."))
    (desk.home / ".claude").rename(desk.home / TOKEN)
    for name in PLACES:
        desk.environ[name] = str(desk.home / TOKEN)
    assert desk.told("index").code == 0
    desk.told("agents")
    assert_clean(desk)


def test_what_stands_in_the_files_that_told_changes(desk: Desk) -> None:
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


_OVER_HTTP: dict[str, dict[str, Any]] = {
    "remember": {"text": f"The deploy token is {TOKEN}."}, "search": {"query": TEXT}, "get": {"id": TOKEN},
    "checkpoint": {"goal": TEXT, "done": [TEXT]},
}  # fmt: skip


def test_what_the_service_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("what becomes of a process is read from /proc")
    house = House(tmp_path, capsys)
    house.told_home.mkdir(mode=0o700)
    house.environ |= {**variables(), "TOLD_DEBUG": "1"}
    for name, value in house.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(house.home)
    house.begin()
    try:
        lesson = f"No, never use npm here, always pnpm. {TEXT}"
        call = _payload("claude-code", house.project, lesson)
        changed = everywhere(everywhere(call, spoken), named)
        for body in (call, changed, changed | {"prompt": lesson}, changed | {"prompt": f"/mem:lock {TEXT}"}):
            house.post(body)
            house.post(body, SERVED["PING"])
            house.post(body, f"{SERVED['HOOK']}sk-ant-{TOKEN[4:30]}/prompt")
            house.post(body, f"/{TOKEN}", authorization=f"Bearer {TOKEN}")
            house.post(body, SERVED["MCP"])
        for tool, given in _OVER_HTTP.items():
            params = {"name": tool, "arguments": {**given, "project": house.project}}
            asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            reply = house.post(asked, SERVED["MCP"], accept="application/json")
            assert reply.code == 200
            assert leaks([(tool, reply.body)]) == []
        house.raw(TEXT.encode())
    finally:
        house.end()
    assert any("pnpm" in text for text in house.texts())
    assert_prints_nothing(house)
    assert_clean(house)


# -- A new way in has to be named in `ways_in`. ----------------------------------------------------------


def test_every_agent_that_is_read_or_wired_is_named() -> None:
    assert sorted(all_agents()) == sorted(TRANSCRIPTS)
    assert sorted(wired_agents()) == sorted(CALLERS)
    assert {home.parent.name for home in AGENT_FILES.glob("*/*")} == set(TRANSCRIPTS)


def test_every_moment_at_which_told_is_called_is_named() -> None:
    assert MOMENTS == EVENTS


def test_every_command_is_named() -> None:
    assert sorted(COMMANDS) == sorted(command.name for command in TABLE)


def test_every_path_of_the_service_is_named() -> None:
    paths = {
        name: value for name, value in vars(guarding).items() if name.isupper() and str(value)[:1] == "/"
    }
    assert paths == SERVED
    assert sorted(guarding._SERVED) == ["prompt"]


def test_every_variable_is_named() -> None:
    assert sorted({one for sign in authority._SIGNS for one in (sign[0], sign[2]) if one}) == sorted(
        VARIABLES
    )
    places = {*sweep._PLACES, *(agent.env for agent in all_agents().values() if agent.env)} - {"HOME"}
    assert sorted(places) == sorted(PLACES)
