"""The form in which each agent wants its answers, checked strictly: what does not fit is dropped there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from told.text import count_tokens

if TYPE_CHECKING:
    from tests.hook.desk import Said

CLAUDE_LIKE = ("claude-code", "codex", "gemini-cli", "qwen-code", "qoder", "vscode-copilot")
_MOST_CHARACTERS = 10_000  # Claude Code
_MOST_BYTES = 10_000  # Codex
_BUDGET = 800  # tokens of a brief
_AROUND = 30  # tokens of the tags and the one line that says what it is
_DECIDING = (
    "decision",
    "permission",
    "permissionDecision",
    "continue",
    "cancel",
    "stopReason",
    "modifiedPrompt",
)


def context_of(said: Said, agent: str, name: str, *, prompt: bool = False) -> str:
    """Check an answer against the agent's own form, and return what it puts before the model.

    Args:
        said: What the hook printed.
        agent: Whose form it must have.
        name: Of the event, as the agent calls it.
        prompt: Whether a prompt was answered.
    """
    assert (said.code, said.err) == (0, "")
    if not said.out:
        return ""
    given = said.json
    if agent in CLAUDE_LIKE:
        assert list(given) == ["hookSpecificOutput"]
        inner = given["hookSpecificOutput"]
        assert inner["hookEventName"] == name
        assert list(inner) == ["hookEventName", "additionalContext"]
        text = inner["additionalContext"]
    elif agent in ("copilot-cli", "opencode"):
        assert list(given) == ["additionalContext"]
        text = given["additionalContext"]
    elif agent == "cursor":
        assert given == {"additional_context": given["additional_context"]} | (
            {"continue": True} if prompt else {}
        )
        text = given["additional_context"]
    else:
        assert agent == "cline"
        assert given == {"cancel": False, "contextModification": given["contextModification"]}
        text = given["contextModification"]
    assert isinstance(text, str)
    assert text
    assert within_limits(text)
    return text


def within_limits(text: str) -> bool:
    """Tell whether a text is as short as the strictest agent and told's own promise want it."""
    return (
        len(text) <= _MOST_CHARACTERS
        and len(text.encode()) <= _MOST_BYTES
        and count_tokens(text) <= _BUDGET + _AROUND
    )


def denies(given: dict[str, Any]) -> bool:
    """Tell whether an answer could keep an agent from anything."""
    inner = given.get("hookSpecificOutput", {})
    return any(
        place.get(name)
        not in (None, True if name == "continue" else None, False if name == "cancel" else None)
        for place in (given, inner)
        for name in _DECIDING
    )
