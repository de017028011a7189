"""Notes on each agent for docs/agents.md, beside what its package in `told.agents` says."""

from __future__ import annotations

from typing import NamedTuple

HEAD = """# Agents

{written}

told reads the files that these agents write on this machine, and never changes them. `told agents` lists
those found here. Readers marked "no" below follow documentation, published source code and other readers, and
may miss something: **VS Code, JetBrains, Neovim, Cursor, Qoder and SpecStory were not tested with a real
run.** If one of them is wrong for you, `told health` shows what could not be read.

What is imported from a session:

- **prompts**: what you typed, without what the agent added to it;
- **answers**: what the agent said to you;
- **steps**: its thoughts, if recorded, and one line about each tool call; no tool output;
- **files**: which files it read, edited, created or deleted;
- **refs**: commits and pull requests that its records name. URLs of pull requests and issues in prompts and
  answers are found for every agent;
- **checkpoints**: hand-over notes and the summaries of compactions.

To use another folder for an agent, or to turn it off, see [`config.toml`](config.md). Paths below
`~/.config` and `~/.local` follow `XDG_CONFIG_HOME`, `XDG_DATA_HOME` and `XDG_STATE_HOME`.
"""

_TALK = ("prompts", "answers")
_WORK = (*_TALK, "steps", "files")


class Note(NamedTuple):
    """The notes on one agent."""

    about: str
    taken: tuple[str, ...]
    seen: str = ""  # versions tested with files of a real run


NOTES = {
    "aider": Note(
        "The chat history that Aider appends to in each project. Aider records no ids, and only the start "
        "time of a chat, so all turns of a chat have that time. told looks in the projects it knows and "
        "in the current folder.",
        (*_WORK, "refs"), "0.86",
    ),
    "claude-code": Note(
        "Transcripts of sessions and their subagents, from Claude Code 1.0 and 2. Turns that Claude Code "
        "copies into another file when a session continues are imported once. Claude Code deletes "
        "transcripts after 30 days by default; told keeps their text in its archive.",
        (*_WORK, "refs", "checkpoints"), "1.0.61, 2.1.76, 2.1.325",
    ),
    "cline": Note(
        "Sessions of the CLI, and tasks of the extension in VS Code and related editors. Only files of "
        "the CLI were tested with a real run; the reader of the extension follows its documentation. "
        "`CLINE_DIR` moves the folder of the CLI.",
        (*_WORK, "checkpoints"), "CLI 3.0.65",
    ),
    "codex": Note(
        "Rollout files in all three forms that Codex has used, including archived ones, and its databases "
        "for the names of threads and for threads whose file is gone.",
        (*_WORK, "checkpoints"), "0.44, 0.166",
    ),
    "continue": Note(
        "One JSON document for each session of the CLI `cn`; the extension uses the same folder and was "
        "not tested. The documents have no times, so all turns have the start time of the session in the "
        "index.",
        (*_WORK, "checkpoints"), "CLI 1.5.47",
    ),
    "copilot-cli": Note(
        "The events of each session, the plan and checkpoints beside them, and `session-store.db` for the "
        "rest. Copilot CLI writes the database only if its session store is turned on.",
        (*_WORK, "refs", "checkpoints"), "1.0.102",
    ),
    "cursor": Note(
        "The editor's state databases with its composers, and the transcripts of its agents as JSON lines "
        "or plain text. Transcripts have no times.",
        (*_WORK, "checkpoints"),
    ),
    "gemini-cli": Note(
        "One document or one log for each chat, and the chats of subagents. `GEMINI_CLI_HOME` sets "
        "another home folder. A chat is read again as a whole when its file changes.",
        (*_WORK, "checkpoints"), "0.33, 0.61",
    ),
    "jetbrains-copilot": Note(
        "Event lines of newer plugins, and what can be recovered from the object stores of older ones.",
        _WORK,
    ),
    "neovim": Note(
        "Chats of CopilotChat.nvim, of CodeCompanion with its history extension, and of Avante, in their "
        "default folders.",
        (*_WORK, "checkpoints"),
    ),
    "opencode": Note(
        "The database, and the JSON files of versions before 1.2.",
        (*_WORK, "checkpoints"), "1.1.65, 1.18",
    ),
    "qoder": Note(
        "Transcripts of the CLI, which reportedly have the form of Claude Code's. The "
        "chats of the Qoder editor are encrypted and cannot be read.",
        (*_WORK, "refs", "checkpoints"),
    ),
    "qwen-code": Note(
        "The log of each session and its subagents. `QWEN_RUNTIME_DIR` is read too.",
        (*_WORK, "checkpoints"), "0.24",
    ),
    "specstory": Note(
        "Markdown files that SpecStory writes into a project. They are copies of other agents' sessions.",
        _WORK,
    ),
    "vscode-copilot": Note(
        "Chat sessions of VS Code, Insiders and VSCodium, also remote, portable, Flatpak and Snap: JSON "
        "documents, and the change logs of newer versions.",
        (*_WORK, "refs"),
    ),
}  # fmt: skip
