"""What a checkpoint is to say: from options, from words, or from JSON with our names or those of others."""

from __future__ import annotations

from told.cli.output import cut
from told.errors import UsageError
from told.model import CLOSED, OPEN
from told.record import record, replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from told.cli.arguments import Arguments

# Each field, with the other names that it goes by.
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
# What an item may be made of where it is an object: what it is, and what is said of it.
_ITEM = ("path", "url", "text", "decision", "question", "value", "content", "task", "name")
_ABOUT = ("header", "title", "how", "change", "change_type", "why", "reason", "rationale", "kind")
_MANY = {"decision": "decisions", "file": "files", "plan": "plans", "reference": "references",
         "question": "questions", "done": "done", "pending": "pending"}  # fmt: skip
_BULLETS = ("- ", "* ", "• ")
_NAMED = 5  # unknown names that are told
_LONGEST_NAME = 40


@record
class Given:
    """What somebody wants a checkpoint to say; what is empty was not said."""

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
    unknown: tuple[str, ...] = ()  # names of what was given and is no field

    @property
    def says_something(self) -> bool:
        """Whether it has anything that would stand in the note."""
        return bool(self.goal or self.title or self.files or self.plans or self.references or self.tells)

    @property
    def tells(self) -> bool:
        """Whether it tells how far the work is, so that nobody has to guess it."""
        return bool(self.done or self.pending or self.decisions or self.questions or self.notes)


def from_arguments(arguments: Arguments) -> Given:
    """Return what options and words say.

    Raises:
        UsageError: the goal is given twice, or the status is none.
    """
    words = " ".join(arguments.operands).strip()
    goal = arguments.text("goal").strip()
    if words and goal:
        raise UsageError("The goal is there twice: give it as --goal or in words, not both.")
    many: dict[str, Any] = {field: _items(arguments[option] or []) for option, field in _MANY.items()}
    return checked(
        Given(
            goal=goal or words, title=arguments.text("title"), notes=arguments.text("note").strip(),
            status=arguments.text("status"), session=arguments.text("session").strip(), **many,
        )
    )  # fmt: skip


def from_json(text: str) -> Given:
    """Return what a JSON object says.

    Raises:
        UsageError: it is no JSON object, or a field is of the wrong type.
    """
    import json

    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError(
            "Standard input is not valid JSON. Give an object, such as"
            ' {"goal": "…", "done": ["…"], "pending": ["…"]}.'
        ) from None
    return from_fields(value)


def from_fields(value: object) -> Given:
    """Return what a decoded object says, its fields at the top or below `checkpoint`.

    Raises:
        UsageError: it is no object, or a field is of the wrong type.
    """
    if not isinstance(value, dict):
        raise UsageError('A checkpoint is a JSON object, such as {"goal": "…", "pending": ["…"]}.')
    inner = value.get("checkpoint")
    if inner is not None and not isinstance(inner, dict):
        raise UsageError("`checkpoint` must be an object with the fields of the checkpoint.")
    return _taken({name: item for name, item in value.items() if name != "checkpoint"} | (inner or {}))


def checked(given: Given) -> Given:
    """Make sure that the status is one.

    Raises:
        UsageError: it is not.
    """
    status = given.status.strip().lower()
    if status not in ("", OPEN, CLOSED):
        raise UsageError(f"A checkpoint's status is open or closed, not {cut(given.status, 40)!r}.")
    return replaced(given, status=status)


def _taken(fields: Mapping[str, Any]) -> Given:
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
    return checked(Given(**found, unknown=tuple(unknown[:_NAMED])))


def _text(name: str, item: object) -> str:
    if isinstance(item, list) and name in ("notes", "note", "work_summary", "summary"):
        return "\n".join(_list(name, item))
    if not isinstance(item, str):
        raise UsageError(f"`{name}` must be a text, not {_kind(item)}.")
    return item.strip()


def _list(name: str, item: object) -> tuple[str, ...]:
    if isinstance(item, str):
        lines = [line.strip() for line in item.splitlines() if line.strip()]
        # A list that somebody wrote as Markdown.
        many = len(lines) > 1 and all(line.startswith(_BULLETS) for line in lines)
        return _items(line[2:] for line in lines) if many else _items([item])
    if not isinstance(item, list):
        raise UsageError(f"`{name}` must be a list of texts, not {_kind(item)}.")
    return _items(_item(name, one) for one in item)


def _item(name: str, one: object) -> str:
    if isinstance(one, str):
        return one
    if not isinstance(one, dict):
        raise UsageError(f"`{name}` must be a list of texts; there is {_kind(one)} in it.")
    texts = {key: value.strip() for key, value in one.items() if isinstance(value, str) and value.strip()}
    main = next((key for key in (*_ITEM, *_ABOUT) if key in texts), "")
    if not main:
        raise UsageError(f"`{name}` has an object without a text: give it a `path`, a `url` or a `text`.")
    said = next((texts[key] for key in _ABOUT if key in texts and key != main), "")
    return f"{texts[main]} ({said})" if said else texts[main]


def _items(texts: Any) -> tuple[str, ...]:
    """Return each text once, without what is empty."""
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    return "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else "that"
