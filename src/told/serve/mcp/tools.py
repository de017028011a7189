"""The table of all tools, in the words that every session of every agent pays for."""

from __future__ import annotations

from told.serve.mcp.protocol import Tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_NUMBER = {"type": "integer"}
_YES = {"type": "boolean"}
_PROJECT = {"project": _TEXT}  # its name or a folder: every tool takes it


def _takes(needed: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return schema | {"required": needed.split()} if needed else schema


TOOLS = (
    Tool(
        "search", "Find memories, past sessions and checkpoints by plain words.",
        _takes(
            "query", query=_TEXT,
            **{"in": {"type": "string", "enum": ["memories", "sessions", "checkpoints", "all"]}},
            project=_TEXT, limit=_NUMBER,
        ),
        read_only=True, more={"agent": _TEXT, "since": _TEXT},
    ),
    Tool(
        "timeline", "What was before and after an id; without: the latest.",
        _takes("", around=_TEXT, project=_TEXT, limit=_NUMBER), read_only=True,
    ),
    Tool(
        "get", "The whole memory, session, turn (ID.3) or checkpoint.",
        _takes("id", id=_TEXT, full=_YES), read_only=True, more=_PROJECT,
    ),
    Tool(
        "remember", "Keep what the user teaches for later sessions, as one self-contained statement.",
        _takes(
            "text", text=_TEXT,
            kind={"type": "string", "enum": ["rule", "preference", "decision", "fact", "warning"]},
            quote={"type": "string", "description": "user's exact words"},
            scope={"type": "string", "description": "project or global"},
        ),
        more=_PROJECT,
    ),
    Tool(
        "correct", "Replace a memory that no longer holds.",
        _takes("id text", id=_TEXT, text=_TEXT, quote=_TEXT), more=_PROJECT | {"kind": _TEXT},
    ),
    Tool(
        "forget", "Erase for good; only if the user asks.",
        _takes("id", id=_TEXT), destructive=True, more=_PROJECT,
    ),
    Tool(
        "checkpoint", "Hand the work over to the next session.",
        _takes(
            "goal", goal=_TEXT, done=_TEXTS, pending=_TEXTS, decisions=_TEXTS, files=_TEXTS, plans=_TEXTS,
            references=_TEXTS, questions=_TEXTS, notes=_TEXT,
        ),
        more=_PROJECT | {"status": {"type": "string", "enum": ["open", "closed"]}, "session": _TEXT},
    ),
    Tool(
        "sessions", "Past sessions, latest first.",
        _takes("", project=_TEXT, agent=_TEXT, limit=_NUMBER), read_only=True, more={"since": _TEXT},
    ),
    Tool(
        "files", "Files that sessions touched, latest first.",
        _takes("", project=_TEXT, limit=_NUMBER), read_only=True, more={"agent": _TEXT, "since": _TEXT},
    ),
    Tool(
        "wonder", "What is known, contested and missing on a topic.",
        _takes("topic", topic=_TEXT), read_only=True, more=_PROJECT,
    ),
    Tool(
        "reason", "Evidence for and against, and a verdict, from memories.",
        _takes("question", question=_TEXT), read_only=True, more=_PROJECT,
    ),
    Tool(
        "feedback", "Say if a memory was of use.",
        _takes("id useful", id=_TEXT, useful=_YES), more=_PROJECT,
    ),
)  # fmt: skip


def tool_named(name: str) -> Tool | None:
    """Return the tool of that name."""
    for tool in TOOLS:
        if tool.name == name:
            return tool
    return None


def listed(tool: Tool) -> dict[str, Any]:
    """Return a tool as agents are told of it."""
    # What is not said to be harmless is taken to be destructive.
    hints = {"readOnlyHint": True} if tool.read_only else {"destructiveHint": tool.destructive}
    return {"name": tool.name, "description": tool.about, "inputSchema": tool.schema, "annotations": hints}
