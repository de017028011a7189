"""The table of all commands. The help, the docs and the parser are made from it."""

from __future__ import annotations

from told.cli.arguments import Command, Option

JSON = Option("json", "print compact JSON")
LIMIT = Option("limit", "at most this many", "N", number=True, short="n")
DAYS = Option("days", "only the last N days", "N", number=True)
SINCE = Option("since", "only since then: 2026-11-03, yesterday, 'last week'", "WHEN")
AGENT = Option("agent", "only this agent's sessions", "NAME")
PROJECT = Option("project", "another project: its name, owner/name or path", "NAME")
EVERYWHERE = Option("all-projects", "all projects, not only the current one")
FORCE = Option("force", "do it; without it, only say what would be done")
KIND = Option("kind", "rule, correction, preference, decision, fact, warning …", "KIND")
SCOPE = Option("scope", "project, global, or the name of a shared scope", "NAME")
QUOTE = Option("quote", "for agents: the user's own words that say so", "TEXT")
AGENTS = Option("agent", "this agent; give it again for more", "NAME", many=True)
WIRED_SCOPE = Option("scope", "user: everywhere; project: only here", "WHERE")
YES = Option("yes", "ask nothing")
_WHERE = (LIMIT, DAYS, SINCE, AGENT, PROJECT, EVERYWHERE, JSON)

