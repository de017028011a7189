"""What told offers beside its tools: how to use them, texts to read, and prompts for the user to pick."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

INSTRUCTIONS = (
    "told is the user's memory across sessions and agents. "
    "1. `search` gives ids, one line each. 2. `timeline` around an id shows what was around it. "
    "3. `get` gives the whole. "
    "When the user teaches or corrects you, `remember` it, with their exact words as quote. "
    "Write a `checkpoint` before the context is full and when the work ends. "
    "Give `project` if you work in another folder."
)

_MARKDOWN = "text/markdown"
_SHOWN = "told://show/"
_LONGEST_ADDRESS = 300
RESOURCES = (
    {"uri": "told://brief", "name": "brief", "description": "What to know at the start of a session here",
     "mimeType": _MARKDOWN},
    {"uri": "told://memories", "name": "memories", "description": "What is remembered, the newest first",
     "mimeType": _MARKDOWN},
)  # fmt: skip
TEMPLATES = (
    {"uriTemplate": _SHOWN + "{id}", "name": "show", "mimeType": _MARKDOWN,
     "description": "One memory, session, turn or checkpoint, whole"},
)  # fmt: skip
PROMPTS = (
    {"name": "checkpoint", "description": "Write a hand-over note of this session"},
    {"name": "recall", "description": "What is known about a topic",
     "arguments": [{"name": "topic", "description": "in plain words", "required": True}]},
)  # fmt: skip

_CHECKPOINT = (
    "Write a checkpoint of this session with told's `checkpoint` tool: the goal, what is done, "
    "what is pending, the decisions with their reasons, the files that matter, and open questions. "
    "Write only what the next session needs to go on, then tell me its id."
)
_RECALL = (
    "Find out what is known about this: {topic}\n\n"
    "Use told's `search`, then `timeline` around the ids that matter, then `get` for the whole of a few. "
    "Tell me what you found in a few sentences, with the ids. If nothing is known, say so."
)


def is_resource(uri: str) -> bool:
    """Return whether told could have a resource of that address."""
    if uri.startswith(_SHOWN):
        return len(_SHOWN) < len(uri) <= _LONGEST_ADDRESS
    return any(uri == one["uri"] for one in RESOURCES)


def prompt(name: str, arguments: dict[str, Any]) -> str:
    """Return the text of a prompt.

    Raises:
        ValueError: there is no such prompt, or it lacks an argument; the message says so.
    """
    if name == "checkpoint":
        return _CHECKPOINT
    if name != "recall":
        raise ValueError("There is no such prompt: ask for checkpoint or recall.")
    topic = arguments.get("topic")
    if not isinstance(topic, str) or not topic.strip():
        raise ValueError("`topic` is missing: say what to look for.")
    return _RECALL.format(topic=topic.strip())
