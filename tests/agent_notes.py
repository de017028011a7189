"""What docs/agents.md says of each agent beside what its own file in `told.agents` says."""

from __future__ import annotations

from typing import NamedTuple

HEAD = """# Agents

{written}

told reads the files that these agents write on this machine, and never changes them. `told agents` says
which of them are found here. Files of the agents that say "no" below were never seen from a real run: their
readers follow documentation, published source code and other readers, and may miss something. **VS Code,
JetBrains, Neovim, Cursor, Qoder and SpecStory have not been seen run.** If one of them is wrong for you,
`told health` shows what could not be read.

What is taken from a session:

- **prompts**: what you typed, and nothing that the agent added to it;
- **answers**: what the agent said to you;
- **steps**: its thoughts where they are written down, and one line about each tool call; never tool output;
- **files**: which files it read, edited, created or deleted;
- **refs**: commits and pull requests that its records name. Addresses of pull requests and issues in prompts
  and answers are found for every agent;
- **checkpoints**: hand-over notes and the summaries of compactions.

Another folder, or none, can be set for each agent in [`config.toml`](config.md). Paths that begin with
`~/.config` and `~/.local` follow `XDG_CONFIG_HOME`, `XDG_DATA_HOME` and `XDG_STATE_HOME` where these are set.
"""

_TALK = ("prompts", "answers")
_WORK = (*_TALK, "steps", "files")


class Note(NamedTuple):
    """What is said of one agent."""

    about: str
    taken: tuple[str, ...]
    seen: str = ""  # the versions whose files were read; empty for an agent that was never seen run


NOTES = {
    "aider": Note(
        "The chat history that Aider appends to in each project. Aider writes no ids and no times but the "
        "start of a chat, so all turns of a chat have that time. `told` looks in the projects it knows and "
        "in the current folder.",
        (*_WORK, "refs"), "0.86",
    ),
    "claude-code": Note(
        "The transcripts of sessions and of their helpers, of Claude Code 1.0 and 2. Turns that Claude "
        "Code copied into another file when a session was continued are kept once. Claude Code deletes "
        "transcripts after 30 days by default; told keeps their text in its archive.",
        (*_WORK, "refs", "checkpoints"), "1.0.61, 2.1.76, 2.1.325",
    ),
    "cline": Note(
        "Sessions of the CLI, and tasks of the editor extension in VS Code and its relatives. Only "
        "files of the CLI were read from a real run; those of the extension follow its documentation. "
        "`CLINE_DIR` moves the folder of the CLI.",
        (*_WORK, "checkpoints"), "CLI 3.0.65",
    ),
    "codex": Note(
        "Rollout files in all three forms that Codex has written so far, archived ones as well, and its "
        "databases for the names of threads and for threads whose file is gone.",
        (*_WORK, "checkpoints"), "0.44, 0.166",
    ),
    "continue": Note(
        "One JSON document for each session of the CLI `cn`; the editor extension keeps its sessions in the "
        "same place and was not seen run. The documents hold no times, so "
        "all turns have the time at which the index says the session began.",
        (*_WORK, "checkpoints"), "CLI 1.5.47",
    ),
    "copilot-cli": Note(
        "The events of each session, the plan and checkpoints beside them, and `session-store.db` for what "
        "only it knows. Copilot CLI writes the database only where its session store is switched on.",
        (*_WORK, "refs", "checkpoints"), "1.0.102",
    ),
    "cursor": Note(
        "The editor's state databases with its composers, and the transcripts of its agents as JSON lines or "
        "plain text. Transcripts hold no times.",
        (*_WORK, "checkpoints"),
    ),
    "gemini-cli": Note(
        "One document or one log for each chat, and the chats of helpers. `GEMINI_CLI_HOME` names another "
        "home folder for Gemini CLI. A chat is read anew as a whole when its file changes.",
        (*_WORK, "checkpoints"), "0.33, 0.61",
    ),
    "jetbrains-copilot": Note(
        "The event lines of newer plugins, and what can be recovered from the object stores of older ones.",
        _WORK,
    ),
    "neovim": Note(
        "Chats of CopilotChat.nvim, of CodeCompanion with its history extension, and of Avante, where "
        "they keep them by default.",
        (*_WORK, "checkpoints"),
    ),
    "opencode": Note(
        "The database, and the tree of JSON files of versions before 1.2.",
        (*_WORK, "checkpoints"), "1.1.65, 1.18",
    ),
    "qoder": Note(
        "Transcripts of the CLI, which are said to have the form of Claude Code's. The chats of the Qoder "
        "editor are encrypted and cannot be read.",
        (*_WORK, "refs", "checkpoints"),
    ),
    "qwen-code": Note(
        "The log of each session and of its helpers. `QWEN_RUNTIME_DIR` is looked into as well.",
        (*_WORK, "checkpoints"), "0.24",
    ),
    "specstory": Note(
        "The Markdown files that SpecStory writes into a project. They are copies of other agents' sessions.",
        _WORK,
    ),
    "vscode-copilot": Note(
        "Chat sessions of VS Code, Insiders and VSCodium, also remote, portable, Flatpak and Snap: JSON "
        "documents and the logs of changes that newer versions write.",
        (*_WORK, "refs"),
    ),
}  # fmt: skip