COMMANDS = (
    Command(
        "list", "sessions, the latest first",
        "told.cli.sessions", "list_sessions", options=_WHERE, tier=1,
        rows="A row: last activity, id, agent, project@branch, turns (2t), what it is about.",
    ),
    Command(
        "files", "files that sessions touched, the latest first",
        "told.cli.files", "files", options=_WHERE, tier=1,
        rows="A row: when, what was done with it, the file, the session's id.",
    ),
    Command(
        "search", "find what was said, in plain words",
        "told.cli.searching", "search", operand="QUERY…", needs_operand=True, tier=2,
        options=(
            Option("in", "memories, sessions, checkpoints, or all; else all", "WHERE"),
            Option("deep", "let a model of yours look at the first results again"), *_WHERE,
        ),
        rows="Looks in the current project first. Words in double quotes must stand just so.\n"
        "Memories first; below each session its best turn (.3: `told show ID.3`) and how\n"
        "many more (+2).",
    ),
    Command(
        "show", "one session, turn, checkpoint or memory, by its id",
        "told.cli.showing", "show", operand="ID", needs_operand=True, tier=3,
        options=(Option("turns", "list every turn"), Option("full", "print texts whole"), JSON),
        rows="Ids come from `told list` and `told search`; the agent's own do as well. Their\n"
        "first letters are enough. ID.3 is turn 3 of a session.",
    ),
    Command(
        "checkpoints", "hand-over notes of sessions, the latest first",
        "told.cli.checkpoints", "checkpoints", operand="[export ID]…", tier=1,
        options=(Option("copy", "export: to the clipboard"), *_WHERE),
        rows="A row: when, id, agent, session, status, title; below it, what is next.\n"
        "`told show ID` has all of it, `export ID` prints it as Markdown.",
    ),
    Command(
        "checkpoint", "write a hand-over note of a session",
        "told.cli.checkpoint", "checkpoint", operand="[GOAL]…", tier=1, learns=True,
        options=(
            Option("goal", "what the work is for; or just say it in words", "TEXT"),
            Option("done", "what is done; as often as needed, like the next six", "TEXT", many=True),
            Option("pending", "what is left to do", "TEXT", many=True),
            Option("decision", "what was decided, and why", "TEXT", many=True),
            Option("file", "a file that matters; else what the session or git shows", "PATH", many=True),
            Option("plan", "a plan, or the file it is in", "TEXT", many=True),
            Option("reference", "a commit, an issue, an address", "TEXT", many=True),
            Option("question", "what is open", "TEXT", many=True),
            Option("note", "anything else, as Markdown", "TEXT"),
            Option("title", "a name for it in one line; else made of the goal", "TEXT"),
            Option("status", "open or closed; open if not given", "STATUS"),
            Option("close", "write nothing, only close this one", "ID"),
            Option("session", "the session it belongs to; else the one that runs", "ID"),
            Option("stdin", "take a JSON object with these fields from standard input"), JSON,
        ),
        rows="Without anything: made of what the transcript shows of the session that runs, or\n"
        "was the last in the project. It is a Markdown file that you can edit; the next\n"
        "session in the project is offered it. Prints its id, its status and its path.",
    ),
    Command(
        "brief", "what an agent should know at a start, or for a prompt",
        "told.cli.briefs", "brief", tier=1,
        options=(
            Option("start", "for the start of a session; this is the default"),
            Option("prompt", "only what this prompt needs", "TEXT"),
            Option("budget", "at most this many tokens; else as `told config` has it", "N", number=True),
            Option("session", "leave out what this session was shown, and note the rest", "ID"),
            Option("again", "say it again all the same: the session was compacted"),
            Option("tools", "with --prompt: also what tools and files said"), JSON,
        ),
        rows="Where the last session stopped, what holds here, and background; each line\n"
        "with its date and who said it. Where nothing is needed, nothing is printed.",
    ),
    Command(
        "explain", "why a prompt's brief says what it says",
        "told.cli.briefs", "explain", operand="PROMPT…", needs_operand=True, learns=True, options=(JSON,),
        rows="For each memory: in or out, its score, and what each layer gave to it.",
    ),
    Command(
        "repos", "projects, the latest first",
        "told.cli.sessions", "repos", options=(LIMIT, DAYS, SINCE, AGENT, JSON), tier=1,
        rows="A row: last activity, project, sessions (12s), turns (140t), agents.",
    ),
    Command(
        "timeline", "what was asked, across sessions, the latest first",
        "told.cli.sessions", "timeline", tier=2,
        options=(Option("around", "what was before and after it, whatever it is the id of", "ID"), *_WHERE),
        rows="A row: when, the turn's id, agent, project, what you asked.",
    ),
    Command(
        "remember", "keep a statement for every later session",
        "told.cli.memories", "remember", operand="TEXT…", needs_operand=True,
        learns=True,
        options=(KIND, SCOPE, Option("lock", "and lock it: only you can change it then"), QUOTE, JSON),
        rows="Without --scope it holds for the project of the current folder. What says the\n"
        "same again counts for what is known; what replaces an old one ends it, unless\n"
        "that is locked.",
    ),
    Command(
        "memories", "what is remembered, the newest first",
        "told.cli.memories", "memories", operand="WORDS…",
        learns=True, options=(
            KIND, SCOPE, Option("status", "active, superseded, quarantined, archived, forgotten", "STATUS"),
            Option("source", "only from this agent's sessions, terminal, or file", "NAME"),
            Option("locked", "only locked ones"),
            Option("all", "also notes on what agents did"),
            PROJECT, EVERYWHERE, LIMIT, JSON,
        ),
        rows="A row: when, id, kind, scope, locked, what it says. WORDS must all stand in it.",
    ),
    Command(
        "correct", "put a new statement in the place of an old one",
        "told.cli.memory_changes", "correct", operand="OLD NEW…", needs_operand=True,
        learns=True, options=(KIND, QUOTE, JSON),
        rows="OLD is an id, or words in quotes that only one memory has.",
    ),
    Command(
        "lock", "make sure that only you can change a memory",
        "told.cli.memory_changes", "lock", operand="ID|TEXT…", needs_operand=True,
        learns=True, options=(KIND, SCOPE, QUOTE, JSON),
        rows="A statement of three words or more is remembered and locked.",
    ),
    Command(
        "unlock", "let a memory be changed again",
        "told.cli.memory_changes", "unlock", operand="ID…", needs_operand=True, learns=True, options=(JSON,),
    ),
    Command(
        "confirm", "say that a memory is right",
        "told.cli.memory_changes", "confirm", operand="ID…", needs_operand=True, learns=True, options=(JSON,),
    ),
    Command(
        "reject", "say that a memory is not right, or not of use",
        "told.cli.memory_changes", "reject", operand="ID…", needs_operand=True, learns=True, options=(JSON,),
    ),
    Command(
        "forget", "erase memories or checkpoints for good",
        "told.cli.memory_forget", "forget", operand="ID…",
        learns=True, options=(
            Option("session", "this session, and all that comes from it", "ID"),
            Option("since", "all that were made since then", "WHEN"),
            Option("source", "all from this agent's sessions, terminal, or file", "NAME"), FORCE, JSON,
        ),
        rows="This cannot be undone. Of what was said no byte stays in told's own files,\n"
        "and it is not read in again.",
    ),
    Command(
        "why", "where a memory comes from, and all that happened to it",
        "told.cli.memory_history", "why", operand="ID…", needs_operand=True, learns=True, options=(JSON,),
    ),
    Command(
        "evolution", "how what is known of a topic developed",
        "told.cli.memory_history", "evolution", operand="ID|TOPIC…", needs_operand=True,
        learns=True, options=(JSON,),
    ),
    Command(
        "diff", "what happened to memories since a time",
        "told.cli.memory_history", "diff", operand="SINCE…", needs_operand=True,
        learns=True, options=(EVERYWHERE, JSON),
    ),
    Command(
        "wonder", "what is known, contested and missing around a topic",
        "told.cli.wondering", "wonder", operand="TOPIC…", needs_operand=True, tier=2, learns=True,
        options=(Option("note", "keep a guess about it for 14 days; no brief has it", "TEXT"), JSON),
        rows="Last come questions to look into, each with its reason and where to look:\n"
        "memories (`told why ID`), turns (`told show ID.3`) and files.",
    ),
    Command(
        "reason", "evidence for and against, and a verdict, from memories",
        "told.cli.reasoning", "reason", operand="QUESTION…", needs_operand=True, tier=2, learns=True,
        options=(JSON,),
        rows="Ask: do we …, X or Y, why …, what, when or where … The figure is how sure it is:\n"
        "what several sessions say counts more, what speaks against it takes away.",
    ),
    Command(
        "undo", "take back your last command about memories",
        "told.cli.memory_changes", "undo",
        learns=True, options=(Option("of", "the last one that touched this memory", "ID"), JSON),
    ),
    Command(
        "proposals", "what agents asked for and only you can do",
        "told.cli.memory_changes", "proposals", operand="[accept|decline ID]…", learns=True, options=(JSON,),
    ),
    Command(
        "onboard", "learn a project from its README, instructions and history",
        "told.cli.onboard", "onboard", operand="[PATH]", learns=True,
        options=(Option("dry-run", "only say what would be learned"), JSON),
        rows="Without PATH: the project of the current folder. What files say is kept as\n"
        "theirs: it can be searched, and is never put before an agent unasked. Run it\n"
        "again when files have changed.",
    ),
    Command(
        "init", "let a project keep its own memories, in its folder .told",
        "told.cli.projects", "init", operand="[PATH]", options=(JSON,),
        rows="Without PATH: the project of the current folder. What is learned about it from\n"
        "then on stands there and goes where the folder goes; what was known before stays\n"
        "in told's own journal. `.told/` is added to its .gitignore.",
    ),
    Command(
        "audit", "memories that are outdated, contradict or repeat each other",
        "told.cli.memory_audit", "audit", learns=True, options=(EVERYWHERE, LIMIT, JSON),
        rows="Below each memory: what is wrong, and the command that puts it right. Nothing\n"
        "is changed. Of the current project and the global ones.",
    ),
    Command(
        "scopes", "what is shared between projects",
        "told.cli.memory_scopes", "scopes", operand="[create|subscribe|unsubscribe|share …]…", learns=True,
        options=(JSON,),
        rows="`create NAME` makes a shared scope; `subscribe NAME` lets it hold in the current\n"
        "project, `unsubscribe NAME` no longer; `share ID NAME` moves a memory to it.",
    ),
    Command(
        "retention", "what faded because nobody needed it, and back",
        "told.cli.retention", "retention", operand="[prune|archived|restore ID…]…", learns=True,
        options=(
            Option("days", "prune: a window of N days instead of the configured one", "N", number=True),
            FORCE, Option("all", "restore: everything that is archived"), LIMIT, JSON,
        ),
        rows="`prune` lists what would go to the archive, and why; --force does it. `archived`\n"
        "lists what is there, `restore ID…` brings it back as it was. What you locked or\n"
        "confirmed, and what was needed lately, never fades.",
    ),
    Command(
        "stats", "what is remembered, what it costs, whether it helps",
        "told.cli.memory_stats", "stats", learns=True, options=(JSON,),
    ),
    Command(
        "install", "wire the agents on this machine: hooks, instructions",
        "told.cli.wiring", "install",
        options=(
            AGENTS, WIRED_SCOPE,
            Option("profile", "which hooks: none, minimal or full", "WHICH"),
            Option("dry-run", "only say what would be written"),
            Option("service", "let a background service answer prompts"), YES, JSON,
        ),
        rows="Without --agent: every agent that is found. Without --profile: minimal, or what\n"
        "the agent has; `none` writes no hooks, `full` one more that may stop tool calls.\n"
        "`told uninstall` takes everything back.",
    ),
    Command(
        "uninstall", "take told out of agents' files again",
        "told.cli.unwiring", "uninstall",
        options=(AGENTS, WIRED_SCOPE, Option("purge", "and delete all that told knows"), YES, JSON),
        rows="Files are as they were before told, to the byte; what you changed in them\n"
        "meanwhile stays.",
    ),
    Command(
        "status", "what is wired into each agent, and whether it works",
        "told.cli.wiring_status", "status", options=(AGENTS, JSON),
    ),
    Command(
        "service", "the background service that may answer prompts",
        "told.cli.services", "service", operand="start|stop|status", needs_operand=True, options=(JSON,),
        rows="`told install --service` sets it up. It listens on this machine alone, answers\n"
        "only hooks that have its token, and leaves after half an hour without any.",
    ),
    Command(
        "ping", "ask the background service whether it is there",
        "told.cli.services", "ping_service", options=(JSON,),
        rows="Ends with 0 if it answers, with 1 if it does not run, and with 3 if it hangs.",
    ),
    Command(
        "hook", "what agents run: answers one call on standard input",
        "told.cli.hooks", "hook", operand="AGENT EVENT", needs_operand=True, bare=True,
        rows="EVENT: start, prompt, compact, compacted, stop, end, helper or tool, or what the\n"
        "agent calls it. Always ends with 0, within 300 ms; with TOLD_DEBUG=1 it logs.",
    ),
    Command(
        "mcp", "the server through which agents ask told, on standard input",
        "told.cli.mcp", "mcp", bare=True,
        rows="Agents start it: `told install` writes it into their files. It speaks the Model\n"
        "Context Protocol, one message a line.",
    ),
    Command(
        "config", "your settings: what holds, where it comes from, changes",
        "told.cli.config", "config", bare=True,
        operand="list|path|get KEY|set KEY VALUE|unset KEY|…",
        options=(Option("default", "with `set KEY`: as it usually is"), JSON),
        rows="A row: the setting, its value, where that comes from. `add-rule NAME PATTERN\n"
        "EXAMPLE` takes out one more kind of secret; `remove-rule NAME` no longer.",
    ),
    Command(
        "redact-scan", "what older data would lose under today's rules",
        "told.cli.redact_scan", "redact_scan",
        options=(Option("apply", "take it out everywhere, for good"), YES, JSON),
        rows="Nothing is changed without --apply. It goes from the journal, both databases,\n"
        "the archive, notes and logs; agents' own files are named and stay as they are.",
    ),
    Command(
        "health", "whether everything works, and the one thing to do",
        "told.cli.health", "health",
        options=(Option("deep", "also look at every byte of told's own files"), JSON),
    ),
    Command(
        "schema-check", "whether agents' databases have the columns told reads",
        "told.cli.health", "schema_check", options=(AGENT, JSON),
    ),
    Command(
        "agents", "which agents are found on this machine, and where",
        "told.cli.health", "agents", options=(JSON,),
    ),
    Command("index", "read all new history now", "told.cli.upkeep", "index", options=(JSON,)),
    Command(
        "rebuild", "make told's databases anew from agents' files and journal",
        "told.cli.upkeep", "rebuild", options=(JSON,), mends=True,
    ),
    Command(
        "re-embed", "make the vectors that compare meanings anew",
        "told.cli.re_embed", "re_embed",
        options=(Option("only-missing", "only those that are not there yet"), JSON),
        rows="With the model that is set: `told config get model`. Stopped with Ctrl-C, it\n"
        "goes on where it was next time.",
    ),
    Command("sweep", "read the rest of the history quietly", "told.cli.upkeep", "sweep", hidden=True),
)  # fmt: skip


def command_named(name: str) -> Command | None:
    """Return a command by its name."""
    return next((command for command in COMMANDS if command.name == name), None)
