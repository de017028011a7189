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
    HOOKS,
    MINIMAL,
    NO_HOOKS,
    PROJECT_SCOPE,
    SLASH_END,
    USER_SCOPE,
    Block,
    Entry,
    OwnFile,
    has_mark,
)
from told.capture.statements import capture
from told.install import place as instructions
from told.install import place as slash
from told.install.apply import part_of
from told.install.edits import as_installed

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


def test_wires_every_documented_agent() -> None:
    assert set(wired_agents()) == AGENTS


def test_unreadable_agents_are_not_read() -> None:
    assert AGENTS - set(all_agents()) == {"windsurf", "antigravity", "zed", "kiro", "generic"}


@pytest.mark.parametrize(("agent", "place", "scope"), EVERYWHERE)
def test_writes_only_below_home_or_project(agent: str, place: Place, scope: str) -> None:
    root = place.project if scope == PROJECT_SCOPE else place.home
    separator = "\\" if place.system == "win32" else "/"
    for profile in (NO_HOOKS, MINIMAL, FULL):
        for change in wired(agent, place, scope=scope, profile=profile):
            assert change.path.startswith(root + separator)
            assert ("/" if separator == "\\" else "\\") not in change.path


@pytest.mark.parametrize(("agent", "place", "scope"), EVERYWHERE)
def test_changes_are_distinct(agent: str, place: Place, scope: str) -> None:
    for profile in (NO_HOOKS, MINIMAL, FULL):
        changes = wired(agent, place, scope=scope, profile=profile)
        made = [(change.path, as_installed(change, "").identity) for change in changes]
        assert len(set(made)) == len(made)


@pytest.mark.parametrize("agent", sorted(AGENTS - {"aider", "generic", "zed", "cursor"}))
def test_instructions_mention_told_in_both_scopes(agent: str) -> None:
    for scope in (USER_SCOPE, PROJECT_SCOPE):
        texts = [one.text for one in wired(agent, scope=scope) if isinstance(one, (Block, OwnFile))]
        assert any("told search" in text for text in texts)


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_no_hooks_profile_writes_only_instructions(agent: str) -> None:
    for scope in (USER_SCOPE, PROJECT_SCOPE):
        changes = wired(agent, scope=scope, profile=NO_HOOKS)
        assert [one for one in changes if part_of(one) == HOOKS] == []
        assert all("told brief" in one.text for one in changes if isinstance(one, Block))


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_writes_mcp_entry_only_if_available(agent: str) -> None:
    for scope in (USER_SCOPE, PROJECT_SCOPE):
        changes = wired(agent, scope=scope, mcp=False)
        assert [one for one in changes if isinstance(one, Entry) and one.keys[-1] == "told"] == []


@pytest.mark.parametrize("agent", [name for name in sorted(AGENTS) if wired_agents()[name].has_hooks])
def test_only_full_profile_hooks_tool_calls(agent: str) -> None:
    words = ("PreToolUse", "preToolUse", "BeforeTool", "tool.execute.before")

    def said(profile: str) -> str:
        changes = [one for one in wired(agent, profile=profile) if part_of(one) == HOOKS]
        return "".join(f"{one.keys}" if isinstance(one, Entry) else one.text for one in changes)

    assert not any(word in said(MINIMAL) for word in words)
    assert any(word in said(FULL) for word in words)


@pytest.mark.parametrize("agent", sorted(AGENTS))
def test_every_hook_has_tolds_mark(agent: str) -> None:
    for one in wired(agent, profile=FULL):
        if isinstance(one, Entry) and one.item:
            assert one.mark == "told.hook"
            assert has_mark(json.dumps(one.value))


def test_claude_code_runs_one_line_with_a_timeout() -> None:
    made = hooks("claude-code")
    assert set(made) == {
        "SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd", "SubagentStart",
    }  # fmt: skip
    for event, group in made.items():
        (hook,) = group["hooks"]
        assert hook["type"] == "command"
        assert "args" not in hook, "unknown to older versions"
        assert shlex.split(hook["command"])[:4] == [LAUNCH.interpreter, "-I", "-S", LAUNCH.client]
        assert hook["timeout"] == (3 if event == "SessionEnd" else 5)
    assert shlex.split(made["SessionStart"]["hooks"][0]["command"])[4:6] == ["claude-code", "start"]
    assert "matcher" not in made["SessionStart"], "matches every source of a session's start"


def test_claude_code_always_loads_the_server() -> None:
    entry = server("claude-code")
    assert entry.path == "/home/ada/.claude.json"
    assert entry.value == {"command": "/usr/bin/told", "args": ["mcp"], "type": "stdio", "alwaysLoad": True}


def test_project_hooks_are_not_in_shared_settings() -> None:
    assert "/home/ada/shop/.claude/settings.local.json" in paths("claude-code", scope=PROJECT_SCOPE)
    assert "/home/ada/shop/.claude/settings.json" not in paths("claude-code", scope=PROJECT_SCOPE)


def test_codex_hooks_are_stable_commands() -> None:
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


def test_codex_forwards_variables_to_the_server() -> None:
    variables = {
        "TOLD_HOME": "/data/told",
        "CODEX_HOME": "/data/codex",
        "OPENAI_API_KEY": "x",
        "XDG_DATA_HOME": "",
    }
    assert server("codex", variables=variables).value["env_vars"] == ["TOLD_HOME", "CODEX_HOME"]


