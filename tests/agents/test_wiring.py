"""What told writes into each agent: in the agent's own form, and only what the user asked for."""

from __future__ import annotations

import itertools
import json
import shlex
import tomllib
from typing import TYPE_CHECKING

import pytest

from tests.agents.wiring_places import (
    COMMANDS,
    LAUNCH,
    LINUX,
    MAC,
    WINDOWS,
    hooks,
    own_file,
    paths,
    server,
    wired,
)
from told.agents import all_agents, wired_agents
from told.agents.wiring import (
    FULL,
    MINIMAL,
    NO_HOOKS,
    PROJECT_SCOPE,
    SLASH_END,
    USER_SCOPE,
    Block,
    Entry,
    OwnFile,
)
from told.memory.capture import capture
from told.setup import instructions, slash
from told.setup._foreign_kinds import as_installed
from told.setup.parts import HOOKS, part

if TYPE_CHECKING:
    from told.agents.wiring import Place

AGENTS = {
    "aider", "antigravity", "claude-code", "cline", "codex", "copilot-cli", "cursor", "gemini-cli", "generic",
    "jetbrains-copilot", "kiro", "opencode", "qoder", "qwen-code", "vscode-copilot", "windsurf", "zed",
}  # fmt: skip
CLAUDE_LIKE = ("claude-code", "codex", "qwen-code", "qoder")
EVERYWHERE = [
    pytest.param(agent, place, scope, id=f"{agent}-{place.system}-{scope}")
    for agent, place, scope in itertools.product(
        sorted(AGENTS), (LINUX, MAC, WINDOWS), (USER_SCOPE, PROJECT_SCOPE)
    )
]


def test_every_agent_that_told_promises_can_be_wired() -> None:
    assert set(wired_agents()) == AGENTS


def test_agents_whose_conversations_cannot_be_read_are_not_among_those_that_are() -> None:
    assert AGENTS - set(all_agents()) == {"windsurf", "antigravity", "zed", "kiro", "generic"}


@pytest.mark.parametrize(("agent", "place", "scope"), EVERYWHERE)
def test_everything_is_written_below_the_home_folder_or_the_project(
    agent: str, place: Place, scope: str
) -> None:
    root = place.project if scope == PROJECT_SCOPE else place.home
    separator = "\\" if place.system == "win32" else "/"
    for profile in (NO_HOOKS, MINIMAL, FULL):
        for change in wired(agent, place, scope=scope, profile=profile):
            assert change.path.startswith(root + separator)
            assert ("/" if separator == "\\" else "\\") not in change.path


@pytest.mark.parametrize(("agent", "place", "scope"), EVERYWHERE)
def test_no_two_changes_are_about_the_same_thing(agent: str, place: Place, scope: str) -> None:
    for profile in (NO_HOOKS, MINIMAL, FULL):
        changes = wired(agent, place, scope=scope, profile=profile)
        made = [(change.path, as_installed(change, "").identity) for change in changes]
        assert len(set(made)) == len(made)


@pytest.mark.parametrize("agent", sorted(AGENTS - {"aider", "generic", "zed", "cursor"}))
def test_in_both_scopes_an_agent_hears_of_told(agent: str) -> None:
    for scope in (USER_SCOPE, PROJECT_SCOPE):
        texts = [one.text for one in wired(agent, scope=scope) if isinstance(one, (Block, OwnFile))]
        assert any("told search" in text for text in texts)


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_without_hooks_there_are_none_and_the_agent_is_told_to_ask(agent: str) -> None:
    for scope in (USER_SCOPE, PROJECT_SCOPE):
        changes = wired(agent, scope=scope, profile=NO_HOOKS)
        assert [one for one in changes if part(one) == HOOKS] == []
        assert all("told brief" in one.text for one in changes if isinstance(one, Block))


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_the_mcp_server_is_written_only_where_told_has_one(agent: str) -> None:
    for scope in (USER_SCOPE, PROJECT_SCOPE):
        changes = wired(agent, scope=scope, mcp=False)
        assert [one for one in changes if isinstance(one, Entry) and one.keys[-1] == "told"] == []


