"""Files as the agents and their users write them, and what told would add to each."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from told.agents.wiring import Block, Entry, OwnFile

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "sk-ant-planted-0123456789abcdef"
MARK = "from told.hook.run import run"
COMMAND = f"/usr/bin/python3.12 -I -S -c 'import sys;{MARK};run()' claude-code"
BOM = "\ufeff"

CLAUDE_SETTINGS = """{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "permissions": {
    "allow": ["Bash(npm run lint)", "Read(~/.zshrc)"],
    "deny": []
  },
  "env": {"ANTHROPIC_API_KEY": "SECRET"},
  "hooks": {
    "UserPromptSubmit": [
      {
        "hooks": [
          {"type": "command", "command": "other-tool prompt"}
        ]
      }
    ],
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "guard.sh"}]}
    ]
  },
  "model": "opus"
}
""".replace("SECRET", SECRET)

CLAUDE_STATE = json.dumps(
    {
        "numStartups": 12,
        "oauthAccount": {"accessToken": SECRET, "emailAddress": "a@example.com"},
        "mcpServers": {"github": {"command": "npx", "args": ["-y", "server"], "env": {"TOKEN": SECRET}}},
        "projects": {"/home/a/p": {"history": [{"display": 'fix "this" {[,//'}], "mcpServers": {}}},
    },
    indent=2,
)

CODEX_CONFIG = """# my codex
model = "gpt-5-codex"   # the fast one
approval_policy = 'on-request'

[features]
web_search = true

[mcp_servers.github]
command = "npx"
args = [
  "-y",
  "server", # pinned
]

[mcp_servers.github.env]
TOKEN = "SECRET"

[projects."/home/a/my.project"]
trust_level = "trusted"

[[hooks.UserPromptSubmit]]
[[hooks.UserPromptSubmit.hooks]]
type = "command"
command = "other-tool"

[tui]
notice = \"\"\"
[mcp_servers.told]
\"\"\"
""".replace("SECRET", SECRET)

CODEX_HOOKS = '{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"other"}]}]}}'

GEMINI = """{
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "mcpServers": {
        "db": {
            "command": "db-mcp",
            "env": {"KEY": "SECRET"}
        }
    },
    "hooks": {}
}""".replace("SECRET", SECRET)

OPENCODE = """{
  "$schema": "https://opencode.ai/config.json",
  // the model I like
  "model": "anthropic/claude-sonnet-4-5",
  /* servers */
  "mcp": {
    "jira": {
      "type": "local",
      "command": ["npx", "jira"], // slow
    }, // end of jira
  },
  "plugin": [
    "other-plugin", // keep
  ],
}
"""

VSCODE_SETTINGS = """// Place your settings in this file to overwrite the default settings
{
\t"editor.fontSize": 14, // px
\t"files.exclude": {
\t\t"**/.git": true, /* "x": 1, */
\t\t"**/*.pyc": true
\t},
\t"url": "http://example.com/a//b", // a comment with "quotes" and {braces
\t"terminal.integrated.env.linux": {"TOKEN": "SECRET"}
\t// nothing after this
}
// the end""".replace("SECRET", SECRET)

VSCODE_MCP = """{
\t"inputs": [],
\t"servers": {
\t\t// mine
\t\t"playwright": {
\t\t\t"command": "npx",
\t\t\t"args": ["@playwright/mcp@latest"]
\t\t}
\t}
}
"""

ZED = """// Zed settings
//
// For information on how to configure Zed, see the Zed documentation
{
  "theme": {
    "mode": "system",
    "light": "One Light",
  },
  "context_servers": {
    "pg": {
      "command": "pg-context",
      "args": [],
      "env": {"DATABASE_URL": "postgres://u:SECRET@h/db"},
    },
  },
  "vim_mode": true,
}
""".replace("SECRET", SECRET)

CURSOR_HOOKS = """{
  "version": 1,
  "hooks": {
    "beforeSubmitPrompt": [{ "command": "./hooks/audit.sh" }],
    "stop": [ ]
  }
}
"""
CURSOR_MCP = '{ "mcpServers": { "figma": { "url": "http://127.0.0.1:3845/sse" } } }\n'
COPILOT_MCP = '{\n  "mcpServers": {\n  }\n}'
KIRO = '{\n  "mcpServers": {\n    "aws": {"command": "uvx", "disabled": false, "autoApprove": []}\n  }\n}\n'
WINDSURF = '{"mcpServers": {}, "note": "caf\u00e9 \\u00e9 \U0001f389"}'
CLINE = '{\n  "mcpServers": {\n    "x": {\n      "timeout": 60,\n      "args": []\n    }\n  }\n}\n\n\n'
DUPLICATES = '{\n  "hooks": {"Stop": []},\n  "a": 1,\n  "a": 2,\n  "hooks": {\n    "Stop": [\n    ]\n  }\n}\n'

AGENTS_MD = "# Rules\n\n- Use tabs.\n- Run `make check`.\n"
CLAUDE_MD = "Read @AGENTS.md\n\n<!-- other-tool:begin -->\nkeep\n<!-- other-tool:end -->"

