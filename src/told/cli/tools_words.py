"""The command that each tool stands for, with what the agent gave it."""

from __future__ import annotations

from told.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Bytes of an answer: 4,000 tokens, and 9,000 of whole texts.
ROOM, WHOLE_ROOM = 14_000, 32_000
EVERYWHERE = "*"
PROJECT, SESSION = "project", "session"
_AROUND, _SESSIONS, _LATEST = 5, 8, 10  # rows, where the agent asks for no other number
_LISTED = 50


@record
class Asked:
    """A command as it is to be run for an agent."""

    words: tuple[str, ...]
    finds: bool = False  # it looks for something: to find nothing is an answer
    belongs: str = ""  # what it writes belongs to this: a project, or at least a session
    room: int = ROOM
    more: str = ""  # how to get what there was no room for


def asked(tool: str, given: dict[str, Any]) -> Asked:
    """Return the command that a tool stands for."""
    return _TOOLS[tool](given)


def asked_to_read(uri: str) -> Asked | None:
    """Return the command that prints a resource; None if there is no such resource."""
    if uri == "told://brief":
        return Asked(("brief",), finds=True)
    if uri == "told://memories":
        return Asked(("memories", f"--limit={_LISTED}"), finds=True)
    name = uri.removeprefix("told://show/")
    return _get({"id": name, "full": True}) if name != uri and name else None


def _options(given: dict[str, Any], *names: str, **renamed: str) -> tuple[str, ...]:
    """Return what was given as options; a value that begins with a dash is a value all the same."""
    found = []
    for name, option in {**{name: name for name in names}, **renamed}.items():
        value = given.get(name)
        values = value if isinstance(value, list) else [] if value is None else [value]
        found += [f"--{option}={one}" for one in values]
    return tuple(found)


def _search(given: dict[str, Any]) -> Asked:
    # Without a limit: three memories and five sessions, within 600 tokens.
    options = _options(given, "in", "limit", "agent", "since")
    more = "Ask for fewer with `limit`."
    return Asked(("search", *options, "--", given["query"]), finds=True, more=more)


def _timeline(given: dict[str, Any]) -> Asked:
    usual = _AROUND if given.get("around") else _LATEST
    options = _options({"limit": usual, **given}, "around", "limit")
    return Asked(("timeline", *options), finds=not given.get("around"), more="Ask for fewer with `limit`.")


def _get(given: dict[str, Any]) -> Asked:
    name, full = given["id"], bool(given.get("full"))
    is_note = name.startswith("c") and name.isalnum()
    detail = "--full" if full or is_note else "--turns"
    more = "`get` with ID.3 gives turn 3 whole"
    more += "; `told show ID.3 --full` has no limit." if full else ", `full` gives more of everything."
    return Asked(("show", detail, "--", name), room=WHOLE_ROOM if full else ROOM, more=more)


def _remember(given: dict[str, Any]) -> Asked:
    words = ("remember", *_options(given, "kind", "quote", "scope"), "--", given["text"])
    return Asked(words, belongs=PROJECT if given.get("scope", PROJECT) == PROJECT else "")


def _correct(given: dict[str, Any]) -> Asked:
    return Asked(("correct", *_options(given, "kind", "quote"), "--", given["id"], given["text"]))


def _forget(given: dict[str, Any]) -> Asked:
    return Asked(("forget", "--force", "--", given["id"]))


def _checkpoint(given: dict[str, Any]) -> Asked:
    options = _options(
        given, "goal", "done", "pending", "status", "session", decisions="decision", files="file",
        plans="plan", references="reference", questions="question", notes="note",
    )  # fmt: skip
    return Asked(("checkpoint", *options), belongs="" if given.get("session") else SESSION)


def _sessions(given: dict[str, Any]) -> Asked:
    options = _options({"limit": _SESSIONS, **given}, "limit", "agent", "since")
    return Asked(("list", *options), finds=True, more="Ask for fewer with `limit`.")


def _files(given: dict[str, Any]) -> Asked:
    options = _options({"limit": _LATEST, **given}, "limit", "agent", "since")
    return Asked(("files", *options), finds=True, more="Ask for fewer with `limit`.")


def _wonder(given: dict[str, Any]) -> Asked:
    return Asked(("wonder", "--", given["topic"]), finds=True)


def _reason(given: dict[str, Any]) -> Asked:
    return Asked(("reason", "--", given["question"]), finds=True)


def _feedback(given: dict[str, Any]) -> Asked:
    return Asked(("confirm" if given["useful"] else "reject", "--", given["id"]))


_TOOLS: dict[str, Callable[[dict[str, Any]], Asked]] = {
    "search": _search, "timeline": _timeline, "get": _get, "remember": _remember, "correct": _correct,
    "forget": _forget, "checkpoint": _checkpoint, "sessions": _sessions, "files": _files, "wonder": _wonder,
    "reason": _reason, "feedback": _feedback,
}  # fmt: skip