def test_gemini_timeouts_are_milliseconds_and_pre_compress_is_not_hooked() -> None:
    made = hooks("gemini-cli", profile=FULL)
    assert set(made) == {"SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd", "BeforeTool"}
    assert all(group["hooks"][0]["timeout"] >= 1000 for group in made.values())
    assert all(group["hooks"][0]["name"] == "told" for group in made.values())


def test_qwen_hook_is_one_line_with_a_long_timeout() -> None:
    for group in hooks("qwen-code").values():
        (hook,) = group["hooks"]
        assert "args" not in hook, "an old version would start the bare interpreter"
        assert hook["timeout"] >= 1000


def test_copilot_hooks_have_bash_and_powershell_commands() -> None:
    made = json.loads(own_file("copilot-cli", "hooks/told.json"))
    assert made["version"] == 1
    assert "preToolUse" not in made["hooks"]
    for (hook,) in made["hooks"].values():
        assert shlex.split(hook["bash"])[0] == LAUNCH.interpreter
        assert "& /opt/python" in hook["powershell"]
        assert hook["timeoutSec"] in (3, 5)


def test_copilot_hooks_exit_zero_without_told() -> None:
    made = json.loads(own_file("copilot-cli", "hooks/told.json", profile=FULL))
    (hook,) = made["hooks"]["preToolUse"]
    assert hook["bash"].endswith("|| true")
    assert hook["powershell"].endswith("; exit 0")


def test_cursor_version_is_a_default() -> None:
    (version,) = [one for one in wired("cursor") if isinstance(one, Entry) and one.keys == ("version",)]
    assert version.default
    assert version.value == 1
    assert "alwaysApply: true" in own_file("cursor", "rules/told.mdc", scope=PROJECT_SCOPE)


@pytest.mark.parametrize("profile", [NO_HOOKS, MINIMAL, FULL])
def test_cline_has_no_hooks_and_a_server_timeout(profile: str) -> None:
    assert [one for one in wired("cline", profile=profile) if part_of(one) == HOOKS] == []
    assert server("cline").value["timeout"] == 60


def test_windsurf_hooks_only_prompts() -> None:
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
def test_mcp_entry_has_the_agents_keys(agent: str, keys: tuple[str, ...]) -> None:
    entry = server(agent)
    assert entry.keys == keys
    assert "mcp" in json.dumps(entry.value)


def test_shared_files_get_the_same_content() -> None:
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


def test_cline_creates_no_rules_folder() -> None:
    assert paths("cline", scope=PROJECT_SCOPE) == {"/home/ada/shop/AGENTS.md"}


@pytest.mark.parametrize("agent", ["claude-code", "qwen-code", "opencode"])
def test_slash_commands_are_markdown_with_front_matter(agent: str) -> None:
    files = [one for one in wired(agent) if isinstance(one, OwnFile) and "/commands/mem/" in one.path]
    assert len(files) == len(slash.slash_commands(COMMANDS)) == 9
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


def test_claude_code_commands_allow_only_told() -> None:
    made = {one.path.rsplit("/", 1)[1]: one.text for one in wired("claude-code") if isinstance(one, OwnFile)}
    assert "allowed-tools: Bash(told:*)\n" in made["search.md"]
    for name in ("lock.md", "correct.md", "remember.md"):
        assert "allowed-tools" not in made[name], "the hook has done it; the agent must not"
    assert "forget.md" not in made


def test_gemini_commands_begin_with_the_typed_command() -> None:
    files = [one for one in wired("gemini-cli") if isinstance(one, OwnFile)]
    assert len(files) == 9
    for one in files:
        prompt = tomllib.loads(one.text)["prompt"]
        typed, _, rest = prompt.partition(SLASH_END)
        assert typed == f"/mem:{one.path.rsplit('/', 1)[1].removesuffix('.toml')} {{{{args}}}}"
        assert rest


@pytest.mark.parametrize("agent", ["claude-code", "gemini-cli", "qwen-code", "opencode"])
def test_command_texts_teach_nothing(agent: str) -> None:
    files = [one for one in wired(agent) if isinstance(one, OwnFile) and "/commands/" in one.path]
    assert files
    for one in files:
        is_toml = one.path.endswith(".toml")
        sent = tomllib.loads(one.text)["prompt"] if is_toml else one.text.split("---\n", 2)[2]
        assert capture(sent.replace("$ARGUMENTS", "the cache").replace("{{args}}", "the cache")) == []


def test_offers_only_available_commands() -> None:
    assert [one.name for one in slash.slash_commands(frozenset(("search", "lock")))] == ["search", "lock"]
    assert slash.slash_commands(frozenset()) == ()


def test_instructions_are_short_and_teach_nothing() -> None:
    for text in (instructions.paragraph("briefed", COMMANDS), instructions.paragraph("guide", COMMANDS)):
        assert len(text) < 700
        assert capture(text) == []
        assert "told checkpoint" not in text
    assert len(instructions.paragraph("briefed", COMMANDS)) < len(instructions.paragraph("guide", COMMANDS))


def test_instructions_ask_for_checkpoints_if_available() -> None:
    for text in (
        instructions.paragraph("briefed", COMMANDS | {"checkpoint"}),
        instructions.paragraph("guide", COMMANDS | {"checkpoint"}),
    ):
        assert "`told checkpoint` when about 70 %" in text


def test_guide_lists_commands_in_order() -> None:
    text = instructions.paragraph("guide", COMMANDS)
    order = [text.index(word) for word in ("told brief", "told files", "told search", "told show")]
    assert order == sorted(order)