@pytest.mark.parametrize("agent", [name for name in sorted(AGENTS) if wired_agents()[name].hooks])
def test_only_the_full_profile_looks_at_tool_calls(agent: str) -> None:
    words = ("PreToolUse", "preToolUse", "BeforeTool", "tool.execute.before")

    def said(profile: str) -> str:
        changes = [one for one in wired(agent, profile=profile) if part(one) == HOOKS]
        return "".join(f"{one.keys}" if isinstance(one, Entry) else one.text for one in changes)

    assert not any(word in said(MINIMAL) for word in words)
    assert any(word in said(FULL) for word in words)


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_every_hook_is_recognisably_tolds(agent: str) -> None:
    for one in wired(agent, profile=FULL):
        if isinstance(one, Entry) and one.item:
            assert one.mark == "told.hook"
            assert one.mark in json.dumps(one.value)


def test_claude_code_runs_hooks_without_a_shell_and_waits_a_known_time() -> None:
    made = hooks("claude-code")
    assert set(made) == {
        "SessionStart",
        "UserPromptSubmit",
        "PreCompact",
        "Stop",
        "SessionEnd",
        "SubagentStart",
    }
    for event, group in made.items():
        (hook,) = group["hooks"]
        assert hook["type"] == "command"
        assert [hook["command"], *hook["args"]][:5] == [LAUNCH.interpreter, "-I", "-S", "-c", LAUNCH.code]
        assert hook["timeout"] == (3 if event == "SessionEnd" else 5)
    assert made["SessionStart"]["hooks"][0]["args"][-2:] == ["claude-code", "start"]
    assert "matcher" not in made["SessionStart"], "every source of a session's start is meant"


def test_with_the_service_claude_code_asks_it_at_a_prompt_and_nowhere_else() -> None:
    made = hooks("claude-code", service="http://127.0.0.1:8765", token="s3cret")
    kinds = {event: group["hooks"][0]["type"] for event, group in made.items()}
    assert kinds.pop("UserPromptSubmit") == "http"
    assert set(kinds.values()) == {"command"}, "Claude Code has no http hooks at a session's start"
    hook = made["UserPromptSubmit"]["hooks"][0]
    assert hook["url"].startswith("http://127.0.0.1:8765/")
    assert hook["headers"] == {"Authorization": "Bearer s3cret"}


@pytest.mark.parametrize("agent", [name for name in sorted(AGENTS) if name != "claude-code"])
def test_no_other_agent_gets_an_http_hook(agent: str) -> None:
    changes = wired(agent, service="http://127.0.0.1:8765", token="s3cret")
    assert all("8765" not in repr(change) for change in changes)


def test_claude_codes_tools_are_in_the_first_request() -> None:
    entry = server("claude-code")
    assert entry.path == "/home/ada/.claude.json"
    assert entry.value == {"command": "/usr/bin/told", "args": ["mcp"], "type": "stdio", "alwaysLoad": True}


def test_hooks_of_a_project_are_not_put_where_a_team_shares_them() -> None:
    assert "/home/ada/shop/.claude/settings.local.json" in paths("claude-code", scope=PROJECT_SCOPE)
    assert "/home/ada/shop/.claude/settings.json" not in paths("claude-code", scope=PROJECT_SCOPE)


def test_codex_has_commands_only_and_its_lines_stay_the_same() -> None:
    made = hooks("codex", profile=FULL)
    lines = {group["hooks"][0]["command"] for group in made.values()}
    assert {group["hooks"][0]["type"] for group in made.values()} == {"command"}
    assert hooks("codex", profile=FULL) == made, "what changes has to be approved again"
    assert all(shlex.split(line)[0] == LAUNCH.interpreter for line in lines)
    assert made["SessionEnd"]["hooks"][0]["timeout"] == 3


def test_codex_reads_its_server_from_toml() -> None:
    entry = server("codex")
    assert (entry.path, entry.keys) == ("/home/ada/.codex/config.toml", ("mcp_servers", "told"))
    assert entry.value == {"command": "/usr/bin/told", "args": ["mcp"]}


