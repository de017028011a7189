"""Where each agent's files are, on every system, and with the agents' own variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.agents.wiring_places import LINUX, MAC, WINDOWS, hooks, paths
from told.agents.wiring import PROJECT_SCOPE

if TYPE_CHECKING:
    from pathlib import Path

_HOME = "/home/ada"
_WINDOWS = "C:\\Users\\Ada L"


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ("claude-code", {".claude/settings.json", ".claude.json", ".claude/CLAUDE.md"}),
        ("codex", {".codex/hooks.json", ".codex/config.toml", ".codex/AGENTS.md"}),
        ("copilot-cli", {".copilot/hooks/told.json", ".copilot/mcp-config.json",
                         ".copilot/copilot-instructions.md"}),
        ("cursor", {".cursor/hooks.json", ".cursor/mcp.json"}),
        ("gemini-cli", {".gemini/settings.json", ".gemini/GEMINI.md"}),
        ("opencode", {".config/opencode/plugins/told.js", ".config/opencode/opencode.json",
                      ".config/opencode/AGENTS.md"}),
        ("cline", {".cline/rules/told.md", ".cline/data/settings/cline_mcp_settings.json"}),
        ("windsurf", {".codeium/windsurf/hooks.json", ".codeium/windsurf/mcp_config.json",
                      ".codeium/windsurf/memories/global_rules.md"}),
        ("antigravity", {".gemini/config/mcp_config.json", ".gemini/GEMINI.md"}),
        ("qoder", {".qoder/settings.json", ".qoder/AGENTS.md"}),
        ("qwen-code", {".qwen/settings.json", ".qwen/QWEN.md"}),
        ("vscode-copilot", {".config/Code/User/mcp.json", ".config/Code/User/prompts/told.instructions.md"}),
        ("jetbrains-copilot", {".config/github-copilot/intellij/mcp.json",
                               ".config/github-copilot/intellij/global-copilot-instructions.md"}),
        ("zed", {".config/zed/settings.json"}),
        ("kiro", {".kiro/settings/mcp.json", ".kiro/steering/told.md"}),
        ("aider", set()),
        ("generic", set()),
    ],
)  # fmt: skip
def test_writes_the_users_files(agent: str, expected: set[str]) -> None:
    assert paths(agent) == {f"{_HOME}/{path}" for path in expected}


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ("claude-code", {".claude/settings.local.json", ".mcp.json", "CLAUDE.md"}),
        ("codex", {".codex/hooks.json", "AGENTS.md"}),
        ("copilot-cli", {".github/hooks/told.json", ".github/mcp.json", ".github/copilot-instructions.md"}),
        ("cursor", {".cursor/hooks.json", ".cursor/mcp.json", ".cursor/rules/told.mdc"}),
        ("gemini-cli", {".gemini/settings.json", "GEMINI.md"}),
        ("opencode", {".opencode/plugins/told.js", "opencode.json", "AGENTS.md"}),
        ("windsurf", {".windsurf/hooks.json", ".windsurf/rules/told.md"}),
        ("antigravity", {".agents/mcp_config.json", "AGENTS.md"}),
        ("qoder", {".qoder/settings.local.json", ".mcp.json", "AGENTS.md"}),
        ("qwen-code", {".qwen/settings.json", "QWEN.md"}),
        ("vscode-copilot", {".vscode/mcp.json", ".github/copilot-instructions.md"}),
        ("jetbrains-copilot", {".github/copilot-instructions.md"}),
        ("zed", {".zed/settings.json", "AGENTS.md"}),
        ("kiro", {".kiro/settings/mcp.json", ".kiro/steering/told.md"}),
        ("aider", {"CONVENTIONS.md"}),
        ("generic", {".mcp.json", "AGENTS.md"}),
    ],
)  # fmt: skip
def test_writes_the_projects_files(agent: str, expected: set[str]) -> None:
    assert paths(agent, scope=PROJECT_SCOPE) == {f"{_HOME}/shop/{path}" for path in expected}


@pytest.mark.parametrize(
    ("agent", "variable", "expected"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", {"settings.json", ".claude.json", "CLAUDE.md"}),
        ("codex", "CODEX_HOME", {"hooks.json", "config.toml", "AGENTS.md"}),
        ("copilot-cli", "COPILOT_HOME", {"hooks/told.json", "mcp-config.json", "copilot-instructions.md"}),
        ("gemini-cli", "GEMINI_CLI_HOME", {".gemini/settings.json", ".gemini/GEMINI.md"}),
        ("qwen-code", "QWEN_HOME", {"settings.json", "QWEN.md"}),
        ("qoder", "QODER_CONFIG_DIR", {"settings.json", "AGENTS.md"}),
        ("cline", "CLINE_DIR", {"rules/told.md", "data/settings/cline_mcp_settings.json"}),
        ("opencode", "OPENCODE_CONFIG_DIR", {"plugins/told.js", "opencode.json", "AGENTS.md"}),
        ("opencode", "XDG_CONFIG_HOME", {"opencode/plugins/told.js", "opencode/opencode.json",
                                         "opencode/AGENTS.md"}),
        ("zed", "XDG_CONFIG_HOME", {"zed/settings.json"}),
        ("vscode-copilot", "XDG_CONFIG_HOME", {"Code/User/mcp.json",
                                               "Code/User/prompts/told.instructions.md"}),
    ],
)  # fmt: skip
def test_variable_moves_the_files(agent: str, variable: str, expected: set[str]) -> None:
    assert paths(agent, {variable: "/srv/agent"}) == {f"/srv/agent/{path}" for path in expected}


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ("vscode-copilot", "/Users/ada/Library/Application Support/Code/User/mcp.json"),
        ("zed", "/Users/ada/.config/zed/settings.json"),
        ("jetbrains-copilot", "/Users/ada/.config/github-copilot/intellij/mcp.json"),
        ("claude-code", "/Users/ada/.claude/settings.json"),
    ],
)
def test_files_on_macos(agent: str, expected: str) -> None:
    assert expected in paths(agent, place=MAC)


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ("vscode-copilot", "AppData\\Roaming\\Code\\User\\mcp.json"),
        ("zed", "AppData\\Roaming\\Zed\\settings.json"),
        ("jetbrains-copilot", "AppData\\Local\\github-copilot\\intellij\\mcp.json"),
        ("claude-code", ".claude\\settings.json"),
        ("codex", ".codex\\hooks.json"),
        ("opencode", ".config\\opencode\\plugins\\told.js"),
        ("kiro", ".kiro\\steering\\told.md"),
    ],
)
def test_files_on_windows(agent: str, expected: str) -> None:
    assert f"{_WINDOWS}\\{expected}" in paths(agent, place=WINDOWS)


def test_quotes_programs_with_spaces_on_windows() -> None:
    line = hooks("codex", WINDOWS)["SessionStart"]["hooks"][0]["command"]
    program, client = '"C:\\Program Files\\Python\\python.exe"', '"C:\\Users\\Ada L\\told\\hook\\client.py"'
    assert line.startswith(f"{program} -I -S {client} codex start ")


@pytest.mark.parametrize("agent", ["gemini-cli", "qwen-code"])
def test_calls_the_program_in_powershell(agent: str) -> None:
    line = hooks(agent, WINDOWS)["SessionStart"]["hooks"][0]["command"]
    assert "& 'C:\\Program Files\\Python\\python.exe' -I -S 'C:\\Users\\Ada L\\told\\hook\\client.py'" in line
    assert line.endswith("exit 0")


def test_writes_to_an_existing_jsonc_file(tmp_path: Path) -> None:
    folder = tmp_path / "opencode"
    folder.mkdir()
    (folder / "opencode.jsonc").write_text("{}")
    assert f"{folder}/opencode.jsonc" in paths("opencode", {"XDG_CONFIG_HOME": str(tmp_path)})


def test_paths_do_not_depend_on_this_machine() -> None:
    assert paths("codex", {}, LINUX) == paths("codex", {}, LINUX)
    assert all(path.startswith("/Users/") for path in paths("codex", {}, MAC))