JSON_FILES = {
    ".claude/settings.json": CLAUDE_SETTINGS,
    ".claude.json": CLAUDE_STATE,
    ".codex/hooks.json": CODEX_HOOKS,
    ".gemini/settings.json": GEMINI,
    ".qwen/settings.json": GEMINI.replace("    ", "\t"),
    ".config/opencode/opencode.jsonc": OPENCODE,
    ".config/Code/User/settings.json": VSCODE_SETTINGS,
    ".vscode/mcp.json": VSCODE_MCP,
    ".config/zed/settings.json": ZED,
    ".cursor/hooks.json": CURSOR_HOOKS,
    ".cursor/mcp.json": CURSOR_MCP,
    ".copilot/mcp-config.json": COPILOT_MCP,
    ".kiro/settings/mcp.json": KIRO,
    ".codeium/windsurf/mcp_config.json": WINDSURF,
    ".cline/data/settings/cline_mcp_settings.json": CLINE,
    "duplicates.json": DUPLICATES,
    "object.json": "{}",
    "spaced.json": "{ }\n",
    "open.json": "{\n\n}\n",
    "comment.json": "{ // nothing yet\n}\n",
    "block-comment.json": "{/* nothing yet */}",
    "only-comment.jsonc": "// nothing yet",
    "empty.json": "",
    "blank.json": " \n",
}
TOML_FILES = {
    ".codex/config.toml": CODEX_CONFIG,
    "inline/config.toml": 'mcp_servers = { a = { command = "x" } }\nhooks = { Stop = [ { x = 1 }, ] }\n',
    "dotted/config.toml": 'a.b = 1\nmcp_servers.x.command = "x"\nfeatures.a = true\n[z]\n',
    "bare/config.toml": 'model = "x"',
    "empty/config.toml": "",
    "comment/config.toml": "# nothing yet\n\n",
    "table-last/config.toml": "[features]\n[mcp_servers]",
    "lists/config.toml": "[[hooks.Stop]]\nx = 1 # c\n\n\n[[hooks.Stop]]\nx = 2\n[a.b]\nc = 10:00:00\n",
}
TEXT_FILES = {
    "AGENTS.md": AGENTS_MD,
    "CLAUDE.md": CLAUDE_MD,
    "GEMINI.md": "",
    ".github/copilot-instructions.md": "One line, no end",
    ".windsurf/rules/x.md": "---\ntrigger: always_on\n---\n\n\n",
}


def variants(name: str, text: str) -> dict[str, bytes]:
    """Return a file in the forms in which it is found on other machines."""
    crlf = text.replace("\n", "\r\n")
    return {
        name: text.encode(),
        f"{name}, CRLF": crlf.encode(),
        f"{name}, BOM": (BOM + text).encode(),
        f"{name}, BOM and CRLF, no end": (BOM + crlf.rstrip()).encode(),
        f"{name}, no end": text.rstrip().encode(),
    }


def changes(path: str, command: str = COMMAND) -> tuple[Entry | Block | OwnFile, ...]:
    """Return what told would add to a file."""
    if path.endswith(".md"):
        return (Block(path, "## told\n\nAsk `told brief` first.\nThen search.\n"),)
    hook = {"hooks": [{"type": "command", "command": command, "timeout": 5}]}
    server = "mcp_servers" if path.endswith(".toml") else "mcpServers"
    return (
        Entry(path, ("hooks", "UserPromptSubmit"), hook, item=True, mark=MARK),
        Entry(path, ("hooks", "Stop"), hook, item=True, mark=MARK),
        Entry(path, (server, "told"), {"command": "told", "args": ("mcp",), "env": {"A.b c": 'é "\\'}}),
        Entry(path, ("features", "hooks"), True),
        Entry(path, ("plugin",), "told-plugin", item=True, mark="told-plugin"),
        Entry(path, ("telling",), 5),
    )


def said(path: str, raw: bytes) -> Any:
    """Return what a file says to the program it is for, by another reader than told's."""
    text = raw.decode("utf-8-sig")
    if path.endswith(".toml"):
        return tomllib.loads(text)
    if path.endswith(".md"):
        return text
    quoted = r'"(?:\\.|[^"\\])*"'
    bare = re.sub(
        quoted + r"|//[^\n]*|/\*.*?\*/", lambda m: m[0] if m[0][0] == '"' else " ", text, flags=re.DOTALL
    )
    strict = re.sub(quoted + r"|,(?=\s*[}\]])", lambda m: m[0] if m[0][0] == '"' else "", bare)
    return json.loads(strict) if strict.strip() else {}


def with_change(value: Any, change: Entry | Block | OwnFile) -> Any:
    """Return what a file should say after a change."""
    assert isinstance(change, Entry)
    value = json.loads(json.dumps(value, default=str))
    inner = value
    for key in change.keys[:-1]:
        inner = inner.setdefault(key, {})
    new = json.loads(json.dumps(change.value))
    if change.item:
        inner.setdefault(change.keys[-1], []).append(new)
    else:
        inner[change.keys[-1]] = new
    return value


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


def put(home: Path, name: str, raw: bytes, mode: int = 0o640) -> str:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw)
    path.chmod(mode)
    return str(path)