def test_codex_hands_its_server_the_variables_that_say_where_told_and_the_agents_keep_their_files() -> None:
    variables = {
        "TOLD_HOME": "/data/told",
        "CODEX_HOME": "/data/codex",
        "OPENAI_API_KEY": "x",
        "XDG_DATA_HOME": "",
    }
    assert server("codex", variables=variables).value["env_vars"] == ["TOLD_HOME", "CODEX_HOME"]


def test_gemini_waits_in_milliseconds_and_is_never_asked_before_every_model_turn() -> None:
    made = hooks("gemini-cli", profile=FULL)
    assert set(made) == {"SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd", "BeforeTool"}
    assert all(group["hooks"][0]["timeout"] >= 1000 for group in made.values())
    assert all(group["hooks"][0]["name"] == "told" for group in made.values())


def test_qwen_gets_one_line_and_a_time_that_no_version_takes_for_too_short() -> None:
    for group in hooks("qwen-code").values():
        (hook,) = group["hooks"]
        assert "args" not in hook, "an old version would start the bare interpreter"
        assert hook["timeout"] >= 1000


def test_copilot_has_a_file_of_its_own_for_both_kinds_of_shell() -> None:
    made = json.loads(own_file("copilot-cli", "hooks/told.json"))
    assert made["version"] == 1
    assert "preToolUse" not in made["hooks"]
    for (hook,) in made["hooks"].values():
        assert shlex.split(hook["bash"])[0] == LAUNCH.interpreter
        assert hook["powershell"].startswith("& /opt/python")
        assert hook["timeoutSec"] in (3, 5)


def test_copilots_tools_work_on_when_told_is_gone() -> None:
    made = json.loads(own_file("copilot-cli", "hooks/told.json", profile=FULL))
    (hook,) = made["hooks"]["preToolUse"]
    assert hook["bash"].endswith("|| true")
    assert hook["powershell"].endswith("; exit 0")


def test_cursor_gets_a_version_only_as_a_default() -> None:
    (version,) = [one for one in wired("cursor") if isinstance(one, Entry) and one.keys == ("version",)]
    assert version.default
    assert version.value == 1
    assert "alwaysApply: true" in own_file("cursor", "rules/told.mdc", scope=PROJECT_SCOPE)


@pytest.mark.parametrize("profile", [NO_HOOKS, MINIMAL, FULL])
def test_cline_has_no_hooks_and_waits_long_enough_for_the_server(profile: str) -> None:
    assert [one for one in wired("cline", profile=profile) if part(one) == HOOKS] == []
    assert server("cline").value["timeout"] == 60


def test_windsurf_is_heard_but_cannot_be_briefed() -> None:
    assert set(hooks("windsurf")) == {"pre_user_prompt"}
    assert set(hooks("windsurf", profile=FULL)) == {"pre_user_prompt"}
    (block,) = [one for one in wired("windsurf") if isinstance(one, Block)]
    assert "told brief" in block.text


@pytest.mark.parametrize(
    ("agent", "keys"),
    [
        ("vscode-copilot", ("servers", "told")), ("jetbrains-copilot", ("servers", "told")),
        ("zed", ("context_servers", "told")), ("kiro", ("mcpServers", "told")),
        ("windsurf", ("mcpServers", "told")), ("antigravity", ("mcpServers", "told")),
        ("opencode", ("mcp", "told")), ("cursor", ("mcpServers", "told")),
        ("copilot-cli", ("mcpServers", "told")), ("qoder", ("mcpServers", "told")),
        ("gemini-cli", ("mcpServers", "told")), ("qwen-code", ("mcpServers", "told")),
    ],
)  # fmt: skip
def test_each_agent_finds_the_server_where_it_looks_for_it(agent: str, keys: tuple[str, ...]) -> None:
    entry = server(agent)
    assert entry.keys == keys
    assert "mcp" in json.dumps(entry.value)


