"""All inputs of told; the canary tests fail if one is missing here."""

from __future__ import annotations

import json

from tests.redact.canary import TEXT, TOKEN

# The agents whose files are read.
TRANSCRIPTS = (
    "aider", "claude-code", "cline", "codex", "continue", "copilot-cli", "cursor", "gemini-cli",
    "jetbrains-copilot", "neovim", "opencode", "qoder", "qwen-code", "specstory", "vscode-copilot",
)  # fmt: skip
# The agents that call hooks, and the events.
CALLERS = (
    "aider", "antigravity", "claude-code", "cline", "codex", "copilot-cli", "cursor", "gemini-cli", "generic",
    "jetbrains-copilot", "kiro", "opencode", "qoder", "qwen-code", "vscode-copilot", "windsurf", "zed",
)  # fmt: skip
EVENTS = ("start", "prompt", "compact", "compacted", "stop", "end", "helper", "tool")
# What the user can type as a prompt.
SLASHES = ("remember", "lock", "correct", "unlock", "confirm", "reject")
# Statements with a secret in each of their fields.
FIELDS = ("text", "kind", "quote", "scope", "replaces")
ITEMS = [
    *({"text": f"The shelf number {at} is green."} | {name: text}
      for at, name in enumerate(FIELDS) for text in (TOKEN, TEXT, f"We keep {TOKEN} at hand.")),
    {"text": "The shelf is red.", "replaces": [TOKEN, "pnpm"]}, TEXT,
]  # fmt: skip
# Every command with its arguments; secrets are also given to every option that takes a text.
COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "list": ((),), "files": ((),), "search": ((TEXT,), (TOKEN,)), "show": ((TOKEN,),),
    "checkpoints": ((), ("export", TOKEN)),
    "checkpoint": (
        (), (TEXT,), (f"Deploy with {TOKEN}", "--title", TOKEN), ("--goal", TEXT), ("--close", TOKEN),
        ("--stdin",), ("-",),
    ),
    "brief": ((), ("--prompt", TEXT)), "explain": ((TEXT,),), "repos": ((),), "timeline": ((),),
    "remember": (
        (TEXT,), (f"The deploy token is {TOKEN}.",), ("--items", json.dumps(ITEMS)),
        ("--items", json.dumps([{"text": "The shelf is green.", TOKEN: TOKEN}])),
    ),
    "learn": ((), ("--why", f"Never deploy with {TEXT}")), "memories": ((), (TOKEN,)),
    "correct": (("pnpm", f"We use npm with the token {TOKEN} here."), (TOKEN, "We use yarn in this house.")),
    "lock": ((TEXT,),), "unlock": ((TOKEN,),), "confirm": ((TOKEN,),), "reject": ((TOKEN,),),
    "dismiss": ((TOKEN,),),
    "forget": ((TOKEN,),), "why": ((TOKEN,), ("pnpm",)), "evolution": ((TEXT,),),
    "diff": ((TOKEN,), ("today",)), "reason": ((f"Do we use {TEXT}?",),),
    "wonder": ((TEXT,), (f"pnpm {TOKEN}", "--note", f"pnpm may want {TEXT}")),
    "undo": ((),), "proposals": ((), ("accept", TOKEN)),
    "review": ((), ("keep", TOKEN), ("edit", "pnpm", TOKEN), ("scope", "pnpm", TOKEN)),
    "onboard": ((), (TOKEN,)), "init": ((), (TOKEN,)),
    "sync": ((), (TOKEN,), ("folder", TOKEN), ("join", TOKEN)), "sync-serve": ((TOKEN, TOKEN),),
    "team": ((), (TOKEN,), ("create", TOKEN), ("join", TOKEN)), "share": (("pnpm",), (TOKEN,)),
    "unshare": ((TOKEN,),), "server": ((TOKEN,), ("token", "create", TOKEN)),
    "export": ((), (TOKEN,)), "import": ((TOKEN,),), "backup": ((TOKEN,),),
    "restore": ((TOKEN,),),
    "audit": ((),), "scopes": ((), ("create", TOKEN), ("subscribe", TOKEN), ("share", "pnpm", TOKEN)),
    "retention": ((), ("prune",), ("restore", TOKEN)), "stats": ((),), "install": (("--yes",),),
    "uninstall": (("--yes",),), "status": ((),), "service": ((TOKEN,), ("status",)), "ping": ((),),
    "hook": (), "mcp": (), "completion": (),
    "config": (
        ("get", TOKEN), ("set", TOKEN, TOKEN), ("set", "learn", TOKEN), ("list",), ("set", "model", TOKEN),
        ("set", "model", f"https://host/v1/embeddings?k={TOKEN}#model=m"), ("set", "reranker", f"/{TOKEN}/r"),
        ("set", "model", f"https://host/v1/embeddings#model=m&key={TOKEN}"),
        ("set", "reader.mode", TOKEN), ("set", "reader.agent", TOKEN), ("set", "reader.model", TOKEN),
        ("set", "reader.url", f"https://host/{TOKEN}/v1"), ("set", "reader.url", f"https://me:{TOKEN}@host/v1"),
        ("set", "reader.key_env", TOKEN), ("set", "reader.file", f"/{TOKEN}/m.gguf"), ("set", "nudge", TOKEN),
    ),
    "redact-scan": ((), ("--apply", "--yes")), "health": ((), ("--deep",)), "schema-check": ((),),
    "home": ((),), "agents": ((),), "index": ((),), "rebuild": ((),), "sweep": ((),),
    "re-embed": ((), ("--only-missing",)),
}  # fmt: skip
# Every MCP tool with its text arguments.
TOOLS = {
    "search": ("query", "in", "project", "agent", "since"), "timeline": ("around", "project"),
    "get": ("id", "ids", "project"),
    "remember": ("items", "text", "kind", "quote", "scope", "replaces", "project"),
    "correct": ("id", "text", "quote", "kind", "project"), "forget": ("id", "project"),
    "checkpoint": (
        "goal", "done", "pending", "decisions", "files", "plans", "references", "questions", "notes",
        "status", "session", "project",
    ),
    "sessions": ("project", "agent", "since"), "files": ("project", "agent", "since"),
    "wonder": ("topic", "project"), "reason": ("question", "project"), "feedback": ("id", "project"),
}  # fmt: skip
# Commands that print from told's files.
PRINTING = (
    ("list",), ("files",), ("repos",), ("timeline",), ("checkpoints",), ("memories", "--all"), ("stats",),
    ("search", "greet"), ("search", "never print"), ("brief",), ("brief", "--prompt", "never print these"),
    ("scopes",), ("review",),
    ("explain", "never print these"), ("proposals",), ("audit",), ("health",), ("diff", "yesterday"),
)  # fmt: skip
# Variables that told reads.
VARIABLES = (
    "AI_AGENT", "ANTIGRAVITY_AGENT", "AUGMENT_AGENT", "CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLINE_ACTIVE",
    "CODEX_CI", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID", "COPILOT_AGENT",
    "COPILOT_AGENT_SESSION_ID", "COPILOT_CLI", "CURSOR_AGENT", "CURSOR_TRANSCRIPT_PATH", "GEMINI_CLI",
    "GEMINI_SESSION_ID", "GOOSE_TERMINAL", "OPENCODE", "OPENCODE_CLIENT", "OPENCODE_SESSION_ID", "QWEN_CODE",
    "QWEN_SESSION_ID", "TRAE_AI_SHELL_ID",
)  # fmt: skip
PLACES = (
    "APPDATA", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "CONTINUE_GLOBAL_DIR", "COPILOT_HOME", "LOCALAPPDATA",
    "QODER_CONFIG_DIR", "QWEN_HOME", "USERPROFILE", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
)  # fmt: skip
