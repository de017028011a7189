"""Check that the documents match the program."""

from __future__ import annotations

import ast
import json
import re
import shlex
import time
import tomllib
from typing import TYPE_CHECKING

import pytest

from demo.story import HOUR
from demo.told import Scratch
from tests.agent_notes import NOTES
from tests.demo_history import Quick, imported
from tests.documents import (
    AGENTS_PAGE,
    API_PAGE,
    COMMANDS_PAGE,
    CONFIG_PAGE,
    README,
    ROOT,
    agents_page,
    commands_page,
    config_page,
    normal,
    server_api_page,
    with_examples,
)
from tests.rooms import nodes
from told.agents import all_agents
from told.agents.base import Folder, find_roots, find_sources
from told.cli.arguments import all_commands
from told.errors import ToldError
from told.model import AGENT, USER, Checkpoint, Cursor, Message, Ref, Touch
from told.settings import Redaction, Settings, load_settings
from told.settings.keys import KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

PAGES = [README, ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
AGAIN = "run `.venv/bin/python -m tests.documents`"
JSON_PAGE = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
SETTINGS_PAGE = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
SOURCE = ROOT / "src" / "told"


@pytest.fixture
def scratch() -> Scratch:
    return imported()


def test_commands_page_is_up_to_date() -> None:
    assert COMMANDS_PAGE.read_text(encoding="utf-8") == commands_page(), AGAIN


def test_agents_page_is_up_to_date() -> None:
    assert AGENTS_PAGE.read_text(encoding="utf-8") == agents_page(), AGAIN


def test_page_of_the_servers_routes_is_up_to_date() -> None:
    assert API_PAGE.read_text(encoding="utf-8") == server_api_page(), AGAIN


def test_config_page_is_up_to_date() -> None:
    page = CONFIG_PAGE.read_text(encoding="utf-8")
    assert page == config_page(), AGAIN
    assert all(key.about in page for key in KEYS)


def test_every_command_and_option_is_documented() -> None:
    page = COMMANDS_PAGE.read_text(encoding="utf-8")
    for command in all_commands():
        section = re.search(rf"^## told {command.name}\n(.*?)^## ", page, re.MULTILINE | re.DOTALL)
        assert bool(section) != command.hidden, command.name
        if section is not None:
            assert [one.name for one in command.options if f"--{one.name}" not in section[1]] == []


def test_every_exit_code_is_documented() -> None:
    kinds: list[type[ToldError]] = [ToldError, *ToldError.__subclasses__()]
    codes = {kind.exit_code for kind in kinds} | {0, 130}
    rows = re.findall(r"^\| (\d+) \|", commands_page().partition("## Exit codes")[2], re.MULTILINE)
    assert {int(code) for code in rows} == codes


def test_readme_examples_match_the_commands(scratch: Scratch) -> None:
    page = README.read_text(encoding="utf-8")
    assert len(re.findall(r"^\$ told ", page, re.MULTILINE)) >= 3
    assert normal(with_examples(page, scratch)) == normal(page), AGAIN


@pytest.mark.parametrize(
    ("hours", "zone"),
    [
        (13, "KIR-14"),
        pytest.param(5, "UTC0", marks=pytest.mark.soak),
        pytest.param(24, "NPT-5:45", marks=pytest.mark.soak),
        pytest.param(90, "EST5EDT,M3.2.0,M11.1.0", marks=pytest.mark.soak),
    ],
)
def test_readme_examples_hold_at_any_time_and_time_zone(tmp_path: Path, hours: int, zone: str) -> None:
    moved = Quick(str(tmp_path), time.time_ns() // 1_000_000 - hours * HOUR)
    moved.environ["TZ"] = zone
    assert moved.told("index").returncode == 0
    page = README.read_text(encoding="utf-8")
    assert normal(with_examples(page, moved)) == normal(page)


def test_outdated_example_is_replaced(scratch: Scratch) -> None:
    page = "```console\n$ told list\n8 of 8 sessions, acme/elsewhere\n```\n"
    assert "acme/shop" in with_examples(page, scratch)


def test_pages_name_only_existing_commands() -> None:
    names = {command.name for command in all_commands()} | {"help"}
    for page in PAGES:
        used = re.findall(r"(?:`|^\$ )told ([a-z][a-z-]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(used) <= names, page.name


def test_every_agent_is_documented_with_its_folders_and_variable() -> None:
    page = AGENTS_PAGE.read_text(encoding="utf-8")
    for agent in all_agents().values():
        section = re.search(
            rf"^## {re.escape(agent.title)}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL
        )
        assert section is not None, agent.name
        assert ("**Not tested with a real run**" in section[1]) != agent.verified
        assert agent.root_variable in section[1]
        assert bool(NOTES[agent.name].seen) == agent.verified


def test_untested_agents_are_named() -> None:
    unseen = {agent.name for agent in all_agents().values() if not agent.verified}
    assert unseen == {"vscode-copilot", "jetbrains-copilot", "neovim", "cursor", "qoder", "specstory"}
    said = " ".join(AGENTS_PAGE.read_text(encoding="utf-8").split())
    assert "VS Code, JetBrains, Neovim, Cursor, Qoder and SpecStory were not tested with a real run" in said
    row = next(
        line for line in README.read_text(encoding="utf-8").splitlines() if "only as documented" in line
    )
    assert all(agent.title in row for agent in all_agents().values() if not agent.verified)


def test_readme_names_every_agent() -> None:
    written = README.read_text(encoding="utf-8")
    assert [agent.title for agent in all_agents().values() if agent.title not in written] == []


@pytest.mark.parametrize("name", list(all_agents()))
def test_imported_kinds_match_what_readers_yield(name: str) -> None:
    agent = all_agents()[name]
    given = set()
    for home in (ROOT / "tests" / "data" / "agents" / name).iterdir():
        projects = [str(path) for path in (home, *home.rglob("*")) if path.is_dir()]
        for found in find_sources(agent, find_roots(agent, {"HOME": str(home)}), projects):
            if not isinstance(found, Folder):
                given |= set(map(kind_of, agent.read(found[0], Cursor())))
    assert {"prompts", "answers"} <= given
    assert given - {""} <= set(NOTES[name].taken)


def kind_of(event: object) -> str:
    if isinstance(event, Message):
        if event.who == USER:
            return "prompts"
        return "steps" if event.who == AGENT and event.form == "step" else "answers"
    kinds = {Touch: "files", Ref: "refs", Checkpoint: "checkpoints"}
    return kinds.get(type(event), "")


def test_every_setting_is_documented() -> None:
    fields = {key.field for key in KEYS} | {"home", "problem"}
    assert set(Settings._fields) == fields
    assert len(KEYS) <= 27
    assert "`TOLD_HOME`" in SETTINGS_PAGE


def test_every_variable_is_documented() -> None:
    used = {
        name
        for path in SOURCE.rglob("*.py")
        for name in re.findall(r"\"(TOLD_[A-Z_]+)\"", path.read_text(encoding="utf-8"))
    }
    assert used
    assert [name for name in used if f"`{name}`" not in SETTINGS_PAGE] == []


def test_example_config_is_valid(tmp_path: Path) -> None:
    example = re.search(r"```toml\n(.*?)```", CONFIG_PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None
    path = tmp_path / "config.toml"
    path.write_text(example[1], encoding="utf-8")
    environ = {"HOME": str(tmp_path), "TOLD_HOME": str(tmp_path)}
    assert load_settings(environ) == Settings(str(tmp_path))
    setting = re.compile(r"^# (?=\[|\w+ = )", re.MULTILINE)
    path.write_text(setting.sub("", example[1]), encoding="utf-8")
    settings = load_settings(environ)
    assert settings.folder_of("codex").endswith("agents/codex-home")
    assert "codex" in all_agents()
    assert [rule.name for rule in settings.redaction.rules] == ["staff-badge"]
    assert settings._replace(redaction=Redaction(), agent_folders=()) == Settings(str(tmp_path))


JSON_CALLS = (
    "list", "files", "search chargd twice", "search webhook signature", "show s7pzao7g --full",
    "show s7pzao7g.1", "show c7qv7qcmmc", "checkpoints", "repos", "timeline", "health", "agents",
    "schema-check", "index", "config list", "config path", "learn",
    "learn --why 'Never push to main, always open a pull request.'",
)  # fmt: skip


@pytest.mark.parametrize("call", JSON_CALLS)
def test_every_json_field_is_documented(scratch: Scratch, call: str) -> None:
    done = scratch.told(*shlex.split(call), "--json")
    assert done.returncode == 0, done.stdout
    fields = set(keys_of(json.loads(done.stdout)))
    assert fields
    assert [field for field in fields if f"`{field}`" not in JSON_PAGE] == []


def keys_of(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from keys_of(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            # The keys of these two are words of the question and names of agents.
            if key != "corrected" and not (key == "agents" and isinstance(item, dict)):
                yield from keys_of(item)


def test_every_documented_json_field_exists() -> None:
    rows = re.findall(r"^\| (`.*?) \|", JSON_PAGE, re.MULTILINE)
    documented = {field for row in rows for field in re.findall(r"`(\w+)`", row)}
    written = {
        node.value
        for name, constants in nodes(ast.Constant).items()
        if name.startswith("cli/")
        for node in constants
        if isinstance(node.value, str)
    }
    assert documented - written == set()


def test_every_dependency_is_explained() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"],
              *project["build-system"]["requires"]]  # fmt: skip
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    names = [re.split(r"[<>=!~ \[]", need, maxsplit=1)[0] for need in needed]
    assert [name for name in names if f"[{name}]" not in page] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page: Path) -> None:
    written = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", written):
        name, _, anchor = target.partition("#")
        other = (page.parent / name) if name else page
        assert other.is_file(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", other.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in headings}, (
                target
            )


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"`make (\w+)", "".join(page.read_text(encoding="utf-8") for page in PAGES)))
    assert {"test", "demo", "install", "bench"} <= targets
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []


def test_threat_model_names_tests_that_exist() -> None:
    text = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)`", text)
    assert len(set(named)) > 20
    assert [name for name in named if not (ROOT / name).exists()] == []