def test_files_that_several_agents_read_say_the_same_whoever_writes_them() -> None:
    said: dict[str, set[str]] = {}
    for agent in AGENTS:
        for one in wired(agent, scope=PROJECT_SCOPE):
            if isinstance(one, Block) or (isinstance(one, Entry) and not one.item):
                key = f"{one.path} {one.keys if isinstance(one, Entry) else ''}"
                said.setdefault(key, set()).add(repr(one))
    assert {key for key, several in said.items() if len(several) > 1} == set()


def test_antigravity_and_gemini_share_their_instructions() -> None:
    blocks = [
        one for agent in ("antigravity", "gemini-cli") for one in wired(agent) if isinstance(one, Block)
    ]
    assert len(set(blocks)) == 1


def test_a_new_folder_of_rules_is_not_made_where_it_would_hide_others() -> None:
    assert paths("cline", scope=PROJECT_SCOPE) == {"/home/ada/shop/AGENTS.md"}


@pytest.mark.parametrize("agent", ["claude-code", "qwen-code", "opencode"])
def test_slash_commands_are_markdown_with_front_matter(agent: str) -> None:
    files = [one for one in wired(agent) if isinstance(one, OwnFile) and "/commands/mem/" in one.path]
    assert len(files) == len(slash.commands(COMMANDS)) == 9
    words = "{{args}}" if agent == "qwen-code" else "$ARGUMENTS"
    for one in files:
        head, front, body = one.text.split("---\n", 2)
        assert head == ""
        assert "description: " in front
        assert "told:own" in front
        assert "!`" not in body
        assert "!{" not in body, "what the user typed is never run by a shell"
        if "search" in one.path:
            assert words in body


def test_claude_codes_commands_may_run_told_and_nothing_else() -> None:
    made = {one.path.rsplit("/", 1)[1]: one.text for one in wired("claude-code") if isinstance(one, OwnFile)}
    assert "allowed-tools: Bash(told:*)\n" in made["search.md"]
    for name in ("lock.md", "correct.md", "remember.md"):
        assert "allowed-tools" not in made[name], "the hook has done it; the agent must not"
    assert "forget.md" not in made


def test_geminis_commands_are_toml_that_says_first_what_the_user_typed() -> None:
    files = [one for one in wired("gemini-cli") if isinstance(one, OwnFile)]
    assert len(files) == 9
    for one in files:
        prompt = tomllib.loads(one.text)["prompt"]
        typed, _, rest = prompt.partition(SLASH_END)
        assert typed == f"/mem:{one.path.rsplit('/', 1)[1].removesuffix('.toml')} {{{{args}}}}"
        assert rest


@pytest.mark.parametrize("agent", ["gemini-cli", "qwen-code", "opencode"])
def test_nothing_is_learned_from_the_texts_of_commands(agent: str) -> None:
    for one in wired(agent):
        if isinstance(one, OwnFile) and "/commands/" in one.path:
            assert capture(one.text.replace("$ARGUMENTS", "the cache").replace("{{args}}", "the cache")) == []


def test_only_commands_that_told_has_are_offered() -> None:
    assert [one.name for one in slash.commands(frozenset(("search", "lock")))] == ["search", "lock"]
    assert slash.commands(frozenset()) == ()


def test_the_instructions_are_short_and_teach_nothing() -> None:
    for text in (instructions.note(COMMANDS), instructions.guide(COMMANDS)):
        assert len(text) < 700
        assert capture(text) == []
        assert "told checkpoint" not in text
    assert len(instructions.note(COMMANDS)) < len(instructions.guide(COMMANDS))


def test_checkpoints_are_asked_for_as_soon_as_told_has_them() -> None:
    for text in (instructions.note(COMMANDS | {"checkpoint"}), instructions.guide(COMMANDS | {"checkpoint"})):
        assert "`told checkpoint` when about 70 %" in text


def test_an_agent_without_hooks_is_told_the_order_in_which_to_look() -> None:
    text = instructions.guide(COMMANDS)
    order = [text.index(word) for word in ("told brief", "told files", "told search", "told show")]
    assert order == sorted(order)
