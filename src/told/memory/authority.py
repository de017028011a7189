"""Who runs a command: the user, or an agent in its shell, known by the variables that agents set there."""

from __future__ import annotations

from told.record import record
from told.store.memory_records import AGENT, USER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

# A variable that an agent sets for what it runs, the agent, and the variable with the session's id, if any.
# Only what no user sets by hand: CODEX_HOME or COPILOT_MODEL say nothing about who is typing, and
# CURSOR_TRACE_ID is there in the terminal of the editor, too.
_SIGNS = (
    ("CLAUDECODE", "claude-code", "CLAUDE_CODE_SESSION_ID"),  # every command and hook
    ("CLAUDE_CODE_SESSION_ID", "claude-code", "CLAUDE_CODE_SESSION_ID"),  # MCP servers, which lack CLAUDECODE
    ("CODEX_THREAD_ID", "codex", "CODEX_THREAD_ID"),  # every command
    ("CODEX_SANDBOX", "codex", "CODEX_THREAD_ID"),  # commands in the sandbox of macOS
    ("CODEX_SANDBOX_NETWORK_DISABLED", "codex", "CODEX_THREAD_ID"),  # commands in any sandbox
    ("CODEX_CI", "codex", "CODEX_THREAD_ID"),  # commands that run in a terminal of the agent's
    ("QWEN_CODE", "qwen-code", "QWEN_SESSION_ID"),  # every command; before Gemini's, whose child it is
    ("GEMINI_CLI", "gemini-cli", "GEMINI_SESSION_ID"),  # every command
    ("GEMINI_SESSION_ID", "gemini-cli", "GEMINI_SESSION_ID"),  # hooks
    ("COPILOT_CLI", "copilot-cli", "COPILOT_AGENT_SESSION_ID"),  # every command
    ("COPILOT_AGENT_SESSION_ID", "copilot-cli", "COPILOT_AGENT_SESSION_ID"),  # every command
    ("COPILOT_AGENT", "copilot-cli", ""),  # the agent that works on GitHub
    ("OPENCODE", "opencode", "OPENCODE_SESSION_ID"),  # the whole process
    ("OPENCODE_CLIENT", "opencode", "OPENCODE_SESSION_ID"),  # the same, newer
    ("CURSOR_AGENT", "cursor", ""),  # commands of the agent, not the terminal of the editor
    ("CURSOR_TRANSCRIPT_PATH", "cursor", ""),  # hooks
    ("CLINE_ACTIVE", "cline", ""),  # the terminal that it opens
    ("AUGMENT_AGENT", "augment", ""),  # every command
    ("ANTIGRAVITY_AGENT", "antigravity", ""),  # every command
    ("TRAE_AI_SHELL_ID", "trae", ""),  # every command
    ("GOOSE_TERMINAL", "goose", ""),  # every command
    ("AI_AGENT", "agent", ""),  # the name that several agents agreed on
)
_NO = ("", "0", "false", "off", "no")


@record
class Caller:
    """Who gives a command."""

    by: str = USER  # or agent
    agent: str = ""
    session: str = ""  # the agent's own id of it
    sign: str = ""  # the variable that gave the agent away

    @property
    def is_user(self) -> bool:
        """Whether it is the user's own word."""
        return self.by == USER


def caller(environ: Mapping[str, str]) -> Caller:
    """Return who runs a command with this environment; a script without any sign is the user's."""
    for name, agent, session in _SIGNS:
        if environ.get(name, "").lower() not in _NO:
            return Caller(AGENT, agent, environ.get(session, "") if session else "", name)
    return Caller()
