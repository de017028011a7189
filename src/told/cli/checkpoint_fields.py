"""Read the fields of a checkpoint from options, words or JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from told.cli.arguments import Arguments
from told.cli.context import cut
from told.errors import UsageError
from told.model import CLOSED, OPEN

# Each field with its aliases.
_TEXTS = {
    "goal": (), "title": ("slug",), "notes": ("note", "work_summary", "summary"), "status": (),
    "session": ("session_id", "conversation_id"), "agent": ("tool",),
}  # fmt: skip
_LISTS = {
    "done": ("work_completed", "work_done", "completed"), "pending": ("work_pending", "next_steps", "next"),
    "decisions": ("decision",), "files": ("file", "important_files"), "plans": ("plan", "plan_files"),
    "references": ("reference", "refs"), "questions": ("question", "open_questions"),
}  # fmt: skip
_FIELDS = {name: field for field, others in (_TEXTS | _LISTS).items() for name in (field, *others)}
# Keys of an item that is an object: its text, and a remark about it.
_ITEM = ("path", "url", "text", "decision", "question", "value", "content", "task", "name")
_ABOUT = ("header", "title", "how", "change", "change_type", "why", "reason", "rationale", "kind")
_MANY = {"decision": "decisions", "file": "files", "plan": "plans", "reference": "references",
         "question": "questions", "done": "done", "pending": "pending"}  # fmt: skip
_BULLETS = ("- ", "* ", "• ")
_UNKNOWN_SHOWN = 5
_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class CheckpointFields:
    """The given fields of a checkpoint; empty ones were not given."""

    goal: str = ""
    title: str = ""
    done: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    plans: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    notes: str = ""
    status: str = ""
    session: str = ""
    agent: str = ""
    unknown: tuple[str, ...] = ()  # names that are no field

    @property
    def has_content(self) -> bool:
        """Tell whether there is anything to write."""
        content = self.goal or self.title or self.files or self.plans or self.references
        return bool(content or self.has_progress)

    @property
    def has_progress(self) -> bool:
        """Tell whether they say how far the work is."""
        return bool(self.done or self.pending or self.decisions or self.questions or self.notes)


def from_arguments(arguments: Arguments) -> CheckpointFields:
    """Read the fields from a command line."""
    words = " ".join(arguments.operands).strip()
    goal = arguments.text("goal").strip()
    if words and goal:
        raise UsageError("Give the goal as --goal or in words, not both.")
    many: dict[str, Any] = {field: _items(arguments[option] or []) for option, field in _MANY.items()}
    return _check_status(
        CheckpointFields(
            goal=goal or words, title=arguments.text("title"), notes=arguments.text("note").strip(),
            status=arguments.text("status"), session=arguments.text("session").strip(), **many,
        )
    )  # fmt: skip


def from_json(text: str) -> CheckpointFields:
    """Read the fields from JSON text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError(
            "Standard input is not valid JSON. Give an object, such as"
            ' {"goal": "…", "done": ["…"], "pending": ["…"]}.'
        ) from None
    return from_object(value)


def from_object(value: object) -> CheckpointFields:
    """Read the fields from an object, at the top or below `checkpoint`."""
    if not isinstance(value, dict):
        raise UsageError('A checkpoint is a JSON object, such as {"goal": "…", "pending": ["…"]}.')
    inner = value.get("checkpoint")
    if inner is not None and not isinstance(inner, dict):
        raise UsageError("`checkpoint` must be an object with the fields of the checkpoint.")
    return _read_fields({name: item for name, item in value.items() if name != "checkpoint"} | (inner or {}))


def _check_status(given: CheckpointFields) -> CheckpointFields:
    status = given.status.strip().lower()
    if status not in ("", OPEN, CLOSED):
        raise UsageError(f"A checkpoint's status is open or closed, not {cut(given.status, 40)!r}.")
    return replace(given, status=status)


def _read_fields(fields: Mapping[str, Any]) -> CheckpointFields:
    found: dict[str, Any] = {}
    names: dict[str, str] = {}
    unknown = []
    for name, item in fields.items():
        field = _FIELDS.get(name.strip().lower().replace("-", "_"))
        if item is None:
            continue
        if field is None:
            unknown.append(cut(" ".join(name.split()), _LONGEST_NAME))
            continue
        if field in found:
            raise UsageError(f"`{name}` and `{names[field]}` are the same field. Give one of them.")
        names[field] = name
        found[field] = _list(name, item) if field in _LISTS else _text(name, item)
    return _check_status(CheckpointFields(**found, unknown=tuple(unknown[:_UNKNOWN_SHOWN])))


def _text(name: str, item: object) -> str:
    if isinstance(item, list) and name in ("notes", "note", "work_summary", "summary"):
        return "\n".join(_list(name, item))
    if not isinstance(item, str):
        raise UsageError(f"`{name}` must be text, not {_kind(item)}.")
    return item.strip()


def _list(name: str, item: object) -> tuple[str, ...]:
    if isinstance(item, str):
        lines = [line.strip() for line in item.splitlines() if line.strip()]
        # A list written as Markdown.
        many = len(lines) > 1 and all(line.startswith(_BULLETS) for line in lines)
        return _items(line[2:] for line in lines) if many else _items([item])
    if not isinstance(item, list):
        raise UsageError(f"`{name}` must be a list of texts, not {_kind(item)}.")
    return _items(_item(name, one) for one in item)


def _item(name: str, one: object) -> str:
    if isinstance(one, str):
        return one
    if not isinstance(one, dict):
        raise UsageError(f"`{name}` must be a list of texts, but contains {_kind(one)}.")
    texts = {key: value.strip() for key, value in one.items() if isinstance(value, str) and value.strip()}
    main = next((key for key in (*_ITEM, *_ABOUT) if key in texts), "")
    if not main:
        raise UsageError(f"`{name}` has an object without text: give it a `path`, a `url` or a `text`.")
    said = next((texts[key] for key in _ABOUT if key in texts and key != main), "")
    return f"{texts[main]} ({said})" if said else texts[main]


def _items(texts: Any) -> tuple[str, ...]:
    """Return each text once, without empty ones."""
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    return "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else "that"
